// The grammar of LLVM's AMDGPU disassembly: mnemonic, operands, modifiers.
#pragma once

#include <string>
#include <string_view>

#include "gfxsim/inst.h"
#include "gfxsim/target.h"

namespace gfxsim {

// A line that the simulator does not understand; the decoder makes an instruction of it that faults
// when it is reached.
struct DecodeError {
  std::string message;
};

// Fills the mnemonic (without encoding suffix), operands as printed, and modifiers. Throws
// DecodeError.
void parse_instruction(std::string_view text, const Target& target, Inst* inst);

}  // namespace gfxsim
