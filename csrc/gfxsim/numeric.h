// Number formats of lane values that C++ has no type for, and the floating point environment.
#pragma once

#include <xmmintrin.h>

#include <bit>
#include <cstdint>

namespace gfxsim {

// Conversions and arithmetic on it round as MXCSR says (F16C).
using F16 = _Float16;

struct BF16 {
  uint16_t bits = 0;
};

inline float to_float(BF16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }

// Round to nearest even; NaN stays a (quiet) NaN.
inline BF16 to_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return BF16{static_cast<uint16_t>(is_nan ? (bits >> 16 | 0x40) : rounded >> 16)};
}

// A lane's bit of a lane mask (vcc, or a scalar pair).
enum class LaneBit : uint32_t { Clear = 0, Set = 1 };
constexpr LaneBit lane_bit(bool set) { return set ? LaneBit::Set : LaneBit::Clear; }

// Sets MXCSR for as long as it lives: the simulator is not compiled with -frounding-math, which
// would forbid vector code; lane values are never known at compile time, so nothing is folded.
class FpEnvironment {
 public:
  // `round` and `denorm` are the MODE register's two-bit fields of the format computed in.
  FpEnvironment(uint32_t round, uint32_t denorm) : saved_(_mm_getcsr()) {
    constexpr uint32_t kMxcsrRound[4] = {0x0000, 0x4000, 0x2000, 0x6000};  // even, +inf, -inf, zero
    constexpr uint32_t kDenormalsAreZero = 0x0040, kFlushToZero = 0x8000, kRoundMask = 0x6000;
    uint32_t csr = saved_ & ~(kRoundMask | kDenormalsAreZero | kFlushToZero);
    csr |= kMxcsrRound[round & 3];
    if (!(denorm & 1)) csr |= kDenormalsAreZero;
    if (!(denorm & 2)) csr |= kFlushToZero;
    _mm_setcsr(csr);
  }
  ~FpEnvironment() { _mm_setcsr(saved_); }
  FpEnvironment(const FpEnvironment&) = delete;
  FpEnvironment& operator=(const FpEnvironment&) = delete;

 private:
  uint32_t saved_;
};

}  // namespace gfxsim
