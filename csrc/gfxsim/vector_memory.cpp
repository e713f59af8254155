#include "gfxsim/vector_memory.h"

#include <algorithm>

#include "gfxsim/counters.h"
#include "gfxsim/text.h"
#include "gfxsim/workgroup.h"

namespace gfxsim {
namespace {

enum class Access : uint8_t { Load, Store, Atomic };

const char* access_name(Access access) {
  switch (access) {
    case Access::Load:
      return "load";
    case Access::Store:
      return "store";
    case Access::Atomic:
      return "atomic operation";
  }
  return "access";
}

[[noreturn]] void refuse(Access access, int lane, uint64_t address, int bytes) {
  const AddressSpace& space = AddressSpace::get();
  const uint64_t size = static_cast<uint64_t>(bytes);
  fail_access(space.is_freed(address, size) ? FaultKind::UseAfterFree : FaultKind::OutOfBounds,
              lane, address,
              concat(bytes, "-byte ", access_name(access), " at ", hex(address), ": ",
                     space.explain(address, size)));
}

[[noreturn]] void refuse_write(Access access, int lane, uint64_t address, int bytes,
                               const Allocation& allocation) {
  fail_access(FaultKind::ReadOnly, lane, address,
              concat(bytes, "-byte ", access_name(access), " at ", hex(address),
                     ": the memory is read-only",
                     allocation.label.empty() ? "" : concat(" (", allocation.label, ")")));
}

// Calls f(allocation, lanes) for the lanes in each allocation.
template <class F>
void for_allocations(const LaneAddresses& at, int bytes, Access access, F f) {
  for (uint64_t left = at.mask; left;) {
    const int lane = std::countr_zero(left);
    const Allocation* allocation =
        AddressSpace::get().find_cached(at.address[lane], static_cast<uint64_t>(bytes));
    if (!allocation) refuse(access, lane, at.address[lane], bytes);
    if (access != Access::Load && !allocation->writable)
      refuse_write(access, lane, at.address[lane], bytes, *allocation);
    uint64_t inside = 0;
    const uint64_t base = allocation->base, size = static_cast<uint64_t>(bytes);
    if (allocation->size >= size) {
      const uint64_t last = allocation->size - size;
      for (int i = 0; i < kMaxLanes; ++i) inside |= uint64_t{at.address[i] - base <= last} << i;
    }
    f(*allocation, inside & left);
    left &= ~inside;
  }
}

template <int kBytes>
struct Lanes {
  static constexpr int kDwords = (kBytes + 3) / 4;
  // Bits of the last dword that the bytes fill.
  static constexpr uint32_t kLastBits = kBytes < 4 ? (1u << (8 * kBytes)) - 1 : ~0u;

  static void load(const Allocation& allocation, const LaneAddresses& at, uint64_t mask,
                   LaneData* data) {
    for_lanes(mask, [&](int lane) {
      uint32_t dwords[kDwords] = {};
      std::memcpy(dwords, reinterpret_cast<const void*>(at.address[lane]), kBytes);
      for (int d = 0; d < kDwords; ++d) data->value[d][lane] = dwords[d];
    });
    if (allocation.defined) load_undef(allocation, at, mask, data);
  }

  // A map byte is 1 where the memory byte is defined.
  static void load_undef(const Allocation& allocation, const LaneAddresses& at, uint64_t mask,
                         LaneData* data) {
    constexpr uint32_t kDefined = 0x01010101 & kLastBits;
    const uint8_t* const map = allocation.defined - allocation.base;
    uint32_t all = ~0u;
    for_lanes(mask, [&](int lane) {
      uint32_t dwords[kDwords] = {};
      std::memcpy(dwords, map + at.address[lane], kBytes);
      for (int d = 0; d < kDwords; ++d) all &= dwords[d];
    });
    if ((all & kDefined) == kDefined) return;
    data->track_undef(kMaxDataDwords);
    for_lanes(mask, [&](int lane) {
      uint32_t dwords[kDwords] = {};
      std::memcpy(dwords, map + at.address[lane], kBytes);
      for (int d = 0; d < kDwords; ++d) data->undef[d][lane] = ~(dwords[d] * 0xff) & kLastBits;
    });
  }

  static void store(const Allocation& allocation, const LaneAddresses& at, uint64_t mask, int shift,
                    const LaneData& data) {
    for_lanes(mask, [&](int lane) {
      uint32_t dwords[kDwords];
      for (int d = 0; d < kDwords; ++d) dwords[d] = data.value[d][lane] >> shift;
      std::memcpy(reinterpret_cast<void*>(at.address[lane]), dwords, kBytes);
    });
    if (!allocation.defined) return;
    uint8_t* const map = allocation.defined - allocation.base;
    for_lanes(mask, [&](int lane) { std::memset(map + at.address[lane], 1, kBytes); });
  }

  static void require_defined(const LaneAddresses& at, int shift, const LaneData& data) {
    for_lanes(at.mask, [&](int lane) {
      for (int d = 0; d < kDwords; ++d)
        if (data.undef[d][lane] >> shift & kLastBits)
          fail_access(FaultKind::UndefinedValue, lane, at.address[lane],
                      concat("stores bits that were never written to ", hex(at.address[lane])));
    });
  }

  static void load_own(Workgroup& group, const Wave& w, const LaneAddresses& at, LaneData* data) {
    uint32_t any = 0;
    LaneRow undef[kDwords];
    for_lanes(at.mask, [&](int lane) {
      uint32_t dwords[kDwords] = {}, undef_dwords[kDwords] = {};
      std::memcpy(dwords, group.lane_scratch(w, lane) + at.address[lane], kBytes);
      std::memcpy(undef_dwords, group.lane_scratch_undef(w, lane) + at.address[lane], kBytes);
      for (int d = 0; d < kDwords; ++d) {
        data->value[d][lane] = dwords[d];
        undef[d][lane] = undef_dwords[d];
        any |= undef_dwords[d];
      }
    });
    if (any == 0) return;
    data->track_undef(kMaxDataDwords);
    for_lanes(at.mask, [&](int lane) {
      for (int d = 0; d < kDwords; ++d) data->undef[d][lane] = undef[d][lane];
    });
  }

  static void store_own(Workgroup& group, const Wave& w, const LaneAddresses& at, int shift,
                        const LaneData& data) {
    for_lanes(at.mask, [&](int lane) {
      uint32_t dwords[kDwords], undef_dwords[kDwords] = {};
      for (int d = 0; d < kDwords; ++d) {
        dwords[d] = data.value[d][lane] >> shift;
        if (data.any_undef) undef_dwords[d] = data.undef[d][lane] >> shift;
      }
      std::memcpy(group.lane_scratch(w, lane) + at.address[lane], dwords, kBytes);
      std::memcpy(group.lane_scratch_undef(w, lane) + at.address[lane], undef_dwords, kBytes);
    });
  }
};

// Calls f.template operator()<kBytes>().
template <class F>
void with_bytes(int bytes, F f) {
  switch (bytes) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 4:
      return f.template operator()<4>();
    case 8:
      return f.template operator()<8>();
    case 12:
      return f.template operator()<12>();
    default:
      return f.template operator()<16>();
  }
}

// Distinct cache lines that the lanes touch.
uint64_t count_lines(const LaneAddresses& at, int bytes, uint32_t line_bytes) {
  const int shift = std::countr_zero(line_bytes);
  uint64_t lowest = ~uint64_t{0}, highest = 0;
  for_lanes(at.mask, [&](int lane) {
    lowest = std::min(lowest, at.address[lane]);
    highest = std::max(highest, at.address[lane]);
  });
  const uint64_t first = lowest >> shift, extra = static_cast<uint64_t>(bytes) - 1;
  if (((highest + extra) >> shift) - first < 64) {
    uint64_t lines = 0;
    for_lanes(at.mask, [&](int lane) {
      lines |= uint64_t{1} << ((at.address[lane] >> shift) - first);
      lines |= uint64_t{1} << (((at.address[lane] + extra) >> shift) - first);
    });
    return static_cast<uint64_t>(std::popcount(lines));
  }
  uint64_t lines[2 * kMaxLanes];
  int count = 0;
  for_lanes(at.mask, [&](int lane) {
    lines[count++] = at.address[lane] >> shift;
    lines[count++] = (at.address[lane] + extra) >> shift;
  });
  std::sort(lines, lines + count);
  return static_cast<uint64_t>(std::unique(lines, lines + count) - lines);
}

void check_scratch(const Workgroup& group, const LaneAddresses& at, int bytes, Access access) {
  const uint64_t size = group.scratch_bytes;
  for_lanes(at.mask, [&](int lane) {
    if (at.address[lane] + static_cast<uint64_t>(bytes) <= size) return;
    fail_access(FaultKind::OutOfBounds, lane, at.address[lane],
                concat(bytes, "-byte ", access_name(access), " at byte ", at.address[lane],
                       " of the lane's scratch memory, which has ", size, " bytes"));
  });
}

}  // namespace

void count_global(Wave& w, const LaneAddresses& at, int bytes, bool reads, bool writes) {
  if (at.mask == 0) return;
  LaunchCounters& counters = *w.counters;
  const uint64_t moved = static_cast<uint64_t>(std::popcount(at.mask) * bytes);
  const uint64_t lines = count_lines(at, bytes, w.target->cache_line_bytes);
  if (reads) {
    counters.bytes_read += moved;
    counters.lines_read += lines;
  }
  if (writes) {
    counters.bytes_written += moved;
    counters.lines_written += lines;
  }
}

void load_global(Wave& w, const LaneAddresses& at, int bytes, LaneData* data) {
  with_bytes(bytes, [&]<int kBytes>() {
    for_allocations(at, bytes, Access::Load, [&](const Allocation& allocation, uint64_t lanes) {
      Lanes<kBytes>::load(allocation, at, lanes, data);
    });
  });
  count_global(w, at, bytes, true, false);
}

void store_global(Wave& w, const LaneAddresses& at, int bytes, int shift, const LaneData& data) {
  with_bytes(bytes, [&]<int kBytes>() {
    if (data.any_undef) Lanes<kBytes>::require_defined(at, shift, data);
    for_allocations(at, bytes, Access::Store, [&](const Allocation& allocation, uint64_t lanes) {
      Lanes<kBytes>::store(allocation, at, lanes, shift, data);
    });
  });
  count_global(w, at, bytes, false, true);
}

AtomicTarget atomic_target(uint64_t address, int lane, int bytes) {
  if (address % static_cast<uint64_t>(bytes) != 0)
    fail_access(FaultKind::Misaligned, lane, address,
                concat(bytes, "-byte atomic operation at ", hex(address),
                       ", which is not aligned to its size"));
  const Allocation* allocation =
      AddressSpace::get().find_cached(address, static_cast<uint64_t>(bytes));
  if (!allocation) refuse(Access::Atomic, lane, address, bytes);
  if (!allocation->writable) refuse_write(Access::Atomic, lane, address, bytes, *allocation);
  return {reinterpret_cast<uint8_t*>(address),
          allocation->defined ? allocation->defined + (address - allocation->base) : nullptr};
}

void load_scratch(Wave& w, const LaneAddresses& at, int bytes, LaneData* data) {
  Workgroup& group = *w.workgroup;
  check_scratch(group, at, bytes, Access::Load);
  with_bytes(bytes, [&]<int kBytes>() { Lanes<kBytes>::load_own(group, w, at, data); });
}

void store_scratch(Wave& w, const LaneAddresses& at, int bytes, int shift, const LaneData& data) {
  Workgroup& group = *w.workgroup;
  check_scratch(group, at, bytes, Access::Store);
  with_bytes(bytes, [&]<int kBytes>() { Lanes<kBytes>::store_own(group, w, at, shift, data); });
}

}  // namespace gfxsim
