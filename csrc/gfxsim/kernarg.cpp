#include "gfxsim/kernarg.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "gfxsim/address_space.h"
#include "gfxsim/text.h"

namespace gfxsim {
namespace {

// The hardware's loads may be wider than what they are for: the segment is padded to this.
constexpr uint64_t kSegmentUnit = 64;

// Services of a full runtime that the simulator does not have. A kernel may carry the pointer and
// never follow it (unoptimised code does); following it faults with the name.
uint64_t missing_service(std::string_view value_kind) {
  static const struct {
    std::string_view value_kind;
    uint64_t address;
  } services[] = {
      {"hidden_hostcall_buffer",
       AddressSpace::get().reserve_forbidden("inside the hostcall buffer (printf, assert, device "
                                             "malloc), which gfxsim does not have")},
      {"hidden_printf_buffer", AddressSpace::get().reserve_forbidden(
                                   "inside the printf buffer, which gfxsim does not have")},
      {"hidden_heap_v1",
       AddressSpace::get().reserve_forbidden("inside the device heap, which gfxsim does not have")},
      {"hidden_multigrid_sync_arg",
       AddressSpace::get().reserve_forbidden(
           "inside the cooperative groups state, which gfxsim does not have")},
      {"hidden_default_queue", AddressSpace::get().reserve_forbidden(
                                   "inside the device-side queue, which gfxsim does not have")},
      {"hidden_completion_action",
       AddressSpace::get().reserve_forbidden(
           "inside the device-side enqueue state, which gfxsim does not have")},
      {"hidden_queue_ptr",
       AddressSpace::get().reserve_forbidden("inside the HSA queue, which gfxsim does not have")},
  };
  for (const auto& service : services)
    if (service.value_kind == value_kind) return service.address;
  throw std::invalid_argument(
      concat("the kernel needs the hidden argument '", value_kind, "', which is not supported"));
}

// Ends in _x, _y or _z.
int dimension(std::string_view value_kind) { return value_kind.back() - 'x'; }

uint64_t hidden_value(std::string_view kind, const Target& target, const LaunchShape& shape) {
  if (kind.starts_with("hidden_block_count_")) return shape.grid[dimension(kind)];
  if (kind.starts_with("hidden_group_size_")) return shape.block[dimension(kind)];
  // The size of a partial workgroup at the grid's end; HIP launches whole ones.
  if (kind.starts_with("hidden_remainder_")) return 0;
  if (kind.starts_with("hidden_global_offset_")) return 0;
  if (kind == "hidden_grid_dims") return shape.grid.size();
  if (kind == "hidden_dynamic_lds_size") return shape.dynamic_lds;
  if (kind == "hidden_private_base") return target.private_aperture >> 32;
  if (kind == "hidden_shared_base") return target.shared_aperture >> 32;
  if (kind == "hidden_none") return 0;
  return missing_service(kind);
}

}  // namespace

Kernarg::Kernarg(const Kernel& kernel, const Target& target, std::span<const uint8_t> explicit_args,
                 const LaunchShape& shape) {
  const uint32_t needed = kernel.explicit_arg_bytes();
  if (explicit_args.size() < needed)
    throw std::invalid_argument(concat("the arguments of ", kernel.name, " have ", needed,
                                       " bytes; ", explicit_args.size(), " were given"));
  const uint64_t lines =
      (std::max<uint64_t>(kernel.kernarg_size, needed) + kSegmentUnit) / kSegmentUnit;
  lines_ = std::make_unique<Line[]>(lines);
  size_ = lines * sizeof(Line);
  std::copy_n(explicit_args.begin(), needed, data());
  for (const KernelArg& arg : kernel.args) {
    if (arg.kind != KernelArg::Hidden) continue;
    const uint64_t value = hidden_value(arg.value_kind, target, shape);
    if (arg.size > sizeof value || arg.offset + arg.size > size_)
      throw std::invalid_argument(
          concat("hidden argument '", arg.value_kind, "' has an impossible place"));
    std::memcpy(data() + arg.offset, &value, arg.size);
  }
  AddressSpace::get().add_external({reinterpret_cast<uint64_t>(data()), size_, Allocation::Host,
                                    false, nullptr, "kernel arguments"});
}

Kernarg::~Kernarg() { AddressSpace::get().remove_external(reinterpret_cast<uint64_t>(data())); }

}  // namespace gfxsim
