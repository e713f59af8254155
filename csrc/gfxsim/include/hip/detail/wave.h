// Communication between the lanes of a wave.
#pragma once

#include <cstdint>

#include "index.h"
#include "markers.h"

__device__ __forceinline__ unsigned __lane_id() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}

// Bit l of the result: lane l is active and its predicate is not 0.
__device__ __forceinline__ unsigned long long __ballot(int predicate) {
#if defined(__AMDGCN_WAVEFRONT_SIZE__) && __AMDGCN_WAVEFRONT_SIZE__ == 32
  return __builtin_amdgcn_ballot_w32(predicate != 0);
#else
  return __builtin_amdgcn_ballot_w64(predicate != 0);
#endif
}
__device__ __forceinline__ unsigned long long __activemask() { return __ballot(1); }
__device__ __forceinline__ int __any(int predicate) { return __ballot(predicate) != 0; }
__device__ __forceinline__ int __all(int predicate) { return __ballot(predicate == 0) == 0; }

namespace gfxsim_hip {

// The value that `lane` holds, for a type of any size, dword by dword.
template <typename T>
__device__ __forceinline__ T read_lane(T value, int lane) {
  constexpr int kDwords = (sizeof(T) + 3) / 4;
  int dwords[kDwords] = {};
  __builtin_memcpy(dwords, &value, sizeof(T));
  for (int i = 0; i < kDwords; ++i) dwords[i] = __builtin_amdgcn_ds_bpermute(lane * 4, dwords[i]);
  __builtin_memcpy(&value, dwords, sizeof(T));
  return value;
}

}  // namespace gfxsim_hip

// The shuffles work inside segments of `width` lanes, a power of two. Where the source lane would
// leave the segment, a lane keeps its own value.
template <typename T>
__device__ __forceinline__ T __shfl(T value, int source, int width = warpSize) {
  const int lane = __lane_id();
  return gfxsim_hip::read_lane(value, (source & (width - 1)) + (lane & ~(width - 1)));
}
template <typename T>
__device__ __forceinline__ T __shfl_up(T value, unsigned delta, int width = warpSize) {
  const int lane = __lane_id();
  const int source = lane - static_cast<int>(delta);
  return gfxsim_hip::read_lane(value, source < (lane & ~(width - 1)) ? lane : source);
}
template <typename T>
__device__ __forceinline__ T __shfl_down(T value, unsigned delta, int width = warpSize) {
  const int lane = __lane_id();
  const bool leaves = (lane & (width - 1)) + static_cast<int>(delta) >= width;
  return gfxsim_hip::read_lane(value, leaves ? lane : lane + static_cast<int>(delta));
}
template <typename T>
__device__ __forceinline__ T __shfl_xor(T value, int lane_mask, int width = warpSize) {
  const int lane = __lane_id();
  const int source = lane ^ lane_mask;
  const bool leaves = source >= ((lane + width) & ~(width - 1));
  return gfxsim_hip::read_lane(value, leaves ? lane : source);
}
