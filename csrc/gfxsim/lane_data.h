// Data on its way between registers and memory: a few dwords of every lane, with their undefined
// bits, and the rules by which narrow loads fill registers.
#pragma once

#include <cstdint>

#include "gfxsim/wave.h"

namespace gfxsim {

constexpr int kMaxDataDwords = 4;

struct LaneData {
  alignas(32) uint32_t value[kMaxDataDwords][kMaxLanes];
  // Meaningful only where any_undef.
  alignas(32) uint32_t undef[kMaxDataDwords][kMaxLanes];
  bool any_undef = false;

  // Makes `undef` meaningful for the first `dwords` dwords.
  void track_undef(int dwords);
  void clear(int dwords);
};

enum class Half : uint8_t { None, Low, High };  // of the register, that a 16-bit load fills

// What one lane of a load or store moves.
struct MemoryType {
  uint8_t bytes = 4;
  bool sign_extend = false;
  Half half = Half::None;

  constexpr int dwords() const { return (bytes + 3) / 4; }
};

constexpr MemoryType kU8{1}, kI8{1, true}, kU16{2}, kI16{2, true};
constexpr MemoryType kB32{4}, kB64{8}, kB96{12}, kB128{16};
constexpr MemoryType kU8Low{1, false, Half::Low}, kU8High{1, false, Half::High};
constexpr MemoryType kI8Low{1, true, Half::Low}, kI8High{1, true, Half::High};
constexpr MemoryType kB16Low{2, false, Half::Low}, kB16High{2, false, Half::High};

// The operand's registers (or constant), from dword `first` on.
void read_data(const Wave& w, const Operand& operand, int first, int dwords, LaneData* data);
// Extends data narrower than a dword, in the first one, to 32 bits as the type says.
void extend_data(MemoryType type, LaneData* data);
// Writes loaded data (zero-extended to dwords) to the registers from `reg` on, in the lanes of
// `mask`.
void write_data(Wave& w, int reg, MemoryType type, LaneData* data, uint64_t mask);

// A lane's 32 or 64 bits in one or two rows.
template <class Bits>
Bits lane_bits(const LaneRow* rows, int lane) {
  Bits bits = rows[0][lane];
  if constexpr (sizeof(Bits) == 8) bits |= Bits{rows[1][lane]} << 32;
  return bits;
}
template <class Bits>
void set_lane_bits(LaneRow* rows, int lane, Bits bits) {
  rows[0][lane] = static_cast<uint32_t>(bits);
  if constexpr (sizeof(Bits) == 8) rows[1][lane] = static_cast<uint32_t>(bits >> 32);
}

// Lanes of `mask`, first to last.
template <class F>
inline void for_lanes(uint64_t mask, F f) {
  if (mask == ~uint64_t{0}) {
    for (int lane = 0; lane < kMaxLanes; ++lane) f(lane);
  } else {
    for (; mask; mask &= mask - 1) f(std::countr_zero(mask));
  }
}

}  // namespace gfxsim
