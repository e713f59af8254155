#include "host/hip/device_call.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

namespace tq::host {

void check(hipError_t error, const char* operation) {
  TORCH_CHECK(error == hipSuccess, operation, ": ", hipGetErrorString(error));
}

DeviceCall::DeviceCall(std::initializer_list<at::Tensor> tensors)
    : device_(tensors.begin()->device()), guard_(device_) {
  for (const at::Tensor& tensor : tensors) {
    TORCH_CHECK(tensor.device() == device_, "all tensors must be on one device, got ", device_,
                " and ", tensor.device());
  }
  if (device_.is_cpu()) {
    for (const at::Tensor& tensor : tensors) register_memory(tensor);
  } else {
    const c10::impl::VirtualGuardImpl runtime(device_.type());
    stream_ = static_cast<hipStream_t>(runtime.getStream(device_).native_handle());
  }
}

DeviceCall::~DeviceCall() {
  for (void* memory : registered_) static_cast<void>(hipHostUnregister(memory));
}

void DeviceCall::finish() {
  if (device_.is_cpu()) check(hipStreamSynchronize(stream_), "kernel");
}

void DeviceCall::register_memory(const at::Tensor& tensor) {
  if (tensor.nbytes() == 0) return;
  void* memory = tensor.data_ptr();
  const hipError_t error = hipHostRegister(memory, tensor.nbytes(), hipHostRegisterDefault);
  if (error == hipErrorHostMemoryAlreadyRegistered) return;
  check(error, "hipHostRegister");
  registered_.push_back(memory);
}

}  // namespace tq::host
