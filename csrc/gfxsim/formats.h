// The small floating point formats of the OCP specifications: fp8, bf8, fp6, bf6, fp4 elements and
// E8M0 scales.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace gfxsim {

// What the codes with the largest exponent mean.
enum class TopCodes : uint8_t {
  Finite,    // ordinary numbers
  OneNan,    // ordinary numbers, but for the all-ones code: NaN
  Infinity,  // as in IEEE 754: infinity and NaNs
};

// A format of 1 sign bit, kExponent exponent bits and kMantissa mantissa bits.
template <int kExponentBits, int kMantissaBits, TopCodes kTop>
struct SmallFloat {
  static constexpr int kExponent = kExponentBits, kMantissa = kMantissaBits;
  static constexpr TopCodes kTopCodes = kTop;
  static constexpr int kBits = 1 + kExponent + kMantissa;
  static constexpr int kBias = (1 << (kExponent - 1)) - 1;
  static constexpr int kMinExponent = 1 - kBias;  // of normal and denormal numbers
  static constexpr uint32_t kSign = 1u << (kBits - 1);
  static constexpr uint32_t kMagnitude = kSign - 1;
  static constexpr uint32_t kInfinity = ((1u << kExponent) - 1) << kMantissa;  // Infinity only
  static constexpr uint32_t kQuietNan = kInfinity | 1u << (kMantissa - 1);     // Infinity only
  static constexpr uint32_t kLargest = kTop == TopCodes::Finite   ? kMagnitude
                                       : kTop == TopCodes::OneNan ? kMagnitude - 1
                                                                  : kInfinity - 1;

  // The value of a code, bits above the width being ignored; without branches or tables, so that
  // loops over codes become vector code.
  static constexpr float compute(uint32_t code) {
    constexpr int kFloatBias = 127, kFloatMantissa = 23;
    static_assert(kBias + kMantissa < kFloatBias, "the smallest code is no normal float");
    const uint32_t sign = (code & kSign) << (32 - kBits);
    const uint32_t magnitude = code & kMagnitude;
    const uint32_t exponent = magnitude >> kMantissa;
    const uint32_t mantissa = magnitude & ((1u << kMantissa) - 1);
    const uint32_t significand = exponent ? mantissa | 1u << kMantissa : mantissa;
    const uint32_t scale = (exponent ? exponent : 1) + (kFloatBias - kBias - kMantissa);
    const float value = static_cast<float>(static_cast<int32_t>(significand)) *
                        std::bit_cast<float>(scale << kFloatMantissa);
    uint32_t bits = std::bit_cast<uint32_t>(value);
    if constexpr (kTop != TopCodes::Finite) {
      const bool infinite = kTop == TopCodes::Infinity && magnitude == kInfinity;
      bits = magnitude > kLargest ? (infinite ? 0x7f800000u : 0x7fc00000u) : bits;
    }
    return std::bit_cast<float>(bits | sign);
  }
  static constexpr std::array<float, 1 << kBits> make_table() {
    std::array<float, 1 << kBits> table{};
    for (int code = 0; code < 1 << kBits; ++code)
      table[code] = compute(static_cast<uint32_t>(code));
    return table;
  }
};

using Fp8 = SmallFloat<4, 3, TopCodes::OneNan>;
using Bf8 = SmallFloat<5, 2, TopCodes::Infinity>;
using Fp6 = SmallFloat<2, 3, TopCodes::Finite>;
using Bf6 = SmallFloat<3, 2, TopCodes::Finite>;
using Fp4 = SmallFloat<2, 1, TopCodes::Finite>;

// The 16-bit formats, for encode() only.
using Half = SmallFloat<5, 10, TopCodes::Infinity>;
using Bfloat = SmallFloat<8, 7, TopCodes::Infinity>;

// The value of a code; bits above the format's width are ignored.
template <class Format>
float decode(uint8_t code) {
  static constexpr auto kTable = Format::make_table();
  return kTable[code & ((1u << Format::kBits) - 1)];
}
inline float decode_fp8_e4m3(uint8_t code) { return decode<Fp8>(code); }
inline float decode_bf8_e5m2(uint8_t code) { return decode<Bf8>(code); }
inline float decode_fp6_e2m3(uint8_t code) { return decode<Fp6>(code); }
inline float decode_bf6_e3m2(uint8_t code) { return decode<Bf6>(code); }
inline float decode_fp4_e2m1(uint8_t code) { return decode<Fp4>(code); }

// What encode() does with a magnitude above the largest finite one. Formats without infinity and
// NaN always saturate.
enum class Overflow : uint8_t { Special, Saturate };

// How encode() rounds: to nearest even, or up by chance: `bits` random bits are added below the
// last bit kept, to as many bits of the exact value, and the sum is truncated.
struct Rounding {
  int bits = 0;  // 0: to nearest even
  uint32_t random = 0;
};

// The code of `value` in the format, rounded once. Infinity stays infinity whatever `overflow`
// says, and becomes NaN (OneNan) or the largest number (Finite) where the format has none; a NaN
// becomes the largest number where the format has none.
template <class Format>
uint32_t encode(double value, Overflow overflow, Rounding rounding = {}) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint32_t sign = bits >> 63 ? Format::kSign : 0;
  const double magnitude = std::bit_cast<double>(bits & ~(uint64_t{1} << 63));
  constexpr uint32_t kTooLarge = Format::kTopCodes == TopCodes::Finite   ? Format::kLargest
                                 : Format::kTopCodes == TopCodes::OneNan ? Format::kMagnitude
                                                                         : Format::kInfinity;
  if (value != value) {
    if (Format::kTopCodes != TopCodes::Infinity) return sign | Format::kMagnitude;
    constexpr int kDoubleMantissa = 52;
    const uint32_t payload = static_cast<uint32_t>(bits >> (kDoubleMantissa - Format::kMantissa));
    return sign | Format::kQuietNan | (payload & ((1u << Format::kMantissa) - 1));
  }
  if (magnitude == std::numeric_limits<double>::infinity()) return sign | kTooLarge;
  constexpr int kDoubleBias = 1023, kDoubleExponentShift = 52;
  const int exponent = static_cast<int>(bits >> kDoubleExponentShift & 0x7ff) - kDoubleBias;
  const int binade = exponent < Format::kMinExponent ? Format::kMinExponent : exponent;
  if (binade > Format::kBias + 1)
    return sign | (overflow == Overflow::Saturate ? Format::kLargest : kTooLarge);
  // The value in units of the last mantissa bit of its binade.
  const auto power_of_two = [](int e) {
    return std::bit_cast<double>(static_cast<uint64_t>(e + kDoubleBias) << kDoubleExponentShift);
  };
  const double units = magnitude * power_of_two(Format::kMantissa - binade);
  uint32_t steps;
  if (rounding.bits == 0) {
    steps = static_cast<uint32_t>(__builtin_roundeven(units));
  } else {
    const uint64_t exact = static_cast<uint64_t>(units * power_of_two(rounding.bits));
    steps = static_cast<uint32_t>((exact + rounding.random) >> rounding.bits);
  }
  const uint32_t code =
      (static_cast<uint32_t>(binade - Format::kMinExponent) << Format::kMantissa) + steps;
  if (code > Format::kLargest)
    return sign | (overflow == Overflow::Saturate ? Format::kLargest : kTooLarge);
  return sign | code;
}

// 2^(code - 127); code 255 is NaN, code 0 the denormal 2^-127.
inline float scale_from_e8m0(uint8_t code) {
  if (code == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(code ? uint32_t{code} << 23 : 0x00400000u);
}

}  // namespace gfxsim
