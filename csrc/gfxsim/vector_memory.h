// Global and scratch memory as the lanes of a wave access it.
#pragma once

#include <cstdint>

#include "gfxsim/address_space.h"
#include "gfxsim/lane_data.h"

namespace gfxsim {

// One address in each lane of `mask`.
struct LaneAddresses {
  uint64_t mask = 0;
  alignas(32) uint64_t address[kMaxLanes];
};

// `bytes` is 1, 2, 4, 8, 12 or 16. Each call checks every lane's access against the address space,
// and counts bytes and cache lines.

// To the first dwords of `data`, zero-extended. Bytes that were never written become undefined
// bits.
void load_global(Wave& w, const LaneAddresses& at, int bytes, LaneData* data);
// From the first dwords of `data`; `shift` skips low bits of the first one. Faults on undefined
// bits.
void store_global(Wave& w, const LaneAddresses& at, int bytes, int shift, const LaneData& data);

// Where a read-modify-write of one lane goes, once bounds and (natural) alignment are checked.
// Counts nothing: see count_global().
struct AtomicTarget {
  uint8_t* memory;
  uint8_t* defined;  // a byte for each byte, 0 = never written; null: not tracked
};
AtomicTarget atomic_target(uint64_t address, int lane, int bytes);

void count_global(Wave& w, const LaneAddresses& at, int bytes, bool reads, bool writes);

// Byte offsets in each lane's own scratch memory.
void load_scratch(Wave& w, const LaneAddresses& at, int bytes, LaneData* data);
void store_scratch(Wave& w, const LaneAddresses& at, int bytes, int shift, const LaneData& data);

}  // namespace gfxsim
