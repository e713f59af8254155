// Registered host memory and what only C++ code sees of the address space.
#include "gfxsim/address_space.h"

#include <optional>
#include <string>
#include <utility>

#include "cases.h"
#include "gfxsim/kernel_memory.h"

using namespace gfxsim;

namespace {

AddressSpace& space = AddressSpace::get();
alignas(64) char host[256];
const uint64_t base = reinterpret_cast<uint64_t>(host);

uint64_t address_of(const void* p) { return reinterpret_cast<uint64_t>(p); }

CASE(registered_memory_is_known_while_registered) {
  {
    const RegisteredRange range = space.register_host(host, 100, true, "x");
    CHECK(space.find(base, 100) != nullptr);
    CHECK(space.find(base, 101) == nullptr);
    CHECK(space.find(base + 96, 4)->label == "x");
    CHECK(space.find(base, 1)->writable);
    CHECK(space.is_defined(base, 100));
  }
  CHECK(space.find(base, 1) == nullptr);
  CHECK(space.explain(base, 4).find("freed") == std::string::npos);
}

CASE(the_same_memory_registered_twice_is_counted) {
  std::optional<RegisteredRange> first = space.register_host(host, 64, false, "a");
  std::optional<RegisteredRange> second = space.register_host(host, 64, true, "b");
  CHECK(space.find(base, 64)->writable);
  second.reset();
  CHECK(space.find(base, 64) != nullptr);
  CHECK(!space.find(base, 64)->writable);
  first.reset();
  CHECK(space.find(base, 1) == nullptr);
}

CASE(overlapping_registrations_are_one_allocation) {
  std::optional<RegisteredRange> low = space.register_host(host, 64, true, "low");
  std::optional<RegisteredRange> high = space.register_host(host + 48, 64, true, "high");
  CHECK(space.find(base, 112) != nullptr);
  CHECK(space.find(base, 113) == nullptr);
  low.reset();
  CHECK(space.find(base, 1) == nullptr);
  CHECK(space.find(base + 48, 64) != nullptr);
  high.reset();
  CHECK(space.find(base + 48, 1) == nullptr);
}

CASE(a_registration_that_joins_two_splits_them_again) {
  const RegisteredRange low = space.register_host(host, 32, true);
  const RegisteredRange high = space.register_host(host + 64, 32, true);
  {
    const RegisteredRange middle = space.register_host(host + 16, 64, true);
    CHECK(space.find(base, 96) != nullptr);
  }
  CHECK(space.find(base, 32) != nullptr && space.find(base, 33) == nullptr);
  CHECK(space.find(base + 64, 32) != nullptr && space.find(base + 63, 2) == nullptr);
}

CASE(touching_registrations_stay_apart) {
  const RegisteredRange low = space.register_host(host, 64, true);
  const RegisteredRange high = space.register_host(host + 64, 64, true);
  CHECK(space.find(base + 60, 8) == nullptr);
  CHECK(space.explain(base + 60, 8).starts_with("runs 4 bytes across the end"));
}

CASE(registering_device_memory_changes_nothing) {
  char* const device = static_cast<char*>(space.allocate(64));
  {
    const RegisteredRange range = space.register_host(device + 8, 16, false);
  }
  CHECK(space.find(address_of(device), 64)->kind == Allocation::Device);
  CHECK(space.release(device));
  CHECK(space.is_freed(address_of(device), 1));
}

CASE(generation_changes_with_every_range) {
  uint64_t seen = space.generation();
  const auto changed = [&] { return std::exchange(seen, space.generation()) != seen; };
  void* const p = space.allocate(64);
  CHECK(changed());
  CHECK(!changed());
  {
    const RegisteredRange range = space.register_host(host, 1, true);
    CHECK(changed());
  }
  CHECK(changed());
  space.release(p);
  CHECK(changed());
}

CASE(a_copy_carries_what_is_defined) {
  const uint64_t a = address_of(space.allocate(64)), b = address_of(space.allocate(64));
  space.mark_defined(a, 8);
  space.copy_defined(b, a, 16);
  CHECK(space.is_defined(b, 8) && !space.is_defined(b + 8, 1));
  space.copy_defined(b + 8, base, 8);  // host memory is always defined
  CHECK(space.is_defined(b, 16));
  space.copy_defined(b, a + 8, 4);
  CHECK(!space.is_defined(b, 1) && space.is_defined(b + 4, 12));
}

CASE(kernel_memory_registers_inputs_and_outputs) {
  {
    KernelMemory memory;
    memory.input(host, 16, "x");
    memory.output(host + 32, 16, "y");
    CHECK(!space.find(base, 16)->writable);
    CHECK(space.find(base + 32, 16)->writable);
  }
  CHECK(space.find(base, 1) == nullptr && space.find(base + 32, 1) == nullptr);
}

CASE(forbidden_addresses_say_what_they_stand_for) {
  const uint64_t address = space.reserve_forbidden("inside the moon");
  CHECK(space.find(address, 1) == nullptr);
  CHECK(space.explain(address + 100, 4) == "inside the moon");
  CHECK(!space.is_freed(address, 4));
}

}  // namespace
