// FP4 e2m1 of the OCP MX specification: sign, 2 exponent bits of bias 1, 1 mantissa bit:
// 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives. Two in a byte, the first in the low nibble.
#pragma once

#include "gcn/types.h"

namespace gcn {

constexpr float kE2M1Max = 6.0f;

constexpr __host__ __device__ float e2m1_to_float(uint32_t code) {
  constexpr float kMagnitudes[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  const float magnitude = kMagnitudes[code & 7];
  return code & 8 ? -magnitude : magnitude;
}

#ifdef __HIP__
// Both elements of byte `Byte`, times a scale of which only the exponent counts.
template <int Byte>
__device__ __forceinline__ f32x2 unpack_e2m1_f32(uint32_t packed, float scale) {
  static_assert(Byte >= 0 && Byte < 4, "a register has four bytes");
  return __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(packed, scale, Byte);
}
template <int Byte>
__device__ __forceinline__ bf16x2 unpack_e2m1_bf16(uint32_t packed, float scale) {
  static_assert(Byte >= 0 && Byte < 4, "a register has four bytes");
  return __builtin_amdgcn_cvt_scalef32_pk_bf16_fp4(packed, scale, Byte);
}
template <int Byte>
__device__ __forceinline__ f16x2 unpack_e2m1_f16(uint32_t packed, float scale) {
  static_assert(Byte >= 0 && Byte < 4, "a register has four bytes");
  return __builtin_amdgcn_cvt_scalef32_pk_f16_fp4(packed, scale, Byte);
}

// Divides by the scale, rounds to nearest even, saturates; fills byte `Byte`, keeps the others of
// `keep`.
template <int Byte>
__device__ __forceinline__ uint32_t pack_e2m1(float first, float second, float scale,
                                              uint32_t keep) {
  static_assert(Byte >= 0 && Byte < 4, "a register has four bytes");
  return __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(keep, first, second, scale, Byte);
}
#endif

}  // namespace gcn
