// Reductions over a wave or over each group of 16 or 32 lanes of it, without LDS.
//
// A butterfly: every step combines a lane's value with that of a lane whose group is the other
// half, so all lanes of a group end with the same bits, also in floating point.
//   lane ^ 1, lane ^ 2        quad permutes
//   half row and row mirrored  lane ^ 7 and lane ^ 15: equal to ^ 4 and ^ 8 once quads and half
//   rows agree rows, halves of the wave   v_permlane16_swap, v_permlane32_swap
#pragma once

#include "gcn/lane.h"

namespace gcn {

struct Sum {
  template <typename T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};

struct Max {
  __device__ __forceinline__ float operator()(float a, float b) const {
    return __builtin_fmaxf(a, b);
  }
  __device__ __forceinline__ int operator()(int a, int b) const { return a > b ? a : b; }
  __device__ __forceinline__ uint32_t operator()(uint32_t a, uint32_t b) const {
    return a > b ? a : b;
  }
};

// Rows 0 and 1 (and 2 and 3) of a value: `even` holds the even row's lane in both rows.
template <typename T>
struct RowPair {
  T even, odd;
};

// v_permlane16_swap of a register with its copy exchanges the copy's even rows with the register's
// odd rows: afterwards the register holds the even row twice, the copy the odd row twice.
template <typename T>
__device__ __forceinline__ RowPair<T> row_pair(T value) {
  static_assert(sizeof(T) == 4, "one register");
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const auto swapped = __builtin_amdgcn_permlane16_swap(bits, bits, false, false);
  // Copied first: clang 22 takes element 0 in a __builtin_bit_cast of any element of a vector.
  const uint32_t even = swapped[0], odd = swapped[1];
  return {__builtin_bit_cast(T, even), __builtin_bit_cast(T, odd)};
}

// The same for lanes 0..31 and 32..63.
template <typename T>
__device__ __forceinline__ RowPair<T> half_pair(T value) {
  static_assert(sizeof(T) == 4, "one register");
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const auto swapped = __builtin_amdgcn_permlane32_swap(bits, bits, false, false);
  const uint32_t even = swapped[0], odd = swapped[1];
  return {__builtin_bit_cast(T, even), __builtin_bit_cast(T, odd)};
}

// Every lane gets the reduction over its group of `GroupSize` lanes.
template <int GroupSize, typename Op, typename T>
__device__ __forceinline__ T group_reduce(T value, Op op) {
  static_assert(GroupSize == 4 || GroupSize == 8 || GroupSize == 16 || GroupSize == 32 ||
                    GroupSize == kWaveSize,
                "groups of 4, 8, 16, 32 or 64 lanes");
  value = op(value, dpp<kDppQuadSwapPairs>(value));
  value = op(value, dpp<kDppQuadSwapHalf>(value));
  if constexpr (GroupSize >= 8) value = op(value, dpp<kDppRowHalfMirror>(value));
  if constexpr (GroupSize >= 16) value = op(value, dpp<kDppRowMirror>(value));
  if constexpr (GroupSize >= 32) {
    const RowPair<T> rows = row_pair(value);
    value = op(rows.even, rows.odd);
  }
  if constexpr (GroupSize >= kWaveSize) {
    const RowPair<T> halves = half_pair(value);
    value = op(halves.even, halves.odd);
  }
  return value;
}

template <typename T>
__device__ __forceinline__ T wave_sum(T value) {
  return group_reduce<kWaveSize>(value, Sum{});
}
template <typename T>
__device__ __forceinline__ T wave_max(T value) {
  return group_reduce<kWaveSize>(value, Max{});
}

// Reduction over the lanes l, l + 16, l + 32, l + 48: the rows of a 16x16 accumulator's column.
template <typename Op, typename T>
__device__ __forceinline__ T across_rows_reduce(T value, Op op) {
  const RowPair<T> rows = row_pair(value);
  value = op(rows.even, rows.odd);
  const RowPair<T> halves = half_pair(value);
  return op(halves.even, halves.odd);
}

}  // namespace gcn
