// Device math that the compiler expands inline. Functions that need ROCm's device library (sin,
// pow, erf, ...) are not here.
#pragma once

#include <cmath>
#include <type_traits>

#include "markers.h"

#define GFXSIM_MATH_1(name, builtin) \
  __device__ __forceinline__ float name(float x) { return builtin(x); }
#define GFXSIM_MATH_2(name, builtin) \
  __device__ __forceinline__ float name(float x, float y) { return builtin(x, y); }

GFXSIM_MATH_1(fabsf, __builtin_fabsf)
GFXSIM_MATH_1(sqrtf, __builtin_sqrtf)
GFXSIM_MATH_1(exp2f, __builtin_exp2f)
GFXSIM_MATH_1(expf, __builtin_expf)
GFXSIM_MATH_1(log2f, __builtin_log2f)
GFXSIM_MATH_1(logf, __builtin_logf)
GFXSIM_MATH_1(floorf, __builtin_floorf)
GFXSIM_MATH_1(ceilf, __builtin_ceilf)
GFXSIM_MATH_1(truncf, __builtin_truncf)
GFXSIM_MATH_1(rintf, __builtin_rintf)
GFXSIM_MATH_1(nearbyintf, __builtin_nearbyintf)
GFXSIM_MATH_1(roundf, __builtin_roundf)
GFXSIM_MATH_2(fminf, __builtin_fminf)
GFXSIM_MATH_2(fmaxf, __builtin_fmaxf)
GFXSIM_MATH_2(copysignf, __builtin_copysignf)

#undef GFXSIM_MATH_1
#undef GFXSIM_MATH_2

__device__ __forceinline__ float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
__device__ __forceinline__ double fma(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}
__device__ __forceinline__ float ldexpf(float x, int exponent) {
  return __builtin_ldexpf(x, exponent);
}
__device__ __forceinline__ float rsqrtf(float x) { return __builtin_amdgcn_rsqf(x); }

// The fast forms: the hardware's instruction and a multiplication.
__device__ __forceinline__ float __exp2f(float x) { return __builtin_amdgcn_exp2f(x); }
__device__ __forceinline__ float __log2f(float x) { return __builtin_amdgcn_logf(x); }
__device__ __forceinline__ float __expf(float x) {
  constexpr float kLog2E = 1.44269504088896340736f;
  return __builtin_amdgcn_exp2f(x * kLog2E);
}
__device__ __forceinline__ float __logf(float x) {
  constexpr float kLn2 = 0.693147180559945309417f;
  return __builtin_amdgcn_logf(x) * kLn2;
}
__device__ __forceinline__ float __frcp_rn(float x) { return 1.0f / x; }
__device__ __forceinline__ float __fdividef(float x, float y) {
  return x * __builtin_amdgcn_rcpf(y);
}

// Bit patterns.
__device__ __forceinline__ int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__device__ __forceinline__ unsigned __float_as_uint(float x) {
  return __builtin_bit_cast(unsigned, x);
}
__device__ __forceinline__ float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__device__ __forceinline__ float __uint_as_float(unsigned x) {
  return __builtin_bit_cast(float, x);
}
__device__ __forceinline__ int __popc(unsigned x) { return __builtin_popcount(x); }
__device__ __forceinline__ int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__device__ __forceinline__ int __clz(int x) {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
__device__ __forceinline__ int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
__device__ __forceinline__ int __ffs(int x) { return __builtin_ffs(x); }
__device__ __forceinline__ int __ffsll(long long x) { return __builtin_ffsll(x); }
__device__ __forceinline__ unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }

// min and max in the common type of the two arguments. A NaN loses against a number.
namespace gfxsim_hip {
template <typename A, typename B>
using Common =
    std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>>;
}  // namespace gfxsim_hip

template <typename A, typename B>
__host__ __device__ __forceinline__ gfxsim_hip::Common<A, B> min(A a, B b) {
  using T = gfxsim_hip::Common<A, B>;
  return __builtin_elementwise_min(static_cast<T>(a), static_cast<T>(b));
}
template <typename A, typename B>
__host__ __device__ __forceinline__ gfxsim_hip::Common<A, B> max(A a, B b) {
  using T = gfxsim_hip::Common<A, B>;
  return __builtin_elementwise_max(static_cast<T>(a), static_cast<T>(b));
}
