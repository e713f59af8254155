#include <hip/hip_runtime.h>

#include "demo/axpy.h"

namespace tq::demo {
namespace {

constexpr int kBlock = 256;

__global__ __launch_bounds__(kBlock) void axpy_kernel(float a, const float* x, float* y,
                                                      int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

}  // namespace

hipError_t axpy(float a, const float* x, float* y, int64_t n, hipStream_t stream) {
  if (n == 0) return hipSuccess;
  const auto blocks = static_cast<unsigned>((n + kBlock - 1) / kBlock);
  axpy_kernel<<<blocks, kBlock, 0, stream>>>(a, x, y, n);
  return hipGetLastError();
}

}  // namespace tq::demo
