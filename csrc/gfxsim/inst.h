// A decoded instruction: the row of the operation table that executes it, its operands and its
// modifiers. Decoded once per code object; executed many times.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gfxsim/target.h"

namespace gfxsim {

struct Wave;
struct Inst;
using Handler = void (*)(Wave&, const Inst&);

constexpr int kMaxLanes = 64;

// One index space for all registers, so that one bitmap describes them.
//   0..255 VGPR, 256..511 AGPR, 512.. scalar file (kScalarBase + scalar index)
constexpr int kNumVectorRegs = 512;
constexpr int kAgprBase = 256;
constexpr int kScalarBase = kNumVectorRegs;
// Scalar indices, as the hardware numbers them. m0, null and exec are where gfx9 has them, whatever
// the target: the disassembler names them.
constexpr int kFlatScratch = 102;
constexpr int kXnackMask = 104;
constexpr int kVcc = 106;
constexpr int kTtmp = 108;
constexpr int kM0 = 124;
constexpr int kNull = 125;
constexpr int kExec = 126;
constexpr int kNumScalarRegs = 128;
constexpr int kNumRegs = kNumVectorRegs + kNumScalarRegs;
constexpr int kRegWords = kNumRegs / 64;

// How an instruction is counted.
enum class OpClass : uint8_t {
  Salu,
  Smem,
  Branch,
  Valu,
  Transcendental,
  Mfma,
  LdsRead,
  LdsWrite,
  LdsAtomic,
  VmemLoad,
  VmemStore,
  VmemAtomic,
  LdsDma,  // memory to LDS
  Wait,
  Barrier,
  Other,  // nop, priority, end of program, ...
};
constexpr int kNumOpClasses = static_cast<int>(OpClass::Other) + 1;
const char* op_class_name(OpClass cls);

// What an operand's bits mean; decides how an inline float constant and a literal are encoded.
enum class Type : uint8_t {
  B16,
  F16,
  BF16,
  B32,
  F32,
  B64,    // literals are zero-extended
  I64,    // literals are sign-extended
  F64,    // literals are the high half
  PkB16,  // two halves: an integer constant fills 32 bits
  PkF16,  // two halves: an inline float constant is f16 in the low half
  PkBF16,
  PkF32,
  LaneMask,  // one bit a lane, in a scalar register or pair
  Any,       // descriptors, addresses, wide data: registers only, or 32-bit constants
};

struct Operand {
  enum Kind : uint8_t { None, Vector, Scalar, Constant, Special, Off };
  Kind kind = None;
  uint8_t dwords = 0;
  uint16_t reg = 0;     // Vector: 0..511; Scalar: scalar index
  uint8_t special = 0;  // Special: a SpecialSource
  bool neg = false;
  bool abs = false;
  bool sext = false;        // SDWA
  bool is_float = false;    // Constant written as a float ("0.5")
  bool is_literal = false;  // Constant written in hex or outside the inline range
  double float_value = 0;
  uint64_t bits = 0;  // Constant: the operand's bits as the row's type wants them

  bool is_vector() const { return kind == Vector; }
  bool is_scalar() const { return kind == Scalar; }
  bool is_constant() const { return kind == Constant; }
  bool exists() const { return kind != None; }
};

enum SpecialSource : uint8_t {
  kSharedBase,  // src_shared_base: aperture, in the high dword of a pair
  kSharedLimit,
  kPrivateBase,
  kPrivateLimit,
  kSrcVccz,
  kSrcExecz,
  kSrcScc,
};

// SDWA selections
enum class Sel : uint8_t { Byte0, Byte1, Byte2, Byte3, Word0, Word1, Dword };
enum class Unused : uint8_t { Pad, Sext, Preserve };

// DPP: for every lane the lane it reads, or -1 where the pattern leaves the row (or wave).
struct Dpp {
  std::array<int8_t, kMaxLanes> source{};
  uint64_t write_mask = ~uint64_t{0};  // row_mask and bank_mask, expanded to lanes
  bool bound_ctrl = false;             // an invalid source reads 0 instead of disabling the lane
  bool fetch_inactive = false;
};

struct Modifiers {
  bool clamp = false;
  int8_t omod = 0;  // result is multiplied by 2^omod: -1, 0, 1, 2
  bool sc0 = false, sc1 = false, nt = false, glc = false;
  bool offen = false, idxen = false, lds = false, gds = false, tfe = false;
  int32_t offset = 0;
  int32_t offset0 = 0, offset1 = 0;
  uint8_t op_sel = 0;  // bit i: operand i of the list printed (sources first, then dst)
  uint8_t op_sel_hi = 0xff;
  uint8_t neg_lo = 0, neg_hi = 0;
  uint8_t cbsz = 0, abid = 0, blgp = 0;
  uint8_t bitop3 = 0;
  uint8_t data_format = 1, num_format = 0;  // of typed buffer instructions
  bool sdwa = false;
  Sel dst_sel = Sel::Dword, src_sel[2] = {Sel::Dword, Sel::Dword};
  Unused dst_unused = Unused::Pad;
};

// Registers of one bitmap word that an instruction reads or writes.
struct RegMask {
  uint8_t word = 0;
  uint64_t mask = 0;
};

// A row of the operation table.
struct Op {
  std::string_view name;
  OpClass cls = OpClass::Other;
  Handler run = nullptr;
  // Executes and propagates undefined bits; called instead of `run` when a source is not fully
  // defined or the destination will not be. Null: `run` tracks undefined bits itself.
  Handler propagate = nullptr;
  uint8_t num_dst = 1;  // leading operands that are written
  bool reads_dst = false;
  std::array<Type, 7> types{Type::Any, Type::Any, Type::Any, Type::Any,
                            Type::Any, Type::Any, Type::Any};  // of the operands as printed
  // Registers read and written without being printed.
  bool reads_scc = false;
  bool writes_scc = false;
  bool reads_m0 = false;
  bool reads_vcc = false;
  bool writes_exec = false;
  uint8_t passes = 0;  // MFMA: passes of 4 clocks
  // Adjusts a freshly parsed instruction, before reads and writes are collected (e.g. atomics,
  // whose destination depends on a modifier).
  void (*fixup)(Inst&) = nullptr;
};

constexpr int kMaxOperands = 7;
constexpr uint8_t kNoWait = 0xff;
constexpr std::array<uint8_t, kNumCounters> no_wait() {
  std::array<uint8_t, kNumCounters> all{};
  all.fill(kNoWait);
  return all;
}
constexpr int kMaxRegMasks = 10;

struct Inst {
  const Op* op = nullptr;
  Handler run = nullptr;
  Handler propagate = nullptr;
  std::array<Operand, kMaxOperands> operands{};
  uint8_t num_operands = 0;
  uint8_t num_dst = 0;
  bool reads_dst = false;
  bool writes_exec = false;
  bool partial_write = false;  // even with a full exec mask some bits or lanes of dst may stay
  bool plain = false;          // not SDWA: a 32-bit result fills its register
  uint8_t direct_sources = 0;  // sources (bit i) that are a whole vector register, unmodified
  uint8_t result_states = 0;   // wait states before its result may be read; 0: interlocked
  uint8_t num_reads = 0, num_writes = 0;
  std::array<RegMask, kMaxRegMasks> reads{}, writes{};
  Modifiers mod;
  std::shared_ptr<const Dpp> dpp;
  int32_t immediate = 0;  // SOPP/SOPK immediate; an hwreg() as id | offset << 6 | (width - 1) << 11
  // s_waitcnt: the most operations that may stay in flight, by Counter.
  std::array<uint8_t, kNumCounters> wait = no_wait();
  const Inst* target = nullptr;  // of a direct branch
  uint64_t address = 0;          // where the instruction lies in (simulated) memory
  uint32_t size = 0;             // bytes
  uint32_t index = 0;            // position in the code object's list
  std::string mnemonic;          // without encoding suffix
  std::string text;

  const Operand& dst(int i = 0) const { return operands[i]; }
  const Operand& src(int i) const { return operands[num_dst + i]; }
  int num_src() const { return num_operands - num_dst; }
};

}  // namespace gfxsim
