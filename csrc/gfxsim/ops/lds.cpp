// DS instructions: LDS reads, writes and atomics, and the lane permutations that use the LDS's
// crossbar without its memory.
//
// Alignment: amdhsa runs with unaligned access enabled, where reads and writes of any width take
// any address (LLVM: SITargetLowering::allowsMisalignedMemoryAccessesImpl and the feature
// unaligned-ds-access). Atomics need natural alignment; so do transposing reads, the 96-bit one
// 16 bytes (rocRoller pads its 6-bit tiles for that).

#include <algorithm>
#include <bit>

#include "gfxsim/lane_io.h"
#include "gfxsim/lds_access.h"
#include "gfxsim/ops/atomic_op.h"
#include "gfxsim/ops/families.h"
#include "gfxsim/workgroup.h"

namespace gfxsim {
namespace {

LdsAccess make_access(const Wave& w, const Inst& in, LdsAccessKind kind, int bytes) {
  if (in.mod.gds) fail(FaultKind::Unsupported, "global data share");
  LdsAccess access;
  access.inst = &in;
  access.kind = kind;
  access.bytes = static_cast<uint8_t>(bytes);
  access.mask = w.exec();
  return access;
}

// The operand plus `offset` bytes, modulo 2^32, in every lane.
void set_addresses(const Wave& w, const Operand& operand, uint32_t offset, LdsAccess* access) {
  w.require_defined(operand, access->mask, "an LDS address");
  for (int lane = 0; lane < kMaxLanes; ++lane)
    access->address[lane] = w.v[operand.reg][lane] + offset;
}

uint32_t m0_address(const Wave& w, const Inst& in) {
  constexpr uint32_t kM0AddressMask = 0xffff;
  if (w.scalar_undef(kM0))
    fail(FaultKind::UndefinedValue, "m0 was never written, and decides an LDS address");
  return (w.s[kM0] & kM0AddressMask) + static_cast<uint32_t>(in.mod.offset);
}

// Consecutive dwords, one a lane.
void set_thread_addresses(const Wave& w, const Inst& in, LdsAccess* access) {
  const uint32_t base = m0_address(w, in);
  for (int lane = 0; lane < kMaxLanes; ++lane)
    access->address[lane] = base + static_cast<uint32_t>(lane) * 4;
}

InFlight& issue_result(Wave& w, const Inst& in, int dwords) {
  return w.issue(MemEvent::Lds, in.dst().reg, dwords);
}
InFlight& issue_plain(Wave& w) { return w.issue(MemEvent::Lds, 0, 0); }

void finish_read(Wave& w, const Inst& in, MemoryType type, const LdsAccess& access) {
  begin_lds_access(w, access);
  LaneData data;
  load_lds(w, access, 0, &data);
  write_data(w, in.dst().reg, type, &data, access.mask);
  hold_lds_accesses(w, issue_result(w, in, type.dwords()), {&access});
}

template <MemoryType kType>
void ds_read(Wave& w, const Inst& in) {
  LdsAccess access = make_access(w, in, LdsAccessKind::Read, kType.bytes);
  set_addresses(w, in.src(0), static_cast<uint32_t>(in.mod.offset), &access);
  finish_read(w, in, kType, access);
}

void ds_read_addtid(Wave& w, const Inst& in) {
  LdsAccess access = make_access(w, in, LdsAccessKind::Read, 4);
  set_thread_addresses(w, in, &access);
  finish_read(w, in, kB32, access);
}

// Two accesses, whose offsets count in units.
struct PairAccess {
  LdsAccess first, second;
};
template <int kBytes, int kStride>
PairAccess make_pair_access(const Wave& w, const Inst& in, LdsAccessKind kind,
                            const Operand& address) {
  PairAccess pair{make_access(w, in, kind, kBytes), make_access(w, in, kind, kBytes)};
  set_addresses(w, address, static_cast<uint32_t>(in.mod.offset0 * kStride), &pair.first);
  set_addresses(w, address, static_cast<uint32_t>(in.mod.offset1 * kStride), &pair.second);
  return pair;
}

template <int kBytes, int kStride>
void ds_read2(Wave& w, const Inst& in) {
  constexpr int kDwords = kBytes / 4;
  const PairAccess pair = make_pair_access<kBytes, kStride>(w, in, LdsAccessKind::Read, in.src(0));
  begin_lds_access(w, pair.first);
  begin_lds_access(w, pair.second);
  LaneData data;
  load_lds(w, pair.first, 0, &data);
  load_lds(w, pair.second, kDwords, &data);
  write_data(w, in.dst().reg, MemoryType{2 * kBytes}, &data, pair.first.mask);
  hold_lds_accesses(w, issue_result(w, in, 2 * kDwords), {&pair.first, &pair.second});
}

void finish_write(Wave& w, const Operand& source, int shift, const LdsAccess& access) {
  begin_lds_access(w, access);
  LaneData data;
  read_data(w, source, 0, MemoryType{access.bytes}.dwords(), &data);
  store_lds(w, access, 0, shift, data);
  hold_lds_accesses(w, issue_plain(w), {&access});
}

template <int kBytes, int kShift = 0>
void ds_write(Wave& w, const Inst& in) {
  LdsAccess access = make_access(w, in, LdsAccessKind::Write, kBytes);
  set_addresses(w, in.src(0), static_cast<uint32_t>(in.mod.offset), &access);
  finish_write(w, in.src(1), kShift, access);
}

void ds_write_addtid(Wave& w, const Inst& in) {
  LdsAccess access = make_access(w, in, LdsAccessKind::Write, 4);
  set_thread_addresses(w, in, &access);
  finish_write(w, in.src(0), 0, access);
}

template <int kBytes, int kStride>
void ds_write2(Wave& w, const Inst& in) {
  const PairAccess pair = make_pair_access<kBytes, kStride>(w, in, LdsAccessKind::Write, in.src(0));
  begin_lds_access(w, pair.first);
  begin_lds_access(w, pair.second);
  LaneData data;
  read_data(w, in.src(1), 0, kBytes / 4, &data);
  store_lds(w, pair.first, 0, 0, data);
  read_data(w, in.src(2), 0, kBytes / 4, &data);
  store_lds(w, pair.second, 0, 0, data);
  hold_lds_accesses(w, issue_plain(w), {&pair.first, &pair.second});
}

// --- atomics ---

template <class A, bool kReturns>
void ds_atomic(Wave& w, const Inst& in) {
  using Bits = AtomicBits<typename A::Value>;
  constexpr int kDwords = sizeof(Bits) / 4;
  LdsAccess access = make_access(w, in, LdsAccessKind::Atomic, sizeof(Bits));
  set_addresses(w, in.src(0), static_cast<uint32_t>(in.mod.offset), &access);
  LaneData data, data2, old;
  read_data(w, in.src(1), 0, kDwords, &data);
  if constexpr (A::kOperands == 2)
    read_data(w, in.src(2), 0, kDwords, &data2);
  else
    data2.clear(kDwords);
  run_lds_atomic<A>(w, access, data, data2, 0, &old);
  if constexpr (kReturns) {
    write_data(w, in.dst().reg, MemoryType{sizeof(Bits)}, &old, access.mask);
    hold_lds_accesses(w, issue_result(w, in, kDwords), {&access});
  } else {
    hold_lds_accesses(w, issue_plain(w), {&access});
  }
}

template <class Bits, int kStride>
void ds_exchange2(Wave& w, const Inst& in) {
  constexpr int kDwords = sizeof(Bits) / 4;
  const PairAccess pair =
      make_pair_access<sizeof(Bits), kStride>(w, in, LdsAccessKind::Atomic, in.src(0));
  LaneData data, unused, old;
  unused.clear(kDwords);
  read_data(w, in.src(1), 0, kDwords, &data);
  run_lds_atomic<AtomicSwap<Bits>>(w, pair.first, data, unused, 0, &old);
  read_data(w, in.src(2), 0, kDwords, &data);
  run_lds_atomic<AtomicSwap<Bits>>(w, pair.second, data, unused, kDwords, &old);
  write_data(w, in.dst().reg, MemoryType{2 * sizeof(Bits)}, &old, pair.first.mask);
  hold_lds_accesses(w, issue_result(w, in, 2 * kDwords), {&pair.first, &pair.second});
}

// ds_append and ds_consume: a counter at M0 + offset moves by the number of active lanes, and every
// lane gets what it was.
template <bool kAppend>
void ds_counter(Wave& w, const Inst& in) {
  const uint64_t lanes = w.exec();
  LdsAccess access = make_access(w, in, LdsAccessKind::Atomic, 4);
  access.mask = lanes != 0;  // lane 0 stands for all
  std::fill_n(access.address, kMaxLanes, m0_address(w, in));
  LaneData data, unused, old;
  data.clear(1);
  unused.clear(1);
  old.clear(1);
  const uint32_t step = static_cast<uint32_t>(std::popcount(lanes));
  data.value[0][0] = kAppend ? step : 0 - step;
  run_lds_atomic<AtomicAdd<uint32_t>>(w, access, data, unused, 0, &old);
  std::fill_n(old.value[0], kMaxLanes, old.value[0][0]);
  if (old.any_undef) std::fill_n(old.undef[0], kMaxLanes, old.undef[0][0]);
  write_data(w, in.dst().reg, kB32, &old, lanes);
  hold_lds_accesses(w, issue_result(w, in, 1), {&access});
}

// --- transposing reads ---

// The 16 lanes of a group hold a matrix of 16 columns, row after row, each lane `kElements`
// adjacent elements of one row; lane t of the group gets column t.
template <int kBits, class Wide>
void transpose(LaneRow* rows) {
  constexpr int kGroup = 16;
  constexpr int kElements = sizeof(Wide) == 8 ? 64 / kBits : 96 / kBits;  // of a lane
  constexpr int kLanesPerRow = kGroup / kElements;
  constexpr int kDwords = kElements * kBits / 32;
  constexpr Wide kMask = (Wide{1} << kBits) - 1;
  for (int group = 0; group < kMaxLanes; group += kGroup) {
    Wide in[kGroup], out[kGroup] = {};
    for (int t = 0; t < kGroup; ++t) {
      in[t] = 0;
      for (int d = 0; d < kDwords; ++d) in[t] |= Wide{rows[d][group + t]} << (32 * d);
    }
    for (int e = 0; e < kElements; ++e)
      for (int t = 0; t < kGroup; ++t) {
        const Wide element = in[e * kLanesPerRow + t / kElements] >> (kBits * (t % kElements));
        out[t] |= (element & kMask) << (kBits * e);
      }
    for (int t = 0; t < kGroup; ++t)
      for (int d = 0; d < kDwords; ++d)
        rows[d][group + t] = static_cast<uint32_t>(out[t] >> (32 * d));
  }
}

template <int kBits>
void ds_read_transposed(Wave& w, const Inst& in) {
  using Wide = std::conditional_t<kBits == 6, unsigned __int128, uint64_t>;
  constexpr MemoryType kType = kBits == 6 ? kB96 : kB64;
  constexpr uint32_t kAlignment = kBits == 6 ? 16 : 8;
  LdsAccess access = make_access(w, in, LdsAccessKind::Read, kType.bytes);
  set_addresses(w, in.src(0), static_cast<uint32_t>(in.mod.offset), &access);
  require_lds_alignment(access, kAlignment);
  begin_lds_access(w, access);
  LaneData data;
  load_lds(w, access, 0, &data);
  if (access.mask != w.full_exec()) {
    // What a disabled lane would have read is unknown.
    data.track_undef(kType.dwords());
    for_lanes(~access.mask, [&](int lane) {
      for (int d = 0; d < kType.dwords(); ++d) {
        data.value[d][lane] = 0;
        data.undef[d][lane] = ~0u;
      }
    });
  }
  transpose<kBits, Wide>(data.value);
  if (data.any_undef) transpose<kBits, Wide>(data.undef);
  write_data(w, in.dst().reg, kType, &data, access.mask);
  hold_lds_accesses(w, issue_result(w, in, kType.dwords()), {&access});
}

// --- permutations ---

// Lane `lane` gets the source's value of lane from[lane], or 0 where that is negative or the lane
// disabled.
void finish_gather(Wave& w, const Inst& in, const Operand& source, const int8_t* from) {
  const uint64_t exec = w.exec();
  LaneData data, moved;
  read_data(w, source, 0, 1, &data);
  moved.clear(1);
  if (data.any_undef) moved.track_undef(1);
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    const int other = from[lane];
    const bool enabled = other >= 0 && (exec >> other & 1);
    moved.value[0][lane] = enabled ? data.value[0][other] : 0;
    if (data.any_undef) moved.undef[0][lane] = enabled ? data.undef[0][other] : 0;
  }
  write_data(w, in.dst().reg, kB32, &moved, exec);
  issue_result(w, in, 1);
}

uint32_t permuted_lane(const Wave& w, const Inst& in, int lane) {
  return (w.v[in.src(0).reg][lane] + static_cast<uint32_t>(in.mod.offset)) / 4 % kMaxLanes;
}

// Pull: each lane names the lane it reads.
void ds_bpermute(Wave& w, const Inst& in) {
  w.require_defined(in.src(0), w.exec(), "the lane that ds_bpermute reads");
  int8_t from[kMaxLanes];
  for (int lane = 0; lane < kMaxLanes; ++lane)
    from[lane] = static_cast<int8_t>(permuted_lane(w, in, lane));
  finish_gather(w, in, in.src(1), from);
}

// Push: each lane names the lane it writes; the highest of several writers wins.
void ds_permute(Wave& w, const Inst& in) {
  w.require_defined(in.src(0), w.exec(), "the lane that ds_permute writes");
  int8_t from[kMaxLanes];
  std::fill_n(from, kMaxLanes, int8_t{-1});
  for_lanes(w.exec(),
            [&](int lane) { from[permuted_lane(w, in, lane)] = static_cast<int8_t>(lane); });
  finish_gather(w, in, in.src(1), from);
}

int reverse_5_bits(int value) {
  int reversed = 0;
  for (int bit = 0; bit < 5; ++bit) reversed |= (value >> bit & 1) << (4 - bit);
  return reversed;
}

// The lane of its half wave that lane i reads, by the offset field's four encodings.
int swizzle_source(uint32_t offset, int i) {
  constexpr uint32_t kFft = 0xe000, kRotate = 0xc000, kQuadPerm = 0x8000;
  constexpr int kHalf = 31;
  const int low = offset & kHalf, middle = offset >> 5 & kHalf;
  if (offset >= kFft)
    return reverse_5_bits(i) >> std::popcount(static_cast<uint32_t>(low)) | (i & low);
  if (offset >= kRotate) {
    const int amount = offset >> 10 & 1 ? -middle : middle;
    return ((i & low) | ((i + amount) & ~low)) & kHalf;
  }
  if (offset >= kQuadPerm) return (i & ~3) | (offset >> (2 * (i & 3)) & 3);
  return ((i & low) | middle) ^ static_cast<int>(offset >> 10 & kHalf);
}

void ds_swizzle(Wave& w, const Inst& in) {
  if (in.mod.gds) fail(FaultKind::Unsupported, "global data share");
  int8_t from[kMaxLanes];
  const auto offset = static_cast<uint32_t>(in.mod.offset) & 0xffff;
  for (int lane = 0; lane < kMaxLanes; ++lane)
    from[lane] = static_cast<int8_t>((lane & 32) | swizzle_source(offset, lane & 31));
  finish_gather(w, in, in.src(0), from);
}

void ds_nop(Wave&, const Inst&) {}

// --- rows ---

Op row(std::string_view name, OpClass cls, Handler run, bool has_result) {
  Op op;
  op.name = name;
  op.cls = cls;
  op.run = run;
  op.num_dst = has_result ? 1 : 0;
  return op;
}

Op read_row(std::string_view name, Handler run) { return row(name, OpClass::LdsRead, run, true); }

// d16 loads keep the other half of their register.
template <MemoryType kType>
Op load_row(std::string_view name) {
  Op op = read_row(name, &ds_read<kType>);
  if (kType.half != Half::None) op.fixup = [](Inst& in) { in.partial_write = true; };
  return op;
}

Op write_row(std::string_view name, Handler run) {
  return row(name, OpClass::LdsWrite, run, false);
}

template <class A>
void add_atomic(std::vector<Op>* rows, std::string_view name, std::string_view returning) {
  rows->push_back(row(name, OpClass::LdsAtomic, &ds_atomic<A, false>, false));
  rows->push_back(row(returning, OpClass::LdsAtomic, &ds_atomic<A, true>, true));
}
template <class A>
void add_returning(std::vector<Op>* rows, std::string_view name) {
  rows->push_back(row(name, OpClass::LdsAtomic, &ds_atomic<A, true>, true));
}

void add_reads_and_writes(std::vector<Op>* rows) {
  const Op plain[] = {
      load_row<kI8>("ds_read_i8"),
      load_row<kU8>("ds_read_u8"),
      load_row<kI16>("ds_read_i16"),
      load_row<kU16>("ds_read_u16"),
      load_row<kU8Low>("ds_read_u8_d16"),
      load_row<kU8High>("ds_read_u8_d16_hi"),
      load_row<kI8Low>("ds_read_i8_d16"),
      load_row<kI8High>("ds_read_i8_d16_hi"),
      load_row<kB16Low>("ds_read_u16_d16"),
      load_row<kB16High>("ds_read_u16_d16_hi"),
      load_row<kB32>("ds_read_b32"),
      load_row<kB64>("ds_read_b64"),
      load_row<kB96>("ds_read_b96"),
      load_row<kB128>("ds_read_b128"),
      read_row("ds_read2_b32", &ds_read2<4, 4>),
      read_row("ds_read2st64_b32", &ds_read2<4, 64 * 4>),
      read_row("ds_read2_b64", &ds_read2<8, 8>),
      read_row("ds_read2st64_b64", &ds_read2<8, 64 * 8>),
      read_row("ds_read_b64_tr_b16", &ds_read_transposed<16>),
      read_row("ds_read_b64_tr_b8", &ds_read_transposed<8>),
      read_row("ds_read_b64_tr_b4", &ds_read_transposed<4>),
      read_row("ds_read_b96_tr_b6", &ds_read_transposed<6>),
      write_row("ds_write_b8", &ds_write<1>),
      write_row("ds_write_b16", &ds_write<2>),
      write_row("ds_write_b8_d16_hi", &ds_write<1, 16>),
      write_row("ds_write_b16_d16_hi", &ds_write<2, 16>),
      write_row("ds_write_b32", &ds_write<4>),
      write_row("ds_write_b64", &ds_write<8>),
      write_row("ds_write_b96", &ds_write<12>),
      write_row("ds_write_b128", &ds_write<16>),
      write_row("ds_write2_b32", &ds_write2<4, 4>),
      write_row("ds_write2st64_b32", &ds_write2<4, 64 * 4>),
      write_row("ds_write2_b64", &ds_write2<8, 8>),
      write_row("ds_write2st64_b64", &ds_write2<8, 64 * 8>),
      read_row("ds_swizzle_b32", &ds_swizzle),
      read_row("ds_permute_b32", &ds_permute),
      read_row("ds_bpermute_b32", &ds_bpermute),
      row("ds_nop", OpClass::Other, &ds_nop, false),
  };
  rows->insert(rows->end(), std::begin(plain), std::end(plain));
  Op with_m0[] = {
      read_row("ds_read_addtid_b32", &ds_read_addtid),
      write_row("ds_write_addtid_b32", &ds_write_addtid),
      row("ds_append", OpClass::LdsAtomic, &ds_counter<true>, true),
      row("ds_consume", OpClass::LdsAtomic, &ds_counter<false>, true),
  };
  for (Op& op : with_m0) {
    op.reads_m0 = true;
    rows->push_back(op);
  }
}

void add_atomics(std::vector<Op>* rows) {
  add_atomic<AtomicAdd<uint32_t>>(rows, "ds_add_u32", "ds_add_rtn_u32");
  add_atomic<AtomicSub<uint32_t>>(rows, "ds_sub_u32", "ds_sub_rtn_u32");
  add_atomic<AtomicReverseSub<uint32_t>>(rows, "ds_rsub_u32", "ds_rsub_rtn_u32");
  add_atomic<AtomicInc<uint32_t>>(rows, "ds_inc_u32", "ds_inc_rtn_u32");
  add_atomic<AtomicDec<uint32_t>>(rows, "ds_dec_u32", "ds_dec_rtn_u32");
  add_atomic<AtomicMin<int32_t>>(rows, "ds_min_i32", "ds_min_rtn_i32");
  add_atomic<AtomicMax<int32_t>>(rows, "ds_max_i32", "ds_max_rtn_i32");
  add_atomic<AtomicMin<uint32_t>>(rows, "ds_min_u32", "ds_min_rtn_u32");
  add_atomic<AtomicMax<uint32_t>>(rows, "ds_max_u32", "ds_max_rtn_u32");
  add_atomic<AtomicAnd<uint32_t>>(rows, "ds_and_b32", "ds_and_rtn_b32");
  add_atomic<AtomicOr<uint32_t>>(rows, "ds_or_b32", "ds_or_rtn_b32");
  add_atomic<AtomicXor<uint32_t>>(rows, "ds_xor_b32", "ds_xor_rtn_b32");
  add_atomic<AtomicMaskOr<uint32_t>>(rows, "ds_mskor_b32", "ds_mskor_rtn_b32");
  add_atomic<AtomicCompareStore<uint32_t>>(rows, "ds_cmpst_b32", "ds_cmpst_rtn_b32");
  add_atomic<AtomicCompareStore<float>>(rows, "ds_cmpst_f32", "ds_cmpst_rtn_f32");
  add_atomic<AtomicMin<float>>(rows, "ds_min_f32", "ds_min_rtn_f32");
  add_atomic<AtomicMax<float>>(rows, "ds_max_f32", "ds_max_rtn_f32");
  add_atomic<AtomicAdd<float>>(rows, "ds_add_f32", "ds_add_rtn_f32");
  add_atomic<AtomicPkAddF16>(rows, "ds_pk_add_f16", "ds_pk_add_rtn_f16");
  add_atomic<AtomicPkAddBf16>(rows, "ds_pk_add_bf16", "ds_pk_add_rtn_bf16");
  add_returning<AtomicSwap<uint32_t>>(rows, "ds_wrxchg_rtn_b32");
  add_returning<AtomicWrap<uint32_t>>(rows, "ds_wrap_rtn_b32");

  add_atomic<AtomicAdd<uint64_t>>(rows, "ds_add_u64", "ds_add_rtn_u64");
  add_atomic<AtomicSub<uint64_t>>(rows, "ds_sub_u64", "ds_sub_rtn_u64");
  add_atomic<AtomicReverseSub<uint64_t>>(rows, "ds_rsub_u64", "ds_rsub_rtn_u64");
  add_atomic<AtomicInc<uint64_t>>(rows, "ds_inc_u64", "ds_inc_rtn_u64");
  add_atomic<AtomicDec<uint64_t>>(rows, "ds_dec_u64", "ds_dec_rtn_u64");
  add_atomic<AtomicMin<int64_t>>(rows, "ds_min_i64", "ds_min_rtn_i64");
  add_atomic<AtomicMax<int64_t>>(rows, "ds_max_i64", "ds_max_rtn_i64");
  add_atomic<AtomicMin<uint64_t>>(rows, "ds_min_u64", "ds_min_rtn_u64");
  add_atomic<AtomicMax<uint64_t>>(rows, "ds_max_u64", "ds_max_rtn_u64");
  add_atomic<AtomicAnd<uint64_t>>(rows, "ds_and_b64", "ds_and_rtn_b64");
  add_atomic<AtomicOr<uint64_t>>(rows, "ds_or_b64", "ds_or_rtn_b64");
  add_atomic<AtomicXor<uint64_t>>(rows, "ds_xor_b64", "ds_xor_rtn_b64");
  add_atomic<AtomicMaskOr<uint64_t>>(rows, "ds_mskor_b64", "ds_mskor_rtn_b64");
  add_atomic<AtomicCompareStore<uint64_t>>(rows, "ds_cmpst_b64", "ds_cmpst_rtn_b64");
  add_atomic<AtomicCompareStore<double>>(rows, "ds_cmpst_f64", "ds_cmpst_rtn_f64");
  add_atomic<AtomicMin<double>>(rows, "ds_min_f64", "ds_min_rtn_f64");
  add_atomic<AtomicMax<double>>(rows, "ds_max_f64", "ds_max_rtn_f64");
  add_atomic<AtomicAdd<double>>(rows, "ds_add_f64", "ds_add_rtn_f64");
  add_returning<AtomicSwap<uint64_t>>(rows, "ds_wrxchg_rtn_b64");
  add_returning<AtomicConditionalExchange32>(rows, "ds_condxchg32_rtn_b64");

  const auto exchange2 = [rows](std::string_view name, Handler run) {
    rows->push_back(row(name, OpClass::LdsAtomic, run, true));
  };
  exchange2("ds_wrxchg2_rtn_b32", &ds_exchange2<uint32_t, 4>);
  exchange2("ds_wrxchg2st64_rtn_b32", &ds_exchange2<uint32_t, 64 * 4>);
  exchange2("ds_wrxchg2_rtn_b64", &ds_exchange2<uint64_t, 8>);
  exchange2("ds_wrxchg2st64_rtn_b64", &ds_exchange2<uint64_t, 64 * 8>);
}

}  // namespace

std::vector<Op> lds_ops() {
  std::vector<Op> rows;
  add_reads_and_writes(&rows);
  add_atomics(&rows);
  return rows;
}

}  // namespace gfxsim
