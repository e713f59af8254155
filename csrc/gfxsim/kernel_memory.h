// Lets kernels use host memory, such as a CPU tensor's, for the time of a call.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "gfxsim/address_space.h"

namespace gfxsim {

// The ranges are usable by kernels for as long as the object lives:
//   KernelMemory memory;
//   memory.input(x.const_data_ptr(), x.nbytes(), "x");
//   memory.output(y.mutable_data_ptr(), y.nbytes(), "y");
//   kernel<<<...>>>(...); hipDeviceSynchronize();
class KernelMemory {
 public:
  // Kernels may read the range. `name` appears in reports.
  void input(const void* data, size_t bytes, std::string name) {
    add(data, bytes, false, std::move(name));
  }
  // Kernels may read and write the range.
  void output(void* data, size_t bytes, std::string name) {
    add(data, bytes, true, std::move(name));
  }

 private:
  void add(const void* data, size_t bytes, bool writable, std::string name) {
    ranges_.push_back(AddressSpace::get().register_host(data, bytes, writable, std::move(name)));
  }
  std::vector<RegisteredRange> ranges_;
};

}  // namespace gfxsim
