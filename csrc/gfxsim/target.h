// What differs between GPUs, as data: wave size, limits, which counter holds which memory
// operation, LDS banks.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace gfxsim {

// Kinds of memory operations, as the wait counters tell them apart.
enum class MemEvent : uint8_t {
  VmemLoad,
  VmemStore,
  VmemAtomicReturn,
  VmemAtomic,
  LdsDma,  // memory to LDS
  FlatLoad,
  FlatStore,
  Lds,
  Smem,
  Message,
};
constexpr int kNumMemEvents = static_cast<int>(MemEvent::Message) + 1;

// The wait counters. Before gfx12, Load is "vmcnt" and Lds is "lgkmcnt"; Store is "vscnt" on gfx10
// and gfx11, and does not exist before.
enum class Counter : uint8_t { Load, Store, Lds, Scalar, Export };
constexpr int kNumCounters = static_cast<int>(Counter::Export) + 1;

struct CounterName {
  std::string_view name;  // as s_waitcnt prints it
  Counter counter;
};

struct Target {
  std::string_view name;  // "gfx950"
  int wave_size = 64;
  int num_cus = 256;
  int num_xcds = 8;
  int simds_per_cu = 4;
  int max_waves_per_simd = 8;
  int vgprs_per_simd = 512;  // per lane, AGPRs included
  int vgpr_granule = 8;
  int sgprs_per_simd = 800;
  int sgpr_granule = 16;
  uint32_t lds_bytes = 160 * 1024;  // a CU, and the most a workgroup may have
  uint32_t lds_granule = 1280;
  int lds_banks = 64;
  bool unified_agprs = true;       // VGPRs and AGPRs share one allocation (accum_offset)
  bool packed_workitem_id = true;  // v0 holds x, y and z in 10 bits each
  int clock_mhz = 2400;
  uint32_t cache_line_bytes = 128;
  std::array<uint8_t, kNumMemEvents> counters{};  // bit per Counter that an event increments
  std::array<CounterName, 8> counter_names{};     // empty name ends the list
  // Hazards that the hardware does not interlock: wait states (instructions, or s_nop counts) that
  // must lie between an operation and the first that reads its result. The compiler keeps them,
  // except inside and around inline assembly. (LLVM, GCNHazardRecognizer: MAI VALU hazards of
  // gfx940, transcendental forwarding.)
  int matrix_result_states = 2;           // beyond the passes of an f32 or f64 matrix operation
  int matrix_result_states_xdl = 3;       // ... of any other
  int matrix_result_states_xdl_long = 4;  // ... of any other with more than two passes
  int transcendental_result_states = 1;   // before another vector operation that is none
  // Apertures of the flat address space.
  uint64_t shared_aperture = uint64_t{0x00010000} << 32;
  uint64_t private_aperture = uint64_t{0x00020000} << 32;
};

// Null when the simulator does not know the target.
const Target* find_target(std::string_view name);

}  // namespace gfxsim
