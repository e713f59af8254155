// The device: one, as large as the target's biggest product.
#include <algorithm>
#include <climits>
#include <cstring>

#include "gfxsim/hip_state.h"
#include "gfxsim/kernel_launch.h"
#include "gfxsim/target.h"
#include "gfxsim/text.h"

using namespace gfxsim;
using namespace gfxsim::hip;

namespace {

constexpr int kMaxBlockDim = 1024;
constexpr int kWallClockKhz = 100'000;  // what s_memrealtime counts
constexpr int kMemoryClockKhz = 2'000'000;
constexpr int kMemoryBusBits = 8192;
constexpr int kL2BytesPerXcd = 4 << 20;

int registers_per_cu(const Target& t) { return t.vgprs_per_simd * t.wave_size * t.simds_per_cu; }
int threads_per_cu(const Target& t) { return t.max_waves_per_simd * t.simds_per_cu * t.wave_size; }

// "gfx950" is major 9, minor 5: the last two digits are minor and stepping.
int major_version(const Target& t) {
  return std::atoi(std::string(t.name.substr(3, t.name.size() - 5)).c_str());
}
int minor_version(const Target& t) { return t.name[t.name.size() - 2] - '0'; }

void check_device(int device) {
  require(device == 0, hipErrorInvalidDevice, "there is one device, number 0");
}

template <size_t N>
void copy_text(char (&to)[N], const std::string& from) {
  std::strncpy(to, from.c_str(), N - 1);
}

std::string device_name() { return concat("gfxsim ", device_target().name); }

hipDeviceProp_t properties() {
  const Target& t = device_target();
  hipDeviceProp_t p = {};
  copy_text(p.name, device_name());
  copy_text(p.gcnArchName, concat(t.name, ":sramecc+:xnack-"));
  p.totalGlobalMem = device_memory_bytes();
  p.totalConstMem = INT_MAX;
  p.sharedMemPerBlock = p.sharedMemPerBlockOptin = t.lds_bytes;
  p.sharedMemPerMultiprocessor = p.maxSharedMemoryPerMultiProcessor = t.lds_bytes;
  p.regsPerBlock = p.regsPerMultiprocessor = registers_per_cu(t);
  p.warpSize = t.wave_size;
  p.maxThreadsPerBlock = kMaxWorkgroupItems;
  p.maxThreadsPerMultiProcessor = threads_per_cu(t);
  p.maxBlocksPerMultiProcessor = threads_per_cu(t) / t.wave_size;
  std::fill_n(p.maxThreadsDim, 3, kMaxBlockDim);
  std::fill_n(p.maxGridSize, 3, INT_MAX);
  p.clockRate = t.clock_mhz * 1000;
  p.clockInstructionRate = kWallClockKhz;
  p.memoryClockRate = kMemoryClockKhz;
  p.memoryBusWidth = kMemoryBusBits;
  p.l2CacheSize = kL2BytesPerXcd;
  p.major = major_version(t);
  p.minor = minor_version(t);
  p.multiProcessorCount = t.num_cus;
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.ECCEnabled = 1;
  p.unifiedAddressing = 1;
  return p;
}

int attribute_value(hipDeviceAttribute_t attribute) {
  const hipDeviceProp_t p = properties();
  switch (attribute) {
    case hipDeviceAttributeEccEnabled:
      return p.ECCEnabled;
    case hipDeviceAttributeCanMapHostMemory:
      return p.canMapHostMemory;
    case hipDeviceAttributeClockRate:
      return p.clockRate;
    case hipDeviceAttributeConcurrentKernels:
      return p.concurrentKernels;
    case hipDeviceAttributeCooperativeLaunch:
      return p.cooperativeLaunch;
    case hipDeviceAttributeIntegrated:
      return p.integrated;
    case hipDeviceAttributeL2CacheSize:
      return p.l2CacheSize;
    case hipDeviceAttributeComputeCapabilityMajor:
      return p.major;
    case hipDeviceAttributeComputeCapabilityMinor:
      return p.minor;
    case hipDeviceAttributeManagedMemory:
      return p.managedMemory;
    case hipDeviceAttributeMaxBlockDimX:
    case hipDeviceAttributeMaxBlockDimY:
    case hipDeviceAttributeMaxBlockDimZ:
      return kMaxBlockDim;
    case hipDeviceAttributeMaxGridDimX:
    case hipDeviceAttributeMaxGridDimY:
    case hipDeviceAttributeMaxGridDimZ:
      return p.maxGridSize[0];
    case hipDeviceAttributeMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case hipDeviceAttributeMemoryBusWidth:
      return p.memoryBusWidth;
    case hipDeviceAttributeMemoryClockRate:
      return p.memoryClockRate;
    case hipDeviceAttributeMultiprocessorCount:
    case hipDeviceAttributePhysicalMultiProcessorCount:
      return p.multiProcessorCount;
    case hipDeviceAttributeMaxRegistersPerBlock:
    case hipDeviceAttributeMaxRegistersPerMultiprocessor:
      return p.regsPerBlock;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
    case hipDeviceAttributeSharedMemPerBlockOptin:
    case hipDeviceAttributeSharedMemPerMultiprocessor:
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(p.sharedMemPerBlock);
    case hipDeviceAttributeTotalGlobalMem:
      return INT_MAX;
    case hipDeviceAttributeUnifiedAddressing:
      return p.unifiedAddressing;
    case hipDeviceAttributeWarpSize:
      return p.warpSize;
    case hipDeviceAttributeMemoryPoolsSupported:
      return 0;
    case hipDeviceAttributeWallClockRate:
      return kWallClockKhz;
    case hipDeviceAttributeNumberOfXccs:
      return device_target().num_xcds;
  }
  throw Error{hipErrorInvalidValue, "the attribute is not known"};
}

hipError_t hip_version(int* version) {
  return call([&] {
    require(version != nullptr, hipErrorInvalidValue, "version is null");
    *version = HIP_VERSION;
  });
}

}  // namespace

extern "C" {

hipError_t hipInit(unsigned flags) {
  return call([&] { require(flags == 0, hipErrorInvalidValue, "flags is not 0"); });
}

hipError_t hipDriverGetVersion(int* version) { return hip_version(version); }
hipError_t hipRuntimeGetVersion(int* version) { return hip_version(version); }

hipError_t hipGetDeviceCount(int* count) {
  return call([&] {
    require(count != nullptr, hipErrorInvalidValue, "count is null");
    *count = 1;
  });
}

hipError_t hipGetDevice(int* device) {
  return call([&] {
    require(device != nullptr, hipErrorInvalidValue, "device is null");
    *device = 0;
  });
}

hipError_t hipSetDevice(int device) {
  return call([&] { check_device(device); });
}

hipError_t hipSetDeviceFlags(unsigned) {
  return call([] {});
}

hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  return call([&] {
    require(device != nullptr, hipErrorInvalidValue, "device is null");
    check_device(ordinal);
    *device = 0;
  });
}

hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  return call([&] {
    check_device(device);
    const std::string full = device_name();
    require(name != nullptr && length > static_cast<int>(full.size()), hipErrorInvalidValue,
            "name is null or too short");
    std::strcpy(name, full.c_str());
  });
}

hipError_t hipDeviceTotalMem(size_t* bytes, hipDevice_t device) {
  return call([&] {
    require(bytes != nullptr, hipErrorInvalidValue, "bytes is null");
    check_device(device);
    *bytes = device_memory_bytes();
  });
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t* result, int device) {
  return call([&] {
    require(result != nullptr, hipErrorInvalidValue, "properties is null");
    check_device(device);
    *result = properties();
  });
}

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return call([&] {
    require(value != nullptr, hipErrorInvalidValue, "value is null");
    check_device(device);
    *value = attribute_value(attribute);
  });
}

hipError_t hipDeviceSynchronize() {
  return synchronising_call([] {});
}

hipError_t hipDeviceReset() {
  clear_fault();
  return call([] { free_all_memory(); });
}

}  // extern "C"
