#include "gfxsim/buffer_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "gfxsim/numeric.h"
#include "gfxsim/text.h"

namespace gfxsim {
namespace {

// By DATA_FORMAT.
constexpr std::array<std::array<uint8_t, 4>, 15> kComponentBits{{
    {},
    {8},
    {16},
    {8, 8},
    {32},
    {16, 16},
    {11, 11, 10},
    {10, 11, 11},
    {2, 10, 10, 10},
    {10, 10, 10, 2},
    {8, 8, 8, 8},
    {32, 32},
    {16, 16, 16, 16},
    {32, 32, 32},
    {32, 32, 32, 32},
}};

uint32_t mask_of(int bits) { return bits == 32 ? ~0u : (1u << bits) - 1; }

int first_bit(const BufferFormat& format, int component) {
  return std::accumulate(format.bits.begin(), format.bits.begin() + component, 0);
}

int32_t sign_extend(uint32_t value, int bits) {
  return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
}

}  // namespace

BufferFormat buffer_format(uint8_t data_format, uint8_t num_format) {
  BufferFormat format;
  format.num_format = num_format;
  const bool known = data_format > 0 && data_format < kComponentBits.size();
  if (known) format.bits = kComponentBits[data_format];
  for (const uint8_t bits : format.bits) {
    format.components += bits > 0;
    format.bytes += bits;
  }
  format.bytes /= 8;
  const auto all_bits = [&format](auto predicate) {
    return std::all_of(format.bits.begin(), format.bits.begin() + format.components, predicate);
  };
  const bool converts = num_format == kFloat ? all_bits([](int b) { return b == 16 || b == 32; })
                        : num_format == kUint || num_format == kSint
                            ? true
                            : num_format <= kSscaled && all_bits([](int b) { return b < 32; });
  if (!known || !converts)
    fail(FaultKind::Unsupported,
         concat("buffer data format ", int{data_format}, " with number format ", int{num_format}));
  return format;
}

bool is_float_format(const BufferFormat& format) {
  return format.num_format != kUint && format.num_format != kSint;
}

uint32_t decode_component(const BufferFormat& format, const uint32_t* element, int component) {
  const int bits = format.bits[component], first = first_bit(format, component);
  const uint32_t raw = element[first / 32] >> (first % 32) & mask_of(bits);
  const int32_t number = sign_extend(raw, bits);
  const auto as_bits = [](double value) {
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  };
  switch (format.num_format) {
    case kUnorm:
      return as_bits(raw / static_cast<double>(mask_of(bits)));
    case kSnorm:
      return as_bits(std::max(-1.0, number / static_cast<double>(mask_of(bits - 1))));
    case kUscaled:
      return as_bits(raw);
    case kSscaled:
      return as_bits(number);
    case kSint:
      return static_cast<uint32_t>(number);
    case kFloat:
      if (bits == 16)
        return std::bit_cast<uint32_t>(
            static_cast<float>(std::bit_cast<F16>(static_cast<uint16_t>(raw))));
      return raw;
    default:
      return raw;
  }
}

void encode_component(const BufferFormat& format, uint32_t value, int component,
                      uint32_t* element) {
  const int bits = format.bits[component], first = first_bit(format, component);
  const double number = std::bit_cast<float>(value);
  // Rounded to nearest even and clamped; NaN becomes 0.
  const auto to_integer = [](double x, double low, double high) {
    if (x != x) return 0.0;
    return std::nearbyint(std::clamp(x, low, high));
  };
  const double unsigned_limit = mask_of(bits), signed_limit = mask_of(bits - 1);
  uint32_t raw = 0;
  switch (format.num_format) {
    case kUnorm:
      raw = static_cast<uint32_t>(to_integer(number * unsigned_limit, 0, unsigned_limit));
      break;
    case kSnorm:
      raw = static_cast<uint32_t>(
          static_cast<int32_t>(to_integer(number * signed_limit, -signed_limit, signed_limit)));
      break;
    case kUscaled:
      raw = static_cast<uint32_t>(to_integer(number, 0, unsigned_limit));
      break;
    case kSscaled:
      raw = static_cast<uint32_t>(
          static_cast<int32_t>(to_integer(number, -signed_limit - 1, signed_limit)));
      break;
    case kUint:
      raw = std::min(value, mask_of(bits));
      break;
    case kSint:
      raw = bits == 32 ? value
                       : static_cast<uint32_t>(std::clamp(static_cast<int32_t>(value),
                                                          -static_cast<int32_t>(signed_limit) - 1,
                                                          static_cast<int32_t>(signed_limit)));
      break;
    default:
      raw = bits == 16 ? std::bit_cast<uint16_t>(static_cast<F16>(std::bit_cast<float>(value)))
                       : value;
      break;
  }
  uint32_t& dword = element[first / 32];
  dword = (dword & ~(mask_of(bits) << (first % 32))) | (raw & mask_of(bits)) << (first % 32);
}

}  // namespace gfxsim
