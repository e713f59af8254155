#include "gfxsim/wave.h"

#include <algorithm>

namespace gfxsim {
namespace {

constexpr uint8_t bit(Counter counter) { return uint8_t(1u << static_cast<int>(counter)); }

// Scalar memory may return in any order, so only a wait for 0 says that a load has landed.
bool in_order(MemEvent event) { return event != MemEvent::Smem && event != MemEvent::Message; }

}  // namespace

void Wave::settle_undef(int reg) {
  if (!maybe_undef(reg)) return;
  uint32_t all = 0;
  for (int lane = 0; lane < kMaxLanes; ++lane) all |= v_undef[reg][lane];
  set_maybe_undef(reg, all != 0);
}

uint32_t Wave::special_value(const Operand& operand, int dword) const {
  switch (operand.special) {
    case kSharedBase:
      return static_cast<uint32_t>(target->shared_aperture >> (32 * dword));
    case kSharedLimit:
      return static_cast<uint32_t>((target->shared_aperture | 0xffffffff) >> (32 * dword));
    case kPrivateBase:
      return static_cast<uint32_t>(target->private_aperture >> (32 * dword));
    case kPrivateLimit:
      return static_cast<uint32_t>((target->private_aperture | 0xffffffff) >> (32 * dword));
    case kSrcVccz:
      return dword == 0 && vcc() == 0;
    case kSrcExecz:
      return dword == 0 && exec() == 0;
    case kSrcScc:
      return dword == 0 && scc;
  }
  return 0;
}

void Wave::require_defined(const Operand& operand, uint64_t mask, const char* what) const {
  const auto refuse = [&](int lane, const std::string& reg) {
    fail_lane(FaultKind::UndefinedValue, lane,
              reg + " holds bits that were never written, and decides " + what);
  };
  for (int d = 0; d < operand.dwords; ++d) {
    const int reg = operand.reg + d;
    if (operand.kind == Operand::Vector && maybe_undef(reg)) {
      for (int lane = 0; lane < kMaxLanes; ++lane)
        if ((mask >> lane & 1) && v_undef[reg][lane]) {
          const bool agpr = reg >= kAgprBase;
          refuse(lane, (agpr ? "a" : "v") + std::to_string(agpr ? reg - kAgprBase : reg));
        }
    } else if (operand.kind == Operand::Scalar && scalar_undef(reg)) {
      refuse(-1, "s" + std::to_string(reg));
    }
  }
}

InFlight& Wave::issue(MemEvent event, int first_reg, int num_regs) {
  InFlight op;
  op.event = event;
  op.counters = target->counters[static_cast<int>(event)];
  op.first_reg = static_cast<uint16_t>(first_reg);
  op.num_regs = static_cast<uint16_t>(num_regs);
  for (int reg = first_reg; reg < first_reg + num_regs; ++reg) {
    ++pending_count[reg];
    pending_event[reg] = event;
    pending[reg >> 6] |= uint64_t{1} << (reg & 63);
  }
  return in_flight.emplace_back(std::move(op));
}

void Wave::land(InFlight& op) {
  for (int reg = op.first_reg; reg < op.first_reg + op.num_regs; ++reg)
    if (--pending_count[reg] == 0) pending[reg >> 6] &= ~(uint64_t{1} << (reg & 63));
  if (op.landing) op.landing();
  release_lds(op);
}

void Wave::release_lds(InFlight& op) {
  for (int16_t& slot : op.lds_slots) {
    if (slot >= 0) lds_in_flight.remove(slot);
    slot = -1;
  }
}

void Wave::wait(Counter counter, uint32_t value) {
  const uint8_t held = bit(counter);
  uint32_t ordered = 0, unordered = 0;
  for (const InFlight& op : in_flight)
    if (op.counters & held) ++(in_order(op.event) ? ordered : unordered);
  if (ordered + unordered <= value) return;
  // At worst all others complete first: of the operations that return in order, the oldest
  // `ordered - value` have landed; of the others, none is sure to have unless all have.
  uint32_t landed = ordered > value ? ordered - value : 0;
  for (InFlight& op : in_flight) {
    if (!(op.counters & held)) continue;
    if (in_order(op.event)) {
      if (landed == 0) continue;
      --landed;
    } else if (value > 0) {
      continue;
    }
    op.counters &= static_cast<uint8_t>(~held);
    // What a flat access does in LDS is done, though its registers need the other counter too.
    if (counter == Counter::Lds) release_lds(op);
    if (op.counters == 0) land(op);
  }
  std::erase_if(in_flight, [](const InFlight& op) { return op.counters == 0; });
}

}  // namespace gfxsim
