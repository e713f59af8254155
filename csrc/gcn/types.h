// Vectors of register size, and the numbers of the wave64 targets that every header here relies on.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

namespace gcn {

constexpr int kWaveSize = 64;

using u32x2 = uint32_t __attribute__((ext_vector_type(2)));
using u32x3 = uint32_t __attribute__((ext_vector_type(3)));
using u32x4 = uint32_t __attribute__((ext_vector_type(4)));
using i32x2 = int32_t __attribute__((ext_vector_type(2)));
using i32x3 = int32_t __attribute__((ext_vector_type(3)));
using i32x4 = int32_t __attribute__((ext_vector_type(4)));
using i32x6 = int32_t __attribute__((ext_vector_type(6)));
using i32x8 = int32_t __attribute__((ext_vector_type(8)));
using f32x2 = float __attribute__((ext_vector_type(2)));
using f32x4 = float __attribute__((ext_vector_type(4)));
using f32x16 = float __attribute__((ext_vector_type(16)));
using f16x2 = _Float16 __attribute__((ext_vector_type(2)));
using f16x4 = _Float16 __attribute__((ext_vector_type(4)));
using f16x8 = _Float16 __attribute__((ext_vector_type(8)));
using bf16x2 = __bf16 __attribute__((ext_vector_type(2)));
using bf16x4 = __bf16 __attribute__((ext_vector_type(4)));
using bf16x8 = __bf16 __attribute__((ext_vector_type(8)));

// A pointer to LDS as the builtins want it: 32 bits, the low half of a generic pointer to it. (A
// plain cast would also handle null, with a comparison.)
using LdsPointer = __attribute__((address_space(3))) void*;

#ifdef __HIP__
__device__ __forceinline__ LdsPointer lds_pointer(const void* shared) {
  return (LdsPointer) reinterpret_cast<uint64_t>(shared);
}
#endif

}  // namespace gcn
