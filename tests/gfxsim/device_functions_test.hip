// The device functions of the simulator build's HIP header, against the host's arithmetic.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "cases.h"

#define HIP(call) CHECK((call) == hipSuccess)

namespace {

constexpr int kLanes = 64;

// Runs `body(lane)` in one wave and returns what each lane's call gives.
template <typename T, typename Body>
__global__ void each_lane(T* out, Body body) {
  out[threadIdx.x] = body(static_cast<int>(threadIdx.x));
}

template <typename T, typename Body>
std::vector<T> run(Body body) {
  T* out;
  HIP(hipMalloc(&out, kLanes * sizeof(T)));
  each_lane<<<1, kLanes>>>(out, body);
  std::vector<T> values(kLanes);
  HIP(hipMemcpy(values.data(), out, kLanes * sizeof(T), hipMemcpyDeviceToHost));
  HIP(hipFree(out));
  return values;
}

// In units of the last place of the expected number.
double ulps(float got, double expected) {
  const double ulp = std::ldexp(1.0, std::ilogb(expected) - 23);
  return std::fabs(got - expected) / ulp;
}

template <typename Device, typename Host>
void check_math(const char* name, Device device, Host host, double max_ulps) {
  const std::vector<float> got = run<float>(
      [=] __device__(int lane) { return device(0.25f + 0.37f * static_cast<float>(lane)); });
  for (int lane = 0; lane < kLanes; ++lane) {
    const float x = 0.25f + 0.37f * static_cast<float>(lane);
    const double expected = host(x);
    const bool close = got[lane] == expected || ulps(got[lane], expected) <= max_ulps;
    if (!close) std::printf("%s(%.9g) is %.9g, not %.9g\n", name, x, got[lane], expected);
    CHECK(close);
  }
}

}  // namespace

CASE(shuffles_of_the_whole_wave) {
  const auto indexed = run<int>([] __device__(int lane) { return __shfl(lane * 10, lane * 7); });
  const auto up = run<float>([] __device__(int lane) { return __shfl_up(lane + 0.5f, 3); });
  const auto down =
      run<long long>([] __device__(int lane) { return __shfl_down((1LL << 40) + lane, 5); });
  const auto swapped =
      run<short>([] __device__(int lane) { return __shfl_xor(static_cast<short>(-lane), 9); });
  for (int lane = 0; lane < kLanes; ++lane) {
    CHECK(indexed[lane] == lane * 7 % kLanes * 10);
    CHECK(up[lane] == (lane < 3 ? lane : lane - 3) + 0.5f);
    CHECK(down[lane] == (1LL << 40) + (lane + 5 < kLanes ? lane + 5 : lane));
    CHECK(swapped[lane] == -(lane ^ 9));
  }
}

CASE(shuffles_inside_segments) {
  constexpr int kWidth = 16;
  const auto indexed = run<int>([] __device__(int lane) { return __shfl(lane, 18, kWidth); });
  const auto up = run<int>([] __device__(int lane) { return __shfl_up(lane, 4, kWidth); });
  const auto down = run<int>([] __device__(int lane) { return __shfl_down(lane, 4, kWidth); });
  const auto inside = run<int>([] __device__(int lane) { return __shfl_xor(lane, 5, kWidth); });
  const auto upwards = run<int>([] __device__(int lane) { return __shfl_xor(lane, 16, kWidth); });
  for (int lane = 0; lane < kLanes; ++lane) {
    const int first = lane / kWidth * kWidth, within = lane % kWidth;
    CHECK(indexed[lane] == first + 18 % kWidth);
    CHECK(up[lane] == (within < 4 ? lane : lane - 4));
    CHECK(down[lane] == (within + 4 < kWidth ? lane + 4 : lane));
    CHECK(inside[lane] == (lane ^ 5));
    // A lane does not read from a later segment; an earlier one it may.
    CHECK(upwards[lane] == ((lane ^ 16) > lane ? lane : lane ^ 16));
  }
}

CASE(votes) {
  const auto ballots =
      run<unsigned long long>([] __device__(int lane) { return __ballot(lane % 3 == 0); });
  const auto in_branch = run<unsigned long long>(
      [] __device__(int lane) { return lane < 10 ? __ballot(lane % 2) : __activemask(); });
  const auto answers = run<int>([] __device__(int lane) {
    return __any(lane == 63) | __any(lane == 64) << 1 | __all(lane < 64) << 2 |
           __all(lane < 63) << 3 | (__lane_id() == static_cast<unsigned>(lane)) << 4 |
           (warpSize == 64) << 5;
  });
  for (int lane = 0; lane < kLanes; ++lane) {
    CHECK(ballots[lane] == 0x9249249249249249);
    CHECK(in_branch[lane] == (lane < 10 ? 0x2aa : ~0x3ffULL));
    CHECK(answers[lane] == 0b110101);
  }
}

namespace {
struct Atomics {
  int sum, least, greatest, all, any, odd, difference, swapped, claimed;
  unsigned long long wide_sum;
  float float_sum;
  double double_sum;
};
__global__ void use_atomics(Atomics* a) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&a->sum, i);
  atomicMin(&a->least, i - 20);
  atomicMax(&a->greatest, i);
  atomicAnd(&a->all, ~(1 << (i % 8)));
  atomicOr(&a->any, 1 << (i % 32));
  atomicXor(&a->odd, i);
  atomicSub(&a->difference, 2);
  atomicExch(&a->swapped, i % 1 + 77);
  atomicCAS(&a->claimed, 0, 5);
  atomicAdd(&a->wide_sum, 1ULL << 33);
  atomicAdd(&a->float_sum, 1);
  atomicAdd(&a->double_sum, 0.5);
}
}  // namespace

CASE(atomics) {
  constexpr int kBlocks = 4, kThreads = kBlocks * kLanes;
  Atomics start = {};
  start.all = -1;
  Atomics* a;
  HIP(hipMalloc(&a, sizeof *a));
  HIP(hipMemcpy(a, &start, sizeof start, hipMemcpyHostToDevice));
  use_atomics<<<kBlocks, kLanes>>>(a);
  Atomics got;
  HIP(hipMemcpy(&got, a, sizeof got, hipMemcpyDeviceToHost));
  CHECK(got.sum == kThreads * (kThreads - 1) / 2);
  CHECK(got.least == -20 && got.greatest == kThreads - 1);
  CHECK(got.all == ~0xff && got.any == -1 && got.odd == 0);
  CHECK(got.difference == -2 * kThreads && got.swapped == 77 && got.claimed == 5);
  CHECK(got.wide_sum == (1ULL << 33) * kThreads);
  CHECK(got.float_sum == kThreads && got.double_sum == kThreads / 2);
}

// Bounds: sqrtf and what is exact by definition are correctly rounded (half an ulp); the library
// forms of exp and log that the compiler expands stay within 2 ulps; v_exp_f32 and v_log_f32 within
// 1 ulp of their own result, and the scaling around them adds the error of a rounded argument.
CASE(math) {
  constexpr double kRounded = 0.5, kLibrary = 2;
  check_math(
      "sqrtf", [] __device__(float x) { return sqrtf(x); }, [](double x) { return std::sqrt(x); },
      kRounded);
  check_math(
      "fmaf", [] __device__(float x) { return fmaf(x, x, 0.1f); },
      [](double x) { return x * x + 0.1f; }, kRounded);
  check_math(
      "reciprocal", [] __device__(float x) { return 1.0f / x; }, [](double x) { return 1 / x; },
      kRounded);
  check_math(
      "exp2f", [] __device__(float x) { return exp2f(x); }, [](double x) { return std::exp2(x); },
      kLibrary);
  check_math(
      "expf", [] __device__(float x) { return expf(x); }, [](double x) { return std::exp(x); },
      kLibrary);
  check_math(
      "log2f", [] __device__(float x) { return log2f(x + 1); },
      [](double x) { return std::log2(static_cast<float>(x) + 1.0f); }, kLibrary);
  check_math(
      "logf", [] __device__(float x) { return logf(x + 1); },
      [](double x) { return std::log(static_cast<float>(x) + 1.0f); }, kLibrary);
  check_math(
      "rsqrtf", [] __device__(float x) { return rsqrtf(x); },
      [](double x) { return 1 / std::sqrt(x); }, kLibrary);
  check_math(
      "__exp2f", [] __device__(float x) { return __exp2f(x); },
      [](double x) { return std::exp2(x); }, kLibrary);
  // The argument of v_exp_f32 is at most 35: half an ulp of 2^-18 from the product and 35 times the
  // 1.3e-8 that fp32 log2(e) is off, together 2.4e-6; times ln 2 that is 28 ulps of 2^-24.
  check_math(
      "__expf", [] __device__(float x) { return __expf(x); }, [](double x) { return std::exp(x); },
      30);
  check_math(
      "floorf", [] __device__(float x) { return floorf(x); },
      [](double x) { return std::floor(x); }, 0);
  check_math(
      "ceilf", [] __device__(float x) { return ceilf(x); }, [](double x) { return std::ceil(x); },
      0);
  check_math(
      "rintf", [] __device__(float x) { return rintf(x); }, [](double x) { return std::rint(x); },
      0);
  check_math(
      "ldexpf", [] __device__(float x) { return ldexpf(x, -3); }, [](double x) { return x / 8; },
      0);
  check_math(
      "fminf", [] __device__(float x) { return fminf(x, 5.0f) + fmaxf(-x, -2.0f); },
      [](double x) { return std::fmin(x, 5) + std::fmax(-x, -2); }, kRounded);
}

CASE(bits_and_extremes) {
  const auto got = run<int>([] __device__(int lane) {
    const bool ok =
        __popc(0xf0u + lane) == __builtin_popcount(0xf0u + lane) &&
        __popcll(~0ULL << lane) == 64 - lane && __clz(1 << (lane % 31)) == 31 - lane % 31 &&
        __clz(0) == 32 && __clzll(1LL << (lane % 63)) == 63 - lane % 63 &&
        __ffs(1 << (lane % 32)) == lane % 32 + 1 && __ffs(0) == 0 &&
        __brev(1u << (lane % 32)) == 1u << (31 - lane % 32) &&
        __float_as_int(__int_as_float(lane + 1000)) == lane + 1000 &&
        min(lane, 5) == (lane < 5 ? lane : 5) && max(lane, 5.5) == (lane > 5 ? lane : 5.5) &&
        min(3u, static_cast<unsigned>(lane)) == (lane < 3 ? lane : 3u) &&
        max(__builtin_nanf(""), 1.0f * lane) == lane;
    return ok ? 1 : 0;
  });
  for (int lane = 0; lane < kLanes; ++lane) CHECK(got[lane] == 1);
}

CASE(vector_types) {
  static_assert(sizeof(float4) == 16 && alignof(float4) == 16 && sizeof(float3) == 12);
  static_assert(sizeof(uchar4) == 4 && alignof(short2) == 4 && sizeof(longlong2) == 16);
  const auto got = run<float4>([] __device__(int lane) {
    const int2 pair = make_int2(lane, 2 * lane);
    return make_float4(pair.x, pair.y, 3, 4);
  });
  for (int lane = 0; lane < kLanes; ++lane)
    CHECK(got[lane].x == lane && got[lane].y == 2 * lane && got[lane].w == 4);
}
