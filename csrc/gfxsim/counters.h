// What one launch did, as counts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gfxsim/inst.h"

namespace gfxsim {

// Counts of one host thread while a launch runs; merged into LaunchStats at its end.
struct LaunchCounters {
  std::vector<uint64_t> executed;  // by Inst::index: wave instructions
  uint64_t lds_cycles = 0;         // phases of LDS accesses, bank conflicts included
  uint64_t lds_bank_conflict_cycles = 0;
  // Global memory (buffer, global, flat, scalar loads), active lanes only.
  uint64_t bytes_read = 0, bytes_written = 0;
  // Distinct cache lines (Target::cache_line_bytes) that each instruction touches, summed.
  uint64_t lines_read = 0, lines_written = 0;
  uint64_t lds_bytes_read = 0, lds_bytes_written = 0;

  void merge(const LaunchCounters& other);
};

struct InstructionCount {
  std::string text;
  uint64_t address = 0;
  OpClass cls{};
  uint64_t executed = 0;
};

struct LaunchStats {
  std::string kernel;
  std::string target;
  uint64_t workgroups = 0, waves = 0;
  uint64_t instructions = 0;  // wave instructions
  uint64_t by_class[kNumOpClasses] = {};
  uint64_t mfma_passes = 0;  // of 4 clocks
  LaunchCounters counters;
  std::vector<InstructionCount> per_instruction;  // those executed at least once, in address order
  int vgprs = 0, agprs = 0, sgprs = 0;
  uint32_t lds_bytes = 0, scratch_bytes = 0;  // a workgroup; a lane
  int occupancy_waves_per_simd = 0;
  double seconds = 0;  // host time
};

}  // namespace gfxsim
