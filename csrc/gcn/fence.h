// Waits, barriers and fences.
#pragma once

#include "gcn/types.h"

namespace gcn {

// s_waitcnt of gfx9: waits until at most `vector_memory` loads and stores and `lds` LDS, scalar
// memory and message operations are in flight. The largest count of a field means "do not wait".
constexpr int kNoVectorMemoryWait = 63, kNoExportWait = 7, kNoLdsWait = 15;

constexpr __host__ __device__ int waitcnt_bits(int vector_memory, int lds) {
  constexpr int kVmLowBits = 4, kVmHighShift = 14, kExportShift = 4, kLdsShift = 8;
  const int low = vector_memory & ((1 << kVmLowBits) - 1);
  const int high = vector_memory >> kVmLowBits;
  return low | kNoExportWait << kExportShift | lds << kLdsShift | high << kVmHighShift;
}

template <int VectorMemory, int Lds>
__device__ __forceinline__ void wait_counts() {
  static_assert(VectorMemory >= 0 && VectorMemory <= kNoVectorMemoryWait, "vmcnt has 6 bits");
  static_assert(Lds >= 0 && Lds <= kNoLdsWait, "lgkmcnt has 4 bits");
  __builtin_amdgcn_s_waitcnt(waitcnt_bits(VectorMemory, Lds));
}
// At most `InFlight` of the newest vector memory operations (memory-to-LDS copies too) are not
// done.
template <int InFlight = 0>
__device__ __forceinline__ void wait_vector_memory() {
  wait_counts<InFlight, kNoLdsWait>();
}
template <int InFlight = 0>
__device__ __forceinline__ void wait_lds() {
  wait_counts<kNoVectorMemoryWait, InFlight>();
}

// Who sees the writes that a fence orders.
enum class Scope { Workgroup, Agent, System };

template <Scope S>
__device__ __forceinline__ void fence_release() {
  if constexpr (S == Scope::Workgroup) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  } else if constexpr (S == Scope::Agent) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  } else {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
  }
}
template <Scope S>
__device__ __forceinline__ void fence_acquire() {
  if constexpr (S == Scope::Workgroup) {
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  } else if constexpr (S == Scope::Agent) {
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  } else {
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
  }
}

// Every wave of the workgroup arrives before any goes on. Orders no memory: combine it with waits.
__device__ __forceinline__ void barrier() { __builtin_amdgcn_s_barrier(); }

// LDS accesses of the workgroup before the barrier are visible after it. Global loads stay in
// flight; so do memory-to-LDS copies, which need wait_vector_memory() before.
__device__ __forceinline__ void lds_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

}  // namespace gcn
