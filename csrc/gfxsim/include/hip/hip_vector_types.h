// dim3 and the short vectors, as plain structs. 2- and 4-element vectors are aligned to their size,
// so that they load and store in one instruction.
#pragma once

#include <cstdint>

#include "detail/markers.h"
#include "hip_common.h"

struct dim3 {
  uint32_t x, y, z;
  __host__ __device__ constexpr dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1)
      : x(x), y(y), z(z) {}
};

#define GFXSIM_VECTOR_TYPES(T, Name)                                                        \
  struct Name##1 { T x; };                                                                  \
  struct alignas(2 * sizeof(T)) Name##2 { T x, y; };                                        \
  struct Name##3 { T x, y, z; };                                                            \
  struct alignas(4 * sizeof(T)) Name##4 { T x, y, z, w; };                                  \
  __host__ __device__ constexpr Name##1 make_##Name##1(T x) { return {x}; }                 \
  __host__ __device__ constexpr Name##2 make_##Name##2(T x, T y) { return {x, y}; }         \
  __host__ __device__ constexpr Name##3 make_##Name##3(T x, T y, T z) { return {x, y, z}; } \
  __host__ __device__ constexpr Name##4 make_##Name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

GFXSIM_VECTOR_TYPES(char, char)
GFXSIM_VECTOR_TYPES(unsigned char, uchar)
GFXSIM_VECTOR_TYPES(short, short)
GFXSIM_VECTOR_TYPES(unsigned short, ushort)
GFXSIM_VECTOR_TYPES(int, int)
GFXSIM_VECTOR_TYPES(unsigned, uint)
GFXSIM_VECTOR_TYPES(long long, longlong)
GFXSIM_VECTOR_TYPES(unsigned long long, ulonglong)
GFXSIM_VECTOR_TYPES(float, float)
GFXSIM_VECTOR_TYPES(double, double)

#undef GFXSIM_VECTOR_TYPES
