// Matrix operations: MFMA (dense) and SMFMAC (A compressed 4:2), D = A * B + C.
//
// Arithmetic: products are exact, their sum and C are added up in double precision, k ascending,
// and rounded once to the result's format (f64: a chain of fused multiply-adds; integers wrap).
// The hardware's own order and intermediate rounding are not published. EXEC and MODE are ignored,
// as the hardware does.
//
// Layouts, with M rows (and columns), K the depth, lane l in group g = l / M:
//   A, B   lane l holds row (column) l % M, elements e = 0, 1, ... from bit 0 of its first register
//          one block:      k = g * E + e, where E is the number of elements a lane holds
//          f8f6f4, 8 bits: k = 16 * g + e % 16 + (K / 2) * (e / 16), two runs of 16
//          more blocks:    block g, k = e
//          f64 4x4x4:      block g % 4, k = g / 4
//   C, D   lane l holds column l % M, value v
//          M = 32:    block v / 16, row 8 * (v % 16 / 4) + 4 * g + v % 4
//          M = 16:    block v / 4, row 4 * g + v % 4
//          M = 4:     block g, row v
//          f64 16x16: row 4 * v + g;  f64 4x4x4: block g % 4, row g / 4
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "gfxsim/formats.h"
#include "gfxsim/numeric.h"
#include "gfxsim/ops/families.h"
#include "gfxsim/wave.h"

namespace gfxsim {
namespace {

constexpr int kLanes = kMaxLanes;
constexpr int kScaleBlock = 32;  // elements that share a scale
constexpr int kRun = 16;         // consecutive k of an 8-bit f8f6f4 element run
constexpr int kMaxOperandDwords = 8;

// --- element formats: width, and the value that a code stands for ---

struct F64Element {
  static constexpr int kBits = 64;
  static double decode(uint64_t code) { return std::bit_cast<double>(code); }
};
struct F32Element {
  static constexpr int kBits = 32;
  static float decode(uint32_t code) { return std::bit_cast<float>(code); }
};
struct F16Element {
  static constexpr int kBits = 16;
  static float decode(uint32_t code) {
    return static_cast<float>(std::bit_cast<F16>(static_cast<uint16_t>(code)));
  }
};
struct Bf16Element {
  static constexpr int kBits = 16;
  static float decode(uint32_t code) { return std::bit_cast<float>(code << 16); }
};
struct I8Element {
  static constexpr int kBits = 8;
  static uint32_t decode(uint32_t code) {
    return static_cast<uint32_t>(int32_t{static_cast<int8_t>(code)});
  }
};
template <class Format>
struct SmallElement {
  static constexpr int kBits = Format::kBits;
  static float decode(uint32_t code) { return Format::compute(code); }
};
using Fp8Element = SmallElement<Fp8>;
using Bf8Element = SmallElement<Bf8>;
using Fp6Element = SmallElement<Fp6>;
using Bf6Element = SmallElement<Bf6>;
using Fp4Element = SmallElement<Fp4>;

// What sums are kept in, and how they are held in registers.
struct F32Result {
  using Sum = double;
  static constexpr int kDwords = 1;
  static double from_bits(uint64_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  }
  static uint64_t to_bits(double x) { return std::bit_cast<uint32_t>(static_cast<float>(x)); }
};
struct F64Result {
  using Sum = double;
  static constexpr int kDwords = 2;
  static double from_bits(uint64_t bits) { return std::bit_cast<double>(bits); }
  static uint64_t to_bits(double x) { return std::bit_cast<uint64_t>(x); }
};
struct I32Result {
  using Sum = uint32_t;
  static constexpr int kDwords = 1;
  static uint32_t from_bits(uint64_t bits) { return static_cast<uint32_t>(bits); }
  static uint64_t to_bits(uint32_t x) { return x; }
};

// --- layouts ---

// `index` is a k of A and B, a row of C and D.
struct Position {
  int block, index;
};

template <int kRowsM, int kDepthK, int kBlockCount, class ResultType>
struct Shape {
  using Result = ResultType;
  using Sum = typename Result::Sum;
  static constexpr int kM = kRowsM, kK = kDepthK, kBlocks = kBlockCount;
  static constexpr bool kF64 = std::is_same_v<Result, F64Result>;
  static constexpr int kGroups = kLanes / kM;
  static constexpr int kElements =
      kM * kK * kBlocks / kLanes;                             // of A or B (dense) that a lane holds
  static constexpr int kValues = kM * kM * kBlocks / kLanes;  // of C or D
  using Plane = Sum[kBlocks * kK][kM];  // A and B: by block and k, then row or column
  using Sums = Sum[kBlocks * kM][kM];   // C and D: by block and row, then column

  template <bool kRuns>
  static constexpr Position element(int group, int e) {
    if (kF64 && kBlocks > 1) return {group % kBlocks, group / kBlocks};
    if (kBlocks > 1) return {group, e};
    if (kRuns) return {0, kRun * group + e % kRun + kK / 2 * (e / kRun)};
    return {0, group * kElements + e};
  }
  static constexpr Position value(int group, int v) {
    if (kF64)
      return kBlocks > 1 ? Position{group % kBlocks, group / kBlocks} : Position{0, 4 * v + group};
    if (kM == 32) return {v / 16, 8 * (v % 16 / 4) + 4 * group + v % 4};
    if (kM == 16) return {v / 4, 4 * group + v % 4};
    return {group, v};
  }
  // The block of A and B elements that a lane group holds.
  static constexpr int block_of(int group) { return element<false>(group, 0).block; }
};

// --- operands ---

// The registers of A or B: rows of lane values.
struct Fragment {
  const uint32_t* row[kMaxOperandDwords];
  alignas(32) uint32_t moved[kMaxOperandDwords][kLanes];

  Fragment(const Wave& w, const Operand& operand) {
    for (int d = 0; d < operand.dwords; ++d) row[d] = w.v[operand.reg + d];
  }
  // Every lane sees the registers of lane source[lane].
  void move(const std::array<uint8_t, kLanes>& source, int dwords) {
    for (int d = 0; d < dwords; ++d) {
      for (int lane = 0; lane < kLanes; ++lane) moved[d][lane] = row[d][source[lane]];
      row[d] = moved[d];
    }
  }
};

template <class Element>
using Code = std::conditional_t<Element::kBits == 64, uint64_t, uint32_t>;

// The bits of element `e` in every lane; those above the element's width are others'.
template <class Element>
void extract(const Fragment& fragment, int e, Code<Element> (&codes)[kLanes]) {
  const int bit = e * Element::kBits;
  const int dword = bit / 32, shift = bit % 32;
  const uint32_t* low = fragment.row[dword];
  if constexpr (Element::kBits == 64) {
    const uint32_t* high = fragment.row[dword + 1];
    for (int lane = 0; lane < kLanes; ++lane) codes[lane] = low[lane] | uint64_t{high[lane]} << 32;
  } else if (shift + Element::kBits > 32) {
    const uint32_t* high = fragment.row[dword + 1];
    for (int lane = 0; lane < kLanes; ++lane)
      codes[lane] = low[lane] >> shift | high[lane] << (32 - shift);
  } else {
    for (int lane = 0; lane < kLanes; ++lane) codes[lane] = low[lane] >> shift;
  }
}

// The value of element `e` in every lane. (By way of local arrays, which alias nothing.)
template <class Element, class T>
void decode_lanes(const Fragment& fragment, int e, T (&values)[kLanes]) {
  alignas(32) Code<Element> codes[kLanes];
  extract<Element>(fragment, e, codes);
  alignas(32) decltype(Element::decode(0)) decoded[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) decoded[lane] = Element::decode(codes[lane]);
  std::copy_n(decoded, kLanes, values);
}

template <class S, class Element, bool kRuns = false>
void unpack(const Fragment& fragment, typename S::Plane& plane) {
  alignas(32) typename S::Sum values[kLanes];
  for (int e = 0; e < S::kElements; ++e) {
    decode_lanes<Element>(fragment, e, values);
    for (int group = 0; group < S::kGroups; ++group) {
      const Position at = S::template element<kRuns>(group, e);
      auto& to = plane[at.block * S::kK + at.index];
      std::memcpy(&to, &values[group * S::kM], sizeof to);
    }
  }
}

// A of SMFMAC: of every four consecutive k the lane holds two elements, whose places are 2-bit
// numbers in `index`, lowest first; the others are zero.
template <class S, class Element>
void unpack_sparse(const Fragment& fragment, const uint32_t* index, int shift,
                   typename S::Plane& plane) {
  constexpr int kStored = S::kElements / 2;
  std::memset(&plane, 0, sizeof plane);
  alignas(32) typename S::Sum values[kLanes];
  for (int e = 0; e < kStored; ++e) {
    decode_lanes<Element>(fragment, e, values);
    for (int lane = 0; lane < kLanes; ++lane) {
      const int place = static_cast<int>(index[lane] >> (shift + 2 * e) & 3);
      plane[lane / S::kM * S::kElements + e / 2 * 4 + place][lane % S::kM] = values[lane];
    }
  }
}

// --- products ---

template <class T, int kWidth>
using Vector __attribute__((vector_size(sizeof(T) * kWidth))) = T;

template <class V, class T>
V broadcast(T x) {
  V out;
  for (size_t i = 0; i < sizeof(V) / sizeof(T); ++i) out[i] = x;
  return out;
}

template <class V, class T>
V multiply_add(T a, V b, V sum) {
  if constexpr (std::is_same_v<T, double>)
    return __builtin_elementwise_fma(broadcast<V>(a), b, sum);
  else
    return a * b + sum;
}

// One block: sums[i][j] += a[k][i] * b[k][j], two rows and up to 16 columns at a time.
template <class T, int kM, int kK>
void multiply(const T (*a)[kM], const T (*b)[kM], T (*sums)[kM]) {
  constexpr int kTileRows = 2, kTileColumns = kM < 16 ? kM : 16;
  constexpr int kWidth = 32 / sizeof(T) < kTileColumns ? 32 / sizeof(T) : kTileColumns;
  constexpr int kVectors = kTileColumns / kWidth;
  using V = Vector<T, kWidth>;
  for (int j = 0; j < kM; j += kTileColumns) {
    for (int i = 0; i < kM; i += kTileRows) {
      V tile[kTileRows][kVectors];
      for (int r = 0; r < kTileRows; ++r) std::memcpy(tile[r], &sums[i + r][j], sizeof tile[r]);
      for (int k = 0; k < kK; ++k) {
        V column[kVectors];
        std::memcpy(column, &b[k][j], sizeof column);
        for (int r = 0; r < kTileRows; ++r)
          for (int v = 0; v < kVectors; ++v)
            tile[r][v] = multiply_add(a[k][i + r], column[v], tile[r][v]);
      }
      for (int r = 0; r < kTileRows; ++r) std::memcpy(&sums[i + r][j], tile[r], sizeof tile[r]);
    }
  }
}

// --- C and D ---

template <class S>
void read_c(const Wave& w, const Operand& c, bool negate, typename S::Sums& sums) {
  using Result = typename S::Result;
  alignas(32) typename S::Sum values[kLanes];
  if (!c.is_vector()) std::fill_n(values, kLanes, Result::from_bits(c.bits));
  for (int v = 0; v < S::kValues; ++v) {
    if (c.is_vector()) {
      const uint32_t* low = w.v[c.reg + v * Result::kDwords];
      const uint32_t* high = w.v[c.reg + v * Result::kDwords + Result::kDwords - 1];
      for (int lane = 0; lane < kLanes; ++lane)
        values[lane] = Result::from_bits(low[lane] | uint64_t{high[lane]} << 32);
    }
    for (int group = 0; group < S::kGroups; ++group) {
      const Position at = S::value(group, v);
      auto& to = sums[at.block * S::kM + at.index];
      std::memcpy(&to, &values[group * S::kM], sizeof to);
    }
  }
  if constexpr (std::is_same_v<typename S::Sum, double>) {
    if (!negate) return;
    for (auto& row : sums)
      for (auto& value : row) value = -value;
  }
}

template <class S>
void write_d(Wave& w, const Operand& dst, const typename S::Sums& sums) {
  using Result = typename S::Result;
  alignas(32) typename S::Sum values[kLanes];
  for (int v = 0; v < S::kValues; ++v) {
    for (int group = 0; group < S::kGroups; ++group) {
      const Position at = S::value(group, v);
      const auto& from = sums[at.block * S::kM + at.index];
      std::memcpy(&values[group * S::kM], &from, sizeof from);
    }
    for (int d = 0; d < Result::kDwords; ++d) {
      uint32_t* row = w.v[dst.reg + v * Result::kDwords + d];
      for (int lane = 0; lane < kLanes; ++lane)
        row[lane] = static_cast<uint32_t>(Result::to_bits(values[lane]) >> (32 * d));
    }
  }
}

// --- undefined bits: those of A make its row of D undefined, those of B its column, those of C
// the element ---

bool may_be_undefined(const Wave& w, const Operand& operand) {
  if (!operand.is_vector()) return false;
  for (int d = 0; d < operand.dwords; ++d)
    if (w.maybe_undef(operand.reg + d)) return true;
  return false;
}

template <class S>
struct Undefined {
  bool any = false;
  bool a[S::kBlocks][S::kM] = {}, b[S::kBlocks][S::kM] = {};
  bool c[S::kBlocks * S::kM][S::kM] = {};

  // `source`: the lane that each lane's registers come from.
  void mark(const Wave& w, const Operand& operand, const std::array<uint8_t, kLanes>* source,
            bool (&rows)[S::kBlocks][S::kM]) {
    if (!may_be_undefined(w, operand)) return;
    for (int d = 0; d < operand.dwords; ++d)
      for (int lane = 0; lane < kLanes; ++lane)
        if (w.lane_undef(operand, d, source ? (*source)[lane] : lane)) {
          rows[S::block_of(lane / S::kM)][lane % S::kM] = true;
          any = true;
        }
  }
  void mark_c(const Wave& w, const Operand& operand) {
    if (!may_be_undefined(w, operand)) return;
    for (int v = 0; v < S::kValues; ++v)
      for (int lane = 0; lane < kLanes; ++lane)
        for (int d = 0; d < S::Result::kDwords; ++d)
          if (w.lane_undef(operand, v * S::Result::kDwords + d, lane)) {
            const Position at = S::value(lane / S::kM, v);
            c[at.block * S::kM + at.index][lane % S::kM] = true;
            any = true;
          }
  }
  // `a_block`: the block of A that each block multiplies.
  template <class BlockOfA>
  void write(Wave& w, const Operand& dst, BlockOfA a_block) const {
    for (int d = 0; d < dst.dwords; ++d) w.set_maybe_undef(dst.reg + d, false);
    if (!any) return;
    for (int v = 0; v < S::kValues; ++v) {
      for (int d = 0; d < S::Result::kDwords; ++d) {
        const int reg = dst.reg + v * S::Result::kDwords + d;
        LaneRow& row = w.undef_row(reg);
        for (int lane = 0; lane < kLanes; ++lane) {
          const Position at = S::value(lane / S::kM, v);
          const int column = lane % S::kM;
          const bool undef = a[a_block(at.block)][at.index] || b[at.block][column] ||
                             c[at.block * S::kM + at.index][column];
          row[lane] = undef ? ~0u : 0;
        }
        w.settle_undef(reg);
      }
    }
  }
};

// --- modifiers ---

// BLGP of the shapes with f32 or i32 results: the lane whose B registers each lane sees.
std::array<uint8_t, kLanes> b_lane_pattern(int blgp) {
  std::array<uint8_t, kLanes> source;
  for (int lane = 0; lane < kLanes; ++lane) {
    int from = lane;
    if (blgp == 1 || blgp == 2) from = lane % 32 + 32 * (blgp - 1);  // one half to both
    if (blgp == 3) from = (lane + 16) % kLanes;                      // rotate by 16
    if (blgp >= 4) from = lane % 16 + 16 * (blgp - 4);               // one quarter to all
    source[lane] = static_cast<uint8_t>(from);
  }
  return source;
}

// CBSZ and ABID: within each group of 2^CBSZ blocks, block ABID of A serves all.
template <class S>
int broadcast_block(const Inst& in, int block) {
  const int group = 1 << in.mod.cbsz;
  return block / group * group + (in.mod.abid & (group - 1));
}

template <class S>
void check_broadcast(const Inst& in) {
  if ((1 << in.mod.cbsz) > S::kBlocks)
    fail(FaultKind::Unsupported, "cbsz:" + std::to_string(in.mod.cbsz) + " of an operation with " +
                                     std::to_string(S::kBlocks) + " block(s)");
}

// --- handlers ---

template <class S>
void multiply_blocks(const Inst& in, const typename S::Plane& a, const typename S::Plane& b,
                     typename S::Sums& sums) {
  for (int block = 0; block < S::kBlocks; ++block) {
    const int a_block = S::kBlocks > 1 ? broadcast_block<S>(in, block) : 0;
    multiply<typename S::Sum, S::kM, S::kK>(&a[a_block * S::kK], &b[block * S::kK],
                                            &sums[block * S::kM]);
  }
}

template <class S>
void negate(typename S::Plane& plane) {
  for (auto& row : plane)
    for (auto& value : row) value = -value;
}

// Dense: operands are D, A, B, C.
template <class S, class A, class B>
void mfma(Wave& w, const Inst& in) {
  check_broadcast<S>(in);
  const Operand &oa = in.src(0), &ob = in.src(1), &oc = in.src(2);
  alignas(32) typename S::Plane a, b;
  alignas(32) typename S::Sums sums;
  Fragment fa(w, oa), fb(w, ob);
  std::array<uint8_t, kLanes> pattern;
  if (in.mod.blgp) {
    pattern = b_lane_pattern(in.mod.blgp);
    fb.move(pattern, ob.dwords);
  }
  unpack<S, A>(fa, a);
  unpack<S, B>(fb, b);
  constexpr uint8_t kNegA = 1, kNegB = 2, kNegC = 4;
  if constexpr (S::kF64) {
    if (in.mod.neg_lo & kNegA) negate<S>(a);
    if (in.mod.neg_lo & kNegB) negate<S>(b);
  }
  read_c<S>(w, oc, S::kF64 && (in.mod.neg_lo & kNegC), sums);
  multiply_blocks<S>(in, a, b, sums);

  Undefined<S> undefined;
  undefined.mark(w, oa, nullptr, undefined.a);
  undefined.mark(w, ob, in.mod.blgp ? &pattern : nullptr, undefined.b);
  undefined.mark_c(w, oc);
  write_d<S>(w, in.dst(), sums);
  undefined.write(w, in.dst(), [&in](int block) { return broadcast_block<S>(in, block); });
}

// Sparse A: operands are D (and C), A, B, index.
template <class S, class A, class B>
void smfmac(Wave& w, const Inst& in) {
  constexpr int kIndexBits = S::kElements;  // 2 bits for each stored element
  constexpr int kSets = 32 / kIndexBits;
  if (in.mod.blgp) fail(FaultKind::Unsupported, "blgp of a sparse operation");
  const Operand &oa = in.src(0), &ob = in.src(1), &index = in.src(2);
  const int set = in.mod.cbsz == 0 ? in.mod.abid % kSets : 0;
  alignas(32) typename S::Plane a, b;
  alignas(32) typename S::Sums sums;
  unpack_sparse<S, A>(Fragment(w, oa), w.v[index.reg], set * kIndexBits, a);
  unpack<S, B>(Fragment(w, ob), b);
  read_c<S>(w, in.dst(), false, sums);
  multiply<typename S::Sum, S::kM, S::kK>(a, b, sums);

  Undefined<S> undefined;
  undefined.mark(w, oa, nullptr, undefined.a);
  undefined.mark(w, index, nullptr, undefined.a);
  undefined.mark(w, ob, nullptr, undefined.b);
  undefined.mark_c(w, in.dst());
  write_d<S>(w, in.dst(), sums);
  undefined.write(w, in.dst(), [](int) { return 0; });
}

// --- f8f6f4: formats by cbsz (A) and blgp (B) ---

constexpr int kNumSmallFormats = 5;
constexpr int kFirstNarrowFormat = 2;  // fp8 and bf8 come first
constexpr uint8_t kSmallFormatDwords[kNumSmallFormats] = {8, 8, 6, 6, 4};

template <class S>
void unpack_small(const Fragment& fragment, int format, typename S::Plane& plane) {
  switch (format) {
    case 0:
      return unpack<S, Fp8Element, true>(fragment, plane);
    case 1:
      return unpack<S, Bf8Element, true>(fragment, plane);
    case 2:
      return unpack<S, Fp6Element>(fragment, plane);
    case 3:
      return unpack<S, Bf6Element>(fragment, plane);
    default:
      return unpack<S, Fp4Element>(fragment, plane);
  }
}

void check_format(const char* modifier, int format, const Operand& operand) {
  if (format >= kNumSmallFormats)
    fail(FaultKind::IllegalInstruction,
         std::string(modifier) + ":" + std::to_string(format) + " names no format; 0 to 4 do");
  if (operand.dwords < kSmallFormatDwords[format])
    fail(FaultKind::IllegalInstruction, std::string(modifier) + ":" + std::to_string(format) +
                                            " needs " + std::to_string(kSmallFormatDwords[format]) +
                                            " registers");
}

// Lane g * M + m holds the E8M0 scale of row (column) m and of k = 32 * g and the 31 after it, in
// the byte that `byte` names.
template <class S>
void apply_scales(const Wave& w, const Operand& scale, int byte, typename S::Plane& plane) {
  for (int group = 0; group < S::kGroups; ++group) {
    double factor[S::kM];
    for (int m = 0; m < S::kM; ++m)
      factor[m] = scale_from_e8m0(
          static_cast<uint8_t>(w.lane_value(scale, 0, group * S::kM + m) >> (8 * byte)));
    for (int k = kScaleBlock * group; k < kScaleBlock * (group + 1); ++k)
      for (int m = 0; m < S::kM; ++m) plane[k][m] *= factor[m];
  }
}

template <class S>
struct ScaleUndefined {
  // Undefined bits of the byte of the scale that is used.
  static void mark(const Wave& w, const Operand& scale, int byte, bool* any,
                   bool (&rows)[S::kBlocks][S::kM]) {
    for (int lane = 0; lane < kLanes; ++lane)
      if (w.lane_undef(scale, 0, lane) >> (8 * byte) & 0xff) rows[0][lane % S::kM] = *any = true;
  }
};

// Operands are D, A, B, C and, when scaled, the scales of A and of B.
template <class S, bool kScaled>
void mfma_f8f6f4(Wave& w, const Inst& in) {
  const Operand &oa = in.src(0), &ob = in.src(1), &oc = in.src(2);
  check_format("cbsz", in.mod.cbsz, oa);
  check_format("blgp", in.mod.blgp, ob);
  alignas(32) typename S::Plane a, b;
  alignas(32) typename S::Sums sums;
  unpack_small<S>(Fragment(w, oa), in.mod.cbsz, a);
  unpack_small<S>(Fragment(w, ob), in.mod.blgp, b);
  Undefined<S> undefined;
  if constexpr (kScaled) {
    const auto byte = [&in](int i) {
      return (in.mod.op_sel >> i & 1) | (in.mod.op_sel_hi >> i & 1) << 1;
    };
    apply_scales<S>(w, in.src(3), byte(0), a);
    apply_scales<S>(w, in.src(4), byte(1), b);
    ScaleUndefined<S>::mark(w, in.src(3), byte(0), &undefined.any, undefined.a);
    ScaleUndefined<S>::mark(w, in.src(4), byte(1), &undefined.any, undefined.b);
  }
  read_c<S>(w, oc, false, sums);
  multiply<typename S::Sum, S::kM, S::kK>(a, b, sums);

  undefined.mark(w, oa, nullptr, undefined.a);
  undefined.mark(w, ob, nullptr, undefined.b);
  undefined.mark_c(w, oc);
  write_d<S>(w, in.dst(), sums);
  undefined.write(w, in.dst(), [](int) { return 0; });
}

// --- rows ---

template <class S>
constexpr Type result_type() {
  if (S::kF64) return Type::F64;
  return std::is_same_v<typename S::Result, I32Result> ? Type::B32 : Type::F32;
}

template <class S>
Op row(std::string_view name, Handler run, int passes) {
  Op op;
  op.name = name;
  op.cls = OpClass::Mfma;
  op.run = run;
  op.passes = static_cast<uint8_t>(passes);
  op.types[3] = result_type<S>();
  return op;
}

template <class S, class A, class B = A>
Op dense(std::string_view name, int passes) {
  return row<S>(name, &mfma<S, A, B>, passes);
}

template <class S, class A, class B = A>
Op sparse(std::string_view name, int passes) {
  Op op = row<S>(name, &smfmac<S, A, B>, passes);
  op.reads_dst = true;
  return op;
}

// Eight-bit elements on either side halve the rate.
template <class S, bool kScaled>
Op small_formats(std::string_view name, int narrow_passes) {
  static const Op narrow = row<S>(name, &mfma_f8f6f4<S, kScaled>, narrow_passes);
  Op op = row<S>(name, &mfma_f8f6f4<S, kScaled>, 2 * narrow_passes);
  op.fixup = [](Inst& in) {
    if (in.mod.cbsz >= kFirstNarrowFormat && in.mod.blgp >= kFirstNarrowFormat) in.op = &narrow;
  };
  return op;
}

template <int kM, int kK, int kBlocks = 1>
using F32 = Shape<kM, kK, kBlocks, F32Result>;
template <int kM, int kK, int kBlocks = 1>
using I32 = Shape<kM, kK, kBlocks, I32Result>;

void append_dense(std::vector<Op>* ops) {
  ops->insert(ops->end(),
              {
                  dense<F32<32, 1, 2>, F32Element>("v_mfma_f32_32x32x1_2b_f32", 16),
                  dense<F32<16, 1, 4>, F32Element>("v_mfma_f32_16x16x1_4b_f32", 8),
                  dense<F32<4, 1, 16>, F32Element>("v_mfma_f32_4x4x1_16b_f32", 2),
                  dense<F32<32, 2>, F32Element>("v_mfma_f32_32x32x2_f32", 16),
                  dense<F32<16, 4>, F32Element>("v_mfma_f32_16x16x4_f32", 8),
                  dense<F32<32, 4, 2>, F16Element>("v_mfma_f32_32x32x4_2b_f16", 16),
                  dense<F32<16, 4, 4>, F16Element>("v_mfma_f32_16x16x4_4b_f16", 8),
                  dense<F32<4, 4, 16>, F16Element>("v_mfma_f32_4x4x4_16b_f16", 2),
                  dense<F32<32, 8>, F16Element>("v_mfma_f32_32x32x8_f16", 8),
                  dense<F32<16, 16>, F16Element>("v_mfma_f32_16x16x16_f16", 4),
                  dense<F32<32, 16>, F16Element>("v_mfma_f32_32x32x16_f16", 8),
                  dense<F32<16, 32>, F16Element>("v_mfma_f32_16x16x32_f16", 4),
                  dense<F32<32, 4, 2>, Bf16Element>("v_mfma_f32_32x32x4_2b_bf16", 16),
                  dense<F32<16, 4, 4>, Bf16Element>("v_mfma_f32_16x16x4_4b_bf16", 8),
                  dense<F32<4, 4, 16>, Bf16Element>("v_mfma_f32_4x4x4_16b_bf16", 2),
                  dense<F32<32, 8>, Bf16Element>("v_mfma_f32_32x32x8_bf16", 8),
                  dense<F32<16, 16>, Bf16Element>("v_mfma_f32_16x16x16_bf16", 4),
                  dense<F32<32, 16>, Bf16Element>("v_mfma_f32_32x32x16_bf16", 8),
                  dense<F32<16, 32>, Bf16Element>("v_mfma_f32_16x16x32_bf16", 4),
                  dense<I32<32, 4, 2>, I8Element>("v_mfma_i32_32x32x4_2b_i8", 16),
                  dense<I32<16, 4, 4>, I8Element>("v_mfma_i32_16x16x4_4b_i8", 8),
                  dense<I32<4, 4, 16>, I8Element>("v_mfma_i32_4x4x4_16b_i8", 2),
                  dense<I32<32, 16>, I8Element>("v_mfma_i32_32x32x16_i8", 8),
                  dense<I32<16, 32>, I8Element>("v_mfma_i32_16x16x32_i8", 4),
                  dense<I32<32, 32>, I8Element>("v_mfma_i32_32x32x32_i8", 8),
                  dense<I32<16, 64>, I8Element>("v_mfma_i32_16x16x64_i8", 4),
                  dense<F32<32, 16>, Fp8Element, Fp8Element>("v_mfma_f32_32x32x16_fp8_fp8", 8),
                  dense<F32<32, 16>, Fp8Element, Bf8Element>("v_mfma_f32_32x32x16_fp8_bf8", 8),
                  dense<F32<32, 16>, Bf8Element, Fp8Element>("v_mfma_f32_32x32x16_bf8_fp8", 8),
                  dense<F32<32, 16>, Bf8Element, Bf8Element>("v_mfma_f32_32x32x16_bf8_bf8", 8),
                  dense<F32<16, 32>, Fp8Element, Fp8Element>("v_mfma_f32_16x16x32_fp8_fp8", 4),
                  dense<F32<16, 32>, Fp8Element, Bf8Element>("v_mfma_f32_16x16x32_fp8_bf8", 4),
                  dense<F32<16, 32>, Bf8Element, Fp8Element>("v_mfma_f32_16x16x32_bf8_fp8", 4),
                  dense<F32<16, 32>, Bf8Element, Bf8Element>("v_mfma_f32_16x16x32_bf8_bf8", 4),
                  dense<Shape<16, 4, 1, F64Result>, F64Element>("v_mfma_f64_16x16x4_f64", 16),
                  dense<Shape<4, 4, 4, F64Result>, F64Element>("v_mfma_f64_4x4x4_4b_f64", 4),
                  small_formats<F32<16, 128>, false>("v_mfma_f32_16x16x128_f8f6f4", 4),
                  small_formats<F32<32, 64>, false>("v_mfma_f32_32x32x64_f8f6f4", 8),
                  small_formats<F32<16, 128>, true>("v_mfma_scale_f32_16x16x128_f8f6f4", 4),
                  small_formats<F32<32, 64>, true>("v_mfma_scale_f32_32x32x64_f8f6f4", 8),
              });
}

void append_sparse(std::vector<Op>* ops) {
  ops->insert(ops->end(),
              {
                  sparse<F32<16, 32>, F16Element>("v_smfmac_f32_16x16x32_f16", 4),
                  sparse<F32<32, 16>, F16Element>("v_smfmac_f32_32x32x16_f16", 8),
                  sparse<F32<16, 64>, F16Element>("v_smfmac_f32_16x16x64_f16", 4),
                  sparse<F32<32, 32>, F16Element>("v_smfmac_f32_32x32x32_f16", 8),
                  sparse<F32<16, 32>, Bf16Element>("v_smfmac_f32_16x16x32_bf16", 4),
                  sparse<F32<32, 16>, Bf16Element>("v_smfmac_f32_32x32x16_bf16", 8),
                  sparse<F32<16, 64>, Bf16Element>("v_smfmac_f32_16x16x64_bf16", 4),
                  sparse<F32<32, 32>, Bf16Element>("v_smfmac_f32_32x32x32_bf16", 8),
                  sparse<I32<16, 64>, I8Element>("v_smfmac_i32_16x16x64_i8", 4),
                  sparse<I32<32, 32>, I8Element>("v_smfmac_i32_32x32x32_i8", 8),
                  sparse<I32<16, 128>, I8Element>("v_smfmac_i32_16x16x128_i8", 4),
                  sparse<I32<32, 64>, I8Element>("v_smfmac_i32_32x32x64_i8", 8),
                  sparse<F32<16, 64>, Fp8Element, Fp8Element>("v_smfmac_f32_16x16x64_fp8_fp8", 4),
                  sparse<F32<16, 64>, Fp8Element, Bf8Element>("v_smfmac_f32_16x16x64_fp8_bf8", 4),
                  sparse<F32<16, 64>, Bf8Element, Fp8Element>("v_smfmac_f32_16x16x64_bf8_fp8", 4),
                  sparse<F32<16, 64>, Bf8Element, Bf8Element>("v_smfmac_f32_16x16x64_bf8_bf8", 4),
                  sparse<F32<32, 32>, Fp8Element, Fp8Element>("v_smfmac_f32_32x32x32_fp8_fp8", 8),
                  sparse<F32<32, 32>, Fp8Element, Bf8Element>("v_smfmac_f32_32x32x32_fp8_bf8", 8),
                  sparse<F32<32, 32>, Bf8Element, Fp8Element>("v_smfmac_f32_32x32x32_bf8_fp8", 8),
                  sparse<F32<32, 32>, Bf8Element, Bf8Element>("v_smfmac_f32_32x32x32_bf8_bf8", 8),
                  sparse<F32<16, 128>, Fp8Element, Fp8Element>("v_smfmac_f32_16x16x128_fp8_fp8", 4),
                  sparse<F32<16, 128>, Fp8Element, Bf8Element>("v_smfmac_f32_16x16x128_fp8_bf8", 4),
                  sparse<F32<16, 128>, Bf8Element, Fp8Element>("v_smfmac_f32_16x16x128_bf8_fp8", 4),
                  sparse<F32<16, 128>, Bf8Element, Bf8Element>("v_smfmac_f32_16x16x128_bf8_bf8", 4),
                  sparse<F32<32, 64>, Fp8Element, Fp8Element>("v_smfmac_f32_32x32x64_fp8_fp8", 8),
                  sparse<F32<32, 64>, Fp8Element, Bf8Element>("v_smfmac_f32_32x32x64_fp8_bf8", 8),
                  sparse<F32<32, 64>, Bf8Element, Fp8Element>("v_smfmac_f32_32x32x64_bf8_fp8", 8),
                  sparse<F32<32, 64>, Bf8Element, Bf8Element>("v_smfmac_f32_32x32x64_bf8_bf8", 8),
              });
}

}  // namespace

std::vector<Op> matrix_ops() {
  std::vector<Op> ops;
  append_dense(&ops);
  append_sparse(&ops);
  return ops;
}

}  // namespace gfxsim
