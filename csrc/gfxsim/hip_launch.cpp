// Kernels by host pointer: what the compiler's start-up code registers, launches, attributes.
#include <cstdio>
#include <cstring>
#include <map>

#include "gfxsim/executor.h"
#include "gfxsim/fat_binary.h"
#include "gfxsim/hip_state.h"
#include "gfxsim/kernel_launch.h"
#include "gfxsim/text.h"

using namespace gfxsim;
using namespace gfxsim::hip;

namespace {

// What clang emits beside the host code of a translation unit.
struct FatBinaryWrapper {
  uint32_t magic;
  uint32_t version;
  const void* image;
  const void* unused;
};
constexpr uint32_t kWrapperMagic = 0x48495046;  // "HIPF"

// A translation unit's device code; loaded when first used, since start-up code cannot report
// errors.
struct FatBinary {
  const void* image;
  std::string managed_variable;  // not supported: the name of one
  std::shared_ptr<CodeObject> object;
};

struct Registered {
  FatBinary* binary;
  std::string name;  // in the code object
};

struct Registry {
  std::mutex mutex;
  std::map<const void*, Registered> functions, variables;  // by host pointer
};

Registry& registry() {
  static Registry* r = new Registry;
  return *r;
}

CodeObject& load(FatBinary& binary) {
  if (!binary.managed_variable.empty())
    throw Error{hipErrorNotSupported, concat("__managed__ variable '", binary.managed_variable,
                                             "': managed memory is not supported")};
  if (binary.object == nullptr) {
    const auto* bytes = static_cast<const uint8_t*>(binary.image);
    binary.object = load_image({bytes, code_image_bytes(bytes)});
  }
  return *binary.object;
}

// Between `kernel<<<...>>>` and the stub that launches it.
struct CallConfiguration {
  dim3 grid, block;
  size_t dynamic_lds;
  hipStream_t stream;
};
thread_local std::vector<CallConfiguration> call_configurations;

std::array<uint32_t, 3> sizes(dim3 d) { return {d.x, d.y, d.z}; }

LaunchShape make_shape(dim3 grid, dim3 block, size_t dynamic_lds) {
  require(dynamic_lds <= UINT32_MAX, hipErrorInvalidConfiguration, "dynamic_lds");
  return {sizes(grid), sizes(block), static_cast<uint32_t>(dynamic_lds)};
}

}  // namespace

namespace gfxsim::hip {

std::shared_ptr<CodeObject> load_image(std::span<const uint8_t> image) {
  std::span<const uint8_t> elf;
  try {
    elf = select_code_object(image, device_target().name);
  } catch (const std::runtime_error& e) {
    throw Error{hipErrorNoBinaryForGpu, e.what()};
  }
  try {
    std::shared_ptr<CodeObject> object = CodeObject::load(elf);
    if (object->target() == device_target().name) return object;
    throw Error{hipErrorNoBinaryForGpu,
                concat("code for ", object->target(), "; the device is a ", device_target().name)};
  } catch (const std::runtime_error& e) {
    throw Error{hipErrorInvalidImage, e.what()};
  }
}

LoadedKernel find_kernel(const void* host_function) {
  std::lock_guard lock(registry().mutex);
  const auto it = registry().functions.find(host_function);
  require(it != registry().functions.end(), hipErrorInvalidDeviceFunction,
          "no __global__ function has this address");
  const CodeObject& object = load(*it->second.binary);
  const Kernel* kernel = object.find(it->second.name);
  if (kernel == nullptr)
    throw Error{hipErrorInvalidDeviceFunction,
                concat("the code object has no kernel '", it->second.name, "'")};
  return {it->second.binary->object, kernel};
}

LoadedSymbol find_symbol(const void* host_variable) {
  std::lock_guard lock(registry().mutex);
  const auto it = registry().variables.find(host_variable);
  require(it != registry().variables.end(), hipErrorInvalidSymbol,
          "no __device__ or __constant__ variable has this address");
  const CodeObject& object = load(*it->second.binary);
  const DataSymbol* symbol = object.find_symbol(it->second.name);
  if (symbol == nullptr)
    throw Error{hipErrorInvalidSymbol,
                concat("the code object has no variable '", it->second.name, "'")};
  return {it->second.binary->object, *symbol};
}

void launch(const LoadedKernel& loaded, const LaunchShape& shape,
            std::span<const uint8_t> explicit_args, hipStream_t stream) {
  const std::string reason = refuse_launch(*loaded.kernel, device_target(), shape);
  if (!reason.empty()) throw Error{hipErrorInvalidConfiguration, reason};
  enqueue(stream, [&] { run_kernel(*loaded.object, *loaded.kernel, shape, explicit_args); });
}

std::vector<uint8_t> gather_args(const Kernel& kernel, void** args) {
  std::vector<uint8_t> bytes(kernel.explicit_arg_bytes());
  require(args != nullptr || bytes.empty(), hipErrorInvalidValue, "args is null");
  size_t i = 0;
  for (const KernelArg& arg : kernel.args)
    if (arg.kind != KernelArg::Hidden) std::memcpy(bytes.data() + arg.offset, args[i++], arg.size);
  return bytes;
}

int workgroups_per_cu(const Kernel& kernel, int block_size, size_t dynamic_lds) {
  const Target& t = device_target();
  require(block_size > 0 && block_size <= static_cast<int>(kMaxWorkgroupItems),
          hipErrorInvalidValue, "block_size");
  const uint64_t lds = kernel.lds_bytes + dynamic_lds;
  if (lds > t.lds_bytes) return 0;
  const int waves = (block_size + t.wave_size - 1) / t.wave_size;
  const int per_simd = occupancy_waves_per_simd(t, kernel, static_cast<uint32_t>(lds), waves);
  return per_simd * t.simds_per_cu / waves;
}

}  // namespace gfxsim::hip

extern "C" {

// --- called by code that clang generates ---

void** __hipRegisterFatBinary(const void* data) {
  const auto* wrapper = static_cast<const FatBinaryWrapper*>(data);
  const bool known = wrapper->magic == kWrapperMagic && wrapper->version == 1;
  if (!known) std::fprintf(stderr, "gfxsim: a fat binary of an unknown form was registered\n");
  return reinterpret_cast<void**>(new FatBinary{known ? wrapper->image : nullptr, {}, {}});
}

void __hipUnregisterFatBinary(void** handle) {
  auto* const binary = reinterpret_cast<FatBinary*>(handle);
  std::lock_guard lock(registry().mutex);
  const auto belongs = [binary](const auto& entry) { return entry.second.binary == binary; };
  std::erase_if(registry().functions, belongs);
  std::erase_if(registry().variables, belongs);
  delete binary;
}

void __hipRegisterFunction(void** handle, const void* host_function, char*, const char* device_name,
                           unsigned, void*, void*, dim3*, dim3*, int*) {
  std::lock_guard lock(registry().mutex);
  registry().functions[host_function] = {reinterpret_cast<FatBinary*>(handle), device_name};
}

void __hipRegisterVar(void** handle, void* host_variable, char*, char* device_name, int, size_t,
                      int, int) {
  std::lock_guard lock(registry().mutex);
  registry().variables[host_variable] = {reinterpret_cast<FatBinary*>(handle), device_name};
}

void __hipRegisterManagedVar(void** handle, void**, void*, const char* name, size_t, unsigned) {
  std::fprintf(stderr, "gfxsim: __managed__ variable '%s': managed memory is not supported\n",
               name);
  reinterpret_cast<FatBinary*>(handle)->managed_variable = name;
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_lds,
                                      hipStream_t stream) {
  call_configurations.push_back({grid, block, dynamic_lds, stream});
  return hipSuccess;
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* dynamic_lds,
                                     hipStream_t* stream) {
  return call([&] {
    require(!call_configurations.empty(), hipErrorMissingConfiguration, "");
    const CallConfiguration c = call_configurations.back();
    call_configurations.pop_back();
    *grid = c.grid;
    *block = c.block;
    *dynamic_lds = c.dynamic_lds;
    *stream = c.stream;
  });
}

// --- launches ---

hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                           size_t dynamic_lds, hipStream_t stream) {
  return call([&] {
    const LoadedKernel kernel = find_kernel(function);
    launch(kernel, make_shape(grid, block, dynamic_lds), gather_args(*kernel.kernel, args), stream);
  });
}

hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                              size_t dynamic_lds, hipStream_t stream, hipEvent_t start,
                              hipEvent_t stop, int) {
  const auto record = [stream](hipEvent_t event) {
    return event == nullptr ? hipSuccess : hipEventRecord(event, stream);
  };
  if (const hipError_t error = record(start); error != hipSuccess) return error;
  const hipError_t error = hipLaunchKernel(function, grid, block, args, dynamic_lds, stream);
  return error != hipSuccess ? error : record(stop);
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* function) {
  return call([&] {
    require(attributes != nullptr, hipErrorInvalidValue, "attributes is null");
    const LoadedKernel loaded = find_kernel(function);
    const Kernel& k = *loaded.kernel;
    hipFuncAttributes a = {};
    a.localSizeBytes = k.scratch_bytes;
    a.sharedSizeBytes = k.lds_bytes;
    a.maxDynamicSharedSizeBytes = static_cast<int>(device_target().lds_bytes - k.lds_bytes);
    a.maxThreadsPerBlock = static_cast<int>(k.max_flat_workgroup_size);
    a.numRegs = static_cast<int>(k.vgprs + k.agprs);
    *attributes = a;
  });
}

// Kernels may always use all of LDS: there is nothing to opt in to.
hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value) {
  return call([&] {
    const LoadedKernel loaded = find_kernel(function);
    require(attribute == hipFuncAttributeMaxDynamicSharedMemorySize ||
                attribute == hipFuncAttributePreferredSharedMemoryCarveout,
            hipErrorInvalidValue, "the attribute is not known");
    if (attribute != hipFuncAttributeMaxDynamicSharedMemorySize) return;
    const int most = static_cast<int>(device_target().lds_bytes - loaded.kernel->lds_bytes);
    require(value >= 0 && value <= most, hipErrorInvalidValue, "more LDS than the device has");
  });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                        int block_size, size_t dynamic_lds) {
  return call([&] {
    require(blocks != nullptr, hipErrorInvalidValue, "blocks is null");
    *blocks = workgroups_per_cu(*find_kernel(function).kernel, block_size, dynamic_lds);
  });
}

}  // extern "C"
