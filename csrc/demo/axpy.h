// A vector kernel, to see that the way from Python to the device works.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

namespace tq::demo {

// Starts y[i] += a * x[i] for i < n on `stream`; the result is the launch's error.
hipError_t axpy(float a, const float* x, float* y, int64_t n, hipStream_t stream);

}  // namespace tq::demo
