// Memory: allocation, copies, fills.
#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_set>

#include "gfxsim/address_space.h"
#include "gfxsim/hip_state.h"
#include "gfxsim/kernel_launch.h"
#include "gfxsim/text.h"

using namespace gfxsim;
using namespace gfxsim::hip;

namespace {

constexpr size_t kDeviceMemoryBytes = size_t{288} << 30;

struct Memory {
  std::mutex mutex;
  std::unordered_set<void*> allocated;                // hipMalloc and hipHostMalloc
  std::map<const void*, RegisteredRange> registered;  // hipHostRegister
};

Memory& memory() {
  static Memory* m = new Memory;
  return *m;
}

uint64_t address_of(const void* ptr) { return reinterpret_cast<uint64_t>(ptr); }

void* allocate(size_t bytes, Allocation::Kind kind, const char* label) {
  if (bytes == 0) return nullptr;
  AddressSpace& space = AddressSpace::get();
  const size_t used = space.device_bytes();
  void* ptr = nullptr;
  if (kind != Allocation::Device ||
      (used <= kDeviceMemoryBytes && bytes <= kDeviceMemoryBytes - used))
    ptr = space.allocate(bytes, kind, label);
  if (ptr == nullptr)
    throw Error{hipErrorOutOfMemory,
                concat(bytes, " bytes; ", used, " of ", kDeviceMemoryBytes, " are in use")};
  std::lock_guard lock(memory().mutex);
  memory().allocated.insert(ptr);
  return ptr;
}

void release(void* ptr, Allocation::Kind kind) {
  if (ptr == nullptr) return;
  std::lock_guard device(device_mutex());
  std::lock_guard lock(memory().mutex);
  const Allocation* a = AddressSpace::get().find(address_of(ptr), 1);
  if (a == nullptr || a->kind != kind || memory().allocated.erase(ptr) == 0)
    throw Error{hipErrorInvalidValue,
                concat("nothing is allocated at ", hex(address_of(ptr)), " by ",
                       kind == Allocation::Device ? "hipMalloc" : "hipHostMalloc")};
  AddressSpace::get().release(ptr);
}

// Throws unless the range is memory of the device, registered memory included.
void require_device(const void* ptr, size_t bytes, const char* name) {
  const uint64_t address = address_of(ptr);
  if (bytes == 0 || AddressSpace::get().find(address, bytes) != nullptr) return;
  throw Error{hipErrorInvalidValue, concat(name, ": ", bytes, " bytes at ", hex(address), " are ",
                                           AddressSpace::get().explain(address, bytes))};
}

// Throws when the range is partly memory of the device, or freed. Memory unknown to the device is
// the program's own business.
void require_accessible(const void* ptr, size_t bytes, const char* name) {
  require(ptr != nullptr || bytes == 0, hipErrorInvalidValue, "a pointer is null");
  const AddressSpace& space = AddressSpace::get();
  const uint64_t address = address_of(ptr);
  const bool known = space.find(address, 1) != nullptr || space.is_freed(address, bytes) ||
                     (bytes != 0 && space.find(address + bytes - 1, 1) != nullptr);
  if (known) require_device(ptr, bytes, name);
}

struct Copy {
  void* to;
  size_t to_pitch;
  const void* from;
  size_t from_pitch;
  size_t width;   // bytes
  size_t height;  // rows
};

size_t span_bytes(size_t pitch, const Copy& c) {
  if (c.height == 0 || c.width == 0) return 0;
  size_t rows = 0, bytes = 0;
  require(!__builtin_mul_overflow(c.height - 1, pitch, &rows) &&
              !__builtin_add_overflow(rows, c.width, &bytes),
          hipErrorInvalidValue, "the rows do not fit the address space");
  return bytes;
}

void check(const Copy& c, hipMemcpyKind kind) {
  require(kind >= hipMemcpyHostToHost && kind <= hipMemcpyDefault, hipErrorInvalidMemcpyDirection,
          "kind is no hipMemcpyKind");
  require(c.height <= 1 || (c.to_pitch >= c.width && c.from_pitch >= c.width),
          hipErrorInvalidPitchValue, "a pitch is smaller than the width");
  const size_t to_bytes = span_bytes(c.to_pitch, c), from_bytes = span_bytes(c.from_pitch, c);
  require_accessible(c.to, to_bytes, "destination");
  require_accessible(c.from, from_bytes, "source");
  if (kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice)
    require_device(c.to, to_bytes, "destination");
  if (kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice)
    require_device(c.from, from_bytes, "source");
}

void run(const Copy& c) {
  std::lock_guard lock(device_mutex());
  for (size_t row = 0; row < c.height && c.width != 0; ++row) {
    auto* const to = static_cast<uint8_t*>(c.to) + row * c.to_pitch;
    const auto* const from = static_cast<const uint8_t*>(c.from) + row * c.from_pitch;
    std::memmove(to, from, c.width);
    AddressSpace::get().copy_defined(address_of(to), address_of(from), c.width);
  }
}

Copy linear(void* to, const void* from, size_t bytes) { return {to, bytes, from, bytes, bytes, 1}; }

hipError_t copy_async(const Copy& c, hipMemcpyKind kind, hipStream_t stream) {
  return call([&] {
    check(c, kind);
    enqueue(stream, [&c] { run(c); });
  });
}

hipError_t copy_and_wait(const Copy& c, hipMemcpyKind kind) {
  return synchronising_call([&] {
    check(c, kind);
    run(c);
  });
}

template <typename T>
hipError_t fill(void* ptr, T value, size_t count, hipStream_t stream) {
  return call([&] {
    require(count <= SIZE_MAX / sizeof(T), hipErrorInvalidValue,
            "count does not fit the address space");
    require_device(ptr, count * sizeof(T), "destination");
    enqueue(stream, [&] {
      std::lock_guard lock(device_mutex());
      std::fill_n(static_cast<T*>(ptr), count, value);
      AddressSpace::get().mark_defined(address_of(ptr), count * sizeof(T));
    });
  });
}

// The bytes of a variable that a copy touches.
void* symbol_range(const LoadedSymbol& s, size_t bytes, size_t offset) {
  require(offset <= s.symbol.size && bytes <= s.symbol.size - offset, hipErrorInvalidValue,
          "the range is larger than the symbol");
  return reinterpret_cast<void*>(s.symbol.address + offset);
}

}  // namespace

size_t gfxsim::hip::device_memory_bytes() { return kDeviceMemoryBytes; }

void gfxsim::hip::free_all_memory() {
  std::lock_guard lock(memory().mutex);
  for (void* ptr : memory().allocated) AddressSpace::get().release(ptr);
  memory().allocated.clear();
  memory().registered.clear();
}

extern "C" {

hipError_t hipMalloc(void** ptr, size_t bytes) {
  return call([&] {
    require(ptr != nullptr, hipErrorInvalidValue, "ptr is null");
    *ptr = allocate(bytes, Allocation::Device, "hipMalloc");
  });
}

hipError_t hipMallocAsync(void** ptr, size_t bytes, hipStream_t stream) {
  return call([&] {
    require(ptr != nullptr, hipErrorInvalidValue, "ptr is null");
    check_stream(stream);
    *ptr = allocate(bytes, Allocation::Device, "hipMallocAsync");
  });
}

hipError_t hipFree(void* ptr) {
  return synchronising_call([&] { release(ptr, Allocation::Device); });
}

hipError_t hipFreeAsync(void* ptr, hipStream_t stream) {
  return call([&] {
    require(ptr != nullptr, hipErrorInvalidValue, "ptr is null");
    enqueue(stream, [ptr] { release(ptr, Allocation::Device); });
  });
}

hipError_t hipHostMalloc(void** ptr, size_t bytes, unsigned flags) {
  return call([&] {
    constexpr unsigned kKnown =
        hipHostMallocPortable | hipHostMallocMapped | hipHostMallocWriteCombined;
    require(ptr != nullptr, hipErrorInvalidValue, "ptr is null");
    require((flags & ~kKnown) == 0, hipErrorInvalidValue, "flags: unknown bits");
    *ptr = allocate(bytes, Allocation::Host, "hipHostMalloc");
  });
}

hipError_t hipHostFree(void* ptr) {
  return synchronising_call([&] { release(ptr, Allocation::Host); });
}

hipError_t hipHostRegister(void* ptr, size_t bytes, unsigned flags) {
  return call([&] {
    require(ptr != nullptr && bytes != 0, hipErrorInvalidValue, "an empty range");
    std::lock_guard lock(memory().mutex);
    require(!memory().registered.contains(ptr), hipErrorHostMemoryAlreadyRegistered, "");
    memory().registered[ptr] = AddressSpace::get().register_host(
        ptr, bytes, !(flags & hipHostRegisterReadOnly), "hipHostRegister");
  });
}

hipError_t hipHostUnregister(void* ptr) {
  return synchronising_call([&] {
    std::lock_guard lock(memory().mutex);
    require(memory().registered.erase(ptr) != 0, hipErrorHostMemoryNotRegistered, "");
  });
}

hipError_t hipHostGetDevicePointer(void** device_ptr, void* host_ptr, unsigned flags) {
  return call([&] {
    require(device_ptr != nullptr && flags == 0, hipErrorInvalidValue,
            "device_ptr is null or flags is not 0");
    require_device(host_ptr, 1, "host_ptr");
    *device_ptr = host_ptr;
  });
}

hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return call([&] {
    const size_t used = std::min<size_t>(AddressSpace::get().device_bytes(), kDeviceMemoryBytes);
    if (free_bytes != nullptr) *free_bytes = kDeviceMemoryBytes - used;
    if (total_bytes != nullptr) *total_bytes = kDeviceMemoryBytes;
  });
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* ptr) {
  return call([&] {
    require(attributes != nullptr && ptr != nullptr, hipErrorInvalidValue,
            "attributes or ptr is null");
    void* const p = const_cast<void*>(ptr);
    const Allocation* a = AddressSpace::get().find(address_of(ptr), 1);
    if (a == nullptr)
      *attributes = {hipMemoryTypeUnregistered, -1, nullptr, nullptr, 0, 0};
    else if (a->kind == Allocation::Host)
      *attributes = {hipMemoryTypeHost, 0, p, p, 0, 0};
    else
      *attributes = {hipMemoryTypeDevice, 0, p, nullptr, 0, 0};
  });
}

hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return copy_and_wait(linear(to, from, bytes), kind);
}

hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
  return copy_async(linear(to, from, bytes), kind, stream);
}

hipError_t hipMemcpyWithStream(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                               hipStream_t stream) {
  return synchronising_call([&] {
    const Copy c = linear(to, from, bytes);
    check_stream(stream);
    check(c, kind);
    run(c);
  });
}

hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void* from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyHostToDevice);
}

hipError_t hipMemcpyDtoH(void* to, hipDeviceptr_t from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost);
}

hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  return hipMemcpy(to, from, bytes, hipMemcpyDeviceToDevice);
}

hipError_t hipMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                       size_t height, hipMemcpyKind kind) {
  return copy_and_wait({to, to_pitch, from, from_pitch, width, height}, kind);
}

hipError_t hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                            size_t width, size_t height, hipMemcpyKind kind, hipStream_t stream) {
  return copy_async({to, to_pitch, from, from_pitch, width, height}, kind, stream);
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                             hipMemcpyKind kind) {
  return synchronising_call([&] {
    const LoadedSymbol s = find_symbol(symbol);
    const Copy c = linear(symbol_range(s, bytes, offset), from, bytes);
    check(c, kind);
    run(c);
  });
}

hipError_t hipMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                               hipMemcpyKind kind) {
  return synchronising_call([&] {
    const LoadedSymbol s = find_symbol(symbol);
    const Copy c = linear(to, symbol_range(s, bytes, offset), bytes);
    check(c, kind);
    run(c);
  });
}

hipError_t hipGetSymbolAddress(void** ptr, const void* symbol) {
  return call([&] {
    require(ptr != nullptr, hipErrorInvalidValue, "ptr is null");
    *ptr = reinterpret_cast<void*>(find_symbol(symbol).symbol.address);
  });
}

hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol) {
  return call([&] {
    require(bytes != nullptr, hipErrorInvalidValue, "bytes is null");
    *bytes = find_symbol(symbol).symbol.size;
  });
}

hipError_t hipMemset(void* ptr, int value, size_t bytes) {
  return fill(ptr, static_cast<uint8_t>(value), bytes, nullptr);
}

hipError_t hipMemsetAsync(void* ptr, int value, size_t bytes, hipStream_t stream) {
  return fill(ptr, static_cast<uint8_t>(value), bytes, stream);
}

hipError_t hipMemsetD8(hipDeviceptr_t ptr, unsigned char value, size_t count) {
  return fill(ptr, value, count, nullptr);
}

hipError_t hipMemsetD8Async(hipDeviceptr_t ptr, unsigned char value, size_t count,
                            hipStream_t stream) {
  return fill(ptr, value, count, stream);
}

hipError_t hipMemsetD32(hipDeviceptr_t ptr, int value, size_t count) {
  return fill(ptr, value, count, nullptr);
}

hipError_t hipMemsetD32Async(hipDeviceptr_t ptr, int value, size_t count, hipStream_t stream) {
  return fill(ptr, value, count, stream);
}

}  // extern "C"
