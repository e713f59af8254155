// Vector operations from the meaning of one lane: `lane_op<float(float, float)>("v_add_f32", f)`
// makes the table row whose handler applies f to all lanes, and the handler that propagates
// undefined bits.
#pragma once

#include <limits>
#include <tuple>
#include <utility>

#include "gfxsim/lane_io.h"

namespace gfxsim {

// How undefined source bits reach the result.
enum class Undef : uint8_t {
  Whole,  // any undefined source bit makes the whole result undefined
  Bits,   // result bits depend on single source bits (logic, shifts, byte selection): a result bit
          // is undefined when filling the undefined source bits differently changes it
  Carry,  // like Bits, and every bit above an undefined one (addition, multiplication)
  Used,  // like Whole, but only if filling the undefined source bits differently changes the result
};

// Result types beyond plain lane values.
template <class T>
struct Saturating {  // computed in 64 bits; the clamp modifier saturates it to T, else it wraps
  int64_t value;
};
template <class A, class B>
struct Two {  // two destinations
  A first;
  B second;
};

template <class R>
struct ResultTraits {
  using First = R;
  static constexpr int kCount = 1;
};
template <class T>
struct ResultTraits<Saturating<T>> {
  using First = T;
  static constexpr int kCount = 1;
};
template <class A, class B>
struct ResultTraits<Two<A, B>> {
  using First = A;
  using Second = B;
  static constexpr int kCount = 2;
};

template <class R>
struct LaneResult {
  LaneBuffer<R> buffer;
  R* out = buffer.lane;
  void set(int lane, R value) { out[lane] = value; }
};
template <class T>
struct LaneResult<Saturating<T>> {
  LaneBuffer<T> buffer;
  T* out = buffer.lane;
  bool saturate = false;
  void set(int lane, Saturating<T> r) {
    constexpr int64_t kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
    const int64_t limited = r.value < kLow ? kLow : r.value > kHigh ? kHigh : r.value;
    out[lane] = static_cast<T>(saturate ? limited : r.value);
  }
};
template <class A, class B>
struct LaneResult<Two<A, B>> {
  LaneBuffer<A> buffer;
  LaneBuffer<B> second;
  A* out = buffer.lane;
  void set(int lane, Two<A, B> r) {
    out[lane] = r.first;
    second.lane[lane] = r.second;
  }
};

// Output modifiers of a floating point result: multiply by 2^omod, then clamp to [0, 1] (a NaN
// becomes 0 when DX10_CLAMP is set).
template <class T>
T apply_output_modifiers(T value, const Inst& in, bool dx10_clamp) {
  if (in.mod.omod) {
    constexpr float kFactor[4] = {0.5f, 1.0f, 2.0f, 4.0f};
    value = static_cast<T>(value * static_cast<T>(kFactor[in.mod.omod + 1]));
  }
  if (in.mod.clamp) {
    if (value != value) return dx10_clamp ? T(0) : value;
    if (!(value > T(0))) return T(0);
    if (value > T(1)) return T(1);
  }
  return value;
}

// The MODE register's denormal field of a format: bit 0 keeps them in sources, bit 1 in results.
template <class T>
uint32_t denormal_mode(const Wave& w) {
  constexpr bool kIsF32 = std::is_same_v<T, float>;
  return w.mode >> (kIsF32 ? kModeDenormF32Shift : kModeDenormF16F64Shift) & 3;
}

// Denormals become zero of their sign. MXCSR does the same for arithmetic on f32 and f64, but not
// for conversions of f16, nor for functions that look at bits.
template <class T>
void flush_denormals(Raw<T>* values) {
  constexpr int kExponentBits = sizeof(T) == 2 ? 5 : sizeof(T) == 4 ? 8 : 11;
  constexpr int kBits = sizeof(T) * 8;
  constexpr Raw<T> kSign = static_cast<Raw<T>>(Raw<T>{1} << (kBits - 1));
  constexpr Raw<T> kExponent =
      static_cast<Raw<T>>(((Raw<T>{1} << kExponentBits) - 1) << (kBits - 1 - kExponentBits));
  for (int lane = 0; lane < kMaxLanes; ++lane)
    values[lane] &= values[lane] & kExponent ? static_cast<Raw<T>>(~Raw<T>{0}) : kSign;
}

template <class T>
constexpr bool kHasDenormalMode = kIsFloat<T> && !std::is_same_v<T, BF16>;

// A source as an operation reads it: with its denormals, or flushed into `scratch`.
template <class T>
const T* source_by_mode(const Wave& w, const T* source, Raw<T>* scratch) {
  if constexpr (kHasDenormalMode<T>) {
    if (!(denormal_mode<T>(w) & 1)) {
      std::memmove(scratch, source, kMaxLanes * sizeof(T));
      flush_denormals<T>(scratch);
      return reinterpret_cast<const T*>(scratch);
    }
  }
  return source;
}
template <class T>
void result_by_mode(const Wave& w, T* result) {
  if constexpr (kHasDenormalMode<T>) {
    if (!(denormal_mode<T>(w) & 2)) flush_denormals<T>(reinterpret_cast<Raw<T>*>(result));
  }
}

// The MODE fields that govern a format.
template <class T>
FpEnvironment environment_of(const Wave& w) {
  constexpr bool kIsF32 = std::is_same_v<T, float>;
  return FpEnvironment(w.mode >> (kIsF32 ? kModeRoundF32Shift : kModeRoundF16F64Shift),
                       w.mode >> (kIsF32 ? kModeDenormF32Shift : kModeDenormF16F64Shift));
}

struct LaneOpOptions {
  Undef undef = Undef::Whole;
  unsigned control = 0;         // sources (bit i: source i) that make the whole result undefined
  bool keep_high = false;       // a 16-bit result keeps the destination's high half
  bool keep_denormals = false;  // whatever the MODE register says
};

// Not every lane function can be vectorised (those that call into libm cannot).
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"

template <class F, LaneOpOptions Options, class R, class... A>
struct LaneOp {
  using Result = ResultTraits<R>;
  using First = typename Result::First;
  using Indices = std::index_sequence_for<A...>;
  static constexpr int kSources = sizeof...(A);
  static constexpr bool kFloat = kIsFloat<First> || (kIsFloat<A> || ...);
  // The format whose MODE fields apply: the result's, or the sources' for a comparison.
  using Format =
      std::conditional_t<kIsFloat<First>, First, std::tuple_element_t<0, std::tuple<A..., void>>>;

  static void run(Wave& w, const Inst& in) { execute(w, in, write_mask(w, in), Indices{}); }

  static void propagate(Wave& w, const Inst& in) {
    const uint64_t mask = write_mask(w, in);
    LaneBuffer<Raw<First>> undef;
    bool any[kMaxLanes];
    undefined_bits(w, in, undef.lane, any, Indices{});
    execute(w, in, mask, Indices{});
    commit<First>(w, in, 0, undef.lane, mask, Plane::Undef, Options.keep_high);
    if constexpr (Result::kCount == 2) {
      using Second = typename Result::Second;
      LaneBuffer<Raw<Second>> second;
      constexpr Raw<Second> kAll =
          std::is_same_v<Second, LaneBit> ? Raw<Second>{1} : static_cast<Raw<Second>>(~uint64_t{0});
      for (int lane = 0; lane < kMaxLanes; ++lane) second.lane[lane] = any[lane] ? kAll : 0;
      commit<Second>(w, in, 1, second.lane, mask, Plane::Undef, Options.keep_high);
    }
  }

 private:
  template <size_t... I>
  static void execute(Wave& w, const Inst& in, uint64_t mask, std::index_sequence<I...>) {
    std::tuple<LaneBuffer<Raw<A>>...> scratch;
    const std::tuple<const A*...> sources{
        reinterpret_cast<const A*>(fetch<A>(w, in, I, Plane::Value, std::get<I>(scratch).lane))...};
    LaneResult<R> result;
    if constexpr (requires { result.saturate; }) result.saturate = in.mod.clamp;
    bool direct = false;
    if constexpr (Result::kCount == 1 && sizeof(First) == 4 && !std::is_same_v<First, LaneBit>) {
      direct = in.plain && mask == ~uint64_t{0} && in.dst().is_vector();
      if (direct) result.out = reinterpret_cast<First*>(w.v[in.dst().reg]);
    }
    if constexpr (kFloat) {
      if ((w.mode & 0xff) != kModeFpDefault) [[unlikely]] {
        const FpEnvironment environment = environment_of<Format>(w);
        if constexpr (Options.keep_denormals) {
          lanes(result, sources, std::index_sequence<I...>{});
        } else {
          const std::tuple<const A*...> flushed{
              source_by_mode(w, std::get<I>(sources), std::get<I>(scratch).lane)...};
          lanes(result, flushed, std::index_sequence<I...>{});
          result_by_mode(w, result.out);
        }
      } else {
        lanes(result, sources, std::index_sequence<I...>{});
      }
    } else {
      lanes(result, sources, std::index_sequence<I...>{});
    }
    if constexpr (kIsFloat<First> && !std::is_same_v<First, BF16>) {
      if (in.mod.omod || in.mod.clamp) [[unlikely]] {
        const bool dx10_clamp = w.mode & kModeDx10Clamp;
        for (int lane = 0; lane < kMaxLanes; ++lane)
          result.out[lane] = apply_output_modifiers(result.out[lane], in, dx10_clamp);
      }
    }
    if (direct) return;
    commit<First>(w, in, 0, reinterpret_cast<const Raw<First>*>(result.out), mask, Plane::Value,
                  Options.keep_high);
    if constexpr (Result::kCount == 2) {
      using Second = typename Result::Second;
      commit<Second>(w, in, 1, reinterpret_cast<const Raw<Second>*>(result.second.lane), mask,
                     Plane::Value, Options.keep_high);
    }
  }

  template <size_t... I>
  static void lanes(LaneResult<R>& result, const std::tuple<const A*...>& sources,
                    std::index_sequence<I...>) {
    // Lanes are independent, and a destination row that is also a source is the same row.
#pragma clang loop vectorize(assume_safety)
    for (int lane = 0; lane < kMaxLanes; ++lane)
      result.set(lane, F{}(std::get<I>(sources)[lane]...));
  }

  // The raw bits of one lane's (first) result for the given raw sources.
  template <size_t... I>
  static Raw<First> evaluate(const uint64_t* raw, std::index_sequence<I...>) {
    const R r = F{}(std::bit_cast<A>(static_cast<Raw<A>>(raw[I]))...);
    if constexpr (requires { r.first; })
      return std::bit_cast<Raw<First>>(r.first);
    else if constexpr (requires { r.value; })
      return static_cast<Raw<First>>(r.value);
    else
      return std::bit_cast<Raw<First>>(r);
  }

  template <size_t... I>
  static void undefined_bits(const Wave& w, const Inst& in, Raw<First>* out, bool* any,
                             std::index_sequence<I...>) {
    std::tuple<LaneBuffer<Raw<A>>...> value_scratch, undef_scratch;
    const std::tuple<const Raw<A>*...> values{
        fetch<A>(w, in, I, Plane::Value, std::get<I>(value_scratch).lane)...};
    const std::tuple<const Raw<A>*...> undefs{
        fetch<A>(w, in, I, Plane::Undef, std::get<I>(undef_scratch).lane)...};
    constexpr Raw<First> kAll =
        std::is_same_v<First, LaneBit> ? Raw<First>{1} : static_cast<Raw<First>>(~uint64_t{0});
    for (int lane = 0; lane < kMaxLanes; ++lane) {
      const uint64_t value[] = {std::get<I>(values)[lane]..., 0};
      const uint64_t undef[] = {std::get<I>(undefs)[lane]..., 0};
      bool some = false, control = false;
      for (int i = 0; i < kSources; ++i) {
        some |= undef[i] != 0;
        control |= undef[i] != 0 && (Options.control >> i & 1);
      }
      any[lane] = some;
      if (!some) {
        out[lane] = 0;
      } else if (Options.undef == Undef::Whole || control) {
        out[lane] = kAll;
      } else {
        out[lane] = probe(value, undef, std::index_sequence<I...>{});
        if (Options.undef == Undef::Used && out[lane]) out[lane] = kAll;
      }
    }
  }

  // Fills the undefined bits of every subset of sources with ones, the rest with zeros, and
  // collects the result bits that change.
  template <size_t... I>
  static Raw<First> probe(const uint64_t* value, const uint64_t* undef,
                          std::index_sequence<I...> indices) {
    uint64_t filled[kSources + 1];
    for (int i = 0; i < kSources; ++i) filled[i] = value[i] & ~undef[i];
    const Raw<First> base = evaluate(filled, indices);
    Raw<First> changed = 0;
    for (unsigned subset = 1; subset < (1u << kSources); ++subset) {
      for (int i = 0; i < kSources; ++i)
        filled[i] = (value[i] & ~undef[i]) | (subset >> i & 1 ? undef[i] : 0);
      changed |= evaluate(filled, indices) ^ base;
    }
    if (Options.undef == Undef::Carry) {
      for (unsigned shift = 1; shift < sizeof(changed) * 8; shift *= 2)
        changed |= static_cast<Raw<First>>(changed << shift);
    }
    return changed;
  }
};

#pragma clang diagnostic pop

template <class Signature>
struct LaneOpRow;

// Makes table rows for a signature such as float(float, float).
template <class R, class... A>
struct LaneOpRow<R(A...)> {
  template <LaneOpOptions Options, class F>
  static Op make(std::string_view name, OpClass cls) {
    using Impl = LaneOp<F, Options, R, A...>;
    Op op;
    op.name = name;
    op.cls = cls;
    op.run = &Impl::run;
    op.propagate = &Impl::propagate;
    op.num_dst = ResultTraits<R>::kCount;
    int i = 0;
    op.types[i++] = type_of<typename ResultTraits<R>::First>();
    if constexpr (ResultTraits<R>::kCount == 2)
      op.types[i++] = type_of<typename ResultTraits<R>::Second>();
    ((op.types[i++] = type_of<A>()), ...);
    return op;
  }
};

template <class Signature, LaneOpOptions Options = LaneOpOptions{}, class F>
Op lane_op(std::string_view name, F, OpClass cls = OpClass::Valu) {
  return LaneOpRow<Signature>::template make<Options, F>(name, cls);
}

// An operation whose last source is its destination (v_fmac and its like).
template <class Signature, LaneOpOptions Options = LaneOpOptions{}, class F>
Op accumulate_op(std::string_view name, F f, OpClass cls = OpClass::Valu) {
  Op op = lane_op<Signature, Options>(name, f, cls);
  op.reads_dst = true;
  return op;
}

}  // namespace gfxsim
