// A kernel's arguments in memory: the caller's, then the hidden ones that the compiler adds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "gfxsim/code_object.h"
#include "gfxsim/target.h"

namespace gfxsim {

struct LaunchShape {
  std::array<uint32_t, 3> grid{1, 1, 1};   // workgroups
  std::array<uint32_t, 3> block{1, 1, 1};  // work items
  uint32_t dynamic_lds = 0;                // bytes
};

// The kernarg segment of one launch, known to the address space as read-only memory.
class Kernarg {
 public:
  // `explicit_args`: the caller's arguments, each at its offset; kernel.explicit_arg_bytes() bytes
  // or more. Throws std::invalid_argument when it is shorter.
  Kernarg(const Kernel& kernel, const Target& target, std::span<const uint8_t> explicit_args,
          const LaunchShape& shape);
  ~Kernarg();
  Kernarg(const Kernarg&) = delete;
  Kernarg& operator=(const Kernarg&) = delete;

  std::span<const uint8_t> bytes() const { return {data(), size_}; }

 private:
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  uint8_t* data() const { return reinterpret_cast<uint8_t*>(lines_.get()); }

  std::unique_ptr<Line[]> lines_;
  uint64_t size_;
};

}  // namespace gfxsim
