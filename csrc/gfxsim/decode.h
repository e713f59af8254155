// From LLVM's disassembly text to Inst.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gfxsim/disassembler.h"
#include "gfxsim/inst.h"
#include "gfxsim/target.h"

namespace gfxsim {

class CodeObject;

// The decoded machine code of a code object.
struct Program {
  const Target* target = nullptr;
  uint64_t base = 0;               // address of the first byte
  std::vector<Inst> instructions;  // in address order
  std::vector<int32_t> at_dword;   // instruction that starts at base + 4 * i, or -1

  // Null when no instruction starts there.
  const Inst* find(uint64_t address) const {
    const uint64_t offset = address - base;
    if (offset % 4 || offset / 4 >= at_dword.size()) return nullptr;
    const int32_t index = at_dword[offset / 4];
    return index < 0 ? nullptr : &instructions[index];
  }
};

// Disassembles and decodes. An instruction that cannot be executed decodes to one that faults with
// its text when it is reached. Throws std::runtime_error for an unknown target.
std::unique_ptr<const Program> decode_program(const CodeObject& object);

// One line of disassembly; address and size are taken over.
Inst decode_instruction(const DisassembledInstruction& line, const Target& target);

// Collects anew which registers an instruction reads and writes, after its operands changed.
void recollect_registers(Inst* in);

}  // namespace gfxsim
