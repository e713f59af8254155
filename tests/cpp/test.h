// What every program here uses: checks that count failures, and arrays on the device.
#pragma once

#include <hip/hip_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

namespace test {

inline int failures = 0;
constexpr int kMaxReports = 20;

// Counts a failure and says whether it should still be printed.
inline bool count_failure() { return ++failures <= kMaxReports; }

// The program's exit status.
inline int finish() {
  if (failures > 0) std::printf("%d checks failed\n", failures);
  return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace test

// CHECK(condition, "format", ...): the message says what was being looked at.
#define CHECK(condition, ...)                                              \
  do {                                                                     \
    if (!(condition) && test::count_failure()) {                           \
      std::printf("%s:%d: %s is false: ", __FILE__, __LINE__, #condition); \
      std::printf(__VA_ARGS__);                                            \
      std::printf("\n");                                                   \
    }                                                                      \
  } while (false)

// A HIP call that must succeed; nothing after it makes sense otherwise.
#define HIP(call)                                                                              \
  do {                                                                                         \
    const hipError_t hip_error = (call);                                                       \
    if (hip_error != hipSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(hip_error)); \
      std::exit(EXIT_FAILURE);                                                                 \
    }                                                                                          \
  } while (false)

// Waits for the launches before it and fails on their errors.
#define HIP_FINISH()             \
  do {                           \
    HIP(hipGetLastError());      \
    HIP(hipDeviceSynchronize()); \
  } while (false)

namespace test {

// An array in device memory. A fresh one is filled with `kPoison` bytes, so that an element which a
// kernel does not write is seen.
template <typename T>
class DeviceArray {
 public:
  static constexpr int kPoison = 0xcd;

  explicit DeviceArray(size_t size) : size_(size) {
    HIP(hipMalloc(&data_, bytes()));
    HIP(hipMemset(data_, kPoison, bytes()));
  }
  explicit DeviceArray(const std::vector<T>& values) : size_(values.size()) {
    HIP(hipMalloc(&data_, bytes()));
    HIP(hipMemcpy(data_, values.data(), bytes(), hipMemcpyHostToDevice));
  }
  ~DeviceArray() { (void)hipFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* get() const { return data_; }
  size_t bytes() const { return size_ * sizeof(T); }

  std::vector<T> download() const {
    std::vector<T> values(size_);
    HIP(hipMemcpy(values.data(), data_, bytes(), hipMemcpyDeviceToHost));
    return values;
  }

 private:
  size_t size_;
  T* data_ = nullptr;
};

// The same numbers in every run.
inline std::mt19937& random_engine() {
  static std::mt19937 engine(20250701);
  return engine;
}
inline uint32_t random_bits() { return random_engine()(); }
inline int random_int(int low, int high) {  // both included
  return std::uniform_int_distribution<int>(low, high)(random_engine());
}
inline float random_float(float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(random_engine());
}
template <typename T>
std::vector<T> random_words(size_t size) {
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(random_bits());
  return values;
}

}  // namespace test
