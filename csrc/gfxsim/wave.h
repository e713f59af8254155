// The state of one wave: registers, their undefined bits, and the memory operations in flight.
#pragma once

#include <array>
#include <bit>
#include <bitset>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <vector>

#include "gfxsim/fault.h"
#include "gfxsim/inst.h"
#include "gfxsim/lds.h"
#include "gfxsim/target.h"

namespace gfxsim {

struct Workgroup;
struct LaunchCounters;

// Registers by lane: plane[reg][lane].
using LaneRow = uint32_t[kMaxLanes];

// MODE register fields (bits of Wave::mode, which is laid out as the hardware register).
constexpr uint32_t kModeRoundF32Shift = 0, kModeRoundF16F64Shift = 2;
constexpr uint32_t kModeDenormF32Shift = 4, kModeDenormF16F64Shift = 6;
constexpr uint32_t kModeDx10Clamp = 1u << 8, kModeIeee = 1u << 9;
// Round to nearest even, denormals kept.
constexpr uint32_t kModeFpDefault = 0xf0;

enum class WaveStatus : uint8_t { Running, AtBarrier, Ended };

// One memory operation that has been issued and has not landed.
struct InFlight {
  MemEvent event{};
  uint8_t counters = 0;    // counters that still hold it (bit per Counter)
  uint16_t first_reg = 0;  // registers it will write, in the unified index space
  uint16_t num_regs = 0;
  std::array<int16_t, 2> lds_slots{-1, -1};  // its entries of Wave::lds_in_flight
  std::function<void()> landing;  // e.g. writes a memory-to-LDS load into LDS; may be empty
};

struct Wave {
  // --- registers ---
  LaneRow* v = nullptr;        // kNumVectorRegs rows
  LaneRow* v_undef = nullptr;  // 1 = the bit was never written; meaningful where undef_any is set
  uint32_t s[kNumScalarRegs] = {};
  uint32_t s_undef[kNumScalarRegs] = {};
  bool scc = false, scc_undef = true;
  uint32_t mode = kModeFpDefault;

  // Bitmaps over the unified register index.
  uint64_t undef_any[kRegWords] = {};  // some bit of some lane may be undefined
  // A use needs a look: a load in flight will write it, a result is not ready yet (result_ready),
  // or the kernel does not own it.
  uint64_t pending[kRegWords] = {};

  // --- control ---
  const Inst* ip = nullptr;  // the next instruction
  // The instructions from s_set_gpr_idx_on to s_set_gpr_idx_off, with their registers moved by the
  // index; ip points into it meanwhile.
  std::vector<Inst> indexed;
  WaveStatus status = WaveStatus::Running;
  uint32_t id = 0;           // within the workgroup
  uint64_t executed = 0;     // instructions so far
  uint64_t wait_states = 0;  // executed, plus the counts of s_nop
  Workgroup* workgroup = nullptr;
  LaunchCounters* counters = nullptr;  // of this host thread
  const Target* target = nullptr;
  int num_lanes = kMaxLanes;
  uint16_t owned_vgprs = 0, owned_agprs = 0;  // what the kernel has allocated

  // --- memory operations in flight, oldest first ---
  std::deque<InFlight> in_flight;
  LdsAccessPool lds_in_flight;
  uint8_t pending_count[kNumRegs] = {};   // loads in flight into a register
  MemEvent pending_event[kNumRegs] = {};  // of the newest one

  // Results of operations that the hardware does not interlock: the wait state from which the
  // register may be read.
  uint64_t result_ready[kNumVectorRegs] = {};
  std::bitset<kNumVectorRegs> result_of_matrix;  // else of a transcendental operation

  // --- registers, by name ---
  uint64_t exec() const { return pair(kExec); }
  uint64_t vcc() const { return pair(kVcc); }
  uint64_t pair(int scalar) const {
    uint64_t value;
    std::memcpy(&value, &s[scalar], sizeof value);
    return value;
  }
  void set_pair(int scalar, uint64_t value) { std::memcpy(&s[scalar], &value, sizeof value); }
  uint64_t full_exec() const {
    return num_lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << num_lanes) - 1;
  }

  // Whether the kernel has allocated the register (any scalar: yes).
  bool owns(int reg) const {
    if (reg < kAgprBase) return reg < owned_vgprs;
    return reg >= kScalarBase || reg - kAgprBase < owned_agprs;
  }

  // --- undefined bits ---
  bool maybe_undef(int reg) const { return undef_any[reg >> 6] >> (reg & 63) & 1; }
  void set_maybe_undef(int reg, bool undef) {
    const uint64_t bit = uint64_t{1} << (reg & 63);
    if (undef)
      undef_any[reg >> 6] |= bit;
    else
      undef_any[reg >> 6] &= ~bit;
  }
  // Undefined bits of a scalar register (0 when defined).
  uint32_t scalar_undef(int scalar) const {
    return maybe_undef(kScalarBase + scalar) ? s_undef[scalar] : 0;
  }
  // Writes a scalar register with its undefined bits.
  void set_scalar(int scalar, uint32_t value, uint32_t undef = 0) {
    s[scalar] = value;
    s_undef[scalar] = undef;
    set_maybe_undef(kScalarBase + scalar, undef != 0);
  }
  // The undefined plane's row of a vector register that is about to be written in part: valid to
  // read and write. Call settle_undef() afterwards.
  LaneRow& undef_row(int reg) {
    if (!maybe_undef(reg)) {
      std::memset(v_undef[reg], 0, sizeof(LaneRow));
      set_maybe_undef(reg, true);
    }
    return v_undef[reg];
  }
  // Clears undef_any where no undefined bit is left in the row.
  void settle_undef(int reg);

  // Faults with UndefinedValue unless the operand's bits are defined in all lanes of `mask`. `what`
  // completes "... decides <what>".
  void require_defined(const Operand& operand, uint64_t mask, const char* what) const;

  // --- memory operations in flight ---
  // Call after the registers were written: they may not be touched until a wait covers the
  // operation.
  InFlight& issue(MemEvent event, int first_reg, int num_regs);
  // Lands all that a wait until `counter` is at most `value` guarantees to have completed.
  void wait(Counter counter, uint32_t value);

  // Vector operand of a per-lane 32-bit value (a register or a broadcast scalar/constant), for
  // addresses and data. Dword `i` of the operand. Reads the value only.
  uint32_t lane_value(const Operand& operand, int dword, int lane) const {
    if (operand.kind == Operand::Vector) return v[operand.reg + dword][lane];
    return scalar_value(operand, dword);
  }
  uint32_t lane_undef(const Operand& operand, int dword, int lane) const {
    if (operand.kind == Operand::Vector) {
      const int reg = operand.reg + dword;
      return maybe_undef(reg) ? v_undef[reg][lane] : 0;
    }
    return operand.kind == Operand::Scalar ? scalar_undef(operand.reg + dword) : 0;
  }
  // Dword `i` of a scalar register, special source or constant.
  uint32_t scalar_value(const Operand& operand, int dword) const {
    switch (operand.kind) {
      case Operand::Scalar:
        return s[operand.reg + dword];
      case Operand::Special:
        return special_value(operand, dword);
      default:
        return static_cast<uint32_t>(operand.bits >> (dword * 32));
    }
  }
  uint32_t special_value(const Operand& operand, int dword) const;

 private:
  void land(InFlight& op);
  void release_lds(InFlight& op);
};

}  // namespace gfxsim
