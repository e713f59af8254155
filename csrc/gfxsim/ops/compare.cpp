// v_cmp_* and v_cmpx_*: one bit a lane to a scalar register pair; v_cmpx_* makes it the exec mask
// as well. The clamp modifier of a float comparison only makes it signal on quiet NaNs.
#include <concepts>
#include <deque>
#include <string>

#include "gfxsim/lane_op.h"
#include "gfxsim/ops/families.h"

namespace gfxsim {
namespace {

// Rows hold views of their names, which are composed here.
std::string_view keep_name(std::string name) {
  static std::deque<std::string> names;
  return names.emplace_back(std::move(name));
}

void copy_result_to_exec(Wave& w, const Inst& in) {
  const int result = in.dst().reg;
  for (int d = 0; d < 2; ++d) w.set_scalar(kExec + d, w.s[result + d], w.scalar_undef(result + d));
}

template <class Impl>
struct WithExec {
  static void run(Wave& w, const Inst& in) {
    Impl::run(w, in);
    copy_result_to_exec(w, in);
  }
  static void propagate(Wave& w, const Inst& in) {
    Impl::propagate(w, in);
    copy_result_to_exec(w, in);
  }
};

// Adds v_cmp_<suffix> and v_cmpx_<suffix>.
template <class A, class B, LaneOpOptions Options, class F>
void add_rows(std::vector<Op>& rows, const std::string& suffix, F f) {
  rows.push_back(lane_op<LaneBit(A, B), Options>(keep_name("v_cmp_" + suffix), f));
  Op cmpx = lane_op<LaneBit(A, B), Options>(keep_name("v_cmpx_" + suffix), f);
  using Impl = WithExec<LaneOp<F, Options, LaneBit, A, B>>;
  cmpx.run = &Impl::run;
  cmpx.propagate = &Impl::propagate;
  cmpx.writes_exec = true;
  rows.push_back(cmpx);
}

template <class T, class F>
void add_relation(std::vector<Op>& rows, const std::string& relation, const std::string& type, F) {
  add_rows<T, T, LaneOpOptions{}>(rows, relation + "_" + type,
                                  [](T a, T b) { return lane_bit(F{}(a, b)); });
}

// A comparison that does not look at its sources, not even at whether they are defined.
template <class T, bool Result>
void add_constant(std::vector<Op>& rows, const std::string& relation, const std::string& type) {
  add_rows<T, T, LaneOpOptions{.undef = Undef::Bits}>(rows, relation + "_" + type,
                                                      [](T, T) { return lane_bit(Result); });
}

template <class T>
void add_ordered_relations(std::vector<Op>& rows, const std::string& type) {
  add_constant<T, false>(rows, "f", type);
  add_relation<T>(rows, "lt", type, [](T a, T b) { return a < b; });
  add_relation<T>(rows, "eq", type, [](T a, T b) { return a == b; });
  add_relation<T>(rows, "le", type, [](T a, T b) { return a <= b; });
  add_relation<T>(rows, "gt", type, [](T a, T b) { return a > b; });
  add_relation<T>(rows, "ge", type, [](T a, T b) { return a >= b; });
}

template <std::integral T>
void add_integer_type(std::vector<Op>& rows, const std::string& type) {
  add_ordered_relations<T>(rows, type);
  add_relation<T>(rows, "ne", type, [](T a, T b) { return a != b; });
  add_constant<T, true>(rows, "t", type);
}

// Every relation of floats has its negation, which is true where an operand is a NaN.
template <class T>
void add_float_type(std::vector<Op>& rows, const std::string& type) {
  add_ordered_relations<T>(rows, type);
  add_relation<T>(rows, "lg", type, [](T a, T b) { return a < b || a > b; });
  add_relation<T>(rows, "o", type, [](T a, T b) { return a == a && b == b; });
  add_relation<T>(rows, "u", type, [](T a, T b) { return a != a || b != b; });
  add_relation<T>(rows, "nge", type, [](T a, T b) { return !(a >= b); });
  add_relation<T>(rows, "nlg", type, [](T a, T b) { return !(a < b || a > b); });
  add_relation<T>(rows, "ngt", type, [](T a, T b) { return !(a > b); });
  add_relation<T>(rows, "nle", type, [](T a, T b) { return !(a <= b); });
  add_relation<T>(rows, "neq", type, [](T a, T b) { return a != b; });
  add_relation<T>(rows, "nlt", type, [](T a, T b) { return !(a < b); });
  add_constant<T, true>(rows, "tru", type);
}

// The bits of v_cmp_class's mask.
enum FloatClass : uint32_t {
  kSignalingNan,
  kQuietNan,
  kNegativeInfinity,
  kNegativeNormal,
  kNegativeDenormal,
  kNegativeZero,
  kPositiveZero,
  kPositiveDenormal,
  kPositiveNormal,
  kPositiveInfinity,
};

template <class T, int MantissaBits>
FloatClass float_class(T x) {
  using Bits = Raw<T>;
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(T) * 8 - 1));
  constexpr Bits kMinNormal = static_cast<Bits>(Bits{1} << MantissaBits);
  constexpr Bits kQuiet = static_cast<Bits>(kMinNormal >> 1);
  constexpr Bits kInfinity = static_cast<Bits>((kSign - 1) & ~(kMinNormal - 1));
  const Bits bits = std::bit_cast<Bits>(x);
  const bool negative = bits & kSign;
  const Bits magnitude = bits & static_cast<Bits>(~kSign);
  if (magnitude > kInfinity) return magnitude & kQuiet ? kQuietNan : kSignalingNan;
  if (magnitude == kInfinity) return negative ? kNegativeInfinity : kPositiveInfinity;
  if (magnitude >= kMinNormal) return negative ? kNegativeNormal : kPositiveNormal;
  if (magnitude != 0) return negative ? kNegativeDenormal : kPositiveDenormal;
  return negative ? kNegativeZero : kPositiveZero;
}

template <class T, int MantissaBits>
void add_class(std::vector<Op>& rows, const std::string& type) {
  constexpr LaneOpOptions kOptions{.undef = Undef::Bits, .control = 0b01, .keep_denormals = true};
  add_rows<T, uint32_t, kOptions>(rows, "class_" + type, [](T x, uint32_t mask) {
    return lane_bit(mask >> float_class<T, MantissaBits>(x) & 1);
  });
}

}  // namespace

std::vector<Op> compare_ops() {
  std::vector<Op> rows;
  add_integer_type<int16_t>(rows, "i16");
  add_integer_type<uint16_t>(rows, "u16");
  add_integer_type<int32_t>(rows, "i32");
  add_integer_type<uint32_t>(rows, "u32");
  add_integer_type<int64_t>(rows, "i64");
  add_integer_type<uint64_t>(rows, "u64");
  add_float_type<F16>(rows, "f16");
  add_float_type<float>(rows, "f32");
  add_float_type<double>(rows, "f64");
  add_class<F16, 10>(rows, "f16");
  add_class<float, 23>(rows, "f32");
  add_class<double, 52>(rows, "f64");
  return rows;
}

}  // namespace gfxsim
