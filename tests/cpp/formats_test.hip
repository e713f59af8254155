// Number formats: the hardware's conversions and the constexpr functions against the formats'
// definitions, for all codes and for special and random numbers.
#include <cfloat>
#include <cstring>

#include "gcn/bf16.h"
#include "gcn/e8m0.h"
#include "gcn/fp4.h"
#include "gcn/fp8.h"
#include "test.h"

namespace {

// Both NaN, or the same number with the same sign.
bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

float from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
uint32_t to_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// e4m3: sign, 4 bits of exponent with bias 7, 3 of mantissa; S.1111.111 is NaN.
double e4m3(int code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  if (exponent == 15 && mantissa == 7) return NAN;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 7 - 3);
  return code & 0x80 ? -magnitude : magnitude;
}

// e2m1: sign, 2 bits of exponent with bias 1, 1 of mantissa.
double e2m1(int code) {
  const int exponent = code >> 1 & 3, mantissa = code & 1;
  const double magnitude =
      exponent == 0 ? 0.5 * mantissa : std::ldexp(2 + mantissa, exponent - 1 - 1);
  return code & 8 ? -magnitude : magnitude;
}

// The code of `value` by search: the nearest of the codes 0..max_code, the even one of two equally
// near ones; past the largest number the largest.
int nearest(double value, double (*decode)(int), int max_code, int sign_bit) {
  int best = std::isinf(value) ? max_code : 0;
  for (int code = 1; code <= max_code && std::isfinite(value); ++code) {
    const double here = std::abs(std::abs(value) - decode(code));
    const double there = std::abs(std::abs(value) - decode(best));
    if (here < there || (here == there && code % 2 == 0)) best = code;
  }
  return std::signbit(value) ? best | sign_bit : best;
}

// Numbers around every code of a format, ties included, and random ones.
std::vector<float> interesting_floats(double (*decode)(int), int max_code) {
  std::vector<float> values = {0.0f,     -0.0f,    FLT_MIN,   FLT_MAX,
                               -FLT_MAX, INFINITY, -INFINITY, 1e-30f};
  for (int code = 0; code < max_code; ++code) {
    const float low = decode(code), high = decode(code + 1), middle = (low + high) / 2;
    for (const float x :
         {low, high, middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
      values.push_back(x);
      values.push_back(-x);
    }
  }
  for (int i = 0; i < 512; ++i)
    values.push_back(std::ldexp(test::random_float(-1, 1), test::random_int(-12, 12)));
  while (values.size() % 128 != 0) values.push_back(1);
  return values;
}

constexpr int kBlock = 64;

__global__ void decode_e4m3_kernel(const uint32_t* packed, const float* scales, float* results) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  float* out = results + i * 16;
  const uint32_t codes = packed[i];
  out[0] = gcn::e4m3_element<0>(codes);
  out[1] = gcn::e4m3_element<1>(codes);
  out[2] = gcn::e4m3_element<2>(codes);
  out[3] = gcn::e4m3_element<3>(codes);
  const gcn::f32x2 low = gcn::unpack_e4m3_f32<false>(codes, scales[i]);
  const gcn::f32x2 high = gcn::unpack_e4m3_f32<true>(codes, scales[i]);
  out[4] = low[0], out[5] = low[1], out[6] = high[0], out[7] = high[1];
  const gcn::f32x2 low_bf16 = gcn::unpack_bf16(gcn::unpack_e4m3_bf16<false>(codes, scales[i]));
  const gcn::f32x2 high_bf16 = gcn::unpack_bf16(gcn::unpack_e4m3_bf16<true>(codes, scales[i]));
  out[8] = low_bf16[0], out[9] = low_bf16[1], out[10] = high_bf16[0], out[11] = high_bf16[1];
  const gcn::f16x2 low_f16 = gcn::unpack_e4m3_f16<false>(codes, scales[i]);
  const gcn::f16x2 high_f16 = gcn::unpack_e4m3_f16<true>(codes, scales[i]);
  out[12] = low_f16[0], out[13] = low_f16[1], out[14] = high_f16[0], out[15] = high_f16[1];
}

void test_decode_e4m3() {
  constexpr int kCodes = 256, kWords = kCodes;
  std::vector<uint32_t> packed(kWords);
  std::vector<float> scales(kWords);
  for (int i = 0; i < kWords; ++i) {
    // Every code in every byte.
    for (int byte = 0; byte < 4; ++byte)
      packed[i] |= static_cast<uint32_t>((i + 64 * byte) % kCodes) << (8 * byte);
    // Only the exponent counts: other mantissas must not matter.
    scales[i] = std::ldexp(i % 2 ? 1.75f : 1.0f, i % 9 - 4);
  }
  const test::DeviceArray<uint32_t> device_packed(packed);
  const test::DeviceArray<float> device_scales(scales), results(kWords * 16);
  decode_e4m3_kernel<<<kWords / kBlock, kBlock>>>(device_packed.get(), device_scales.get(),
                                                  results.get());
  HIP_FINISH();
  const auto got = results.download();
  for (int i = 0; i < kWords; ++i) {
    for (int byte = 0; byte < 4; ++byte) {
      const int code = packed[i] >> (8 * byte) & 0xff;
      const double value = e4m3(code), scaled = std::ldexp(value, i % 9 - 4);
      CHECK(same(gcn::e4m3_to_float(code), value), "code %d", code);
      CHECK(same(got[i * 16 + byte], value), "code %d in byte %d: %g, not %g", code, byte,
            got[i * 16 + byte], value);
      for (int form = 1; form < 4; ++form)
        CHECK(same(got[i * 16 + form * 4 + byte], scaled),
              "code %d in byte %d, form %d: %g, not %g", code, byte, form,
              got[i * 16 + form * 4 + byte], scaled);
    }
  }
}

__global__ void encode_e4m3_kernel(const float* values, uint32_t* results) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  constexpr uint32_t kKept = 0x5a5aa5a5;
  results[2 * i] = gcn::pack_e4m3<false>(values[2 * i], values[2 * i + 1], kKept);
  results[2 * i + 1] = gcn::pack_e4m3<true>(values[2 * i], values[2 * i + 1], kKept);
}

void test_encode_e4m3() {
  constexpr int kLargest = 0x7e;
  const std::vector<float> values = interesting_floats(e4m3, kLargest);
  const test::DeviceArray<float> device_values(values);
  const test::DeviceArray<uint32_t> results(values.size());
  encode_e4m3_kernel<<<values.size() / (2 * kBlock), kBlock>>>(device_values.get(), results.get());
  HIP_FINISH();
  const auto got = results.download();
  for (size_t i = 0; i < values.size(); i += 2) {
    const uint32_t first = nearest(values[i], e4m3, kLargest, 0x80);
    const uint32_t second = nearest(values[i + 1], e4m3, kLargest, 0x80);
    const uint32_t pair = first | second << 8;
    CHECK(got[i] == (0x5a5a0000u | pair), "%a and %a, low half: %08x, not %04x", values[i],
          values[i + 1], got[i], pair);
    CHECK(got[i + 1] == (0xa5a5u | pair << 16), "%a and %a, high half: %08x, not %04x", values[i],
          values[i + 1], got[i + 1], pair);
  }
}

__global__ void decode_e2m1_kernel(const uint32_t* packed, const float* scales, float* results) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  float* out = results + i * 24;
  const auto all = [&](auto unpack, float* to) {
    const auto pair0 = unpack.template operator()<0>();
    const auto pair1 = unpack.template operator()<1>();
    const auto pair2 = unpack.template operator()<2>();
    const auto pair3 = unpack.template operator()<3>();
    to[0] = pair0[0], to[1] = pair0[1], to[2] = pair1[0], to[3] = pair1[1];
    to[4] = pair2[0], to[5] = pair2[1], to[6] = pair3[0], to[7] = pair3[1];
  };
  all([&]<int B>() { return gcn::unpack_e2m1_f32<B>(packed[i], scales[i]); }, out);
  all([&]<int B>() { return gcn::unpack_bf16(gcn::unpack_e2m1_bf16<B>(packed[i], scales[i])); },
      out + 8);
  all([&]<int B>() { return gcn::unpack_e2m1_f16<B>(packed[i], scales[i]); }, out + 16);
}

void test_decode_e2m1() {
  constexpr int kWords = 256;  // every byte
  std::vector<uint32_t> packed(kWords);
  std::vector<float> scales(kWords);
  for (int i = 0; i < kWords; ++i) {
    for (int byte = 0; byte < 4; ++byte)
      packed[i] |= static_cast<uint32_t>((i + 67 * byte) % 256) << (8 * byte);
    scales[i] = std::ldexp(i % 2 ? 1.25f : 1.0f, i % 11 - 5);
  }
  const test::DeviceArray<uint32_t> device_packed(packed);
  const test::DeviceArray<float> device_scales(scales), results(kWords * 24);
  decode_e2m1_kernel<<<kWords / kBlock, kBlock>>>(device_packed.get(), device_scales.get(),
                                                  results.get());
  HIP_FINISH();
  const auto got = results.download();
  for (int i = 0; i < kWords; ++i) {
    for (int nibble = 0; nibble < 8; ++nibble) {
      const int code = packed[i] >> (4 * nibble) & 15;
      const double scaled = std::ldexp(e2m1(code), i % 11 - 5);
      CHECK(same(gcn::e2m1_to_float(code), e2m1(code)), "code %d", code);
      for (int form = 0; form < 3; ++form)
        CHECK(same(got[i * 24 + form * 8 + nibble], scaled),
              "code %d in nibble %d, form %d: %g, not %g", code, nibble, form,
              got[i * 24 + form * 8 + nibble], scaled);
    }
  }
}

__global__ void encode_e2m1_kernel(const float* values, float scale, uint32_t* results) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  constexpr uint32_t kKept = 0xa5a5a5a5;
  const float first = values[2 * i], second = values[2 * i + 1];
  results[4 * i] = gcn::pack_e2m1<0>(first, second, scale, kKept);
  results[4 * i + 1] = gcn::pack_e2m1<1>(first, second, scale, kKept);
  results[4 * i + 2] = gcn::pack_e2m1<2>(first, second, scale, kKept);
  results[4 * i + 3] = gcn::pack_e2m1<3>(first, second, scale, kKept);
}

void test_encode_e2m1() {
  constexpr int kLargest = 7;
  constexpr float kScale = 8.0f;
  std::vector<float> values = interesting_floats(e2m1, kLargest);
  for (float& value : values) value *= kScale;
  const test::DeviceArray<float> device_values(values);
  const test::DeviceArray<uint32_t> results(2 * values.size());
  encode_e2m1_kernel<<<values.size() / (2 * kBlock), kBlock>>>(device_values.get(), kScale,
                                                               results.get());
  HIP_FINISH();
  const auto got = results.download();
  for (size_t i = 0; i < values.size(); i += 2) {
    const uint32_t first = nearest(values[i] / kScale, e2m1, kLargest, 8);
    const uint32_t second = nearest(values[i + 1] / kScale, e2m1, kLargest, 8);
    for (int byte = 0; byte < 4; ++byte) {
      const uint32_t kept = 0xa5a5a5a5u & ~(0xffu << (8 * byte));
      const uint32_t expected = kept | (first | second << 4) << (8 * byte);
      CHECK(got[2 * i + byte] == expected, "%a and %a in byte %d: %08x, not %08x", values[i],
            values[i + 1], byte, got[2 * i + byte], expected);
    }
  }
}

__global__ void bf16_kernel(const float* values, uint32_t* packed, float* back) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const gcn::bf16x2 pair = gcn::pack_bf16(values[2 * i], values[2 * i + 1]);
  packed[i] = __builtin_bit_cast(uint32_t, pair);
  const gcn::f32x2 again = gcn::unpack_bf16(pair);
  back[2 * i] = again[0], back[2 * i + 1] = again[1];
}

// Rounds to 8 bits of mantissa, ties to even, in float64.
double round_to_bf16(float value) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - 8, -126 - 7);  // the last bit's weight
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(double{value}, -unit)), unit);
  return std::abs(rounded) >= std::ldexp(1.0, 128) ? std::copysign(INFINITY, rounded) : rounded;
}

void test_bf16() {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               INFINITY,
                               -INFINITY,
                               NAN,
                               -NAN,
                               FLT_MAX,
                               -FLT_MAX,
                               FLT_MIN,
                               1e-40f,
                               -1e-40f,
                               from_bits(1),
                               from_bits(0x7f800001)};
  for (const uint32_t low : {0x0000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
    for (const uint32_t high : {0x3f80u, 0x3f81u, 0xc2ffu, 0x7f7fu, 0x0001u, 0x8002u})
      values.push_back(from_bits(high << 16 | low));
  for (int i = 0; i < 4096; ++i) values.push_back(from_bits(test::random_bits()));
  while (values.size() % (2 * kBlock) != 0) values.push_back(1);
  const test::DeviceArray<float> device_values(values), back(values.size());
  const test::DeviceArray<uint32_t> packed(values.size() / 2);
  bf16_kernel<<<values.size() / (2 * kBlock), kBlock>>>(device_values.get(), packed.get(),
                                                        back.get());
  HIP_FINISH();
  const auto got = packed.download();
  const auto got_back = back.download();
  for (size_t i = 0; i < values.size(); ++i) {
    const uint16_t bits = got[i / 2] >> (i % 2 * 16) & 0xffff;
    const double exact = round_to_bf16(values[i]);
    CHECK(same(from_bits(uint32_t{bits} << 16), exact), "%a (%08x): %04x", values[i],
          to_bits(values[i]), bits);
    CHECK(same(gcn::bf16_to_float(bits), got_back[i]), "%04x", bits);
    CHECK(same(gcn::bf16_to_float(gcn::bf16_from_float(values[i])), exact), "%a", values[i]);
  }
}

__global__ void e8m0_kernel(float* values, const float* amax, uint32_t* scales) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  values[i] = gcn::e8m0_to_float(i);
  scales[i] = gcn::mx_e4m3_scale(amax[i]);
}

// The smallest code whose scale brings amax to at most 448.
uint32_t smallest_scale(double amax) {
  amax = std::max(amax, double{FLT_MIN});
  uint32_t code = 0;
  while (code < 254 && amax > std::ldexp(448.0, static_cast<int>(code) - 127)) ++code;
  return code;
}

void test_e8m0() {
  constexpr int kCodes = 256;
  std::vector<float> amax(kCodes);
  for (int i = 0; i < kCodes; ++i) {
    const float edge = std::ldexp(448.0f, test::random_int(-130, 119));
    const float choices[] = {edge, std::nextafter(edge, 0.0f), std::nextafter(edge, INFINITY),
                             std::abs(from_bits(test::random_bits() & 0x7f7fffff))};
    amax[i] = choices[i % 4];
  }
  amax[0] = 0, amax[4] = FLT_MAX, amax[8] = FLT_MIN, amax[12] = 1e-45f, amax[16] = 448;
  const test::DeviceArray<float> device_amax(amax), values(kCodes);
  const test::DeviceArray<uint32_t> scales(kCodes);
  e8m0_kernel<<<kCodes / kBlock, kBlock>>>(values.get(), device_amax.get(), scales.get());
  HIP_FINISH();
  const auto got = values.download();
  const auto got_scales = scales.download();
  for (int code = 0; code < kCodes; ++code) {
    const double exact = code == 255 ? NAN : std::ldexp(1.0, code - 127);
    CHECK(same(got[code], exact), "code %d: %a", code, got[code]);
    CHECK(same(gcn::e8m0_to_float(code), exact), "code %d", code);
    CHECK(got_scales[code] == smallest_scale(amax[code]), "amax %a: %u, not %u", amax[code],
          got_scales[code], smallest_scale(amax[code]));
  }
}

}  // namespace

int main() {
  test_decode_e4m3();
  test_encode_e4m3();
  test_decode_e2m1();
  test_encode_e2m1();
  test_bf16();
  test_e8m0();
  return test::finish();
}
