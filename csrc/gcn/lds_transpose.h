// Reads from LDS that transpose: a tile that lies row by row (k by k) arrives with consecutive k in
// each lane's registers, as a matrix operand wants them.
//
// Each group of 16 lanes works on its own. All 64 lanes must be active, and addresses aligned: 8
// bytes for 4-, 8- and 16-bit elements, 16 bytes for 6-bit ones.
#pragma once

#include "gcn/types.h"

namespace gcn {

// A group's lanes together address a tile of `kElements` rows (k) by 16 columns. Lane s of the
// group gives the address of kElements consecutive columns of one row; lane t receives column t,
// all rows.
template <int ElementBits>
struct LdsTransposeLayout {
  static_assert(ElementBits == 4 || ElementBits == 6 || ElementBits == 8 || ElementBits == 16,
                "elements of 4, 6, 8 or 16 bits");
  static constexpr int kGroup = 16;
  static constexpr int kBitsPerLane = ElementBits == 6 ? 96 : 64;
  static constexpr int kElements = kBitsPerLane / ElementBits;
  static constexpr int kLanesPerRow = kGroup / kElements;

  // The tile's row and first column that `lane` addresses.
  static constexpr __host__ __device__ int address_row(int lane) {
    return lane % kGroup / kLanesPerRow;
  }
  static constexpr __host__ __device__ int address_column(int lane) {
    return lane % kLanesPerRow * kElements;
  }

  // Where the result's `element` of `lane` comes from.
  static constexpr __host__ __device__ int source_lane(int lane, int element) {
    return lane / kGroup * kGroup + element * kLanesPerRow + lane % kGroup / kElements;
  }
  static constexpr __host__ __device__ int source_element(int lane) { return lane % kElements; }
};

__device__ __forceinline__ bf16x4 lds_read_transposed_b16(const __bf16* address) {
  using Lds = __attribute__((address_space(3))) bf16x4*;
  return __builtin_amdgcn_ds_read_tr16_b64_v4bf16((Lds)lds_pointer(address));
}
__device__ __forceinline__ f16x4 lds_read_transposed_b16(const _Float16* address) {
  using Half4 = __fp16 __attribute__((__vector_size__(4 * sizeof(__fp16))));
  using Lds = __attribute__((address_space(3))) Half4*;
  return __builtin_bit_cast(f16x4,
                            __builtin_amdgcn_ds_read_tr16_b64_v4f16((Lds)lds_pointer(address)));
}
// 8 bytes, 16 nibbles, 16 six-bit elements.
__device__ __forceinline__ u32x2 lds_read_transposed_b8(const void* address) {
  using Lds = __attribute__((address_space(3))) i32x2*;
  return __builtin_bit_cast(u32x2,
                            __builtin_amdgcn_ds_read_tr8_b64_v2i32((Lds)lds_pointer(address)));
}
__device__ __forceinline__ u32x2 lds_read_transposed_b4(const void* address) {
  using Lds = __attribute__((address_space(3))) i32x2*;
  return __builtin_bit_cast(u32x2,
                            __builtin_amdgcn_ds_read_tr4_b64_v2i32((Lds)lds_pointer(address)));
}
__device__ __forceinline__ u32x3 lds_read_transposed_b6(const void* address) {
  using Lds = __attribute__((address_space(3))) i32x3*;
  return __builtin_bit_cast(u32x3,
                            __builtin_amdgcn_ds_read_tr6_b96_v3i32((Lds)lds_pointer(address)));
}

}  // namespace gcn
