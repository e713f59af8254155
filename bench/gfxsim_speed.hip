// Kernels whose instruction mixes stand for what the simulator spends its time on.
#include <hip/hip_runtime.h>

using bf16x8 = __bf16 __attribute__((ext_vector_type(8)));
using f32x4 = float __attribute__((ext_vector_type(4)));

// 32-bit float and integer vector operations, no memory in the loop.
extern "C" __global__ void vector_alu(float* out, int rounds) {
  float a = threadIdx.x, b = 1.5f, c = 0.25f;
  unsigned x = threadIdx.x * 2654435761u, y = 12345;
  for (int i = 0; i < rounds; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      a = __builtin_fmaf(a, b, c);
      b = b + c;
      x = (x << 3) ^ y;
      y = __builtin_amdgcn_perm(x, y, 0x06050403u + j);
      c = a > b ? c : b * 0.5f;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = a + b + c + x + y;
}

// LDS reads and writes around barriers, four waves.
extern "C" __global__ void lds_exchange(float* out, int rounds) {
  __shared__ float4 tile[256];
  float4 v = {1.0f * threadIdx.x, 2, 3, 4};
  for (int i = 0; i < rounds; ++i) {
    tile[threadIdx.x] = v;
    __syncthreads();
    const float4 w = tile[255 - threadIdx.x];
    v.x += w.y;
    v.y += w.z;
    v.z += w.w;
    v.w += w.x;
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = v.x + v.y + v.z + v.w;
}

// The mix of an attention inner loop: global loads, conversions, matrix operations, exponentials.
extern "C" __global__ void attention_like(const float4* in, float* out, int rounds) {
  f32x4 acc = {0, 0, 0, 0};
  for (int i = 0; i < rounds; ++i) {
    const float4 u = in[(i * 64 + threadIdx.x) & 1023];
    bf16x8 a, b;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      a[j] = (__bf16)(u.x * j);
      a[j + 4] = (__bf16)(u.y + j);
      b[j] = (__bf16)(u.z - j);
      b[j + 4] = (__bf16)(u.w * 0.5f * j);
    }
    acc = __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, acc, 0, 0, 0);
#pragma unroll
    for (int j = 0; j < 4; ++j) acc[j] = __builtin_amdgcn_exp2f(acc[j] * 0.001f);
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = acc[0] + acc[1] + acc[2] + acc[3];
}
