// Scalar operations from the meaning of one value: `scalar_op<uint32_t(uint32_t,
// uint32_t)>("s_...", f)` makes the table row whose handler applies f, and the handler that
// propagates undefined bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gfxsim/lane_op.h"

namespace gfxsim {

// What becomes of SCC, unless f returns it.
enum class SccRule : uint8_t { Keep, NonZero };

// As an argument of f: the value of SCC. As its result: only SCC is written.
struct Scc {
  bool set = false;
};
template <class T>
struct WithScc {
  T value;
  bool scc;
};

struct ScalarOptions {
  Undef undef = Undef::Whole;
  unsigned control = 0;  // sources (bit i: source i) that make the whole result undefined
  SccRule scc = SccRule::Keep;
};

template <class R>
struct ScalarResult {
  using Value = R;
  static constexpr bool kWritesValue = true, kReturnsScc = false;
  static R value(R r) { return r; }
};
template <class T>
struct ScalarResult<WithScc<T>> {
  using Value = T;
  static constexpr bool kWritesValue = true, kReturnsScc = true;
  static T value(WithScc<T> r) { return r.value; }
  static bool scc(WithScc<T> r) { return r.scc; }
};
template <>
struct ScalarResult<Scc> {
  using Value = uint32_t;
  static constexpr bool kWritesValue = false, kReturnsScc = true;
  static uint32_t value(Scc) { return 0; }
  static bool scc(Scc r) { return r.set; }
};

inline uint64_t scalar_source(const Wave& w, const Operand& operand) {
  const uint64_t low = w.scalar_value(operand, 0);
  if (operand.is_scalar() && operand.dwords == 1) return low;
  return low | uint64_t{w.scalar_value(operand, 1)} << 32;
}

inline uint64_t scalar_source_undef(const Wave& w, const Operand& operand) {
  if (operand.is_scalar()) {
    const uint64_t high = operand.dwords > 1 ? w.scalar_undef(operand.reg + 1) : 0;
    return w.scalar_undef(operand.reg) | high << 32;
  }
  if (operand.kind != Operand::Special) return 0;
  if (operand.special == kSrcScc) return w.scc_undef;
  if (operand.special == kSrcVccz) return (w.scalar_undef(kVcc) | w.scalar_undef(kVcc + 1)) != 0;
  return 0;
}

inline void set_scalar_pair(Wave& w, int reg, uint64_t value, uint64_t undef) {
  w.set_scalar(reg, static_cast<uint32_t>(value), static_cast<uint32_t>(undef));
  w.set_scalar(reg + 1, static_cast<uint32_t>(value >> 32), static_cast<uint32_t>(undef >> 32));
}

template <class F, ScalarOptions Options, class R, class... A>
struct ScalarOp {
  using Result = ScalarResult<R>;
  using Value = typename Result::Value;
  using Bits = std::conditional_t<sizeof(Value) == 8, uint64_t, uint32_t>;
  using Indices = std::index_sequence_for<A...>;
  static constexpr int kSources = sizeof...(A);
  static constexpr bool kReadsScc = (std::is_same_v<A, Scc> || ...);
  static constexpr bool kWritesScc = Result::kReturnsScc || Options.scc == SccRule::NonZero;

  static void run(Wave& w, const Inst& in) { execute(w, in, Indices{}); }

  static void propagate(Wave& w, const Inst& in) { track(w, in, Indices{}); }

 private:
  template <class T>
  static uint64_t raw_source(const Wave& w, const Inst& in, int i) {
    if constexpr (std::is_same_v<T, Scc>)
      return w.scc;
    else if constexpr (sizeof(T) == 8)
      return scalar_source(w, source_operand(in, i));
    else
      return w.scalar_value(source_operand(in, i), 0);
  }
  template <class T>
  static uint64_t raw_undef(const Wave& w, const Inst& in, int i) {
    if constexpr (std::is_same_v<T, Scc>)
      return w.scc_undef;
    else
      return scalar_source_undef(w, source_operand(in, i));
  }
  template <class T>
  static T typed(uint64_t raw) {
    if constexpr (std::is_same_v<T, Scc>)
      return Scc{raw != 0};
    else
      return static_cast<T>(raw);
  }
  template <size_t... I>
  static R apply(const uint64_t* raw, std::index_sequence<I...>) {
    return F{}(typed<A>(raw[I])...);
  }

  template <size_t... I>
  static void execute(Wave& w, const Inst& in, std::index_sequence<I...> indices) {
    const uint64_t raw[] = {raw_source<A>(w, in, I)..., 0};
    const R result = apply(raw, indices);
    const Bits value = static_cast<Bits>(Result::value(result));
    if constexpr (Result::kWritesValue) {
      if constexpr (sizeof(Value) == 8)
        w.set_pair(in.dst().reg, value);
      else
        w.s[in.dst().reg] = value;
    }
    if constexpr (Result::kReturnsScc)
      w.scc = Result::scc(result);
    else if constexpr (Options.scc == SccRule::NonZero)
      w.scc = value != 0;
  }

  template <size_t... I>
  static void track(Wave& w, const Inst& in, std::index_sequence<I...> indices) {
    const uint64_t raw[] = {raw_source<A>(w, in, I)..., 0};
    const uint64_t undef[] = {raw_undef<A>(w, in, I)..., 0};
    bool some = false, control = false;
    for (int i = 0; i < kSources; ++i) {
      some |= undef[i] != 0;
      control |= undef[i] != 0 && (Options.control >> i & 1);
    }
    Bits value_undef = 0;
    bool scc_undef = false;
    if (some) {
      if (Options.undef == Undef::Whole || control) {
        value_undef = static_cast<Bits>(~uint64_t{0});
        scc_undef = true;
      } else {
        probe(raw, undef, &value_undef, &scc_undef, indices);
      }
    }
    execute(w, in, indices);
    if constexpr (Result::kWritesValue) {
      const int reg = in.dst().reg;
      if constexpr (sizeof(Value) == 8)
        set_scalar_pair(w, reg, w.pair(reg), value_undef);
      else
        w.set_scalar(reg, w.s[reg], value_undef);
    }
    if constexpr (Result::kReturnsScc) {
      w.scc_undef = scc_undef;
    } else if constexpr (Options.scc == SccRule::NonZero) {
      // One defined set bit decides.
      w.scc_undef = value_undef != 0 && (result_bits(w, in) & ~value_undef) == 0;
    }
  }

  static Bits result_bits(const Wave& w, const Inst& in) {
    if constexpr (sizeof(Value) == 8)
      return w.pair(in.dst().reg);
    else
      return w.s[in.dst().reg];
  }

  // Fills the undefined bits of every subset of sources with ones, the rest with zeros, and
  // collects the result bits that change.
  template <size_t... I>
  static void probe(const uint64_t* raw, const uint64_t* undef, Bits* value_undef, bool* scc_undef,
                    std::index_sequence<I...> indices) {
    uint64_t filled[kSources + 1];
    for (int i = 0; i < kSources; ++i) filled[i] = raw[i] & ~undef[i];
    const R base = apply(filled, indices);
    for (unsigned subset = 1; subset < (1u << kSources); ++subset) {
      for (int i = 0; i < kSources; ++i)
        filled[i] = (raw[i] & ~undef[i]) | (subset >> i & 1 ? undef[i] : 0);
      const R other = apply(filled, indices);
      *value_undef |=
          static_cast<Bits>(Result::value(base)) ^ static_cast<Bits>(Result::value(other));
      if constexpr (Result::kReturnsScc) *scc_undef |= Result::scc(base) != Result::scc(other);
    }
    if (Options.undef == Undef::Carry) {
      for (unsigned shift = 1; shift < sizeof(Bits) * 8; shift *= 2)
        *value_undef |= static_cast<Bits>(*value_undef << shift);
      *scc_undef = true;
    }
  }
};

template <class T>
constexpr Type scalar_type_of() {
  if constexpr (std::is_same_v<T, int64_t>)
    return Type::I64;
  else if constexpr (sizeof(T) == 8)
    return Type::B64;
  else if constexpr (sizeof(T) == 4)
    return Type::B32;
  else
    return Type::B16;
}

template <class Signature>
struct ScalarRow;

template <class R, class... A>
struct ScalarRow<R(A...)> {
  template <ScalarOptions Options, class F>
  static Op make(std::string_view name) {
    using Impl = ScalarOp<F, Options, R, A...>;
    Op op;
    op.name = name;
    op.cls = OpClass::Salu;
    op.run = &Impl::run;
    op.propagate = &Impl::propagate;
    op.num_dst = ScalarResult<R>::kWritesValue ? 1 : 0;
    op.reads_scc = Impl::kReadsScc;
    op.writes_scc = Impl::kWritesScc;
    int i = 0;
    if (op.num_dst) op.types[i++] = scalar_type_of<typename ScalarResult<R>::Value>();
    const auto add = [&op, &i](bool is_scc, Type type) {
      if (!is_scc) op.types[i++] = type;
    };
    (add(std::is_same_v<A, Scc>, scalar_type_of<A>()), ...);
    // Undefined bits of SCC and VCC behind src_scc and src_vccz are not seen by the executor.
    op.fixup = [](Inst& in) {
      for (int i = 0; i < in.num_src(); ++i)
        if (in.src(i).kind == Operand::Special) in.run = in.propagate;
    };
    return op;
  }
};

// Sources past the printed ones stand for the destination. SCC, where f takes it, comes last.
template <class Signature, ScalarOptions Options = ScalarOptions{}, class F>
Op scalar_op(std::string_view name, F) {
  return ScalarRow<Signature>::template make<Options, F>(name);
}

// An operation that also reads its destination, as its last operand.
template <class Signature, ScalarOptions Options = ScalarOptions{}, class F>
Op scalar_update_op(std::string_view name, F f) {
  Op op = scalar_op<Signature, Options>(name, f);
  op.reads_dst = true;
  return op;
}

}  // namespace gfxsim
