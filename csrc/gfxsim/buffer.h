// Buffer descriptors (V#) of gfx9 and the addresses that buffer instructions make of them.
#pragma once

#include <array>
#include <cstdint>

#include "gfxsim/vector_memory.h"

namespace gfxsim {

struct BufferDescriptor {
  uint64_t base = 0;    // 48 bits
  uint32_t stride = 0;  // bytes
  bool swizzle = false;
  uint32_t num_records = 0;          // bytes, or records of `stride` bytes
  std::array<uint8_t, 4> dst_sel{};  // 0, 1, or 4.. for the element's components
  uint8_t num_format = 0, data_format = 0;
  uint32_t index_stride = 8;  // lanes whose elements lie together when swizzled
  bool add_tid = false;       // the lane number is added to the index

  static BufferDescriptor from_dwords(const std::array<uint32_t, 4>& dwords);
};

// What an access through a descriptor asks for in one lane.
struct BufferRequest {
  int bytes = 4;
  bool all_or_nothing = false;  // formats and atomics; others are checked dword by dword
  bool formatted = false;       // the descriptor's format, not stride bits, is in data_format
};

struct BufferAddresses {
  LaneAddresses at;    // of the first byte; mask: the active lanes
  uint64_t whole = 0;  // lanes whose access is in range
  // Swizzled buffers scatter an access: dword d lies at at.address + dword_offset[d]. Others are
  // contiguous.
  bool scattered = false;
  // Where scattered: per dword.
  std::array<LaneAddresses, kMaxDataDwords> dword;
  // Where not: lanes whose first d + 1 dwords are in range, but not the whole.
  std::array<uint64_t, kMaxDataDwords> prefix{};
};

// Range checks of gfx9 (CDNA3 and CDNA4 ISA, "Range checking"; the byte-exact reading of them
// follows AMD's simulator rocjitsu, ROCm/rocm-systems#10928, which was compared with a gfx950):
// - ADD_TID buffers are not checked.
// - With a stride and idxen, the index must be below num_records.
// - Otherwise the access must end within num_records bytes, counted with the scalar offset.
// What is out of range loads 0 and is not stored.
BufferAddresses buffer_addresses(const Wave& w, const Inst& in, const Operand& vaddr,
                                 const BufferDescriptor& descriptor, uint32_t scalar_offset,
                                 const BufferRequest& request);

}  // namespace gfxsim
