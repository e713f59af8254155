// FP8 e4m3 of the OCP specification ("fn": no infinities): sign, 4 exponent bits of bias 7, 3
// mantissa bits; S.1111.111 is NaN, the largest number 448, the smallest 2^-9. gfx950's format.
#pragma once

#include "gcn/types.h"

namespace gcn {

constexpr float kE4M3Max = 448.0f;

constexpr __host__ __device__ float e4m3_to_float(uint8_t code) {
  constexpr int kMantissaBits = 3, kBias = 7, kFloatMantissaBits = 23, kFloatBias = 127;
  constexpr uint32_t kMagnitude = 0x7f, kNan = 0x7f, kFloatNan = 0x7fc00000;
  constexpr float kDenormalStep = 1.0f / 512;
  const uint32_t sign = uint32_t{code} >> 7 << 31;
  const uint32_t magnitude = code & kMagnitude;
  if (magnitude == kNan) return __builtin_bit_cast(float, sign | kFloatNan);
  if (magnitude < 1u << kMantissaBits) {
    const float value = static_cast<float>(magnitude) * kDenormalStep;
    return sign ? -value : value;
  }
  const uint32_t bits = (magnitude << (kFloatMantissaBits - kMantissaBits)) +
                        (uint32_t{kFloatBias - kBias} << kFloatMantissaBits);
  return __builtin_bit_cast(float, sign | bits);
}

#ifdef __HIP__
// Round to nearest even, values beyond 448 become 448. NaN is lost: it becomes -448.
// `High` says which half of the result the pair fills; the other half is `keep`'s.
template <bool High>
__device__ __forceinline__ uint32_t pack_e4m3(float first, float second, uint32_t keep) {
  // The conversion itself makes NaN of what overflows.
  const float a = __builtin_amdgcn_fmed3f(first, -kE4M3Max, kE4M3Max);
  const float b = __builtin_amdgcn_fmed3f(second, -kE4M3Max, kE4M3Max);
  return __builtin_amdgcn_cvt_pk_fp8_f32(a, b, keep, High);
}

// Element `Byte` of four.
template <int Byte>
__device__ __forceinline__ float e4m3_element(uint32_t packed) {
  static_assert(Byte >= 0 && Byte < 4, "a register has four bytes");
  return __builtin_amdgcn_cvt_f32_fp8(packed, Byte);
}

// Two elements times a scale, of which only the exponent counts: 2^(exponent - 127).
template <bool High>
__device__ __forceinline__ f32x2 unpack_e4m3_f32(uint32_t packed, float scale) {
  return __builtin_amdgcn_cvt_scalef32_pk_f32_fp8(packed, scale, High);
}
template <bool High>
__device__ __forceinline__ bf16x2 unpack_e4m3_bf16(uint32_t packed, float scale) {
  return __builtin_amdgcn_cvt_scalef32_pk_bf16_fp8(packed, scale, High);
}
template <bool High>
__device__ __forceinline__ f16x2 unpack_e4m3_f16(uint32_t packed, float scale) {
  return __builtin_amdgcn_cvt_scalef32_pk_f16_fp8(packed, scale, High);
}
#endif

}  // namespace gcn
