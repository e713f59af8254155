// What the read-modify-write operations of LDS and global memory compute from the old value in
// memory and the operand: T(T old, T data), or T(T old, T data, T data2) for those of two operands.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "gfxsim/numeric.h"

namespace gfxsim {

// How undefined bits of the old value and the operand reach the new value.
enum class AtomicUndef : uint8_t { Whole, Bits, DataOnly };

template <class T, AtomicUndef Rule = AtomicUndef::Whole>
struct AtomicBase {
  using Value = T;
  static constexpr AtomicUndef kUndef = Rule;
  static constexpr int kOperands = 1;
};
template <class T>
struct AtomicBase2 : AtomicBase<T> {
  static constexpr int kOperands = 2;
};

template <class T>
struct AtomicAdd : AtomicBase<T> {
  static T apply(T old, T data) { return old + data; }
};
template <class T>
struct AtomicSub : AtomicBase<T> {
  static T apply(T old, T data) { return old - data; }
};
template <class T>
struct AtomicReverseSub : AtomicBase<T> {
  static T apply(T old, T data) { return data - old; }
};
template <class T>
struct AtomicInc : AtomicBase<T> {
  static T apply(T old, T limit) { return old >= limit ? 0 : old + 1; }
};
template <class T>
struct AtomicDec : AtomicBase<T> {
  static T apply(T old, T limit) { return old == 0 || old > limit ? limit : old - 1; }
};
template <class T>
struct AtomicMin : AtomicBase<T> {
  static T apply(T old, T data) { return data < old ? data : old; }
};
template <class T>
struct AtomicMax : AtomicBase<T> {
  static T apply(T old, T data) { return data > old ? data : old; }
};
template <class T>
struct AtomicAnd : AtomicBase<T, AtomicUndef::Bits> {
  static T apply(T old, T data) { return old & data; }
};
template <class T>
struct AtomicOr : AtomicBase<T, AtomicUndef::Bits> {
  static T apply(T old, T data) { return old | data; }
};
template <class T>
struct AtomicXor : AtomicBase<T, AtomicUndef::Bits> {
  static T apply(T old, T data) { return old ^ data; }
};
template <class T>
struct AtomicSwap : AtomicBase<T, AtomicUndef::DataOnly> {
  static T apply(T, T data) { return data; }
};
template <class T>
struct AtomicMaskOr : AtomicBase2<T> {
  static T apply(T old, T clear, T set) { return (old & ~clear) | set; }
};
template <class T>
struct AtomicWrap : AtomicBase2<T> {
  static T apply(T old, T limit, T add) { return old >= limit ? old - limit : old + add; }
};
// LDS: the first operand is compared, the second stored.
template <class T>
struct AtomicCompareStore : AtomicBase2<T> {
  static T apply(T old, T compare, T data) { return old == compare ? data : old; }
};
// Global memory: the first operand is stored, the second compared.
template <class T>
struct AtomicCompareSwap : AtomicBase2<T> {
  static T apply(T old, T data, T compare) { return old == compare ? data : old; }
};

// Two 16-bit floats in a dword. The sum of two bf16 rounded to f32 and then to bf16 is the sum
// rounded once: f32 has more than twice the precision.
struct AtomicPkAddF16 : AtomicBase<uint32_t> {
  static uint32_t apply(uint32_t old, uint32_t data) {
    const auto half = [&](int shift) -> uint32_t {
      const F16 sum = std::bit_cast<F16>(static_cast<uint16_t>(old >> shift)) +
                      std::bit_cast<F16>(static_cast<uint16_t>(data >> shift));
      return std::bit_cast<uint16_t>(sum);
    };
    return half(0) | half(16) << 16;
  }
};
struct AtomicPkAddBf16 : AtomicBase<uint32_t> {
  static uint32_t apply(uint32_t old, uint32_t data) {
    const auto half = [&](int shift) -> uint32_t {
      return to_bf16(to_float(BF16{static_cast<uint16_t>(old >> shift)}) +
                     to_float(BF16{static_cast<uint16_t>(data >> shift)}))
          .bits;
    };
    return half(0) | half(16) << 16;
  }
};
// Each dword is replaced when bit 31 of its operand is set, by the other 31 bits.
struct AtomicConditionalExchange32 : AtomicBase<uint64_t> {
  static uint64_t apply(uint64_t old, uint64_t data) {
    const auto dword = [&](int shift) -> uint64_t {
      const uint32_t operand = static_cast<uint32_t>(data >> shift);
      return operand >> 31 ? operand & 0x7fffffff : static_cast<uint32_t>(old >> shift);
    };
    return dword(0) | dword(32) << 32;
  }
};

template <class T>
using AtomicBits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// The new value's bits.
template <class A>
AtomicBits<typename A::Value> atomic_apply(AtomicBits<typename A::Value> old,
                                           AtomicBits<typename A::Value> data,
                                           AtomicBits<typename A::Value> data2) {
  using T = typename A::Value;
  using Bits = AtomicBits<T>;
  if constexpr (A::kOperands == 2)
    return std::bit_cast<Bits>(static_cast<T>(
        A::apply(std::bit_cast<T>(old), std::bit_cast<T>(data), std::bit_cast<T>(data2))));
  else
    return std::bit_cast<Bits>(
        static_cast<T>(A::apply(std::bit_cast<T>(old), std::bit_cast<T>(data))));
}

// Undefined bits of the new value.
template <class A, class Bits>
Bits atomic_undef(Bits old, Bits data) {
  if constexpr (A::kUndef == AtomicUndef::DataOnly) return data;
  if constexpr (A::kUndef == AtomicUndef::Bits) return old | data;
  return old | data ? ~Bits{0} : 0;
}

}  // namespace gfxsim
