// What every launch from torch needs: memory that the device may touch, a stream, and the errors.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>
#include <hip/hip_runtime_api.h>

#include <initializer_list>
#include <vector>

namespace tq::host {

// Throws c10::Error with HIP's message unless `error` is hipSuccess.
void check(hipError_t error, const char* operation);

// One operation on contiguous tensors of one device. GPU tensors are used on torch's current
// stream. The memory of CPU tensors is registered with the HIP runtime while the object lives, and
// the operation runs on the default stream.
class DeviceCall {
 public:
  DeviceCall(std::initializer_list<at::Tensor> tensors);
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;
  ~DeviceCall();

  hipStream_t stream() const { return stream_; }

  // Ends the operation: for CPU tensors waits for it and throws what went wrong in its kernels.
  void finish();

 private:
  void register_memory(const at::Tensor& tensor);

  c10::Device device_;
  c10::DeviceGuard guard_;
  hipStream_t stream_ = nullptr;
  std::vector<void*> registered_;
};

}  // namespace tq::host
