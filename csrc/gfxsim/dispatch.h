// What the hardware's dispatcher does: cuts a launch into workgroups and waves and sets up their
// registers, LDS and scratch memory.
#pragma once

#include <cstdint>
#include <vector>

#include "gfxsim/address_space.h"
#include "gfxsim/executor.h"
#include "gfxsim/workgroup.h"

namespace gfxsim {

class Dispatch {
 public:
  // The configuration must be one that refuse_launch() accepts.
  Dispatch(const LaunchConfig& config, const Target& target);

  uint64_t num_workgroups() const { return num_workgroups_; }
  uint32_t num_waves() const { return num_waves_; }  // in a workgroup
  // Bytes to add to the kernel's entry: kernels with preloaded arguments skip their own loads.
  uint64_t entry_offset() const;

  void begin_workgroup(uint64_t linear_id, Workgroup* workgroup) const;
  // Sets up the registers of wave `w->id` of `w->workgroup`.
  void begin_wave(Wave* w) const;

 private:
  void fill_user_sgprs(Wave* w) const;
  void fill_system_sgprs(Wave* w) const;
  void fill_workitem_ids(Wave* w) const;

  const LaunchConfig& config_;
  const Target& target_;
  uint32_t threads_ = 0;  // in a workgroup
  uint32_t num_waves_ = 0;
  uint64_t num_workgroups_ = 0;
  uint32_t scratch_bytes_ = 0;
  std::vector<uint32_t> dispatch_packet_;
  RegisteredRange registered_packet_;
};

}  // namespace gfxsim
