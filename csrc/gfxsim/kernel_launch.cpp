#include "gfxsim/kernel_launch.h"

#include <stdexcept>

#include "gfxsim/executor.h"
#include "gfxsim/text.h"

namespace gfxsim {
namespace {

// A grid counts work items in 32 bits in each dimension.
constexpr uint64_t kMaxGridItems = UINT32_MAX;

std::mutex stats_mutex;
LaunchStats last_stats;

std::string print(const uint32_t (&size)[3]) {
  return concat("(", size[0], ", ", size[1], ", ", size[2], ")");
}

}  // namespace

const Target& device_target() {
  static const Target& target = *find_target("gfx950");
  return target;
}

std::string refuse_launch(const Kernel& kernel, const Target& target, const LaunchShape& shape) {
  uint64_t items = 1;
  for (int d = 0; d < 3; ++d) {
    const char axis = static_cast<char>('x' + d);
    if (shape.grid[d] == 0) return concat("grid.", axis, " is 0");
    if (shape.block[d] == 0) return concat("block.", axis, " is 0");
    if (uint64_t{shape.grid[d]} * shape.block[d] > kMaxGridItems)
      return concat("grid.", axis, " * block.", axis, " is ",
                    uint64_t{shape.grid[d]} * shape.block[d], "; at most ", kMaxGridItems,
                    " work items fit a dimension");
    items *= shape.block[d];
  }
  if (items > kMaxWorkgroupItems)
    return concat("a block of ", items, " work items; at most ", kMaxWorkgroupItems,
                  " are possible");
  if (items > kernel.max_flat_workgroup_size)
    return concat("a block of ", items, " work items; ", kernel.name, " was compiled for at most ",
                  kernel.max_flat_workgroup_size, " (__launch_bounds__)");
  const auto& required = kernel.required_workgroup_size;
  if (required[0] != 0 && (shape.block[0] != required[0] || shape.block[1] != required[1] ||
                           shape.block[2] != required[2]))
    return concat(kernel.name, " was compiled for blocks of ", print(required), " only");
  const uint64_t lds = uint64_t{kernel.lds_bytes} + shape.dynamic_lds;
  if (lds > target.lds_bytes)
    return concat("the block needs ", lds, " bytes of LDS (", kernel.lds_bytes, " static, ",
                  shape.dynamic_lds, " dynamic); ", target.name, " has ", target.lds_bytes);
  return {};
}

std::mutex& device_mutex() {
  static std::mutex* mutex = new std::mutex;
  return *mutex;
}

LaunchStats run_kernel(const CodeObject& object, const Kernel& kernel, const LaunchShape& shape,
                       std::span<const uint8_t> explicit_args) {
  const Target* target = find_target(object.target());
  if (target == nullptr)
    throw std::invalid_argument(concat("code for ", object.target(), " cannot be simulated"));
  if (const std::string reason = refuse_launch(kernel, *target, shape); !reason.empty())
    throw std::invalid_argument(reason);
  std::lock_guard lock(device_mutex());
  const Kernarg kernarg(kernel, *target, explicit_args, shape);
  LaunchStats stats = launch({.object = object,
                              .kernel = kernel,
                              .grid = shape.grid,
                              .block = shape.block,
                              .dynamic_lds = shape.dynamic_lds,
                              .kernarg = kernarg.bytes()});
  std::lock_guard stats_lock(stats_mutex);
  last_stats = stats;
  return stats;
}

LaunchStats last_launch() {
  std::lock_guard lock(stats_mutex);
  return last_stats;
}

}  // namespace gfxsim
