// Copies from memory to LDS that pass no register.
//
// Lane l's bytes land at `lds` + l * Bytes, Bytes being 4, 12 or 16: the destination is one address
// for the wave (it travels in M0), the source one for each lane. The copy is done when
// wait_vector_memory() covers it, for the wave that issued it; other waves need a barrier after
// that.
#pragma once

#include "gcn/buffer_descriptor.h"

namespace gcn {

// Byte of the destination that `lane`'s first byte goes to.
template <int Bytes>
constexpr __host__ __device__ int lds_copy_offset(int lane) {
  return lane * Bytes;
}

// The builtins take their size as a literal, even inside a template.
#define GCN_FOR_COPY_SIZE(copy)       \
  if constexpr (Bytes == 4) {         \
    copy(4);                          \
  } else if constexpr (Bytes == 12) { \
    copy(12);                         \
  } else {                            \
    copy(16);                         \
  }

// A copy of past-the-end bytes writes zeros, as a load would read them. `lds` is the same in all
// lanes.
template <int Bytes, int Policy = kCacheDefault>
__device__ __forceinline__ void copy_to_lds(const Buffer& from, void* lds, uint32_t offset,
                                            uint32_t wave_offset = 0) {
  static_assert(Bytes == 4 || Bytes == 12 || Bytes == 16, "4, 12 or 16 bytes a lane");
#define GCN_COPY(size)                                                                      \
  __builtin_amdgcn_raw_ptr_buffer_load_lds(from.resource(), lds_pointer(lds), size, offset, \
                                           wave_offset, 0, Policy)
  GCN_FOR_COPY_SIZE(GCN_COPY)
#undef GCN_COPY
}

// From a plain address.
template <int Bytes, int Policy = kCacheDefault>
__device__ __forceinline__ void copy_to_lds(const void* from, void* lds) {
  static_assert(Bytes == 4 || Bytes == 12 || Bytes == 16, "4, 12 or 16 bytes a lane");
  using Global = __attribute__((address_space(1))) void*;
#define GCN_COPY(size) \
  __builtin_amdgcn_global_load_lds((Global)from, lds_pointer(lds), size, 0, Policy)
  GCN_FOR_COPY_SIZE(GCN_COPY)
#undef GCN_COPY
}

#undef GCN_FOR_COPY_SIZE

}  // namespace gcn
