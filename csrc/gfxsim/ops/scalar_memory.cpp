// Scalar memory: loads through the scalar cache, stores, atomics, clocks and cache control.
#include <atomic>
#include <bit>
#include <cstring>
#include <string>

#include "gfxsim/address_space.h"
#include "gfxsim/counters.h"
#include "gfxsim/ops/atomic_op.h"
#include "gfxsim/ops/families.h"
#include "gfxsim/ops/scalar_op.h"
#include "gfxsim/text.h"

namespace gfxsim {
namespace {

constexpr uint32_t kDwordBytes = 4;
constexpr int kNoLane = -1;

enum class Access : uint8_t { Load, Store };

// The allocation that holds the whole range.
const Allocation& allocation_of(uint64_t address, uint64_t bytes, Access access) {
  const AddressSpace& space = AddressSpace::get();
  const Allocation* found = space.find_cached(address, bytes);
  if (!found)
    fail_access(space.is_freed(address, bytes) ? FaultKind::UseAfterFree : FaultKind::OutOfBounds,
                kNoLane, address,
                concat("scalar ", access == Access::Load ? "load" : "store", " of ", bytes,
                       " bytes ", space.explain(address, bytes)));
  if (access == Access::Store && !found->writable)
    fail_access(FaultKind::ReadOnly, kNoLane, address, concat("scalar store to ", found->label));
  return *found;
}

uint32_t lines_touched(const Wave& w, uint64_t address, uint32_t bytes) {
  const uint64_t line = w.target->cache_line_bytes;
  return static_cast<uint32_t>((address + bytes - 1) / line - address / line + 1);
}

// Where an instruction accesses memory. A buffer ends after `limit` bytes from `base`: dwords past
// it read 0 and are not stored.
struct Place {
  uint64_t base = 0;
  int64_t offset = 0;
  uint64_t limit = 0;
  bool is_buffer = false;
  uint64_t address() const { return base + static_cast<uint64_t>(offset); }
  // Dwords of `count` that may be accessed.
  int in_range(int count) const {
    if (!is_buffer) return count;
    if (offset < 0) return 0;
    int dwords = 0;
    while (dwords < count && static_cast<uint64_t>(offset) + kDwordBytes * (dwords + 1) <= limit)
      ++dwords;
    return dwords;
  }
};

// Base and size from a buffer descriptor in four scalar registers.
void read_descriptor(const Wave& w, int reg, Place* place) {
  constexpr uint64_t kBaseMask = (uint64_t{1} << 48) - 1;
  constexpr uint32_t kStrideShift = 16, kStrideMask = 0x3fff;
  place->base = w.pair(reg) & kBaseMask;
  const uint64_t stride = w.s[reg + 1] >> kStrideShift & kStrideMask;
  const uint64_t records = w.s[reg + 2];
  place->limit = stride ? stride * records : records;
  place->is_buffer = true;
}

// Operands are: data, base, offset (a register or a constant).
Place place_of(const Wave& w, const Inst& in) {
  const Operand& base = in.operands[1];
  w.require_defined(base, 0, "a scalar memory address");
  Place place;
  if (base.dwords == 4)
    read_descriptor(w, base.reg, &place);
  else
    place.base = w.pair(base.reg);
  place.offset = in.mod.offset;
  if (in.num_operands > 2) {
    const Operand& offset = in.operands[2];
    w.require_defined(offset, 0, "a scalar memory address");
    const uint32_t bits = w.scalar_value(offset, 0);
    place.offset += offset.is_constant() ? int64_t{static_cast<int32_t>(bits)} : int64_t{bits};
  }
  if (place.address() % kDwordBytes)
    fail_access(
        FaultKind::Misaligned, kNoLane, place.address(),
        "scalar memory is accessed in whole dwords; the hardware drops the low address bits");
  return place;
}

void load(Wave& w, const Inst& in) {
  const Place place = place_of(w, in);
  const Operand& data = in.dst();
  const int count = data.dwords;
  const int available = place.in_range(count);
  const uint32_t bytes = kDwordBytes * static_cast<uint32_t>(available);
  uint32_t undef[16] = {};
  for (int i = 0; i < count; ++i) w.s[data.reg + i] = 0;
  if (available > 0) {
    const uint64_t address = place.address();
    const Allocation& allocation = allocation_of(address, bytes, Access::Load);
    std::memcpy(&w.s[data.reg], std::bit_cast<const void*>(address), bytes);
    if (allocation.defined) {
      const uint8_t* defined = allocation.defined + (address - allocation.base);
      for (uint32_t byte = 0; byte < bytes; ++byte)
        if (!defined[byte]) undef[byte / kDwordBytes] |= 0xffu << (byte % kDwordBytes * 8);
    }
    w.counters->bytes_read += bytes;
    w.counters->lines_read += lines_touched(w, address, bytes);
  }
  for (int i = 0; i < count; ++i) w.set_scalar(data.reg + i, w.s[data.reg + i], undef[i]);
  w.issue(MemEvent::Smem, kScalarBase + data.reg, count);
}

void mark_stored(Wave& w, const Allocation& allocation, uint64_t address, uint32_t bytes) {
  if (allocation.defined) std::memset(allocation.defined + (address - allocation.base), 1, bytes);
  w.counters->bytes_written += bytes;
  w.counters->lines_written += lines_touched(w, address, bytes);
}

void store(Wave& w, const Inst& in) {
  const Place place = place_of(w, in);
  const Operand& data = in.operands[0];
  const int available = place.in_range(data.dwords);
  w.require_defined(data, 0, "what is stored to global memory");
  if (available > 0) {
    const uint64_t address = place.address();
    const uint32_t bytes = kDwordBytes * static_cast<uint32_t>(available);
    const Allocation& allocation = allocation_of(address, bytes, Access::Store);
    std::memcpy(std::bit_cast<void*>(address), &w.s[data.reg], bytes);
    mark_stored(w, allocation, address, bytes);
  }
  w.issue(MemEvent::Smem, 0, 0);
}

// --- atomics ---

template <class A>
typename A::Value new_value(typename A::Value old, typename A::Value data,
                            typename A::Value second) {
  if constexpr (A::kOperands == 2)
    return A::apply(old, data, second);
  else
    return A::apply(old, data);
}

// Applies A to memory and returns the old value. `second` is A's second operand, if it has one.
template <class A>
typename A::Value exchange(uint64_t address, typename A::Value data, typename A::Value second) {
  using T = typename A::Value;
  std::atomic_ref<T> memory(*std::bit_cast<T*>(address));
  T old = memory.load();
  while (!memory.compare_exchange_weak(old, new_value<A>(old, data, second))) {
  }
  return old;
}

template <class T>
T scalar_data(const Wave& w, int reg) {
  T value;
  std::memcpy(&value, &w.s[reg], sizeof value);
  return value;
}

// A is one of atomic_op.h.
template <class A>
void atomic(Wave& w, const Inst& in) {
  using T = typename A::Value;
  constexpr int kDwords = sizeof(T) / kDwordBytes;
  const Place place = place_of(w, in);
  const Operand& data = in.operands[0];
  w.require_defined(data, 0, "what is stored to global memory");
  const uint64_t address = place.address();
  if (address % sizeof(T))
    fail_access(FaultKind::Misaligned, kNoLane, address,
                "an atomic operation needs natural alignment");
  T old = 0;
  if (place.in_range(kDwords) == kDwords) {
    const Allocation& allocation = allocation_of(address, sizeof(T), Access::Store);
    if (!AddressSpace::get().is_defined(address, sizeof(T)))
      fail_access(FaultKind::UndefinedValue, kNoLane, address,
                  "an atomic operation combines with memory that was never written");
    const T second = A::kOperands == 2 ? scalar_data<T>(w, data.reg + kDwords) : T{0};
    old = exchange<A>(address, scalar_data<T>(w, data.reg), second);
    w.counters->bytes_read += sizeof(T);
    w.counters->lines_read += 1;
    mark_stored(w, allocation, address, sizeof(T));
  }
  if (!in.mod.glc) {
    w.issue(MemEvent::Smem, 0, 0);
    return;
  }
  for (int i = 0; i < kDwords; ++i)
    w.set_scalar(data.reg + i, static_cast<uint32_t>(static_cast<uint64_t>(old) >> (32 * i)));
  w.issue(MemEvent::Smem, kScalarBase + data.reg, kDwords);
}

// --- clocks and caches ---

// Clocks that a wave has run for, if it issued an instruction every four clocks from the start.
uint64_t wave_clocks(const Wave& w) {
  constexpr uint64_t kIssueClocks = 4;
  return w.executed * kIssueClocks;
}

void read_time(Wave& w, const Inst& in, uint64_t time) {
  set_scalar_pair(w, in.dst().reg, time, 0);
  w.issue(MemEvent::Smem, kScalarBase + in.dst().reg, 2);
}

void read_clock(Wave& w, const Inst& in) { read_time(w, in, wave_clocks(w)); }

void read_real_time(Wave& w, const Inst& in) {
  constexpr uint64_t kReferenceMhz = 100;
  read_time(w, in, wave_clocks(w) * kReferenceMhz / static_cast<uint64_t>(w.target->clock_mhz));
}

void control_cache(Wave&, const Inst&) {}

Op row(std::string_view name, Handler run, int num_dst) {
  Op op;
  op.name = name;
  op.cls = OpClass::Smem;
  op.run = run;
  op.num_dst = static_cast<uint8_t>(num_dst);
  op.types.fill(Type::B32);
  return op;
}

// An atomic writes its data registers only where glc asks for the old value.
void settle_atomic(Inst& in) {
  in.num_dst = in.mod.glc ? 1 : 0;
  in.reads_dst = in.mod.glc;
}

// A on an address and on a buffer descriptor.
template <class A>
void append_atomic(std::vector<Op>* ops, std::string_view on_address, std::string_view on_buffer) {
  for (std::string_view name : {on_address, on_buffer}) {
    Op op = row(name, &atomic<A>, 0);
    op.fixup = &settle_atomic;
    ops->push_back(op);
  }
}

void append_atomics(std::vector<Op>* ops) {
  append_atomic<AtomicSwap<uint32_t>>(ops, "s_atomic_swap", "s_buffer_atomic_swap");
  append_atomic<AtomicSwap<uint64_t>>(ops, "s_atomic_swap_x2", "s_buffer_atomic_swap_x2");
  append_atomic<AtomicCompareSwap<uint32_t>>(ops, "s_atomic_cmpswap", "s_buffer_atomic_cmpswap");
  append_atomic<AtomicCompareSwap<uint64_t>>(ops, "s_atomic_cmpswap_x2",
                                             "s_buffer_atomic_cmpswap_x2");
  append_atomic<AtomicAdd<uint32_t>>(ops, "s_atomic_add", "s_buffer_atomic_add");
  append_atomic<AtomicAdd<uint64_t>>(ops, "s_atomic_add_x2", "s_buffer_atomic_add_x2");
  append_atomic<AtomicSub<uint32_t>>(ops, "s_atomic_sub", "s_buffer_atomic_sub");
  append_atomic<AtomicSub<uint64_t>>(ops, "s_atomic_sub_x2", "s_buffer_atomic_sub_x2");
  append_atomic<AtomicMin<int32_t>>(ops, "s_atomic_smin", "s_buffer_atomic_smin");
  append_atomic<AtomicMin<int64_t>>(ops, "s_atomic_smin_x2", "s_buffer_atomic_smin_x2");
  append_atomic<AtomicMin<uint32_t>>(ops, "s_atomic_umin", "s_buffer_atomic_umin");
  append_atomic<AtomicMin<uint64_t>>(ops, "s_atomic_umin_x2", "s_buffer_atomic_umin_x2");
  append_atomic<AtomicMax<int32_t>>(ops, "s_atomic_smax", "s_buffer_atomic_smax");
  append_atomic<AtomicMax<int64_t>>(ops, "s_atomic_smax_x2", "s_buffer_atomic_smax_x2");
  append_atomic<AtomicMax<uint32_t>>(ops, "s_atomic_umax", "s_buffer_atomic_umax");
  append_atomic<AtomicMax<uint64_t>>(ops, "s_atomic_umax_x2", "s_buffer_atomic_umax_x2");
  append_atomic<AtomicAnd<uint32_t>>(ops, "s_atomic_and", "s_buffer_atomic_and");
  append_atomic<AtomicAnd<uint64_t>>(ops, "s_atomic_and_x2", "s_buffer_atomic_and_x2");
  append_atomic<AtomicOr<uint32_t>>(ops, "s_atomic_or", "s_buffer_atomic_or");
  append_atomic<AtomicOr<uint64_t>>(ops, "s_atomic_or_x2", "s_buffer_atomic_or_x2");
  append_atomic<AtomicXor<uint32_t>>(ops, "s_atomic_xor", "s_buffer_atomic_xor");
  append_atomic<AtomicXor<uint64_t>>(ops, "s_atomic_xor_x2", "s_buffer_atomic_xor_x2");
  append_atomic<AtomicInc<uint32_t>>(ops, "s_atomic_inc", "s_buffer_atomic_inc");
  append_atomic<AtomicInc<uint64_t>>(ops, "s_atomic_inc_x2", "s_buffer_atomic_inc_x2");
  append_atomic<AtomicDec<uint32_t>>(ops, "s_atomic_dec", "s_buffer_atomic_dec");
  append_atomic<AtomicDec<uint64_t>>(ops, "s_atomic_dec_x2", "s_buffer_atomic_dec_x2");
}

}  // namespace

std::vector<Op> scalar_memory_ops() {
  std::vector<Op> ops;
  for (std::string_view name :
       {"s_load_dword", "s_load_dwordx2", "s_load_dwordx4", "s_load_dwordx8", "s_load_dwordx16",
        "s_buffer_load_dword", "s_buffer_load_dwordx2", "s_buffer_load_dwordx4",
        "s_buffer_load_dwordx8", "s_buffer_load_dwordx16"})
    ops.push_back(row(name, &load, 1));
  for (std::string_view name :
       {"s_store_dword", "s_store_dwordx2", "s_store_dwordx4", "s_buffer_store_dword",
        "s_buffer_store_dwordx2", "s_buffer_store_dwordx4"})
    ops.push_back(row(name, &store, 0));
  append_atomics(&ops);
  ops.push_back(row("s_memtime", &read_clock, 1));
  ops.push_back(row("s_memrealtime", &read_real_time, 1));
  // Memory is coherent here, and a probe only fetches a translation.
  for (std::string_view name : {"s_dcache_inv", "s_dcache_inv_vol", "s_dcache_wb",
                                "s_dcache_wb_vol", "s_atc_probe", "s_atc_probe_buffer"})
    ops.push_back(row(name, &control_cache, 0));
  return ops;
}

}  // namespace gfxsim
