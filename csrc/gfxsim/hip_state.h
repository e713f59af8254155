// What the functions of the HIP face share: error state, stream and event handles, kernels by
// host pointer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "gfxsim/code_object.h"
#include "gfxsim/fault.h"
#include "gfxsim/include/hip/hip_runtime_api.h"
#include "gfxsim/kernarg.h"

namespace gfxsim::hip {

// Thrown inside an API function: becomes its return value, and detail() tells why.
struct Error {
  hipError_t code;
  std::string detail;
};

// Every API function runs its body in one of these. They return the sticky error instead of running
// it once there is one, turn exceptions into error codes and remember the last error.
hipError_t call(const std::function<void()>& body);
// For functions that wait for the device: a fault that no one has been told of is reported now.
hipError_t synchronising_call(const std::function<void()>& body);

// Runs work in stream order: now. After a fault, work is dropped until the error is cleared.
void enqueue(hipStream_t stream, const std::function<void()>& work);
void clear_fault();

// Live objects that the program knows by pointer.
template <typename T>
class Handles {
 public:
  T* create(T value) {
    auto object = std::make_unique<T>(std::move(value));
    std::lock_guard lock(mutex_);
    live_.insert(object.get());
    return object.release();
  }
  void destroy(T* handle, const char* what) {
    check(handle, what);
    std::lock_guard lock(mutex_);
    live_.erase(handle);
    delete handle;
  }
  // Throws Error unless the handle is live.
  T* check(T* handle, const char* what) const {
    std::lock_guard lock(mutex_);
    if (live_.contains(handle)) return handle;
    throw Error{hipErrorInvalidHandle, std::string(what) + " is not live"};
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<T*> live_;
};

// A kernel together with the code object that keeps it alive.
struct LoadedKernel {
  std::shared_ptr<CodeObject> object;
  const Kernel* kernel;
};

// The code object for this device in an ELF file or fat binary. Throws Error.
std::shared_ptr<CodeObject> load_image(std::span<const uint8_t> image);

// What the compiler's start-up code registered. All throw Error for an unknown pointer.
LoadedKernel find_kernel(const void* host_function);
struct LoadedSymbol {
  std::shared_ptr<CodeObject> object;
  DataSymbol symbol;
};
LoadedSymbol find_symbol(const void* host_variable);

// Checks the shape now and enqueues the launch. `explicit_args` as for Kernarg.
void launch(const LoadedKernel& kernel, const LaunchShape& shape,
            std::span<const uint8_t> explicit_args, hipStream_t stream);
// The arguments of a kernel, given a pointer to each.
std::vector<uint8_t> gather_args(const Kernel& kernel, void** args);

// How many workgroups of the kernel a CU holds at a time.
int workgroups_per_cu(const Kernel& kernel, int block_size, size_t dynamic_lds);

// Throws Error when an argument is not what it must be.
void require(bool condition, hipError_t code, const char* detail);
// Throws Error unless the stream is one of the special ones or live.
void check_stream(hipStream_t stream);
size_t device_memory_bytes();
// Frees what hipMalloc and its relatives gave.
void free_all_memory();

}  // namespace gfxsim::hip
