#include "gfxsim/lds_banks.h"

#include <algorithm>
#include <bit>

namespace gfxsim {
namespace {

// An access is carried out in phases. All lanes of a phase access the banks at the same time: the
// phase takes as many cycles as the busiest bank has different dwords to deliver. Lanes are given
// in groups of four; the second half of the wave repeats the pattern of the first.
struct PhaseTable {
  int banks;
  int phases;         // in 32 lanes
  uint8_t groups[8];  // per phase, bit g: lanes 4g .. 4g+3
};

// Measured on MI355X by the HipKittens project (analysis/paper_experiments/phases: one pair of
// lanes after the other, by the bank conflict counter): ds_read_b64 and b128 see 64 banks,
// ds_read_b96 and ds_write_b64 32. The phases of ds_read_b96 and of ds_write_b128 (8 consecutive
// lanes) are also in Composable Kernel's documentation ("Understanding AMD GPU LDS and bank
// conflicts").
constexpr PhaseTable kRead64Banks{64, 1, {0xff}};                        // b64
constexpr PhaseTable kWideRead64Banks{64, 2, {0b01101001, 0b10010110}};  // b128
constexpr PhaseTable kWideRead32Banks{32, 4, {0b00100001, 0b00010010, 0b10000100, 0b01001000}};
constexpr PhaseTable kHalfWave32Banks{32, 1, {0xff}};
constexpr PhaseTable kWrite64Bits{32, 2, {0x0f, 0xf0}};
constexpr PhaseTable kWrite128Bits{32, 4, {0x03, 0x0c, 0x30, 0xc0}};

// Accesses of up to 32 bits were not measured: like the measured ones, a phase is taken to be as
// many consecutive lanes as the banks can serve.
const PhaseTable& phase_table(int banks, LdsAccessKind kind, int dwords) {
  const bool read = kind == LdsAccessKind::Read;
  if (read && dwords == 3) return kWideRead32Banks;
  if (read && dwords == 4) return banks == 64 ? kWideRead64Banks : kWideRead32Banks;
  if (read && banks == 64) return kRead64Banks;
  if (dwords == 1) return kHalfWave32Banks;
  return dwords == 2 ? kWrite64Bits : kWrite128Bits;
}

uint64_t phase_lanes(uint8_t groups) {
  uint64_t lanes = 0;
  for (int g = 0; g < 8; ++g)
    if (groups >> g & 1) lanes |= uint64_t{0xf} << (4 * g);
  return lanes;
}

// Cycles of one phase: the most different dwords that lie in one bank.
uint32_t phase_cycles(const LdsAccess& access, uint64_t lanes, int banks, int dwords) {
  constexpr int kMaxBanks = 64;
  constexpr uint32_t kFree = ~uint32_t{0};
  // Dwords asked of each bank, those beyond the first in a list.
  uint32_t first[kMaxBanks];
  uint8_t count[kMaxBanks] = {};
  std::fill_n(first, banks, kFree);
  uint32_t others[kMaxLanes * 5];
  int num_others = 0;
  uint8_t worst = 1;
  for (; lanes; lanes &= lanes - 1) {
    const uint32_t address = access.address[std::countr_zero(lanes)];
    const uint32_t begin = address / 4;
    const uint32_t end =
        begin + static_cast<uint32_t>(dwords) + (address % 4 + access.bytes > 4u * dwords);
    for (uint32_t dword = begin; dword < end; ++dword) {
      const uint32_t bank = dword & static_cast<uint32_t>(banks - 1);
      if (first[bank] == dword) continue;
      if (first[bank] == kFree) {
        first[bank] = dword;
        count[bank] = 1;
        continue;
      }
      if (std::find(others, others + num_others, dword) != others + num_others) continue;
      others[num_others++] = dword;
      worst = std::max(worst, ++count[bank]);
    }
  }
  return worst;
}

}  // namespace

LdsCycles lds_cycles(const Target& target, const LdsAccess& access) {
  const int dwords = (access.bytes + 3) / 4;
  const PhaseTable& table = phase_table(target.lds_banks, access.kind, dwords);
  LdsCycles cycles;
  for (int half = 0; half < kMaxLanes; half += 32) {
    for (int phase = 0; phase < table.phases; ++phase) {
      const uint64_t lanes = access.mask & phase_lanes(table.groups[phase]) << half;
      if (lanes == 0) continue;
      const uint32_t needed = phase_cycles(access, lanes, table.banks, dwords);
      cycles.total += needed;
      cycles.conflicts += needed - 1;
    }
  }
  return cycles;
}

bool LdsCycleCache::matches(const Entry& entry, const LdsAccess& access, uint32_t base,
                            uint32_t base_in_banks) {
  if (entry.mask != access.mask || entry.bytes != access.bytes ||
      entry.base_in_banks != base_in_banks)
    return false;
  uint32_t difference = 0;
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    const uint32_t active = -static_cast<uint32_t>(access.mask >> lane & 1);
    difference |= ((access.address[lane] - base) ^ entry.relative[lane]) & active;
  }
  return difference == 0;
}

LdsCycles LdsCycleCache::get(const Target& target, const LdsAccess& access) {
  if (access.mask == 0) return {};
  const uint32_t base = access.address[std::countr_zero(access.mask)];
  const uint32_t base_in_banks = base % (static_cast<uint32_t>(target.lds_banks) * 4);
  const uint32_t index = access.inst->index;
  if (index >= by_instruction_.size()) by_instruction_.resize(index + 1);
  std::unique_ptr<Entry>& entry = by_instruction_[index];
  if (!entry) entry = std::make_unique<Entry>();
  if (matches(*entry, access, base, base_in_banks)) return entry->cycles;
  entry->mask = access.mask;
  entry->bytes = access.bytes;
  entry->base_in_banks = base_in_banks;
  for (int lane = 0; lane < kMaxLanes; ++lane) entry->relative[lane] = access.address[lane] - base;
  entry->cycles = lds_cycles(target, access);
  return entry->cycles;
}

}  // namespace gfxsim
