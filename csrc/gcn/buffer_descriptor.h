// Buffer descriptors: memory with a base and a size that the hardware checks. A load past the size
// gives 0 and a store past it is dropped, so a descriptor with an honest size replaces comparisons.
//
// An offset has 32 bits and a base 48. Memory beyond 4 GiB is reached by moving the base: `at()`
// folds a 64-bit wave-uniform offset into the base and takes it off the size.
#pragma once

#include "gcn/lane.h"

namespace gcn {

// Cache policy bits of gfx94x and gfx950 buffer instructions.
enum CachePolicy : int {
  kCacheDefault = 0,
  kCacheSc0 = 1,  // with Sc1: the scope (wave, workgroup, agent, system)
  kCacheNonTemporal = 2,
  kCacheSc1 = 16,
};

struct BufferDescriptor {
  uint64_t base = 0;         // bytes; 48 bits count
  uint32_t num_records = 0;  // bytes from the base that exist

  static constexpr uint64_t kMaxRecords = 0xffffffffu;

  // `bytes` past 4 GiB - 1 cannot be addressed by this descriptor: they are cut off.
  static __host__ __device__ constexpr uint32_t clamp_records(uint64_t bytes) {
    return static_cast<uint32_t>(bytes < kMaxRecords ? bytes : kMaxRecords);
  }

  static __device__ __forceinline__ BufferDescriptor of(const void* memory, uint64_t bytes) {
    return {reinterpret_cast<uint64_t>(memory), clamp_records(bytes)};
  }

  // The part of `memory` (of `bytes` bytes) from `offset` on; empty when the offset is past the
  // end. `offset` is the same in all lanes of the wave.
  static __device__ __forceinline__ BufferDescriptor at(const void* memory, uint64_t bytes,
                                                        uint64_t offset) {
    const uint64_t rest = offset < bytes ? bytes - offset : 0;
    return {reinterpret_cast<uint64_t>(memory) + offset, clamp_records(rest)};
  }
};

// The descriptor's four dwords, kept in scalar registers: the instructions take nothing else, and
// without readfirstlane the compiler would wrap a load in a loop over the lanes' descriptors.
class Buffer {
 public:
  __device__ __forceinline__ explicit Buffer(BufferDescriptor descriptor)
      : resource_(
            __builtin_amdgcn_make_buffer_rsrc(reinterpret_cast<void*>(uniform(descriptor.base)),
                                              kStride, uniform(descriptor.num_records), kFormat)) {}

  // Elements of 1, 2, 4, 8 or 16 bytes. `offset` is this lane's byte offset, `wave_offset` one
  // that all lanes share and that costs no addition. Each dword is checked on its own against
  // num_records.
  template <typename T, int Policy = kCacheDefault>
  __device__ __forceinline__ T load(uint32_t offset, uint32_t wave_offset = 0) const {
    if constexpr (sizeof(T) == 1) {
      return __builtin_bit_cast(
          T, __builtin_amdgcn_raw_buffer_load_b8(resource_, offset, wave_offset, Policy));
    } else if constexpr (sizeof(T) == 2) {
      return __builtin_bit_cast(
          T, __builtin_amdgcn_raw_buffer_load_b16(resource_, offset, wave_offset, Policy));
    } else if constexpr (sizeof(T) == 4) {
      return __builtin_bit_cast(
          T, __builtin_amdgcn_raw_buffer_load_b32(resource_, offset, wave_offset, Policy));
    } else if constexpr (sizeof(T) == 8) {
      return __builtin_bit_cast(
          T, __builtin_amdgcn_raw_buffer_load_b64(resource_, offset, wave_offset, Policy));
    } else {
      static_assert(sizeof(T) == 16, "elements of 1, 2, 4, 8 or 16 bytes");
      return __builtin_bit_cast(
          T, __builtin_amdgcn_raw_buffer_load_b128(resource_, offset, wave_offset, Policy));
    }
  }

  template <typename T, int Policy = kCacheDefault>
  __device__ __forceinline__ void store(T value, uint32_t offset, uint32_t wave_offset = 0) const {
    if constexpr (sizeof(T) == 1) {
      __builtin_amdgcn_raw_buffer_store_b8(__builtin_bit_cast(uint8_t, value), resource_, offset,
                                           wave_offset, Policy);
    } else if constexpr (sizeof(T) == 2) {
      __builtin_amdgcn_raw_buffer_store_b16(__builtin_bit_cast(uint16_t, value), resource_, offset,
                                            wave_offset, Policy);
    } else if constexpr (sizeof(T) == 4) {
      __builtin_amdgcn_raw_buffer_store_b32(__builtin_bit_cast(uint32_t, value), resource_, offset,
                                            wave_offset, Policy);
    } else if constexpr (sizeof(T) == 8) {
      __builtin_amdgcn_raw_buffer_store_b64(__builtin_bit_cast(u32x2, value), resource_, offset,
                                            wave_offset, Policy);
    } else {
      static_assert(sizeof(T) == 16, "elements of 1, 2, 4, 8 or 16 bytes");
      __builtin_amdgcn_raw_buffer_store_b128(__builtin_bit_cast(u32x4, value), resource_, offset,
                                             wave_offset, Policy);
    }
  }

  __device__ __forceinline__ __amdgpu_buffer_rsrc_t resource() const { return resource_; }

 private:
  static constexpr short kStride = 0;  // offsets are plain bytes
  // Fourth dword. Untyped accesses ignore the format, but format 0 would mean "no buffer bound".
  static constexpr int kDataFormat32 = 4 << 15;
  static constexpr int kNumFormatFloat = 7 << 12;
  static constexpr int kFormat = kDataFormat32 | kNumFormatFloat;

  __amdgpu_buffer_rsrc_t resource_;
};

}  // namespace gcn
