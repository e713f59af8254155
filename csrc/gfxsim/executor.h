// Runs launches: workgroups on host threads, the waves of a workgroup interleaved at random.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gfxsim/code_object.h"
#include "gfxsim/counters.h"
#include "gfxsim/decode.h"
#include "gfxsim/fault.h"

namespace gfxsim {

struct LaunchConfig {
  const CodeObject& object;
  const Kernel& kernel;
  std::array<uint32_t, 3> grid{1, 1, 1};   // workgroups
  std::array<uint32_t, 3> block{1, 1, 1};  // work items
  uint32_t dynamic_lds = 0;                // bytes
  // Explicit and hidden arguments, in memory that the address space knows.
  std::span<const uint8_t> kernarg;
};

struct ExecutorOptions {
  // Seeds the interleaving of waves and, when not 0, the order in which workgroups start. A program
  // starts with the number in the environment's GFXSIM_SEED.
  uint64_t seed = 0;
  int threads = 0;  // host threads; 0: as many as the machine has
  // Instructions a wave may execute before the launch counts as an endless loop.
  uint64_t instruction_budget = 200'000'000;
};
ExecutorOptions& executor_options();

// Runs the kernel to its end. The configuration must be one that refuse_launch()
// (kernel_launch.h) accepts. Throws Fault, located, on the first violation.
LaunchStats launch(const LaunchConfig& config);

// The instruction at a byte address of the running program; faults when there is none.
const Inst* inst_at(const Wave& w, uint64_t address);

// The most waves of the kernel that fit a SIMD, by registers and LDS.
int occupancy_waves_per_simd(const Target& target, const Kernel& kernel, uint32_t lds_bytes,
                             uint32_t waves_per_workgroup);

}  // namespace gfxsim
