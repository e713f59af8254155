// Program control: branches, waits, barriers, the end of the program, messages (SOPP), and the
// index mode of vector registers.
#include <string>

#include "gfxsim/decode.h"
#include "gfxsim/executor.h"
#include "gfxsim/ops/families.h"
#include "gfxsim/wave.h"

namespace gfxsim {
namespace {

void do_nothing(Wave&, const Inst&) {}

// Waits one state more than its argument; the executor has counted one.
void no_operation(Wave& w, const Inst& in) {
  constexpr uint64_t kCountMask = 0xf;
  w.wait_states += static_cast<uint64_t>(in.immediate) & kCountMask;
}

// --- branches ---

void take_branch(Wave& w, const Inst& in) {
  if (!in.target) fail(FaultKind::IllegalInstruction, "the branch leads to no instruction");
  w.ip = in.target;
}

bool scc_set(const Wave& w) {
  if (w.scc_undef)
    fail(FaultKind::UndefinedValue,
         "SCC depends on bits that were never written, and decides a branch");
  return w.scc;
}

bool vcc_zero(const Wave& w) {
  const uint64_t undef = w.scalar_undef(kVcc) | uint64_t{w.scalar_undef(kVcc + 1)} << 32;
  const uint64_t lanes = w.full_exec();
  if (w.vcc() & ~undef & lanes) return false;
  if (undef & lanes)
    fail(FaultKind::UndefinedValue, "vcc holds bits that were never written, and decides a branch");
  return true;
}

bool exec_zero(const Wave& w) { return w.exec() == 0; }

template <bool (*kCondition)(const Wave&), bool kExpected>
void branch_if(Wave& w, const Inst& in) {
  if (kCondition(w) == kExpected) take_branch(w, in);
}

// --- end, waits, barriers ---

void end_program(Wave& w, const Inst&) { w.status = WaveStatus::Ended; }

void wait_counters(Wave& w, const Inst& in) {
  if (w.in_flight.empty()) return;
  for (int i = 0; i < kNumCounters; ++i)
    if (in.wait[i] != kNoWait) w.wait(static_cast<Counter>(i), in.wait[i]);
}

void reach_barrier(Wave& w, const Inst&) { w.status = WaveStatus::AtBarrier; }

// --- traps and messages ---

// __builtin_trap() and failed assertions end in trap 2; trap 3 is for debuggers, and a no-op
// without one.
void trap(Wave&, const Inst& in) {
  constexpr int32_t kDebugTrap = 3;
  const int32_t number = in.immediate & 0xff;
  if (number == kDebugTrap) return;
  fail(FaultKind::Trap, "the kernel stopped itself with trap " + std::to_string(number));
}

void send_message(Wave&, const Inst& in) {
  if (in.text.find("MSG_DEALLOC_VGPRS") != std::string::npos) return;
  fail(FaultKind::Unsupported, "messages to the host: " + in.text);
}

void halt(Wave&, const Inst& in) {
  if (in.immediate & 1)
    fail(FaultKind::Unsupported, in.mnemonic + " stops the wave for a debugger");
}

// --- vector registers named by an index ---

// M0 holds the index in its low bits, and which operands it moves from kIndexModeShift on.
constexpr uint32_t kIndexMask = 0xff, kIndexModeShift = 12, kIndexModeMask = 0xf;
constexpr int kIndexSources = 3;  // mode bits 0 to 2; bit 3 is the destination
constexpr std::string_view kIndexEnd = "s_set_gpr_idx_off";

void move_register(Operand* operand, uint32_t index) {
  if (!operand->is_vector()) return;
  if (operand->reg >= kAgprBase) fail(FaultKind::Unsupported, "an AGPR as an indexed operand");
  const uint32_t moved = operand->reg + index;
  if (moved + operand->dwords > kAgprBase)
    fail(FaultKind::IllegalInstruction, "index " + std::to_string(index) + " leads to v" +
                                            std::to_string(moved) + ", past the last register");
  operand->reg = static_cast<uint16_t>(moved);
}

// Only vector operations use the index; the compiler puts scalar ones and waits between them.
Inst with_index(const Inst& in, uint32_t index, uint32_t mode) {
  const OpClass cls = in.op->cls;
  Inst out = in;
  if (cls == OpClass::Salu || cls == OpClass::Smem || cls == OpClass::Wait ||
      in.mnemonic == "s_nop")
    return out;
  if (cls != OpClass::Valu && cls != OpClass::Transcendental)
    fail(FaultKind::Unsupported, "'" + in.text + "' while vector registers are indexed");
  for (int i = 0; i < in.num_dst; ++i)
    if (mode >> kIndexSources & 1) move_register(&out.operands[i], index);
  for (int i = 0; i < in.num_src() && i < kIndexSources; ++i)
    if (mode >> i & 1) move_register(&out.operands[in.num_dst + i], index);
  recollect_registers(&out);
  return out;
}

void begin_indexing(Wave& w, const Inst& in) {
  const Operand& source = in.src(0);
  w.require_defined(source, 0, "which vector registers are used");
  const uint32_t index = w.scalar_value(source, 0) & kIndexMask;
  const uint32_t mode = static_cast<uint32_t>(in.immediate) & kIndexModeMask;
  constexpr uint32_t kWritten = kIndexMask | kIndexModeMask << kIndexModeShift;
  w.set_scalar(kM0, (w.s[kM0] & ~kWritten) | index | mode << kIndexModeShift,
               w.scalar_undef(kM0) & ~kWritten);
  w.indexed.clear();
  const Inst* next = w.ip;
  for (; next->mnemonic != kIndexEnd; ++next) w.indexed.push_back(with_index(*next, index, mode));
  w.indexed.push_back(*next);
  w.ip = w.indexed.data();
}

// Back from Wave::indexed to the program.
void end_indexing(Wave& w, const Inst& in) { w.ip = inst_at(w, in.address + in.size); }

Op row(std::string_view name, OpClass cls, Handler run) {
  Op op;
  op.name = name;
  op.cls = cls;
  op.run = run;
  op.num_dst = 0;
  return op;
}

Op branch_row(std::string_view name, Handler run) { return row(name, OpClass::Branch, run); }

}  // namespace

std::vector<Op> program_ops() {
  std::vector<Op> ops;
  ops.push_back(branch_row("s_branch", &take_branch));
  Op scc0 = branch_row("s_cbranch_scc0", &branch_if<scc_set, false>);
  Op scc1 = branch_row("s_cbranch_scc1", &branch_if<scc_set, true>);
  scc0.reads_scc = scc1.reads_scc = true;
  Op vccz = branch_row("s_cbranch_vccz", &branch_if<vcc_zero, true>);
  Op vccnz = branch_row("s_cbranch_vccnz", &branch_if<vcc_zero, false>);
  vccz.reads_vcc = vccnz.reads_vcc = true;
  ops.insert(ops.end(), {scc0, scc1, vccz, vccnz});
  ops.push_back(branch_row("s_cbranch_execz", &branch_if<exec_zero, true>));
  ops.push_back(branch_row("s_cbranch_execnz", &branch_if<exec_zero, false>));
  // The debugger's conditions are never set.
  for (std::string_view name : {"s_cbranch_cdbgsys", "s_cbranch_cdbguser",
                                "s_cbranch_cdbgsys_or_user", "s_cbranch_cdbgsys_and_user"})
    ops.push_back(branch_row(name, &do_nothing));

  ops.push_back(row("s_endpgm", OpClass::Other, &end_program));
  ops.push_back(row("s_endpgm_saved", OpClass::Other, &end_program));
  ops.push_back(row("s_waitcnt", OpClass::Wait, &wait_counters));
  ops.push_back(row("s_barrier", OpClass::Barrier, &reach_barrier));
  ops.push_back(row("s_nop", OpClass::Other, &no_operation));
  // Timing, priority, tracing and caches, none of which change results here.
  for (std::string_view name : {"s_sleep", "s_setprio", "s_wakeup", "s_icache_inv", "s_ttracedata",
                                "s_incperflevel", "s_decperflevel", "s_code_end"})
    ops.push_back(row(name, OpClass::Other, &do_nothing));

  ops.push_back(row("s_set_gpr_idx_on", OpClass::Salu, &begin_indexing));
  ops.push_back(row(kIndexEnd, OpClass::Salu, &end_indexing));
  ops.push_back(row("s_trap", OpClass::Other, &trap));
  ops.push_back(row("s_sendmsg", OpClass::Other, &send_message));
  ops.push_back(row("s_sethalt", OpClass::Other, &halt));
  ops.push_back(row("s_setkill", OpClass::Other, &halt));
  return ops;
}

}  // namespace gfxsim
