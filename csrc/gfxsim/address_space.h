// The device's memory. A device pointer is a host address; this class knows which ranges a kernel
// may touch, which bytes of them were ever written, and which ranges were freed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <shared_mutex>
#include <string>

namespace gfxsim {

struct Allocation {
  enum Kind : uint8_t {
    Device,  // hipMalloc
    Host,    // host memory that kernels may access: hipHostMalloc, registered tensors
    Code,    // a segment of a code object
  };
  uint64_t base = 0;
  uint64_t size = 0;
  Kind kind = Device;
  bool writable = true;
  // One byte for each byte of the allocation, 0 = never written. Null: all bytes are defined. The
  // map is lazily backed, so that a huge allocation costs what is touched of it.
  uint8_t* defined = nullptr;
  std::string label;

  bool contains(uint64_t address, uint64_t bytes) const {
    return address - base < size && bytes <= size - (address - base);
  }
};

// Host memory registered with the address space for as long as the object lives. Move-only.
class RegisteredRange {
 public:
  RegisteredRange() = default;
  RegisteredRange(RegisteredRange&& other) noexcept { swap(other); }
  RegisteredRange& operator=(RegisteredRange&& other) noexcept {
    swap(other);
    return *this;
  }
  RegisteredRange(const RegisteredRange&) = delete;
  RegisteredRange& operator=(const RegisteredRange&) = delete;
  ~RegisteredRange();

 private:
  friend class AddressSpace;
  explicit RegisteredRange(uint64_t id) : id_(id) {}
  void swap(RegisteredRange& other) noexcept { std::swap(id_, other.id_); }
  uint64_t id_ = 0;  // 0: nothing registered
};

// Thread-safe. Pointers to allocations stay readable while a launch uses them: an allocation that
// is released meanwhile is moved aside, and generation() tells that cached pointers are stale.
class AddressSpace {
 public:
  static AddressSpace& get();

  // Memory of at least 256-byte alignment with an unmapped gap on both sides, so that neighbours
  // never touch. Sizes beyond the host's memory work as long as few pages are written. Null when
  // the host refuses or bytes is 0. Device memory starts undefined; Host memory counts as defined,
  // since the host writes it unseen.
  void* allocate(uint64_t bytes, Allocation::Kind kind = Allocation::Device,
                 std::string label = {});
  // False when `ptr` is not the base of a live allocation made by allocate(). The range stays
  // reserved for a while, so that a later access is reported as an access to freed memory.
  bool release(void* ptr);

  // Registers host memory of someone else. Registrations may overlap or repeat: the union of
  // overlapping ones is one allocation, writable when one of them is. A range inside memory from
  // allocate() needs no registration and gets none.
  [[nodiscard]] RegisteredRange register_host(const void* ptr, uint64_t bytes, bool writable,
                                              std::string label = {});

  // Adds and removes memory that someone else owns and that overlaps no other allocation: a code
  // object's segments. All of it counts as defined.
  void add_external(const Allocation& allocation);
  void remove_external(uint64_t base);

  // The live allocation that contains the whole range, or null.
  const Allocation* find(uint64_t address, uint64_t bytes) const;
  // The same; remembers the answer for the calling thread, as one access resembles the next.
  const Allocation* find_cached(uint64_t address, uint64_t bytes) const;
  // Why find() has no answer, for a report: "outside every live allocation; nearest is ...".
  std::string explain(uint64_t address, uint64_t bytes) const;
  // Whether some byte of the range lies in memory that release() freed.
  bool is_freed(uint64_t address, uint64_t bytes) const;

  // An address that no access may touch and that explain() names: what a kernel gets for a pointer
  // to something that the simulator does not have. The range stays forbidden forever.
  uint64_t reserve_forbidden(std::string label);

  // Both ignore what lies outside of allocations (undefined bytes exist only inside).
  void mark_defined(uint64_t address, uint64_t bytes);
  bool is_defined(uint64_t address, uint64_t bytes) const;
  // Copies the defined state of `bytes` bytes, as a device-to-device copy does.
  void copy_defined(uint64_t to, uint64_t from, uint64_t bytes);

  // Changes whenever a range is added or removed.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  // Bytes of Device allocations that are live.
  uint64_t device_bytes() const { return device_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class RegisteredRange;
  using Map = std::map<uint64_t, Allocation>;

  struct Mapping {  // of one allocate(): what was reserved from the host
    uint64_t base, bytes;
  };
  struct Forbidden {  // freed, or never allowed
    uint64_t base, size;
    bool freed;
    std::string label;
    Mapping mapping;
  };
  struct Registration {
    uint64_t base, size;
    bool writable;
    std::string label;
  };

  void unregister(uint64_t id);
  void rebuild_registered(uint64_t begin, uint64_t end);
  void retire(Map::iterator it);
  const Allocation* find_locked(uint64_t address, uint64_t bytes) const;
  const Forbidden* find_forbidden(uint64_t address, uint64_t bytes) const;
  // The byte map entries of the part of the range that one tracked allocation covers, for each such
  // allocation: visit(first entry, count).
  template <typename Visit>
  void visit_tracked(uint64_t address, uint64_t bytes, Visit visit) const;
  void changed() { generation_.fetch_add(1, std::memory_order_release); }

  mutable std::shared_mutex mutex_;
  Map live_;
  std::map<uint64_t, Mapping> mappings_;     // by allocation base
  std::map<uint64_t, Forbidden> forbidden_;  // by base
  std::deque<uint64_t> quarantine_;          // bases of the freed ones, oldest first
  uint64_t quarantine_bytes_ = 0;
  std::map<uint64_t, Registration> registrations_;  // by id
  std::deque<Map::node_type> retired_;
  uint64_t next_id_ = 1;
  std::atomic<uint64_t> generation_{1};
  std::atomic<uint64_t> device_bytes_{0};
};

}  // namespace gfxsim
