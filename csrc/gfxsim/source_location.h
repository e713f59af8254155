// Source lines of machine code, through llvm-symbolizer.
#pragma once

#include <cstdint>
#include <string>

namespace gfxsim {

class CodeObject;

// "file:line" (with the inlined-at chain, innermost first) of a virtual address of the ELF; empty
// when the code object has no line information or the tool is missing.
std::string source_location(const CodeObject& object, uint64_t address);

}  // namespace gfxsim
