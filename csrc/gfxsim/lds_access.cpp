#include "gfxsim/lds_access.h"

#include "gfxsim/counters.h"
#include "gfxsim/lds_banks.h"
#include "gfxsim/text.h"

namespace gfxsim {
namespace {

// Zero-extended bytes of each lane to rows.
template <int kBytes>
void gather(const uint8_t* base, const LdsAccess& access, LaneRow* rows) {
  constexpr int kDwords = (kBytes + 3) / 4;
  for_lanes(access.mask, [&](int lane) {
    uint32_t dwords[kDwords] = {};
    std::memcpy(dwords, base + access.address[lane], kBytes);
    for (int d = 0; d < kDwords; ++d) rows[d][lane] = dwords[d];
  });
}

template <int kBytes>
bool any_bit_set(const uint8_t* base, const LdsAccess& access) {
  uint64_t any = 0;
  for_lanes(access.mask, [&](int lane) {
    uint64_t bits[(kBytes + 7) / 8] = {};
    std::memcpy(bits, base + access.address[lane], kBytes);
    for (const uint64_t part : bits) any |= part;
  });
  return any != 0;
}

template <int kBytes>
void scatter(uint8_t* base, const LdsAccess& access, const LaneRow* rows, int shift) {
  constexpr int kDwords = (kBytes + 3) / 4;
  for_lanes(access.mask, [&](int lane) {
    uint32_t dwords[kDwords];
    for (int d = 0; d < kDwords; ++d) dwords[d] = rows[d][lane] >> shift;
    std::memcpy(base + access.address[lane], dwords, kBytes);
  });
}

template <int kBytes>
void clear(uint8_t* base, const LdsAccess& access) {
  for_lanes(access.mask, [&](int lane) { std::memset(base + access.address[lane], 0, kBytes); });
}

template <int kBytes>
void load_bytes(Lds& lds, const LdsAccess& access, int first, LaneData* data) {
  gather<kBytes>(lds.data(), access, data->value + first);
  if (!any_bit_set<kBytes>(lds.undef(), access)) return;
  data->track_undef(kMaxDataDwords);
  gather<kBytes>(lds.undef(), access, data->undef + first);
}

template <int kBytes>
void store_bytes(Lds& lds, const LdsAccess& access, int first, int shift, const LaneData& data) {
  scatter<kBytes>(lds.data(), access, data.value + first, shift);
  if (data.any_undef)
    scatter<kBytes>(lds.undef(), access, data.undef + first, shift);
  else
    clear<kBytes>(lds.undef(), access);
}

}  // namespace

void begin_lds_access(Wave& w, const LdsAccess& access) {
  if (access.mask == 0) return;
  w.workgroup->lds.enter(w, access);
  count_lds_access(w, access);
}

void count_lds_access(Wave& w, const LdsAccess& access) {
  LaunchCounters& counters = *w.counters;
  const uint64_t bytes = static_cast<uint64_t>(std::popcount(access.mask)) * access.bytes;
  if (access.kind != LdsAccessKind::Write) counters.lds_bytes_read += bytes;
  if (access.kind != LdsAccessKind::Read) counters.lds_bytes_written += bytes;
  const LdsCycles cycles = w.workgroup->lds_cycle_cache.get(*w.target, access);
  counters.lds_cycles += cycles.total;
  counters.lds_bank_conflict_cycles += cycles.conflicts;
}

void require_lds_alignment(const LdsAccess& access, uint32_t alignment) {
  uint32_t low_bits = 0;
  for (int lane = 0; lane < kMaxLanes; ++lane)
    low_bits |= access.mask >> lane & 1 ? access.address[lane] : 0;
  if ((low_bits & (alignment - 1)) == 0) return;
  for_lanes(access.mask, [&](int lane) {
    if (access.address[lane] % alignment == 0) return;
    fail_access(FaultKind::Misaligned, lane, access.address[lane],
                concat("LDS address ", access.address[lane], " is no multiple of ", alignment));
  });
}

void load_lds(Wave& w, const LdsAccess& access, int first, LaneData* data) {
  Lds& lds = w.workgroup->lds;
  switch (access.bytes) {
    case 1:
      return load_bytes<1>(lds, access, first, data);
    case 2:
      return load_bytes<2>(lds, access, first, data);
    case 4:
      return load_bytes<4>(lds, access, first, data);
    case 8:
      return load_bytes<8>(lds, access, first, data);
    case 12:
      return load_bytes<12>(lds, access, first, data);
    default:
      return load_bytes<16>(lds, access, first, data);
  }
}

void store_lds(Wave& w, const LdsAccess& access, int first, int shift, const LaneData& data) {
  Lds& lds = w.workgroup->lds;
  switch (access.bytes) {
    case 1:
      return store_bytes<1>(lds, access, first, shift, data);
    case 2:
      return store_bytes<2>(lds, access, first, shift, data);
    case 4:
      return store_bytes<4>(lds, access, first, shift, data);
    case 8:
      return store_bytes<8>(lds, access, first, shift, data);
    case 12:
      return store_bytes<12>(lds, access, first, shift, data);
    default:
      return store_bytes<16>(lds, access, first, shift, data);
  }
}

void hold_lds_accesses(Wave& w, InFlight& op, std::initializer_list<const LdsAccess*> accesses) {
  if (!w.workgroup->lds.is_shared()) return;
  int i = 0;
  for (const LdsAccess* access : accesses)
    if (access->mask != 0) op.lds_slots[i++] = static_cast<int16_t>(w.lds_in_flight.add(*access));
}

}  // namespace gfxsim
