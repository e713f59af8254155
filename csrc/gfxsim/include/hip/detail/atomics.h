// Atomic operations on global and shared memory: relaxed, visible to the whole device. All return
// the old value.
#pragma once

#include "markers.h"

namespace gfxsim_hip {
// Keeps the type of the operand out of template deduction: atomicAdd(&float_value, 1) works.
template <typename T>
struct Same {
  using Type = T;
};
}  // namespace gfxsim_hip

#define GFXSIM_ATOMIC(name, builtin)                                                        \
  template <typename T>                                                                     \
  __device__ __forceinline__ T name(T* address, typename gfxsim_hip::Same<T>::Type value) { \
    return builtin(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);             \
  }

GFXSIM_ATOMIC(atomicAdd, __hip_atomic_fetch_add)
GFXSIM_ATOMIC(atomicSub, __hip_atomic_fetch_sub)
GFXSIM_ATOMIC(atomicMin, __hip_atomic_fetch_min)
GFXSIM_ATOMIC(atomicMax, __hip_atomic_fetch_max)
GFXSIM_ATOMIC(atomicAnd, __hip_atomic_fetch_and)
GFXSIM_ATOMIC(atomicOr, __hip_atomic_fetch_or)
GFXSIM_ATOMIC(atomicXor, __hip_atomic_fetch_xor)
GFXSIM_ATOMIC(atomicExch, __hip_atomic_exchange)

#undef GFXSIM_ATOMIC

// Stores `value` if the memory holds `expected`.
template <typename T>
__device__ __forceinline__ T atomicCAS(T* address, typename gfxsim_hip::Same<T>::Type expected,
                                       typename gfxsim_hip::Same<T>::Type value) {
  __hip_atomic_compare_exchange_strong(address, &expected, value, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  return expected;
}
