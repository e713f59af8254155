#include "gfxsim/target.h"

namespace gfxsim {
namespace {

constexpr uint8_t bit(Counter counter) { return uint8_t(1u << static_cast<int>(counter)); }

// gfx9: one counter for loads and stores of vector memory, one for LDS, scalar memory and messages;
// a flat access may go either way and counts in both.
constexpr std::array<uint8_t, kNumMemEvents> gfx9_counters() {
  std::array<uint8_t, kNumMemEvents> c{};
  const auto set = [&c](MemEvent event, uint8_t bits) { c[static_cast<int>(event)] = bits; };
  set(MemEvent::VmemLoad, bit(Counter::Load));
  set(MemEvent::VmemStore, bit(Counter::Load));
  set(MemEvent::VmemAtomicReturn, bit(Counter::Load));
  set(MemEvent::VmemAtomic, bit(Counter::Load));
  set(MemEvent::LdsDma, bit(Counter::Load));
  set(MemEvent::FlatLoad, bit(Counter::Load) | bit(Counter::Lds));
  set(MemEvent::FlatStore, bit(Counter::Load) | bit(Counter::Lds));
  set(MemEvent::Lds, bit(Counter::Lds));
  set(MemEvent::Smem, bit(Counter::Lds));
  set(MemEvent::Message, bit(Counter::Lds));
  return c;
}

constexpr Target make_gfx950() {
  Target t;
  t.name = "gfx950";
  t.counters = gfx9_counters();
  t.counter_names[0] = {"vmcnt", Counter::Load};
  t.counter_names[1] = {"lgkmcnt", Counter::Lds};
  t.counter_names[2] = {"expcnt", Counter::Export};
  return t;
}

constexpr Target kGfx950 = make_gfx950();

}  // namespace

const Target* find_target(std::string_view name) {
  return name == kGfx950.name ? &kGfx950 : nullptr;
}

}  // namespace gfxsim
