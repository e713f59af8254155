// bfloat16: the high half of a float.
#pragma once

#include "gcn/types.h"

namespace gcn {

constexpr __host__ __device__ float bf16_to_float(uint16_t bits) {
  return __builtin_bit_cast(float, uint32_t{bits} << 16);
}

// Round to nearest even; NaN stays NaN.
constexpr __host__ __device__ uint16_t bf16_from_float(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  constexpr uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000, kQuiet = 0x40;
  if ((bits & kMagnitude) > kInfinity) return static_cast<uint16_t>(bits >> 16 | kQuiet);
  constexpr uint32_t kAlmostHalf = 0x7fff;
  return static_cast<uint16_t>((bits + kAlmostHalf + (bits >> 16 & 1)) >> 16);
}

#ifdef __HIP__
// Two at once: v_cvt_pk_bf16_f32.
__device__ __forceinline__ bf16x2 pack_bf16(float low, float high) {
  return __builtin_convertvector((f32x2{low, high}), bf16x2);
}
__device__ __forceinline__ f32x2 unpack_bf16(bf16x2 pair) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, pair);
  constexpr uint32_t kHighHalf = 0xffff0000;
  return f32x2{__builtin_bit_cast(float, bits << 16), __builtin_bit_cast(float, bits& kHighHalf)};
}
#endif

}  // namespace gcn
