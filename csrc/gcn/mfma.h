// Matrix instructions: D = A * B + C over a whole wave, and which lane holds which element.
//
// A is M x K, B is K x N, C and D are M x N. `lane` is 0..63, `element` counts a lane's elements of
// the fragment from the low bits of its first register.
#pragma once

#include "gcn/types.h"

namespace gcn {

// Number formats of the f8f6f4 instructions (their cbsz and blgp fields).
enum class MatrixFormat : int { E4M3 = 0, E5M2 = 1, E2M3 = 2, E3M2 = 3, E2M1 = 4 };

constexpr int format_bits(MatrixFormat format) {
  switch (format) {
    case MatrixFormat::E4M3:
    case MatrixFormat::E5M2:
      return 8;
    case MatrixFormat::E2M3:
    case MatrixFormat::E3M2:
      return 6;
    case MatrixFormat::E2M1:
      return 4;
  }
}

// The accumulator: a lane holds quads of rows of one column. 16x16: rows 4 * (lane / 16) + 0..3;
// 32x32: rows 8 * (element / 4) + 4 * (lane / 32) + 0..3.
template <int Size>
struct AccumulatorLayout {
  static_assert(Size == 16 || Size == 32, "16x16 or 32x32");
  static constexpr int kElements = Size * Size / kWaveSize;
  static constexpr int kQuad = 4;
  static constexpr int kLaneGroups = kWaveSize / Size;

  static constexpr __host__ __device__ int row(int lane, int element) {
    return (element / kQuad) * (kQuad * kLaneGroups) + (lane / Size) * kQuad + element % kQuad;
  }
  static constexpr __host__ __device__ int column(int lane) { return lane % Size; }
};

// An A or B operand: lane l holds row (of A) or column (of B) l % Size; lane group l / Size holds
// `Run` consecutive k, then the next group, and so on until a new round begins.
template <int Size, int K, int Run>
struct OperandLayout {
  static constexpr int kLaneGroups = kWaveSize / Size;
  static constexpr int kElements = K / kLaneGroups;  // of a lane
  static_assert(K % kLaneGroups == 0 && kElements % Run == 0, "whole runs");

  // Row of A, column of B.
  static constexpr __host__ __device__ int index(int lane) { return lane % Size; }
  static constexpr __host__ __device__ int k(int lane, int element) {
    return (element / Run) * (Run * kLaneGroups) + (lane / Size) * Run + element % Run;
  }
};

// Operands of the instructions below.
using Operand16x16x16 = OperandLayout<16, 16, 4>;  // k = 4 * (lane / 16) + element
using Operand16x16x32 = OperandLayout<16, 32, 8>;  // k = 8 * (lane / 16) + element

// f8f6f4 operands. 8-bit formats lie in two runs of 16 k, the narrower ones in one run of 32.
constexpr int scaled_run(MatrixFormat format) { return format_bits(format) == 8 ? 16 : 32; }
template <MatrixFormat Format>
using Operand16x16x128 = OperandLayout<16, 128, scaled_run(Format)>;
template <MatrixFormat Format>
using Operand32x32x64 = OperandLayout<32, 64, scaled_run(Format)>;

// Block scales: one E8M0 code for 32 k of a row of A or a column of B. Lane l supplies the code of
// row or column l % Size and of block l / Size (k = 32 * block + 0..31), whatever the operand's
// format, so with 8-bit formats not of the elements that the lane itself holds.
constexpr int kScaleBlock = 32;
template <int Size>
struct ScaleLayout {
  static constexpr __host__ __device__ int index(int lane) { return lane % Size; }
  static constexpr __host__ __device__ int block(int lane) { return lane / Size; }
};

__device__ __forceinline__ f32x4 mfma_16x16x32(bf16x8 a, bf16x8 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
}
__device__ __forceinline__ f32x4 mfma_16x16x32(f16x8 a, f16x8 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x32_f16(a, b, c, 0, 0, 0);
}
__device__ __forceinline__ f32x4 mfma_16x16x16(bf16x4 a, bf16x4 b, f32x4 c) {
  using Bits = short __attribute__((ext_vector_type(4)));
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(__builtin_bit_cast(Bits, a),
                                                   __builtin_bit_cast(Bits, b), c, 0, 0, 0);
}
__device__ __forceinline__ f32x4 mfma_16x16x16(f16x4 a, f16x4 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
}

// Registers of an f8f6f4 operand: 32 elements a lane.
template <int Bits>
struct ScaledFragment;
template <>
struct ScaledFragment<8> {
  using Type = i32x8;
  static __device__ __forceinline__ i32x8 widen(i32x8 x) { return x; }
};
template <>
struct ScaledFragment<6> {
  using Type = i32x6;
  static __device__ __forceinline__ i32x8 widen(i32x6 x) {
    return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, -1, -1);
  }
};
template <>
struct ScaledFragment<4> {
  using Type = i32x4;
  static __device__ __forceinline__ i32x8 widen(i32x4 x) {
    return __builtin_shufflevector(x, x, 0, 1, 2, 3, -1, -1, -1, -1);
  }
};
template <MatrixFormat Format>
using ScaledOperand = typename ScaledFragment<format_bits(Format)>::Type;

// D = (A * 2^(sa - 127)) * (B * 2^(sb - 127)) + C, block by block of 32 k. `ScaleByteA` and
// `ScaleByteB` name the byte of the scale registers, so that one register serves four instructions.
template <MatrixFormat A, MatrixFormat B, int ScaleByteA = 0, int ScaleByteB = 0>
__device__ __forceinline__ f32x4 mfma_scale_16x16x128(ScaledOperand<A> a, ScaledOperand<B> b,
                                                      f32x4 c, uint32_t scale_a, uint32_t scale_b) {
  static_assert(ScaleByteA >= 0 && ScaleByteA < 4 && ScaleByteB >= 0 && ScaleByteB < 4,
                "a register has four bytes");
  return __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
      ScaledFragment<format_bits(A)>::widen(a), ScaledFragment<format_bits(B)>::widen(b), c,
      static_cast<int>(A), static_cast<int>(B), ScaleByteA, scale_a, ScaleByteB, scale_b);
}
template <MatrixFormat A, MatrixFormat B, int ScaleByteA = 0, int ScaleByteB = 0>
__device__ __forceinline__ f32x16 mfma_scale_32x32x64(ScaledOperand<A> a, ScaledOperand<B> b,
                                                      f32x16 c, uint32_t scale_a,
                                                      uint32_t scale_b) {
  static_assert(ScaleByteA >= 0 && ScaleByteA < 4 && ScaleByteB >= 0 && ScaleByteB < 4,
                "a register has four bytes");
  return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
      ScaledFragment<format_bits(A)>::widen(a), ScaledFragment<format_bits(B)>::widen(b), c,
      static_cast<int>(A), static_cast<int>(B), ScaleByteA, scale_a, ScaleByteB, scale_b);
}

// The same without scales.
template <MatrixFormat A, MatrixFormat B>
__device__ __forceinline__ f32x4 mfma_16x16x128(ScaledOperand<A> a, ScaledOperand<B> b, f32x4 c) {
  return mfma_scale_16x16x128<A, B>(a, b, c, 0, 0);  // constant 0: the unscaled instruction
}
template <MatrixFormat A, MatrixFormat B>
__device__ __forceinline__ f32x16 mfma_32x32x64(ScaledOperand<A> a, ScaledOperand<B> b, f32x16 c) {
  return mfma_scale_32x32x64<A, B>(a, b, c, 0, 0);
}

}  // namespace gcn
