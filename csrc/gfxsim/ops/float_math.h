// The floating point functions of one lane that several families share: minimum and maximum with
// the ISA's NaN rules, and fused f16 arithmetic.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "gfxsim/lane_io.h"

namespace gfxsim {

template <class T>
struct FloatFormat;
template <>
struct FloatFormat<F16> {
  static constexpr int kMantissa = 10, kExponent = 5;
};
template <>
struct FloatFormat<float> {
  static constexpr int kMantissa = 23, kExponent = 8;
};
template <>
struct FloatFormat<double> {
  static constexpr int kMantissa = 52, kExponent = 11;
};

template <class T>
constexpr Raw<T> kQuietBit = Raw<T>{1} << (FloatFormat<T>::kMantissa - 1);
template <class T>
constexpr Raw<T> kSignBit = Raw<T>{1} << (sizeof(T) * 8 - 1);

template <class T>
Raw<T> raw_bits(T x) {
  return std::bit_cast<Raw<T>>(x);
}
template <class T>
T from_bits(Raw<T> bits) {
  return std::bit_cast<T>(bits);
}

// The exponent field, biased.
template <class T>
int exponent_field(T x) {
  using Format = FloatFormat<T>;
  return static_cast<int>(raw_bits(x) >> Format::kMantissa & ((1u << Format::kExponent) - 1));
}

// Comparisons of bits: exact under any rounding and denormal mode, and they do not quiet NaNs.
template <class T>
bool is_nan(T x) {
  constexpr Raw<T> kInfinity = static_cast<Raw<T>>(((Raw<T>{1} << FloatFormat<T>::kExponent) - 1)
                                                   << FloatFormat<T>::kMantissa);
  return static_cast<Raw<T>>(raw_bits(x) & ~kSignBit<T>) > kInfinity;
}
template <class T>
bool is_signaling_nan(T x) {
  return is_nan(x) && !(raw_bits(x) & kQuietBit<T>);
}
template <class T>
T quiet(T x) {
  return from_bits<T>(static_cast<Raw<T>>(raw_bits(x) | kQuietBit<T>));
}

// Orders floats, with -0 below +0; NaNs must be excluded.
template <class T>
bool is_less(T a, T b) {
  using Signed = std::make_signed_t<Raw<T>>;
  const auto ordered = [](T x) {
    const Signed bits = static_cast<Signed>(raw_bits(x));
    return static_cast<Signed>(bits ^
                               ((bits >> (sizeof(T) * 8 - 1)) & static_cast<Signed>(~kSignBit<T>)));
  };
  return ordered(a) < ordered(b);
}

// Handlers of which the MODE register chooses one when the instruction runs.
template <class Ieee, class Plain>
struct ByIeeeMode {
  static void run(Wave& w, const Inst& in) {
    (w.mode & kModeIeee ? &Ieee::run : &Plain::run)(w, in);
  }
  static void propagate(Wave& w, const Inst& in) {
    (w.mode & kModeIeee ? &Ieee::propagate : &Plain::propagate)(w, in);
  }
};

// v_min and v_max: a NaN loses against a number; in IEEE mode a signaling NaN wins, quieted.
template <bool kIeee, class T>
T min_number(T a, T b) {
  if (kIeee && is_signaling_nan(a)) return quiet(a);
  if (kIeee && is_signaling_nan(b)) return quiet(b);
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  return is_less(b, a) ? b : a;
}
template <bool kIeee, class T>
T max_number(T a, T b) {
  if (kIeee && is_signaling_nan(a)) return quiet(a);
  if (kIeee && is_signaling_nan(b)) return quiet(b);
  if (is_nan(a)) return b;
  if (is_nan(b)) return a;
  return is_less(a, b) ? b : a;
}

// v_minimum and v_maximum: a NaN wins, quieted.
template <class T>
T minimum(T a, T b) {
  if (is_nan(a)) return quiet(a);
  if (is_nan(b)) return quiet(b);
  return is_less(b, a) ? b : a;
}
template <class T>
T maximum(T a, T b) {
  if (is_nan(a)) return quiet(a);
  if (is_nan(b)) return quiet(b);
  return is_less(a, b) ? b : a;
}

// a * b + c rounded once. The product of two f16 is exact in f64. The sum in f64 may be inexact
// only where one term is so small that it cannot reach the f16 result's rounding bit, so it is as
// good as exact; going to f32 it is rounded to odd, which keeps the final rounding to f16 right.
inline F16 fma_f16(F16 a, F16 b, F16 c) {
  const double sum = static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c);
  constexpr uint64_t kBelowF32 = (uint64_t{1} << (52 - 23)) - 1;
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  const uint64_t sticky = (bits & kBelowF32) ? kBelowF32 + 1 : 0;
  const bool number = sum == sum;
  const double odd = std::bit_cast<double>((bits & ~kBelowF32) | sticky);
  return static_cast<F16>(static_cast<float>(number ? odd : sum));
}

}  // namespace gfxsim
