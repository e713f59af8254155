// The language and the runtime as an ordinary program uses them.
#include <cstring>
#include <string>

#include "test.h"

namespace {

constexpr int kBlock = 128;

template <typename T, int Factor>
__global__ void axpy_kernel(const T* x, T* y, T a, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] += a * x[i] * T(Factor);
}

template <typename T>
void test_templated_kernel() {
  constexpr int kCount = 1000, kFactor = 3;
  std::vector<T> x(kCount), y(kCount);
  for (int i = 0; i < kCount; ++i)
    x[i] = test::random_int(-50, 50), y[i] = test::random_int(-50, 50);
  const test::DeviceArray<T> dx(x), dy(y);
  axpy_kernel<T, kFactor>
      <<<(kCount + kBlock - 1) / kBlock, kBlock>>>(dx.get(), dy.get(), T(2), kCount);
  HIP_FINISH();
  const auto got = dy.download();
  for (int i = 0; i < kCount; ++i)
    CHECK(got[i] == y[i] + T(2) * x[i] * T(kFactor), "element %d", i);
}

__global__ void index_kernel(uint32_t* out) {
  const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t y = blockIdx.y * blockDim.y + threadIdx.y;
  const uint32_t z = blockIdx.z * blockDim.z + threadIdx.z;
  const uint32_t width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  out[(z * height + y) * width + x] = x | y << 8 | z << 16;
}

void test_indices() {
  const dim3 grid(3, 2, 2), block(8, 5, 3);
  const uint32_t width = grid.x * block.x, height = grid.y * block.y, depth = grid.z * block.z;
  const test::DeviceArray<uint32_t> out(width * height * depth);
  index_kernel<<<grid, block>>>(out.get());
  HIP_FINISH();
  const auto got = out.download();
  for (uint32_t z = 0; z < depth; ++z)
    for (uint32_t y = 0; y < height; ++y)
      for (uint32_t x = 0; x < width; ++x)
        CHECK(got[(z * height + y) * width + x] == (x | y << 8 | z << 16), "(%u, %u, %u)", x, y, z);
}

// Kernels that ask for some of the thread indices only: the others must not show through.
template <bool X, bool Y, bool Z>
__global__ void count_threads_kernel(int* threads) {
  int place = 0;
  if constexpr (Z) place = threadIdx.z;
  if constexpr (Y) place = place * 5 + threadIdx.y;
  if constexpr (X) place = place * 8 + threadIdx.x;
  atomicAdd(&threads[place], 1);
}

template <bool X, bool Y, bool Z>
void test_some_indices() {
  const dim3 block(8, 5, 3);
  const size_t places = (X ? block.x : 1) * (Y ? block.y : 1) * (Z ? block.z : 1);
  const test::DeviceArray<int> threads(std::vector<int>(places, 0));
  count_threads_kernel<X, Y, Z><<<1, block>>>(threads.get());
  HIP_FINISH();
  const int each = static_cast<int>(block.x * block.y * block.z / places);
  for (const int count : threads.download())
    CHECK(count == each, "%d threads of %d, indices x %d y %d z %d", count, each, X, Y, Z);
}

// Static and dynamic shared memory with barriers: a reversal and a tree sum.
__global__ void shared_kernel(const int* values, int* reversed, int* sum) {
  __shared__ int tree[kBlock];
  extern __shared__ int copy[];
  const int thread = threadIdx.x;
  copy[thread] = values[thread];
  tree[thread] = values[thread];
  __syncthreads();
  reversed[thread] = copy[kBlock - 1 - thread];
  for (int step = kBlock / 2; step > 0; step /= 2) {
    if (thread < step) tree[thread] += tree[thread + step];
    __syncthreads();
  }
  if (thread == 0) *sum = tree[0];
}

void test_shared() {
  std::vector<int> values(kBlock);
  int expected = 0;
  for (int& value : values) expected += value = test::random_int(-1000, 1000);
  const test::DeviceArray<int> device_values(values), reversed(kBlock), sum(1);
  shared_kernel<<<1, kBlock, kBlock * sizeof(int)>>>(device_values.get(), reversed.get(),
                                                     sum.get());
  HIP_FINISH();
  const auto got = reversed.download();
  for (int i = 0; i < kBlock; ++i) CHECK(got[i] == values[kBlock - 1 - i], "element %d", i);
  CHECK(sum.download()[0] == expected, "%d, not %d", sum.download()[0], expected);
}

__global__ void atomics_kernel(uint32_t* counters, unsigned long long* wide, float* sum) {
  __shared__ uint32_t local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  const uint32_t id = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&local, 1u);
  atomicAdd(&counters[0], id);
  atomicMax(&counters[1], id);
  atomicMin(&counters[2], id);
  atomicOr(&counters[3], 1u << (id % 32));
  atomicAnd(&counters[4], ~(1u << (id % 32)));
  atomicXor(&counters[5], id);
  atomicAdd(wide, 0x100000001ull);
  atomicAdd(sum, 0.5f);
  // A lock-free increment by compare and swap.
  uint32_t seen = counters[7];
  for (;;) {
    const uint32_t before = atomicCAS(&counters[7], seen, seen + 2);
    if (before == seen) break;
    seen = before;
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(&counters[6], local);
}

void test_atomics() {
  constexpr uint32_t kBlocks = 5, kCount = kBlocks * kBlock;
  const test::DeviceArray<uint32_t> counters(std::vector<uint32_t>{0, 0, ~0u, 0, ~0u, 0, 0, 0});
  const test::DeviceArray<unsigned long long> wide(std::vector<unsigned long long>{0});
  const test::DeviceArray<float> sum(std::vector<float>{0});
  atomics_kernel<<<kBlocks, kBlock>>>(counters.get(), wide.get(), sum.get());
  HIP_FINISH();
  uint32_t all_xor = 0;
  for (uint32_t id = 0; id < kCount; ++id) all_xor ^= id;
  const uint32_t expected[] = {
      kCount * (kCount - 1) / 2, kCount - 1, 0, ~0u, 0, all_xor, kCount, 2 * kCount};
  const auto got = counters.download();
  for (int i = 0; i < 8; ++i)
    CHECK(got[i] == expected[i], "counter %d: %u, not %u", i, got[i], expected[i]);
  CHECK(wide.download()[0] == kCount * 0x100000001ull, "64-bit counter");
  CHECK(sum.download()[0] == 0.5f * kCount, "%g", sum.download()[0]);
}

__constant__ int constants[16] = {5, 4, 3, 2, 1};
__device__ int device_variable = 40;

__global__ void symbols_kernel(int* out) {
  const int thread = threadIdx.x;
  out[thread] = constants[thread % 16] + device_variable;
}

void test_symbols() {
  const test::DeviceArray<int> out(kBlock);
  symbols_kernel<<<1, kBlock>>>(out.get());
  HIP_FINISH();
  auto got = out.download();
  const int initial[16] = {5, 4, 3, 2, 1};
  for (int i = 0; i < kBlock; ++i) CHECK(got[i] == initial[i % 16] + 40, "initial, element %d", i);

  int values[16];
  for (int& value : values) value = test::random_int(0, 1000);
  const int variable = -7;
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(constants), values, sizeof values));
  HIP(hipMemcpyToSymbol(HIP_SYMBOL(device_variable), &variable, sizeof variable));
  symbols_kernel<<<1, kBlock>>>(out.get());
  HIP_FINISH();
  got = out.download();
  for (int i = 0; i < kBlock; ++i) CHECK(got[i] == values[i % 16] - 7, "changed, element %d", i);
  int read = 0;
  HIP(hipMemcpyFromSymbol(&read, HIP_SYMBOL(device_variable), sizeof read));
  CHECK(read == -7, "%d", read);
}

// Real calls, one inside the other.
__device__ __attribute__((noinline)) int last_digit(int x) { return x % 10; }
__device__ __attribute__((noinline)) int weighted_digit_sum(int x, int weight) {
  int sum = 0;
  for (; x > 0; x /= 10) sum += weight++ * last_digit(x);
  return sum;
}
__device__ __attribute__((noinline)) float horner(const float* coefficients, int count, float x) {
  float value = 0;
  for (int i = 0; i < count; ++i) value = value * x + coefficients[i];
  return value;
}

// A private array with an index known only at run time lies in scratch memory.
__global__ void calls_kernel(const int* values, int* digit_sums, float* polynomials,
                             int* histogram) {
  const int thread = threadIdx.x;
  digit_sums[thread] = weighted_digit_sum(values[thread], 1);
  float coefficients[4];
  for (int i = 0; i < 4; ++i) coefficients[(i + thread) % 4] = i;
  polynomials[thread] = horner(coefficients, 4, thread % 5);
  int counts[10] = {};
  for (int x = values[thread]; x > 0; x /= 10) ++counts[x % 10];
  int packed = 0;
  for (int digit = 9; digit >= 0; --digit) packed = packed * 7 + counts[(digit + thread) % 10];
  histogram[thread] = packed;
}

void test_calls_and_scratch() {
  std::vector<int> values(kBlock);
  for (int& value : values) value = test::random_int(0, 999999);
  const test::DeviceArray<int> device_values(values), digit_sums(kBlock), histogram(kBlock);
  const test::DeviceArray<float> polynomials(kBlock);
  calls_kernel<<<1, kBlock>>>(device_values.get(), digit_sums.get(), polynomials.get(),
                              histogram.get());
  HIP_FINISH();
  const auto got_sums = digit_sums.download(), got_histogram = histogram.download();
  const auto got_polynomials = polynomials.download();
  for (int thread = 0; thread < kBlock; ++thread) {
    int sum = 0, weight = 1, counts[10] = {};
    for (int x = values[thread]; x > 0; x /= 10) sum += weight++ * (x % 10), ++counts[x % 10];
    CHECK(got_sums[thread] == sum, "thread %d: %d, not %d", thread, got_sums[thread], sum);
    float coefficients[4], value = 0;
    for (int i = 0; i < 4; ++i) coefficients[(i + thread) % 4] = i;
    for (const float c : coefficients) value = value * (thread % 5) + c;
    CHECK(got_polynomials[thread] == value, "thread %d", thread);
    int packed = 0;
    for (int digit = 9; digit >= 0; --digit) packed = packed * 7 + counts[(digit + thread) % 10];
    CHECK(got_histogram[thread] == packed, "thread %d", thread);
  }
}

struct Parameters {
  float scale;
  int offsets[3];
  const int* values;
};

__global__ void struct_kernel(Parameters parameters, char small, double wide, float* out) {
  const int thread = threadIdx.x;
  out[thread] = parameters.scale * parameters.values[thread] + parameters.offsets[thread % 3] +
                small + static_cast<float>(wide);
}

void test_arguments() {
  std::vector<int> values(kBlock);
  for (int& value : values) value = test::random_int(-100, 100);
  const test::DeviceArray<int> device_values(values);
  const test::DeviceArray<float> out(kBlock);
  const Parameters parameters{0.5f, {10, 20, 30}, device_values.get()};
  struct_kernel<<<1, kBlock>>>(parameters, 3, 0.25, out.get());
  HIP_FINISH();
  const auto got = out.download();
  for (int i = 0; i < kBlock; ++i)
    CHECK(got[i] == 0.5f * values[i] + parameters.offsets[i % 3] + 3 + 0.25f, "element %d", i);
}

__global__ void add_kernel(int* values, int amount) {
  values[blockIdx.x * blockDim.x + threadIdx.x] += amount;
}
__global__ void double_kernel(int* values) { values[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

void test_streams_and_events() {
  hipStream_t stream;
  hipEvent_t start, stop;
  HIP(hipStreamCreate(&stream));
  HIP(hipEventCreate(&start));
  HIP(hipEventCreate(&stop));
  int* values = nullptr;
  HIP(hipMalloc(&values, kBlock * sizeof(int)));
  HIP(hipMemsetAsync(values, 0, kBlock * sizeof(int), stream));
  HIP(hipEventRecord(start, stream));
  add_kernel<<<1, kBlock, 0, stream>>>(values, 5);
  double_kernel<<<1, kBlock, 0, stream>>>(values);
  add_kernel<<<1, kBlock, 0, stream>>>(values, 1);
  HIP(hipEventRecord(stop, stream));
  std::vector<int> got(kBlock);
  HIP(hipMemcpyAsync(got.data(), values, kBlock * sizeof(int), hipMemcpyDeviceToHost, stream));
  HIP(hipStreamSynchronize(stream));
  for (int i = 0; i < kBlock; ++i) CHECK(got[i] == 11, "element %d: %d", i, got[i]);
  float milliseconds = -1;
  HIP(hipEventSynchronize(stop));
  HIP(hipEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds >= 0, "%g", milliseconds);
  HIP(hipFree(values));
  HIP(hipEventDestroy(start));
  HIP(hipEventDestroy(stop));
  HIP(hipStreamDestroy(stream));
}

void test_device() {
  int count = 0;
  HIP(hipGetDeviceCount(&count));
  CHECK(count >= 1, "%d devices", count);
  hipDeviceProp_t properties;
  HIP(hipGetDeviceProperties(&properties, 0));
  CHECK(std::string(properties.gcnArchName).rfind("gfx950", 0) == 0, "%s", properties.gcnArchName);
  CHECK(properties.warpSize == 64, "%d", properties.warpSize);
  CHECK(properties.multiProcessorCount > 0, "%d", properties.multiProcessorCount);
}

void test_launch_error() {
  constexpr int kTooMany = 2048;
  const test::DeviceArray<int> values(kTooMany);
  add_kernel<<<1, kTooMany>>>(values.get(), 1);
  CHECK(hipGetLastError() != hipSuccess, "a block of %d threads was launched", kTooMany);
  CHECK(hipGetLastError() == hipSuccess, "the error was not cleared");
}

}  // namespace

int main() {
  test_device();
  test_templated_kernel<float>();
  test_templated_kernel<double>();
  test_templated_kernel<int>();
  test_indices();
  test_some_indices<true, false, false>();
  test_some_indices<false, true, false>();
  test_some_indices<false, false, true>();
  test_some_indices<true, true, false>();
  test_some_indices<true, false, true>();
  test_some_indices<false, true, true>();
  test_shared();
  test_atomics();
  test_symbols();
  test_calls_and_scratch();
  test_arguments();
  test_streams_and_events();
  test_launch_error();
  return test::finish();
}
