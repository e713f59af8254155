// Any boolean function of three inputs in one instruction.
#pragma once

#include "gcn/types.h"

namespace gcn {

// The function is written as the same expression over these truth tables:
//   bitop3<(kBitA & kBitB) | kBitC>(a, b, c) == (a & b) | c
constexpr int kBitA = 0xf0, kBitB = 0xcc, kBitC = 0xaa;

template <int TruthTable>
__device__ __forceinline__ uint32_t bitop3(uint32_t a, uint32_t b, uint32_t c) {
  constexpr int kTableMask = 0xff;  // ~ of a table sets bits beyond it
  return __builtin_amdgcn_bitop3_b32(a, b, c, TruthTable & kTableMask);
}

}  // namespace gcn
