// What stops a kernel: one violation of the rules that the simulator checks.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <string>

namespace gfxsim {

enum class FaultKind : uint8_t {
  OutOfBounds,         // global access outside every live allocation, or across the end of one
  UseAfterFree,        // global access to freed memory
  ReadOnly,            // store to code or constants
  LdsOutOfBounds,      // LDS access outside the workgroup's allocation
  UndefinedValue,      // a never-written value decides an address, branch, exec mask or stored byte
  MissingWait,         // register used while a load into it is in flight
  LdsRace,             // two waves touch the same LDS bytes with no barrier between
  BarrierNotReached,   // some waves wait at a barrier that another wave never reaches
  Misaligned,          // an access the hardware would refuse
  InstructionBudget,   // endless loop
  Trap,                // s_trap: the kernel stopped itself (__builtin_trap, a failed assertion)
  Unsupported,         // instruction, operand or mode that the simulator does not execute
  IllegalInstruction,  // bytes that are no instruction, or a register the kernel does not own
};

const char* fault_kind_name(FaultKind kind);

// Handlers throw it with kind, message and, where there is one, lane and address; the executor adds
// where it happened.
struct Fault : std::exception {
  FaultKind kind = FaultKind::Unsupported;
  std::string message;
  int lane = -1;
  uint64_t address = 0;  // the accessed address (global, or byte offset in LDS); 0 when none
  bool has_address = false;

  bool located = false;
  std::string kernel;
  std::array<uint32_t, 3> workgroup{};
  int wave = -1;
  uint64_t pc = 0;          // byte offset of the instruction inside .text's virtual addresses
  std::string instruction;  // disassembly
  std::string source;       // file:line where the code object has line information
  mutable std::string text;

  // Several lines: kind and message, then kernel, workgroup, wave, lane, address, instruction,
  // source.
  std::string report() const;
  const char* what() const noexcept override;
};

[[noreturn]] void fail(FaultKind kind, std::string message);
[[noreturn]] void fail_lane(FaultKind kind, int lane, std::string message);
[[noreturn]] void fail_access(FaultKind kind, int lane, uint64_t address, std::string message);

}  // namespace gfxsim
