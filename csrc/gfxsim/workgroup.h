// The state that the waves of one workgroup share.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gfxsim/counters.h"
#include "gfxsim/lds.h"
#include "gfxsim/lds_banks.h"
#include "gfxsim/wave.h"

namespace gfxsim {

struct LaunchConfig;

struct Workgroup {
  const LaunchConfig* launch = nullptr;
  std::array<uint32_t, 3> id{};
  uint64_t linear_id = 0;
  Lds lds;
  LdsCycleCache lds_cycle_cache;
  std::vector<Wave> waves;
  uint32_t xcc_id = 0;

  // Private (scratch) memory of all its waves: `scratch_bytes` a lane, lane after lane, wave after
  // wave; a parallel plane of undefined bits.
  uint32_t scratch_bytes = 0;
  std::vector<uint8_t> scratch, scratch_undef;
  uint8_t* lane_scratch(const Wave& wave, int lane) {
    return scratch.data() + (size_t{wave.id} * kMaxLanes + lane) * scratch_bytes;
  }
  uint8_t* lane_scratch_undef(const Wave& wave, int lane) {
    return scratch_undef.data() + (size_t{wave.id} * kMaxLanes + lane) * scratch_bytes;
  }
};

}  // namespace gfxsim
