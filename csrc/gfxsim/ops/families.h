// The operation table, by family. Each function returns the rows that its file defines.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "gfxsim/inst.h"

namespace gfxsim {

std::vector<Op> scalar_ops();         // SOP1, SOP2, SOPC, SOPK, s_getreg and s_setreg
std::vector<Op> program_ops();        // SOPP: branches, waits, barriers, end, nops, messages
std::vector<Op> scalar_memory_ops();  // s_load, s_buffer_load, cache control
std::vector<Op> integer_ops();        // VALU on integers and bits
std::vector<Op> float_ops();          // VALU on f32, f64, f16, bf16
std::vector<Op> convert_ops();        // VALU between number formats
std::vector<Op> packed_ops();         // VOP3P but matrix operations
std::vector<Op> compare_ops();        // v_cmp, v_cmpx, v_cmp_class
std::vector<Op> lane_move_ops();      // readlane, writelane, permlane, swaps, AGPR moves
std::vector<Op> matrix_ops();         // MFMA and SMFMAC
std::vector<Op> lds_ops();            // ds_*
std::vector<Op> vector_memory_ops();  // buffer, global, flat, scratch, atomics, memory to LDS

// Null when no row has that mnemonic.
const Op* find_op(std::string_view mnemonic);
std::span<const Op> all_ops();

}  // namespace gfxsim
