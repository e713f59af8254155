// Launching a kernel: what every face of the simulator does with it.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "gfxsim/code_object.h"
#include "gfxsim/counters.h"
#include "gfxsim/kernarg.h"
#include "gfxsim/target.h"

namespace gfxsim {

// The device that the process sees.
const Target& device_target();

// Limits of every target.
constexpr uint32_t kMaxWorkgroupItems = 1024;

// Why the kernel cannot run in this shape on this target; empty when it can.
std::string refuse_launch(const Kernel& kernel, const Target& target, const LaunchShape& shape);

// Runs a kernel to its end. `explicit_args` as for Kernarg. Throws std::invalid_argument when
// refuse_launch() has a reason, Fault when the kernel violates a rule.
LaunchStats run_kernel(const CodeObject& object, const Kernel& kernel, const LaunchShape& shape,
                       std::span<const uint8_t> explicit_args);

// Held while work runs on the device: launches, and copies in a stream.
std::mutex& device_mutex();

// The counts of the last launch that reached its end, whoever made it.
LaunchStats last_launch();

}  // namespace gfxsim
