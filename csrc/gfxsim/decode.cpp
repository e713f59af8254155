#include "gfxsim/decode.h"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "gfxsim/code_object.h"
#include "gfxsim/fault.h"
#include "gfxsim/numeric.h"
#include "gfxsim/ops/families.h"
#include "gfxsim/parse.h"

namespace gfxsim {
namespace {

// An inline constant printed as 0.15915494 is 1/(2*pi), to the precision of its format. (The 64-bit
// one is printed in full: its last digit is that of the truncated value.)
double inline_float(double printed) {
  constexpr double kInverseTwoPi = 0.15915494309189532;  // rounded towards 0
  return std::abs(printed - kInverseTwoPi) < 1e-6 ? kInverseTwoPi : printed;
}

// The bits of an inline constant or literal, as an operand of the given type reads them.
uint64_t constant_bits(const Operand& operand, Type type) {
  if (operand.is_float) {
    const double value = inline_float(operand.float_value);
    switch (type) {
      case Type::B16:
      case Type::F16:
      case Type::PkF16:
        return std::bit_cast<uint16_t>(static_cast<F16>(static_cast<float>(value)));
      case Type::BF16:
      case Type::PkBF16:
        return to_bf16(static_cast<float>(value)).bits;
      case Type::F64:
      case Type::B64:
      case Type::I64:
        return std::bit_cast<uint64_t>(operand.float_value);
      default:
        return std::bit_cast<uint32_t>(static_cast<float>(value));
    }
  }
  const uint64_t bits = operand.bits;
  switch (type) {
    case Type::B16:
    case Type::F16:
    case Type::BF16:
      return bits & 0xffff;
    case Type::F64:
      return operand.is_literal ? bits << 32 : bits;
    case Type::B64:
    case Type::LaneMask:
    case Type::Any:
      return bits;
    case Type::I64:
      return operand.is_literal ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(bits)}) : bits;
    default:
      return bits & 0xffffffff;
  }
}

void add_reg_range(std::array<RegMask, kMaxRegMasks>* masks, uint8_t* count, int first, int n) {
  for (int reg = first; reg < first + n; ++reg) {
    const uint8_t word = static_cast<uint8_t>(reg >> 6);
    const auto end = masks->begin() + *count;
    auto it =
        std::find_if(masks->begin(), end, [word](const RegMask& m) { return m.word == word; });
    if (it == end) {
      if (*count == kMaxRegMasks) throw DecodeError{"too many registers"};
      it->word = word;
      it->mask = 0;
      ++*count;
    }
    it->mask |= uint64_t{1} << (reg & 63);
  }
}

void add_operand_regs(std::array<RegMask, kMaxRegMasks>* masks, uint8_t* count,
                      const Operand& operand) {
  if (operand.is_vector()) add_reg_range(masks, count, operand.reg, operand.dwords);
  if (operand.is_scalar() && operand.reg != kNull)
    add_reg_range(masks, count, kScalarBase + operand.reg, operand.dwords);
}

void collect_registers(Inst* in) {
  const auto read = [in](const Operand& o) { add_operand_regs(&in->reads, &in->num_reads, o); };
  const auto write = [in](const Operand& o) { add_operand_regs(&in->writes, &in->num_writes, o); };
  for (int i = 0; i < in->num_dst; ++i) {
    write(in->dst(i));
    if (in->reads_dst) read(in->dst(i));
    if (in->dst(i).is_scalar() && in->dst(i).reg >= kExec) in->writes_exec = true;
  }
  for (int i = 0; i < in->num_src(); ++i) read(in->src(i));
  if (in->op->reads_m0) add_reg_range(&in->reads, &in->num_reads, kScalarBase + kM0, 1);
  if (in->op->reads_vcc) add_reg_range(&in->reads, &in->num_reads, kScalarBase + kVcc, 2);
}

bool is_16bit(Type type) { return type == Type::B16 || type == Type::F16 || type == Type::BF16; }

uint8_t result_wait_states(const Inst& in, const Target& target) {
  if (in.op->cls == OpClass::Transcendental)
    return static_cast<uint8_t>(target.transcendental_result_states);
  if (in.op->cls != OpClass::Mfma || in.op->passes == 0) return 0;
  // Only f32 and f64 operands are multiplied outside the XDL array.
  const bool xdl = !in.mnemonic.ends_with("f32") && !in.mnemonic.ends_with("f64");
  const int extra = !xdl                 ? target.matrix_result_states
                    : in.op->passes <= 2 ? target.matrix_result_states_xdl
                                         : target.matrix_result_states_xdl_long;
  return static_cast<uint8_t>(in.op->passes + extra);
}

void resolve_operation(Inst* in, const Target& target) {
  in->op = find_op(in->mnemonic);
  if (!in->op) throw DecodeError{"no such operation in the simulator"};
  in->run = in->op->run;
  in->propagate = in->op->propagate;
  in->num_dst = std::min(in->op->num_dst, in->num_operands);
  in->reads_dst = in->op->reads_dst;
  in->writes_exec = in->op->writes_exec;
  for (int i = 0; i < in->num_operands; ++i) {
    Operand& operand = in->operands[i];
    if (operand.is_constant()) operand.bits = constant_bits(operand, in->op->types[i]);
  }
  if (in->op->fixup) in->op->fixup(*in);
  if (in->mod.sdwa && in->mod.dst_unused == Unused::Preserve && in->mod.dst_sel != Sel::Dword)
    in->partial_write = true;
  if (in->dpp) in->partial_write = true;
  if (in->num_dst > 0 && is_16bit(in->op->types[0])) in->partial_write = true;
  in->plain = !in->mod.sdwa;
  const int sources = in->num_src() + (in->reads_dst ? 1 : 0);
  for (int i = 0; i < sources; ++i) {
    const Operand& operand = i < in->num_src() ? in->src(i) : in->dst();
    const bool direct = operand.is_vector() && !operand.neg && !operand.abs && !in->mod.sdwa &&
                        !(in->dpp && i == 0);
    in->direct_sources |= static_cast<uint8_t>(direct << i);
  }
  in->result_states = result_wait_states(*in, target);
  collect_registers(in);
}

void resolve_immediate(Inst* in) {
  if (in->num_operands == 0) return;
  const Operand& last = in->operands[in->num_operands - 1];
  if (last.is_constant() && !last.is_float && in->immediate == 0)
    in->immediate = static_cast<int32_t>(last.bits);
}

[[noreturn]] void run_undecodable(Wave&, const Inst& in) {
  // The decoder's reason is kept in the mnemonic's place.
  fail(in.size == 0 || in.text.empty() ? FaultKind::IllegalInstruction : FaultKind::Unsupported,
       in.text.empty() ? "bytes that are no instruction" : in.mnemonic);
}

const Op& undecodable_op() {
  static const Op op = [] {
    Op o;
    o.name = "(undecodable)";
    o.run = &run_undecodable;
    o.num_dst = 0;
    return o;
  }();
  return op;
}

bool is_direct_branch(const Inst& in) {
  return in.mnemonic == "s_branch" || in.mnemonic.starts_with("s_cbranch_") ||
         in.mnemonic == "s_call_b64";
}

}  // namespace

Inst decode_instruction(const DisassembledInstruction& line, const Target& target) {
  Inst in;
  in.address = line.address;
  in.size = line.size;
  in.text = line.text;
  try {
    if (line.text.empty()) throw DecodeError{"bytes that are no instruction"};
    parse_instruction(line.text, target, &in);
    resolve_immediate(&in);
    resolve_operation(&in, target);
  } catch (const DecodeError& error) {
    in.op = &undecodable_op();
    in.run = in.op->run;
    in.propagate = nullptr;
    in.num_operands = in.num_dst = in.num_reads = in.num_writes = 0;
    in.mnemonic = error.message;
  }
  return in;
}

void recollect_registers(Inst* in) {
  in->num_reads = in->num_writes = 0;
  collect_registers(in);
}

std::unique_ptr<const Program> decode_program(const CodeObject& object) {
  auto program = std::make_unique<Program>();
  program->target = find_target(object.target());
  if (!program->target)
    throw std::runtime_error("gfxsim: target " + object.target() + " is not simulated");
  program->base = object.text_address();
  program->at_dword.assign((object.text().size() + 3) / 4, -1);
  std::vector<DisassembledInstruction> lines =
      disassemble(object.target(), object.text(), object.text_address());
  // Falling off the end reaches bytes that are no instruction.
  DisassembledInstruction end;
  end.address = program->base + program->at_dword.size() * 4;
  lines.push_back(end);
  for (const DisassembledInstruction& line : lines) {
    Inst in = decode_instruction(line, *program->target);
    in.index = static_cast<uint32_t>(program->instructions.size());
    const uint64_t dword = (line.address - program->base) / 4;
    if (dword < program->at_dword.size()) program->at_dword[dword] = static_cast<int32_t>(in.index);
    program->instructions.push_back(std::move(in));
  }
  for (Inst& in : program->instructions) {
    if (!is_direct_branch(in)) continue;
    // Distance in dwords from the next instruction, a signed 16-bit field printed unsigned.
    const int64_t distance = int64_t{static_cast<int16_t>(in.immediate)} * 4;
    in.target = program->find(in.address + in.size + static_cast<uint64_t>(distance));
  }
  return program;
}

const Program& CodeObject::program() const {
  std::call_once(decode_once_, [this] { program_ = decode_program(*this); });
  return *program_;
}

}  // namespace gfxsim
