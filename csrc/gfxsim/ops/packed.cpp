// Packed operations (VOP3P without the matrix operations): two elements in a register or a pair,
// mixed precision FMA, and dot products.
#include <algorithm>
#include <cmath>

#include "gfxsim/ops/families.h"
#include "gfxsim/ops/float_math.h"
#include "gfxsim/ops/packed_op.h"

namespace gfxsim {
namespace {

using I16 = Saturating<int16_t>;
using U16 = Saturating<uint16_t>;
using I32 = Saturating<int32_t>;
using U32 = Saturating<uint32_t>;

template <class Signature>
struct IeeePacked16;
template <class R, class... A>
struct IeeePacked16<R(A...)> {
  template <class Ieee, class Plain>
  using Switch = ByIeeeMode<PackedOp<16, Ieee, R, A...>, PackedOp<16, Plain, R, A...>>;
};

// A row with a function for IEEE mode and one for the mode without.
template <class Signature, class Ieee, class Plain>
Op ieee_packed16_op(std::string_view name, Ieee ieee, Plain) {
  using Switch = typename IeeePacked16<Signature>::template Switch<Ieee, Plain>;
  Op op = packed16_op<Signature>(name, ieee);
  op.run = &Switch::run;
  op.propagate = &Switch::propagate;
  return op;
}

void add_float_rows(std::vector<Op>& ops) {
  ops.push_back(packed16_op<F16(F16, F16, F16)>(
      "v_pk_fma_f16", [](F16 a, F16 b, F16 c) { return fma_f16(a, b, c); }));
  Op fmac = packed16_op<F16(F16, F16, F16)>("v_pk_fmac_f16",
                                            [](F16 a, F16 b, F16 c) { return fma_f16(a, b, c); });
  fmac.reads_dst = true;
  ops.push_back(fmac);
  ops.push_back(packed16_op<F16(F16, F16)>("v_pk_add_f16", [](F16 a, F16 b) { return a + b; }));
  ops.push_back(packed16_op<F16(F16, F16)>("v_pk_mul_f16", [](F16 a, F16 b) { return a * b; }));
  ops.push_back(ieee_packed16_op<F16(F16, F16)>(
      "v_pk_min_f16", [](F16 a, F16 b) { return min_number<true>(a, b); },
      [](F16 a, F16 b) { return min_number<false>(a, b); }));
  ops.push_back(ieee_packed16_op<F16(F16, F16)>(
      "v_pk_max_f16", [](F16 a, F16 b) { return max_number<true>(a, b); },
      [](F16 a, F16 b) { return max_number<false>(a, b); }));
  ops.push_back(packed16_op<F16(F16, F16, F16)>(
      "v_pk_minimum3_f16", [](F16 a, F16 b, F16 c) { return minimum(minimum(a, b), c); }));
  ops.push_back(packed16_op<F16(F16, F16, F16)>(
      "v_pk_maximum3_f16", [](F16 a, F16 b, F16 c) { return maximum(maximum(a, b), c); }));
  ops.push_back(packed32_op<float(float, float, float)>(
      "v_pk_fma_f32", [](float a, float b, float c) { return std::fma(a, b, c); }));
  ops.push_back(
      packed32_op<float(float, float)>("v_pk_mul_f32", [](float a, float b) { return a * b; }));
  ops.push_back(
      packed32_op<float(float, float)>("v_pk_add_f32", [](float a, float b) { return a + b; }));
}

void add_integer_rows(std::vector<Op>& ops) {
  constexpr int kShiftMask = 15;
  ops.push_back(packed16_op<I16(int16_t, int16_t, int16_t)>(
      "v_pk_mad_i16", [](int64_t a, int64_t b, int64_t c) { return I16{a * b + c}; }));
  ops.push_back(packed16_op<U16(uint16_t, uint16_t, uint16_t)>(
      "v_pk_mad_u16", [](int64_t a, int64_t b, int64_t c) { return U16{a * b + c}; }));
  ops.push_back(packed16_op<U16(uint16_t, uint16_t)>(
      "v_pk_mul_lo_u16", [](int64_t a, int64_t b) { return U16{a * b}; }));
  ops.push_back(packed16_op<I16(int16_t, int16_t)>(
      "v_pk_add_i16", [](int64_t a, int64_t b) { return I16{a + b}; }));
  ops.push_back(packed16_op<I16(int16_t, int16_t)>(
      "v_pk_sub_i16", [](int64_t a, int64_t b) { return I16{a - b}; }));
  ops.push_back(packed16_op<U16(uint16_t, uint16_t)>(
      "v_pk_add_u16", [](int64_t a, int64_t b) { return U16{a + b}; }));
  ops.push_back(packed16_op<U16(uint16_t, uint16_t)>(
      "v_pk_sub_u16", [](int64_t a, int64_t b) { return U16{a - b}; }));
  ops.push_back(packed16_op<uint16_t(uint16_t, uint16_t)>(
      "v_pk_lshlrev_b16",
      [](uint32_t n, uint32_t x) { return static_cast<uint16_t>(x << (n & kShiftMask)); }));
  ops.push_back(packed16_op<uint16_t(uint16_t, uint16_t)>(
      "v_pk_lshrrev_b16",
      [](uint32_t n, uint32_t x) { return static_cast<uint16_t>(x >> (n & kShiftMask)); }));
  ops.push_back(packed16_op<uint16_t(uint16_t, int16_t)>(
      "v_pk_ashrrev_i16",
      [](uint32_t n, int32_t x) { return static_cast<uint16_t>(x >> (n & kShiftMask)); }));
  ops.push_back(packed16_op<int16_t(int16_t, int16_t)>(
      "v_pk_max_i16", [](int16_t a, int16_t b) { return a > b ? a : b; }));
  ops.push_back(packed16_op<int16_t(int16_t, int16_t)>(
      "v_pk_min_i16", [](int16_t a, int16_t b) { return a < b ? a : b; }));
  ops.push_back(packed16_op<uint16_t(uint16_t, uint16_t)>(
      "v_pk_max_u16", [](uint16_t a, uint16_t b) { return a > b ? a : b; }));
  ops.push_back(packed16_op<uint16_t(uint16_t, uint16_t)>(
      "v_pk_min_u16", [](uint16_t a, uint16_t b) { return a < b ? a : b; }));
}

// --- v_pk_mov_b32: two dwords, each chosen from a pair -------------------------------------------

void move_pair(Wave& w, const Inst& in, Plane plane, uint64_t mask) {
  LaneBuffer<uint32_t> scratch[2], out[2];
  for (int i = 0; i < 2; ++i) {
    const int dword = in.mod.op_sel >> i & 1;
    const uint32_t* row = fetch_dword(w, in, i, dword, plane, scratch[i].lane);
    std::copy_n(row, kMaxLanes, out[i].lane);
  }
  for (int i = 0; i < 2; ++i) {
    const int reg = in.dst().reg + i;
    blend_row(plane == Plane::Value ? w.v[reg] : w.undef_row(reg), out[i].lane, mask);
    if (plane == Plane::Undef) w.settle_undef(reg);
  }
}

void run_pk_mov(Wave& w, const Inst& in) { move_pair(w, in, Plane::Value, write_mask(w, in)); }

void propagate_pk_mov(Wave& w, const Inst& in) {
  const uint64_t mask = write_mask(w, in);
  // The undefined plane first: the value plane's move does not touch it.
  move_pair(w, in, Plane::Undef, mask);
  move_pair(w, in, Plane::Value, mask);
}

Op pk_mov_row() {
  Op op;
  op.name = "v_pk_mov_b32";
  op.cls = OpClass::Valu;
  op.run = &run_pk_mov;
  op.propagate = &propagate_pk_mov;
  op.types[1] = op.types[2] = Type::B32;
  op.fixup = &reject_sign_modifiers;
  return op;
}

// --- v_fma_mix: each source is an f32, or either half of a register as f16
// ------------------------

// Where the result goes.
enum class MixResult : uint8_t { F32, LowF16, HighF16 };

// op_sel_hi is not printed when it is zero.
bool is_f16_source(const Inst& in, int i) {
  constexpr uint8_t kNotPrinted = 0xff;
  return in.mod.op_sel_hi != kNotPrinted && (in.mod.op_sel_hi >> i & 1);
}

// An inline constant has the format of its source.
void encode_mix_constants(Inst& in) {
  for (int i = 0; i < in.num_src(); ++i) {
    Operand& operand = in.operands[in.num_dst + i];
    if (operand.is_constant() && operand.is_float && is_f16_source(in, i))
      operand.bits = raw_bits(static_cast<F16>(static_cast<float>(operand.float_value)));
  }
}

void fetch_mix_source(const Wave& w, const Inst& in, int i, float* out) {
  LaneBuffer<uint32_t> scratch;
  const uint32_t* row = fetch_dword(w, in, i, 0, Plane::Value, scratch.lane);
  const Operand& operand = in.src(i);
  if (is_f16_source(in, i)) {
    const int shift = in.mod.op_sel >> i & 1 ? 16 : 0;
    for (int lane = 0; lane < kMaxLanes; ++lane)
      out[lane] = from_bits<F16>(static_cast<uint16_t>(row[lane] >> shift));
  } else {
    for (int lane = 0; lane < kMaxLanes; ++lane) out[lane] = from_bits<float>(row[lane]);
  }
  if (operand.abs)
    for (int lane = 0; lane < kMaxLanes; ++lane) out[lane] = __builtin_fabsf(out[lane]);
  if (operand.neg)
    for (int lane = 0; lane < kMaxLanes; ++lane) out[lane] = -out[lane];
}

// A row with `half` put into the low or the high halves.
template <MixResult kResult>
void merge_half(uint32_t* row, const uint16_t* half, uint64_t mask) {
  LaneBuffer<uint32_t> merged;
  for (int lane = 0; lane < kMaxLanes; ++lane)
    merged.lane[lane] = kResult == MixResult::LowF16
                            ? (row[lane] & 0xffff0000) | half[lane]
                            : (row[lane] & 0xffff) | uint32_t{half[lane]} << 16;
  blend_row(row, merged.lane, mask);
}

template <MixResult kResult>
void run_fma_mix(Wave& w, const Inst& in) {
  const uint64_t mask = write_mask(w, in);
  LaneBuffer<float> source[3], out;
  for (int i = 0; i < 3; ++i) fetch_mix_source(w, in, i, source[i].lane);
  with_environment<float>(w, [&] {
    for (int lane = 0; lane < kMaxLanes; ++lane)
      out.lane[lane] = std::fma(source[0].lane[lane], source[1].lane[lane], source[2].lane[lane]);
  });
  if constexpr (kResult == MixResult::F32) {
    ElementResult<float>::modify(reinterpret_cast<uint32_t*>(out.lane), w, in);
    commit32(w, in, 0, reinterpret_cast<const uint32_t*>(out.lane), mask, Plane::Value);
  } else {
    LaneBuffer<uint16_t> half;
    with_environment<F16>(w, [&] {
      for (int lane = 0; lane < kMaxLanes; ++lane)
        half.lane[lane] = raw_bits(static_cast<F16>(out.lane[lane]));
    });
    ElementResult<F16>::modify(half.lane, w, in);
    merge_half<kResult>(w.v[in.dst().reg], half.lane, mask);
  }
}

template <MixResult kResult>
void propagate_fma_mix(Wave& w, const Inst& in) {
  const uint64_t mask = write_mask(w, in);
  LaneBuffer<uint32_t> any;
  std::fill_n(any.lane, kMaxLanes, 0);
  for (int i = 0; i < 3; ++i) {
    LaneBuffer<uint32_t> scratch;
    const uint32_t* row = fetch_dword(w, in, i, 0, Plane::Undef, scratch.lane);
    const uint32_t used = !is_f16_source(in, i)    ? 0xffffffff
                          : in.mod.op_sel >> i & 1 ? 0xffff0000
                                                   : 0x0000ffff;
    for (int lane = 0; lane < kMaxLanes; ++lane) any.lane[lane] |= row[lane] & used;
  }
  for (uint32_t& lane : any.lane) lane = lane ? ~uint32_t{0} : 0;
  run_fma_mix<kResult>(w, in);
  if constexpr (kResult == MixResult::F32) {
    commit32(w, in, 0, any.lane, mask, Plane::Undef);
  } else {
    LaneBuffer<uint16_t> half;
    for (int lane = 0; lane < kMaxLanes; ++lane)
      half.lane[lane] = static_cast<uint16_t>(any.lane[lane]);
    const int reg = in.dst().reg;
    merge_half<kResult>(w.undef_row(reg), half.lane, mask);
    w.settle_undef(reg);
  }
}

template <MixResult kResult>
Op mix_row(std::string_view name) {
  Op op;
  op.name = name;
  op.cls = OpClass::Valu;
  op.run = &run_fma_mix<kResult>;
  op.propagate = &propagate_fma_mix<kResult>;
  op.fixup = &encode_mix_constants;
  op.reads_dst = kResult != MixResult::F32;
  op.types[0] = kResult == MixResult::F32 ? Type::F32 : Type::F16;
  op.types[1] = op.types[2] = op.types[3] = Type::F32;
  return op;
}

// --- dot products
// ---------------------------------------------------------------------------------

// Sum of products of kBits-wide fields, signed or not.
template <int kBits, bool kSigned>
int64_t dot(uint32_t a, uint32_t b) {
  int32_t sum = 0;
  for (int at = 0; at < 32; at += kBits) {
    if constexpr (kSigned) {
      const auto field = [at](uint32_t x) {
        return static_cast<int32_t>(x << (32 - kBits - at)) >> (32 - kBits);
      };
      sum += field(a) * field(b);
    } else {
      constexpr uint32_t kMask = (1u << kBits) - 1;
      sum += static_cast<int32_t>((a >> at & kMask) * (b >> at & kMask));
    }
  }
  return sum;
}

Op accumulating(Op op) {
  op.reads_dst = true;
  return op;
}

void add_dot_rows(std::vector<Op>& ops) {
  // Summed in f64 and rounded once: the ISA fixes neither the order nor the rounding in between.
  const auto dot2_f16 = [](double a0, double b0, double a1, double b1, double c) {
    return static_cast<float>(a0 * b0 + a1 * b1 + c);
  };
  const auto dot2_bf16 = [](BF16 a0, BF16 b0, BF16 a1, BF16 b1, double c) {
    const auto product = [](BF16 a, BF16 b) {
      return static_cast<double>(to_float(a)) * static_cast<double>(to_float(b));
    };
    return static_cast<float>(product(a0, b0) + product(a1, b1) + c);
  };
  const auto dot2_i16 = [](int64_t a0, int64_t b0, int64_t a1, int64_t b1, int64_t c) {
    return I32{a0 * b0 + a1 * b1 + c};
  };
  const auto dot2_u16 = [](int64_t a0, int64_t b0, int64_t a1, int64_t b1, int64_t c) {
    return U32{a0 * b0 + a1 * b1 + c};
  };
  using Dot2F16 = float(F16, F16, F16, F16, float);
  using Dot2BF16 = float(BF16, BF16, BF16, BF16, float);
  using Dot2I16 = I32(int16_t, int16_t, int16_t, int16_t, int32_t);
  using Dot2U16 = U32(uint16_t, uint16_t, uint16_t, uint16_t, uint32_t);
  ops.push_back(dot2_op<Dot2F16>("v_dot2_f32_f16", dot2_f16));
  ops.push_back(accumulating(dot2_op<Dot2F16>("v_dot2c_f32_f16", dot2_f16)));
  ops.push_back(dot2_op<Dot2BF16>("v_dot2_f32_bf16", dot2_bf16));
  ops.push_back(accumulating(dot2_op<Dot2BF16>("v_dot2c_f32_bf16", dot2_bf16)));
  ops.push_back(dot2_op<Dot2I16>("v_dot2_i32_i16", dot2_i16));
  ops.push_back(accumulating(dot2_op<Dot2I16>("v_dot2c_i32_i16", dot2_i16)));
  ops.push_back(dot2_op<Dot2U16>("v_dot2_u32_u16", dot2_u16));

  const auto dot4_i8 = [](uint32_t a, uint32_t b, int32_t c) {
    return I32{dot<8, true>(a, b) + c};
  };
  const auto dot8_i4 = [](uint32_t a, uint32_t b, int32_t c) {
    return I32{dot<4, true>(a, b) + c};
  };
  using DotSigned = I32(uint32_t, uint32_t, int32_t);
  using DotUnsigned = U32(uint32_t, uint32_t, uint32_t);
  ops.push_back(lane_op<DotSigned>("v_dot4_i32_i8", dot4_i8));
  ops.push_back(accumulate_op<DotSigned>("v_dot4c_i32_i8", dot4_i8));
  ops.push_back(lane_op<DotSigned>("v_dot8_i32_i4", dot8_i4));
  ops.push_back(accumulate_op<DotSigned>("v_dot8c_i32_i4", dot8_i4));
  ops.push_back(lane_op<DotUnsigned>("v_dot4_u32_u8", [](uint32_t a, uint32_t b, uint32_t c) {
    return U32{dot<8, false>(a, b) + c};
  }));
  ops.push_back(lane_op<DotUnsigned>("v_dot8_u32_u4", [](uint32_t a, uint32_t b, uint32_t c) {
    return U32{dot<4, false>(a, b) + c};
  }));
}

}  // namespace

std::vector<Op> packed_ops() {
  std::vector<Op> ops;
  add_float_rows(ops);
  add_integer_rows(ops);
  add_dot_rows(ops);
  ops.push_back(pk_mov_row());
  ops.push_back(pair_op<uint16_t(F16)>("v_pack_b32_f16", [](F16 x) { return raw_bits(x); }));
  ops.push_back(mix_row<MixResult::F32>("v_fma_mix_f32"));
  ops.push_back(mix_row<MixResult::LowF16>("v_fma_mixlo_f16"));
  ops.push_back(mix_row<MixResult::HighF16>("v_fma_mixhi_f16"));
  return ops;
}

}  // namespace gfxsim
