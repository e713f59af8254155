// Vector arithmetic on f32, f64 and f16.
//
// Rounding and denormal modes are MXCSR's while a handler runs (FpEnvironment). _Float16 arithmetic
// is done in f32 and rounded once to f16, which is exact for a single operation; a cast ends an
// expression where the ISA rounds in between.
#include <cmath>
#include <limits>

#include "gfxsim/lane_op.h"
#include "gfxsim/ops/families.h"
#include "gfxsim/ops/float_math.h"

namespace gfxsim {
namespace {

// --- rows ----------------------------------------------------------------------------------------

template <class Signature, LaneOpOptions Options>
struct IeeeLanes;
template <class R, class... A, LaneOpOptions Options>
struct IeeeLanes<R(A...), Options> {
  template <class Ieee, class Plain>
  using Switch = ByIeeeMode<LaneOp<Ieee, Options, R, A...>, LaneOp<Plain, Options, R, A...>>;
};

// A row with a function for IEEE mode and one for the mode without.
template <class Signature, LaneOpOptions Options = LaneOpOptions{}, class Ieee, class Plain>
Op ieee_op(std::string_view name, Ieee ieee, Plain) {
  using Switch = typename IeeeLanes<Signature, Options>::template Switch<Ieee, Plain>;
  Op op = lane_op<Signature, Options>(name, ieee);
  op.run = &Switch::run;
  op.propagate = &Switch::propagate;
  return op;
}

template <class Signature, LaneOpOptions Options = LaneOpOptions{}, class F>
Op transcendental_op(std::string_view name, F f) {
  return lane_op<Signature, Options>(name, f, OpClass::Transcendental);
}

constexpr LaneOpOptions kKeepHigh{.keep_high = true};

// --- minimum, maximum, median --------------------------------------------------------------------

template <bool kIeee, class T>
T min3(T a, T b, T c) {
  return min_number<kIeee>(min_number<kIeee>(a, b), c);
}
template <bool kIeee, class T>
T max3(T a, T b, T c) {
  return max_number<kIeee>(max_number<kIeee>(a, b), c);
}
template <bool kIeee, class T>
T med3(T a, T b, T c) {
  if (is_nan(a) || is_nan(b) || is_nan(c)) return min3<kIeee>(a, b, c);
  const T largest = max3<kIeee>(a, b, c);
  if (largest == a) return max_number<kIeee>(b, c);
  if (largest == b) return max_number<kIeee>(a, c);
  return max_number<kIeee>(a, b);
}

template <class T>
void add_min_max_rows(std::vector<Op>& ops, const char* min, const char* max) {
  ops.push_back(ieee_op<T(T, T)>(
      min, [](T a, T b) { return min_number<true>(a, b); },
      [](T a, T b) { return min_number<false>(a, b); }));
  ops.push_back(ieee_op<T(T, T)>(
      max, [](T a, T b) { return max_number<true>(a, b); },
      [](T a, T b) { return max_number<false>(a, b); }));
}

template <class T>
void add_three_way_rows(std::vector<Op>& ops, const char* min, const char* max, const char* med) {
  ops.push_back(ieee_op<T(T, T, T), kKeepHigh>(
      min, [](T a, T b, T c) { return min3<true>(a, b, c); },
      [](T a, T b, T c) { return min3<false>(a, b, c); }));
  ops.push_back(ieee_op<T(T, T, T), kKeepHigh>(
      max, [](T a, T b, T c) { return max3<true>(a, b, c); },
      [](T a, T b, T c) { return max3<false>(a, b, c); }));
  ops.push_back(ieee_op<T(T, T, T), kKeepHigh>(
      med, [](T a, T b, T c) { return med3<true>(a, b, c); },
      [](T a, T b, T c) { return med3<false>(a, b, c); }));
}

// --- elementary functions
// ------------------------------------------------------------------------- Computed in f64 with an
// error below 2^-36 and rounded to f32, in code that vectorises.

// The f32 functions flush denormals whatever the mode.
float flush(float x) {
  constexpr uint32_t kExponentField = 0x7f800000;
  const uint32_t bits = raw_bits(x);
  return from_bits<float>(bits & kExponentField ? bits : bits & kSignBit<float>);
}

template <size_t kTerms>
double polynomial(const double (&coefficient)[kTerms], double x) {
  double sum = coefficient[kTerms - 1];
  for (size_t i = kTerms - 1; i > 0; --i) sum = sum * x + coefficient[i - 1];
  return sum;
}

// 2^e for an exponent of a normal f64.
double power_of_two(int64_t e) { return from_bits<double>(static_cast<uint64_t>(e + 1023) << 52); }

// 2^x = 2^n * 2^f with |f| <= 1/2.
double exp2_wide(float x) {
  constexpr double kTaylor[] = {
      // ln(2)^k / k!
      1.0,
      0.6931471805599453,
      0.24022650695910072,
      0.05550410866482158,
      0.009618129107628477,
      0.0013333558146428443,
      0.0001540353039338161,
      1.5252733804059841e-05,
      1.321548679014431e-06,
      1.01780860092397e-07,
  };
  constexpr float kLimit = 200.0f;  // beyond, f32 overflows or underflows anyway
  const float limited = x > kLimit ? kLimit : x < -kLimit ? -kLimit : x;
  const float whole = __builtin_roundevenf(limited);
  const double fraction = static_cast<double>(limited - whole);
  const int32_t n = static_cast<int32_t>(whole == whole ? whole : 0.0f);
  const double value = polynomial(kTaylor, fraction) * power_of_two(n);
  return x == x ? value : static_cast<double>(x);
}
float exp2_rounded(float x) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float value = static_cast<float>(exp2_wide(x));
  return x == infinity ? infinity : x == -infinity ? 0.0f : value;
}

// log2(m * 2^e) = e + 2/ln(2) * atanh(s), s = (m - 1) / (m + 1), with m in [sqrt(1/2), sqrt(2)].
float log2_rounded(float x) {
  constexpr double kSeries[] = {
      // 2 / (ln(2) * (2k + 1))
      2.8853900817779268,  0.9617966939259756,  0.5770780163555853,  0.4121985831111324,
      0.3205988979753252,  0.2623081892525388,  0.22195308321368667, 0.19235933878519512,
      0.16972882833987804, 0.15186263588304877,
  };
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd;
  const uint64_t bits = raw_bits(static_cast<double>(x));
  const uint64_t offset = bits - kSqrtHalf;
  const int32_t e = static_cast<int32_t>(static_cast<int64_t>(offset) >> 52);
  const double m = from_bits<double>(bits - (offset & 0xfff0000000000000));
  const double s = (m - 1.0) / (m + 1.0);
  const double value = static_cast<double>(e) + s * polynomial(kSeries, s * s);
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = from_bits<float>(0xffc00000);
  const float special = x == 0 ? -infinity : x == infinity ? infinity : x != x ? quiet(x) : nan;
  return x > 0 && x < infinity ? static_cast<float>(value) : special;
}

// Arguments are in revolutions; the ISA's domain is [-256, 256].
constexpr float kTurnsLimit = 256.0f;

// sin(2 pi t) for |t| <= 1/2.
double sine_of_turns(double t) {
  constexpr double kTaylor[] = {
      // (-1)^k (2 pi)^(2k+1) / (2k+1)!
      6.283185307179586,  -41.34170224039976,  81.60524927607506,
      -76.70585975306139, 42.058693944897655,  -15.09464257682299,
      3.819952584848282,  -0.7181223017785006, 0.10422916220813984,
  };
  const double magnitude = __builtin_fabs(t);
  const double folded = __builtin_copysign(magnitude > 0.25 ? 0.5 - magnitude : magnitude, t);
  return folded * polynomial(kTaylor, folded * folded);
}
float sine(float x) {
  const float turns = x - __builtin_roundevenf(x);
  const float value = static_cast<float>(sine_of_turns(static_cast<double>(turns)));
  const float infinity = std::numeric_limits<float>::infinity();
  const bool outside = __builtin_fabsf(x) > kTurnsLimit && __builtin_fabsf(x) < infinity;
  return outside ? 0.0f : value;
}
float cosine(float x) {
  const float turns = x - __builtin_roundevenf(x);
  const double quarter = 0.25 - static_cast<double>(__builtin_fabsf(turns));
  const float value = static_cast<float>(sine_of_turns(quarter));
  const float infinity = std::numeric_limits<float>::infinity();
  const bool outside = __builtin_fabsf(x) > kTurnsLimit && __builtin_fabsf(x) < infinity;
  return outside ? 1.0f : value;
}

float reciprocal_f32(float x) { return flush(1.0f / flush(x)); }
float reciprocal_sqrt_f32(float x) {
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(flush(x))));
}
float exp_f32(float x) { return flush(exp2_rounded(flush(x))); }
float log_f32(float x) { return log2_rounded(flush(x)); }

void add_elementary_rows(std::vector<Op>& ops) {
  ops.push_back(transcendental_op<float(float)>("v_exp_f32", [](float x) { return exp_f32(x); }));
  ops.push_back(transcendental_op<float(float)>("v_log_f32", [](float x) { return log_f32(x); }));
  ops.push_back(
      transcendental_op<float(float)>("v_exp_legacy_f32", [](float x) { return exp_f32(x); }));
  ops.push_back(
      transcendental_op<float(float)>("v_log_legacy_f32", [](float x) { return log_f32(x); }));
  ops.push_back(
      transcendental_op<float(float)>("v_rcp_f32", [](float x) { return reciprocal_f32(x); }));
  // Differs from v_rcp_f32 only in the exceptions it raises, and none are simulated.
  ops.push_back(transcendental_op<float(float)>("v_rcp_iflag_f32",
                                                [](float x) { return reciprocal_f32(x); }));
  ops.push_back(
      transcendental_op<float(float)>("v_rsq_f32", [](float x) { return reciprocal_sqrt_f32(x); }));
  ops.push_back(
      transcendental_op<float(float)>("v_sqrt_f32", [](float x) { return std::sqrt(flush(x)); }));
  ops.push_back(transcendental_op<float(float)>("v_sin_f32", [](float x) { return sine(x); }));
  ops.push_back(transcendental_op<float(float)>("v_cos_f32", [](float x) { return cosine(x); }));

  ops.push_back(transcendental_op<F16(F16)>(
      "v_exp_f16", [](F16 x) { return static_cast<F16>(exp2_rounded(x)); }));
  ops.push_back(transcendental_op<F16(F16)>(
      "v_log_f16", [](F16 x) { return static_cast<F16>(log2_rounded(x)); }));
  ops.push_back(transcendental_op<F16(F16)>(
      "v_rcp_f16", [](F16 x) { return static_cast<F16>(1.0f / static_cast<float>(x)); }));
  ops.push_back(transcendental_op<F16(F16)>("v_rsq_f16", [](F16 x) {
    return static_cast<F16>(1.0f / std::sqrt(static_cast<float>(x)));
  }));
  ops.push_back(transcendental_op<F16(F16)>(
      "v_sqrt_f16", [](F16 x) { return static_cast<F16>(std::sqrt(static_cast<float>(x))); }));
  ops.push_back(
      transcendental_op<F16(F16)>("v_sin_f16", [](F16 x) { return static_cast<F16>(sine(x)); }));
  ops.push_back(
      transcendental_op<F16(F16)>("v_cos_f16", [](F16 x) { return static_cast<F16>(cosine(x)); }));

  // Hardware gives about 2^-29; programs refine it.
  ops.push_back(transcendental_op<double(double)>("v_rcp_f64", [](double x) { return 1.0 / x; }));
  ops.push_back(transcendental_op<double(double)>(
      "v_rsq_f64", [](double x) { return 1.0 / __builtin_sqrt(x); }));
  ops.push_back(
      transcendental_op<double(double)>("v_sqrt_f64", [](double x) { return __builtin_sqrt(x); }));
}

// --- parts of a number
// ----------------------------------------------------------------------------

// x - floor(x), at most the largest number below 1.
template <class T>
T fraction(T x) {
  constexpr T kBelowOne = T(1) - T(1) / T(uint64_t{2} << FloatFormat<T>::kMantissa);
  const T r = x - std::floor(x);
  return r > kBelowOne ? kBelowOne : r;
}
F16 fraction_f16(F16 x) {
  constexpr F16 kBelowOne = static_cast<F16>(0.99951171875f);
  const F16 r = static_cast<F16>(static_cast<float>(x) - std::floor(static_cast<float>(x)));
  return r > kBelowOne ? kBelowOne : r;
}

template <class T>
bool is_finite(T x) {
  return exponent_field(x) != (1 << FloatFormat<T>::kExponent) - 1;
}

template <class T>
int frexp_exponent(T x) {
  int e = 0;
  if (is_finite(x)) std::frexp(x, &e);
  return e;
}
template <class T>
T frexp_mantissa(T x) {
  int e = 0;
  return is_finite(x) ? std::frexp(x, &e) : is_nan(x) ? quiet(x) : x;
}

// x * 2^n, rounded once.
float scale_f32(float x, int32_t n) {
  constexpr int32_t kLimit = 300;  // takes any f32 out of range, and keeps the f64 product exact
  const int32_t limited = n > kLimit ? kLimit : n < -kLimit ? -kLimit : n;
  return static_cast<float>(static_cast<double>(x) * power_of_two(limited));
}
F16 scale_f16(F16 x, int16_t n) {
  constexpr int kLimit = 60;  // the same for f16 in f32
  const int limited = n > kLimit ? kLimit : n < -kLimit ? -kLimit : n;
  const float power = from_bits<float>(static_cast<uint32_t>(limited + 127) << 23);
  return static_cast<F16>(static_cast<float>(x) * power);
}

template <class T>
struct RoundingNames {
  const char *trunc, *ceil, *floor, *rndne;
};

template <class T>
void add_rounding_rows(std::vector<Op>& ops, const RoundingNames<T>& names) {
  // f16 is rounded in f32; every integer result is an f16 again.
  using Wide = std::conditional_t<std::is_same_v<T, F16>, float, T>;
  ops.push_back(lane_op<T(T)>(
      names.trunc, [](T x) { return static_cast<T>(std::trunc(static_cast<Wide>(x))); }));
  ops.push_back(lane_op<T(T)>(names.ceil,
                              [](T x) { return static_cast<T>(std::ceil(static_cast<Wide>(x))); }));
  ops.push_back(lane_op<T(T)>(
      names.floor, [](T x) { return static_cast<T>(std::floor(static_cast<Wide>(x))); }));
  ops.push_back(lane_op<T(T)>(names.rndne, [](T x) {
    if constexpr (std::is_same_v<Wide, float>)
      return static_cast<T>(__builtin_roundevenf(x));
    else
      return __builtin_roundeven(x);
  }));
}

void add_part_rows(std::vector<Op>& ops) {
  add_rounding_rows<float>(ops, {"v_trunc_f32", "v_ceil_f32", "v_floor_f32", "v_rndne_f32"});
  add_rounding_rows<double>(ops, {"v_trunc_f64", "v_ceil_f64", "v_floor_f64", "v_rndne_f64"});
  add_rounding_rows<F16>(ops, {"v_trunc_f16", "v_ceil_f16", "v_floor_f16", "v_rndne_f16"});
  ops.push_back(lane_op<float(float)>("v_fract_f32", [](float x) { return fraction(x); }));
  ops.push_back(lane_op<double(double)>("v_fract_f64", [](double x) { return fraction(x); }));
  ops.push_back(lane_op<F16(F16)>("v_fract_f16", [](F16 x) { return fraction_f16(x); }));
  ops.push_back(
      lane_op<int32_t(float)>("v_frexp_exp_i32_f32", [](float x) { return frexp_exponent(x); }));
  ops.push_back(
      lane_op<int32_t(double)>("v_frexp_exp_i32_f64", [](double x) { return frexp_exponent(x); }));
  ops.push_back(lane_op<int16_t(F16)>("v_frexp_exp_i16_f16", [](F16 x) {
    return static_cast<int16_t>(frexp_exponent(static_cast<float>(x)));
  }));
  ops.push_back(
      lane_op<float(float)>("v_frexp_mant_f32", [](float x) { return frexp_mantissa(x); }));
  ops.push_back(
      lane_op<double(double)>("v_frexp_mant_f64", [](double x) { return frexp_mantissa(x); }));
  ops.push_back(lane_op<F16(F16)>("v_frexp_mant_f16", [](F16 x) {
    return static_cast<F16>(frexp_mantissa(static_cast<float>(x)));
  }));
  ops.push_back(lane_op<float(float, int32_t)>("v_ldexp_f32",
                                               [](float x, int32_t n) { return scale_f32(x, n); }));
  ops.push_back(lane_op<double(double, int32_t)>(
      "v_ldexp_f64", [](double x, int32_t n) { return std::ldexp(x, n); }));
  ops.push_back(
      lane_op<F16(F16, int16_t)>("v_ldexp_f16", [](F16 x, int16_t n) { return scale_f16(x, n); }));
}

// --- division
// -------------------------------------------------------------------------------------

template <class T>
struct DivisionLimits;
template <>
struct DivisionLimits<float> {
  static constexpr int kScale = 64;          // operands are scaled by 2^kScale
  static constexpr int kNearOverflow = 96;   // exponents this far apart: the quotient is huge
  static constexpr int kTinyNumerator = 23;  // exponent field
  static constexpr int kUnderflow = -150;    // exponent difference of a quotient that is 0
};
template <>
struct DivisionLimits<double> {
  static constexpr int kScale = 128;
  static constexpr int kNearOverflow = 768;
  static constexpr int kTinyNumerator = 53;
  static constexpr int kUnderflow = -1075;
};

template <class T>
T scaled(T x, int exponent) {
  return x * static_cast<T>(power_of_two(exponent));
}

// Whether a / b is a denormal of format T, whatever MXCSR makes of denormals.
template <class T>
bool is_denormal_quotient(T a, T b) {
  if (!is_finite(a) || !is_finite(b) || a == 0) return false;
  int a_exponent = 0, b_exponent = 0;
  double q = __builtin_fabs(std::frexp(static_cast<double>(a), &a_exponent) /
                            std::frexp(static_cast<double>(b), &b_exponent));
  const bool below_one = q < 1;
  q = below_one ? q * 2 : q;  // in [1, 2]
  const int exponent = a_exponent - b_exponent - (below_one ? 1 : 0);
  constexpr int kMinExponent = 2 - (1 << (FloatFormat<T>::kExponent - 1));
  constexpr int kBelowDenormals = kMinExponent - FloatFormat<T>::kMantissa - 1;
  return exponent < kMinExponent &&
         (exponent > kBelowDenormals || (exponent == kBelowDenormals && q > 1));
}

// The numerator or the denominator of a division (s0 is one of both), scaled so that the
// Newton-Raphson steps neither overflow nor meet denormals; and whether v_div_fmas is to undo it.
template <class T>
Two<T, LaneBit> div_scale(T s0, T denominator, T numerator) {
  using Limits = DivisionLimits<T>;
  const int n = exponent_field(numerator), d = exponent_field(denominator);
  if (numerator == 0 || denominator == 0)
    return {std::numeric_limits<T>::quiet_NaN(), LaneBit::Clear};
  const T up = scaled(s0, Limits::kScale), down = scaled(s0, -Limits::kScale);
  if (n - d >= Limits::kNearOverflow) return {s0 == denominator ? up : s0, LaneBit::Set};
  if (d == 0) return {up, LaneBit::Clear};
  const bool tiny_reciprocal = is_denormal_quotient(T(1), denominator);
  const bool tiny_quotient = is_denormal_quotient(numerator, denominator);
  if (tiny_reciprocal && tiny_quotient) return {s0 == denominator ? down : s0, LaneBit::Set};
  if (tiny_reciprocal) return {down, LaneBit::Clear};
  if (tiny_quotient) return {s0 == numerator ? up : s0, LaneBit::Set};
  if (n <= Limits::kTinyNumerator) return {up, LaneBit::Clear};
  return {s0, LaneBit::Clear};
}

// a + b rounded to odd, so that rounding it again to a shorter format is one rounding of the sum.
double add_to_odd(double a, double b) {
  const double sum = a + b, part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  const uint64_t bits = raw_bits(sum);
  if (!is_finite(sum) || error == 0 || (bits & 1)) return sum;
  return from_bits<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

// The last step of a division: undoes the scaling. A quotient above 2 can only have been scaled
// down, a smaller one only up.
float div_fmas(float a, float b, float c, LaneBit is_scaled) {
  if (is_scaled == LaneBit::Clear) return std::fma(a, b, c);
  // In f64, so that a quotient which becomes a denormal is rounded once.
  const double value = add_to_odd(static_cast<double>(a) * static_cast<double>(b), c);
  constexpr int kBias = 127, kScale = DivisionLimits<float>::kScale;
  return static_cast<float>(value * power_of_two(exponent_field(c) > kBias ? kScale : -kScale));
}
double div_fmas(double a, double b, double c, LaneBit is_scaled) {
  const double value = std::fma(a, b, c);
  if (is_scaled == LaneBit::Clear) return value;
  constexpr int kBias = 1023, kScale = DivisionLimits<double>::kScale;
  return value * power_of_two(exponent_field(c) > kBias ? kScale : -kScale);
}

// The quotient with the special cases put right.
template <class T>
T div_fixup(T quotient, T denominator, T numerator) {
  constexpr int kExponentMask = (1 << FloatFormat<T>::kExponent) - 1;
  constexpr Raw<T> kInfinity =
      static_cast<Raw<T>>(static_cast<Raw<T>>(kExponentMask) << FloatFormat<T>::kMantissa);
  const Raw<T> sign = (raw_bits(denominator) ^ raw_bits(numerator)) & kSignBit<T>;
  const auto magnitude = [](T x) { return static_cast<Raw<T>>(raw_bits(x) & ~kSignBit<T>); };
  const bool zero_over = magnitude(numerator) == 0, over_zero = magnitude(denominator) == 0;
  const bool inf_over = magnitude(numerator) == kInfinity;
  const bool over_inf = magnitude(denominator) == kInfinity;
  const auto signed_value = [sign](Raw<T> bits) {
    return from_bits<T>(static_cast<Raw<T>>(sign | bits));
  };
  if (is_nan(numerator)) return quiet(numerator);
  if (is_nan(denominator)) return quiet(denominator);
  if ((over_zero && zero_over) || (over_inf && inf_over))
    return from_bits<T>(static_cast<Raw<T>>(kSignBit<T> | kInfinity | kQuietBit<T>));
  if (over_zero || inf_over) return signed_value(kInfinity);
  if (over_inf || zero_over) return signed_value(0);
  if constexpr (!std::is_same_v<T, F16>) {
    const int difference = exponent_field(numerator) - exponent_field(denominator);
    if (difference < DivisionLimits<T>::kUnderflow) return signed_value(0);
    if (is_nan(quotient)) return signed_value(kInfinity);  // the steps before overflowed
  }
  return signed_value(magnitude(quotient));
}

// v_div_fmas reads vcc without printing it: it becomes a fourth source.
void append_vcc(Inst& in) {
  Operand& vcc = in.operands[in.num_operands++];
  vcc.kind = Operand::Scalar;
  vcc.reg = kVcc;
  vcc.dwords = 2;
}

template <class T>
Op div_fmas_row(std::string_view name) {
  Op op = lane_op<T(T, T, T, LaneBit)>(
      name, [](T a, T b, T c, LaneBit is_scaled) { return div_fmas(a, b, c, is_scaled); });
  op.reads_vcc = true;
  op.fixup = &append_vcc;
  return op;
}

void add_division_rows(std::vector<Op>& ops) {
  ops.push_back(lane_op<Two<float, LaneBit>(float, float, float)>(
      "v_div_scale_f32", [](float a, float b, float c) { return div_scale(a, b, c); }));
  ops.push_back(lane_op<Two<double, LaneBit>(double, double, double)>(
      "v_div_scale_f64", [](double a, double b, double c) { return div_scale(a, b, c); }));
  ops.push_back(div_fmas_row<float>("v_div_fmas_f32"));
  ops.push_back(div_fmas_row<double>("v_div_fmas_f64"));
  ops.push_back(lane_op<float(float, float, float)>(
      "v_div_fixup_f32", [](float q, float d, float n) { return div_fixup(q, d, n); }));
  ops.push_back(lane_op<double(double, double, double)>(
      "v_div_fixup_f64", [](double q, double d, double n) { return div_fixup(q, d, n); }));
  ops.push_back(lane_op<F16(F16, F16, F16), kKeepHigh>(
      "v_div_fixup_f16", [](F16 q, F16 d, F16 n) { return div_fixup(q, d, n); }));
  ops.push_back(lane_op<F16(F16, F16, F16)>(
      "v_div_fixup_legacy_f16", [](F16 q, F16 d, F16 n) { return div_fixup(q, d, n); }));
}

// --- reduction of large angles
// --------------------------------------------------------------------

// 2/pi after the binary point, most significant bits first.
constexpr uint64_t kTwoOverPi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000,
};

// 64 bits of 2/pi from bit `at` on.
uint64_t two_over_pi_bits(uint32_t at) {
  const auto word = [](uint32_t i) { return i < std::size(kTwoOverPi) ? kTwoOverPi[i] : 0; };
  const uint32_t index = at / 64, offset = at % 64;
  return offset ? word(index) << offset | word(index + 1) >> (64 - offset) : word(index);
}

// 53 bits of 2/pi: segment `segment` of those that matter for an angle of x's size.
double trig_preop(double x, uint32_t segment) {
  constexpr int kSegmentBits = 53, kSegmentMask = 31;
  constexpr int kLargeAngle = 1077, kHugeAngle = 1968, kHugeScale = 128;  // exponent fields
  const int exponent = exponent_field(x);
  int shift = static_cast<int>(segment & kSegmentMask) * kSegmentBits;
  if (exponent > kLargeAngle) shift += exponent - kLargeAngle;
  const uint64_t bits = two_over_pi_bits(static_cast<uint32_t>(shift)) >> (64 - kSegmentBits);
  const int scale = -kSegmentBits - shift + (exponent >= kHugeAngle ? kHugeScale : 0);
  return std::ldexp(static_cast<double>(bits), scale);
}

// --- cube maps
// ------------------------------------------------------------------------------------

enum class Axis : uint8_t { X, Y, Z };

Axis major_axis(float x, float y, float z) {
  const float ax = __builtin_fabsf(x), ay = __builtin_fabsf(y), az = __builtin_fabsf(z);
  if (az >= ax && az >= ay) return Axis::Z;
  return ay >= ax ? Axis::Y : Axis::X;
}

float cube_face(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
    case Axis::Z:
      return z < 0 ? 5.0f : 4.0f;
    case Axis::Y:
      return y < 0 ? 3.0f : 2.0f;
    case Axis::X:
      break;
  }
  return x < 0 ? 1.0f : 0.0f;
}

float cube_s(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
    case Axis::Z:
      return z < 0 ? -x : x;
    case Axis::Y:
      return x;
    case Axis::X:
      break;
  }
  return x < 0 ? z : -z;
}

float cube_t(float x, float y, float z) {
  if (major_axis(x, y, z) == Axis::Y) return y < 0 ? -z : z;
  return -y;
}

float cube_major(float x, float y, float z) {
  switch (major_axis(x, y, z)) {
    case Axis::Z:
      return z * 2.0f;
    case Axis::Y:
      return y * 2.0f;
    case Axis::X:
      break;
  }
  return x * 2.0f;
}

void add_special_rows(std::vector<Op>& ops) {
  using Cube = float(float, float, float);
  ops.push_back(
      lane_op<Cube>("v_cubeid_f32", [](float x, float y, float z) { return cube_face(x, y, z); }));
  ops.push_back(
      lane_op<Cube>("v_cubesc_f32", [](float x, float y, float z) { return cube_s(x, y, z); }));
  ops.push_back(
      lane_op<Cube>("v_cubetc_f32", [](float x, float y, float z) { return cube_t(x, y, z); }));
  ops.push_back(
      lane_op<Cube>("v_cubema_f32", [](float x, float y, float z) { return cube_major(x, y, z); }));
  ops.push_back(lane_op<double(double, uint32_t)>(
      "v_trig_preop_f64", [](double x, uint32_t segment) { return trig_preop(x, segment); }));
}

// --- sums and products
// ----------------------------------------------------------------------------

// The product is rounded before the addition.
F16 mad_f16(F16 a, F16 b, F16 c) { return static_cast<F16>(static_cast<F16>(a * b) + c); }

void add_f32_rows(std::vector<Op>& ops) {
  using Binary = float(float, float);
  using Ternary = float(float, float, float);
  const auto fma = [](float a, float b, float c) { return std::fma(a, b, c); };
  ops.push_back(lane_op<Binary>("v_add_f32", [](float a, float b) { return a + b; }));
  ops.push_back(lane_op<Binary>("v_sub_f32", [](float a, float b) { return a - b; }));
  ops.push_back(lane_op<Binary>("v_subrev_f32", [](float a, float b) { return b - a; }));
  ops.push_back(lane_op<Binary>("v_mul_f32", [](float a, float b) { return a * b; }));
  ops.push_back(lane_op<Binary>("v_mul_legacy_f32",
                                [](float a, float b) { return a == 0 || b == 0 ? 0.0f : a * b; }));
  ops.push_back(lane_op<Ternary>("v_fma_f32", fma));
  ops.push_back(lane_op<Ternary>("v_fmamk_f32", fma));
  ops.push_back(lane_op<Ternary>("v_fmaak_f32", fma));
  ops.push_back(accumulate_op<Ternary>("v_fmac_f32", fma));
  add_min_max_rows<float>(ops, "v_min_f32", "v_max_f32");
  add_three_way_rows<float>(ops, "v_min3_f32", "v_max3_f32", "v_med3_f32");
  ops.push_back(lane_op<Ternary>(
      "v_minimum3_f32", [](float a, float b, float c) { return minimum(minimum(a, b), c); }));
  ops.push_back(lane_op<Ternary>(
      "v_maximum3_f32", [](float a, float b, float c) { return maximum(maximum(a, b), c); }));
}

void add_f64_rows(std::vector<Op>& ops) {
  using Binary = double(double, double);
  using Ternary = double(double, double, double);
  const auto fma = [](double a, double b, double c) { return std::fma(a, b, c); };
  ops.push_back(lane_op<Binary>("v_add_f64", [](double a, double b) { return a + b; }));
  ops.push_back(lane_op<Binary>("v_mul_f64", [](double a, double b) { return a * b; }));
  ops.push_back(lane_op<Ternary>("v_fma_f64", fma));
  ops.push_back(accumulate_op<Ternary>("v_fmac_f64", fma));
  add_min_max_rows<double>(ops, "v_min_f64", "v_max_f64");
}

void add_f16_rows(std::vector<Op>& ops) {
  using Binary = F16(F16, F16);
  using Ternary = F16(F16, F16, F16);
  const auto fma = [](F16 a, F16 b, F16 c) { return fma_f16(a, b, c); };
  const auto mad = [](F16 a, F16 b, F16 c) { return mad_f16(a, b, c); };
  ops.push_back(lane_op<Binary>("v_add_f16", [](F16 a, F16 b) { return a + b; }));
  ops.push_back(lane_op<Binary>("v_sub_f16", [](F16 a, F16 b) { return a - b; }));
  ops.push_back(lane_op<Binary>("v_subrev_f16", [](F16 a, F16 b) { return b - a; }));
  ops.push_back(lane_op<Binary>("v_mul_f16", [](F16 a, F16 b) { return a * b; }));
  ops.push_back(lane_op<Ternary, kKeepHigh>("v_fma_f16", fma));
  ops.push_back(lane_op<Ternary>("v_fma_legacy_f16", fma));
  ops.push_back(lane_op<Ternary, kKeepHigh>("v_mad_f16", mad));
  ops.push_back(lane_op<Ternary>("v_mad_legacy_f16", mad));
  ops.push_back(lane_op<Ternary>("v_madmk_f16", mad));
  ops.push_back(lane_op<Ternary>("v_madak_f16", mad));
  ops.push_back(accumulate_op<Ternary>("v_mac_f16", mad));
  add_min_max_rows<F16>(ops, "v_min_f16", "v_max_f16");
  add_three_way_rows<F16>(ops, "v_min3_f16", "v_max3_f16", "v_med3_f16");
}

}  // namespace

std::vector<Op> float_ops() {
  std::vector<Op> ops;
  add_f32_rows(ops);
  add_f64_rows(ops);
  add_f16_rows(ops);
  add_elementary_rows(ops);
  add_part_rows(ops);
  add_division_rows(ops);
  add_special_rows(ops);
  return ops;
}

}  // namespace gfxsim
