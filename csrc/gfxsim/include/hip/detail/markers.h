// Keywords of the language that are really attributes.
#pragma once

#define __forceinline__ inline __attribute__((always_inline))

#ifdef __HIP__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#if !__has_feature(cuda_noinline_keyword)
#define __noinline__ __attribute__((noinline))
#endif

// __launch_bounds__(max threads in a block [, min waves in a SIMD])
#define __launch_bounds__(...) \
  GFXSIM_PICK_THIRD(__VA_ARGS__, GFXSIM_BOUNDS_2, GFXSIM_BOUNDS_1, )(__VA_ARGS__)
#define GFXSIM_PICK_THIRD(a, b, picked, ...) picked
#define GFXSIM_BOUNDS_1(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
#define GFXSIM_BOUNDS_2(threads, waves) \
  GFXSIM_BOUNDS_1(threads) __attribute__((amdgpu_waves_per_eu(waves)))
#else
#define __host__
#define __device__
#endif
