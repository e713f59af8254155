#include "gfxsim/disassembler.h"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

namespace gfxsim {
namespace {

// libLLVM is loaded at run time and privately: other LLVMs may live in the process (in Python
// packages), and the few functions of the C API that are needed have been stable for years.
class LibLlvm {
 public:
  static const LibLlvm& get() {
    static const LibLlvm library;
    return library;
  }

  void* (*create_disasm)(const char* triple, const char* cpu, void* info, int tag_type,
                         void* op_info, void* symbol_lookup) = nullptr;
  size_t (*disasm_instruction)(void* context, uint8_t* bytes, uint64_t size, uint64_t pc,
                               char* text, size_t text_size) = nullptr;
  void (*disasm_dispose)(void* context) = nullptr;
  void (*get_version)(unsigned* major, unsigned* minor, unsigned* patch) = nullptr;
  std::string path;

 private:
  LibLlvm() {
    void* handle = open();
    symbol(handle, "LLVMCreateDisasmCPU", create_disasm);
    symbol(handle, "LLVMDisasmInstruction", disasm_instruction);
    symbol(handle, "LLVMDisasmDispose", disasm_dispose);
    symbol(handle, "LLVMGetVersion", get_version);
    for (const char* name : {"LLVMInitializeAMDGPUTargetInfo", "LLVMInitializeAMDGPUTargetMC",
                             "LLVMInitializeAMDGPUDisassembler"}) {
      void (*initialize)() = nullptr;
      symbol(handle, name, initialize);
      initialize();
    }
  }

  void* open() {
    std::vector<std::string> candidates;
    if (const char* chosen = std::getenv("GFXSIM_LIBLLVM_PATH")) candidates.emplace_back(chosen);
#ifdef GFXSIM_LIBLLVM
    candidates.emplace_back(GFXSIM_LIBLLVM);
#endif
    for (const char* name : {"libLLVM.so.22.1", "libLLVM-22.so", "libLLVM.so.21.1", "libLLVM-21.so",
                             "libLLVM.so.20.1", "libLLVM-20.so"})
      candidates.emplace_back(name);
    for (const std::string& candidate : candidates) {
      if (void* handle = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)) {
        path = candidate;
        return handle;
      }
    }
    throw std::runtime_error(
        "gfxsim: libLLVM 20 or newer was not found; it comes with clang (Debian: libllvm22). Set "
        "GFXSIM_LIBLLVM_PATH to its file if it lies elsewhere.");
  }

  template <class Function>
  void symbol(void* handle, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (!function) throw std::runtime_error("gfxsim: " + path + " has no symbol " + name);
  }
};

std::string trimmed(const char* text) {
  std::string out(text);
  const size_t first = out.find_first_not_of(" \t");
  const size_t last = out.find_last_not_of(" \t\n");
  return first == std::string::npos ? std::string() : out.substr(first, last - first + 1);
}

}  // namespace

std::vector<DisassembledInstruction> disassemble(const std::string& target,
                                                 std::span<const uint8_t> text, uint64_t address) {
  constexpr uint32_t kSmallestInstruction = 4;
  constexpr size_t kTextBytes = 512;
  const LibLlvm& llvm = LibLlvm::get();
  void* context =
      llvm.create_disasm("amdgcn-amd-amdhsa", target.c_str(), nullptr, 0, nullptr, nullptr);
  if (!context)
    throw std::runtime_error("gfxsim: " + llvm.path + " does not disassemble for " + target);

  std::vector<DisassembledInstruction> out;
  std::vector<uint8_t> bytes(text.begin(), text.end());  // the C API takes a mutable pointer
  char buffer[kTextBytes];
  for (uint64_t at = 0; at + kSmallestInstruction <= bytes.size();) {
    DisassembledInstruction inst;
    inst.address = address + at;
    const size_t size = llvm.disasm_instruction(context, bytes.data() + at, bytes.size() - at,
                                                inst.address, buffer, sizeof buffer);
    inst.size = size ? static_cast<uint32_t>(size) : kSmallestInstruction;
    if (size) inst.text = trimmed(buffer);
    at += inst.size;
    out.push_back(std::move(inst));
  }
  llvm.disasm_dispose(context);
  return out;
}

std::string disassembler_description() {
  const LibLlvm& llvm = LibLlvm::get();
  unsigned major = 0, minor = 0, patch = 0;
  llvm.get_version(&major, &minor, &patch);
  return "LLVM " + std::to_string(major) + "." + std::to_string(minor) + "." +
         std::to_string(patch) + " (" + llvm.path + ")";
}

}  // namespace gfxsim
