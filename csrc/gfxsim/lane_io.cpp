#include "gfxsim/lane_io.h"

#include <immintrin.h>

#include <algorithm>

namespace gfxsim {
namespace {

constexpr uint32_t kZeroRow[kMaxLanes] = {};

// Lanes handled by one AVX2 register. Intrinsics where the compiler finds no vector form: between
// a bit mask and a vector of lanes.
constexpr int kStep = 8;

// All ones in the 32-bit lanes whose bit (7..0) is set.
__m256i lanes_of_bits(uint32_t bits) {
  const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(bits)), each),
                            each);
}

uint64_t bits_of_lanes(const uint32_t* bit) {
  uint64_t bits = 0;
  for (int lane = 0; lane < kMaxLanes; lane += kStep) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bit + lane));
    const int eight = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(v, 31)));
    bits |= uint64_t{static_cast<uint32_t>(eight)} << lane;
  }
  return bits;
}

// Dword `dword` of scalar-like operand `i` on either plane.
uint32_t broadcast_value(const Wave& w, const Operand& operand, int dword, Plane plane) {
  if (plane == Plane::Value) return w.scalar_value(operand, dword);
  if (operand.kind == Operand::Scalar) return w.scalar_undef(operand.reg + dword);
  if (operand.kind == Operand::Special && operand.special == kSrcScc)
    return dword == 0 && w.scc_undef ? 1 : 0;
  return 0;
}

const uint32_t* row_of(const Wave& w, int reg, Plane plane) {
  if (plane == Plane::Value) return w.v[reg];
  return w.maybe_undef(reg) ? w.v_undef[reg] : kZeroRow;
}

// Whether source `i` is the one that DPP and the first SDWA selection apply to.
bool is_dpp_source(const Inst& in, int i) { return in.dpp && i == 0; }

bool has_selection(const Inst& in, int i) {
  return in.mod.sdwa && i < 2 && i < in.num_src() && in.mod.src_sel[i] != Sel::Dword;
}

uint32_t select(uint32_t value, Sel sel, bool sign_extend) {
  int shift = 0, width = 32;
  switch (sel) {
    case Sel::Byte0:
    case Sel::Byte1:
    case Sel::Byte2:
    case Sel::Byte3:
      shift = 8 * static_cast<int>(sel);
      width = 8;
      break;
    case Sel::Word0:
    case Sel::Word1:
      shift = sel == Sel::Word1 ? 16 : 0;
      width = 16;
      break;
    case Sel::Dword:
      return value;
  }
  value = value >> shift << (32 - width);
  return sign_extend ? static_cast<uint32_t>(static_cast<int32_t>(value) >> (32 - width))
                     : value >> (32 - width);
}

// Sign bits of a value of `bits` bits, changed as the operand's neg and abs say.
template <class U>
void apply_sign_modifiers(const Operand& operand, U* value) {
  constexpr U kSign = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));
  if (operand.abs)
    for (int lane = 0; lane < kMaxLanes; ++lane) value[lane] &= static_cast<U>(~kSign);
  if (operand.neg)
    for (int lane = 0; lane < kMaxLanes; ++lane) value[lane] ^= kSign;
}

// 32 bits after the SDWA selection, before sign modifiers.
const uint32_t* selected_dword(const Wave& w, const Inst& in, int i, Plane plane,
                               uint32_t* scratch) {
  const uint32_t* dword = fetch_dword(w, in, i, 0, plane, scratch);
  if (!has_selection(in, i)) return dword;
  const Sel sel = in.mod.src_sel[i];
  const bool sext = source_operand(in, i).sext;
  for (int lane = 0; lane < kMaxLanes; ++lane) scratch[lane] = select(dword[lane], sel, sext);
  return scratch;
}

void settle(Wave& w, const Operand& dst, int dwords) {
  for (int d = 0; d < dwords; ++d) w.settle_undef(dst.reg + d);
}

uint32_t* destination_row(Wave& w, const Operand& dst, int dword, Plane plane) {
  if (!dst.is_vector())
    fail(FaultKind::Unsupported, "the result of a vector operation must be a vector register");
  const int reg = dst.reg + dword;
  return plane == Plane::Value ? w.v[reg] : w.undef_row(reg);
}

// Merges a selected part of `value` into `old`, as SDWA's dst_sel and dst_unused say.
uint32_t sdwa_merge(uint32_t old, uint32_t value, Sel sel, Unused unused) {
  if (sel == Sel::Dword) return value;
  const bool word = sel == Sel::Word0 || sel == Sel::Word1;
  const int width = word ? 16 : 8;
  const int shift = word ? (sel == Sel::Word1 ? 16 : 0) : 8 * static_cast<int>(sel);
  const uint32_t field = (width == 16 ? 0xffffu : 0xffu) << shift;
  const uint32_t placed = value << shift & field;
  switch (unused) {
    case Unused::Preserve:
      return (old & ~field) | placed;
    case Unused::Sext: {
      const bool negative = value >> (width - 1) & 1;
      const uint32_t above = shift + width == 32 ? 0 : ~uint32_t{0} << (shift + width);
      return placed | (negative ? above : 0);
    }
    case Unused::Pad:
      break;
  }
  return placed;
}

}  // namespace

uint64_t dpp_write_mask(const Wave& w, const Inst& in) {
  const Dpp& dpp = *in.dpp;
  if (dpp.bound_ctrl) return dpp.write_mask;
  const uint64_t exec = w.exec();
  uint64_t valid = 0;
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    const int from = dpp.source[lane];
    const bool readable = from >= 0 && (dpp.fetch_inactive || (exec >> from & 1));
    valid |= uint64_t{readable} << lane;
  }
  return dpp.write_mask & valid;
}

const uint32_t* fetch_dword(const Wave& w, const Inst& in, int i, int dword, Plane plane,
                            uint32_t* scratch) {
  const Operand& operand = source_operand(in, i);
  if (operand.kind != Operand::Vector) {
    std::fill_n(scratch, kMaxLanes, broadcast_value(w, operand, dword, plane));
    return scratch;
  }
  const uint32_t* row = row_of(w, operand.reg + dword, plane);
  if (!is_dpp_source(in, i)) return row;
  const Dpp& dpp = *in.dpp;
  const uint64_t exec = w.exec();
  LaneBuffer<uint32_t> moved;  // `scratch` may be `row` itself
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    const int from = dpp.source[lane];
    const bool readable = from >= 0 && (dpp.fetch_inactive || (exec >> from & 1));
    moved.lane[lane] = readable ? row[from] : 0;
  }
  std::copy_n(moved.lane, kMaxLanes, scratch);
  return scratch;
}

const uint16_t* fetch16(const Wave& w, const Inst& in, int i, Plane plane, uint16_t* scratch) {
  LaneBuffer<uint32_t> dwords;
  const uint32_t* value = selected_dword(w, in, i, plane, dwords.lane);
  const Operand& operand = source_operand(in, i);
  const int shift = !operand.is_constant() && i < in.num_src() && (in.mod.op_sel >> i & 1) ? 16 : 0;
  for (int lane = 0; lane < kMaxLanes; ++lane)
    scratch[lane] = static_cast<uint16_t>(value[lane] >> shift);
  if (plane == Plane::Value) apply_sign_modifiers(operand, scratch);
  return scratch;
}

const uint32_t* fetch32(const Wave& w, const Inst& in, int i, Plane plane, uint32_t* scratch) {
  const uint32_t* value = selected_dword(w, in, i, plane, scratch);
  const Operand& operand = source_operand(in, i);
  if (plane == Plane::Undef || !(operand.neg || operand.abs)) return value;
  if (value != scratch) std::copy_n(value, kMaxLanes, scratch);
  apply_sign_modifiers(operand, scratch);
  return scratch;
}

const uint64_t* fetch64(const Wave& w, const Inst& in, int i, Plane plane, uint64_t* scratch) {
  LaneBuffer<uint32_t> low_scratch, high_scratch;
  const uint32_t* low = fetch_dword(w, in, i, 0, plane, low_scratch.lane);
  const uint32_t* high = fetch_dword(w, in, i, 1, plane, high_scratch.lane);
  for (int lane = 0; lane < kMaxLanes; ++lane)
    scratch[lane] = low[lane] | uint64_t{high[lane]} << 32;
  if (plane == Plane::Value) apply_sign_modifiers(source_operand(in, i), scratch);
  return scratch;
}

const uint32_t* fetch_mask(const Wave& w, const Inst& in, int i, Plane plane, uint32_t* scratch) {
  const Operand& operand = source_operand(in, i);
  uint64_t mask = broadcast_value(w, operand, 0, plane);
  const bool wide = operand.kind == Operand::Constant || operand.dwords == 2;
  if (wide) mask |= uint64_t{broadcast_value(w, operand, 1, plane)} << 32;
  const __m256i one = _mm256_set1_epi32(1);
  for (int lane = 0; lane < kMaxLanes; lane += kStep) {
    const __m256i set = _mm256_and_si256(lanes_of_bits(static_cast<uint32_t>(mask >> lane)), one);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(scratch + lane), set);
  }
  return scratch;
}

void blend_row(uint32_t* row, const uint32_t* value, uint64_t mask) {
  if (mask == ~uint64_t{0}) {
    std::copy_n(value, kMaxLanes, row);
    return;
  }
  for (int lane = 0; lane < kMaxLanes; lane += kStep) {
    const __m256i take = lanes_of_bits(static_cast<uint32_t>(mask >> lane));
    __m256i* to = reinterpret_cast<__m256i*>(row + lane);
    const __m256i from = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(value + lane));
    _mm256_storeu_si256(to, _mm256_blendv_epi8(_mm256_loadu_si256(to), from, take));
  }
}

void commit16(Wave& w, const Inst& in, int i, const uint16_t* value, uint64_t mask, Plane plane,
              bool keep_high) {
  const Operand& dst = in.dst(i);
  uint32_t* row = destination_row(w, dst, 0, plane);
  LaneBuffer<uint32_t> merged;
  if (in.mod.sdwa) {
    for (int lane = 0; lane < kMaxLanes; ++lane)
      merged.lane[lane] = sdwa_merge(row[lane], value[lane], in.mod.dst_sel, in.mod.dst_unused);
  } else {
    const bool to_high = in.mod.op_sel >> in.num_src() & 1;
    const int shift = to_high ? 16 : 0;
    const uint32_t kept = to_high ? 0x0000ffff : keep_high ? 0xffff0000 : 0;
    for (int lane = 0; lane < kMaxLanes; ++lane)
      merged.lane[lane] = (row[lane] & kept) | uint32_t{value[lane]} << shift;
  }
  blend_row(row, merged.lane, mask);
  if (plane == Plane::Undef) settle(w, dst, 1);
}

void commit32(Wave& w, const Inst& in, int i, const uint32_t* value, uint64_t mask, Plane plane) {
  const Operand& dst = in.dst(i);
  if (dst.is_scalar()) {
    fail(FaultKind::Unsupported, "a scalar destination for a 32-bit result of every lane");
  }
  uint32_t* row = destination_row(w, dst, 0, plane);
  if (in.mod.sdwa && in.mod.dst_sel != Sel::Dword) {
    LaneBuffer<uint32_t> merged;
    for (int lane = 0; lane < kMaxLanes; ++lane)
      merged.lane[lane] = sdwa_merge(row[lane], value[lane], in.mod.dst_sel, in.mod.dst_unused);
    blend_row(row, merged.lane, mask);
  } else {
    blend_row(row, value, mask);
  }
  if (plane == Plane::Undef) settle(w, dst, 1);
}

void commit64(Wave& w, const Inst& in, int i, const uint64_t* value, uint64_t mask, Plane plane) {
  const Operand& dst = in.dst(i);
  LaneBuffer<uint32_t> low, high;
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    low.lane[lane] = static_cast<uint32_t>(value[lane]);
    high.lane[lane] = static_cast<uint32_t>(value[lane] >> 32);
  }
  blend_row(destination_row(w, dst, 0, plane), low.lane, mask);
  blend_row(destination_row(w, dst, 1, plane), high.lane, mask);
  if (plane == Plane::Undef) settle(w, dst, 2);
}

void commit_mask(Wave& w, const Inst& in, int i, const uint32_t* bit, uint64_t mask, Plane plane) {
  const Operand& dst = in.dst(i);
  if (!dst.is_scalar())
    fail(FaultKind::Unsupported, "a lane mask result must go to scalar registers");
  const uint64_t bits = bits_of_lanes(bit) & mask;
  for (int d = 0; d < dst.dwords; ++d) {
    const uint32_t half = static_cast<uint32_t>(bits >> (32 * d));
    const int reg = dst.reg + d;
    if (plane == Plane::Value) {
      w.s[reg] = half;
    } else {
      w.s_undef[reg] = half;
      w.set_maybe_undef(kScalarBase + reg, half != 0);
    }
  }
}

}  // namespace gfxsim
