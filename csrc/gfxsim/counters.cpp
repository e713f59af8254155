#include "gfxsim/counters.h"

namespace gfxsim {

const char* op_class_name(OpClass cls) {
  switch (cls) {
    case OpClass::Salu:
      return "salu";
    case OpClass::Smem:
      return "smem";
    case OpClass::Branch:
      return "branch";
    case OpClass::Valu:
      return "valu";
    case OpClass::Transcendental:
      return "transcendental";
    case OpClass::Mfma:
      return "mfma";
    case OpClass::LdsRead:
      return "lds_read";
    case OpClass::LdsWrite:
      return "lds_write";
    case OpClass::LdsAtomic:
      return "lds_atomic";
    case OpClass::VmemLoad:
      return "vmem_load";
    case OpClass::VmemStore:
      return "vmem_store";
    case OpClass::VmemAtomic:
      return "vmem_atomic";
    case OpClass::LdsDma:
      return "lds_dma";
    case OpClass::Wait:
      return "wait";
    case OpClass::Barrier:
      return "barrier";
    case OpClass::Other:
      return "other";
  }
  return "other";
}

void LaunchCounters::merge(const LaunchCounters& other) {
  for (size_t i = 0; i < executed.size(); ++i) executed[i] += other.executed[i];
  lds_cycles += other.lds_cycles;
  lds_bank_conflict_cycles += other.lds_bank_conflict_cycles;
  bytes_read += other.bytes_read;
  bytes_written += other.bytes_written;
  lines_read += other.lines_read;
  lines_written += other.lines_written;
  lds_bytes_read += other.lds_bytes_read;
  lds_bytes_written += other.lds_bytes_written;
}

}  // namespace gfxsim
