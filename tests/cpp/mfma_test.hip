// Matrix instructions with 16-bit operands: every lane and element against the published layout,
// and random products against float64.
//
// The layout, from AMD's description of the matrix cores (the figures of 16x16x16 and 16x16x32):
// with G = lane / 16, A's lane holds row lane % 16 and k = G * E + 0..E-1, E = K / 4; B's lane
// holds column lane % 16 and the same k; C's and D's lane holds column lane % 16, rows 4 * G +
// 0..3.
#include "gcn/mfma.h"
#include "test.h"

namespace {

constexpr int kLanes = gcn::kWaveSize, kSize = 16, kRowsPerLane = 4;

template <typename Fragment>
__global__ void mfma_kernel(const Fragment* a, const Fragment* b, const gcn::f32x4* c,
                            gcn::f32x4* d) {
  const int i = blockIdx.x * kLanes + threadIdx.x;
  if constexpr (sizeof(Fragment) == 16) {
    d[i] = gcn::mfma_16x16x32(a[i], b[i], c[i]);
  } else {
    d[i] = gcn::mfma_16x16x16(a[i], b[i], c[i]);
  }
}

struct Matrix {
  int rows, columns;
  std::vector<float> values;
  Matrix(int rows, int columns) : rows(rows), columns(columns), values(rows * columns) {}
  float& at(int row, int column) { return values[row * columns + column]; }
  float at(int row, int column) const { return values[row * columns + column]; }
};

// A number that both 16-bit formats hold exactly: 8 significant bits.
float random_number() { return test::random_int(-255, 255) / 64.0f; }

// Of a number that the format holds exactly. (The host's own conversion to bfloat16 needs a library
// function that not every host has.)
template <typename Number>
Number to_number(float value) {
  if constexpr (std::is_same_v<Number, __bf16>) {
    return __builtin_bit_cast(Number,
                              static_cast<uint16_t>(__builtin_bit_cast(uint32_t, value) >> 16));
  } else {
    return static_cast<Number>(value);
  }
}

// `count` independent products in one launch.
template <typename Number, int K>
class Products {
 public:
  static constexpr int kElements = K / 4;
  using Fragment = Number __attribute__((ext_vector_type(kElements)));

  explicit Products(int count)
      : a(count, Matrix(kSize, K)),
        b(count, Matrix(K, kSize)),
        c(count, Matrix(kSize, kSize)),
        d(count, Matrix(kSize, kSize)) {}

  void run() {
    const size_t count = a.size();
    std::vector<Fragment> fa(count * kLanes), fb(count * kLanes);
    std::vector<gcn::f32x4> fc(count * kLanes);
    for (size_t i = 0; i < count; ++i) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const int index = lane % 16, group = lane / 16;
        for (int e = 0; e < kElements; ++e) {
          fa[i * kLanes + lane][e] = to_number<Number>(a[i].at(index, group * kElements + e));
          fb[i * kLanes + lane][e] = to_number<Number>(b[i].at(group * kElements + e, index));
        }
        for (int e = 0; e < kRowsPerLane; ++e)
          fc[i * kLanes + lane][e] = c[i].at(4 * group + e, index);
      }
    }
    const test::DeviceArray<Fragment> da(fa), db(fb);
    const test::DeviceArray<gcn::f32x4> dc(fc), dd(count * kLanes);
    mfma_kernel<Fragment><<<count, kLanes>>>(da.get(), db.get(), dc.get(), dd.get());
    HIP_FINISH();
    const auto fd = dd.download();
    for (size_t i = 0; i < count; ++i)
      for (int lane = 0; lane < kLanes; ++lane)
        for (int e = 0; e < kRowsPerLane; ++e)
          d[i].at(4 * (lane / 16) + e, lane % 16) = fd[i * kLanes + lane][e];
  }

  std::vector<Matrix> a, b, c, d;
};

// One element of one operand is 1 at a time, the other operand is full of small distinct integers:
// D is a row (or column) of it, exactly.
template <typename Number, int K>
void test_one_hot() {
  // Distinct along each row and along each column, and exact in 8 bits of mantissa.
  const auto distinct = [](int k, int j) { return static_cast<float>((16 * k + j) % 251 + 1); };
  Products<Number, K> products(2 * kSize * K);
  for (int i = 0; i < kSize; ++i) {
    for (int k = 0; k < K; ++k) {
      const int first = i * K + k, second = first + kSize * K;
      products.a[first].at(i, k) = 1;
      products.b[second].at(k, i) = 1;
      for (int kk = 0; kk < K; ++kk) {
        for (int j = 0; j < kSize; ++j) {
          products.b[first].at(kk, j) = distinct(kk, j);
          products.a[second].at(j, kk) = distinct(kk, j);
        }
      }
    }
  }
  products.run();
  for (int i = 0; i < kSize; ++i) {
    for (int k = 0; k < K; ++k) {
      const int first = i * K + k, second = first + kSize * K;
      for (int row = 0; row < kSize; ++row) {
        for (int column = 0; column < kSize; ++column) {
          const float from_a = row == i ? distinct(k, column) : 0;
          const float from_b = column == i ? distinct(k, row) : 0;
          CHECK(products.d[first].at(row, column) == from_a, "K = %d, A(%d, %d), D(%d, %d): %g", K,
                i, k, row, column, products.d[first].at(row, column));
          CHECK(products.d[second].at(row, column) == from_b, "K = %d, B(%d, %d), D(%d, %d): %g", K,
                k, i, row, column, products.d[second].at(row, column));
        }
      }
    }
  }
}

template <typename Number, int K>
void test_random() {
  constexpr int kCount = 32;
  Products<Number, K> products(kCount);
  for (int i = 0; i < kCount; ++i) {
    for (float& x : products.a[i].values) x = random_number();
    for (float& x : products.b[i].values) x = random_number();
    for (float& x : products.c[i].values) x = test::random_float(-16, 16);
  }
  products.run();
  for (int i = 0; i < kCount; ++i) {
    for (int row = 0; row < kSize; ++row) {
      for (int column = 0; column < kSize; ++column) {
        double exact = products.c[i].at(row, column), magnitude = std::abs(exact);
        for (int k = 0; k < K; ++k) {
          const double term = double{products.a[i].at(row, k)} * products.b[i].at(k, column);
          exact += term;
          magnitude += std::abs(term);
        }
        // The hardware adds K products and C in fp32 in an order of its own and may truncate: each
        // of K additions loses at most 2^-23 of the sum of magnitudes.
        const double tolerance = K * std::ldexp(magnitude, -23);
        const float got = products.d[i].at(row, column);
        CHECK(std::abs(got - exact) <= tolerance, "K = %d, product %d, D(%d, %d): %g, not %g", K, i,
              row, column, got, exact);
      }
    }
  }
}

// The header's layout functions against the rule above.
template <typename Layout, int K>
void test_layout() {
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int e = 0; e < K / 4; ++e)
      CHECK(Layout::index(lane) == lane % 16 && Layout::k(lane, e) == lane / 16 * (K / 4) + e,
            "K = %d, lane %d, element %d", K, lane, e);
    for (int e = 0; e < kRowsPerLane; ++e)
      CHECK(gcn::AccumulatorLayout<16>::row(lane, e) == 4 * (lane / 16) + e &&
                gcn::AccumulatorLayout<16>::column(lane) == lane % 16,
            "accumulator, lane %d, element %d", lane, e);
  }
}

}  // namespace

int main() {
  test_layout<gcn::Operand16x16x16, 16>();
  test_layout<gcn::Operand16x16x32, 32>();
  test_one_hot<__bf16, 16>();
  test_one_hot<__bf16, 32>();
  test_one_hot<_Float16, 16>();
  test_one_hot<_Float16, 32>();
  test_random<__bf16, 16>();
  test_random<__bf16, 32>();
  test_random<_Float16, 16>();
  test_random<_Float16, 32>();
  return test::finish();
}
