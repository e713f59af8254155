// Vector operations on registers that hold two elements, from the meaning of one element. The
// counterpart of lane_op.h: undefined bits are tracked for each half on its own.
//
//   packed16_op<F16(F16, F16)>(name, f)   both halves of 32 bits; op_sel names the half that the
//   low
//                                         result reads, op_sel_hi that of the high result
//   packed32_op<float(float, float)>      the same with register pairs and 32-bit elements
//   pair_op<F16(float)>(name, f)          low half f(source 0), high half f(source 1)
//   dot2_op<float(F16, F16, F16, F16, float)>  (low 0, low 1, high 0, high 1, source 2)
#pragma once

#include "gfxsim/lane_op.h"

namespace gfxsim {

[[noreturn]] inline void unsupported_sign_modifier(Wave&, const Inst&) {
  fail(FaultKind::Unsupported, "neg or abs on a packed operand");
}

// Packed operands have neg_lo and neg_hi instead of neg and abs. Looks at the first `sources`.
inline void reject_sign_modifiers(Inst& in, int sources) {
  for (int i = 0; i < sources; ++i) {
    if (!in.src(i).neg && !in.src(i).abs) continue;
    in.run = &unsupported_sign_modifier;
    in.propagate = nullptr;
  }
}
inline void reject_sign_modifiers(Inst& in) { reject_sign_modifiers(in, in.num_src()); }

// Which element (0 or 1) of source `i` the result's element `half` reads. An accumulator that is
// the destination has no selection.
inline int selected_element(const Inst& in, int i, int half) {
  if (i >= in.num_src()) return half;
  return (half ? in.mod.op_sel_hi : in.mod.op_sel) >> i & 1;
}

inline bool negated_element(const Inst& in, int i, int half) {
  return i < in.num_src() && ((half ? in.mod.neg_hi : in.mod.neg_lo) >> i & 1);
}

// Not every function of an element can be vectorised.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"

// One element of a packed source in every lane: bits `shift` upwards of a row.
struct ElementRow {
  const uint32_t* row = nullptr;
  int shift = 0;
  uint32_t flip = 0;  // sign bit to invert

  template <class T>
  T get(int lane) const {
    return std::bit_cast<T>(static_cast<Raw<T>>(row[lane] >> shift ^ flip));
  }
};

// Calls `body` with the MODE register's floating point settings for format T in force.
template <class T, class Body>
void with_environment(const Wave& w, Body body) {
  if ((w.mode & 0xff) != kModeFpDefault) [[unlikely]] {
    const FpEnvironment environment = environment_of<T>(w);
    body();
  } else {
    body();
  }
}

// The result of an element, with the output modifiers applied.
template <class R>
struct ElementResult {
  using Type = R;
  static Raw<R> bits(R value) { return std::bit_cast<Raw<R>>(value); }
  static void modify(Raw<R>* out, const Wave& w, const Inst& in) {
    if (!in.mod.clamp && !in.mod.omod) return;
    const bool dx10_clamp = w.mode & kModeDx10Clamp;
    if constexpr (std::is_same_v<R, BF16>) {
      for (int lane = 0; lane < kMaxLanes; ++lane)
        out[lane] = to_bf16(apply_output_modifiers(to_float(BF16{out[lane]}), in, dx10_clamp)).bits;
    } else if constexpr (kIsFloat<R>) {
      for (int lane = 0; lane < kMaxLanes; ++lane)
        out[lane] = bits(apply_output_modifiers(std::bit_cast<R>(out[lane]), in, dx10_clamp));
    }
  }
};

// Computes one element of the result in every lane.
template <class F, class R, class... A>
struct ElementLoop {
  template <size_t... I>
  static void run(const Wave& w, const Inst& in, const ElementRow* sources, Raw<R>* out,
                  std::index_sequence<I...>) {
    const std::array<ElementRow, sizeof...(A)> source{sources[I]...};
    if ((w.mode & 0xff) == kModeFpDefault) [[likely]] {
#pragma clang loop vectorize(assume_safety)
      for (int lane = 0; lane < kMaxLanes; ++lane)
        out[lane] = std::bit_cast<Raw<R>>(R(F{}(source[I].template get<A>(lane)...)));
    } else {
      std::tuple<LaneBuffer<Raw<A>>...> scratch;
      for (int lane = 0; lane < kMaxLanes; ++lane)
        ((std::get<I>(scratch).lane[lane] = source[I].template get<Raw<A>>(lane)), ...);
      const FpEnvironment environment = environment_of<R>(w);
      const std::tuple<const A*...> flushed{source_by_mode(
          w, reinterpret_cast<const A*>(std::get<I>(scratch).lane), std::get<I>(scratch).lane)...};
      for (int lane = 0; lane < kMaxLanes; ++lane)
        out[lane] = std::bit_cast<Raw<R>>(R(F{}(std::get<I>(flushed)[lane]...)));
      result_by_mode(w, reinterpret_cast<R*>(out));
    }
    ElementResult<R>::modify(out, w, in);
  }
};
template <class F, class T, class... A>
struct ElementLoop<F, Saturating<T>, A...> {
  template <size_t... I>
  static void run(const Wave&, const Inst& in, const ElementRow* sources, Raw<T>* out,
                  std::index_sequence<I...>) {
    const std::array<ElementRow, sizeof...(A)> source{sources[I]...};
    LaneResult<Saturating<T>> result;
    result.out = reinterpret_cast<T*>(out);
    result.saturate = in.mod.clamp;
#pragma clang loop vectorize(assume_safety)
    for (int lane = 0; lane < kMaxLanes; ++lane)
      result.set(lane, F{}(source[I].template get<A>(lane)...));
  }
};

// kBits: of one element. Both elements of all sources are rows of a register or of a pair.
template <int kBits, class F, class R, class... A>
struct PackedOp {
  using Element = typename ResultTraits<R>::First;
  using Bits = Raw<Element>;
  static constexpr int kSources = sizeof...(A);
  static constexpr bool kFloatSource[] = {kIsFloat<A>...};
  static_assert(sizeof(Bits) * 8 == kBits);
  using Scratch = LaneBuffer<uint32_t>[kSources];

  static void run(Wave& w, const Inst& in) {
    const uint64_t mask = write_mask(w, in);
    LaneBuffer<Bits> out[2];
    for (int half = 0; half < 2; ++half) {
      Scratch scratch;
      ElementRow sources[kSources];
      fetch_elements(w, in, half, Plane::Value, scratch, sources);
      ElementLoop<F, R, A...>::run(w, in, sources, out[half].lane, std::index_sequence_for<A...>{});
    }
    commit_elements(w, in, out, mask, Plane::Value);
  }

  static void propagate(Wave& w, const Inst& in) {
    const uint64_t mask = write_mask(w, in);
    LaneBuffer<Bits> undef[2];
    for (int half = 0; half < 2; ++half) {
      Scratch scratch;
      ElementRow sources[kSources];
      fetch_elements(w, in, half, Plane::Undef, scratch, sources);
      for (int lane = 0; lane < kMaxLanes; ++lane) {
        Bits any = 0;
        for (const ElementRow& source : sources) any |= source.get<Bits>(lane);
        undef[half].lane[lane] = any ? static_cast<Bits>(~Bits{0}) : Bits{0};
      }
    }
    run(w, in);
    commit_elements(w, in, undef, mask, Plane::Undef);
  }

 private:
  static void fetch_elements(const Wave& w, const Inst& in, int half, Plane plane, Scratch& scratch,
                             ElementRow* sources) {
    for (int i = 0; i < kSources; ++i) {
      const int element = selected_element(in, i, half);
      const int dword = kBits == 32 ? element : 0;
      sources[i].row = kBits == 32 ? fetch_dword(w, in, i, dword, plane, scratch[i].lane)
                                   : fetch32(w, in, i, plane, scratch[i].lane);
      sources[i].shift = kBits == 32 ? 0 : kBits * element;
      const bool flip = plane == Plane::Value && kFloatSource[i] && negated_element(in, i, half);
      sources[i].flip = flip ? uint32_t{1} << (kBits - 1) : 0;
    }
  }

  static void commit_elements(Wave& w, const Inst& in, const LaneBuffer<Bits> (&out)[2],
                              uint64_t mask, Plane plane) {
    if constexpr (kBits == 16) {
      LaneBuffer<uint32_t> both;
      for (int lane = 0; lane < kMaxLanes; ++lane)
        both.lane[lane] = out[0].lane[lane] | uint32_t{out[1].lane[lane]} << 16;
      commit32(w, in, 0, both.lane, mask, plane);
    } else {
      const int reg = in.dst().reg;
      for (int half = 0; half < 2; ++half) {
        if (plane == Plane::Value) {
          blend_row(w.v[reg + half], out[half].lane, mask);
        } else {
          blend_row(w.undef_row(reg + half), out[half].lane, mask);
          w.settle_undef(reg + half);
        }
      }
    }
  }
};

// A result of two 16-bit halves, each from one source of its own.
template <class F, class R, class A>
struct PairOp {
  static void run(Wave& w, const Inst& in) {
    const uint64_t mask = write_mask(w, in);
    LaneBuffer<uint32_t> both;
    for (int half = 0; half < 2; ++half) {
      LaneBuffer<Raw<A>> scratch;
      const A* source =
          reinterpret_cast<const A*>(fetch<A>(w, in, half, Plane::Value, scratch.lane));
      LaneBuffer<Raw<R>> out;
#pragma clang loop vectorize(assume_safety)
      for (int lane = 0; lane < kMaxLanes; ++lane)
        out.lane[lane] = std::bit_cast<Raw<R>>(R(F{}(source[lane])));
      ElementResult<R>::modify(out.lane, w, in);
      join(half, out.lane, both.lane);
    }
    commit32(w, in, 0, both.lane, mask, Plane::Value);
  }

  static void propagate(Wave& w, const Inst& in) {
    const uint64_t mask = write_mask(w, in);
    LaneBuffer<uint32_t> both;
    for (int half = 0; half < 2; ++half) {
      LaneBuffer<Raw<A>> scratch;
      const Raw<A>* source = fetch<A>(w, in, half, Plane::Undef, scratch.lane);
      LaneBuffer<uint16_t> out;
      for (int lane = 0; lane < kMaxLanes; ++lane) out.lane[lane] = source[lane] ? 0xffff : 0;
      join(half, out.lane, both.lane);
    }
    run(w, in);
    commit32(w, in, 0, both.lane, mask, Plane::Undef);
  }

 private:
  static void join(int half, const uint16_t* out, uint32_t* both) {
    if (half == 0)
      for (int lane = 0; lane < kMaxLanes; ++lane) both[lane] = out[lane];
    else
      for (int lane = 0; lane < kMaxLanes; ++lane) both[lane] |= uint32_t{out[lane]} << 16;
  }
};

// Two products of halves and an addend of 32 bits.
template <class F, class R, class E, class C>
struct Dot2Op {
  using Result = typename ResultTraits<R>::First;
  using Loop = ElementLoop<F, R, E, E, E, E, C>;

  static void run(Wave& w, const Inst& in) {
    const uint64_t mask = write_mask(w, in);
    LaneBuffer<uint32_t> scratch[3];
    ElementRow sources[5];
    fetch_sources(w, in, Plane::Value, scratch, sources);
    LaneBuffer<Raw<Result>> out;
    Loop::run(w, in, sources, out.lane, std::make_index_sequence<5>{});
    commit32(w, in, 0, out.lane, mask, Plane::Value);
  }

  static void propagate(Wave& w, const Inst& in) {
    const uint64_t mask = write_mask(w, in);
    LaneBuffer<uint32_t> scratch[3], undef;
    ElementRow sources[5];
    fetch_sources(w, in, Plane::Undef, scratch, sources);
    for (int lane = 0; lane < kMaxLanes; ++lane) {
      uint32_t any = sources[4].get<uint32_t>(lane);
      for (int i = 0; i < 4; ++i) any |= sources[i].get<uint16_t>(lane);
      undef.lane[lane] = any ? ~uint32_t{0} : 0;
    }
    run(w, in);
    commit32(w, in, 0, undef.lane, mask, Plane::Undef);
  }

 private:
  static void fetch_sources(const Wave& w, const Inst& in, Plane plane,
                            LaneBuffer<uint32_t> (&scratch)[3], ElementRow* sources) {
    constexpr uint32_t kHalfSign = 0x8000, kSign = 0x80000000;
    const auto flip = [&](int i, int half, bool is_float, uint32_t sign) {
      return plane == Plane::Value && is_float && negated_element(in, i, half) ? sign : 0;
    };
    for (int i = 0; i < 2; ++i) {
      const uint32_t* row = fetch_dword(w, in, i, 0, plane, scratch[i].lane);
      for (int half = 0; half < 2; ++half)
        sources[2 * half + i] = {row, 16 * selected_element(in, i, half),
                                 flip(i, half, kIsFloat<E>, kHalfSign)};
    }
    // The addend is not packed; compilers negate it by both flags.
    const bool negated = negated_element(in, 2, 0) && negated_element(in, 2, 1);
    sources[4] = {fetch_dword(w, in, 2, 0, plane, scratch[2].lane), 0,
                  negated && plane == Plane::Value && kIsFloat<C> ? kSign : 0};
  }
};

#pragma clang diagnostic pop

// What constants of a packed source look like.
template <class T>
constexpr Type packed_type() {
  if constexpr (std::is_same_v<T, float>)
    return Type::PkF32;
  else if constexpr (std::is_same_v<T, F16>)
    return Type::PkF16;
  else if constexpr (std::is_same_v<T, BF16>)
    return Type::PkBF16;
  else
    return Type::PkB16;
}

// A constant of 32-bit elements stands for both.
inline void repeat_constants(Inst& in) {
  reject_sign_modifiers(in);
  for (int i = in.num_dst; i < in.num_operands; ++i)
    if (in.operands[i].is_constant()) in.operands[i].bits |= in.operands[i].bits << 32;
}

template <class Signature>
struct PackedRow;

template <class R, class... A>
struct PackedRow<R(A...)> {
  template <class Impl>
  static Op row(std::string_view name) {
    Op op;
    op.name = name;
    op.cls = OpClass::Valu;
    op.run = &Impl::run;
    op.propagate = &Impl::propagate;
    op.fixup = &reject_sign_modifiers;
    op.types[0] = Type::Any;
    return op;
  }
  template <int kBits, class F>
  static Op packed(std::string_view name) {
    Op op = row<PackedOp<kBits, F, R, A...>>(name);
    int i = 1;
    ((op.types[i++] = packed_type<A>()), ...);
    if (kBits == 32) op.fixup = &repeat_constants;
    return op;
  }
};

template <class R, class A>
struct PairRow;
template <class R, class A>
struct PairRow<R(A), void> {
  template <class F>
  static Op make(std::string_view name) {
    Op op;
    op.name = name;
    op.cls = OpClass::Valu;
    op.run = &PairOp<F, R, A>::run;
    op.propagate = &PairOp<F, R, A>::propagate;
    op.types[1] = op.types[2] = type_of<A>();
    return op;
  }
};

template <class Signature>
struct Dot2Row;
template <class R, class E, class C>
struct Dot2Row<R(E, E, E, E, C)> {
  template <class F>
  static Op make(std::string_view name) {
    Op op;
    op.name = name;
    op.cls = OpClass::Valu;
    op.run = &Dot2Op<F, R, E, C>::run;
    op.propagate = &Dot2Op<F, R, E, C>::propagate;
    op.fixup = &reject_sign_modifiers;
    op.types[1] = op.types[2] = packed_type<E>();
    op.types[3] = type_of<C>();
    return op;
  }
};

template <class Signature, class F>
Op packed16_op(std::string_view name, F) {
  return PackedRow<Signature>::template packed<16, F>(name);
}
template <class Signature, class F>
Op packed32_op(std::string_view name, F) {
  return PackedRow<Signature>::template packed<32, F>(name);
}
template <class Signature, class F>
Op pair_op(std::string_view name, F) {
  return PairRow<Signature, void>::template make<F>(name);
}
template <class Signature, class F>
Op dot2_op(std::string_view name, F) {
  return Dot2Row<Signature>::template make<F>(name);
}

}  // namespace gfxsim
