// Which lane this is, and values that live in other lanes or in scalar registers.
#pragma once

#include "gcn/types.h"

namespace gcn {

__device__ __forceinline__ int lane_id() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
}

// The first active lane's value, in a scalar register. For values that are the same in every lane
// though the compiler cannot know it.
__device__ __forceinline__ uint32_t uniform(uint32_t value) {
  return __builtin_amdgcn_readfirstlane(value);
}
__device__ __forceinline__ uint64_t uniform(uint64_t value) {
  const uint64_t high = uniform(static_cast<uint32_t>(value >> 32));
  return high << 32 | uniform(static_cast<uint32_t>(value));
}
template <typename T>
__device__ __forceinline__ T* uniform(T* pointer) {
  return reinterpret_cast<T*>(uniform(reinterpret_cast<uint64_t>(pointer)));
}

// The value that lane `lane % 64` holds; through the LDS crossbar (ds_bpermute), any pattern.
template <typename T>
__device__ __forceinline__ T read_lane(T value, int lane) {
  static_assert(sizeof(T) == 4, "one register");
  constexpr int kBytesPerLane = 4;
  const int bits = __builtin_bit_cast(int, value);
  return __builtin_bit_cast(T, __builtin_amdgcn_ds_bpermute(lane * kBytesPerLane, bits));
}

// ds_swizzle in bit mask mode: within each 32 lanes, lane l reads lane ((l & And) | Or) ^ Xor.
template <int And, int Or, int Xor, typename T>
__device__ __forceinline__ T swizzle(T value) {
  static_assert(sizeof(T) == 4, "one register");
  static_assert(And >= 0 && And < 32 && Or >= 0 && Or < 32 && Xor >= 0 && Xor < 32,
                "masks of a lane number within 32 lanes");
  constexpr int kPattern = And | Or << 5 | Xor << 10;
  return __builtin_bit_cast(T,
                            __builtin_amdgcn_ds_swizzle(__builtin_bit_cast(int, value), kPattern));
}

// Data parallel primitives: lane patterns inside a row of 16, as part of the instruction that uses
// the value. Lanes that are switched off read as 0.
enum DppControl : int {
  kDppQuadSwapPairs = 0xb1,   // quad_perm [1, 0, 3, 2]: lane ^ 1
  kDppQuadSwapHalf = 0x4e,    // quad_perm [2, 3, 0, 1]: lane ^ 2
  kDppRowMirror = 0x140,      // lane ^ 15
  kDppRowHalfMirror = 0x141,  // lane ^ 7
};
template <DppControl Control, typename T>
__device__ __forceinline__ T dpp(T value) {
  static_assert(sizeof(T) == 4, "one register");
  constexpr int kAllRows = 0xf, kAllBanks = 0xf;
  constexpr bool kOffReadsZero = true;
  return __builtin_bit_cast(T, __builtin_amdgcn_mov_dpp(__builtin_bit_cast(int, value), Control,
                                                        kAllRows, kAllBanks, kOffReadsZero));
}

}  // namespace gcn
