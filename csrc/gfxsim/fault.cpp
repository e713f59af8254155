#include "gfxsim/fault.h"

#include <cstdio>

namespace gfxsim {
namespace {

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace

const char* fault_kind_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::OutOfBounds:
      return "out-of-bounds access";
    case FaultKind::UseAfterFree:
      return "access to freed memory";
    case FaultKind::ReadOnly:
      return "write to read-only memory";
    case FaultKind::LdsOutOfBounds:
      return "out-of-bounds LDS access";
    case FaultKind::UndefinedValue:
      return "use of an undefined value";
    case FaultKind::MissingWait:
      return "missing wait";
    case FaultKind::LdsRace:
      return "data race in LDS";
    case FaultKind::BarrierNotReached:
      return "barrier not reached by every wave";
    case FaultKind::Misaligned:
      return "misaligned access";
    case FaultKind::InstructionBudget:
      return "instruction budget exhausted";
    case FaultKind::Trap:
      return "trap";
    case FaultKind::Unsupported:
      return "unsupported";
    case FaultKind::IllegalInstruction:
      return "illegal instruction";
  }
  return "fault";
}

std::string Fault::report() const {
  std::string out = std::string("gfxsim: ") + fault_kind_name(kind) + ": " + message;
  if (!located) return out;
  out += "\n  kernel       " + kernel;
  out += "\n  workgroup    (" + std::to_string(workgroup[0]) + ", " + std::to_string(workgroup[1]) +
         ", " + std::to_string(workgroup[2]) + ")";
  if (wave >= 0) out += "\n  wave         " + std::to_string(wave);
  if (lane >= 0) out += "\n  lane         " + std::to_string(lane);
  if (has_address) out += "\n  address      " + hex(address);
  if (!instruction.empty()) out += "\n  instruction  " + instruction + "  at " + hex(pc);
  if (!source.empty()) out += "\n  source       " + source;
  return out;
}

const char* Fault::what() const noexcept {
  if (text.empty()) text = report();
  return text.c_str();
}

void fail(FaultKind kind, std::string message) {
  Fault fault;
  fault.kind = kind;
  fault.message = std::move(message);
  throw fault;
}

void fail_lane(FaultKind kind, int lane, std::string message) {
  Fault fault;
  fault.kind = kind;
  fault.message = std::move(message);
  fault.lane = lane;
  throw fault;
}

void fail_access(FaultKind kind, int lane, uint64_t address, std::string message) {
  Fault fault;
  fault.kind = kind;
  fault.message = std::move(message);
  fault.lane = lane;
  fault.address = address;
  fault.has_address = true;
  throw fault;
}

}  // namespace gfxsim
