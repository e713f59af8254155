// How many cycles the LDS needs for one wave instruction.
#pragma once

#include <cstdint>

#include "gfxsim/lds.h"
#include "gfxsim/target.h"

namespace gfxsim {

struct LdsCycles {
  uint32_t total = 0;      // conflicts included
  uint32_t conflicts = 0;  // of them, those that a conflict-free access would not need
};

LdsCycles lds_cycles(const Target& target, const LdsAccess& access);

}  // namespace gfxsim
