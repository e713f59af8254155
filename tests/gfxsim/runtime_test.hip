// The HIP runtime face, used as an ordinary program uses it. Each case is a process of its own,
// since a fault stays with the process.
#include <hip/hip_runtime.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cases.h"
#include "gfxsim/runtime.h"

#define HIP(call) CHECK((call) == hipSuccess)

namespace {

constexpr int kSize = 1000;
constexpr int kBlock = 128;
constexpr int kGrid = (kSize + kBlock - 1) / kBlock;

__device__ int device_counter = 5;
__constant__ int constants[4] = {10, 20, 30, 40};

__global__ void add_one(int* values, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) values[i] += 1;
}

__global__ void add_constant(int* values, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) values[i] += constants[i % 4];
}

__global__ void count(int amount) {
  if (threadIdx.x == 0) atomicAdd(&device_counter, amount);
}

__global__ void __launch_bounds__(64) small_blocks(int* out) { out[threadIdx.x] = 1; }

__global__ void store_at(int* out, long long offset) { out[offset] = 1; }

__global__ void reverse(int* values) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

struct Shape {
  dim3 block_idx, block_dim, grid_dim;
};
__global__ void report_shape(Shape* out) {
  const int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0) out[block] = {blockIdx, blockDim, gridDim};
}

struct Mixed {  // arguments of several sizes and alignments
  char a;
  double b;
};
__global__ void mixed_arguments(double* out, char c, short s, Mixed m, float f, long long l) {
  if (threadIdx.x == 0) *out = c + s + m.a + m.b + f + static_cast<double>(l);
}

template <typename T>
struct Array {
  explicit Array(size_t size) : size(size) { HIP(hipMalloc(&data, size * sizeof(T))); }
  ~Array() { (void)hipFree(data); }
  void upload(const std::vector<T>& v) {
    HIP(hipMemcpy(data, v.data(), v.size() * sizeof(T), hipMemcpyHostToDevice));
  }
  std::vector<T> download() const {
    std::vector<T> v(size);
    HIP(hipMemcpy(v.data(), data, size * sizeof(T), hipMemcpyDeviceToHost));
    return v;
  }
  size_t size;
  T* data = nullptr;
};

std::vector<int> iota(int size) {
  std::vector<int> v(size);
  for (int i = 0; i < size; ++i) v[i] = i;
  return v;
}

}  // namespace

// --- launches ---

CASE(launch) {
  Array<int> a(kSize);
  a.upload(iota(kSize));
  add_one<<<kGrid, kBlock>>>(a.data, kSize);
  HIP(hipGetLastError());
  HIP(hipDeviceSynchronize());
  const std::vector<int> got = a.download();
  for (int i = 0; i < kSize; ++i) CHECK(got[i] == i + 1);
}

CASE(launch_macro_and_function) {
  Array<int> a(kSize);
  a.upload(iota(kSize));
  hipLaunchKernelGGL(add_one, dim3(kGrid), dim3(kBlock), 0, nullptr, a.data, kSize);
  int size = kSize;
  void* args[] = {&a.data, &size};
  const void* function = reinterpret_cast<const void*>(add_one);
  HIP(hipLaunchKernel(function, dim3(kGrid), dim3(kBlock), args, 0, nullptr));
  hipEvent_t start, stop;
  HIP(hipEventCreate(&start));
  HIP(hipEventCreate(&stop));
  HIP(hipExtLaunchKernel(function, dim3(kGrid), dim3(kBlock), args, 0, nullptr, start, stop, 0));
  float milliseconds = -1;
  HIP(hipEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds > 0);
  const std::vector<int> got = a.download();
  for (int i = 0; i < kSize; ++i) CHECK(got[i] == i + 3);
}

CASE(grid_and_block_in_three_dimensions) {
  const dim3 grid(3, 2, 4), block(4, 3, 2);
  Array<Shape> shapes(grid.x * grid.y * grid.z);
  report_shape<<<grid, block>>>(shapes.data);
  HIP(hipDeviceSynchronize());
  int i = 0;
  const auto same = [](dim3 a, dim3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; };
  const std::vector<Shape> got = shapes.download();
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x, ++i) {
        CHECK(same(got[i].block_idx, dim3(x, y, z)));
        CHECK(same(got[i].block_dim, block));
        CHECK(same(got[i].grid_dim, grid));
      }
}

CASE(arguments_of_all_sizes) {
  Array<double> out(1);
  mixed_arguments<<<1, 64>>>(out.data, 1, 20, {3, 400.5}, 5000.25f, 1LL << 40);
  HIP(hipDeviceSynchronize());
  CHECK(out.download()[0] == 1 + 20 + 3 + 400.5 + 5000.25 + 0x1p40);
}

CASE(dynamic_shared_memory) {
  Array<int> a(256);
  a.upload(iota(256));
  reverse<<<1, 256, 256 * sizeof(int)>>>(a.data);
  HIP(hipDeviceSynchronize());
  const std::vector<int> got = a.download();
  for (int i = 0; i < 256; ++i) CHECK(got[i] == 255 - i);
}

CASE(device_variables) {
  int value = 0;
  HIP(hipMemcpyFromSymbol(&value, HIP_SYMBOL(device_counter), sizeof value));
  CHECK(value == 5);
  count<<<3, 64>>>(7);
  HIP(hipMemcpyFromSymbol(&value, device_counter, sizeof value));
  CHECK(value == 5 + 3 * 7);
  value = 100;
  HIP(hipMemcpyToSymbol(device_counter, &value, sizeof value));
  count<<<1, 64>>>(1);
  int* address = nullptr;
  HIP(hipGetSymbolAddress(reinterpret_cast<void**>(&address), device_counter));
  HIP(hipMemcpy(&value, address, sizeof value, hipMemcpyDeviceToHost));
  CHECK(value == 101);
}

CASE(constant_variables) {
  const int last = 1000;
  HIP(hipMemcpyToSymbol(constants, &last, sizeof last, 3 * sizeof last));
  size_t bytes = 0;
  HIP(hipGetSymbolSize(&bytes, constants));
  CHECK(bytes == sizeof constants);
  CHECK(hipMemcpyToSymbol(constants, &last, sizeof last, bytes) == hipErrorInvalidValue);
  Array<int> a(4);
  a.upload({1, 2, 3, 4});
  add_constant<<<1, 64>>>(a.data, 4);
  CHECK((a.download() == std::vector<int>{11, 22, 33, 1004}));
}

CASE(unknown_variable) {
  static int host_variable;
  void* address;
  CHECK(hipGetSymbolAddress(&address, host_variable) == hipErrorInvalidSymbol);
}

// --- launches that are refused ---

CASE(zero_grid) {
  add_one<<<0, kBlock>>>(nullptr, 0);
  CHECK(hipPeekAtLastError() == hipErrorInvalidConfiguration);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  CHECK(hipGetLastError() == hipSuccess);
  CHECK(gfxsim::last_error_detail() == "grid.x is 0");
  HIP(hipDeviceSynchronize());  // nothing is wrong with the device
}

CASE(block_too_large_for_the_device) {
  add_one<<<1, 1025>>>(nullptr, 0);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  add_one<<<1, dim3(32, 32, 2)>>>(nullptr, 0);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
}

CASE(block_too_large_for_the_kernel) {
  Array<int> a(128);
  small_blocks<<<1, 128>>>(a.data);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  CHECK(gfxsim::last_error_detail().find("__launch_bounds__") != std::string::npos);
  small_blocks<<<1, 64>>>(a.data);
  HIP(hipGetLastError());
}

CASE(too_much_shared_memory) {
  Array<int> a(256);
  a.upload(iota(256));
  reverse<<<1, 256, 160 * 1024 + 4>>>(a.data);
  CHECK(hipGetLastError() == hipErrorInvalidConfiguration);
  reverse<<<1, 256, 160 * 1024>>>(a.data);
  HIP(hipGetLastError());
}

CASE(unknown_function) {
  void* args[] = {nullptr};
  CHECK(hipLaunchKernel(args, dim3(1), dim3(1), args, 0, nullptr) == hipErrorInvalidDeviceFunction);
}

// --- faults ---

CASE(a_fault_is_reported_late_and_stays) {
  Array<int> a(16), untouched(16);
  untouched.upload(std::vector<int>(16, 3));
  store_at<<<1, 1>>>(a.data, 20);
  HIP(hipGetLastError());                  // the program has not been told yet
  add_one<<<1, 16>>>(untouched.data, 16);  // does not run any more
  HIP(hipGetLastError());
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
  CHECK(hipGetLastError() == hipErrorIllegalAddress);
  CHECK(hipGetLastError() == hipErrorIllegalAddress);
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
  int* p;
  CHECK(hipMalloc(&p, 4) == hipErrorIllegalAddress);
  CHECK(hipMemcpy(p, p, 0, hipMemcpyDefault) == hipErrorIllegalAddress);
  add_one<<<1, 16>>>(a.data, 16);
  CHECK(hipPeekAtLastError() == hipErrorIllegalAddress);
  const std::string report = gfxsim::last_fault_report();
  CHECK(report.find("store_at") != std::string::npos);
  CHECK(report.find("16 bytes past the end of the 64-byte allocation") != std::string::npos);
  CHECK(report.find("runtime_test.hip:") != std::string::npos);
}

CASE(each_waiting_call_reports_a_fault) {
  const auto fault = [] {
    int* p;
    HIP(hipMalloc(&p, 4));
    store_at<<<1, 1>>>(p, 1 << 20);
    return p;
  };
  int value;
  hipStream_t stream;
  hipEvent_t event;
  HIP(hipStreamCreate(&stream));
  HIP(hipEventCreate(&event));
  const auto reset = [] {
    HIP(hipDeviceReset());
    HIP(hipDeviceSynchronize());
    CHECK(gfxsim::last_fault_report().empty());
  };
  int* p = fault();
  CHECK(hipStreamSynchronize(stream) == hipErrorIllegalAddress);
  reset();
  p = fault();
  CHECK(hipMemcpy(&value, p, 4, hipMemcpyDeviceToHost) == hipErrorIllegalAddress);
  reset();
  p = fault();
  CHECK(hipFree(p) == hipErrorIllegalAddress);
  reset();
  p = fault();
  HIP(hipEventRecord(event, stream));
  CHECK(hipEventSynchronize(event) == hipErrorIllegalAddress);
  reset();
  p = fault();
  CHECK(hipStreamQuery(nullptr) == hipErrorIllegalAddress);
}

CASE(reset_brings_the_device_back) {
  int* p;
  HIP(hipMalloc(&p, 4));
  store_at<<<1, 1>>>(p, 100);
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
  HIP(hipDeviceReset());
  CHECK(hipFree(p) == hipErrorInvalidValue);  // the memory is gone
  Array<int> a(kSize);
  a.upload(iota(kSize));
  add_one<<<kGrid, kBlock>>>(a.data, kSize);
  CHECK(a.download()[kSize - 1] == kSize);
}

// --- memory ---

CASE(copies_in_all_directions) {
  Array<int> a(kSize), b(kSize);
  const std::vector<int> values = iota(kSize);
  std::vector<int> back(kSize);
  HIP(hipMemcpyHtoD(a.data, values.data(), kSize * sizeof(int)));
  HIP(hipMemcpyDtoD(b.data, a.data, kSize * sizeof(int)));
  HIP(hipMemcpyDtoH(back.data(), b.data, kSize * sizeof(int)));
  CHECK(back == values);
  std::vector<int> copy(kSize);
  HIP(hipMemcpy(copy.data(), values.data(), kSize * sizeof(int), hipMemcpyHostToHost));
  CHECK(copy == values);
  std::vector<int> any(kSize);
  HIP(hipMemcpy(any.data(), b.data, kSize * sizeof(int), hipMemcpyDefault));
  CHECK(any == values);
}

CASE(copies_of_rectangles) {
  constexpr size_t kWidth = 5, kHeight = 4, kPitch = 8, kHostPitch = 6;
  Array<char> a(kPitch * kHeight);
  HIP(hipMemset(a.data, '.', a.size));
  const char rows[] = "abcde_fghij_klmno_pqrst";
  HIP(hipMemcpy2D(a.data, kPitch, rows, kHostPitch, kWidth, kHeight, hipMemcpyHostToDevice));
  const std::vector<char> got = a.download();
  CHECK(std::string(got.begin(), got.end()) == "abcde...fghij...klmno...pqrst...");
  char back[kHostPitch * kHeight] = {};
  HIP(hipMemcpy2DAsync(back, kHostPitch, a.data, kPitch, kWidth, kHeight, hipMemcpyDeviceToHost));
  HIP(hipDeviceSynchronize());
  CHECK(std::memcmp(back + 3 * kHostPitch, "pqrst", kWidth) == 0);
  CHECK(hipMemcpy2D(a.data, 4, rows, kHostPitch, kWidth, kHeight, hipMemcpyHostToDevice) ==
        hipErrorInvalidPitchValue);
  CHECK(hipMemcpy2D(a.data, kPitch, rows, kHostPitch, kWidth, kHeight + 1, hipMemcpyHostToDevice) ==
        hipErrorInvalidValue);
}

CASE(fills) {
  Array<int> a(8);
  HIP(hipMemset(a.data, 0x11, 32));
  HIP(hipMemsetD8(reinterpret_cast<char*>(a.data) + 4, 0x22, 4));
  HIP(hipMemsetD32(a.data + 2, 7, 2));
  HIP(hipMemsetAsync(a.data + 4, 0, 4));
  HIP(hipMemsetD32Async(a.data + 5, -1, 1));
  const int ones = 0x11111111, twos = 0x22222222;
  CHECK((a.download() == std::vector<int>{ones, twos, 7, 7, 0, -1, ones, ones}));
}

CASE(copies_that_are_refused) {
  Array<char> a(64);
  char host[128] = {};
  CHECK(hipMemcpy(a.data, host, 65, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(gfxsim::last_error_detail().find("runs 1 bytes across the end") != std::string::npos);
  CHECK(hipMemcpy(host, a.data + 60, 8, hipMemcpyDeviceToHost) == hipErrorInvalidValue);
  CHECK(hipMemcpy(host, host + 64, 4, hipMemcpyHostToDevice) == hipErrorInvalidValue);
  CHECK(hipMemcpy(nullptr, host, 4, hipMemcpyDefault) == hipErrorInvalidValue);
  CHECK(hipMemset(a.data + 1, 0, 64) == hipErrorInvalidValue);
  CHECK(hipMemset(host, 0, 64) == hipErrorInvalidValue);
  CHECK(hipMemcpy(a.data, host, 4, static_cast<hipMemcpyKind>(77)) ==
        hipErrorInvalidMemcpyDirection);
  char* freed;
  HIP(hipMalloc(&freed, 64));
  HIP(hipFree(freed));
  CHECK(hipMemcpy(host, freed, 4, hipMemcpyDefault) == hipErrorInvalidValue);
  HIP(hipDeviceSynchronize());
}

CASE(frees_that_are_refused) {
  char* p;
  HIP(hipMalloc(&p, 64));
  CHECK(hipFree(p + 4) == hipErrorInvalidValue);
  CHECK(hipHostFree(p) == hipErrorInvalidValue);
  HIP(hipFree(p));
  CHECK(hipFree(p) == hipErrorInvalidValue);
  HIP(hipFree(nullptr));
  HIP(hipMalloc(&p, 0));
  CHECK(p == nullptr);
}

CASE(memory_is_counted_and_runs_out) {
  size_t free_before, free_after, total;
  HIP(hipMemGetInfo(&free_before, &total));
  CHECK(free_before == total);
  char *large, *too_large;
  HIP(hipMalloc(&large, total / 2));
  HIP(hipMemGetInfo(&free_after, &total));
  CHECK(free_before - free_after == total / 2);
  CHECK(hipMalloc(&too_large, total / 2 + 1) == hipErrorOutOfMemory);
  CHECK(hipMalloc(&too_large, ~size_t{0}) == hipErrorOutOfMemory);
  HIP(hipFree(large));
  HIP(hipMemGetInfo(&free_after, &total));
  CHECK(free_after == total);
}

CASE(host_memory_that_kernels_use) {
  int* pinned;
  HIP(hipHostMalloc(&pinned, kSize * sizeof(int)));
  std::vector<int> registered = iota(kSize);
  HIP(hipHostRegister(registered.data(), kSize * sizeof(int), hipHostRegisterDefault));
  CHECK(hipHostRegister(registered.data(), 4, 0) == hipErrorHostMemoryAlreadyRegistered);
  for (int i = 0; i < kSize; ++i) pinned[i] = 2 * i;
  void* device_pointer = nullptr;
  HIP(hipHostGetDevicePointer(&device_pointer, registered.data(), 0));
  add_one<<<kGrid, kBlock>>>(pinned, kSize);
  add_one<<<kGrid, kBlock>>>(static_cast<int*>(device_pointer), kSize);
  HIP(hipDeviceSynchronize());
  for (int i = 0; i < kSize; ++i) CHECK(pinned[i] == 2 * i + 1 && registered[i] == i + 1);
  HIP(hipHostUnregister(registered.data()));
  CHECK(hipHostUnregister(registered.data()) == hipErrorHostMemoryNotRegistered);
  HIP(hipHostFree(pinned));
  add_one<<<kGrid, kBlock>>>(registered.data(), kSize);
  CHECK(hipDeviceSynchronize() == hipErrorIllegalAddress);
}

CASE(pointer_attributes) {
  Array<char> a(64);
  char host = 0;
  hipPointerAttribute_t attributes;
  HIP(hipPointerGetAttributes(&attributes, a.data + 5));
  CHECK(attributes.type == hipMemoryTypeDevice && attributes.devicePointer == a.data + 5);
  HIP(hipPointerGetAttributes(&attributes, &host));
  CHECK(attributes.type == hipMemoryTypeUnregistered);
  HIP(hipHostRegister(&host, 1, 0));
  HIP(hipPointerGetAttributes(&attributes, &host));
  CHECK(attributes.type == hipMemoryTypeHost && attributes.hostPointer == &host);
}

CASE(memory_in_stream_order) {
  hipStream_t stream;
  HIP(hipStreamCreate(&stream));
  int* p;
  HIP(hipMallocAsync(&p, kSize * sizeof(int), stream));
  HIP(hipMemsetAsync(p, 0, kSize * sizeof(int), stream));
  add_one<<<kGrid, kBlock, 0, stream>>>(p, kSize);
  std::vector<int> got(kSize);
  HIP(hipMemcpyAsync(got.data(), p, kSize * sizeof(int), hipMemcpyDeviceToHost, stream));
  HIP(hipFreeAsync(p, stream));
  HIP(hipStreamSynchronize(stream));
  CHECK(got == std::vector<int>(kSize, 1));
  add_one<<<kGrid, kBlock, 0, stream>>>(p, kSize);
  CHECK(hipStreamSynchronize(stream) == hipErrorIllegalAddress);
  CHECK(gfxsim::last_fault_report().find("freed") != std::string::npos);
}

// --- streams and events ---

CASE(streams) {
  hipStream_t plain, non_blocking, urgent;
  HIP(hipStreamCreate(&plain));
  HIP(hipStreamCreateWithFlags(&non_blocking, hipStreamNonBlocking));
  int least, greatest, priority;
  HIP(hipDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(greatest < least);
  HIP(hipStreamCreateWithPriority(&urgent, hipStreamDefault, greatest));
  HIP(hipStreamGetPriority(urgent, &priority));
  CHECK(priority == greatest);
  unsigned flags;
  HIP(hipStreamGetFlags(non_blocking, &flags));
  CHECK(flags == hipStreamNonBlocking);
  CHECK(hipStreamCreateWithFlags(&plain, 77) == hipErrorInvalidValue);
  Array<int> a(kSize);
  HIP(hipMemsetAsync(a.data, 0, kSize * sizeof(int), plain));
  for (hipStream_t stream :
       {plain, non_blocking, urgent, hipStream_t{nullptr}, hipStreamLegacy, hipStreamPerThread}) {
    add_one<<<kGrid, kBlock, 0, stream>>>(a.data, kSize);
    HIP(hipStreamQuery(stream));
    HIP(hipStreamSynchronize(stream));
    hipStreamCaptureStatus capture;
    HIP(hipStreamIsCapturing(stream, &capture));
    CHECK(capture == hipStreamCaptureStatusNone);
  }
  CHECK(a.download() == std::vector<int>(kSize, 6));
  HIP(hipStreamDestroy(plain));
  CHECK(hipStreamSynchronize(plain) == hipErrorInvalidHandle);
  CHECK(hipStreamDestroy(plain) == hipErrorInvalidHandle);
  add_one<<<1, 1, 0, plain>>>(a.data, 1);
  CHECK(hipGetLastError() == hipErrorInvalidHandle);
}

CASE(events) {
  hipEvent_t start, stop, untimed;
  HIP(hipEventCreate(&start));
  HIP(hipEventCreate(&stop));
  HIP(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
  float milliseconds;
  CHECK(hipEventElapsedTime(&milliseconds, start, stop) == hipErrorInvalidHandle);
  Array<int> a(kSize);
  HIP(hipMemset(a.data, 0, kSize * sizeof(int)));
  HIP(hipEventRecord(start));
  add_one<<<kGrid, kBlock>>>(a.data, kSize);
  HIP(hipEventRecord(stop, nullptr));
  HIP(hipEventRecord(untimed, nullptr));
  HIP(hipStreamWaitEvent(nullptr, stop));
  HIP(hipEventQuery(stop));
  HIP(hipEventSynchronize(stop));
  HIP(hipEventElapsedTime(&milliseconds, start, stop));
  CHECK(milliseconds > 0);
  CHECK(hipEventElapsedTime(&milliseconds, start, untimed) == hipErrorInvalidHandle);
  HIP(hipEventDestroy(stop));
  CHECK(hipEventQuery(stop) == hipErrorInvalidHandle);
}

CASE(threads_share_the_device) {
  constexpr int kThreads = 4, kLaunches = 20;
  Array<int> a(kSize);
  HIP(hipMemset(a.data, 0, kSize * sizeof(int)));
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      hipStream_t stream;
      HIP(hipStreamCreate(&stream));
      for (int i = 0; i < kLaunches; ++i) add_one<<<kGrid, kBlock, 0, stream>>>(a.data, kSize);
      HIP(hipStreamDestroy(stream));
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(a.download() == std::vector<int>(kSize, kThreads * kLaunches));
}

// --- device ---

CASE(device_properties) {
  int count, device;
  HIP(hipInit(0));
  HIP(hipGetDeviceCount(&count));
  CHECK(count == 1);
  HIP(hipGetDevice(&device));
  CHECK(device == 0);
  HIP(hipSetDevice(0));
  CHECK(hipSetDevice(1) == hipErrorInvalidDevice);
  hipDeviceProp_t p;
  HIP(hipGetDeviceProperties(&p, 0));
  CHECK(std::string(p.gcnArchName) == "gfx950:sramecc+:xnack-");
  CHECK(p.multiProcessorCount == 256 && p.warpSize == 64 && p.maxThreadsPerBlock == 1024);
  CHECK(p.sharedMemPerBlock == 160 * 1024 && p.clockRate == 2'400'000);
  CHECK(p.major == 9 && p.minor == 5);
  CHECK(p.regsPerBlock == 512 * 64 * 4 && p.maxThreadsPerMultiProcessor == 2048);
  size_t bytes;
  HIP(hipDeviceTotalMem(&bytes, 0));
  CHECK(bytes == p.totalGlobalMem);
  char name[256];
  HIP(hipDeviceGetName(name, sizeof name, 0));
  CHECK(std::string(name) == p.name);
  const auto attribute = [](hipDeviceAttribute_t a) {
    int value;
    HIP(hipDeviceGetAttribute(&value, a, 0));
    return value;
  };
  CHECK(attribute(hipDeviceAttributeMultiprocessorCount) == 256);
  CHECK(attribute(hipDeviceAttributeNumberOfXccs) == 8);
  CHECK(attribute(hipDeviceAttributeWarpSize) == 64);
  CHECK(attribute(hipDeviceAttributeMaxSharedMemoryPerBlock) == 160 * 1024);
  CHECK(hipDeviceGetAttribute(&count, static_cast<hipDeviceAttribute_t>(-5), 0) ==
        hipErrorInvalidValue);
}

CASE(function_attributes_and_occupancy) {
  hipFuncAttributes a;
  const void* function = reinterpret_cast<const void*>(small_blocks);
  HIP(hipFuncGetAttributes(&a, function));
  CHECK(a.maxThreadsPerBlock == 64 && a.sharedSizeBytes == 0 && a.numRegs > 0);
  HIP(hipFuncSetAttribute(function, hipFuncAttributeMaxDynamicSharedMemorySize, 160 * 1024));
  CHECK(hipFuncSetAttribute(function, hipFuncAttributeMaxDynamicSharedMemorySize, 160 * 1024 + 1) ==
        hipErrorInvalidValue);
  CHECK(hipFuncGetAttributes(&a, &a) == hipErrorInvalidDeviceFunction);
  int blocks;
  // 8 waves fit a SIMD, 32 a CU; four waves a block.
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 0));
  CHECK(blocks == 8);
  // Two blocks' LDS fit, not three.
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 70 * 1024));
  CHECK(blocks == 2);
  HIP(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_one, 256, 161 * 1024));
  CHECK(blocks == 0);
}

CASE(error_texts) {
  CHECK(std::string(hipGetErrorName(hipErrorInvalidValue)) == "hipErrorInvalidValue");
  CHECK(std::string(hipGetErrorName(hipErrorLaunchFailure)) == "hipErrorLaunchFailure");
  CHECK(std::string(hipGetErrorString(hipSuccess)) == "no error");
  CHECK(std::strlen(hipGetErrorString(hipErrorIllegalAddress)) > 0);
  CHECK(std::strlen(hipGetErrorString(static_cast<hipError_t>(12345))) > 0);
}
