// Buffer, global, flat and scratch instructions: loads, stores, atomics, loads to LDS.
//
// Alignment: amdhsa runs with unaligned access enabled, where loads and stores of any width take
// any address (LLVM: SITargetLowering::allowsMisalignedMemoryAccessesImpl and the feature
// unaligned-access-mode). Atomics need natural alignment.

#include "gfxsim/vector_memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "gfxsim/buffer.h"
#include "gfxsim/buffer_format.h"
#include "gfxsim/lane_io.h"
#include "gfxsim/lds_access.h"
#include "gfxsim/ops/atomic_op.h"
#include "gfxsim/ops/families.h"
#include "gfxsim/text.h"

namespace gfxsim {
namespace {

// --- addresses ---

uint64_t scalar_pair(const Wave& w, const Operand& operand) {
  return w.scalar_value(operand, 0) | uint64_t{w.scalar_value(operand, 1)} << 32;
}

// A 64-bit address a lane, or a scalar base plus an unsigned 32-bit offset a lane; plus the offset
// of the instruction.
void global_addresses(const Wave& w, const Inst& in, const Operand& vaddr, const Operand* saddr,
                      LaneAddresses* at) {
  at->mask = w.exec();
  w.require_defined(vaddr, at->mask, "a memory address");
  const uint32_t* const low = w.v[vaddr.reg];
  const uint64_t offset = static_cast<uint64_t>(int64_t{in.mod.offset});
  if (saddr && saddr->kind != Operand::Off) {
    w.require_defined(*saddr, at->mask, "a memory address");
    const uint64_t base = scalar_pair(w, *saddr) + offset;
    for (int lane = 0; lane < kMaxLanes; ++lane) at->address[lane] = base + low[lane];
    return;
  }
  const uint32_t* const high = w.v[vaddr.reg + 1];
  for (int lane = 0; lane < kMaxLanes; ++lane)
    at->address[lane] = (low[lane] | uint64_t{high[lane]} << 32) + offset;
}

// Byte offsets in the lane's own memory: a vector and a scalar offset, each optional.
void scratch_addresses(const Wave& w, const Inst& in, const Operand& vaddr, const Operand& saddr,
                       LaneAddresses* at) {
  at->mask = w.exec();
  uint32_t base = static_cast<uint32_t>(in.mod.offset);
  if (saddr.kind != Operand::Off) {
    w.require_defined(saddr, at->mask, "a scratch address");
    base += w.scalar_value(saddr, 0);
  }
  if (vaddr.kind != Operand::Off) w.require_defined(vaddr, at->mask, "a scratch address");
  for (int lane = 0; lane < kMaxLanes; ++lane)
    at->address[lane] = base + (vaddr.kind == Operand::Off ? 0 : w.lane_value(vaddr, 0, lane));
}

// The lanes of a flat access, by what their addresses point to.
struct FlatSegments {
  LaneAddresses global, scratch;
  LdsAccess lds;
};

void flat_segments(const Wave& w, const Inst& in, const Operand& vaddr, LdsAccessKind kind,
                   int bytes, FlatSegments* out) {
  global_addresses(w, in, vaddr, nullptr, &out->global);
  out->lds.inst = &in;
  out->lds.kind = kind;
  out->lds.bytes = static_cast<uint8_t>(bytes);
  uint64_t shared = 0, own = 0;
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    const uint64_t address = out->global.address[lane], aperture = address >> 32 << 32;
    shared |= uint64_t{aperture == w.target->shared_aperture} << lane;
    own |= uint64_t{aperture == w.target->private_aperture} << lane;
    out->lds.address[lane] = static_cast<uint32_t>(address);
    out->scratch.address[lane] = static_cast<uint32_t>(address);
  }
  out->lds.mask = out->global.mask & shared;
  out->scratch.mask = out->global.mask & own;
  out->global.mask &= ~(shared | own);
}

// --- global, flat, scratch ---

enum class Space : uint8_t { Global, Flat, Scratch };

template <Space kSpace, MemoryType kType>
void load(Wave& w, const Inst& in) {
  LaneData data;
  const int reg = in.dst().reg, dwords = kType.dwords();
  if constexpr (kSpace == Space::Flat) {
    FlatSegments to;
    flat_segments(w, in, in.src(0), LdsAccessKind::Read, kType.bytes, &to);
    if (to.lds.mask) {
      begin_lds_access(w, to.lds);
      load_lds(w, to.lds, 0, &data);
    }
    if (to.scratch.mask) load_scratch(w, to.scratch, kType.bytes, &data);
    if (to.global.mask) load_global(w, to.global, kType.bytes, &data);
    write_data(w, reg, kType, &data, w.exec());
    hold_lds_accesses(w, w.issue(MemEvent::FlatLoad, reg, dwords), {&to.lds});
  } else {
    LaneAddresses at;
    if constexpr (kSpace == Space::Global) {
      global_addresses(w, in, in.src(0), &in.src(1), &at);
      load_global(w, at, kType.bytes, &data);
    } else {
      scratch_addresses(w, in, in.src(0), in.src(1), &at);
      load_scratch(w, at, kType.bytes, &data);
    }
    write_data(w, reg, kType, &data, at.mask);
    w.issue(MemEvent::VmemLoad, reg, dwords);
  }
}

template <Space kSpace, int kBytes, int kShift>
void store(Wave& w, const Inst& in) {
  LaneData data;
  read_data(w, in.src(1), 0, MemoryType{kBytes}.dwords(), &data);
  if constexpr (kSpace == Space::Flat) {
    FlatSegments to;
    flat_segments(w, in, in.src(0), LdsAccessKind::Write, kBytes, &to);
    if (to.lds.mask) {
      begin_lds_access(w, to.lds);
      store_lds(w, to.lds, 0, kShift, data);
    }
    if (to.scratch.mask) store_scratch(w, to.scratch, kBytes, kShift, data);
    if (to.global.mask) store_global(w, to.global, kBytes, kShift, data);
    hold_lds_accesses(w, w.issue(MemEvent::FlatStore, 0, 0), {&to.lds});
  } else {
    LaneAddresses at;
    if constexpr (kSpace == Space::Global) {
      global_addresses(w, in, in.src(0), &in.src(2), &at);
      store_global(w, at, kBytes, kShift, data);
    } else {
      scratch_addresses(w, in, in.src(0), in.src(2), &at);
      store_scratch(w, at, kBytes, kShift, data);
    }
    w.issue(MemEvent::VmemStore, 0, 0);
  }
}

// --- atomics ---

// Undefined bits of a value whose map bytes are 1 where its bytes are defined.
template <class Bits>
Bits undef_from_map(const uint8_t* map) {
  if (!map) return 0;
  Bits defined;
  std::memcpy(&defined, map, sizeof defined);
  return static_cast<Bits>(~(defined * 0xff));
}

// Lane after lane, each atomic for the other host threads.
template <class A>
void run_global_atomic(Wave& w, const LaneAddresses& at, const LaneData& data,
                       const LaneData& data2, LaneData* old) {
  using Bits = AtomicBits<typename A::Value>;
  for_lanes(at.mask, [&](int lane) {
    const uint64_t address = at.address[lane];
    if ((data.any_undef && lane_bits<Bits>(data.undef, lane)) ||
        (data2.any_undef && lane_bits<Bits>(data2.undef, lane)))
      fail_access(FaultKind::UndefinedValue, lane, address,
                  "an atomic operation's operand holds bits that were never written");
    const AtomicTarget target = atomic_target(address, lane, sizeof(Bits));
    const Bits before_undef = undef_from_map<Bits>(target.defined);
    if (before_undef && A::kUndef != AtomicUndef::DataOnly)
      fail_access(
          FaultKind::UndefinedValue, lane, address,
          concat("an atomic operation on memory at ", hex(address), " that was never written"));
    const Bits operand = lane_bits<Bits>(data.value, lane);
    const Bits operand2 = lane_bits<Bits>(data2.value, lane);
    std::atomic_ref<Bits> memory(*reinterpret_cast<Bits*>(target.memory));
    Bits before = memory.load();
    while (!memory.compare_exchange_weak(before, atomic_apply<A>(before, operand, operand2))) {
    }
    if (before_undef) std::memset(target.defined, 1, sizeof(Bits));
    set_lane_bits<Bits>(old->value, lane, before);
    if (before_undef) old->track_undef(kMaxDataDwords);
    if (old->any_undef) set_lane_bits<Bits>(old->undef, lane, before_undef);
  });
  count_global(w, at, sizeof(Bits), true, true);
}

// The operands, one after the other in the same registers.
template <class A>
void read_atomic_data(const Wave& w, const Operand& operand, LaneData* data, LaneData* data2) {
  constexpr int kDwords = sizeof(typename A::Value) / 4;
  read_data(w, operand, 0, kDwords, data);
  if constexpr (A::kOperands == 2)
    read_data(w, operand, kDwords, kDwords, data2);
  else
    data2->clear(kDwords);
}

// Writes the old value to the destination where the instruction has one.
template <class A>
InFlight& finish_atomic(Wave& w, const Inst& in, LaneData* old, uint64_t mask, MemEvent returning,
                        MemEvent plain) {
  constexpr MemoryType kType{sizeof(typename A::Value)};
  if (in.num_dst == 0) return w.issue(plain, 0, 0);
  write_data(w, in.dst().reg, kType, old, mask);
  return w.issue(returning, in.dst().reg, kType.dwords());
}

template <Space kSpace, class A>
void atomic(Wave& w, const Inst& in) {
  constexpr int kBytes = sizeof(typename A::Value);
  LaneData data, data2, old;
  read_atomic_data<A>(w, in.src(1), &data, &data2);
  if constexpr (kSpace == Space::Flat) {
    FlatSegments to;
    flat_segments(w, in, in.src(0), LdsAccessKind::Atomic, kBytes, &to);
    if (to.scratch.mask)
      fail_lane(FaultKind::Unsupported, std::countr_zero(to.scratch.mask),
                "a flat atomic operation on scratch memory");
    if (to.lds.mask) run_lds_atomic<A>(w, to.lds, data, data2, 0, &old);
    if (to.global.mask) run_global_atomic<A>(w, to.global, data, data2, &old);
    InFlight& op = finish_atomic<A>(w, in, &old, w.exec(), MemEvent::FlatLoad, MemEvent::FlatStore);
    hold_lds_accesses(w, op, {&to.lds});
  } else {
    LaneAddresses at;
    global_addresses(w, in, in.src(0), &in.src(2), &at);
    run_global_atomic<A>(w, at, data, data2, &old);
    finish_atomic<A>(w, in, &old, at.mask, MemEvent::VmemAtomicReturn, MemEvent::VmemAtomic);
  }
}

// --- memory to LDS ---

// LDS_ADDR = M0 + instruction offset + lane * bytes (CDNA3 and CDNA4 ISA, "Memory Buffer Load to
// LDS"; 12 and 16 bytes a lane on gfx950). Narrower data is extended: each lane fills a dword.
void send_to_lds(Wave& w, const Inst& in, MemoryType type, LaneData* data) {
  if (w.scalar_undef(kM0))
    fail(FaultKind::UndefinedValue, "m0 was never written, and decides an LDS address");
  extend_data(type, data);
  LdsAccess access;
  access.inst = &in;
  access.kind = LdsAccessKind::Write;
  access.bytes = std::max<uint8_t>(type.bytes, 4);
  access.mask = w.exec();
  const uint32_t base = w.s[kM0] + static_cast<uint32_t>(in.mod.offset);
  for (int lane = 0; lane < kMaxLanes; ++lane)
    access.address[lane] = base + static_cast<uint32_t>(lane) * access.bytes;
  require_lds_alignment(access, 4);

  Lds& lds = w.workgroup->lds;
  const int index = lds.begin_dma(w, access);
  count_lds_access(w, access);
  LdsDmaTransfer& transfer = lds.dma(index);
  const size_t stride = access.bytes;
  transfer.data.resize(kMaxLanes * stride);
  transfer.undef.assign(kMaxLanes * stride, 0);
  for (int d = 0; d < type.dwords(); ++d)
    for (size_t lane = 0; lane < kMaxLanes; ++lane) {
      const size_t to = lane * stride + static_cast<size_t>(d) * 4;
      std::memcpy(&transfer.data[to], &data->value[d][lane], 4);
      if (data->any_undef) std::memcpy(&transfer.undef[to], &data->undef[d][lane], 4);
    }
  InFlight& op = w.issue(MemEvent::LdsDma, 0, 0);
  op.landing = [&lds, index] { lds.land_dma(index); };
  hold_lds_accesses(w, op, {&access});
}

template <Space kSpace, MemoryType kType>
void load_to_lds(Wave& w, const Inst& in) {
  LaneAddresses at;
  LaneData data;
  if constexpr (kSpace == Space::Global) {
    global_addresses(w, in, in.src(0), &in.src(1), &at);
    load_global(w, at, kType.bytes, &data);
  } else {
    scratch_addresses(w, in, in.src(0), in.src(1), &at);
    load_scratch(w, at, kType.bytes, &data);
  }
  send_to_lds(w, in, kType, &data);
}

// --- buffers ---

// The operands vaddr, descriptor, scalar offset stand from `first` on.
BufferDescriptor descriptor_of(const Wave& w, const Operand* first) {
  const Operand& operand = first[1];
  w.require_defined(operand, w.exec(), "a buffer descriptor");
  return BufferDescriptor::from_dwords({w.scalar_value(operand, 0), w.scalar_value(operand, 1),
                                        w.scalar_value(operand, 2), w.scalar_value(operand, 3)});
}

BufferAddresses resolve_buffer(const Wave& w, const Inst& in, const Operand* first,
                               const BufferDescriptor& descriptor, const BufferRequest& request) {
  if (in.mod.tfe) fail(FaultKind::Unsupported, "the tfe modifier");
  w.require_defined(first[2], w.exec(), "a buffer address");
  return buffer_addresses(w, in, first[0], descriptor, w.scalar_value(first[2], 0), request);
}

// Calls f(addresses, bytes, first dword) for what is in range.
template <class F>
void for_buffer_parts(BufferAddresses* buffer, int bytes, F f) {
  if (buffer->scattered) {
    for (int d = 0; d < bytes / 4; ++d)
      if (buffer->dword[d].mask) f(buffer->dword[d], 4, d);
    return;
  }
  buffer->at.mask = buffer->whole;
  if (buffer->at.mask) f(buffer->at, bytes, 0);
  for (int d = 0; d < kMaxDataDwords; ++d) {
    buffer->at.mask = buffer->prefix[d];
    if (buffer->at.mask) f(buffer->at, 4 * (d + 1), 0);
  }
}

// Out of range reads as 0.
void load_buffer(Wave& w, BufferAddresses* buffer, int bytes, LaneData* data) {
  const int dwords = (bytes + 3) / 4;
  if (buffer->scattered || buffer->whole != buffer->at.mask) data->clear(dwords);
  for_buffer_parts(buffer, bytes, [&](const LaneAddresses& at, int part_bytes, int first) {
    if (first == 0) return load_global(w, at, part_bytes, data);
    LaneData part;
    load_global(w, at, part_bytes, &part);
    blend_row(data->value[first], part.value[0], at.mask);
    if (!part.any_undef) return;
    data->track_undef(kMaxDataDwords);
    blend_row(data->undef[first], part.undef[0], at.mask);
  });
}

void store_buffer(Wave& w, BufferAddresses* buffer, int bytes, int shift, const LaneData& data) {
  for_buffer_parts(buffer, bytes, [&](const LaneAddresses& at, int part_bytes, int first) {
    if (first == 0) return store_global(w, at, part_bytes, shift, data);
    LaneData part;
    std::copy_n(data.value[first], kMaxLanes, part.value[0]);
    if (data.any_undef) {
      part.track_undef(1);
      std::copy_n(data.undef[first], kMaxLanes, part.undef[0]);
    }
    store_global(w, at, part_bytes, 0, part);
  });
}

template <MemoryType kType>
void buffer_load(Wave& w, const Inst& in) {
  const Operand* operands = &in.operands[in.num_dst];
  BufferAddresses buffer =
      resolve_buffer(w, in, operands, descriptor_of(w, operands), {.bytes = kType.bytes});
  LaneData data;
  load_buffer(w, &buffer, kType.bytes, &data);
  if (in.mod.lds) {
    send_to_lds(w, in, kType, &data);
    return;
  }
  write_data(w, in.dst().reg, kType, &data, w.exec());
  w.issue(MemEvent::VmemLoad, in.dst().reg, kType.dwords());
}

template <int kBytes, int kShift>
void buffer_store(Wave& w, const Inst& in) {
  const Operand* operands = &in.operands[1];
  BufferAddresses buffer =
      resolve_buffer(w, in, operands, descriptor_of(w, operands), {.bytes = kBytes});
  LaneData data;
  read_data(w, in.operands[0], 0, MemoryType{kBytes}.dwords(), &data);
  store_buffer(w, &buffer, kBytes, kShift, data);
  w.issue(MemEvent::VmemStore, 0, 0);
}

// The first operand holds the data, and gets the old value when the instruction returns one.
template <class A>
void buffer_atomic(Wave& w, const Inst& in) {
  constexpr int kBytes = sizeof(typename A::Value);
  const Operand* operands = &in.operands[1];
  BufferAddresses buffer = resolve_buffer(w, in, operands, descriptor_of(w, operands),
                                          {.bytes = kBytes, .all_or_nothing = true});
  if (buffer.scattered) fail(FaultKind::Unsupported, "a 64-bit atomic in a swizzled buffer");
  LaneData data, data2, old;
  read_atomic_data<A>(w, in.operands[0], &data, &data2);
  old.clear(kBytes / 4);
  buffer.at.mask = buffer.whole;
  run_global_atomic<A>(w, buffer.at, data, data2, &old);
  finish_atomic<A>(w, in, &old, w.exec(), MemEvent::VmemAtomicReturn, MemEvent::VmemAtomic);
}

// --- formatted buffers ---

enum class Packing : uint8_t { Dwords, Halves, HighHalf };  // of the components in registers

BufferFormat format_of(const Inst& in, const BufferDescriptor& descriptor, bool typed) {
  return typed ? buffer_format(in.mod.data_format, in.mod.num_format)
               : buffer_format(descriptor.data_format, descriptor.num_format);
}

uint32_t to_half(const BufferFormat& format, uint32_t value) {
  if (!is_float_format(format)) return value & 0xffff;
  return std::bit_cast<uint16_t>(static_cast<F16>(std::bit_cast<float>(value)));
}
uint32_t from_half(const BufferFormat& format, uint32_t half) {
  if (is_float_format(format))
    return std::bit_cast<uint32_t>(
        static_cast<float>(std::bit_cast<F16>(static_cast<uint16_t>(half))));
  return format.num_format == kSint ? static_cast<uint32_t>(int32_t{static_cast<int16_t>(half)})
                                    : half & 0xffff;
}

// Register value `i` of a loaded element: a component, 0 or 1, as the descriptor selects.
uint32_t loaded_component(const BufferFormat& format, const BufferDescriptor& descriptor,
                          bool typed, const uint32_t* element, bool in_range, int i) {
  constexpr int kSelectOne = 1, kSelectFirst = 4;
  const int select = typed ? kSelectFirst + i : descriptor.dst_sel[i];
  const uint32_t one = is_float_format(format) ? std::bit_cast<uint32_t>(1.0f) : 1;
  if (select == kSelectOne) return one;
  if (select < kSelectFirst || !in_range) return 0;
  const int component = select - kSelectFirst;
  if (component < format.components) return decode_component(format, element, component);
  return component == 3 ? one : 0;
}

template <int kComponents, Packing kPacking, bool kTyped>
void buffer_load_format(Wave& w, const Inst& in) {
  const Operand* operands = &in.operands[1];
  const BufferDescriptor descriptor = descriptor_of(w, operands);
  const BufferFormat format = format_of(in, descriptor, kTyped);
  BufferAddresses buffer =
      resolve_buffer(w, in, operands, descriptor,
                     {.bytes = format.bytes, .all_or_nothing = true, .formatted = true});
  LaneData raw, data;
  load_buffer(w, &buffer, format.bytes, &raw);
  const int raw_dwords = (format.bytes + 3) / 4;
  constexpr bool kHalves = kPacking != Packing::Dwords;
  constexpr int kDwords = kHalves ? (kComponents + 1) / 2 : kComponents;
  data.clear(kDwords);
  if (raw.any_undef) data.track_undef(kDwords);
  for_lanes(w.exec(), [&](int lane) {
    uint32_t element[kMaxDataDwords] = {}, undef = 0;
    for (int d = 0; d < raw_dwords; ++d) {
      element[d] = raw.value[d][lane];
      if (raw.any_undef) undef |= raw.undef[d][lane];
    }
    for (int i = 0; i < kComponents; ++i) {
      uint32_t value =
          loaded_component(format, descriptor, kTyped, element, buffer.whole >> lane & 1, i);
      if (kHalves) value = to_half(format, value) << (16 * (i % 2));
      data.value[kHalves ? i / 2 : i][lane] |= value;
    }
    if (undef)
      for (int d = 0; d < kDwords; ++d) data.undef[d][lane] = ~0u;
  });
  const int reg = in.dst().reg;
  MemoryType type{4 * kDwords};
  if (kPacking == Packing::HighHalf) type = kB16High;
  if (kPacking == Packing::Halves && kComponents == 1) type = kB16Low;
  // The unused half of the last register is kept.
  if (kPacking == Packing::Halves && kComponents == 3) {
    if (w.maybe_undef(reg + 1)) data.track_undef(kDwords);
    for (int lane = 0; lane < kMaxLanes; ++lane) {
      data.value[1][lane] = (w.v[reg + 1][lane] & 0xffff0000) | (data.value[1][lane] & 0xffff);
      if (data.any_undef)
        data.undef[1][lane] = (w.maybe_undef(reg + 1) ? w.v_undef[reg + 1][lane] & 0xffff0000 : 0) |
                              (data.undef[1][lane] & 0xffff);
    }
  }
  write_data(w, reg, type, &data, w.exec());
  w.issue(MemEvent::VmemLoad, reg, kDwords);
}

template <int kComponents, Packing kPacking, bool kTyped>
void buffer_store_format(Wave& w, const Inst& in) {
  const Operand* operands = &in.operands[1];
  const BufferDescriptor descriptor = descriptor_of(w, operands);
  const BufferFormat format = format_of(in, descriptor, kTyped);
  if (kComponents < format.components)
    fail(FaultKind::Unsupported, concat("a store of ", kComponents,
                                        " components to a buffer format of ", format.components));
  BufferAddresses buffer =
      resolve_buffer(w, in, operands, descriptor,
                     {.bytes = format.bytes, .all_or_nothing = true, .formatted = true});
  constexpr bool kHalves = kPacking != Packing::Dwords;
  constexpr int kDwords = kHalves ? (kComponents + 1) / 2 : kComponents;
  constexpr int kShift = kPacking == Packing::HighHalf ? 16 : 0;
  LaneData data, raw;
  read_data(w, in.operands[0], 0, kDwords, &data);
  const int raw_dwords = (format.bytes + 3) / 4;
  raw.clear(raw_dwords);
  if (data.any_undef) raw.track_undef(raw_dwords);
  for_lanes(w.exec(), [&](int lane) {
    uint32_t element[kMaxDataDwords] = {}, undef = 0;
    for (int i = 0; i < format.components; ++i) {
      const int dword = kHalves ? i / 2 : i, shift = kHalves ? 16 * (i % 2) + kShift : 0;
      uint32_t value = data.value[dword][lane] >> shift;
      if (kHalves) value = from_half(format, value);
      encode_component(format, value, i, element);
      if (data.any_undef) undef |= data.undef[dword][lane] >> shift & (kHalves ? 0xffff : ~0u);
    }
    for (int d = 0; d < raw_dwords; ++d) {
      raw.value[d][lane] = element[d];
      if (undef) raw.undef[d][lane] = ~0u;
    }
  });
  store_buffer(w, &buffer, format.bytes, 0, raw);
  w.issue(MemEvent::VmemStore, 0, 0);
}

// --- cache control ---

// Write-back counts like a store, invalidation in no counter. No caches are modelled.
void write_back(Wave& w, const Inst&) { w.issue(MemEvent::VmemStore, 0, 0); }
void invalidate(Wave&, const Inst&) {}

// --- rows ---

Op row(std::string_view name, OpClass cls, Handler run, uint8_t num_dst) {
  Op op;
  op.name = name;
  op.cls = cls;
  op.run = run;
  op.num_dst = num_dst;
  return op;
}

[[noreturn]] void refuse_lds(Wave&, const Inst&) {
  fail(FaultKind::Unsupported, "a formatted load to LDS");
}

// With the lds modifier a buffer load has no destination register, and another class.
template <MemoryType kType>
void fix_buffer_load(Inst& in) {
  in.partial_write = kType.half != Half::None;
  if (!in.mod.lds) return;
  static const Op to_lds = [&in] {
    Op op = *in.op;
    op.cls = OpClass::LdsDma;
    op.num_dst = 0;
    op.reads_m0 = true;
    op.fixup = nullptr;
    return op;
  }();
  in.op = &to_lds;
  in.num_dst = 0;
}

void fix_format_load(Inst& in) {
  in.partial_write = true;
  if (!in.mod.lds) return;
  in.run = &refuse_lds;
  in.num_dst = 0;
}

void fix_atomic(Inst& in) { in.num_dst = in.mod.sc0; }
void fix_buffer_atomic(Inst& in) {
  in.num_dst = in.mod.sc0;
  in.reads_dst = true;
}

class Rows {
 public:
  template <MemoryType kType>
  void add_load(std::string_view buffer, std::string_view global, std::string_view flat,
                std::string_view scratch) {
    Op op = row(buffer, OpClass::VmemLoad, &buffer_load<kType>, 1);
    op.fixup = &fix_buffer_load<kType>;
    rows.push_back(op);
    const auto add = [this](std::string_view name, Handler run) {
      Op load = row(name, OpClass::VmemLoad, run, 1);
      if (kType.half != Half::None) load.fixup = [](Inst& in) { in.partial_write = true; };
      rows.push_back(load);
    };
    add(global, &load<Space::Global, kType>);
    add(flat, &load<Space::Flat, kType>);
    add(scratch, &load<Space::Scratch, kType>);
  }

  template <int kBytes, int kShift = 0>
  void add_store(std::string_view buffer, std::string_view global, std::string_view flat,
                 std::string_view scratch) {
    rows.push_back(row(buffer, OpClass::VmemStore, &buffer_store<kBytes, kShift>, 0));
    rows.push_back(row(global, OpClass::VmemStore, &store<Space::Global, kBytes, kShift>, 0));
    rows.push_back(row(flat, OpClass::VmemStore, &store<Space::Flat, kBytes, kShift>, 0));
    rows.push_back(row(scratch, OpClass::VmemStore, &store<Space::Scratch, kBytes, kShift>, 0));
  }

  template <class A>
  void add_atomic(std::string_view buffer, std::string_view global, std::string_view flat) {
    Op op = row(buffer, OpClass::VmemAtomic, &buffer_atomic<A>, 0);
    op.fixup = &fix_buffer_atomic;
    rows.push_back(op);
    op = row(global, OpClass::VmemAtomic, &atomic<Space::Global, A>, 0);
    op.fixup = &fix_atomic;
    rows.push_back(op);
    op = row(flat, OpClass::VmemAtomic, &atomic<Space::Flat, A>, 0);
    op.fixup = &fix_atomic;
    rows.push_back(op);
  }

  template <Space kSpace, MemoryType kType>
  void add_load_to_lds(std::string_view name) {
    Op op = row(name, OpClass::LdsDma, &load_to_lds<kSpace, kType>, 0);
    op.reads_m0 = true;
    rows.push_back(op);
  }

  template <int kComponents, Packing kPacking = Packing::Dwords>
  void add_format(std::string_view load, std::string_view store) {
    Op op = row(load, OpClass::VmemLoad, &buffer_load_format<kComponents, kPacking, false>, 1);
    op.fixup = &fix_format_load;
    rows.push_back(op);
    rows.push_back(
        row(store, OpClass::VmemStore, &buffer_store_format<kComponents, kPacking, false>, 0));
  }
  template <int kComponents, Packing kPacking = Packing::Dwords>
  void add_typed(std::string_view load, std::string_view store) {
    Op op = row(load, OpClass::VmemLoad, &buffer_load_format<kComponents, kPacking, true>, 1);
    op.fixup = &fix_format_load;
    rows.push_back(op);
    rows.push_back(
        row(store, OpClass::VmemStore, &buffer_store_format<kComponents, kPacking, true>, 0));
  }

  std::vector<Op> rows;
};

// The names of one operation in each address space.
#define GFXSIM_SPACES(name) "buffer_" name, "global_" name, "flat_" name, "scratch_" name
#define GFXSIM_ATOMIC(name) "buffer_atomic_" name, "global_atomic_" name, "flat_atomic_" name

void add_loads_and_stores(Rows* rows) {
  rows->add_load<kU8>(GFXSIM_SPACES("load_ubyte"));
  rows->add_load<kI8>(GFXSIM_SPACES("load_sbyte"));
  rows->add_load<kU16>(GFXSIM_SPACES("load_ushort"));
  rows->add_load<kI16>(GFXSIM_SPACES("load_sshort"));
  rows->add_load<kB32>(GFXSIM_SPACES("load_dword"));
  rows->add_load<kB64>(GFXSIM_SPACES("load_dwordx2"));
  rows->add_load<kB96>(GFXSIM_SPACES("load_dwordx3"));
  rows->add_load<kB128>(GFXSIM_SPACES("load_dwordx4"));
  rows->add_load<kU8Low>(GFXSIM_SPACES("load_ubyte_d16"));
  rows->add_load<kU8High>(GFXSIM_SPACES("load_ubyte_d16_hi"));
  rows->add_load<kI8Low>(GFXSIM_SPACES("load_sbyte_d16"));
  rows->add_load<kI8High>(GFXSIM_SPACES("load_sbyte_d16_hi"));
  rows->add_load<kB16Low>(GFXSIM_SPACES("load_short_d16"));
  rows->add_load<kB16High>(GFXSIM_SPACES("load_short_d16_hi"));

  rows->add_store<1>(GFXSIM_SPACES("store_byte"));
  rows->add_store<1, 16>(GFXSIM_SPACES("store_byte_d16_hi"));
  rows->add_store<2>(GFXSIM_SPACES("store_short"));
  rows->add_store<2, 16>(GFXSIM_SPACES("store_short_d16_hi"));
  rows->add_store<4>(GFXSIM_SPACES("store_dword"));
  rows->add_store<8>(GFXSIM_SPACES("store_dwordx2"));
  rows->add_store<12>(GFXSIM_SPACES("store_dwordx3"));
  rows->add_store<16>(GFXSIM_SPACES("store_dwordx4"));
}

void add_atomics(Rows* rows) {
  rows->add_atomic<AtomicSwap<uint32_t>>(GFXSIM_ATOMIC("swap"));
  rows->add_atomic<AtomicCompareSwap<uint32_t>>(GFXSIM_ATOMIC("cmpswap"));
  rows->add_atomic<AtomicAdd<uint32_t>>(GFXSIM_ATOMIC("add"));
  rows->add_atomic<AtomicSub<uint32_t>>(GFXSIM_ATOMIC("sub"));
  rows->add_atomic<AtomicMin<int32_t>>(GFXSIM_ATOMIC("smin"));
  rows->add_atomic<AtomicMin<uint32_t>>(GFXSIM_ATOMIC("umin"));
  rows->add_atomic<AtomicMax<int32_t>>(GFXSIM_ATOMIC("smax"));
  rows->add_atomic<AtomicMax<uint32_t>>(GFXSIM_ATOMIC("umax"));
  rows->add_atomic<AtomicAnd<uint32_t>>(GFXSIM_ATOMIC("and"));
  rows->add_atomic<AtomicOr<uint32_t>>(GFXSIM_ATOMIC("or"));
  rows->add_atomic<AtomicXor<uint32_t>>(GFXSIM_ATOMIC("xor"));
  rows->add_atomic<AtomicInc<uint32_t>>(GFXSIM_ATOMIC("inc"));
  rows->add_atomic<AtomicDec<uint32_t>>(GFXSIM_ATOMIC("dec"));
  rows->add_atomic<AtomicAdd<float>>(GFXSIM_ATOMIC("add_f32"));
  rows->add_atomic<AtomicPkAddF16>(GFXSIM_ATOMIC("pk_add_f16"));
  rows->add_atomic<AtomicPkAddBf16>(GFXSIM_ATOMIC("pk_add_bf16"));
  rows->add_atomic<AtomicAdd<double>>(GFXSIM_ATOMIC("add_f64"));
  rows->add_atomic<AtomicMin<double>>(GFXSIM_ATOMIC("min_f64"));
  rows->add_atomic<AtomicMax<double>>(GFXSIM_ATOMIC("max_f64"));
  rows->add_atomic<AtomicSwap<uint64_t>>(GFXSIM_ATOMIC("swap_x2"));
  rows->add_atomic<AtomicCompareSwap<uint64_t>>(GFXSIM_ATOMIC("cmpswap_x2"));
  rows->add_atomic<AtomicAdd<uint64_t>>(GFXSIM_ATOMIC("add_x2"));
  rows->add_atomic<AtomicSub<uint64_t>>(GFXSIM_ATOMIC("sub_x2"));
  rows->add_atomic<AtomicMin<int64_t>>(GFXSIM_ATOMIC("smin_x2"));
  rows->add_atomic<AtomicMin<uint64_t>>(GFXSIM_ATOMIC("umin_x2"));
  rows->add_atomic<AtomicMax<int64_t>>(GFXSIM_ATOMIC("smax_x2"));
  rows->add_atomic<AtomicMax<uint64_t>>(GFXSIM_ATOMIC("umax_x2"));
  rows->add_atomic<AtomicAnd<uint64_t>>(GFXSIM_ATOMIC("and_x2"));
  rows->add_atomic<AtomicOr<uint64_t>>(GFXSIM_ATOMIC("or_x2"));
  rows->add_atomic<AtomicXor<uint64_t>>(GFXSIM_ATOMIC("xor_x2"));
  rows->add_atomic<AtomicInc<uint64_t>>(GFXSIM_ATOMIC("inc_x2"));
  rows->add_atomic<AtomicDec<uint64_t>>(GFXSIM_ATOMIC("dec_x2"));
}

void add_loads_to_lds(Rows* rows) {
  rows->add_load_to_lds<Space::Global, kU8>("global_load_lds_ubyte");
  rows->add_load_to_lds<Space::Global, kI8>("global_load_lds_sbyte");
  rows->add_load_to_lds<Space::Global, kU16>("global_load_lds_ushort");
  rows->add_load_to_lds<Space::Global, kI16>("global_load_lds_sshort");
  rows->add_load_to_lds<Space::Global, kB32>("global_load_lds_dword");
  rows->add_load_to_lds<Space::Global, kB96>("global_load_lds_dwordx3");
  rows->add_load_to_lds<Space::Global, kB128>("global_load_lds_dwordx4");
  rows->add_load_to_lds<Space::Scratch, kU8>("scratch_load_lds_ubyte");
  rows->add_load_to_lds<Space::Scratch, kI8>("scratch_load_lds_sbyte");
  rows->add_load_to_lds<Space::Scratch, kU16>("scratch_load_lds_ushort");
  rows->add_load_to_lds<Space::Scratch, kI16>("scratch_load_lds_sshort");
  rows->add_load_to_lds<Space::Scratch, kB32>("scratch_load_lds_dword");
}

void add_formats(Rows* rows) {
  constexpr Packing kHalves = Packing::Halves;
  rows->add_format<1>("buffer_load_format_x", "buffer_store_format_x");
  rows->add_format<2>("buffer_load_format_xy", "buffer_store_format_xy");
  rows->add_format<3>("buffer_load_format_xyz", "buffer_store_format_xyz");
  rows->add_format<4>("buffer_load_format_xyzw", "buffer_store_format_xyzw");
  rows->add_format<1, kHalves>("buffer_load_format_d16_x", "buffer_store_format_d16_x");
  rows->add_format<2, kHalves>("buffer_load_format_d16_xy", "buffer_store_format_d16_xy");
  rows->add_format<3, kHalves>("buffer_load_format_d16_xyz", "buffer_store_format_d16_xyz");
  rows->add_format<4, kHalves>("buffer_load_format_d16_xyzw", "buffer_store_format_d16_xyzw");
  rows->add_format<1, Packing::HighHalf>("buffer_load_format_d16_hi_x",
                                         "buffer_store_format_d16_hi_x");
  rows->add_typed<1>("tbuffer_load_format_x", "tbuffer_store_format_x");
  rows->add_typed<2>("tbuffer_load_format_xy", "tbuffer_store_format_xy");
  rows->add_typed<3>("tbuffer_load_format_xyz", "tbuffer_store_format_xyz");
  rows->add_typed<4>("tbuffer_load_format_xyzw", "tbuffer_store_format_xyzw");
  rows->add_typed<1, kHalves>("tbuffer_load_format_d16_x", "tbuffer_store_format_d16_x");
  rows->add_typed<2, kHalves>("tbuffer_load_format_d16_xy", "tbuffer_store_format_d16_xy");
  rows->add_typed<3, kHalves>("tbuffer_load_format_d16_xyz", "tbuffer_store_format_d16_xyz");
  rows->add_typed<4, kHalves>("tbuffer_load_format_d16_xyzw", "tbuffer_store_format_d16_xyzw");
}

#undef GFXSIM_SPACES
#undef GFXSIM_ATOMIC

}  // namespace

std::vector<Op> vector_memory_ops() {
  Rows rows;
  add_loads_and_stores(&rows);
  add_atomics(&rows);
  add_loads_to_lds(&rows);
  add_formats(&rows);
  rows.rows.push_back(row("buffer_wbl2", OpClass::Other, &write_back, 0));
  rows.rows.push_back(row("buffer_inv", OpClass::Other, &invalidate, 0));
  return std::move(rows.rows);
}

}  // namespace gfxsim
