// threadIdx, blockIdx, blockDim, gridDim and warpSize.
#pragma once

#include <cstdint>

#include "../hip_vector_types.h"
#include "markers.h"

namespace gfxsim_hip {

// The number of workgroups lies in the first hidden kernel arguments: three dwords.
__device__ __forceinline__ uint32_t block_count(int dim) {
  using Implicit = const uint32_t __attribute__((address_space(4)))*;
  return ((Implicit)__builtin_amdgcn_implicitarg_ptr())[dim];
}

// A variable whose members are read by calls: x, y and z become properties.
#define GFXSIM_INDEX(Type, get_value_x, get_value_y, get_value_z)                \
  struct Type {                                                                  \
    __declspec(property(get = get_x)) uint32_t x;                                \
    __declspec(property(get = get_y)) uint32_t y;                                \
    __declspec(property(get = get_z)) uint32_t z;                                \
    static __device__ __forceinline__ uint32_t get_x() { return get_value_x; }   \
    static __device__ __forceinline__ uint32_t get_y() { return get_value_y; }   \
    static __device__ __forceinline__ uint32_t get_z() { return get_value_z; }   \
    __device__ operator dim3() const { return dim3(get_x(), get_y(), get_z()); } \
  };

GFXSIM_INDEX(ThreadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
             __builtin_amdgcn_workitem_id_z())
GFXSIM_INDEX(BlockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
             __builtin_amdgcn_workgroup_id_z())
GFXSIM_INDEX(BlockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
             __builtin_amdgcn_workgroup_size_z())
GFXSIM_INDEX(GridDim, block_count(0), block_count(1), block_count(2))

#undef GFXSIM_INDEX

struct WarpSize {
  __device__ __forceinline__ operator int() const { return __builtin_amdgcn_wavefrontsize(); }
};

}  // namespace gfxsim_hip

// Never read as variables, so no code object defines them.
extern const __device__ __attribute__((weak)) gfxsim_hip::ThreadIdx threadIdx;
extern const __device__ __attribute__((weak)) gfxsim_hip::BlockIdx blockIdx;
extern const __device__ __attribute__((weak)) gfxsim_hip::BlockDim blockDim;
extern const __device__ __attribute__((weak)) gfxsim_hip::GridDim gridDim;
extern const __device__ __attribute__((weak)) gfxsim_hip::WarpSize warpSize;
