// Reading an instruction's source operands lane by lane, and writing its result: constants and
// scalars are broadcast, modifiers, SDWA selections, DPP lane patterns and op_sel are applied.
// Works on the value plane and on the plane of undefined bits alike.
#pragma once

#include <cstdint>
#include <type_traits>

#include "gfxsim/numeric.h"
#include "gfxsim/wave.h"

namespace gfxsim {

enum class Plane : uint8_t { Value, Undef };

// The unsigned integer that holds a lane value's bits.
template <class T>
using Raw = std::conditional_t<sizeof(T) == 2, uint16_t,
                               std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

template <class T>
constexpr bool kIsFloat = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                          std::is_same_v<T, F16> || std::is_same_v<T, BF16>;

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, float>)
    return Type::F32;
  else if constexpr (std::is_same_v<T, double>)
    return Type::F64;
  else if constexpr (std::is_same_v<T, F16>)
    return Type::F16;
  else if constexpr (std::is_same_v<T, BF16>)
    return Type::BF16;
  else if constexpr (std::is_same_v<T, LaneBit>)
    return Type::LaneMask;
  else if constexpr (std::is_same_v<T, int64_t>)
    return Type::I64;
  else if constexpr (sizeof(T) == 8)
    return Type::B64;
  else if constexpr (sizeof(T) == 2)
    return Type::B16;
  else
    return Type::B32;
}

template <class T>
struct alignas(32) LaneBuffer {
  LaneBuffer() {}  // not zeroed
  T lane[kMaxLanes];
};

// Source `i`; past the printed ones stands the destination (an accumulator that is also read).
inline const Operand& source_operand(const Inst& in, int i) {
  return i < in.num_src() ? in.src(i) : in.dst();
}

// Lanes that a DPP instruction may write: enabled by the masks, and with a valid source unless
// bound_ctrl lets it read 0.
uint64_t dpp_write_mask(const Wave& w, const Inst& in);

// Lanes the instruction writes.
inline uint64_t write_mask(const Wave& w, const Inst& in) {
  return in.dpp ? w.exec() & dpp_write_mask(w, in) : w.exec();
}

// 32 bits of source `i` in every lane, before modifiers; dword `dword` of the operand. Returns the
// register's row itself where it can, else fills `scratch`.
const uint32_t* fetch_dword(const Wave& w, const Inst& in, int i, int dword, Plane plane,
                            uint32_t* scratch);

// Source `i` in every lane, with SDWA selection, op_sel and neg/abs applied.
const uint16_t* fetch16(const Wave& w, const Inst& in, int i, Plane plane, uint16_t* scratch);
const uint32_t* fetch32(const Wave& w, const Inst& in, int i, Plane plane, uint32_t* scratch);
const uint64_t* fetch64(const Wave& w, const Inst& in, int i, Plane plane, uint64_t* scratch);
// A lane mask operand as 0 or 1 a lane (Plane::Undef: 1 where the bit is undefined).
const uint32_t* fetch_mask(const Wave& w, const Inst& in, int i, Plane plane, uint32_t* scratch);

template <class T>
const Raw<T>* fetch(const Wave& w, const Inst& in, int i, Plane plane, Raw<T>* scratch) {
  if constexpr (sizeof(T) == 4 && !std::is_same_v<T, LaneBit>)
    if (plane == Plane::Value && (in.direct_sources >> i & 1))
      return w.v[source_operand(in, i).reg];
  if constexpr (std::is_same_v<T, LaneBit>)
    return fetch_mask(w, in, i, plane, scratch);
  else if constexpr (sizeof(T) == 2)
    return fetch16(w, in, i, plane, scratch);
  else if constexpr (sizeof(T) == 4)
    return fetch32(w, in, i, plane, scratch);
  else
    return fetch64(w, in, i, plane, scratch);
}

// Writes destination `i` in the lanes of `mask`; the other lanes keep what they hold. A 16-bit
// result goes to the half that op_sel names; the other half is kept when it is the low one or
// when `keep_high`, else zeroed.
void commit16(Wave& w, const Inst& in, int i, const uint16_t* value, uint64_t mask, Plane plane,
              bool keep_high);
void commit32(Wave& w, const Inst& in, int i, const uint32_t* value, uint64_t mask, Plane plane);
void commit64(Wave& w, const Inst& in, int i, const uint64_t* value, uint64_t mask, Plane plane);
// A lane mask result: bits outside `mask` become 0.
void commit_mask(Wave& w, const Inst& in, int i, const uint32_t* bit, uint64_t mask, Plane plane);

template <class T>
void commit(Wave& w, const Inst& in, int i, const Raw<T>* value, uint64_t mask, Plane plane,
            bool keep_high) {
  if constexpr (std::is_same_v<T, LaneBit>)
    commit_mask(w, in, i, value, mask, plane);
  else if constexpr (sizeof(T) == 2)
    commit16(w, in, i, value, mask, plane, keep_high);
  else if constexpr (sizeof(T) == 4)
    commit32(w, in, i, value, mask, plane);
  else
    commit64(w, in, i, value, mask, plane);
}

// One vector row, without any modifier: lanes of `mask` take `value`.
void blend_row(uint32_t* row, const uint32_t* value, uint64_t mask);

}  // namespace gfxsim
