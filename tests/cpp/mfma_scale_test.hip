// Block-scaled matrix instructions: operand layouts of every format, scale bytes, scale codes, and
// random products against float64.
//
// The layout, from the register maps that AMD publishes for these instructions (with S = 16 or 32
// rows, G = lane / S): A's lane holds row lane % S. 8-bit formats: elements 0..15 are
// k = 16 * G + 0..15 and elements 16..31 the same k plus half of K. 6- and 4-bit formats:
// k = 32 * G + 0..31. B is the same with columns. The scale of row (column) r and of k = 32 * b +
// 0..31 comes from lane S * b + r, for every format. D: 16x16 has rows 4 * G + 0..3, 32x32 has rows
// 8 * (element / 4) + 4 * G + element % 4; the column is lane % S.
#include "gcn/mfma.h"
#include "test.h"

namespace {

constexpr int kLanes = gcn::kWaveSize, kLaneElements = 32, kScaleOne = 127;

using gcn::MatrixFormat;

// A number format, decoded from its definition: sign, exponent, mantissa, bias.
struct FormatRule {
  int exponent_bits, mantissa_bits, bias;
};
constexpr FormatRule rule(MatrixFormat format) {
  switch (format) {
    case MatrixFormat::E4M3:
      return {4, 3, 7};
    case MatrixFormat::E5M2:
      return {5, 2, 15};
    case MatrixFormat::E2M3:
      return {2, 3, 1};
    case MatrixFormat::E3M2:
      return {3, 2, 3};
    case MatrixFormat::E2M1:
      return {2, 1, 1};
  }
}

double decode(MatrixFormat format, int code) {
  const FormatRule r = rule(format);
  const int mantissa = code & ((1 << r.mantissa_bits) - 1);
  const int exponent = code >> r.mantissa_bits & ((1 << r.exponent_bits) - 1);
  const bool negative = code >> (r.mantissa_bits + r.exponent_bits) & 1;
  if (format == MatrixFormat::E4M3 && exponent == 15 && mantissa == 7) return NAN;
  if (format == MatrixFormat::E5M2 && exponent == 31)
    return mantissa ? NAN : negative ? -INFINITY : INFINITY;
  const int implicit = exponent > 0 ? 1 << r.mantissa_bits : 0;
  const double magnitude =
      std::ldexp(implicit + mantissa, std::max(exponent, 1) - r.bias - r.mantissa_bits);
  return negative ? -magnitude : magnitude;
}

// All codes of finite numbers other than 0.
std::vector<int> finite_codes(MatrixFormat format) {
  std::vector<int> codes;
  for (int code = 0; code < 1 << gcn::format_bits(format); ++code) {
    const double value = decode(format, code);
    if (std::isfinite(value) && value != 0) codes.push_back(code);
  }
  return codes;
}

// The code of 1.0.
int code_of_one(MatrixFormat format) { return rule(format).bias << rule(format).mantissa_bits; }

template <int Size, MatrixFormat A, MatrixFormat B, int ByteA, int ByteB, bool Scaled>
__global__ void scale_kernel(const gcn::ScaledOperand<A>* a, const gcn::ScaledOperand<B>* b,
                             const uint32_t* scale_a, const uint32_t* scale_b, float* d) {
  constexpr int kResults = Size * Size / kLanes;
  const int i = blockIdx.x * kLanes + threadIdx.x;
  using Accumulator = float __attribute__((ext_vector_type(kResults)));
  Accumulator sum = 0.0f;
  if constexpr (Size == 16 && Scaled) {
    sum = gcn::mfma_scale_16x16x128<A, B, ByteA, ByteB>(a[i], b[i], sum, scale_a[i], scale_b[i]);
  } else if constexpr (Scaled) {
    sum = gcn::mfma_scale_32x32x64<A, B, ByteA, ByteB>(a[i], b[i], sum, scale_a[i], scale_b[i]);
  } else if constexpr (Size == 16) {
    sum = gcn::mfma_16x16x128<A, B>(a[i], b[i], sum);
  } else {
    sum = gcn::mfma_32x32x64<A, B>(a[i], b[i], sum);
  }
  for (int e = 0; e < kResults; ++e) d[i * kResults + e] = sum[e];
}

// Puts element `index` into a little-endian string of `bits`-bit elements.
void insert(uint32_t* words, int bits, int index, int code) {
  const int position = index * bits, shift = position % 32;
  words[position / 32] |= static_cast<uint32_t>(code) << shift;
  if (shift + bits > 32) words[position / 32 + 1] |= static_cast<uint32_t>(code) >> (32 - shift);
}

// Products of matrices of codes; a scale code for each 32 k of each row of A and column of B.
template <int Size, MatrixFormat A, MatrixFormat B, int ByteA = 0, int ByteB = 0,
          bool Scaled = true>
class Products {
 public:
  static constexpr int kK = Size == 16 ? 128 : 64;
  static constexpr int kBlocks = kK / 32;

  explicit Products(int count)
      : a(count, std::vector<int>(Size * kK)),
        b(count, std::vector<int>(Size * kK)),
        scale_a(count, std::vector<int>(Size * kBlocks, kScaleOne)),
        scale_b(count, std::vector<int>(Size * kBlocks, kScaleOne)),
        d(count, std::vector<float>(Size * Size)) {}

  void run() {
    const size_t count = a.size();
    constexpr int kResults = Size * Size / kLanes;
    const auto fa = fragments<A>(a);
    const auto fb = fragments<B>(b);
    const test::DeviceArray<gcn::ScaledOperand<A>> da(fa);
    const test::DeviceArray<gcn::ScaledOperand<B>> db(fb);
    const test::DeviceArray<uint32_t> sa(scale_words(scale_a, ByteA)),
        sb(scale_words(scale_b, ByteB));
    const test::DeviceArray<float> dd(count * kLanes * kResults);
    scale_kernel<Size, A, B, ByteA, ByteB, Scaled>
        <<<count, kLanes>>>(da.get(), db.get(), sa.get(), sb.get(), dd.get());
    HIP_FINISH();
    const auto fd = dd.download();
    for (size_t i = 0; i < count; ++i) {
      for (int lane = 0; lane < kLanes; ++lane) {
        for (int e = 0; e < kResults; ++e) {
          const int group = lane / Size;
          const int row = Size == 16 ? 4 * group + e : 8 * (e / 4) + 4 * group + e % 4;
          d[i][row * Size + lane % Size] = fd[(i * kLanes + lane) * kResults + e];
        }
      }
    }
  }

  // [product][row * K + k] codes; of B [product][column * K + k].
  std::vector<std::vector<int>> a, b;
  // [product][row * blocks + block]
  std::vector<std::vector<int>> scale_a, scale_b;
  std::vector<std::vector<float>> d;

 private:
  template <MatrixFormat Format>
  static std::vector<gcn::ScaledOperand<Format>> fragments(
      const std::vector<std::vector<int>>& codes) {
    constexpr int kBits = gcn::format_bits(Format);
    constexpr int kWords = kBits;  // 32 elements
    std::vector<gcn::ScaledOperand<Format>> result(codes.size() * kLanes);
    for (size_t i = 0; i < codes.size(); ++i) {
      for (int lane = 0; lane < kLanes; ++lane) {
        uint32_t words[kWords] = {};
        for (int e = 0; e < kLaneElements; ++e) {
          const int group = lane / Size;
          const int k = kBits == 8 ? e / 16 * (kK / 2) + 16 * group + e % 16 : 32 * group + e;
          insert(words, kBits, e, codes[i][lane % Size * kK + k]);
        }
        for (int w = 0; w < kWords; ++w)
          result[i * kLanes + lane][w] = static_cast<int32_t>(words[w]);
      }
    }
    return result;
  }

  // The scale in byte `byte` of the lane's register, other codes in the other bytes.
  static std::vector<uint32_t> scale_words(const std::vector<std::vector<int>>& scales, int byte) {
    std::vector<uint32_t> words(scales.size() * kLanes);
    for (size_t i = 0; i < scales.size(); ++i) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const uint32_t scale = scales[i][lane % Size * kBlocks + lane / Size];
        const uint32_t others = 0x83828180u & ~(0xffu << (8 * byte));
        words[i * kLanes + lane] = others | scale << (8 * byte);
      }
    }
    return words;
  }
};

double power_of_two(int scale_code) { return std::ldexp(1.0, scale_code - kScaleOne); }

// One element of A (then of B) is 1 at a time, the other operand full of codes that differ along k
// and along the columns, scales differ for each row, column and block. D is exact: one product.
template <int Size, MatrixFormat A, MatrixFormat B>
void test_one_hot() {
  using P = Products<Size, A, B>;
  constexpr int kK = P::kK, kBlocks = P::kBlocks;
  const std::vector<int> codes_a = finite_codes(A), codes_b = finite_codes(B);
  const auto scale_code = [](int index, int block) { return 117 + (5 * index + 7 * block) % 21; };
  P products(2 * Size * kK);
  for (int hot = 0; hot < Size * kK; ++hot) {
    const int second = hot + Size * kK;
    products.a[hot][hot] = code_of_one(A);
    products.b[second][hot] = code_of_one(B);
    for (int j = 0; j < Size; ++j) {
      for (int k = 0; k < kK; ++k) {
        products.b[hot][j * kK + k] = codes_b[(k + 7 * j) % codes_b.size()];
        products.a[second][j * kK + k] = codes_a[(k + 7 * j) % codes_a.size()];
      }
      for (int block = 0; block < kBlocks; ++block) {
        for (const int i : {hot, second}) {
          products.scale_a[i][j * kBlocks + block] = scale_code(j, block);
          products.scale_b[i][j * kBlocks + block] = scale_code(j + 3, block + 1);
        }
      }
    }
  }
  products.run();
  for (int hot = 0; hot < Size * kK; ++hot) {
    const int index = hot / kK, k = hot % kK, block = k / 32;
    for (int row = 0; row < Size; ++row) {
      for (int column = 0; column < Size; ++column) {
        const double scale =
            power_of_two(scale_code(row, block)) * power_of_two(scale_code(column + 3, block + 1));
        const double from_a =
            row == index ? scale * decode(B, products.b[hot][column * kK + k]) : 0;
        const double from_b =
            column == index ? scale * decode(A, products.a[hot + Size * kK][row * kK + k]) : 0;
        const float got_a = products.d[hot][row * Size + column];
        const float got_b = products.d[hot + Size * kK][row * Size + column];
        CHECK(got_a == from_a, "%dx%d formats %d %d, A(%d, %d), D(%d, %d): %g, not %g", Size, Size,
              static_cast<int>(A), static_cast<int>(B), index, k, row, column, got_a, from_a);
        CHECK(got_b == from_b, "%dx%d formats %d %d, B(%d, %d), D(%d, %d): %g, not %g", Size, Size,
              static_cast<int>(A), static_cast<int>(B), k, index, row, column, got_b, from_b);
      }
    }
  }
}

template <int Size, MatrixFormat A, MatrixFormat B, int ByteA, int ByteB, bool Scaled = true>
void test_random() {
  using P = Products<Size, A, B, ByteA, ByteB, Scaled>;
  constexpr int kK = P::kK, kBlocks = P::kBlocks, kCount = 8;
  const std::vector<int> codes_a = finite_codes(A), codes_b = finite_codes(B);
  P products(kCount);
  for (int i = 0; i < kCount; ++i) {
    for (int& code : products.a[i]) code = codes_a[test::random_int(0, codes_a.size() - 1)];
    for (int& code : products.b[i]) code = codes_b[test::random_int(0, codes_b.size() - 1)];
    if (!Scaled) continue;
    for (int& code : products.scale_a[i]) code = test::random_int(120, 134);
    for (int& code : products.scale_b[i]) code = test::random_int(120, 134);
  }
  products.run();
  for (int i = 0; i < kCount; ++i) {
    for (int row = 0; row < Size; ++row) {
      for (int column = 0; column < Size; ++column) {
        double exact = 0, magnitude = 0;
        for (int k = 0; k < kK; ++k) {
          const int block = k / 32;
          const double term = decode(A, products.a[i][row * kK + k]) *
                              decode(B, products.b[i][column * kK + k]) *
                              power_of_two(products.scale_a[i][row * kBlocks + block]) *
                              power_of_two(products.scale_b[i][column * kBlocks + block]);
          exact += term;
          magnitude += std::abs(term);
        }
        // K additions in fp32 in an order of the hardware's own, maybe truncating.
        const double tolerance = kK * std::ldexp(magnitude, -23);
        const float got = products.d[i][row * Size + column];
        CHECK(std::abs(got - exact) <= tolerance,
              "%dx%d formats %d %d, bytes %d %d, product %d, D(%d, %d): %g, not %g", Size, Size,
              static_cast<int>(A), static_cast<int>(B), ByteA, ByteB, i, row, column, got, exact);
      }
    }
  }
}

// Every E8M0 code as the scale of A, the scale of B brings the result near 1. Code 255 is NaN.
void test_all_scale_codes() {
  using P = Products<16, MatrixFormat::E4M3, MatrixFormat::E4M3>;
  constexpr int kCodes = 256, kNan = 255;
  P products(kCodes);
  for (int code = 0; code < kCodes; ++code) {
    products.a[code][0] = products.b[code][0] = code_of_one(MatrixFormat::E4M3);
    products.scale_a[code][0] = code;
    products.scale_b[code][0] = std::min(2 * kScaleOne - code + 3, 254);
  }
  products.run();
  for (int code = 0; code < kCodes; ++code) {
    const double exact = power_of_two(code) * power_of_two(products.scale_b[code][0]);
    const float got = products.d[code][0];
    if (code == kNan) {
      CHECK(std::isnan(got), "scale code %d: %g", code, got);
    } else {
      CHECK(got == exact, "scale code %d: %g, not %g", code, got, exact);
    }
  }
}

// Every code of the element format times 1.
template <MatrixFormat Format>
void test_all_element_codes() {
  using P = Products<16, Format, MatrixFormat::E4M3>;
  constexpr int kCodes = 1 << gcn::format_bits(Format);
  P products(kCodes);
  for (int code = 0; code < kCodes; ++code) {
    products.a[code][0] = code;
    products.b[code][0] = code_of_one(MatrixFormat::E4M3);
  }
  products.run();
  for (int code = 0; code < kCodes; ++code) {
    const double exact = decode(Format, code);
    const float got = products.d[code][0];
    CHECK(std::isnan(exact) ? std::isnan(got) : got == exact, "format %d code %d: %g, not %g",
          static_cast<int>(Format), code, got, exact);
  }
}

// The header's layout functions against the rule at the top.
template <typename Layout, int Size, int Bits>
void test_layout() {
  constexpr int kK = Size == 16 ? 128 : 64;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int group = lane / Size;
    for (int e = 0; e < kLaneElements; ++e) {
      const int k = Bits == 8 ? e / 16 * (kK / 2) + 16 * group + e % 16 : 32 * group + e;
      CHECK(Layout::index(lane) == lane % Size && Layout::k(lane, e) == k,
            "%d bits, %dx%d, lane %d, element %d", Bits, Size, Size, lane, e);
    }
    CHECK(gcn::ScaleLayout<Size>::index(lane) == lane % Size &&
              gcn::ScaleLayout<Size>::block(lane) == group,
          "scale, lane %d", lane);
    for (int e = 0; e < Size * Size / kLanes; ++e) {
      const int row = Size == 16 ? 4 * group + e : 8 * (e / 4) + 4 * group + e % 4;
      CHECK(gcn::AccumulatorLayout<Size>::row(lane, e) == row, "accumulator, lane %d, element %d",
            lane, e);
    }
  }
}

constexpr MatrixFormat E4M3 = MatrixFormat::E4M3, E5M2 = MatrixFormat::E5M2,
                       E2M3 = MatrixFormat::E2M3, E3M2 = MatrixFormat::E3M2,
                       E2M1 = MatrixFormat::E2M1;

}  // namespace

int main() {
  test_layout<gcn::Operand16x16x128<E4M3>, 16, 8>();
  test_layout<gcn::Operand16x16x128<E3M2>, 16, 6>();
  test_layout<gcn::Operand16x16x128<E2M1>, 16, 4>();
  test_layout<gcn::Operand32x32x64<E5M2>, 32, 8>();
  test_layout<gcn::Operand32x32x64<E2M3>, 32, 6>();
  test_layout<gcn::Operand32x32x64<E2M1>, 32, 4>();

  test_one_hot<16, E4M3, E4M3>();
  test_one_hot<16, E2M1, E2M1>();
  test_one_hot<16, E4M3, E2M1>();
  test_one_hot<16, E3M2, E5M2>();
  test_one_hot<32, E4M3, E4M3>();
  test_one_hot<32, E2M1, E2M1>();
  test_one_hot<32, E2M3, E4M3>();

  test_random<16, E4M3, E4M3, 0, 0>();
  test_random<16, E4M3, E4M3, 1, 2>();
  test_random<16, E4M3, E4M3, 3, 1>();
  test_random<16, E4M3, E4M3, 2, 3>();
  test_random<16, E2M1, E4M3, 0, 3>();
  test_random<16, E5M2, E2M3, 1, 0>();
  test_random<32, E4M3, E4M3, 0, 0>();
  test_random<32, E4M3, E4M3, 2, 1>();
  test_random<32, E4M3, E4M3, 1, 3>();
  test_random<32, E2M1, E2M1, 3, 2>();
  test_random<16, E4M3, E4M3, 0, 0, false>();
  test_random<32, E2M1, E2M1, 0, 0, false>();

  test_all_scale_codes();
  test_all_element_codes<E4M3>();
  test_all_element_codes<E5M2>();
  test_all_element_codes<E2M3>();
  test_all_element_codes<E3M2>();
  test_all_element_codes<E2M1>();
  return test::finish();
}
