// Vector operations on integers and bits.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

#include "gfxsim/lane_op.h"
#include "gfxsim/ops/families.h"

namespace gfxsim {
namespace {

// Sources (bit i: source i) whose undefined bits make the whole result undefined: shift amounts,
// selectors, field positions.
constexpr LaneOpOptions bitwise(unsigned control = 0) {
  return {.undef = Undef::Bits, .control = control};
}
constexpr LaneOpOptions carrying(unsigned control = 0) {
  return {.undef = Undef::Carry, .control = control};
}
constexpr LaneOpOptions kWhole{};

// Where a 16-bit result leaves the other half of its register. The operations that gfx8 had clear
// the high half; those that take op_sel keep it.
constexpr LaneOpOptions keeping_high(LaneOpOptions options) {
  options.keep_high = true;
  return options;
}

// --- the clamp modifier ------------------------------------------------------------------------

// Saturation lets any bit decide all.
constexpr LaneOpOptions saturating(LaneOpOptions options) {
  options.undef = Undef::Whole;
  return options;
}

// A row that computes Clamped instead of Plain when the instruction clamps.
template <class PlainSignature, class ClampedSignature, LaneOpOptions Options, class Plain,
          class Clamped>
Op clampable_op(std::string_view name, Plain plain, Clamped) {
  Op op = lane_op<PlainSignature, Options>(name, plain);
  op.fixup = [](Inst& in) {
    if (!in.mod.clamp) return;
    const Op clamped = lane_op<ClampedSignature, saturating(Options)>({}, Clamped{});
    in.run = clamped.run;
    in.propagate = clamped.propagate;
  };
  return op;
}

template <class Signature>
struct Arithmetic;

template <class T, class... A>
struct Arithmetic<T(A...)> {
  template <LaneOpOptions Options, class F>
  static Op make(std::string_view name, F) {
    return clampable_op<T(A...), Saturating<T>(A...), Options>(
        name, [](A... a) { return static_cast<T>(F{}(static_cast<uint32_t>(a)...)); },
        [](A... a) {
          return Saturating<T>{static_cast<int64_t>(F{}(static_cast<int64_t>(a)...))};
        });
  }
};

// Sums and products that wrap, or saturate when the instruction clamps. `f` is generic: uint32_t
// sources (signed ones sign-extended) give the wrapped result, int64_t sources the exact one.
template <class Signature, LaneOpOptions Options = carrying(), class F>
Op arithmetic_op(std::string_view name, F f) {
  return Arithmetic<Signature>::template make<Options>(name, f);
}

// --- meanings ----------------------------------------------------------------------------------

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kSub = [](auto a, auto b) { return a - b; };
constexpr auto kSubReversed = [](auto a, auto b) { return b - a; };
constexpr auto kMul = [](auto a, auto b) { return a * b; };
constexpr auto kMad = [](auto a, auto b, auto c) { return a * b + c; };
constexpr auto kMin = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto kMax = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto kMin3 = [](auto a, auto b, auto c) { return std::min(std::min(a, b), c); };
constexpr auto kMax3 = [](auto a, auto b, auto c) { return std::max(std::max(a, b), c); };
constexpr auto kMed3 = [](auto a, auto b, auto c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
};

// The low `bits` bits of a shift amount count.
template <int Bits>
constexpr uint32_t shift_amount(uint32_t x) {
  return x & ((1u << Bits) - 1);
}

// The low 24 bits of a source, extended.
template <class U>
constexpr U signed24(U x) {
  return static_cast<U>(static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8);
}
template <class U>
constexpr U unsigned24(U x) {
  return x & 0xffffff;
}

template <int Index>
constexpr uint32_t byte_of(uint32_t x) {
  return x >> (8 * Index) & 0xff;
}

constexpr uint32_t abs_diff(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

constexpr uint32_t sum_abs_diff_u8(uint32_t a, uint32_t b) {
  return abs_diff(byte_of<0>(a), byte_of<0>(b)) + abs_diff(byte_of<1>(a), byte_of<1>(b)) +
         abs_diff(byte_of<2>(a), byte_of<2>(b)) + abs_diff(byte_of<3>(a), byte_of<3>(b));
}

// Bytes that are 0 in the reference do not count.
constexpr uint32_t masked_sum_abs_diff_u8(uint32_t a, uint32_t reference) {
  const auto part = [](uint32_t x, uint32_t r) { return abs_diff(x, r) & (r == 0 ? 0u : ~0u); };
  return part(byte_of<0>(a), byte_of<0>(reference)) + part(byte_of<1>(a), byte_of<1>(reference)) +
         part(byte_of<2>(a), byte_of<2>(reference)) + part(byte_of<3>(a), byte_of<3>(reference));
}

constexpr uint32_t sum_abs_diff_u16(uint32_t a, uint32_t b) {
  return abs_diff(a & 0xffff, b & 0xffff) + abs_diff(a >> 16, b >> 16);
}

// The sum at byte offset Index of `a`, added to its own 16 bits of `c`.
template <auto SumAbsDiff, bool Clamp, int Index>
constexpr uint64_t quad_part(uint64_t a, uint32_t b, uint64_t c) {
  const uint32_t total = SumAbsDiff(static_cast<uint32_t>(a >> (8 * Index)), b) +
                         static_cast<uint16_t>(c >> (16 * Index));
  const uint32_t kept = Clamp && total > 0xffff ? 0xffff : total & 0xffff;
  return uint64_t{kept} << (16 * Index);
}
template <auto SumAbsDiff, bool Clamp>
constexpr uint64_t quad_sum_abs_diff(uint64_t a, uint32_t b, uint64_t c) {
  return quad_part<SumAbsDiff, Clamp, 0>(a, b, c) | quad_part<SumAbsDiff, Clamp, 1>(a, b, c) |
         quad_part<SumAbsDiff, Clamp, 2>(a, b, c) | quad_part<SumAbsDiff, Clamp, 3>(a, b, c);
}

template <int Index>
constexpr uint32_t average_byte(uint32_t a, uint32_t b, uint32_t round) {
  return (byte_of<Index>(a) + byte_of<Index>(b) + (byte_of<Index>(round) & 1)) >> 1 << (8 * Index);
}

constexpr uint32_t reverse_bits(uint32_t x) {
  x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
  x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
  x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
  return __builtin_bswap32(x);
}

constexpr uint32_t kNoBitFound = ~uint32_t{0};

template <int Low, int High>
constexpr uint16_t shift_and_saturate(int32_t a, int32_t b, uint32_t amount) {
  const auto part = [amount](int32_t x) {
    const int32_t shifted = x >> shift_amount<5>(amount);
    return static_cast<uint32_t>(shifted < Low ? Low : shifted > High ? High : shifted) & 0xff;
  };
  return static_cast<uint16_t>(part(a) | part(b) << 8);
}

template <int Low, int High>
Op ashr_pk_op(std::string_view name) {
  return lane_op<uint16_t(int32_t, int32_t, uint32_t), keeping_high(kWhole)>(
      name, [](int32_t a, int32_t b, uint32_t amount) {
        return shift_and_saturate<Low, High>(a, b, amount);
      });
}

// --- additions with carry ----------------------------------------------------------------------

using SumAndCarry = Two<uint32_t, LaneBit>;

// a + b + carry, or a - b - borrow. With Clamp the result stays inside 32 bits.
template <bool Clamp>
constexpr SumAndCarry add_with_carry(uint32_t a, uint32_t b, LaneBit carry) {
  const uint32_t partial = a + b, sum = partial + static_cast<uint32_t>(carry);
  const bool overflow = (partial < a) | (sum < partial);
  return {Clamp && overflow ? ~0u : sum, lane_bit(overflow)};
}
template <bool Clamp>
constexpr SumAndCarry sub_with_borrow(uint32_t a, uint32_t b, LaneBit borrow) {
  const uint32_t partial = a - b, difference = partial - static_cast<uint32_t>(borrow);
  const bool underflow = (a < b) | (partial < difference);
  return {Clamp && underflow ? 0u : difference, lane_bit(underflow)};
}

// `plain` and `clamped` take (a, b, carry); the row has the carry as a source only if CarryIn.
template <bool CarryIn, class Plain, class Clamped>
Op carry_op(std::string_view name, Plain plain, Clamped clamped) {
  if constexpr (CarryIn) {
    using Signature = SumAndCarry(uint32_t, uint32_t, LaneBit);
    return clampable_op<Signature, Signature, carrying()>(name, plain, clamped);
  } else {
    using Signature = SumAndCarry(uint32_t, uint32_t);
    return clampable_op<Signature, Signature, carrying()>(
        name, [](uint32_t a, uint32_t b) { return Plain{}(a, b, LaneBit::Clear); },
        [](uint32_t a, uint32_t b) { return Clamped{}(a, b, LaneBit::Clear); });
  }
}

template <bool CarryIn>
Op add_carry_op(std::string_view name) {
  return carry_op<CarryIn>(
      name, [](uint32_t a, uint32_t b, LaneBit c) { return add_with_carry<false>(a, b, c); },
      [](uint32_t a, uint32_t b, LaneBit c) { return add_with_carry<true>(a, b, c); });
}
template <bool CarryIn>
Op sub_carry_op(std::string_view name) {
  return carry_op<CarryIn>(
      name, [](uint32_t a, uint32_t b, LaneBit c) { return sub_with_borrow<false>(a, b, c); },
      [](uint32_t a, uint32_t b, LaneBit c) { return sub_with_borrow<true>(a, b, c); });
}
template <bool CarryIn>
Op subrev_carry_op(std::string_view name) {
  return carry_op<CarryIn>(
      name, [](uint32_t a, uint32_t b, LaneBit c) { return sub_with_borrow<false>(b, a, c); },
      [](uint32_t a, uint32_t b, LaneBit c) { return sub_with_borrow<true>(b, a, c); });
}

// The second result is bit 64 of the exact sum: the carry of the unsigned form, the sign of the
// signed one.
template <bool Clamp>
constexpr Two<uint64_t, LaneBit> mad_u64(uint32_t a, uint32_t b, uint64_t c) {
  const uint64_t sum = uint64_t{a} * b + c;
  const bool overflow = sum < c;
  return {Clamp && overflow ? ~uint64_t{0} : sum, lane_bit(overflow)};
}
template <bool Clamp>
constexpr Two<int64_t, LaneBit> mad_i64(int32_t a, int32_t b, int64_t c) {
  const int64_t product = int64_t{a} * b;
  const int64_t sum =
      static_cast<int64_t>(static_cast<uint64_t>(product) + static_cast<uint64_t>(c));
  const bool overflow = ((product ^ sum) & (c ^ sum)) < 0;
  const bool negative = (sum < 0) != overflow;
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min();
  constexpr int64_t kHigh = std::numeric_limits<int64_t>::max();
  return {Clamp && overflow ? (negative ? kLow : kHigh) : sum, lane_bit(negative)};
}

// --- operations that lane_op cannot express ----------------------------------------------------

// Three-input boolean function: bit 4 * a + 2 * b + c of the table is its value.
template <std::unsigned_integral U>
class TruthTable {
 public:
  explicit TruthTable(uint32_t table) {
    for (int i = 0; i < 8; ++i) entries_[i] = static_cast<U>(0u - (table >> i & 1));
  }
  U operator()(U a, U b, U c) const { return choose(a, of_bc<4>(b, c), of_bc<0>(b, c)); }

 private:
  static U choose(U by, U if_set, U if_clear) {
    return static_cast<U>(if_clear ^ (by & (if_set ^ if_clear)));
  }
  template <int First>
  U of_c(U c) const {
    return choose(c, entries_[First + 1], entries_[First]);
  }
  template <int First>
  U of_bc(U b, U c) const {
    return choose(b, of_c<First + 2>(c), of_c<First>(c));
  }

  U entries_[8];
};

template <class U>
struct ThreeSources {
  ThreeSources(const Wave& w, const Inst& in, Plane plane)
      : a(fetch<U>(w, in, 0, plane, scratch[0].lane)),
        b(fetch<U>(w, in, 1, plane, scratch[1].lane)),
        c(fetch<U>(w, in, 2, plane, scratch[2].lane)) {}
  LaneBuffer<U> scratch[3];
  const U *a, *b, *c;
};

constexpr bool kKeepHigh = true;  // half of the register of a 16-bit result

template <class U>
void bitop3(Wave& w, const Inst& in) {
  const TruthTable<U> table(in.mod.bitop3);
  const ThreeSources<U> value(w, in, Plane::Value);
  LaneBuffer<U> result;
  for (int lane = 0; lane < kMaxLanes; ++lane)
    result.lane[lane] = table(value.a[lane], value.b[lane], value.c[lane]);
  commit<U>(w, in, 0, result.lane, write_mask(w, in), Plane::Value, kKeepHigh);
}

// A result bit is undefined when the undefined source bits decide it.
template <class U>
void bitop3_propagate(Wave& w, const Inst& in) {
  const TruthTable<U> table(in.mod.bitop3);
  const ThreeSources<U> value(w, in, Plane::Value), undef(w, in, Plane::Undef);
  LaneBuffer<U> result;
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    const auto fill = [lane](const U* bits, const U* unknown, bool ones) {
      return static_cast<U>(ones ? bits[lane] | unknown[lane] : bits[lane] & ~unknown[lane]);
    };
    U always = static_cast<U>(~U{0}), ever = 0;
    for (int filling = 0; filling < 8; ++filling) {
      const U outcome =
          table(fill(value.a, undef.a, filling & 4), fill(value.b, undef.b, filling & 2),
                fill(value.c, undef.c, filling & 1));
      always &= outcome;
      ever |= outcome;
    }
    result.lane[lane] = always ^ ever;
  }
  bitop3<U>(w, in);
  commit<U>(w, in, 0, result.lane, write_mask(w, in), Plane::Undef, kKeepHigh);
}

template <class U>
Op bitop3_op(std::string_view name) {
  Op op = lane_op<U(U, U, U)>(name, [](U a, U, U) { return a; });
  op.run = &bitop3<U>;
  op.propagate = &bitop3_propagate<U>;
  return op;
}

// v_perm_b32. Each byte of the result is chosen by a byte of `selectors`: 0..3 are the bytes of
// `second`, 4..7 those of `first`, 8..11 the sign of bytes 1, 3, 5 and 7, 12 is 0x00; above that
// the byte is `filler`.
void permute_bytes(const uint32_t* first, const uint32_t* second, const uint32_t* selectors,
                   uint8_t filler, uint32_t* result) {
  constexpr int kLanesAtOnce = 8;
  constexpr char kFirstSign = 8, kFirstConstant = 12, kFirstFiller = 13;
  const auto load = [](const uint32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  };
  const auto each = [](char x) { return _mm256_set1_epi8(x); };
  const auto at_least = [&each](__m256i x, char bound) {
    return _mm256_cmpeq_epi8(_mm256_max_epu8(x, each(bound)), x);
  };
  const __m256i lane_base =
      _mm256_broadcastsi128_si256(_mm_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0x00000000));
  for (int lane = 0; lane < kMaxLanes; lane += kLanesAtOnce) {
    const __m256i selector = load(selectors + lane);
    // The byte at `position` of its lane; the top bit of `source` says in which operand.
    const auto pick = [&](__m256i position, __m256i source) {
      const __m256i at = _mm256_or_si256(position, lane_base);
      return _mm256_blendv_epi8(_mm256_shuffle_epi8(load(second + lane), at),
                                _mm256_shuffle_epi8(load(first + lane), at), source);
    };
    const __m256i byte = pick(_mm256_and_si256(selector, each(3)), _mm256_slli_epi32(selector, 5));
    const __m256i odd = _mm256_slli_epi32(_mm256_and_si256(selector, each(1)), 1);
    const __m256i signed_byte = pick(_mm256_or_si256(odd, each(1)), _mm256_slli_epi32(selector, 6));
    const __m256i sign = _mm256_cmpgt_epi8(_mm256_setzero_si256(), signed_byte);
    const __m256i constant =
        _mm256_and_si256(at_least(selector, kFirstFiller), each(static_cast<char>(filler)));
    const __m256i special = _mm256_blendv_epi8(sign, constant, at_least(selector, kFirstConstant));
    const __m256i chosen = _mm256_blendv_epi8(byte, special, at_least(selector, kFirstSign));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(result + lane), chosen);
  }
}

void perm(Wave& w, const Inst& in) {
  const ThreeSources<uint32_t> value(w, in, Plane::Value);
  LaneBuffer<uint32_t> result;
  permute_bytes(value.a, value.b, value.c, 0xff, result.lane);
  commit32(w, in, 0, result.lane, write_mask(w, in), Plane::Value);
}

void perm_propagate(Wave& w, const Inst& in) {
  const ThreeSources<uint32_t> value(w, in, Plane::Value), undef(w, in, Plane::Undef);
  LaneBuffer<uint32_t> result;
  permute_bytes(undef.a, undef.b, value.c, 0, result.lane);
  for (int lane = 0; lane < kMaxLanes; ++lane)
    if (undef.c[lane]) result.lane[lane] = ~0u;
  perm(w, in);
  commit32(w, in, 0, result.lane, write_mask(w, in), Plane::Undef);
}

Op perm_op() {
  Op op = lane_op<uint32_t(uint32_t, uint32_t, uint32_t)>(
      "v_perm_b32", [](uint32_t a, uint32_t, uint32_t) { return a; });
  op.run = &perm;
  op.propagate = &perm_propagate;
  return op;
}

// Counts the bits of the mask in source 0 that belong to lanes below each lane. FirstLane is the
// lane of the mask's bit 0.
template <int FirstLane>
constexpr uint32_t lanes_below(int lane) {
  const int below = lane - FirstLane;
  return below <= 0 ? 0 : below >= 32 ? ~0u : (1u << below) - 1;
}

template <int FirstLane>
void mbcnt(Wave& w, const Inst& in) {
  LaneBuffer<uint32_t> mask_scratch, addend_scratch, count;
  const uint32_t* mask = fetch32(w, in, 0, Plane::Value, mask_scratch.lane);
  const uint32_t* addend = fetch32(w, in, 1, Plane::Value, addend_scratch.lane);
  for (int lane = 0; lane < kMaxLanes; ++lane)
    count.lane[lane] = addend[lane] + static_cast<uint32_t>(
                                          std::popcount(mask[lane] & lanes_below<FirstLane>(lane)));
  commit32(w, in, 0, count.lane, write_mask(w, in), Plane::Value);
}

template <int FirstLane>
void mbcnt_propagate(Wave& w, const Inst& in) {
  LaneBuffer<uint32_t> mask_scratch, addend_scratch, undef;
  const uint32_t* mask = fetch32(w, in, 0, Plane::Undef, mask_scratch.lane);
  const uint32_t* addend = fetch32(w, in, 1, Plane::Undef, addend_scratch.lane);
  for (int lane = 0; lane < kMaxLanes; ++lane)
    undef.lane[lane] = (mask[lane] & lanes_below<FirstLane>(lane)) | addend[lane] ? ~0u : 0;
  mbcnt<FirstLane>(w, in);
  commit32(w, in, 0, undef.lane, write_mask(w, in), Plane::Undef);
}

template <int FirstLane>
Op mbcnt_op(std::string_view name) {
  Op op = lane_op<uint32_t(uint32_t, uint32_t)>(name, [](uint32_t a, uint32_t) { return a; });
  op.run = &mbcnt<FirstLane>;
  op.propagate = &mbcnt_propagate<FirstLane>;
  return op;
}

// v_mqsad_u32_u8: 128 bits of addend and of result, which lane_op does not have.
constexpr int kQuadDwords = 4;

void mqsad_u32_u8(Wave& w, const Inst& in) {
  LaneBuffer<uint64_t> data_scratch;
  LaneBuffer<uint32_t> reference_scratch, addend_scratch, result[kQuadDwords];
  const uint64_t* data = fetch64(w, in, 0, Plane::Value, data_scratch.lane);
  const uint32_t* reference = fetch32(w, in, 1, Plane::Value, reference_scratch.lane);
  for (int d = 0; d < kQuadDwords; ++d) {
    const uint32_t* addend = fetch_dword(w, in, 2, d, Plane::Value, addend_scratch.lane);
    for (int lane = 0; lane < kMaxLanes; ++lane) {
      const uint32_t sum =
          addend[lane] +
          masked_sum_abs_diff_u8(static_cast<uint32_t>(data[lane] >> (8 * d)), reference[lane]);
      result[d].lane[lane] = in.mod.clamp && sum < addend[lane] ? ~0u : sum;
    }
  }
  for (int d = 0; d < kQuadDwords; ++d)
    blend_row(w.v[in.dst().reg + d], result[d].lane, write_mask(w, in));
}

void mqsad_u32_u8_propagate(Wave& w, const Inst& in) {
  LaneBuffer<uint64_t> data_scratch;
  LaneBuffer<uint32_t> reference_scratch, addend_scratch, undef[kQuadDwords];
  const uint64_t* data = fetch64(w, in, 0, Plane::Undef, data_scratch.lane);
  const uint32_t* reference = fetch32(w, in, 1, Plane::Undef, reference_scratch.lane);
  for (int d = 0; d < kQuadDwords; ++d) {
    const uint32_t* addend = fetch_dword(w, in, 2, d, Plane::Undef, addend_scratch.lane);
    for (int lane = 0; lane < kMaxLanes; ++lane)
      undef[d].lane[lane] = data[lane] | reference[lane] | addend[lane] ? ~0u : 0;
  }
  mqsad_u32_u8(w, in);
  for (int d = 0; d < kQuadDwords; ++d) {
    const int reg = in.dst().reg + d;
    blend_row(w.undef_row(reg), undef[d].lane, write_mask(w, in));
    w.settle_undef(reg);
  }
}

Op mqsad_u32_u8_op() {
  Op op;
  op.name = "v_mqsad_u32_u8";
  op.cls = OpClass::Valu;
  op.run = &mqsad_u32_u8;
  op.propagate = &mqsad_u32_u8_propagate;
  op.types = {Type::Any, Type::B64, Type::B32, Type::Any};
  return op;
}

// Nothing to do: no lane value changes, and the simulator keeps no exception flags.
Op no_effect_op(std::string_view name) {
  Op op;
  op.name = name;
  op.cls = OpClass::Valu;
  op.run = [](Wave&, const Inst&) {};
  op.num_dst = 0;
  return op;
}

// --- rows --------------------------------------------------------------------------------------

using U16 = uint16_t;
using I16 = int16_t;
using U32 = uint32_t;
using I32 = int32_t;
using U64 = uint64_t;
using I64 = int64_t;

std::vector<Op> moves_and_logic() {
  return {
      no_effect_op("v_nop"),
      no_effect_op("v_clrexcp"),
      lane_op<U32(U32), bitwise()>("v_mov_b32", [](U32 a) { return a; }),
      lane_op<U64(U64), bitwise()>("v_mov_b64", [](U64 a) { return a; }),
      lane_op<U32(U32, U32, LaneBit), bitwise(0b100)>(
          "v_cndmask_b32",
          [](U32 a, U32 b, LaneBit choose) { return choose == LaneBit::Set ? b : a; }),
      lane_op<U32(U32), bitwise()>("v_not_b32", [](U32 a) { return ~a; }),
      lane_op<U32(U32, U32), bitwise()>("v_and_b32", [](U32 a, U32 b) { return a & b; }),
      lane_op<U32(U32, U32), bitwise()>("v_or_b32", [](U32 a, U32 b) { return a | b; }),
      lane_op<U32(U32, U32), bitwise()>("v_xor_b32", [](U32 a, U32 b) { return a ^ b; }),
      lane_op<U32(U32, U32), bitwise()>("v_xnor_b32", [](U32 a, U32 b) { return ~(a ^ b); }),
      lane_op<U32(U32, U32, U32), bitwise()>("v_and_or_b32",
                                             [](U32 a, U32 b, U32 c) { return (a & b) | c; }),
      lane_op<U32(U32, U32, U32), bitwise()>("v_or3_b32",
                                             [](U32 a, U32 b, U32 c) { return a | b | c; }),
      lane_op<U32(U32, U32, U32), bitwise()>(
          "v_bfi_b32", [](U32 mask, U32 a, U32 b) { return (mask & a) | (~mask & b); }),
      bitop3_op<U16>("v_bitop3_b16"),
      bitop3_op<U32>("v_bitop3_b32"),
      lane_op<U32(U32)>("v_prng_b32", [](U32 a) { return a << 1 ^ (a >> 31 ? 0xc5u : 0u); }),
  };
}

std::vector<Op> shifts_and_fields() {
  return {
      lane_op<U32(U32, U32), bitwise(0b01)>("v_lshlrev_b32",
                                            [](U32 n, U32 a) { return a << shift_amount<5>(n); }),
      lane_op<U32(U32, U32), bitwise(0b01)>("v_lshrrev_b32",
                                            [](U32 n, U32 a) { return a >> shift_amount<5>(n); }),
      lane_op<I32(U32, I32), bitwise(0b01)>("v_ashrrev_i32",
                                            [](U32 n, I32 a) { return a >> shift_amount<5>(n); }),
      lane_op<U16(U16, U16), bitwise(0b01)>(
          "v_lshlrev_b16",
          [](U16 n, U16 a) { return static_cast<U16>(U32{a} << shift_amount<4>(n)); }),
      lane_op<U16(U16, U16), bitwise(0b01)>(
          "v_lshrrev_b16",
          [](U16 n, U16 a) { return static_cast<U16>(U32{a} >> shift_amount<4>(n)); }),
      lane_op<I16(U16, I16), bitwise(0b01)>(
          "v_ashrrev_i16",
          [](U16 n, I16 a) { return static_cast<I16>(I32{a} >> shift_amount<4>(n)); }),
      lane_op<U64(U32, U64), bitwise(0b01)>("v_lshlrev_b64",
                                            [](U32 n, U64 a) { return a << shift_amount<6>(n); }),
      lane_op<U64(U32, U64), bitwise(0b01)>("v_lshrrev_b64",
                                            [](U32 n, U64 a) { return a >> shift_amount<6>(n); }),
      lane_op<I64(U32, I64), bitwise(0b01)>("v_ashrrev_i64",
                                            [](U32 n, I64 a) { return a >> shift_amount<6>(n); }),
      lane_op<U32(U32, U32, U32), bitwise(0b010)>(
          "v_lshl_or_b32", [](U32 a, U32 n, U32 c) { return a << shift_amount<5>(n) | c; }),
      lane_op<U32(U32, U32, U16), bitwise(0b100)>(
          "v_alignbit_b32",
          [](U32 high, U32 low, U16 n) {
            return static_cast<U32>((U64{high} << 32 | low) >> shift_amount<5>(n));
          }),
      lane_op<U32(U32, U32, U16), bitwise(0b100)>(
          "v_alignbyte_b32",
          [](U32 high, U32 low, U16 n) {
            return static_cast<U32>((U64{high} << 32 | low) >> (8 * shift_amount<2>(n)));
          }),
      lane_op<U32(U32, U32, U32), bitwise(0b110)>("v_bfe_u32",
                                                  [](U32 a, U32 offset, U32 width) {
                                                    return a >> shift_amount<5>(offset) &
                                                           ((1u << shift_amount<5>(width)) - 1);
                                                  }),
      lane_op<I32(I32, U32, U32), bitwise(0b110)>(
          "v_bfe_i32",
          [](I32 a, U32 offset, U32 width) {
            const U32 unused = 32 - shift_amount<5>(width);  // 32 when the field is empty
            const I32 field = a >> shift_amount<5>(offset);
            return unused == 32 ? 0 : static_cast<I32>(static_cast<U32>(field) << unused) >> unused;
          }),
      lane_op<U32(U32, U32)>("v_bfm_b32",
                             [](U32 width, U32 offset) {
                               return ((1u << shift_amount<5>(width)) - 1)
                                      << shift_amount<5>(offset);
                             }),
      ashr_pk_op<-128, 127>("v_ashr_pk_i8_i32"),
      ashr_pk_op<0, 255>("v_ashr_pk_u8_i32"),
  };
}

std::vector<Op> bit_counts() {
  return {
      lane_op<U32(U32), bitwise()>("v_bfrev_b32", [](U32 a) { return reverse_bits(a); }),
      lane_op<U32(U32)>(
          "v_ffbh_u32",
          [](U32 a) { return a == 0 ? kNoBitFound : static_cast<U32>(std::countl_zero(a)); }),
      lane_op<U32(U32)>(
          "v_ffbl_b32",
          [](U32 a) { return a == 0 ? kNoBitFound : static_cast<U32>(std::countr_zero(a)); }),
      // The first bit below the sign that differs from it.
      lane_op<U32(I32)>("v_ffbh_i32",
                        [](I32 a) {
                          const U32 differing = static_cast<U32>(a ^ (a >> 31));
                          return differing == 0 ? kNoBitFound
                                                : static_cast<U32>(std::countl_zero(differing));
                        }),
      lane_op<U32(U32, U32)>("v_bcnt_u32_b32",
                             [](U32 a, U32 b) { return static_cast<U32>(std::popcount(a)) + b; }),
      mbcnt_op<0>("v_mbcnt_lo_u32_b32"),
      mbcnt_op<32>("v_mbcnt_hi_u32_b32"),
  };
}

std::vector<Op> additions() {
  return {
      arithmetic_op<U32(U32, U32)>("v_add_u32", kAdd),
      arithmetic_op<U32(U32, U32)>("v_sub_u32", kSub),
      arithmetic_op<U32(U32, U32)>("v_subrev_u32", kSubReversed),
      arithmetic_op<I32(I32, I32)>("v_add_i32", kAdd),
      arithmetic_op<I32(I32, I32)>("v_sub_i32", kSub),
      arithmetic_op<U16(U16, U16)>("v_add_u16", kAdd),
      arithmetic_op<U16(U16, U16)>("v_sub_u16", kSub),
      arithmetic_op<U16(U16, U16)>("v_subrev_u16", kSubReversed),
      arithmetic_op<I16(I16, I16), keeping_high(carrying())>("v_add_i16", kAdd),
      arithmetic_op<I16(I16, I16), keeping_high(carrying())>("v_sub_i16", kSub),
      add_carry_op<false>("v_add_co_u32"),
      sub_carry_op<false>("v_sub_co_u32"),
      subrev_carry_op<false>("v_subrev_co_u32"),
      add_carry_op<true>("v_addc_co_u32"),
      sub_carry_op<true>("v_subb_co_u32"),
      subrev_carry_op<true>("v_subbrev_co_u32"),
      lane_op<U32(U32, U32, U32), carrying()>("v_add3_u32",
                                              [](U32 a, U32 b, U32 c) { return a + b + c; }),
      lane_op<U32(U32, U32, U32), carrying()>("v_xad_u32",
                                              [](U32 a, U32 b, U32 c) { return (a ^ b) + c; }),
      lane_op<U32(U32, U32, U32), carrying(0b010)>(
          "v_lshl_add_u32", [](U32 a, U32 n, U32 c) { return (a << shift_amount<5>(n)) + c; }),
      lane_op<U32(U32, U32, U32), carrying(0b100)>(
          "v_add_lshl_u32", [](U32 a, U32 b, U32 n) { return (a + b) << shift_amount<5>(n); }),
      lane_op<U64(U64, U32, U64), carrying(0b010)>(
          "v_lshl_add_u64", [](U64 a, U32 n, U64 c) { return (a << shift_amount<3>(n)) + c; }),
  };
}

std::vector<Op> multiplications() {
  constexpr LaneOpOptions kKeep = keeping_high(carrying());
  return {
      lane_op<U32(U32, U32), carrying()>("v_mul_lo_u32", [](U32 a, U32 b) { return a * b; }),
      lane_op<U32(U32, U32)>("v_mul_hi_u32",
                             [](U32 a, U32 b) { return static_cast<U32>(U64{a} * b >> 32); }),
      lane_op<I32(I32, I32)>("v_mul_hi_i32",
                             [](I32 a, I32 b) { return static_cast<I32>(I64{a} * b >> 32); }),
      arithmetic_op<U16(U16, U16)>("v_mul_lo_u16", kMul),
      arithmetic_op<U32(U32, U32)>("v_mul_u32_u24",
                                   [](auto a, auto b) { return unsigned24(a) * unsigned24(b); }),
      arithmetic_op<I32(I32, I32)>("v_mul_i32_i24",
                                   [](auto a, auto b) { return signed24(a) * signed24(b); }),
      lane_op<U32(U32, U32)>(
          "v_mul_hi_u32_u24",
          [](U32 a, U32 b) { return static_cast<U32>(U64{unsigned24(a)} * unsigned24(b) >> 32); }),
      lane_op<I32(I32, I32)>(
          "v_mul_hi_i32_i24",
          [](I32 a, I32 b) { return static_cast<I32>(I64{signed24(a)} * signed24(b) >> 32); }),
      arithmetic_op<U32(U32, U32, U32)>(
          "v_mad_u32_u24",
          [](auto a, auto b, auto c) { return unsigned24(a) * unsigned24(b) + c; }),
      arithmetic_op<I32(I32, I32, I32)>(
          "v_mad_i32_i24", [](auto a, auto b, auto c) { return signed24(a) * signed24(b) + c; }),
      arithmetic_op<U32(U16, U16, U32)>("v_mad_u32_u16", kMad),
      arithmetic_op<I32(I16, I16, I32)>("v_mad_i32_i16", kMad),
      arithmetic_op<U16(U16, U16, U16), kKeep>("v_mad_u16", kMad),
      arithmetic_op<I16(I16, I16, I16), kKeep>("v_mad_i16", kMad),
      arithmetic_op<U16(U16, U16, U16)>("v_mad_legacy_u16", kMad),
      arithmetic_op<I16(I16, I16, I16)>("v_mad_legacy_i16", kMad),
      clampable_op<Two<U64, LaneBit>(U32, U32, U64), Two<U64, LaneBit>(U32, U32, U64), carrying()>(
          "v_mad_u64_u32", [](U32 a, U32 b, U64 c) { return mad_u64<false>(a, b, c); },
          [](U32 a, U32 b, U64 c) { return mad_u64<true>(a, b, c); }),
      clampable_op<Two<I64, LaneBit>(I32, I32, I64), Two<I64, LaneBit>(I32, I32, I64), carrying()>(
          "v_mad_i64_i32", [](I32 a, I32 b, I64 c) { return mad_i64<false>(a, b, c); },
          [](I32 a, I32 b, I64 c) { return mad_i64<true>(a, b, c); }),
  };
}

std::vector<Op> minima_and_maxima() {
  constexpr LaneOpOptions kKeep = keeping_high(kWhole);
  return {
      lane_op<U32(U32, U32)>("v_min_u32", kMin),
      lane_op<U32(U32, U32)>("v_max_u32", kMax),
      lane_op<I32(I32, I32)>("v_min_i32", kMin),
      lane_op<I32(I32, I32)>("v_max_i32", kMax),
      lane_op<U16(U16, U16)>("v_min_u16", kMin),
      lane_op<U16(U16, U16)>("v_max_u16", kMax),
      lane_op<I16(I16, I16)>("v_min_i16", kMin),
      lane_op<I16(I16, I16)>("v_max_i16", kMax),
      lane_op<U32(U32, U32, U32)>("v_min3_u32", kMin3),
      lane_op<U32(U32, U32, U32)>("v_max3_u32", kMax3),
      lane_op<U32(U32, U32, U32)>("v_med3_u32", kMed3),
      lane_op<I32(I32, I32, I32)>("v_min3_i32", kMin3),
      lane_op<I32(I32, I32, I32)>("v_max3_i32", kMax3),
      lane_op<I32(I32, I32, I32)>("v_med3_i32", kMed3),
      lane_op<U16(U16, U16, U16), kKeep>("v_min3_u16", kMin3),
      lane_op<U16(U16, U16, U16), kKeep>("v_max3_u16", kMax3),
      lane_op<U16(U16, U16, U16), kKeep>("v_med3_u16", kMed3),
      lane_op<I16(I16, I16, I16), kKeep>("v_min3_i16", kMin3),
      lane_op<I16(I16, I16, I16), kKeep>("v_max3_i16", kMax3),
      lane_op<I16(I16, I16, I16), kKeep>("v_med3_i16", kMed3),
  };
}

std::vector<Op> byte_operations() {
  using Quad = U64(U64, U32, U64);
  return {
      perm_op(),
      lane_op<U32(U32, U32, U32)>("v_lerp_u8",
                                  [](U32 a, U32 b, U32 round) {
                                    return average_byte<0>(a, b, round) |
                                           average_byte<1>(a, b, round) |
                                           average_byte<2>(a, b, round) |
                                           average_byte<3>(a, b, round);
                                  }),
      arithmetic_op<U32(U32, U32, U32), kWhole>(
          "v_sad_u8",
          [](auto a, auto b, auto c) {
            return sum_abs_diff_u8(static_cast<U32>(a), static_cast<U32>(b)) + c;
          }),
      arithmetic_op<U32(U32, U32, U32), kWhole>(
          "v_sad_hi_u8",
          [](auto a, auto b, auto c) {
            return (sum_abs_diff_u8(static_cast<U32>(a), static_cast<U32>(b)) << 16) + c;
          }),
      arithmetic_op<U32(U32, U32, U32), kWhole>(
          "v_sad_u16",
          [](auto a, auto b, auto c) {
            return sum_abs_diff_u16(static_cast<U32>(a), static_cast<U32>(b)) + c;
          }),
      arithmetic_op<U32(U32, U32, U32), kWhole>(
          "v_sad_u32",
          [](auto a, auto b, auto c) {
            return abs_diff(static_cast<U32>(a), static_cast<U32>(b)) + c;
          }),
      arithmetic_op<U32(U32, U32, U32), kWhole>(
          "v_msad_u8",
          [](auto a, auto b, auto c) {
            return masked_sum_abs_diff_u8(static_cast<U32>(a), static_cast<U32>(b)) + c;
          }),
      clampable_op<Quad, Quad, kWhole>(
          "v_qsad_pk_u16_u8",
          [](U64 a, U32 b, U64 c) { return quad_sum_abs_diff<sum_abs_diff_u8, false>(a, b, c); },
          [](U64 a, U32 b, U64 c) { return quad_sum_abs_diff<sum_abs_diff_u8, true>(a, b, c); }),
      clampable_op<Quad, Quad, kWhole>(
          "v_mqsad_pk_u16_u8",
          [](U64 a, U32 b, U64 c) {
            return quad_sum_abs_diff<masked_sum_abs_diff_u8, false>(a, b, c);
          },
          [](U64 a, U32 b, U64 c) {
            return quad_sum_abs_diff<masked_sum_abs_diff_u8, true>(a, b, c);
          }),
      mqsad_u32_u8_op(),
  };
}

}  // namespace

std::vector<Op> integer_ops() {
  std::vector<Op> rows;
  for (const auto group : {moves_and_logic, shifts_and_fields, bit_counts, additions,
                           multiplications, minima_and_maxima, byte_operations}) {
    const std::vector<Op> more = group();
    rows.insert(rows.end(), more.begin(), more.end());
  }
  return rows;
}

}  // namespace gfxsim
