// Byte look-ups with v_perm_b32.
#pragma once

#include "gcn/types.h"

namespace gcn {

// Each byte of `selector` picks a byte: 0..3 of `low`, 4..7 of `high`.
__device__ __forceinline__ uint32_t byte_permute(uint32_t high, uint32_t low, uint32_t selector) {
  return __builtin_amdgcn_perm(high, low, selector);
}

// Four look-ups in a table of 16 bytes. Each byte of `indices` is 0..15.
struct ByteTable16 {
  uint32_t words[4];

  __device__ __forceinline__ uint32_t operator()(uint32_t indices) const {
    constexpr uint32_t kEachByte = 0x01010101;
    constexpr uint32_t kIndexInHalf = 7 * kEachByte, kOwnByte = 0x03020100;
    const uint32_t in_half = indices & kIndexInHalf;
    const uint32_t from_low = byte_permute(words[1], words[0], in_half);
    const uint32_t from_high = byte_permute(words[3], words[2], in_half);
    // Byte i of the one or the other result: selector i + 4 * (bit 3 of the index).
    const uint32_t from_which = kOwnByte | ((indices >> 1) & (4 * kEachByte));
    return byte_permute(from_high, from_low, from_which);
  }
};

}  // namespace gcn
