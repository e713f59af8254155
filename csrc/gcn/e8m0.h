// E8M0 block scales of the OCP MX formats: code c is 2^(c - 127), code 255 is NaN.
#pragma once

#include "gcn/types.h"

namespace gcn {

constexpr int kE8M0Bias = 127;
constexpr uint32_t kE8M0Nan = 255;

// Exact: code 0 is the denormal 2^-127.
constexpr __host__ __device__ float e8m0_to_float(uint32_t code) {
  constexpr int kMantissaBits = 23;
  constexpr uint32_t kSmallest = 1u << (kMantissaBits - 1), kQuietNan = 0x7fc00000;
  const uint32_t bits = code == 0 ? kSmallest : code << kMantissaBits;
  return __builtin_bit_cast(float, code == kE8M0Nan ? kQuietNan : bits);
}

// The scale of a block of e4m3 elements whose largest magnitude is `amax`:
// clamp(ceil(log2(max(amax, FLT_MIN) / 448)) + 127, 0, 254), computed without rounding. With
// amax = m * 2^e, 1 <= m < 2, and 448 = 1.75 * 2^8 that is e - 8, plus one when m > 1.75.
// amax is finite and not negative.
constexpr __host__ __device__ uint32_t mx_e4m3_scale(float amax) {
  constexpr int kMantissaBits = 23;
  constexpr uint32_t kMantissa = (1u << kMantissaBits) - 1;
  constexpr uint32_t kMantissaOf448 = 0x600000;  // 0.75
  constexpr int kExponentOf448 = 8;
  const uint32_t bits = __builtin_bit_cast(uint32_t, amax);
  const int biased = static_cast<int>(bits >> kMantissaBits);
  const int code = (biased > 0 ? biased : 1) - kExponentOf448 +
                   (biased > 0 && (bits & kMantissa) > kMantissaOf448 ? 1 : 0);
  return code > 0 ? code : 0;
}

}  // namespace gcn
