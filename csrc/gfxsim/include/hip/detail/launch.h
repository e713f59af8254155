// What the compiler's `kernel<<<grid, block, lds, stream>>>(...)` calls, and the macro form.
#pragma once

#include "../hip_runtime_api.h"

extern "C" {
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_lds = 0,
                                      hipStream_t stream = nullptr);
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* dynamic_lds,
                                     hipStream_t* stream);
}

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, dynamic_lds, stream, ...) \
  (kernel)<<<(grid), (block), (dynamic_lds), (stream)>>>(__VA_ARGS__)
// Dynamic shared memory of a kernel.
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
