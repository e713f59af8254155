#include "gfxsim/lds.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "gfxsim/executor.h"
#include "gfxsim/lane_data.h"
#include "gfxsim/source_location.h"
#include "gfxsim/text.h"
#include "gfxsim/wave.h"
#include "gfxsim/workgroup.h"

namespace gfxsim {
namespace {

constexpr int kEpochShift = 32, kWaveShift = 24;
constexpr uint64_t kIndexMask = (uint64_t{1} << kWaveShift) - 1;
constexpr uint64_t kMaxWaves = 256;

uint64_t make_mark(uint32_t epoch, uint32_t wave, const Inst& inst) {
  return uint64_t{epoch} << kEpochShift | uint64_t{wave} << kWaveShift | (inst.index & kIndexMask);
}

// Another wave's mark of the same epoch.
bool conflicts(uint64_t mark, uint64_t mine) {
  const uint64_t difference = (mark ^ mine) >> kWaveShift;
  return difference != 0 && (difference & ~(kMaxWaves - 1)) == 0;
}

// Keeps the newest marks of two different waves.
void remember(uint64_t& first, uint64_t& second, uint64_t mine) {
  (conflicts(first, mine) ? second : first) = mine;
}

// Whether each lane accesses whole dwords.
bool is_dword_aligned(const LdsAccess& access) {
  uint32_t low_bits = access.bytes;
  for (uint32_t lane = 0; lane < kMaxLanes; ++lane)
    low_bits |= access.mask >> lane & 1 ? access.address[lane] : 0;
  return low_bits % 4 == 0;
}

// Whether all lanes access memory that lies in a row, lane after lane.
bool is_dword_run(const LdsAccess& access) {
  if (access.mask != ~uint64_t{0}) return false;
  uint32_t difference = 0;
  for (uint32_t lane = 0; lane < kMaxLanes; ++lane)
    difference |= access.address[lane] ^ (access.address[0] + lane * access.bytes);
  return difference == 0;
}

// Instructions of a program lie in one array, in the order of their index.
const Inst& inst_of(uint64_t mark, const Inst& neighbour) {
  const auto index = static_cast<int64_t>(mark & kIndexMask);
  return *(&neighbour + (index - static_cast<int64_t>(neighbour.index)));
}

uint32_t wave_of(uint64_t mark) { return static_cast<uint32_t>(mark >> kWaveShift & 0xff); }

std::string byte_range(const LdsAccess& access, int lane) {
  const uint32_t begin = access.address[lane];
  return access.bytes == 1 ? concat("byte ", begin, " of LDS")
                           : concat("bytes ", begin, "..", begin + access.bytes - 1, " of LDS");
}

const char* verb(LdsAccessKind kind) {
  switch (kind) {
    case LdsAccessKind::Read:
      return "reads";
    case LdsAccessKind::Write:
      return "writes";
    case LdsAccessKind::Atomic:
      return "changes";
  }
  return "touches";
}

}  // namespace

int LdsAccessPool::add(const LdsAccess& access) {
  if (free_.empty()) {
    free_.push_back(static_cast<int>(slots_.size()));
    slots_.emplace_back();
    used_.push_back(0);
  }
  const int slot = free_.back();
  free_.pop_back();
  slots_[slot] = access;
  used_[slot] = 1;
  return slot;
}

void LdsAccessPool::remove(int slot) {
  used_[slot] = 0;
  free_.push_back(slot);
}

void Lds::init(uint32_t bytes, uint32_t num_waves) {
  size_ = bytes;
  num_waves_ = num_waves;
  data_.resize(bytes);
  undef_.assign(bytes, 0xff);
  const uint32_t dwords = (bytes + 3) / 4;
  if (is_shared() && tags_.size() < dwords) {
    tags_.resize(dwords);
    split_epoch_.resize(dwords);
  }
  any_split_ = any_atomic_ = false;
  dma_pending_.assign(dwords, 0);
  dma_in_flight_ = 0;
  for (const auto& transfer : transfers_) transfer->in_flight = false;
  ++epoch_;
}

void Lds::check_bounds(const LdsAccess& access) const {
  uint32_t highest = 0;
  for (int lane = 0; lane < kMaxLanes; ++lane)
    highest = std::max(highest, access.mask >> lane & 1 ? access.address[lane] : 0);
  if (uint64_t{highest} + access.bytes <= size_) [[likely]]
    return;
  for_lanes(access.mask, [&](int lane) {
    const uint32_t address = access.address[lane];
    if (uint64_t{address} + access.bytes <= size_) return;
    fail_access(FaultKind::LdsOutOfBounds, lane, address,
                concat(verb(access.kind), " ", byte_range(access, lane),
                       "; the workgroup has allocated ", size_, " bytes"));
  });
}

void Lds::check_landed(const Wave& w, const LdsAccess& access, bool is_dma) const {
  for_lanes(access.mask, [&](int lane) {
    const uint32_t begin = access.address[lane], end = begin + access.bytes;
    for (uint32_t dword = begin / 4; dword <= (end - 1) / 4; ++dword) {
      if (dma_pending_[dword] == 0) [[likely]]
        continue;
      for (const auto& transfer : transfers_) {
        // Loads of one wave land in order: the later one wins, as written.
        if (!transfer->in_flight || (is_dma && transfer->wave == w.id)) continue;
        const LdsAccess& other = transfer->access;
        for_lanes(other.mask, [&](int other_lane) {
          const uint32_t other_begin = other.address[other_lane];
          if (other_begin >= end || begin >= other_begin + other.bytes) return;
          fail_access(FaultKind::MissingWait, lane, begin,
                      concat(verb(access.kind), " ", byte_range(access, lane),
                             " while a load into it is in flight: wave ", transfer->wave,
                             " has issued '", other.inst->text, "' and not waited for it"));
        });
      }
    }
  });
}

void Lds::enter(const Wave& w, const LdsAccess& access) {
  check_bounds(access);
  if (dma_in_flight_ > 0) check_landed(w, access, false);
  if (is_shared()) mark(w, access);
}

int Lds::begin_dma(const Wave& w, const LdsAccess& access) {
  check_bounds(access);
  if (dma_in_flight_ > 0) check_landed(w, access, true);
  if (is_shared()) mark(w, access);

  int index = 0;
  while (index < static_cast<int>(transfers_.size()) && transfers_[index]->in_flight) ++index;
  if (index == static_cast<int>(transfers_.size()))
    transfers_.push_back(std::make_unique<LdsDmaTransfer>());
  LdsDmaTransfer& transfer = *transfers_[index];
  transfer.access = access;
  transfer.wave = w.id;
  transfer.in_flight = true;
  ++dma_in_flight_;
  for_lanes(access.mask, [&](int lane) {
    const uint32_t begin = access.address[lane];
    for (uint32_t d = begin / 4; d <= (begin + access.bytes - 1) / 4; ++d) ++dma_pending_[d];
  });
  return index;
}

void Lds::land_dma(int index) {
  LdsDmaTransfer& transfer = *transfers_[index];
  const LdsAccess& access = transfer.access;
  for_lanes(access.mask, [&](int lane) {
    const uint32_t begin = access.address[lane];
    const size_t from = static_cast<size_t>(lane) * access.bytes;
    std::memcpy(&data_[begin], &transfer.data[from], access.bytes);
    std::memcpy(&undef_[begin], &transfer.undef[from], access.bytes);
    for (uint32_t d = begin / 4; d <= (begin + access.bytes - 1) / 4; ++d) --dma_pending_[d];
  });
  transfer.in_flight = false;
  --dma_in_flight_;
}

void Lds::barrier(std::span<Wave> waves) {
  ++epoch_;
  any_split_ = any_atomic_ = false;
  if (!is_shared()) return;
  for (const Wave& w : waves)
    w.lds_in_flight.for_each([&](const LdsAccess& access) { mark(w, access); });
}

void Lds::mark(const Wave& w, const LdsAccess& access) {
  marking_ = &w;
  const Mark mine = make_mark(epoch_, w.id, *access.inst);
  switch (access.kind) {
    case LdsAccessKind::Read:
      return mark_lanes<LdsAccessKind::Read>(mine, access);
    case LdsAccessKind::Write:
      return mark_lanes<LdsAccessKind::Write>(mine, access);
    case LdsAccessKind::Atomic:
      any_atomic_ = true;
      return mark_lanes<LdsAccessKind::Atomic>(mine, access);
  }
}

// Marks adjacent dwords, as vector code. False, and nothing is changed, when one shows a race.
template <LdsAccessKind Kind, size_t kCount>
[[gnu::always_inline]] inline bool mark_adjacent(uint64_t* write, uint64_t* read0, uint64_t* read1,
                                                 uint64_t mine) {
  uint64_t race = 0;
  for (size_t i = 0; i < kCount; ++i) {
    race |= conflicts(write[i], mine);
    if constexpr (Kind == LdsAccessKind::Write)
      race |= uint64_t{conflicts(read0[i], mine)} | uint64_t{conflicts(read1[i], mine)};
  }
  if (race) return false;
  if constexpr (Kind == LdsAccessKind::Write) {
    std::fill_n(write, kCount, mine);
    return true;
  }
  // Mostly all dwords have the same readers.
  size_t read_by_another = 0;
  for (size_t i = 0; i < kCount; ++i) read_by_another += conflicts(read0[i], mine);
  if (read_by_another == 0) {
    std::fill_n(read0, kCount, mine);
  } else if (read_by_another == kCount) {
    std::fill_n(read1, kCount, mine);
  } else {
    for (size_t i = 0; i < kCount; ++i) remember(read0[i], read1[i], mine);
  }
  return true;
}

// The common case: whole dwords, and neither atomics nor narrower accesses since the last barrier.
// False when some dword shows a race; the accessing wave's own marks may be there then.
template <LdsAccessKind Kind>
bool Lds::mark_whole_dwords(Mark mine, const LdsAccess& access) {
  uint64_t* const write = tags_.write.data();
  uint64_t* const read0 = tags_.read[0].data();
  uint64_t* const read1 = tags_.read[1].data();
  const auto mark_from = [=]<size_t kCount>(uint32_t dword) {
    return mark_adjacent<Kind, kCount>(write + dword, read0 + dword, read1 + dword, mine);
  };
  if (is_dword_run(access)) {
    constexpr uint32_t kChunk = 8;
    const uint32_t begin = access.address[0] / 4, end = begin + kMaxLanes * access.bytes / 4u;
    for (uint32_t dword = begin; dword < end; dword += kChunk)
      if (!mark_from.template operator()<kChunk>(dword)) return false;
    return true;
  }
  const auto each_lane = [&]<size_t kDwords>() {
    for (uint64_t lanes = access.mask; lanes; lanes &= lanes - 1)
      if (!mark_from.template operator()<kDwords>(access.address[std::countr_zero(lanes)] / 4))
        return false;
    return true;
  };
  switch (access.bytes) {
    case 4:
      return each_lane.template operator()<1>();
    case 8:
      return each_lane.template operator()<2>();
    case 12:
      return each_lane.template operator()<3>();
    default:
      return each_lane.template operator()<4>();
  }
}

template <LdsAccessKind Kind>
void Lds::mark_lanes(Mark mine, const LdsAccess& access) {
  if constexpr (Kind != LdsAccessKind::Atomic) {
    if (!any_split_ && !any_atomic_ && is_dword_aligned(access) &&
        mark_whole_dwords<Kind>(mine, access))
      return;
  }
  for_lanes(access.mask, [&](int lane) {
    uint32_t byte = access.address[lane];
    const uint32_t end = byte + access.bytes;
    while (byte < end) {
      const uint32_t dword = byte / 4, next = std::min(end, dword * 4 + 4);
      if (next - byte == 4 && !is_split(dword)) [[likely]]
        mark_tag<Kind>(tags_, dword, mine, access, lane);
      else
        mark_bytes<Kind>(byte, next, mine, access, lane);
      byte = next;
    }
  });
}

void Lds::split(uint32_t dword) {
  if (byte_tags_.size() < tags_.size() * 4) byte_tags_.resize(tags_.size() * 4);
  for (size_t byte = 0; byte < 4; ++byte) byte_tags_.copy(tags_, dword, dword * 4 + byte);
  split_epoch_[dword] = epoch_;
  any_split_ = true;
}

template <LdsAccessKind Kind>
void Lds::mark_bytes(uint32_t begin, uint32_t end, Mark mine, const LdsAccess& access, int lane) {
  if (!is_split(begin / 4)) split(begin / 4);
  for (uint32_t byte = begin; byte < end; ++byte)
    mark_tag<Kind>(byte_tags_, byte, mine, access, lane);
}

template <LdsAccessKind Kind>
void Lds::mark_tag(Tags& tags, size_t index, Mark mine, const LdsAccess& access, int lane) {
  const auto check = [&](Mark other, const char* did) {
    if (conflicts(other, mine)) [[unlikely]]
      report_race(other, did, mine, access, lane);
  };
  check(tags.write[index], "wrote");
  if constexpr (Kind != LdsAccessKind::Atomic) {
    if (any_atomic_)
      for (const auto& marks : tags.atomic) check(marks[index], "changed");
  }
  if constexpr (Kind != LdsAccessKind::Read) {
    for (const auto& marks : tags.read) check(marks[index], "read");
  }
  if constexpr (Kind == LdsAccessKind::Read)
    remember(tags.read[0][index], tags.read[1][index], mine);
  if constexpr (Kind == LdsAccessKind::Write) tags.write[index] = mine;
  if constexpr (Kind == LdsAccessKind::Atomic)
    remember(tags.atomic[0][index], tags.atomic[1][index], mine);
}

void Lds::Tags::resize(size_t count) {
  for (std::vector<Mark>* marks : {&write, &read[0], &read[1], &atomic[0], &atomic[1]})
    marks->resize(count);
}

void Lds::Tags::copy(const Tags& from, size_t from_index, size_t to_index) {
  write[to_index] = from.write[from_index];
  for (int i = 0; i < 2; ++i) {
    read[i][to_index] = from.read[i][from_index];
    atomic[i][to_index] = from.atomic[i][from_index];
  }
}

void Lds::report_race(Mark other, const char* did, Mark mine, const LdsAccess& access,
                      int lane) const {
  const Inst& theirs = inst_of(other, *access.inst);
  fail_access(
      FaultKind::LdsRace, lane, access.address[lane],
      concat("wave ", wave_of(mine), " ", verb(access.kind), " ", byte_range(access, lane),
             " with ", describe(*access.inst), "; wave ", wave_of(other), " ", did, " there with ",
             describe(theirs), ", and no barrier that both had waited for lies between"));
}

// "'ds_read_b32 v0, v1' (kernel.hip:12)"
std::string Lds::describe(const Inst& inst) const {
  const CodeObject& object = marking_->workgroup->launch->object;
  const uint64_t pc = inst.address - object.load_bias();
  const std::string source = source_location(object, pc);
  return concat("'", inst.text, "' (", source.empty() ? "at " + hex(pc) : source, ")");
}

}  // namespace gfxsim
