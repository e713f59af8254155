// How many cycles the LDS needs for one wave instruction.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "gfxsim/lds.h"
#include "gfxsim/target.h"

namespace gfxsim {

struct LdsCycles {
  uint32_t total = 0;      // conflicts included
  uint32_t conflicts = 0;  // of them, those that a conflict-free access would not need
};

LdsCycles lds_cycles(const Target& target, const LdsAccess& access);

// Remembers the cycles of each instruction's last access: in a loop the same pattern of lanes comes
// again, at another base that is a multiple of all banks away.
class LdsCycleCache {
 public:
  LdsCycles get(const Target& target, const LdsAccess& access);

 private:
  struct Entry {
    uint64_t mask = 0;
    uint32_t base_in_banks = 0;
    uint8_t bytes = 0;
    LdsCycles cycles;
    uint32_t relative[kMaxLanes];  // address minus that of the first active lane
  };
  static bool matches(const Entry& entry, const LdsAccess& access, uint32_t base,
                      uint32_t base_in_banks);

  std::vector<std::unique_ptr<Entry>> by_instruction_;
};

}  // namespace gfxsim
