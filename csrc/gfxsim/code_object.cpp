#include "gfxsim/code_object.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "gfxsim/address_space.h"
#include "gfxsim/msgpack.h"
#include "gfxsim/text.h"

namespace gfxsim {
namespace {

// --- AMDGPU ELF constants ---
constexpr uint8_t kOsAbiAmdHsa = 64;
constexpr int kAbiVersionOfV5 = 3;  // e_ident[EI_ABIVERSION]; v6 has 4
constexpr int kAbiVersionOfV6 = 4;
constexpr uint32_t kMachMask = 0xff;    // of e_flags
constexpr uint32_t kNoteMetadata = 32;  // NT_AMDGPU_METADATA
enum Relocation : uint32_t {
  kAbs32Lo = 1,
  kAbs32Hi = 2,
  kAbs64 = 3,
  kRel32 = 4,
  kRel64 = 5,
  kAbs32 = 6,
  kRel32Lo = 10,
  kRel32Hi = 11,
  kRelative64 = 13,
};

struct Mach {
  uint32_t flags;  // EF_AMDGPU_MACH_*
  std::string_view target;
};
constexpr Mach kMachs[] = {
    {0x3f, "gfx90a"},  {0x41, "gfx1100"}, {0x46, "gfx1101"}, {0x47, "gfx1102"},
    {0x48, "gfx1200"}, {0x4c, "gfx942"},  {0x4e, "gfx1201"}, {0x4f, "gfx950"},
};

constexpr uint64_t kPage = 4096;

[[noreturn]] void bad(const std::string& what) {
  throw std::runtime_error("code object: " + printable(what));
}

// --- the kernel descriptor, 64 bytes ---
struct Descriptor {
  uint32_t group_segment_fixed_size;
  uint32_t private_segment_fixed_size;
  uint32_t kernarg_size;
  uint32_t reserved0;
  int64_t entry_offset;  // from the descriptor
  uint8_t reserved1[20];
  uint32_t rsrc3;
  uint32_t rsrc1;
  uint32_t rsrc2;
  uint16_t properties;
  uint16_t kernarg_preload;  // bits 6..0 length, 15..7 offset, in dwords
  uint32_t reserved2;
};
static_assert(sizeof(Descriptor) == 64);

uint32_t bits(uint32_t value, int low, int count) { return (value >> low) & ((1u << count) - 1); }

// What the descriptor says about the registers, by family.
void decode_registers(Kernel& k, const Descriptor& d, bool gfx9) {
  const uint32_t vgpr_blocks = bits(d.rsrc1, 0, 6) + 1;
  const uint32_t sgpr_blocks = bits(d.rsrc1, 6, 4);
  if (gfx9) {  // gfx90a and later
    k.allocated_vgprs = vgpr_blocks * 8;
    k.accum_offset = (bits(d.rsrc3, 0, 6) + 1) * 4;
    if (k.accum_offset >= k.allocated_vgprs) k.accum_offset = 0;
    k.allocated_sgprs = (sgpr_blocks / 2 + 1) * 16;
  } else {
    k.allocated_vgprs = vgpr_blocks * (k.wave32 ? 8 : 4);
    k.allocated_sgprs = 128;  // every wave has them all
  }
}

void decode_user_sgprs(Kernel& k, const Descriptor& d) {
  struct Block {
    int property_bit;
    UserSgprs::Kind kind;
    uint8_t count;
  };
  static constexpr Block kBlocks[] = {
      {0, UserSgprs::PrivateSegmentBuffer, 4},
      {1, UserSgprs::DispatchPtr, 2},
      {2, UserSgprs::QueuePtr, 2},
      {3, UserSgprs::KernargSegmentPtr, 2},
      {4, UserSgprs::DispatchId, 2},
      {5, UserSgprs::FlatScratchInit, 2},
      {6, UserSgprs::PrivateSegmentSize, 1},
  };
  uint8_t next = 0;
  for (const Block& block : kBlocks) {
    if (!bits(d.properties, block.property_bit, 1)) continue;
    k.user_sgprs.push_back({block.kind, next, block.count});
    next += block.count;
  }
  k.kernarg_preload_dwords = bits(d.kernarg_preload, 0, 7);
  k.kernarg_preload_offset = bits(d.kernarg_preload, 7, 9);
  if (k.kernarg_preload_dwords != 0)
    k.user_sgprs.push_back(
        {UserSgprs::KernargPreload, next, static_cast<uint8_t>(k.kernarg_preload_dwords)});
  k.num_user_sgprs = bits(d.rsrc2, 1, 5);
}

void decode_descriptor(Kernel& k, const Descriptor& d, bool gfx9) {
  k.entry = k.descriptor_address + d.entry_offset;
  k.lds_bytes = d.group_segment_fixed_size;
  k.scratch_bytes = d.private_segment_fixed_size;
  k.kernarg_size = d.kernarg_size;
  k.float_mode = static_cast<uint8_t>(bits(d.rsrc1, 12, 8));
  k.dx10_clamp = bits(d.rsrc1, 21, 1);
  k.ieee_mode = bits(d.rsrc1, 23, 1);
  k.fp16_overflow = bits(d.rsrc1, 26, 1);
  k.wgp_mode = !gfx9 && bits(d.rsrc1, 29, 1);
  k.private_segment = bits(d.rsrc2, 0, 1);
  k.workgroup_id_x = bits(d.rsrc2, 7, 1);
  k.workgroup_id_y = bits(d.rsrc2, 8, 1);
  k.workgroup_id_z = bits(d.rsrc2, 9, 1);
  k.workgroup_info = bits(d.rsrc2, 10, 1);
  k.workitem_id_dims = static_cast<uint8_t>(bits(d.rsrc2, 11, 2) + 1);
  k.wave32 = bits(d.properties, 10, 1);
  k.uses_dynamic_stack = bits(d.properties, 11, 1);
  decode_registers(k, d, gfx9);
  decode_user_sgprs(k, d);
}

KernelArg read_arg(const MsgPack& m) {
  KernelArg arg;
  arg.name = m[".name"].as_string();
  arg.value_kind = m[".value_kind"].as_string();
  arg.offset = static_cast<uint32_t>(m[".offset"].as_int());
  arg.size = static_cast<uint32_t>(m[".size"].as_int());
  arg.is_const = m[".is_const"].as_int() != 0 || m[".actual_access"].as_string() == "read_only";
  if (arg.value_kind.starts_with("hidden_"))
    arg.kind = KernelArg::Hidden;
  else if (arg.value_kind == "global_buffer")
    arg.kind = KernelArg::GlobalPointer;
  else if (arg.value_kind == "dynamic_shared_pointer")
    arg.kind = KernelArg::DynamicLds;
  else if (arg.value_kind != "by_value")
    bad(concat("argument kind '", arg.value_kind, "' (images, samplers, pipes) is not supported"));
  return arg;
}

void read_metadata(Kernel& k, const MsgPack& m) {
  const auto number = [&m](const char* key, int64_t otherwise = 0) {
    return static_cast<uint32_t>(m[key].as_int(otherwise));
  };
  for (const MsgPack& arg : m[".args"].items) k.args.push_back(read_arg(arg));
  k.kernarg_align = number(".kernarg_segment_align");
  k.max_flat_workgroup_size = number(".max_flat_workgroup_size", 1024);
  const auto& required = m[".reqd_workgroup_size"].items;
  for (size_t i = 0; i < required.size() && i < 3; ++i)
    k.required_workgroup_size[i] = static_cast<uint32_t>(required[i].as_int());
  k.agprs = number(".agpr_count");
  k.vgprs = number(".vgpr_count") - k.agprs;  // the metadata counts both
  k.sgprs = number(".sgpr_count");
  k.vgpr_spills = number(".vgpr_spill_count");
  k.sgpr_spills = number(".sgpr_spill_count");
  k.wave_size = number(".wavefront_size", 64);
  k.uniform_workgroup_size = m[".uniform_work_group_size"].as_int() != 0;
}

}  // namespace

// Loads one file; every step reads what the earlier ones left in `object_`.
class CodeObjectLoader {
 public:
  explicit CodeObjectLoader(std::span<const uint8_t> elf) : object_(new CodeObject) {
    object_->elf_.assign(elf.begin(), elf.end());
  }

  std::shared_ptr<CodeObject> load() {
    check_header();
    map_segments();
    read_symbols();
    relocate();
    read_notes();
    read_kernels();
    register_segments();
    return object_;
  }

 private:
  // A table of structs in the file, checked to lie inside it.
  template <typename T>
  std::span<const T> table(uint64_t offset, uint64_t count) const {
    const uint64_t size = object_->elf_.size();
    if (offset > size || count > (size - offset) / sizeof(T) || offset % alignof(T) != 0)
      bad("the file is truncated or its headers are damaged");
    return {reinterpret_cast<const T*>(object_->elf_.data() + offset), count};
  }

  void check_header() {
    const Elf64_Ehdr& h = table<Elf64_Ehdr>(0, 1)[0];
    header_ = &h;
    if (std::memcmp(h.e_ident, ELFMAG, SELFMAG) != 0) bad("not an ELF file");
    if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_AMDGPU)
      bad("not a 64-bit AMDGPU ELF file");
    if (h.e_ident[EI_OSABI] != kOsAbiAmdHsa)
      bad("not for the HSA operating system ABI (amdgcn-amd-amdhsa)");
    if (h.e_type != ET_DYN) bad("not linked (a relocatable object); link it with lld first");
    const int abi = h.e_ident[EI_ABIVERSION];
    if (abi != kAbiVersionOfV5 && abi != kAbiVersionOfV6)
      bad(concat("code object version ", abi + 2,
                 "; versions 5 and 6 are supported (compile with -mcode-object-version=5)"));
    object_->version_ = abi + 2;
    segments_ = table<Elf64_Phdr>(h.e_phoff, h.e_phnum);
    sections_ = table<Elf64_Shdr>(h.e_shoff, h.e_shnum);
  }

  void map_segments() {
    uint64_t end = 0;
    for (const Elf64_Phdr& p : segments_)
      if (p.p_type == PT_LOAD) end = std::max(end, p.p_vaddr + p.p_memsz);
    if (end == 0 || end > (uint64_t{1} << 40)) bad("no loadable segments");
    object_->mapping_bytes_ = (end + kPage - 1) / kPage * kPage;
    void* const p = mmap(nullptr, object_->mapping_bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) bad("the host has no memory for its segments");
    object_->mapping_ = p;
    object_->load_bias_ = reinterpret_cast<uint64_t>(p);
    for (const Elf64_Phdr& s : segments_) {
      if (s.p_type != PT_LOAD) continue;
      const auto bytes = table<uint8_t>(s.p_offset, s.p_filesz);
      std::memcpy(at(s.p_vaddr, s.p_filesz), bytes.data(), bytes.size());
      if (s.p_flags & PF_X) object_->text_ = {at(s.p_vaddr, s.p_memsz), s.p_memsz};
    }
  }

  // The loaded bytes of a range of virtual addresses.
  uint8_t* at(uint64_t vaddr, uint64_t bytes) const {
    if (vaddr > object_->mapping_bytes_ || bytes > object_->mapping_bytes_ - vaddr)
      bad("a table refers to an address outside of all segments");
    return static_cast<uint8_t*>(object_->mapping_) + vaddr;
  }

  std::span<const Elf64_Sym> symbol_table(const Elf64_Shdr& s) const {
    return table<Elf64_Sym>(s.sh_offset, s.sh_size / sizeof(Elf64_Sym));
  }

  std::string symbol_name(const Elf64_Shdr& symbols, const Elf64_Sym& symbol) const {
    if (symbols.sh_link >= sections_.size()) bad("a symbol table has no names");
    const Elf64_Shdr& strings = sections_[symbols.sh_link];
    const auto bytes = table<char>(strings.sh_offset, strings.sh_size);
    if (symbol.st_name >= bytes.size()) bad("a symbol's name is out of range");
    const char* const start = bytes.data() + symbol.st_name;
    return std::string(start, strnlen(start, bytes.size() - symbol.st_name));
  }

  void read_symbols() {
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_DYNSYM && s.sh_type != SHT_SYMTAB) continue;
      for (const Elf64_Sym& symbol : symbol_table(s)) {
        const int type = ELF64_ST_TYPE(symbol.st_info);
        if (symbol.st_shndx == SHN_UNDEF || (type != STT_OBJECT && type != STT_FUNC)) continue;
        const DataSymbol loaded{object_->load_bias_ + symbol.st_value, symbol.st_size};
        (type == STT_FUNC ? functions_ : object_->symbols_).emplace(symbol_name(s, symbol), loaded);
      }
    }
  }

  void relocate() {
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_RELA || !(s.sh_flags & SHF_ALLOC)) continue;
      if (s.sh_link >= sections_.size()) bad("a relocation section has no symbols");
      for (const Elf64_Rela& r : table<Elf64_Rela>(s.sh_offset, s.sh_size / sizeof(Elf64_Rela)))
        apply(r, sections_[s.sh_link]);
    }
  }

  void apply(const Elf64_Rela& r, const Elf64_Shdr& symbols) {
    const uint32_t type = ELF64_R_TYPE(r.r_info);
    const uint64_t place = object_->load_bias_ + r.r_offset;
    const uint64_t value = type == kRelative64
                               ? object_->load_bias_ + r.r_addend
                               : symbol_value(symbols, ELF64_R_SYM(r.r_info)) + r.r_addend;
    const auto write = [&](uint64_t v, int bytes) {
      std::memcpy(at(r.r_offset, bytes), &v, bytes);
    };
    switch (type) {
      case kRelative64:
      case kAbs64:
        return write(value, 8);
      case kAbs32:
      case kAbs32Lo:
        return write(value, 4);
      case kAbs32Hi:
        return write(value >> 32, 4);
      case kRel32:
      case kRel32Lo:
        return write(value - place, 4);
      case kRel32Hi:
        return write((value - place) >> 32, 4);
      case kRel64:
        return write(value - place, 8);
      default:
        bad(concat("relocation type ", type, " is not supported"));
    }
  }

  uint64_t symbol_value(const Elf64_Shdr& symbols, uint64_t index) const {
    const auto all = symbol_table(symbols);
    if (index >= all.size()) bad("a relocation's symbol is out of range");
    const Elf64_Sym& symbol = all[index];
    if (symbol.st_shndx != SHN_UNDEF) return object_->load_bias_ + symbol.st_value;
    if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK) return 0;
    bad(concat("symbol '", symbol_name(symbols, symbol), "' is undefined"));
  }

  void read_notes() {
    for (const Elf64_Phdr& p : segments_) {
      if (p.p_type != PT_NOTE) continue;
      auto bytes = table<uint8_t>(p.p_offset, p.p_filesz);
      while (bytes.size() >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        std::memcpy(&note, bytes.data(), sizeof note);
        const auto padded = [](uint64_t size) { return (size + 3) / 4 * 4; };
        const uint64_t name = sizeof note, desc = name + padded(note.n_namesz);
        if (desc + note.n_descsz > bytes.size()) bad("a note is truncated");
        if (note.n_type == kNoteMetadata && note.n_namesz == sizeof "AMDGPU" &&
            std::memcmp(bytes.data() + name, "AMDGPU", sizeof "AMDGPU") == 0)
          metadata_ = MsgPack::parse(bytes.subspan(desc, note.n_descsz));
        bytes = bytes.subspan(std::min<uint64_t>(desc + padded(note.n_descsz), bytes.size()));
      }
    }
    if (metadata_.type != MsgPack::Map) bad("no AMDGPU metadata note");
    object_->target_id_ = metadata_["amdhsa.target"].as_string();
    set_target();
  }

  void set_target() {
    // "amdgcn-amd-amdhsa--gfx950:sramecc+:xnack-"
    const std::string& id = object_->target_id_;
    const size_t dashes = id.rfind("--");
    if (dashes == std::string::npos) bad(concat("target id '", id, "' in the metadata"));
    const std::string target = id.substr(dashes + 2, id.find(':') - (dashes + 2));
    const uint32_t mach = header_->e_flags & kMachMask;
    for (const Mach& m : kMachs)
      if (m.flags == mach && m.target != target)
        bad(concat("the ELF header says ", m.target, " and the metadata ", target));
    object_->target_ = target;
  }

  void read_kernels() {
    const bool gfx9 = object_->target_.starts_with("gfx9");
    for (const MsgPack& m : metadata_["amdhsa.kernels"].items) {
      Kernel k;
      k.name = m[".name"].as_string();
      const std::string symbol = m[".symbol"].as_string(k.name + ".kd");
      const auto descriptor = object_->symbols_.find(symbol);
      if (descriptor == object_->symbols_.end())
        bad(concat("kernel '", k.name, "' has no descriptor symbol '", symbol, "'"));
      k.descriptor_address = descriptor->second.address;
      Descriptor d;
      std::memcpy(&d, at(k.descriptor_address - object_->load_bias_, sizeof d), sizeof d);
      decode_descriptor(k, d, gfx9);
      read_metadata(k, m);
      const auto function = functions_.find(k.name);
      if (function != functions_.end()) k.code_bytes = function->second.size;
      object_->kernels_.push_back(std::move(k));
    }
  }

  void register_segments() {
    uint64_t relro_begin = 0, relro_end = 0;  // read-only once relocated
    for (const Elf64_Phdr& p : segments_)
      if (p.p_type == PT_GNU_RELRO) relro_begin = p.p_vaddr, relro_end = p.p_vaddr + p.p_memsz;
    for (const Elf64_Phdr& p : segments_) {
      if (p.p_type != PT_LOAD || p.p_memsz == 0) continue;
      const bool relro = p.p_vaddr >= relro_begin && p.p_vaddr + p.p_memsz <= relro_end;
      const bool writable = (p.p_flags & PF_W) && !relro;
      const char* label = p.p_flags & PF_X ? "machine code" : writable ? "variables" : "constants";
      const uint64_t base = object_->load_bias_ + p.p_vaddr;
      AddressSpace::get().add_external(
          {base, p.p_memsz, Allocation::Code, writable, nullptr, label});
      object_->segments_.push_back(base);
    }
  }

  std::shared_ptr<CodeObject> object_;
  const Elf64_Ehdr* header_ = nullptr;
  std::span<const Elf64_Phdr> segments_;
  std::span<const Elf64_Shdr> sections_;
  std::unordered_map<std::string, DataSymbol> functions_;
  MsgPack metadata_;
};

uint32_t Kernel::explicit_arg_bytes() const {
  uint32_t end = 0;
  for (const KernelArg& arg : args)
    if (arg.kind != KernelArg::Hidden) end = std::max(end, arg.offset + arg.size);
  return end;
}

const KernelArg* Kernel::find_arg(std::string_view value_kind) const {
  for (const KernelArg& arg : args)
    if (arg.value_kind == value_kind) return &arg;
  return nullptr;
}

std::shared_ptr<CodeObject> CodeObject::load(std::span<const uint8_t> elf) {
  return CodeObjectLoader(elf).load();
}

CodeObject::~CodeObject() {
  for (uint64_t base : segments_) AddressSpace::get().remove_external(base);
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

const Kernel* CodeObject::find(std::string_view name) const {
  for (const Kernel& k : kernels_)
    if (k.name == name) return &k;
  return nullptr;
}

const DataSymbol* CodeObject::find_symbol(std::string_view name) const {
  const auto it = symbols_.find(std::string(name));
  return it == symbols_.end() ? nullptr : &it->second;
}

}  // namespace gfxsim
