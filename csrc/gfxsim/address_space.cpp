#include "gfxsim/address_space.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "gfxsim/text.h"

namespace gfxsim {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kGuardBytes = 16 * kPage;  // on each side of an allocation
// Freed ranges stay reserved until there are more of them, or more bytes, than this.
constexpr size_t kMaxQuarantineRanges = 1024;
constexpr uint64_t kMaxQuarantineBytes = uint64_t{1} << 42;
// Descriptions of removed allocations that a running launch may still look at.
constexpr size_t kMaxRetired = 4096;
// Addresses below this are reported as a null pointer.
constexpr uint64_t kNullPageEnd = 64 * 1024;

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Address space of the host without memory behind it; null when the host refuses.
uint8_t* reserve(uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<uint8_t*>(p);
}

uint8_t* map_zeroed(uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<uint8_t*>(p);
}

uint64_t defined_map_bytes(const Allocation& a) { return round_up(a.size, kPage); }

std::string in_parentheses(const std::string& label) {
  return label.empty() ? label : concat(" (", label, ")");
}

std::string describe(const Allocation& a) {
  const char* kind = a.kind == Allocation::Code ? "code object segment" : "allocation";
  return concat("the ", a.size, "-byte ", kind, " at ", hex(a.base), in_parentheses(a.label));
}

}  // namespace

RegisteredRange::~RegisteredRange() {
  if (id_ != 0) AddressSpace::get().unregister(id_);
}

AddressSpace& AddressSpace::get() {
  // Never destroyed: other static objects free device memory while the program exits.
  static AddressSpace* space = new AddressSpace;
  return *space;
}

void* AddressSpace::allocate(uint64_t bytes, Allocation::Kind kind, std::string label) {
  if (bytes == 0 || bytes > kMaxQuarantineBytes) return nullptr;
  const uint64_t usable = round_up(bytes, kPage);
  const Mapping mapping_bytes{0, usable + 2 * kGuardBytes};
  uint8_t* const mapping = reserve(mapping_bytes.bytes);
  if (mapping == nullptr) return nullptr;
  uint8_t* const base = mapping + kGuardBytes;
  uint8_t* defined = nullptr;
  bool ok = mprotect(base, usable, PROT_READ | PROT_WRITE) == 0;
  if (ok && kind == Allocation::Device) {
    defined = map_zeroed(usable);
    ok = defined != nullptr;
  }
  if (!ok) {
    munmap(mapping, mapping_bytes.bytes);
    return nullptr;
  }

  const uint64_t address = reinterpret_cast<uint64_t>(base);
  std::unique_lock lock(mutex_);
  live_[address] = {address, bytes, kind, true, defined, std::move(label)};
  mappings_[address] = {reinterpret_cast<uint64_t>(mapping), mapping_bytes.bytes};
  if (kind == Allocation::Device) device_bytes_ += bytes;
  changed();
  return base;
}

bool AddressSpace::release(void* ptr) {
  const uint64_t address = reinterpret_cast<uint64_t>(ptr);
  std::unique_lock lock(mutex_);
  const auto mapping = mappings_.find(address);
  if (mapping == mappings_.end()) return false;
  const auto it = live_.find(address);
  Allocation& a = it->second;
  if (a.kind == Allocation::Device) device_bytes_ -= a.size;
  if (a.defined != nullptr) munmap(a.defined, defined_map_bytes(a));

  // Gives the memory back to the host and keeps the addresses.
  const Mapping m = mapping->second;
  mmap(reinterpret_cast<void*>(m.base), m.bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  forbidden_[address] = {address, a.size, true, a.label, m};
  quarantine_.push_back(address);
  quarantine_bytes_ += m.bytes;
  while (quarantine_.size() > kMaxQuarantineRanges || quarantine_bytes_ > kMaxQuarantineBytes) {
    const auto oldest = forbidden_.find(quarantine_.front());
    quarantine_.pop_front();
    quarantine_bytes_ -= oldest->second.mapping.bytes;
    munmap(reinterpret_cast<void*>(oldest->second.mapping.base), oldest->second.mapping.bytes);
    forbidden_.erase(oldest);
  }
  mappings_.erase(mapping);
  retire(it);
  changed();
  return true;
}

void AddressSpace::retire(Map::iterator it) {
  retired_.push_back(live_.extract(it));
  if (retired_.size() > kMaxRetired) retired_.pop_front();
}

RegisteredRange AddressSpace::register_host(const void* ptr, uint64_t bytes, bool writable,
                                            std::string label) {
  if (ptr == nullptr || bytes == 0) return RegisteredRange();
  const uint64_t base = reinterpret_cast<uint64_t>(ptr);
  std::unique_lock lock(mutex_);
  const Allocation* owner = find_locked(base, bytes);
  if (owner != nullptr && mappings_.contains(owner->base)) return RegisteredRange();
  const uint64_t id = next_id_++;
  registrations_[id] = {base, bytes, writable, std::move(label)};
  rebuild_registered(base, base + bytes);
  return RegisteredRange(id);
}

void AddressSpace::unregister(uint64_t id) {
  std::unique_lock lock(mutex_);
  const auto it = registrations_.find(id);
  const Registration r = it->second;
  registrations_.erase(it);
  rebuild_registered(r.base, r.base + r.size);
}

// Makes the live allocations of registered memory that touch [begin, end) follow from the
// registrations: one for each group of overlapping ones.
void AddressSpace::rebuild_registered(uint64_t begin, uint64_t end) {
  // The groups that overlap the range as they are now, which the change may join or split.
  auto it = live_.upper_bound(begin);
  if (it != live_.begin()) --it;
  while (it != live_.end() && it->first < end) {
    const Allocation& a = it->second;
    const auto next = std::next(it);
    if (a.kind == Allocation::Host && !mappings_.contains(a.base) && a.base + a.size > begin) {
      begin = std::min(begin, a.base);
      end = std::max(end, a.base + a.size);
      retire(it);
    }
    it = next;
  }
  std::vector<const Registration*> inside;
  for (const auto& [id, r] : registrations_)
    if (r.base < end && r.base + r.size > begin) inside.push_back(&r);
  std::sort(inside.begin(), inside.end(),
            [](const Registration* a, const Registration* b) { return a->base < b->base; });
  Allocation* group = nullptr;
  for (const Registration* r : inside) {
    if (group != nullptr && r->base < group->base + group->size) {
      group->size = std::max(group->size, r->base + r->size - group->base);
      group->writable |= r->writable;
    } else {
      group = &live_[r->base];
      *group = {r->base, r->size, Allocation::Host, r->writable, nullptr, r->label};
    }
  }
  changed();
}

void AddressSpace::add_external(const Allocation& allocation) {
  std::unique_lock lock(mutex_);
  live_[allocation.base] = allocation;
  changed();
}

void AddressSpace::remove_external(uint64_t base) {
  std::unique_lock lock(mutex_);
  const auto it = live_.find(base);
  if (it != live_.end()) retire(it);
  changed();
}

uint64_t AddressSpace::reserve_forbidden(std::string label) {
  uint8_t* const p = reserve(kNullPageEnd);
  const uint64_t base = reinterpret_cast<uint64_t>(p);
  std::unique_lock lock(mutex_);
  forbidden_[base] = {base, kNullPageEnd, false, std::move(label), {base, kNullPageEnd}};
  return base;
}

const Allocation* AddressSpace::find_locked(uint64_t address, uint64_t bytes) const {
  auto it = live_.upper_bound(address);
  if (it == live_.begin()) return nullptr;
  --it;
  return it->second.contains(address, bytes) ? &it->second : nullptr;
}

const Allocation* AddressSpace::find(uint64_t address, uint64_t bytes) const {
  std::shared_lock lock(mutex_);
  return find_locked(address, bytes);
}

const Allocation* AddressSpace::find_cached(uint64_t address, uint64_t bytes) const {
  struct Last {
    uint64_t generation = 0;
    const Allocation* allocation = nullptr;
  };
  thread_local Last last;
  const uint64_t now = generation();
  if (last.generation != now || !last.allocation || !last.allocation->contains(address, bytes))
    last = {now, find(address, bytes)};
  return last.allocation;
}

const AddressSpace::Forbidden* AddressSpace::find_forbidden(uint64_t address,
                                                            uint64_t bytes) const {
  auto it = forbidden_.lower_bound(address + bytes);
  if (it == forbidden_.begin()) return nullptr;
  --it;
  const Forbidden& f = it->second;
  return address < f.base + f.size ? &f : nullptr;
}

bool AddressSpace::is_freed(uint64_t address, uint64_t bytes) const {
  std::shared_lock lock(mutex_);
  const Forbidden* f = find_forbidden(address, bytes);
  return f != nullptr && f->freed;
}

std::string AddressSpace::explain(uint64_t address, uint64_t bytes) const {
  std::shared_lock lock(mutex_);
  if (address < kNullPageEnd)
    return concat("outside every live allocation: a null pointer plus ", address, " bytes");
  if (const Forbidden* f = find_forbidden(address, bytes)) {
    if (!f->freed) return f->label;
    return concat("inside memory freed by hipFree: byte ", static_cast<int64_t>(address - f->base),
                  " of the ", f->size, "-byte allocation at ", hex(f->base),
                  in_parentheses(f->label));
  }
  const auto above = live_.upper_bound(address);
  const Allocation* before = above == live_.begin() ? nullptr : &std::prev(above)->second;
  const Allocation* after = above == live_.end() ? nullptr : &above->second;
  if (before != nullptr && address < before->base + before->size)
    return concat("runs ", address + bytes - (before->base + before->size),
                  " bytes across the end of ", describe(*before));
  if (after != nullptr && address + bytes > after->base)
    return concat("begins ", after->base - address, " bytes before ", describe(*after));
  if (before == nullptr && after == nullptr) return "outside every live allocation; there is none";
  const uint64_t past = before ? address - (before->base + before->size) : ~uint64_t{0};
  const uint64_t ahead = after ? after->base - address : ~uint64_t{0};
  if (past <= ahead)
    return concat("outside every live allocation; nearest is ", past, " bytes past the end of ",
                  describe(*before));
  return concat("outside every live allocation; nearest is ", ahead, " bytes before ",
                describe(*after));
}

template <typename Visit>
void AddressSpace::visit_tracked(uint64_t address, uint64_t bytes, Visit visit) const {
  const uint64_t end = address + bytes;
  auto it = live_.upper_bound(address);
  if (it != live_.begin()) --it;
  for (; it != live_.end() && it->first < end; ++it) {
    const Allocation& a = it->second;
    if (a.defined == nullptr) continue;
    const uint64_t first = std::max(address, a.base);
    const uint64_t last = std::min(end, a.base + a.size);
    if (first < last) visit(a.defined + (first - a.base), last - first);
  }
}

void AddressSpace::mark_defined(uint64_t address, uint64_t bytes) {
  std::shared_lock lock(mutex_);
  visit_tracked(address, bytes,
                [](uint8_t* entries, uint64_t count) { std::memset(entries, 1, count); });
}

bool AddressSpace::is_defined(uint64_t address, uint64_t bytes) const {
  std::shared_lock lock(mutex_);
  bool defined = true;
  visit_tracked(address, bytes, [&defined](const uint8_t* entries, uint64_t count) {
    defined &= std::memchr(entries, 0, count) == nullptr;
  });
  return defined;
}

void AddressSpace::copy_defined(uint64_t to, uint64_t from, uint64_t bytes) {
  std::shared_lock lock(mutex_);
  const Allocation* target = find_locked(to, bytes);
  if (target == nullptr || target->defined == nullptr) return;
  uint8_t* const entries = target->defined + (to - target->base);
  const Allocation* source = find_locked(from, bytes);
  if (source != nullptr && source->defined != nullptr)
    std::memmove(entries, source->defined + (from - source->base), bytes);
  else
    std::memset(entries, 1, bytes);
}

}  // namespace gfxsim
