// Scalar arithmetic: SOP1, SOP2, SOPC and SOPK.
#include <bit>
#include <limits>
#include <string>

#include "gfxsim/executor.h"
#include "gfxsim/ops/families.h"
#include "gfxsim/ops/scalar_op.h"
#include "gfxsim/workgroup.h"

namespace gfxsim {
namespace {

using U32 = uint32_t;
using I32 = int32_t;
using U64 = uint64_t;
using I64 = int64_t;

constexpr ScalarOptions kBits{.undef = Undef::Bits};
constexpr ScalarOptions kBitsScc{.undef = Undef::Bits, .scc = SccRule::NonZero};
constexpr ScalarOptions kShiftScc{.undef = Undef::Bits, .control = 0b10, .scc = SccRule::NonZero};
constexpr ScalarOptions kCarry{.undef = Undef::Carry};
constexpr ScalarOptions kWholeScc{.undef = Undef::Whole, .scc = SccRule::NonZero};

// The bits that stand for a group of four, set where the group has a set bit.
constexpr U64 kQuadLowBits = 0x1111'1111'1111'1111;
constexpr U64 any_of_quad(U64 x) {
  const U64 pairs = x | x >> 1;
  return (pairs | pairs >> 2) & kQuadLowBits;
}

template <class T>
T whole_quads(T x) {
  return static_cast<T>(any_of_quad(x) * 0xf);
}

template <class T>
T quad_mask(T x) {
  const U64 quads = any_of_quad(x);
  T packed = 0;
  for (unsigned i = 0; i < sizeof(T) * 8 / 4; ++i)
    packed |= static_cast<T>((quads >> (4 * i) & 1) << i);
  return packed;
}

template <class T>
T reverse_bits(T x) {
  if constexpr (sizeof(T) == 8)
    return __builtin_bitreverse64(x);
  else
    return __builtin_bitreverse32(x);
}

// Position of the first set bit, or -1.
template <class T>
U32 first_from_lsb(T x) {
  return x == 0 ? ~U32{0} : static_cast<U32>(std::countr_zero(x));
}
template <class T>
U32 first_from_msb(T x) {
  return x == 0 ? ~U32{0} : static_cast<U32>(std::countl_zero(x));
}
// Position from the top of the first bit that differs from the sign, or -1.
template <class T>
U32 sign_change_from_msb(T x) {
  const T flipped =
      x ^ static_cast<T>(static_cast<std::make_signed_t<T>>(x) >> (sizeof(T) * 8 - 1));
  return first_from_msb(flipped);
}

// Bit-field extract. Bits 22:16 of `control` hold the width: beyond the format's, all bits that the
// shift leaves are taken.
template <class T>
T extract_field(T x, U32 control) {
  constexpr U32 kBitCount = sizeof(T) * 8;
  using Unsigned = std::make_unsigned_t<T>;
  const U32 offset = control & (kBitCount - 1);
  const U32 width = control >> 16 & 0x7f;
  if (width == 0) return 0;
  if (width >= kBitCount) return static_cast<T>(x >> offset);
  const auto field =
      static_cast<Unsigned>(static_cast<Unsigned>(x >> offset) << (kBitCount - width));
  return static_cast<T>(static_cast<T>(field) >> (kBitCount - width));
}

template <class T>
T field_mask(U32 width, U32 offset) {
  constexpr U32 kIndexMask = sizeof(T) * 8 - 1;
  return static_cast<T>(((T{1} << (width & kIndexMask)) - 1) << (offset & kIndexMask));
}

U64 double_bits(U32 x) {
  U64 out = 0;
  for (int i = 0; i < 32; ++i) out |= U64{x >> i & 1} * 3 << (2 * i);
  return out;
}

WithScc<I32> add_signed(I32 a, I32 b) {
  I32 sum;
  const bool overflow = __builtin_add_overflow(a, b, &sum);
  return {sum, overflow};
}
WithScc<I32> sub_signed(I32 a, I32 b) {
  I32 difference;
  const bool overflow = __builtin_sub_overflow(a, b, &difference);
  return {difference, overflow};
}

WithScc<U32> with_carry(U64 sum) { return {static_cast<U32>(sum), sum >> 32 != 0}; }

I32 wrapping_abs(I32 x) {
  return static_cast<I32>(x < 0 ? U32{0} - static_cast<U32>(x) : static_cast<U32>(x));
}

void append_moves(std::vector<Op>* ops) {
  const auto same = []<class T>(T x) { return x; };
  ops->push_back(scalar_op<U32(U32), kBits>("s_mov_b32", same));
  ops->push_back(scalar_op<U64(U64), kBits>("s_mov_b64", same));
  ops->push_back(scalar_op<U32(int16_t), kBits>(
      "s_movk_i32", [](int16_t x) { return static_cast<U32>(I32{x}); }));
  // An undefined SCC leaves undefined what differs between the old and the new value.
  const auto move_if = []<class T>(T x, T old, Scc scc) { return scc.set ? x : old; };
  ops->push_back(scalar_update_op<U32(U32, U32, Scc), kBits>("s_cmov_b32", move_if));
  ops->push_back(scalar_update_op<U64(U64, U64, Scc), kBits>("s_cmov_b64", move_if));
  ops->push_back(scalar_update_op<U32(int16_t, U32, Scc), kBits>(
      "s_cmovk_i32",
      [](int16_t x, U32 old, Scc scc) { return scc.set ? static_cast<U32>(I32{x}) : old; }));
  const auto select = []<class T>(T a, T b, Scc scc) { return scc.set ? a : b; };
  ops->push_back(scalar_op<U32(U32, U32, Scc), kBits>("s_cselect_b32", select));
  ops->push_back(scalar_op<U64(U64, U64, Scc), kBits>("s_cselect_b64", select));
}

void append_logic(std::vector<Op>* ops) {
  const auto both = [ops](std::string_view name32, std::string_view name64, auto f) {
    ops->push_back(scalar_op<U32(U32, U32), kBitsScc>(name32, f));
    ops->push_back(scalar_op<U64(U64, U64), kBitsScc>(name64, f));
  };
  both("s_and_b32", "s_and_b64", []<class T>(T a, T b) { return a & b; });
  both("s_or_b32", "s_or_b64", []<class T>(T a, T b) { return a | b; });
  both("s_xor_b32", "s_xor_b64", []<class T>(T a, T b) { return a ^ b; });
  both("s_andn2_b32", "s_andn2_b64", []<class T>(T a, T b) { return a & ~b; });
  both("s_orn2_b32", "s_orn2_b64", []<class T>(T a, T b) { return a | ~b; });
  both("s_nand_b32", "s_nand_b64", []<class T>(T a, T b) { return ~(a & b); });
  both("s_nor_b32", "s_nor_b64", []<class T>(T a, T b) { return ~(a | b); });
  both("s_xnor_b32", "s_xnor_b64", []<class T>(T a, T b) { return ~(a ^ b); });
  const auto invert = []<class T>(T x) { return ~x; };
  ops->push_back(scalar_op<U32(U32), kBitsScc>("s_not_b32", invert));
  ops->push_back(scalar_op<U64(U64), kBitsScc>("s_not_b64", invert));
  const auto wqm = []<class T>(T x) { return whole_quads(x); };
  ops->push_back(scalar_op<U32(U32), kBitsScc>("s_wqm_b32", wqm));
  ops->push_back(scalar_op<U64(U64), kBitsScc>("s_wqm_b64", wqm));
  const auto quads = []<class T>(T x) { return quad_mask(x); };
  ops->push_back(scalar_op<U32(U32), kBitsScc>("s_quadmask_b32", quads));
  ops->push_back(scalar_op<U64(U64), kBitsScc>("s_quadmask_b64", quads));
  const auto reverse = []<class T>(T x) { return reverse_bits(x); };
  ops->push_back(scalar_op<U32(U32), kBits>("s_brev_b32", reverse));
  ops->push_back(scalar_op<U64(U64), kBits>("s_brev_b64", reverse));
  ops->push_back(
      scalar_op<U64(U32), kBits>("s_bitreplicate_b64_b32", [](U32 x) { return double_bits(x); }));
}

void append_shifts(std::vector<Op>* ops) {
  const auto left = []<class T>(T x, U32 n) {
    return static_cast<T>(x << (n & (sizeof(T) * 8 - 1)));
  };
  const auto right = []<class T>(T x, U32 n) {
    return static_cast<T>(x >> (n & (sizeof(T) * 8 - 1)));
  };
  ops->push_back(scalar_op<U32(U32, U32), kShiftScc>("s_lshl_b32", left));
  ops->push_back(scalar_op<U64(U64, U32), kShiftScc>("s_lshl_b64", left));
  ops->push_back(scalar_op<U32(U32, U32), kShiftScc>("s_lshr_b32", right));
  ops->push_back(scalar_op<U64(U64, U32), kShiftScc>("s_lshr_b64", right));
  ops->push_back(scalar_op<I32(I32, U32), kShiftScc>("s_ashr_i32", right));
  ops->push_back(scalar_op<I64(I64, U32), kShiftScc>("s_ashr_i64", right));
  const auto extract = []<class T>(T x, U32 control) { return extract_field(x, control); };
  ops->push_back(scalar_op<U32(U32, U32), kShiftScc>("s_bfe_u32", extract));
  ops->push_back(scalar_op<I32(I32, U32), kShiftScc>("s_bfe_i32", extract));
  ops->push_back(scalar_op<U64(U64, U32), kShiftScc>("s_bfe_u64", extract));
  ops->push_back(scalar_op<I64(I64, U32), kShiftScc>("s_bfe_i64", extract));
  ops->push_back(
      scalar_op<U32(U32, U32)>("s_bfm_b32", [](U32 n, U32 at) { return field_mask<U32>(n, at); }));
  ops->push_back(
      scalar_op<U64(U32, U32)>("s_bfm_b64", [](U32 n, U32 at) { return field_mask<U64>(n, at); }));
  ops->push_back(scalar_op<U32(U32), kBits>(
      "s_sext_i32_i8", [](U32 x) { return static_cast<U32>(I32{static_cast<int8_t>(x)}); }));
  ops->push_back(scalar_op<U32(U32), kBits>(
      "s_sext_i32_i16", [](U32 x) { return static_cast<U32>(I32{static_cast<int16_t>(x)}); }));
  // The first operand, the bit's number, makes the whole result undefined.
  constexpr ScalarOptions kBitSet{.undef = Undef::Bits, .control = 0b01};
  const auto clear_bit = []<class T>(U32 n, T x) {
    return static_cast<T>(x & ~(T{1} << (n & (sizeof(T) * 8 - 1))));
  };
  const auto set_bit = []<class T>(U32 n, T x) {
    return static_cast<T>(x | T{1} << (n & (sizeof(T) * 8 - 1)));
  };
  ops->push_back(scalar_update_op<U32(U32, U32), kBitSet>("s_bitset0_b32", clear_bit));
  ops->push_back(scalar_update_op<U64(U32, U64), kBitSet>("s_bitset0_b64", clear_bit));
  ops->push_back(scalar_update_op<U32(U32, U32), kBitSet>("s_bitset1_b32", set_bit));
  ops->push_back(scalar_update_op<U64(U32, U64), kBitSet>("s_bitset1_b64", set_bit));
  ops->push_back(scalar_op<U32(U32, U32), kBits>(
      "s_pack_ll_b32_b16", [](U32 a, U32 b) { return (a & 0xffff) | b << 16; }));
  ops->push_back(scalar_op<U32(U32, U32), kBits>(
      "s_pack_lh_b32_b16", [](U32 a, U32 b) { return (a & 0xffff) | (b & 0xffff0000); }));
  ops->push_back(scalar_op<U32(U32, U32), kBits>(
      "s_pack_hh_b32_b16", [](U32 a, U32 b) { return a >> 16 | (b & 0xffff0000); }));
}

void append_counts(std::vector<Op>* ops) {
  const auto ones = []<class T>(T x) { return static_cast<U32>(std::popcount(x)); };
  const auto zeros = []<class T>(T x) {
    return static_cast<U32>(std::popcount(static_cast<T>(~x)));
  };
  ops->push_back(scalar_op<U32(U32), kWholeScc>("s_bcnt0_i32_b32", zeros));
  ops->push_back(scalar_op<U32(U64), kWholeScc>("s_bcnt0_i32_b64", zeros));
  ops->push_back(scalar_op<U32(U32), kWholeScc>("s_bcnt1_i32_b32", ones));
  ops->push_back(scalar_op<U32(U64), kWholeScc>("s_bcnt1_i32_b64", ones));
  const auto first_zero = []<class T>(T x) { return first_from_lsb(static_cast<T>(~x)); };
  const auto first_one = []<class T>(T x) { return first_from_lsb(x); };
  const auto leading = []<class T>(T x) { return first_from_msb(x); };
  const auto sign_change = []<class T>(T x) { return sign_change_from_msb(x); };
  ops->push_back(scalar_op<U32(U32)>("s_ff0_i32_b32", first_zero));
  ops->push_back(scalar_op<U32(U64)>("s_ff0_i32_b64", first_zero));
  ops->push_back(scalar_op<U32(U32)>("s_ff1_i32_b32", first_one));
  ops->push_back(scalar_op<U32(U64)>("s_ff1_i32_b64", first_one));
  ops->push_back(scalar_op<U32(U32)>("s_flbit_i32_b32", leading));
  ops->push_back(scalar_op<U32(U64)>("s_flbit_i32_b64", leading));
  ops->push_back(scalar_op<U32(U32)>("s_flbit_i32", sign_change));
  ops->push_back(scalar_op<U32(U64)>("s_flbit_i32_i64", sign_change));
}

void append_arithmetic(std::vector<Op>* ops) {
  ops->push_back(scalar_op<WithScc<U32>(U32, U32), kCarry>(
      "s_add_u32", [](U32 a, U32 b) { return with_carry(U64{a} + b); }));
  ops->push_back(scalar_op<WithScc<U32>(U32, U32), kCarry>(
      "s_sub_u32", [](U32 a, U32 b) { return WithScc<U32>{a - b, b > a}; }));
  ops->push_back(scalar_op<WithScc<I32>(I32, I32), kCarry>(
      "s_add_i32", [](I32 a, I32 b) { return add_signed(a, b); }));
  ops->push_back(scalar_op<WithScc<I32>(I32, I32), kCarry>(
      "s_sub_i32", [](I32 a, I32 b) { return sub_signed(a, b); }));
  ops->push_back(scalar_op<WithScc<U32>(U32, U32, Scc), kCarry>(
      "s_addc_u32", [](U32 a, U32 b, Scc c) { return with_carry(U64{a} + b + c.set); }));
  ops->push_back(scalar_op<WithScc<U32>(U32, U32, Scc), kCarry>(
      "s_subb_u32",
      [](U32 a, U32 b, Scc c) { return WithScc<U32>{a - b - c.set, U64{b} + c.set > a}; }));
  ops->push_back(scalar_update_op<WithScc<I32>(int16_t, I32), kCarry>(
      "s_addk_i32", [](int16_t k, I32 old) { return add_signed(old, k); }));
  ops->push_back(scalar_update_op<U32(int16_t, U32), kCarry>(
      "s_mulk_i32", [](int16_t k, U32 old) { return old * static_cast<U32>(I32{k}); }));
  ops->push_back(scalar_op<U32(U32, U32), kCarry>("s_mul_i32", [](U32 a, U32 b) { return a * b; }));
  ops->push_back(scalar_op<U32(U32, U32)>(
      "s_mul_hi_u32", [](U32 a, U32 b) { return static_cast<U32>(U64{a} * b >> 32); }));
  ops->push_back(scalar_op<U32(I32, I32)>(
      "s_mul_hi_i32", [](I32 a, I32 b) { return static_cast<U32>(I64{a} * b >> 32); }));
  ops->push_back(scalar_op<WithScc<U32>(U32, U32), kCarry>(
      "s_lshl1_add_u32", [](U32 a, U32 b) { return with_carry((U64{a} << 1) + b); }));
  ops->push_back(scalar_op<WithScc<U32>(U32, U32), kCarry>(
      "s_lshl2_add_u32", [](U32 a, U32 b) { return with_carry((U64{a} << 2) + b); }));
  ops->push_back(scalar_op<WithScc<U32>(U32, U32), kCarry>(
      "s_lshl3_add_u32", [](U32 a, U32 b) { return with_carry((U64{a} << 3) + b); }));
  ops->push_back(scalar_op<WithScc<U32>(U32, U32), kCarry>(
      "s_lshl4_add_u32", [](U32 a, U32 b) { return with_carry((U64{a} << 4) + b); }));
  // SCC tells whether the first operand was chosen.
  const auto smaller = []<class T>(T a, T b) { return WithScc<T>{a < b ? a : b, a < b}; };
  const auto greater = []<class T>(T a, T b) { return WithScc<T>{a >= b ? a : b, a >= b}; };
  ops->push_back(scalar_op<WithScc<I32>(I32, I32)>("s_min_i32", smaller));
  ops->push_back(scalar_op<WithScc<U32>(U32, U32)>("s_min_u32", smaller));
  ops->push_back(scalar_op<WithScc<I32>(I32, I32)>("s_max_i32", greater));
  ops->push_back(scalar_op<WithScc<U32>(U32, U32)>("s_max_u32", greater));
  ops->push_back(
      scalar_op<I32(I32), kWholeScc>("s_abs_i32", [](I32 x) { return wrapping_abs(x); }));
  ops->push_back(scalar_op<I32(I32, I32), kWholeScc>("s_absdiff_i32", [](I32 a, I32 b) {
    return wrapping_abs(static_cast<I32>(static_cast<U32>(a) - static_cast<U32>(b)));
  }));
}

template <class T, class K>
void append_comparisons(std::vector<Op>* ops, const std::string_view (&names)[6],
                        const std::string_view (&k_names)[6]) {
  const auto row = [ops, &names, &k_names](int i, auto f) {
    ops->push_back(scalar_op<Scc(T, T)>(names[i], f));
    ops->push_back(scalar_op<Scc(T, K)>(k_names[i], f));
  };
  row(0, [](T a, T b) { return Scc{a == b}; });
  row(1, [](T a, T b) { return Scc{a != b}; });
  row(2, [](T a, T b) { return Scc{a > b}; });
  row(3, [](T a, T b) { return Scc{a >= b}; });
  row(4, [](T a, T b) { return Scc{a < b}; });
  row(5, [](T a, T b) { return Scc{a <= b}; });
}

void append_tests(std::vector<Op>* ops) {
  append_comparisons<I32, int16_t>(ops,
                                   {"s_cmp_eq_i32", "s_cmp_lg_i32", "s_cmp_gt_i32", "s_cmp_ge_i32",
                                    "s_cmp_lt_i32", "s_cmp_le_i32"},
                                   {"s_cmpk_eq_i32", "s_cmpk_lg_i32", "s_cmpk_gt_i32",
                                    "s_cmpk_ge_i32", "s_cmpk_lt_i32", "s_cmpk_le_i32"});
  append_comparisons<U32, uint16_t>(ops,
                                    {"s_cmp_eq_u32", "s_cmp_lg_u32", "s_cmp_gt_u32", "s_cmp_ge_u32",
                                     "s_cmp_lt_u32", "s_cmp_le_u32"},
                                    {"s_cmpk_eq_u32", "s_cmpk_lg_u32", "s_cmpk_gt_u32",
                                     "s_cmpk_ge_u32", "s_cmpk_lt_u32", "s_cmpk_le_u32"});
  ops->push_back(
      scalar_op<Scc(U64, U64)>("s_cmp_eq_u64", [](U64 a, U64 b) { return Scc{a == b}; }));
  ops->push_back(
      scalar_op<Scc(U64, U64)>("s_cmp_lg_u64", [](U64 a, U64 b) { return Scc{a != b}; }));
  constexpr ScalarOptions kBitTest{.undef = Undef::Bits, .control = 0b10};
  const auto is_clear = []<class T>(T x, U32 n) {
    return Scc{(x >> (n & (sizeof(T) * 8 - 1)) & 1) == 0};
  };
  const auto is_set = []<class T>(T x, U32 n) {
    return Scc{(x >> (n & (sizeof(T) * 8 - 1)) & 1) != 0};
  };
  ops->push_back(scalar_op<Scc(U32, U32), kBitTest>("s_bitcmp0_b32", is_clear));
  ops->push_back(scalar_op<Scc(U32, U32), kBitTest>("s_bitcmp1_b32", is_set));
  ops->push_back(scalar_op<Scc(U64, U32), kBitTest>("s_bitcmp0_b64", is_clear));
  ops->push_back(scalar_op<Scc(U64, U32), kBitTest>("s_bitcmp1_b64", is_set));
}

// --- exec masks ---

enum class ExecDestination : uint8_t { OldExec, NewExec };

// exec = f(source, exec), and the destination takes the old or the new one.
template <class F, ExecDestination Destination>
void update_exec(Wave& w, const Inst& in) {
  const U64 old = w.exec();
  const U64 source = scalar_source(w, in.src(0));
  const U64 undef = scalar_source_undef(w, in.src(0));
  const U64 updated = F{}(source, old);
  const U64 updated_undef = F{}(source & ~undef, old) ^ F {}(source | undef, old);
  if (updated_undef)
    fail(FaultKind::UndefinedValue, "the exec mask depends on bits that were never written");
  set_scalar_pair(w, in.dst().reg, Destination == ExecDestination::OldExec ? old : updated, 0);
  set_scalar_pair(w, kExec, updated, 0);
  w.scc = updated != 0;
  w.scc_undef = false;
}

template <ExecDestination Destination, class F>
Op exec_op(std::string_view name, F) {
  Op op;
  op.name = name;
  op.cls = OpClass::Salu;
  op.run = &update_exec<F, Destination>;
  op.types[0] = op.types[1] = Type::B64;
  op.writes_scc = true;
  op.writes_exec = true;
  return op;
}

void append_exec_updates(std::vector<Op>* ops) {
  constexpr auto kOld = ExecDestination::OldExec, kNew = ExecDestination::NewExec;
  ops->push_back(exec_op<kOld>("s_and_saveexec_b64", [](U64 s, U64 e) { return s & e; }));
  ops->push_back(exec_op<kOld>("s_or_saveexec_b64", [](U64 s, U64 e) { return s | e; }));
  ops->push_back(exec_op<kOld>("s_xor_saveexec_b64", [](U64 s, U64 e) { return s ^ e; }));
  ops->push_back(exec_op<kOld>("s_andn2_saveexec_b64", [](U64 s, U64 e) { return s & ~e; }));
  ops->push_back(exec_op<kOld>("s_orn2_saveexec_b64", [](U64 s, U64 e) { return s | ~e; }));
  ops->push_back(exec_op<kOld>("s_nand_saveexec_b64", [](U64 s, U64 e) { return ~(s & e); }));
  ops->push_back(exec_op<kOld>("s_nor_saveexec_b64", [](U64 s, U64 e) { return ~(s | e); }));
  ops->push_back(exec_op<kOld>("s_xnor_saveexec_b64", [](U64 s, U64 e) { return ~(s ^ e); }));
  ops->push_back(exec_op<kOld>("s_andn1_saveexec_b64", [](U64 s, U64 e) { return ~s & e; }));
  ops->push_back(exec_op<kOld>("s_orn1_saveexec_b64", [](U64 s, U64 e) { return ~s | e; }));
  ops->push_back(exec_op<kNew>("s_andn1_wrexec_b64", [](U64 s, U64 e) { return ~s & e; }));
  ops->push_back(exec_op<kNew>("s_andn2_wrexec_b64", [](U64 s, U64 e) { return s & ~e; }));
}

// --- program counter ---

void jump(Wave& w, const Operand& address) {
  w.require_defined(address, 0, "where the program continues");
  w.ip = inst_at(w, scalar_source(w, address));
}

U64 next_address(const Inst& in) { return in.address + in.size; }

void get_pc(Wave& w, const Inst& in) { set_scalar_pair(w, in.dst().reg, next_address(in), 0); }

void set_pc(Wave& w, const Inst& in) { jump(w, in.src(0)); }

void swap_pc(Wave& w, const Inst& in) {
  jump(w, in.src(0));
  set_scalar_pair(w, in.dst().reg, next_address(in), 0);
}

void call(Wave& w, const Inst& in) {
  if (!in.target) fail(FaultKind::IllegalInstruction, "the call's target is no instruction");
  set_scalar_pair(w, in.dst().reg, next_address(in), 0);
  w.ip = in.target;
}

// --- registers named by m0 ---

// First register of `count`, at m0's distance from the printed one.
int relative_register(const Wave& w, const Operand& printed, int count) {
  if (w.scalar_undef(kM0))
    fail(FaultKind::UndefinedValue,
         "m0 holds bits that were never written, and decides which register is moved");
  const I64 reg = I64{printed.reg} + w.s[kM0];
  if (!printed.is_scalar() || reg + count > kFlatScratch)
    fail(FaultKind::IllegalInstruction,
         "m0 = " + std::to_string(w.s[kM0]) + " leads to s" + std::to_string(reg) +
             ", past the last general register s" + std::to_string(kFlatScratch - 1));
  for (int i = 0; i < count; ++i) {
    const int index = kScalarBase + static_cast<int>(reg) + i;
    if (w.pending[index >> 6] >> (index & 63) & 1)
      fail(FaultKind::MissingWait,
           "s" + std::to_string(reg + i) + ", which m0 leads to, has a load in flight");
  }
  return static_cast<int>(reg);
}

template <int kDwords>
void move_from_relative(Wave& w, const Inst& in) {
  const int from = relative_register(w, in.src(0), kDwords);
  for (int i = 0; i < kDwords; ++i)
    w.set_scalar(in.dst().reg + i, w.s[from + i], w.scalar_undef(from + i));
}

template <int kDwords>
void move_to_relative(Wave& w, const Inst& in) {
  const int to = relative_register(w, in.dst(), kDwords);
  const U64 value = scalar_source(w, in.src(0)), undef = scalar_source_undef(w, in.src(0));
  for (int i = 0; i < kDwords; ++i)
    w.set_scalar(to + i, static_cast<U32>(value >> (32 * i)), static_cast<U32>(undef >> (32 * i)));
}

Op custom_op(std::string_view name, Handler run, int num_dst, Type source = Type::B32) {
  Op op;
  op.name = name;
  op.cls = OpClass::Salu;
  op.run = run;
  op.num_dst = static_cast<uint8_t>(num_dst);
  op.types.fill(source);
  return op;
}

// --- hardware registers ---

enum HardwareRegister : uint32_t {
  kHwMode = 1,
  kHwStatus = 2,
  kHwId = 4,
  kHwGprAlloc = 5,
  kHwLdsAlloc = 6,
  kHwShMemBases = 15,
  kHwXccId = 20,
};

struct HardwareField {
  uint32_t id, offset, width;
  uint32_t mask() const { return static_cast<uint32_t>((U64{1} << width) - 1) << offset; }
};

HardwareField hardware_field(const Inst& in) {
  const uint32_t bits = static_cast<uint32_t>(in.immediate);
  return {bits & 0x3f, bits >> 6 & 0x1f, (bits >> 11 & 0x1f) + 1};
}

// Allocation sizes are held in granules, less one.
uint32_t granules_less_one(uint32_t amount, uint32_t granule) {
  return amount == 0 ? 0 : (amount - 1) / granule;
}

uint32_t status_bits(const Wave& w) {
  constexpr uint32_t kExeczBit = 9, kVcczBit = 10, kInGroupBit = 11, kValidBit = 16;
  return uint32_t{w.scc} | uint32_t{w.exec() == 0} << kExeczBit |
         uint32_t{w.vcc() == 0} << kVcczBit |
         uint32_t{w.workgroup->waves.size() > 1} << kInGroupBit | 1u << kValidBit;
}

// Where a wave might run: slot, SIMD and CU follow from its number and its workgroup's.
uint32_t hardware_id(const Wave& w) {
  constexpr uint32_t kSimdShift = 4, kCuShift = 8, kShaderEngineShift = 13;
  constexpr uint32_t kCusPerEngine = 16, kEngines = 8;
  const uint32_t simds = static_cast<uint32_t>(w.target->simds_per_cu);
  const U64 group = w.workgroup->linear_id / static_cast<uint32_t>(w.target->num_xcds);
  return (w.id / simds & 0xf) | (w.id % simds) << kSimdShift |
         static_cast<uint32_t>(group % kCusPerEngine) << kCuShift |
         static_cast<uint32_t>(group / kCusPerEngine % kEngines) << kShaderEngineShift;
}

uint32_t gpr_allocation(const Wave& w) {
  constexpr uint32_t kVgprSizeShift = 8, kSgprSizeShift = 24;
  const Kernel& kernel = w.workgroup->launch->kernel;
  const auto granule = [](int g) { return static_cast<uint32_t>(g); };
  return granules_less_one(kernel.allocated_vgprs, granule(w.target->vgpr_granule))
             << kVgprSizeShift |
         granules_less_one(kernel.allocated_sgprs, granule(w.target->sgpr_granule))
             << kSgprSizeShift;
}

uint32_t lds_allocation(const Wave& w) {
  constexpr uint32_t kSizeShift = 12;
  const uint32_t bytes = w.workgroup->launch->kernel.lds_bytes + w.workgroup->launch->dynamic_lds;
  return (bytes + w.target->lds_granule - 1) / w.target->lds_granule << kSizeShift;
}

// The upper 16 bits of the apertures: private in the low half, shared in the high half.
uint32_t aperture_bases(const Wave& w) {
  constexpr int kApertureShift = 48;
  return static_cast<uint32_t>(w.target->private_aperture >> kApertureShift) |
         static_cast<uint32_t>(w.target->shared_aperture >> kApertureShift) << 16;
}

uint32_t hardware_register(const Wave& w, uint32_t id) {
  switch (id) {
    case kHwMode:
      return w.mode;
    case kHwStatus:
      return status_bits(w);
    case kHwId:
      return hardware_id(w);
    case kHwGprAlloc:
      return gpr_allocation(w);
    case kHwLdsAlloc:
      return lds_allocation(w);
    case kHwShMemBases:
      return aperture_bases(w);
    case kHwXccId:
      return w.workgroup->xcc_id;
    default:
      fail(FaultKind::Unsupported, "hardware register " + std::to_string(id) + " cannot be read");
  }
}

void get_hardware_register(Wave& w, const Inst& in) {
  const HardwareField field = hardware_field(in);
  const uint32_t value = (hardware_register(w, field.id) & field.mask()) >> field.offset;
  const bool undef = field.id == kHwStatus && (field.mask() & 1) && w.scc_undef;
  w.set_scalar(in.dst().reg, value, undef ? 1 : 0);
}

// Rounding, denormals, DX10_CLAMP, IEEE and FP16_OVFL. The others switch on traps, register
// indexing and VSKIP.
constexpr uint32_t kModeFp16Overflow = 1u << 23;
constexpr uint32_t kModeWritable = 0xff | kModeDx10Clamp | kModeIeee | kModeFp16Overflow;

void set_hardware_register(Wave& w, const Inst& in) {
  const HardwareField field = hardware_field(in);
  if (field.id != kHwMode)
    fail(FaultKind::Unsupported,
         "hardware register " + std::to_string(field.id) + " cannot be written");
  w.require_defined(in.src(0), 0, "the MODE register");
  const uint32_t value = w.scalar_value(in.src(0), 0) << field.offset & field.mask();
  const uint32_t mode = (w.mode & ~field.mask()) | value;
  if ((mode ^ w.mode) & ~kModeWritable)
    fail(FaultKind::Unsupported,
         "MODE bits other than rounding, denormals, clamp, IEEE and FP16_OVFL");
  w.mode = mode;
}

void append_custom(std::vector<Op>* ops) {
  ops->push_back(custom_op("s_getpc_b64", &get_pc, 1));
  ops->push_back(custom_op("s_setpc_b64", &set_pc, 0));
  ops->push_back(custom_op("s_swappc_b64", &swap_pc, 1));
  ops->push_back(custom_op("s_call_b64", &call, 1));
  for (Op op : {custom_op("s_movrels_b32", &move_from_relative<1>, 1),
                custom_op("s_movrels_b64", &move_from_relative<2>, 1),
                custom_op("s_movreld_b32", &move_to_relative<1>, 1),
                custom_op("s_movreld_b64", &move_to_relative<2>, 1, Type::B64)}) {
    op.reads_m0 = true;
    ops->push_back(op);
  }
  ops->push_back(custom_op("s_getreg_b32", &get_hardware_register, 1));
  ops->push_back(custom_op("s_setreg_b32", &set_hardware_register, 0));
  ops->push_back(custom_op("s_setreg_imm32_b32", &set_hardware_register, 0));
}

}  // namespace

std::vector<Op> scalar_ops() {
  std::vector<Op> ops;
  append_moves(&ops);
  append_logic(&ops);
  append_shifts(&ops);
  append_counts(&ops);
  append_arithmetic(&ops);
  append_tests(&ops);
  append_exec_updates(&ops);
  append_custom(&ops);
  return ops;
}

}  // namespace gfxsim
