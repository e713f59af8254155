// Reductions and lane exchange: every lane's result against sums over the lanes that the pattern
// names.
#include "gcn/wave_reduce.h"
#include "test.h"

namespace {

constexpr int kLanes = gcn::kWaveSize;

template <int GroupSize>
__global__ void reduce_kernel(const int* integers, const float* floats, int* sums, int* maxima,
                              float* float_sums, float* float_maxima) {
  const int lane = threadIdx.x;
  sums[lane] = gcn::group_reduce<GroupSize>(integers[lane], gcn::Sum{});
  maxima[lane] = gcn::group_reduce<GroupSize>(integers[lane], gcn::Max{});
  float_sums[lane] = gcn::group_reduce<GroupSize>(floats[lane], gcn::Sum{});
  float_maxima[lane] = gcn::group_reduce<GroupSize>(floats[lane], gcn::Max{});
}

template <int GroupSize>
void test_groups() {
  std::vector<int> integers(kLanes);
  std::vector<float> floats(kLanes);
  for (int& x : integers) x = test::random_int(-1000000, 1000000);
  for (float& x : floats) x = test::random_float(-10, 10);
  const test::DeviceArray<int> device_integers(integers);
  const test::DeviceArray<float> device_floats(floats);
  const test::DeviceArray<int> sums(kLanes), maxima(kLanes);
  const test::DeviceArray<float> float_sums(kLanes), float_maxima(kLanes);
  reduce_kernel<GroupSize><<<1, kLanes>>>(device_integers.get(), device_floats.get(), sums.get(),
                                          maxima.get(), float_sums.get(), float_maxima.get());
  HIP_FINISH();

  const auto got_sums = sums.download(), got_maxima = maxima.download();
  const auto got_float_sums = float_sums.download(), got_float_maxima = float_maxima.download();
  for (int lane = 0; lane < kLanes; ++lane) {
    const int first = lane / GroupSize * GroupSize;
    int sum = 0, maximum = integers[first];
    double float_sum = 0, magnitude = 0;
    float float_maximum = floats[first];
    for (int l = first; l < first + GroupSize; ++l) {
      sum += integers[l];
      maximum = std::max(maximum, integers[l]);
      float_sum += floats[l];
      magnitude += std::abs(floats[l]);
      float_maximum = std::max(float_maximum, floats[l]);
    }
    CHECK(got_sums[lane] == sum, "groups of %d, lane %d: %d, not %d", GroupSize, lane,
          got_sums[lane], sum);
    CHECK(got_maxima[lane] == maximum, "groups of %d, lane %d", GroupSize, lane);
    CHECK(got_float_maxima[lane] == float_maximum, "groups of %d, lane %d", GroupSize, lane);
    // At most six roundings on the way to a result, each at most 2^-24 of a partial sum.
    const double tolerance = 6 * std::ldexp(magnitude, -24);
    CHECK(std::abs(got_float_sums[lane] - float_sum) <= tolerance,
          "groups of %d, lane %d: %g, not %g", GroupSize, lane, got_float_sums[lane], float_sum);
    CHECK(got_float_sums[lane] == got_float_sums[first], "lanes %d and %d of a group differ", first,
          lane);
  }
}

__global__ void patterns_kernel(const uint32_t* values, const int* sources, uint32_t* results) {
  const int lane = gcn::lane_id();
  const uint32_t value = values[lane];
  uint32_t* out = results + lane;
  *out = gcn::across_rows_reduce(value, gcn::Sum{}), out += kLanes;
  *out = gcn::wave_sum(value), out += kLanes;
  *out = gcn::wave_max(value), out += kLanes;
  *out = gcn::read_lane(value, sources[lane]), out += kLanes;
  *out = gcn::swizzle<31, 0, 5>(value), out += kLanes;
  *out = gcn::swizzle<24, 3, 0>(value), out += kLanes;
  *out = gcn::dpp<gcn::kDppQuadSwapPairs>(value), out += kLanes;
  *out = gcn::dpp<gcn::kDppQuadSwapHalf>(value), out += kLanes;
  *out = gcn::dpp<gcn::kDppRowMirror>(value), out += kLanes;
  *out = gcn::dpp<gcn::kDppRowHalfMirror>(value), out += kLanes;
  *out = gcn::row_pair(value).even, out += kLanes;
  *out = gcn::row_pair(value).odd, out += kLanes;
  *out = gcn::half_pair(value).even, out += kLanes;
  *out = gcn::half_pair(value).odd, out += kLanes;
  *out = gcn::uniform(value + 1);
}

void test_patterns() {
  constexpr int kPatterns = 15;
  const std::vector<uint32_t> values = test::random_words<uint32_t>(kLanes);
  std::vector<int> sources(kLanes);
  for (int& source : sources) source = test::random_int(0, kLanes - 1);
  const test::DeviceArray<uint32_t> device_values(values), results(kPatterns * kLanes);
  const test::DeviceArray<int> device_sources(sources);
  patterns_kernel<<<1, kLanes>>>(device_values.get(), device_sources.get(), results.get());
  HIP_FINISH();

  uint32_t sum = 0, maximum = 0;
  for (const uint32_t value : values) {
    sum += value;
    maximum = std::max(maximum, value);
  }
  const auto got = results.download();
  for (int lane = 0; lane < kLanes; ++lane) {
    const int in_row = lane % 16;
    const uint32_t expected[kPatterns] = {
        values[in_row] + values[in_row + 16] + values[in_row + 32] + values[in_row + 48],
        sum,
        maximum,
        values[sources[lane]],
        values[lane ^ 5],
        values[(lane & 32) + ((lane & 24) | 3)],
        values[lane ^ 1],
        values[lane ^ 2],
        values[lane - in_row + 15 - in_row],
        values[lane / 8 * 8 + 7 - lane % 8],
        values[lane / 32 * 32 + in_row],
        values[lane / 32 * 32 + 16 + in_row],
        values[lane % 32],
        values[32 + lane % 32],
        values[0] + 1,
    };
    for (int p = 0; p < kPatterns; ++p)
      CHECK(got[p * kLanes + lane] == expected[p], "pattern %d, lane %d", p, lane);
  }
}

}  // namespace

int main() {
  test_groups<4>();
  test_groups<8>();
  test_groups<16>();
  test_groups<32>();
  test_groups<64>();
  test_patterns();
  return test::finish();
}
