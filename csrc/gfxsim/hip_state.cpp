#include "gfxsim/hip_state.h"

#include <atomic>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

#include "gfxsim/kernel_launch.h"
#include "gfxsim/runtime.h"

namespace gfxsim {
namespace hip {
namespace {

// A fault is known to the device first and to the program after the next synchronising call.
struct FaultState {
  std::mutex mutex;
  hipError_t on_device = hipSuccess;
  std::atomic<hipError_t> sticky = hipSuccess;
  std::string report;
};

FaultState& fault_state() {
  static FaultState* state = new FaultState;
  return *state;
}

thread_local hipError_t last_error = hipSuccess;
thread_local std::string detail;

hipError_t error_code(FaultKind kind) {
  switch (kind) {
    case FaultKind::OutOfBounds:
    case FaultKind::UseAfterFree:
    case FaultKind::ReadOnly:
    case FaultKind::LdsOutOfBounds:
      return hipErrorIllegalAddress;
    case FaultKind::InstructionBudget:
      return hipErrorLaunchTimeOut;
    default:
      return hipErrorLaunchFailure;
  }
}

void record_fault(const Fault& fault) {
  FaultState& state = fault_state();
  std::lock_guard lock(state.mutex);
  state.report = fault.report();
  state.on_device = error_code(fault.kind);
  std::fprintf(stderr, "%s\n", state.report.c_str());
}

hipError_t fail_with(hipError_t code, std::string why) {
  detail = std::move(why);
  return last_error = code;
}

}  // namespace

hipError_t call(const std::function<void()>& body) {
  if (const hipError_t sticky = fault_state().sticky; sticky != hipSuccess)
    return fail_with(sticky, "an earlier kernel faulted");
  try {
    body();
    return hipSuccess;
  } catch (const Error& e) {
    return fail_with(e.code, e.detail);
  } catch (const std::bad_alloc&) {
    return fail_with(hipErrorOutOfMemory, "the host has no memory left");
  } catch (const std::exception& e) {
    return fail_with(hipErrorUnknown, e.what());
  }
}

hipError_t synchronising_call(const std::function<void()>& body) {
  FaultState& state = fault_state();
  {
    // Work that another thread has begun ends first.
    std::lock_guard device(device_mutex());
    std::lock_guard lock(state.mutex);
    state.sticky.store(state.on_device);
  }
  return call(body);
}

void enqueue(hipStream_t stream, const std::function<void()>& work) {
  check_stream(stream);
  {
    std::lock_guard lock(fault_state().mutex);
    if (fault_state().on_device != hipSuccess) return;
  }
  try {
    work();
  } catch (const Fault& fault) {
    record_fault(fault);
  }
}

void clear_fault() {
  FaultState& state = fault_state();
  std::lock_guard lock(state.mutex);
  state.on_device = hipSuccess;
  state.sticky.store(hipSuccess);
  state.report.clear();
  last_error = hipSuccess;
  detail.clear();
}

void require(bool condition, hipError_t code, const char* detail) {
  if (!condition) throw Error{code, detail};
}

}  // namespace hip

std::string last_fault_report() {
  std::lock_guard lock(hip::fault_state().mutex);
  return hip::fault_state().report;
}

std::string last_error_detail() { return hip::detail; }

}  // namespace gfxsim

using namespace gfxsim::hip;

extern "C" {

hipError_t hipGetLastError() {
  if (const hipError_t sticky = fault_state().sticky; sticky != hipSuccess) return sticky;
  return std::exchange(last_error, hipSuccess);
}

hipError_t hipPeekAtLastError() {
  const hipError_t sticky = fault_state().sticky;
  return sticky != hipSuccess ? sticky : last_error;
}

// name, text
#define GFXSIM_ERRORS(X)                                                                          \
  X(hipSuccess, "no error")                                                                       \
  X(hipErrorInvalidValue, "invalid argument")                                                     \
  X(hipErrorOutOfMemory, "out of memory")                                                         \
  X(hipErrorNotInitialized, "initialization error")                                               \
  X(hipErrorInvalidConfiguration, "invalid configuration argument")                               \
  X(hipErrorInvalidPitchValue, "invalid pitch argument")                                          \
  X(hipErrorInvalidSymbol, "invalid device symbol")                                               \
  X(hipErrorInvalidDevicePointer, "invalid device pointer")                                       \
  X(hipErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")                          \
  X(hipErrorMissingConfiguration, "__global__ function call is not configured")                   \
  X(hipErrorInvalidDeviceFunction, "invalid device function")                                     \
  X(hipErrorNoDevice, "no ROCm-capable device is detected")                                       \
  X(hipErrorInvalidDevice, "invalid device ordinal")                                              \
  X(hipErrorInvalidImage, "device kernel image is invalid")                                       \
  X(hipErrorInvalidContext, "invalid device context")                                             \
  X(hipErrorNoBinaryForGpu, "no kernel image is available for execution on the device")           \
  X(hipErrorInvalidKernelFile, "invalid kernel file")                                             \
  X(hipErrorFileNotFound, "file not found")                                                       \
  X(hipErrorInvalidHandle, "invalid resource handle")                                             \
  X(hipErrorNotFound, "named symbol not found")                                                   \
  X(hipErrorNotReady, "device not ready")                                                         \
  X(hipErrorIllegalAddress, "an illegal memory access was encountered")                           \
  X(hipErrorLaunchOutOfResources, "too many resources requested for launch")                      \
  X(hipErrorLaunchTimeOut, "the launch timed out and was terminated")                             \
  X(hipErrorHostMemoryAlreadyRegistered,                                                          \
    "part or all of the requested memory range is already mapped")                                \
  X(hipErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region") \
  X(hipErrorLaunchFailure, "unspecified launch failure")                                          \
  X(hipErrorNotSupported, "operation not supported")                                              \
  X(hipErrorUnknown, "unknown error")

const char* hipGetErrorName(hipError_t error) {
  switch (error) {
#define GFXSIM_NAME(name, text) \
  case name:                    \
    return #name;
    GFXSIM_ERRORS(GFXSIM_NAME)
#undef GFXSIM_NAME
  }
  return "hipErrorUnknown";
}

const char* hipGetErrorString(hipError_t error) {
  switch (error) {
#define GFXSIM_TEXT(name, text) \
  case name:                    \
    return text;
    GFXSIM_ERRORS(GFXSIM_TEXT)
#undef GFXSIM_TEXT
  }
  return "unrecognized error code";
}

}  // extern "C"
