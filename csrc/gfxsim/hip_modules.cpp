// Modules: code objects that the program loads itself.
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "gfxsim/fat_binary.h"
#include "gfxsim/hip_state.h"

using namespace gfxsim;
using namespace gfxsim::hip;

struct ihipModuleSymbol_t {
  LoadedKernel kernel;
};

struct ihipModule_t {
  std::shared_ptr<CodeObject> object;
  std::map<std::string, hipFunction_t> functions;  // handed out so far
};

namespace {

Handles<ihipModule_t>& modules() {
  static auto* handles = new Handles<ihipModule_t>;
  return *handles;
}

Handles<ihipModuleSymbol_t>& functions() {
  static auto* handles = new Handles<ihipModuleSymbol_t>;
  return *handles;
}

std::mutex& module_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

const LoadedKernel& checked(hipFunction_t function) {
  return functions().check(function, "the function")->kernel;
}

// The one buffer of arguments that `extra` names.
std::span<const uint8_t> packed_args(void** extra) {
  const uint8_t* buffer = nullptr;
  size_t bytes = 0;
  for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = static_cast<const uint8_t*>(extra[1]);
    else if (extra[0] == HIP_LAUNCH_PARAM_BUFFER_SIZE)
      std::memcpy(&bytes, extra[1], sizeof bytes);
    else
      throw Error{hipErrorInvalidValue, "extra: an unknown entry"};
  }
  require(buffer != nullptr || bytes == 0, hipErrorInvalidValue, "extra: no buffer");
  return {buffer, bytes};
}

}  // namespace

extern "C" {

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return call([&] {
    require(module != nullptr && image != nullptr, hipErrorInvalidValue, "module or image is null");
    uint64_t bytes = 0;
    try {
      bytes = code_image_bytes(image);
    } catch (const std::runtime_error& e) {
      throw Error{hipErrorInvalidImage, e.what()};
    }
    *module = modules().create({load_image({static_cast<const uint8_t*>(image), bytes}), {}});
  });
}

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  return call([&] {
    require(module != nullptr && path != nullptr, hipErrorInvalidValue, "module or path is null");
    std::ifstream file(path, std::ios::binary);
    require(file.good(), hipErrorFileNotFound, path);
    const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    *module = modules().create(
        {load_image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}), {}});
  });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return synchronising_call([&] {
    std::lock_guard lock(module_mutex());
    for (const auto& [name, function] : modules().check(module, "the module")->functions)
      functions().destroy(function, "the function");
    modules().destroy(module, "the module");
  });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return call([&] {
    require(function != nullptr && name != nullptr, hipErrorInvalidValue,
            "function or name is null");
    std::lock_guard lock(module_mutex());
    ihipModule_t* const m = modules().check(module, "the module");
    const Kernel* kernel = m->object->find(name);
    require(kernel != nullptr, hipErrorNotFound, name);
    hipFunction_t& handle = m->functions[name];
    if (handle == nullptr) handle = functions().create({{m->object, kernel}});
    *function = handle;
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* ptr, size_t* bytes, hipModule_t module,
                              const char* name) {
  return call([&] {
    require(name != nullptr, hipErrorInvalidValue, "name is null");
    const DataSymbol* symbol = modules().check(module, "the module")->object->find_symbol(name);
    require(symbol != nullptr, hipErrorNotFound, name);
    if (ptr != nullptr) *ptr = reinterpret_cast<void*>(symbol->address);
    if (bytes != nullptr) *bytes = symbol->size;
  });
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                 unsigned grid_z, unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned dynamic_lds, hipStream_t stream,
                                 void** args, void** extra) {
  return call([&] {
    const LoadedKernel& kernel = checked(function);
    const LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_lds};
    require(args == nullptr || extra == nullptr, hipErrorInvalidValue,
            "both args and extra are given");
    if (extra == nullptr) return launch(kernel, shape, gather_args(*kernel.kernel, args), stream);
    const std::span<const uint8_t> packed = packed_args(extra);
    require(packed.size() >= kernel.kernel->explicit_arg_bytes(), hipErrorInvalidValue,
            "extra: the buffer is smaller than the kernel's arguments");
    launch(kernel, shape, packed, stream);
  });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                              int block_size, size_t dynamic_lds) {
  return call([&] {
    require(blocks != nullptr, hipErrorInvalidValue, "blocks is null");
    *blocks = workgroups_per_cu(*checked(function).kernel, block_size, dynamic_lds);
  });
}

}  // extern "C"
