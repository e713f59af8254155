#include "gfxsim/dispatch.h"

#include <algorithm>

namespace gfxsim {
namespace {

constexpr uint32_t kPoison = 0xdeadbeef;  // what a register holds that nothing has written
// Stack of a lane where the compiler could not bound it.
constexpr uint32_t kDynamicStackBytes = 16 * 1024;

// hsa_kernel_dispatch_packet_t (HSA runtime specification): 64 bytes.
std::vector<uint32_t> make_dispatch_packet(const LaunchConfig& config) {
  constexpr size_t kDwords = 16;
  std::vector<uint32_t> packet(kDwords, 0);
  const auto& block = config.block;
  const auto set64 = [&packet](int dword, uint64_t value) {
    packet[dword] = static_cast<uint32_t>(value);
    packet[dword + 1] = static_cast<uint32_t>(value >> 32);
  };
  packet[0] = 3u << 16;  // three dimensions
  packet[1] = block[0] | block[1] << 16;
  packet[2] = block[2];
  for (int d = 0; d < 3; ++d) packet[3 + d] = config.grid[d] * block[d];
  packet[6] = config.kernel.scratch_bytes;
  packet[7] = config.kernel.lds_bytes + config.dynamic_lds;
  set64(8, config.kernel.descriptor_address);
  set64(10, reinterpret_cast<uint64_t>(config.kernarg.data()));
  return packet;
}

}  // namespace

Dispatch::Dispatch(const LaunchConfig& config, const Target& target)
    : config_(config), target_(target) {
  const auto& [gx, gy, gz] = config.grid;
  threads_ = config.block[0] * config.block[1] * config.block[2];
  const uint32_t wave_size = config.kernel.wave_size;
  num_waves_ = (threads_ + wave_size - 1) / wave_size;
  num_workgroups_ = uint64_t{gx} * gy * gz;
  scratch_bytes_ =
      config.kernel.scratch_bytes + (config.kernel.uses_dynamic_stack ? kDynamicStackBytes : 0);
  dispatch_packet_ = make_dispatch_packet(config);
  registered_packet_ = AddressSpace::get().register_host(dispatch_packet_.data(),
                                                         dispatch_packet_.size() * sizeof(uint32_t),
                                                         false, "dispatch packet");
}

uint64_t Dispatch::entry_offset() const {
  return config_.kernel.kernarg_preload_dwords > 0 ? kKernargPreloadSkipBytes : 0;
}

void Dispatch::begin_workgroup(uint64_t linear_id, Workgroup* workgroup) const {
  workgroup->linear_id = linear_id;
  const auto& grid = config_.grid;
  workgroup->id = {static_cast<uint32_t>(linear_id % grid[0]),
                   static_cast<uint32_t>(linear_id / grid[0] % grid[1]),
                   static_cast<uint32_t>(linear_id / grid[0] / grid[1])};
  // Workgroups go round robin over the XCDs.
  workgroup->xcc_id = static_cast<uint32_t>(linear_id % static_cast<uint64_t>(target_.num_xcds));
  workgroup->lds.init(config_.kernel.lds_bytes + config_.dynamic_lds, num_waves_);
  workgroup->scratch_bytes = scratch_bytes_;
  const size_t scratch = size_t{scratch_bytes_} * kMaxLanes * num_waves_;
  workgroup->scratch.resize(scratch);
  workgroup->scratch_undef.assign(scratch, 0xff);
}

void Dispatch::begin_wave(Wave* w) const {
  const Kernel& kernel = config_.kernel;
  w->target = &target_;
  w->num_lanes = static_cast<int>(kernel.wave_size);
  w->mode = kernel.float_mode | (kernel.dx10_clamp ? kModeDx10Clamp : 0) |
            (kernel.ieee_mode ? kModeIeee : 0);

  const bool split = target_.unified_agprs && kernel.accum_offset > 0;
  const uint32_t vgprs = split ? kernel.accum_offset : kernel.allocated_vgprs;
  w->owned_vgprs = static_cast<uint16_t>(std::min<uint32_t>(vgprs, kAgprBase));
  w->owned_agprs = static_cast<uint16_t>(split ? kernel.allocated_vgprs - kernel.accum_offset : 0);
  std::fill(std::begin(w->undef_any), std::end(w->undef_any), ~uint64_t{0});
  std::fill(std::begin(w->s_undef), std::end(w->s_undef), ~uint32_t{0});
  std::fill(std::begin(w->s), std::end(w->s), kPoison);
  const auto fill_rows = [w](int first, int count) {
    std::fill_n(&w->v[first][0], size_t(count) * kMaxLanes, kPoison);
    std::fill_n(&w->v_undef[first][0], size_t(count) * kMaxLanes, ~uint32_t{0});
  };
  fill_rows(0, w->owned_vgprs);
  fill_rows(kAgprBase, w->owned_agprs);
  // Registers outside the allocation look like loads that never land, so that a use is noticed.
  for (int reg = 0; reg < kNumVectorRegs; ++reg)
    if (!w->owns(reg)) w->pending[reg >> 6] |= uint64_t{1} << (reg & 63);

  const uint32_t first_thread = w->id * kernel.wave_size;
  const uint32_t lanes = std::min(threads_ - first_thread, kernel.wave_size);
  const uint64_t exec = lanes == 64 ? ~uint64_t{0} : (uint64_t{1} << lanes) - 1;
  w->set_scalar(kExec, static_cast<uint32_t>(exec));
  w->set_scalar(kExec + 1, static_cast<uint32_t>(exec >> 32));
  w->set_scalar(kNull, 0);
  fill_user_sgprs(w);
  fill_system_sgprs(w);
  fill_workitem_ids(w);
}

void Dispatch::fill_user_sgprs(Wave* w) const {
  const auto set64 = [w](int first, uint64_t value) {
    w->set_scalar(first, static_cast<uint32_t>(value));
    w->set_scalar(first + 1, static_cast<uint32_t>(value >> 32));
  };
  const Kernel& kernel = config_.kernel;
  for (const UserSgprs& user : kernel.user_sgprs) {
    switch (user.kind) {
      case UserSgprs::DispatchPtr:
        set64(user.first, reinterpret_cast<uint64_t>(dispatch_packet_.data()));
        break;
      case UserSgprs::KernargSegmentPtr:
        set64(user.first, reinterpret_cast<uint64_t>(config_.kernarg.data()));
        break;
      case UserSgprs::DispatchId:
        set64(user.first, 0);
        break;
      case UserSgprs::PrivateSegmentSize:
        w->set_scalar(user.first, scratch_bytes_);
        break;
      case UserSgprs::KernargPreload:
        for (uint32_t i = 0; i < user.count; ++i) {
          const size_t at = (kernel.kernarg_preload_offset + i) * sizeof(uint32_t);
          uint32_t value = 0;
          if (at + sizeof value <= config_.kernarg.size())
            std::memcpy(&value, config_.kernarg.data() + at, sizeof value);
          w->set_scalar(static_cast<int>(user.first + i), value);
        }
        break;
      case UserSgprs::PrivateSegmentBuffer:
      case UserSgprs::QueuePtr:
      case UserSgprs::FlatScratchInit:
        // Scratch is addressed without a descriptor, and no queue exists: left undefined, so that
        // a kernel that relies on them is stopped.
        break;
    }
  }
}

void Dispatch::fill_system_sgprs(Wave* w) const {
  const Kernel& kernel = config_.kernel;
  int next = static_cast<int>(kernel.num_user_sgprs);
  const auto& id = w->workgroup->id;
  if (kernel.workgroup_id_x) w->set_scalar(next++, id[0]);
  if (kernel.workgroup_id_y) w->set_scalar(next++, id[1]);
  if (kernel.workgroup_id_z) w->set_scalar(next++, id[2]);
  if (kernel.workgroup_info) w->set_scalar(next++, 0);
  if (kernel.private_segment) {
    // Offsets into scratch memory are relative to the lane's own.
    w->set_scalar(kFlatScratch, 0);
    w->set_scalar(kFlatScratch + 1, 0);
  }
}

void Dispatch::fill_workitem_ids(Wave* w) const {
  constexpr int kIdBits = 10;
  const auto& block = config_.block;
  const int dims = config_.kernel.workitem_id_dims;
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    const uint32_t thread = w->id * config_.kernel.wave_size + static_cast<uint32_t>(lane);
    const uint32_t ids[3] = {thread % block[0], thread / block[0] % block[1],
                             thread / block[0] / block[1]};
    if (!target_.packed_workitem_id) {
      for (int d = 0; d < dims; ++d) w->v[d][lane] = ids[d];
      continue;
    }
    // Ids that the kernel does not ask for stay 0: the compiler relies on it.
    uint32_t packed = 0;
    for (int d = 0; d < dims; ++d) packed |= ids[d] << (d * kIdBits);
    w->v[0][lane] = packed;
  }
  const int rows = target_.packed_workitem_id ? 1 : dims;
  for (int d = 0; d < rows; ++d) w->set_maybe_undef(d, false);
}

}  // namespace gfxsim
