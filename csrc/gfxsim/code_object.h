// An AMDHSA code object (ELF) loaded into memory: its kernels, their descriptors and arguments, its
// symbols and its machine code.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gfxsim {

struct Program;

// One entry of a kernel's ".args": where an argument lies in the kernarg segment.
struct KernelArg {
  enum Kind : uint8_t { Value, GlobalPointer, DynamicLds, Hidden };
  std::string name;        // as in the source, may be empty
  std::string value_kind;  // as in the metadata: "by_value", "global_buffer", "hidden_group_size_x"
  uint32_t offset = 0;     // bytes
  uint32_t size = 0;       // bytes
  Kind kind = Value;
  bool is_const = false;  // a pointer to const data
};

// A block of user SGPRs that the hardware fills before the kernel starts, in register order.
struct UserSgprs {
  enum Kind : uint8_t {
    PrivateSegmentBuffer,
    DispatchPtr,
    QueuePtr,
    KernargSegmentPtr,
    DispatchId,
    FlatScratchInit,
    PrivateSegmentSize,
    KernargPreload,
  };
  Kind kind;
  uint8_t first;  // SGPR
  uint8_t count;
};

struct Kernel {
  std::string name;
  // --- from the kernel descriptor ---
  uint64_t descriptor_address = 0;  // in memory; what a host-side kernel handle points to
  uint64_t entry = 0;               // address of the first instruction
  uint64_t code_bytes = 0;          // size of the function symbol
  uint32_t lds_bytes = 0;           // group_segment_fixed_size
  uint32_t scratch_bytes = 0;       // private_segment_fixed_size, for each lane
  uint32_t kernarg_size = 0;        // bytes, hidden arguments included
  uint32_t allocated_vgprs = 0;     // registers a wave owns, AGPRs included, rounded to the granule
  uint32_t accum_offset = 0;        // first register of the allocation that is an AGPR; 0: no AGPRs
  uint32_t allocated_sgprs = 0;
  uint8_t float_mode = 0;  // MODE bits 7..0: rounding and denormals
  bool dx10_clamp = false;
  bool ieee_mode = false;
  bool fp16_overflow = false;
  bool wgp_mode = false;  // gfx10 and later
  std::vector<UserSgprs> user_sgprs;
  uint32_t num_user_sgprs = 0;  // system SGPRs follow
  bool workgroup_id_x = false, workgroup_id_y = false, workgroup_id_z = false;
  bool workgroup_info = false;
  bool private_segment = false;  // a scratch wave offset / flat scratch is set up
  uint8_t workitem_id_dims = 1;  // 1: x, 2: x and y, 3: x, y and z
  bool wave32 = false;
  bool uses_dynamic_stack = false;
  uint32_t kernarg_preload_dwords = 0;
  uint32_t kernarg_preload_offset = 0;  // dwords into the kernarg segment
  // --- from the metadata ---
  std::vector<KernelArg> args;
  uint32_t kernarg_align = 0;
  uint32_t max_flat_workgroup_size = 0;
  uint32_t required_workgroup_size[3] = {0, 0, 0};  // all 0: any
  uint32_t vgprs = 0;                               // used, AGPRs not included
  uint32_t agprs = 0;
  uint32_t sgprs = 0;
  uint32_t vgpr_spills = 0, sgpr_spills = 0;
  uint32_t wave_size = 64;
  bool uniform_workgroup_size = false;

  // Bytes of the arguments the caller passes: where the hidden ones begin.
  uint32_t explicit_arg_bytes() const;
  // Null when the kernel has no such (hidden) argument.
  const KernelArg* find_arg(std::string_view value_kind) const;
};

// With kernarg preload, hardware that has loaded the preloaded SGPRs skips the compiler's own loads
// at the entry and starts this many bytes later.
constexpr uint64_t kKernargPreloadSkipBytes = 256;

struct DataSymbol {
  uint64_t address = 0;
  uint64_t size = 0;  // bytes
};

// Immutable once loaded (apart from the bytes of its writable data segments).
class CodeObject {
 public:
  // Loads, relocates and registers the segments in the address space. Throws std::runtime_error
  // that says what is wrong with the file or which feature it needs.
  static std::shared_ptr<CodeObject> load(std::span<const uint8_t> elf);
  ~CodeObject();
  CodeObject(const CodeObject&) = delete;
  CodeObject& operator=(const CodeObject&) = delete;

  const std::string& target() const { return target_; }  // "gfx950"
  // The full target id, features included: "amdgcn-amd-amdhsa--gfx950:xnack-".
  const std::string& target_id() const { return target_id_; }
  int version() const { return version_; }  // code object version: 5 or 6
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const Kernel* find(std::string_view name) const;
  const DataSymbol* find_symbol(std::string_view name) const;  // a __device__ variable

  // The machine code (section .text) in memory, and its address in memory.
  std::span<const uint8_t> text() const { return text_; }
  uint64_t text_address() const { return reinterpret_cast<uint64_t>(text_.data()); }
  // Address in memory minus the ELF's virtual address: what debug information and symbol tables
  // call `v` lies at `v + load_bias()`.
  uint64_t load_bias() const { return load_bias_; }
  // The file as it was given, for tools that read its debug information.
  std::span<const uint8_t> elf() const { return elf_; }
  // The machine code, decoded at the first call (decode.h).
  const Program& program() const;

 private:
  CodeObject() = default;
  friend class CodeObjectLoader;

  std::vector<uint8_t> elf_;
  std::string target_, target_id_;
  int version_ = 0;
  std::vector<Kernel> kernels_;
  std::unordered_map<std::string, DataSymbol> symbols_;
  std::span<const uint8_t> text_;
  uint64_t load_bias_ = 0;
  void* mapping_ = nullptr;  // of all segments
  uint64_t mapping_bytes_ = 0;
  std::vector<uint64_t> segments_;  // bases in the address space
  mutable std::once_flag decode_once_;
  mutable std::shared_ptr<const Program> program_;
};

}  // namespace gfxsim
