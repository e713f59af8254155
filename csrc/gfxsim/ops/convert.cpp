// Conversions between number formats: v_cvt_*.
#include <cmath>
#include <cstring>
#include <limits>

#include "gfxsim/formats.h"
#include "gfxsim/lane_op.h"
#include "gfxsim/ops/families.h"
#include "gfxsim/ops/packed_op.h"

namespace gfxsim {
namespace {

// --- floats to integers: saturating, NaN becomes 0
// ------------------------------------------------

template <class I, class T>
I truncate_to(T x) {
  // The bounds as floats; the upper one is the first that is too large, and exact.
  constexpr T kLow = static_cast<T>(std::numeric_limits<I>::min());
  constexpr T kTooLarge = static_cast<T>(I(1) + std::numeric_limits<I>::max() / 2) * T(2);
  if (!(x >= kLow)) return x != x ? I(0) : std::numeric_limits<I>::min();
  return x >= kTooLarge ? std::numeric_limits<I>::max() : static_cast<I>(x);
}

// In steps that vectorise.
int32_t to_i32(float x) {
  constexpr float kLow = -0x1p31f, kHigh = 0x1p31f, kLargest = 0x1.fffffep30f;
  const float limited = x < kLow ? kLow : x > kLargest ? kLargest : x;
  const int32_t value = static_cast<int32_t>(x == x ? limited : 0.0f);
  return x >= kHigh ? std::numeric_limits<int32_t>::max() : value;
}
uint32_t to_u32(float x) {
  constexpr float kHalf = 0x1p31f, kHigh = 0x1p32f;
  constexpr uint32_t kHalfBit = 0x80000000;
  const bool upper = x >= kHalf;
  const uint32_t low = static_cast<uint32_t>(to_i32(upper ? x - kHalf : x > 0 ? x : 0.0f));
  return x >= kHigh ? std::numeric_limits<uint32_t>::max() : upper ? low | kHalfBit : low;
}

// Scaled integers: [-1, 1] to a signed, [0, 1] to an unsigned 16-bit integer.
int16_t to_snorm16(float x) {
  constexpr float kOne = 32767.0f;
  const float limited = x > 1.0f ? 1.0f : x < -1.0f ? -1.0f : x;
  return static_cast<int16_t>(__builtin_roundevenf((x == x ? limited : 0.0f) * kOne));
}
uint16_t to_unorm16(float x) {
  constexpr float kOne = 65535.0f;
  const float limited = x > 1.0f ? 1.0f : x > 0.0f ? x : 0.0f;
  return static_cast<uint16_t>(static_cast<int32_t>(__builtin_roundevenf(limited * kOne)));
}

// Byte `position` of `base` replaced by the float as an integer in [0, 255].
uint32_t insert_u8(float x, uint32_t position, uint32_t base) {
  constexpr float kMax = 255.0f;
  const float limited = x > kMax ? kMax : x > 0.0f ? x : 0.0f;
  const uint32_t byte = static_cast<uint32_t>(static_cast<int32_t>(__builtin_rintf(limited)));
  const uint32_t shift = (position & 3) * 8;
  return (base & ~(0xffu << shift)) | byte << shift;
}

// By way of signed integers: the compiler's own vector code for unsigned ones subtracts a bias,
// which makes 0 a -0 when rounding downwards.
double from_u32(uint32_t x) {
  constexpr double kWrap = 0x1p32;
  const int32_t wrapped = static_cast<int32_t>(x);
  const double value = static_cast<double>(wrapped);
  return wrapped >= 0 ? value : value + kWrap;
}

template <class I>
I saturate(int64_t x) {
  constexpr int64_t kLow = std::numeric_limits<I>::min(), kHigh = std::numeric_limits<I>::max();
  return static_cast<I>(x < kLow ? kLow : x > kHigh ? kHigh : x);
}

void add_integer_rows(std::vector<Op>& ops) {
  ops.push_back(lane_op<int32_t(float)>("v_cvt_i32_f32", [](float x) { return to_i32(x); }));
  ops.push_back(lane_op<uint32_t(float)>("v_cvt_u32_f32", [](float x) { return to_u32(x); }));
  ops.push_back(
      lane_op<int32_t(float)>("v_cvt_flr_i32_f32", [](float x) { return to_i32(std::floor(x)); }));
  // Round half up; the sum in f64 is exact enough not to round up to the next integer.
  ops.push_back(lane_op<int32_t(float)>("v_cvt_rpi_i32_f32", [](float x) {
    return truncate_to<int32_t>(std::floor(static_cast<double>(x) + 0.5));
  }));
  ops.push_back(
      lane_op<int32_t(double)>("v_cvt_i32_f64", [](double x) { return truncate_to<int32_t>(x); }));
  ops.push_back(lane_op<uint32_t(double)>("v_cvt_u32_f64",
                                          [](double x) { return truncate_to<uint32_t>(x); }));
  ops.push_back(lane_op<int16_t(F16)>(
      "v_cvt_i16_f16", [](F16 x) { return truncate_to<int16_t>(static_cast<float>(x)); }));
  ops.push_back(lane_op<uint16_t(F16)>(
      "v_cvt_u16_f16", [](F16 x) { return truncate_to<uint16_t>(static_cast<float>(x)); }));
  ops.push_back(
      lane_op<float(int32_t)>("v_cvt_f32_i32", [](int32_t x) { return static_cast<float>(x); }));
  ops.push_back(lane_op<float(uint32_t)>(
      "v_cvt_f32_u32", [](uint32_t x) { return static_cast<float>(from_u32(x)); }));
  ops.push_back(
      lane_op<double(int32_t)>("v_cvt_f64_i32", [](int32_t x) { return static_cast<double>(x); }));
  ops.push_back(lane_op<double(uint32_t)>("v_cvt_f64_u32", [](uint32_t x) { return from_u32(x); }));
  ops.push_back(lane_op<F16(int16_t)>(
      "v_cvt_f16_i16", [](int16_t x) { return static_cast<F16>(static_cast<float>(x)); }));
  ops.push_back(lane_op<F16(uint16_t)>(
      "v_cvt_f16_u16", [](uint16_t x) { return static_cast<F16>(static_cast<float>(x)); }));

  constexpr LaneOpOptions kField{.undef = Undef::Used};
  ops.push_back(lane_op<float(uint32_t), kField>(
      "v_cvt_f32_ubyte0", [](uint32_t x) { return static_cast<float>(x & 0xff); }));
  ops.push_back(lane_op<float(uint32_t), kField>(
      "v_cvt_f32_ubyte1", [](uint32_t x) { return static_cast<float>(x >> 8 & 0xff); }));
  ops.push_back(lane_op<float(uint32_t), kField>(
      "v_cvt_f32_ubyte2", [](uint32_t x) { return static_cast<float>(x >> 16 & 0xff); }));
  ops.push_back(lane_op<float(uint32_t), kField>(
      "v_cvt_f32_ubyte3", [](uint32_t x) { return static_cast<float>(x >> 24); }));
  // A signed 4-bit integer in sixteenths.
  ops.push_back(lane_op<float(uint32_t), kField>("v_cvt_off_f32_i4", [](uint32_t x) {
    return static_cast<float>(static_cast<int32_t>(x << 28) >> 28) * 0.0625f;
  }));

  ops.push_back(lane_op<uint32_t(float, uint32_t, uint32_t)>(
      "v_cvt_pk_u8_f32",
      [](float x, uint32_t position, uint32_t base) { return insert_u8(x, position, base); }));
  ops.push_back(accumulate_op<uint32_t(float, uint32_t, uint32_t)>(
      "v_cvt_pkaccum_u8_f32",
      [](float x, uint32_t position, uint32_t base) { return insert_u8(x, position, base); }));

  ops.push_back(lane_op<int16_t(F16)>("v_cvt_norm_i16_f16", [](F16 x) { return to_snorm16(x); }));
  ops.push_back(lane_op<uint16_t(F16)>("v_cvt_norm_u16_f16", [](F16 x) { return to_unorm16(x); }));
  ops.push_back(
      pair_op<int16_t(float)>("v_cvt_pknorm_i16_f32", [](float x) { return to_snorm16(x); }));
  ops.push_back(
      pair_op<uint16_t(float)>("v_cvt_pknorm_u16_f32", [](float x) { return to_unorm16(x); }));
  ops.push_back(pair_op<int16_t(F16)>("v_cvt_pknorm_i16_f16", [](F16 x) { return to_snorm16(x); }));
  ops.push_back(
      pair_op<uint16_t(F16)>("v_cvt_pknorm_u16_f16", [](F16 x) { return to_unorm16(x); }));
  ops.push_back(pair_op<uint16_t(uint32_t)>("v_cvt_pk_u16_u32",
                                            [](uint32_t x) { return saturate<uint16_t>(x); }));
  ops.push_back(pair_op<int16_t(int32_t)>("v_cvt_pk_i16_i32",
                                          [](int32_t x) { return saturate<int16_t>(x); }));
  // Two signed halves to two bytes.
  ops.push_back(lane_op<uint16_t(uint32_t)>("v_sat_pk_u8_i16", [](uint32_t x) {
    const auto byte = [](uint32_t half) { return saturate<uint8_t>(static_cast<int16_t>(half)); };
    return static_cast<uint16_t>(byte(x) | byte(x >> 16) << 8);
  }));
}

// --- between float formats of 16 bits and more
// ----------------------------------------------------

constexpr uint32_t kRoundToZero = 3, kKeepDenormals = 3;

// Runs a handler with truncation instead of the MODE register's rounding.
template <Handler handler>
void run_truncating(Wave& w, const Inst& in) {
  const FpEnvironment environment(kRoundToZero, kKeepDenormals);
  handler(w, in);
}

Op pkrtz_row() {
  const auto narrow = [](float x) { return static_cast<F16>(x); };
  using Impl = PairOp<decltype(narrow), F16, float>;
  Op op = pair_op<F16(float)>("v_cvt_pkrtz_f16_f32", narrow);
  op.run = &run_truncating<&Impl::run>;
  op.propagate = &run_truncating<&Impl::propagate>;
  return op;
}

void add_float_rows(std::vector<Op>& ops) {
  ops.push_back(lane_op<F16(float)>("v_cvt_f16_f32", [](float x) { return static_cast<F16>(x); }));
  ops.push_back(lane_op<float(F16)>("v_cvt_f32_f16", [](F16 x) { return static_cast<float>(x); }));
  ops.push_back(lane_op<float(BF16)>("v_cvt_f32_bf16", [](BF16 x) { return to_float(x); }));
  ops.push_back(
      lane_op<float(double)>("v_cvt_f32_f64", [](double x) { return static_cast<float>(x); }));
  ops.push_back(
      lane_op<double(float)>("v_cvt_f64_f32", [](float x) { return static_cast<double>(x); }));
  // Round to nearest even whatever the mode.
  ops.push_back(
      pair_op<F16(float)>("v_cvt_pk_f16_f32", [](float x) { return static_cast<F16>(x); }));
  ops.push_back(pair_op<BF16(float)>("v_cvt_pk_bf16_f32", [](float x) { return to_bf16(x); }));
  ops.push_back(pkrtz_row());
}

// --- fp8 and bf8 without a scale
// ------------------------------------------------------------------

template <class Format>
struct DecodeTwo {
  static float element(uint32_t x, int half) {
    return decode<Format>(static_cast<uint8_t>(x >> (8 * half)));
  }

  static void run(Wave& w, const Inst& in) {
    const uint64_t mask = write_mask(w, in);
    LaneBuffer<uint32_t> scratch, out[2];
    const uint32_t* source = fetch32(w, in, 0, Plane::Value, scratch.lane);
    for (int half = 0; half < 2; ++half) {
      for (int lane = 0; lane < kMaxLanes; ++lane)
        out[half].lane[lane] = std::bit_cast<uint32_t>(element(source[lane], half));
      ElementResult<float>::modify(out[half].lane, w, in);
    }
    for (int half = 0; half < 2; ++half) blend_row(w.v[in.dst().reg + half], out[half].lane, mask);
  }

  static void propagate(Wave& w, const Inst& in) {
    const uint64_t mask = write_mask(w, in);
    LaneBuffer<uint32_t> scratch, out[2];
    const uint32_t* source = fetch32(w, in, 0, Plane::Undef, scratch.lane);
    for (int half = 0; half < 2; ++half)
      for (int lane = 0; lane < kMaxLanes; ++lane)
        out[half].lane[lane] = source[lane] >> (8 * half) & 0xff ? ~uint32_t{0} : 0;
    run(w, in);
    for (int half = 0; half < 2; ++half) {
      blend_row(w.undef_row(in.dst().reg + half), out[half].lane, mask);
      w.settle_undef(in.dst().reg + half);
    }
  }

  static Op row(std::string_view name) {
    Op op;
    op.name = name;
    op.cls = OpClass::Valu;
    op.run = &run;
    op.propagate = &propagate;
    op.types[1] = Type::B32;
    return op;
  }
};

template <class Format>
void add_byte_rows(std::vector<Op>& ops, const char* one, const char* two) {
  constexpr LaneOpOptions kField{.undef = Undef::Used};
  ops.push_back(lane_op<float(uint32_t), kField>(
      one, [](uint32_t x) { return decode<Format>(static_cast<uint8_t>(x)); }));
  ops.push_back(DecodeTwo<Format>::row(two));
}

// --- elements of small formats
// -------------------------------------------------------------------- Several elements a lane,
// bit-packed over consecutive registers. A result of less than 32 bits goes to the byte or half
// that op_sel names, and the rest of the register is kept.

template <class T>
struct Wide;
template <>
struct Wide<float> {
  static constexpr int kBits = 32, kMantissa = 23;
  static double value(uint32_t bits) { return static_cast<double>(std::bit_cast<float>(bits)); }
  static uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
};
template <>
struct Wide<F16> {
  static constexpr int kBits = 16, kMantissa = 10;
  static double value(uint32_t bits) {
    return static_cast<double>(std::bit_cast<F16>(static_cast<uint16_t>(bits)));
  }
  static uint32_t bits(float x) { return std::bit_cast<uint16_t>(static_cast<F16>(x)); }
};
template <>
struct Wide<BF16> {
  static constexpr int kBits = 16, kMantissa = 7;
  static double value(uint32_t bits) {
    return static_cast<double>(to_float(BF16{static_cast<uint16_t>(bits)}));
  }
  static uint32_t bits(float x) { return to_bf16(x).bits; }
};

constexpr int dwords_of(int bits) { return (bits + 31) / 32; }
constexpr uint32_t low_bits(int n) { return n == 32 ? ~0u : (1u << n) - 1; }

// The dwords of one operand in every lane.
template <int kDwords>
struct OperandRows {
  LaneBuffer<uint32_t> scratch[kDwords];
  const uint32_t* row[kDwords];

  OperandRows(const Wave& w, const Inst& in, int source, Plane plane) {
    for (int d = 0; d < kDwords; ++d)
      row[d] = kDwords == 1 ? fetch32(w, in, source, plane, scratch[d].lane)
                            : fetch_dword(w, in, source, d, plane, scratch[d].lane);
  }
  // `width` bits from bit `at` of the operand on.
  uint32_t bits(int lane, int at, int width) const {
    const int d = at / 32, shift = at % 32;
    uint64_t value = row[d][lane];
    if (shift + width > 32) value |= uint64_t{row[d + 1][lane]} << 32;
    return static_cast<uint32_t>(value >> shift) & low_bits(width);
  }
};

// A result of kBits bits in every lane, put together element by element.
template <int kBits>
struct ResultRows {
  static constexpr int kDwords = dwords_of(kBits);
  LaneBuffer<uint32_t> dword[kDwords];

  ResultRows() { std::memset(dword, 0, sizeof dword); }

  void set(int lane, int at, int width, uint32_t value) {
    const int d = at / 32, shift = at % 32;
    dword[d].lane[lane] |= value << shift;
    if (shift + width > 32) dword[d + 1].lane[lane] |= value >> (32 - shift);
  }

  // Where a result narrower than a register goes.
  static int position(const Inst& in) {
    if (kBits == 16) return (in.mod.op_sel >> in.num_src() & 1) * 16;
    return kBits == 8 ? (in.mod.op_sel >> 2 & 3) * 8 : 0;
  }

  void commit(Wave& w, const Inst& in, uint64_t mask, Plane plane) {
    for (int d = 0; d < kDwords; ++d) {
      const int reg = in.dst().reg + d;
      uint32_t* row = plane == Plane::Value ? w.v[reg] : w.undef_row(reg);
      if constexpr (kBits < 32) {
        const int at = position(in);
        const uint32_t field = low_bits(kBits) << at;
        for (uint32_t lane = 0; lane < kMaxLanes; ++lane)
          dword[0].lane[lane] = (row[lane] & ~field) | dword[0].lane[lane] << at;
      }
      blend_row(row, dword[d].lane, mask);
      if (plane == Plane::Undef) w.settle_undef(reg);
    }
  }
};

// neg and abs of a source that is one 16-bit float.
struct HalfSign {
  uint32_t keep, flip;
  explicit HalfSign(const Operand& operand)
      : keep(operand.abs ? 0x7fff : 0xffff), flip(operand.neg ? 0x8000 : 0) {}
  uint32_t apply(uint32_t bits) const { return (bits & keep) ^ flip; }
};

// The E8M0 code of a scale given as f32: its exponent field.
uint8_t scale_code(uint32_t f32_bits) { return static_cast<uint8_t>(f32_bits >> 23); }

uint32_t next_random(uint32_t x) {  // v_prng_b32
  constexpr uint32_t kTaps = 197;
  return x << 1 ^ (x >> 31 ? kTaps : 0);
}

// MODE.FP16_OVFL: results too large for the format become its largest number.
constexpr uint32_t kModeFp16Overflow = 1u << 23;

// kCount elements of From to the small format To. From kOperands sources, whose elements take
// turns; then, where the name has "sr", a source of random bits, and last, with "scalef32", the
// scale, by which the elements are divided.
template <class From, class To, int kCount, int kOperands, bool kRandom, bool kScaled>
struct Narrow {
  static constexpr int kPerOperand = kCount / kOperands;
  static constexpr int kSourceDwords = dwords_of(kPerOperand * Wide<From>::kBits);
  static constexpr int kRandomSource = kOperands, kScaleSource = kOperands + (kRandom ? 1 : 0);
  static constexpr int kDropped = Wide<From>::kMantissa - To::kMantissa;
  static constexpr bool kSingleHalf = kPerOperand == 1 && Wide<From>::kBits == 16;
  using Source = OperandRows<kSourceDwords>;
  using Extra = OperandRows<1>;
  using Result = ResultRows<kCount * To::kBits>;

  static void run(Wave& w, const Inst& in) {
    const Source first(w, in, 0, Plane::Value), last(w, in, kOperands - 1, Plane::Value);
    const Extra random(w, in, kRandom ? kRandomSource : 0, Plane::Value);
    const Extra scale(w, in, kScaled ? kScaleSource : 0, Plane::Value);
    const HalfSign sign(in.src(0));
    const Overflow overflow = w.mode & kModeFp16Overflow ? Overflow::Saturate : Overflow::Special;
    Result result;
    for (int lane = 0; lane < kMaxLanes; ++lane) {
      uint32_t seed = random.row[0][lane];
      const double factor = kScaled ? inverse_scale(scale_code(scale.row[0][lane])) : 1.0;
      for (int e = 0; e < kCount; ++e) {
        const uint32_t bits = element(first, last, lane, e);
        const double value = Wide<From>::value(kSingleHalf ? sign.apply(bits) : bits) * factor;
        Rounding rounding;
        if (kRandom) rounding = {kDropped, seed >> (32 - kDropped)};
        result.set(lane, e * To::kBits, To::kBits, encode<To>(value, overflow, rounding));
        seed = next_random(seed);
      }
    }
    result.commit(w, in, write_mask(w, in), Plane::Value);
  }

  static void propagate(Wave& w, const Inst& in) {
    Result result;
    {
      const Source first(w, in, 0, Plane::Undef), last(w, in, kOperands - 1, Plane::Undef);
      const Extra random(w, in, kRandom ? kRandomSource : 0, Plane::Undef);
      const Extra scale(w, in, kScaled ? kScaleSource : 0, Plane::Undef);
      for (int lane = 0; lane < kMaxLanes; ++lane) {
        const uint32_t all =
            (kRandom ? random.row[0][lane] : 0) | (kScaled ? scale.row[0][lane] : 0);
        for (int e = 0; e < kCount; ++e)
          if (all | element(first, last, lane, e))
            result.set(lane, e * To::kBits, To::kBits, low_bits(To::kBits));
      }
    }
    run(w, in);
    result.commit(w, in, write_mask(w, in), Plane::Undef);
  }

  static Op row(std::string_view name) {
    Op op;
    op.name = name;
    op.cls = OpClass::Valu;
    op.run = &run;
    op.propagate = &propagate;
    op.reads_dst = kCount * To::kBits < 32;
    op.types[0] = op.reads_dst ? Type::B16 : Type::Any;
    for (int i = 0; i < kOperands; ++i) op.types[1 + i] = source_type();
    if (kRandom) op.types[1 + kRandomSource] = Type::B32;
    if (kScaled) op.types[1 + kScaleSource] = Type::F32;
    if (kPerOperand > 1) op.fixup = [](Inst& in) { reject_sign_modifiers(in, kOperands); };
    return op;
  }

 private:
  static uint32_t element(const Source& first, const Source& last, int lane, int e) {
    const Source& source = kOperands == 2 && e % 2 ? last : first;
    return source.bits(lane, e / kOperands * Wide<From>::kBits, Wide<From>::kBits);
  }
  static double inverse_scale(uint8_t code) {
    return 1.0 / static_cast<double>(scale_from_e8m0(code));
  }
  static constexpr Type source_type() {
    if (kSourceDwords > 1) return Type::Any;
    return kPerOperand == 1 ? type_of<From>() : packed_type<From>();
  }
};

// kCount elements of the small format From, times a scale, to To. Elements of together less than 32
// bits are found in the byte or half of the source that op_sel names.
template <class From, class To, int kCount>
struct Widen {
  static constexpr int kSourceBits = kCount * From::kBits;
  using Source = OperandRows<dwords_of(kSourceBits)>;
  using Result = ResultRows<kCount * Wide<To>::kBits>;

  static void run(Wave& w, const Inst& in) {
    const Source source(w, in, 0, Plane::Value);
    const OperandRows<1> scale(w, in, 1, Plane::Value);
    const int base = position(in);
    Result result;
    for (int lane = 0; lane < kMaxLanes; ++lane) {
      const float factor = scale_from_e8m0(scale_code(scale.row[0][lane]));
      for (int e = 0; e < kCount; ++e) {
        const uint32_t code = source.bits(lane, base + e * From::kBits, From::kBits);
        const float value = decode<From>(static_cast<uint8_t>(code)) * factor;
        result.set(lane, e * Wide<To>::kBits, Wide<To>::kBits, Wide<To>::bits(value));
      }
    }
    result.commit(w, in, write_mask(w, in), Plane::Value);
  }

  static void propagate(Wave& w, const Inst& in) {
    Result result;
    {
      const Source source(w, in, 0, Plane::Undef);
      const OperandRows<1> scale(w, in, 1, Plane::Undef);
      const int base = position(in);
      for (int lane = 0; lane < kMaxLanes; ++lane)
        for (int e = 0; e < kCount; ++e)
          if (scale.row[0][lane] | source.bits(lane, base + e * From::kBits, From::kBits))
            result.set(lane, e * Wide<To>::kBits, Wide<To>::kBits, low_bits(Wide<To>::kBits));
    }
    run(w, in);
    result.commit(w, in, write_mask(w, in), Plane::Undef);
  }

  static Op row(std::string_view name) {
    Op op;
    op.name = name;
    op.cls = OpClass::Valu;
    op.run = &run;
    op.propagate = &propagate;
    op.reads_dst = kCount * Wide<To>::kBits < 32;
    op.types[0] = op.reads_dst ? Type::B16 : Type::Any;
    op.types[1] = kSourceBits <= 32 ? Type::B32 : Type::Any;
    op.types[2] = Type::F32;
    op.fixup = [](Inst& in) { reject_sign_modifiers(in, 1); };
    return op;
  }

 private:
  static int position(const Inst& in) {
    if (kSourceBits == 16) return (in.mod.op_sel & 1) * 16;
    return kSourceBits == 8 ? (in.mod.op_sel & 3) * 8 : 0;
  }
};

struct NarrowNames {
  const char *pk_fp8, *pk_bf8, *sr_fp8, *sr_bf8, *pk_fp4, *sr_pk_fp4, *sr_pk32_fp6, *sr_pk32_bf6;
};

// The scaled conversions from From that have the same shape for all formats. kOperands: of the
// packed pairs without random bits.
template <class From, int kOperands>
void add_scaled_narrow_rows(std::vector<Op>& ops, const NarrowNames& names) {
  ops.push_back(Narrow<From, Fp8, 2, kOperands, false, true>::row(names.pk_fp8));
  ops.push_back(Narrow<From, Bf8, 2, kOperands, false, true>::row(names.pk_bf8));
  ops.push_back(Narrow<From, Fp8, 1, 1, true, true>::row(names.sr_fp8));
  ops.push_back(Narrow<From, Bf8, 1, 1, true, true>::row(names.sr_bf8));
  ops.push_back(Narrow<From, Fp4, 2, kOperands, false, true>::row(names.pk_fp4));
  ops.push_back(Narrow<From, Fp4, 2, 1, true, true>::row(names.sr_pk_fp4));
  ops.push_back(Narrow<From, Fp6, 32, 1, true, true>::row(names.sr_pk32_fp6));
  ops.push_back(Narrow<From, Bf6, 32, 1, true, true>::row(names.sr_pk32_bf6));
}

void add_narrow_rows(std::vector<Op>& ops) {
  ops.push_back(Narrow<float, Fp8, 2, 2, false, false>::row("v_cvt_pk_fp8_f32"));
  ops.push_back(Narrow<float, Bf8, 2, 2, false, false>::row("v_cvt_pk_bf8_f32"));
  ops.push_back(Narrow<float, Fp8, 1, 1, true, false>::row("v_cvt_sr_fp8_f32"));
  ops.push_back(Narrow<float, Bf8, 1, 1, true, false>::row("v_cvt_sr_bf8_f32"));
  ops.push_back(Narrow<float, Half, 1, 1, true, false>::row("v_cvt_sr_f16_f32"));
  ops.push_back(Narrow<float, Bfloat, 1, 1, true, false>::row("v_cvt_sr_bf16_f32"));

  add_scaled_narrow_rows<float, 2>(
      ops,
      {"v_cvt_scalef32_pk_fp8_f32", "v_cvt_scalef32_pk_bf8_f32", "v_cvt_scalef32_sr_fp8_f32",
       "v_cvt_scalef32_sr_bf8_f32", "v_cvt_scalef32_pk_fp4_f32", "v_cvt_scalef32_sr_pk_fp4_f32",
       "v_cvt_scalef32_sr_pk32_fp6_f32", "v_cvt_scalef32_sr_pk32_bf6_f32"});
  add_scaled_narrow_rows<F16, 1>(
      ops,
      {"v_cvt_scalef32_pk_fp8_f16", "v_cvt_scalef32_pk_bf8_f16", "v_cvt_scalef32_sr_fp8_f16",
       "v_cvt_scalef32_sr_bf8_f16", "v_cvt_scalef32_pk_fp4_f16", "v_cvt_scalef32_sr_pk_fp4_f16",
       "v_cvt_scalef32_sr_pk32_fp6_f16", "v_cvt_scalef32_sr_pk32_bf6_f16"});
  add_scaled_narrow_rows<BF16, 1>(
      ops,
      {"v_cvt_scalef32_pk_fp8_bf16", "v_cvt_scalef32_pk_bf8_bf16", "v_cvt_scalef32_sr_fp8_bf16",
       "v_cvt_scalef32_sr_bf8_bf16", "v_cvt_scalef32_pk_fp4_bf16", "v_cvt_scalef32_sr_pk_fp4_bf16",
       "v_cvt_scalef32_sr_pk32_fp6_bf16", "v_cvt_scalef32_sr_pk32_bf6_bf16"});
  ops.push_back(Narrow<float, Fp6, 32, 2, false, true>::row("v_cvt_scalef32_2xpk16_fp6_f32"));
  ops.push_back(Narrow<float, Bf6, 32, 2, false, true>::row("v_cvt_scalef32_2xpk16_bf6_f32"));
  ops.push_back(Narrow<F16, Fp6, 32, 1, false, true>::row("v_cvt_scalef32_pk32_fp6_f16"));
  ops.push_back(Narrow<F16, Bf6, 32, 1, false, true>::row("v_cvt_scalef32_pk32_bf6_f16"));
  ops.push_back(Narrow<BF16, Fp6, 32, 1, false, true>::row("v_cvt_scalef32_pk32_fp6_bf16"));
  ops.push_back(Narrow<BF16, Bf6, 32, 1, false, true>::row("v_cvt_scalef32_pk32_bf6_bf16"));
}

void add_widen_rows(std::vector<Op>& ops) {
  ops.push_back(Widen<Fp8, float, 2>::row("v_cvt_scalef32_pk_f32_fp8"));
  ops.push_back(Widen<Bf8, float, 2>::row("v_cvt_scalef32_pk_f32_bf8"));
  ops.push_back(Widen<Fp4, float, 2>::row("v_cvt_scalef32_pk_f32_fp4"));
  ops.push_back(Widen<Fp8, float, 1>::row("v_cvt_scalef32_f32_fp8"));
  ops.push_back(Widen<Bf8, float, 1>::row("v_cvt_scalef32_f32_bf8"));
  ops.push_back(Widen<Fp8, F16, 2>::row("v_cvt_scalef32_pk_f16_fp8"));
  ops.push_back(Widen<Bf8, F16, 2>::row("v_cvt_scalef32_pk_f16_bf8"));
  ops.push_back(Widen<Fp4, F16, 2>::row("v_cvt_scalef32_pk_f16_fp4"));
  ops.push_back(Widen<Fp8, F16, 1>::row("v_cvt_scalef32_f16_fp8"));
  ops.push_back(Widen<Bf8, F16, 1>::row("v_cvt_scalef32_f16_bf8"));
  ops.push_back(Widen<Fp8, BF16, 2>::row("v_cvt_scalef32_pk_bf16_fp8"));
  ops.push_back(Widen<Bf8, BF16, 2>::row("v_cvt_scalef32_pk_bf16_bf8"));
  ops.push_back(Widen<Fp4, BF16, 2>::row("v_cvt_scalef32_pk_bf16_fp4"));
  ops.push_back(Widen<Fp6, float, 32>::row("v_cvt_scalef32_pk32_f32_fp6"));
  ops.push_back(Widen<Bf6, float, 32>::row("v_cvt_scalef32_pk32_f32_bf6"));
  ops.push_back(Widen<Fp6, F16, 32>::row("v_cvt_scalef32_pk32_f16_fp6"));
  ops.push_back(Widen<Bf6, F16, 32>::row("v_cvt_scalef32_pk32_f16_bf6"));
  ops.push_back(Widen<Fp6, BF16, 32>::row("v_cvt_scalef32_pk32_bf16_fp6"));
  ops.push_back(Widen<Bf6, BF16, 32>::row("v_cvt_scalef32_pk32_bf16_bf6"));
}

}  // namespace

std::vector<Op> convert_ops() {
  std::vector<Op> ops;
  add_integer_rows(ops);
  add_float_rows(ops);
  add_byte_rows<Fp8>(ops, "v_cvt_f32_fp8", "v_cvt_pk_f32_fp8");
  add_byte_rows<Bf8>(ops, "v_cvt_f32_bf8", "v_cvt_pk_f32_bf8");
  add_narrow_rows(ops);
  add_widen_rows(ops);
  return ops;
}

}  // namespace gfxsim
