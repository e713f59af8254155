// LLVM's disassembler, through libLLVM's C API.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gfxsim {

struct DisassembledInstruction {
  uint64_t address = 0;
  uint32_t size = 0;  // bytes
  std::string text;   // "v_add_f32_e32 v0, v1, v2"; empty for bytes that are no instruction
};

// Throws std::runtime_error when libLLVM cannot be loaded or does not know the target.
std::vector<DisassembledInstruction> disassemble(const std::string& target,
                                                 std::span<const uint8_t> text, uint64_t address);

// Version of libLLVM and the path it was loaded from, for build information.
std::string disassembler_description();

}  // namespace gfxsim
