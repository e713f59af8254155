#include "gfxsim/executor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "gfxsim/address_space.h"
#include "gfxsim/dispatch.h"
#include "gfxsim/source_location.h"
#include "gfxsim/workgroup.h"

namespace gfxsim {
namespace {

// xorshift64*, seeded for each workgroup, so that a schedule does not depend on the host threads.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d) {
    if (state_ == 0) state_ = 1;
    next();
  }
  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1d;
  }
  uint32_t below(uint32_t limit) {
    return static_cast<uint32_t>((next() >> 32) * uint64_t{limit} >> 32);
  }

 private:
  uint64_t state_;
};

std::string register_name(int reg) {
  if (reg >= kScalarBase) return "s" + std::to_string(reg - kScalarBase);
  if (reg >= kAgprBase) return "a" + std::to_string(reg - kAgprBase);
  return "v" + std::to_string(reg);
}

bool is_load(OpClass cls) {
  return cls == OpClass::VmemLoad || cls == OpClass::LdsRead || cls == OpClass::Smem;
}

bool is_vector_alu(OpClass cls) {
  return cls == OpClass::Valu || cls == OpClass::Transcendental || cls == OpClass::Mfma;
}

bool holds(const Operand& operand, int reg) {
  return operand.is_vector() && reg >= operand.reg && reg < operand.reg + operand.dwords;
}

// A register that an operation without interlock has written, used by `in`: faults when that is
// too early, forgets the hazard when it is over.
void check_result(Wave& w, const Inst& in, int reg, bool writing) {
  const uint64_t now = w.wait_states;
  const bool matrix = w.result_of_matrix[reg];
  const bool simple_alu = in.op->cls == OpClass::Valu || in.op->cls == OpClass::Transcendental;
  const bool may_overwrite = writing && !(matrix && simple_alu);
  if (may_overwrite || now >= w.result_ready[reg]) {
    w.pending[reg >> 6] &= ~(uint64_t{1} << (reg & 63));
    return;
  }
  // An accumulator is forwarded to the next matrix operation; the factors are not.
  if (in.op->cls == OpClass::Mfma && !holds(in.src(0), reg) && !holds(in.src(1), reg)) return;
  if (!matrix && (in.op->cls == OpClass::Transcendental || !is_vector_alu(in.op->cls))) return;
  fail(FaultKind::MissingWait, register_name(reg) + " is " + (writing ? "overwritten " : "used ") +
                                   std::to_string(w.result_ready[reg] - now) +
                                   " wait states too early: it is the result of a " +
                                   (matrix ? "matrix" : "transcendental") +
                                   " operation, which the hardware does not wait for (s_nop)");
}

// The instruction touches a register that a load in flight will write. Loads of one kind return in
// order, so a second one into the same register (the other half of it, say) is fine.
void check_pending(Wave& w, const Inst& in, std::span<const RegMask> masks, bool writing) {
  for (const RegMask& m : masks) {
    uint64_t hit = w.pending[m.word] & m.mask;
    for (; hit; hit &= hit - 1) {
      const int reg = m.word * 64 + std::countr_zero(hit);
      if (!w.owns(reg))
        fail(FaultKind::IllegalInstruction,
             register_name(reg) + " is not among the registers that the kernel has allocated");
      if (w.pending_count[reg] == 0) {
        check_result(w, in, reg, writing);
        continue;
      }
      const bool same_order =
          writing && is_load(in.op->cls) && w.pending_event[reg] != MemEvent::Smem &&
          (in.op->cls == OpClass::LdsRead) == (w.pending_event[reg] == MemEvent::Lds);
      if (same_order) continue;
      fail(FaultKind::MissingWait,
           register_name(reg) + (writing ? " is overwritten" : " is used") +
               " while a load into it is in flight; no s_waitcnt covers it");
    }
  }
}

// Notes when the result of `in`, which the hardware does not interlock, may be read.
void note_result(Wave& w, const Inst& in) {
  const Operand& dst = in.dst();
  if (!dst.is_vector()) return;
  for (int reg = dst.reg; reg < dst.reg + dst.dwords; ++reg) {
    w.result_ready[reg] = w.wait_states + 1 + in.result_states;
    w.result_of_matrix.set(reg, in.op->cls == OpClass::Mfma);
    w.pending[reg >> 6] |= uint64_t{1} << (reg & 63);
  }
}

bool any_bit(const uint64_t* bitmap, const RegMask* masks, int count) {
  uint64_t hit = 0;
  for (int i = 0; i < count; ++i) hit |= bitmap[masks[i].word] & masks[i].mask;
  return hit != 0;
}

void execute(Wave& w, const Inst& in) {
  if (any_bit(w.pending, in.reads.data(), in.num_reads)) [[unlikely]]
    check_pending(w, in, {in.reads.data(), in.num_reads}, false);
  if (any_bit(w.pending, in.writes.data(), in.num_writes)) [[unlikely]]
    check_pending(w, in, {in.writes.data(), in.num_writes}, true);

  if (in.propagate) {
    bool track =
        any_bit(w.undef_any, in.reads.data(), in.num_reads) || (in.op->reads_scc && w.scc_undef);
    if (!track && any_bit(w.undef_any, in.writes.data(), in.num_writes)) {
      if (in.partial_write || (in.op->cls != OpClass::Salu && w.exec() != w.full_exec())) {
        track = true;
      } else {
        for (int i = 0; i < in.num_writes; ++i)
          w.undef_any[in.writes[i].word] &= ~in.writes[i].mask;
      }
    }
    if (track) {
      in.propagate(w, in);
    } else {
      in.run(w, in);
      if (in.op->writes_scc) w.scc_undef = false;
    }
  } else {
    in.run(w, in);
  }
  if (in.result_states) note_result(w, in);
  if (in.writes_exec && (w.scalar_undef(kExec) | w.scalar_undef(kExec + 1))) [[unlikely]]
    fail(FaultKind::UndefinedValue, "the exec mask depends on bits that were never written");
}

class WorkgroupRunner {
 public:
  // Gives up when `stop` is set.
  WorkgroupRunner(const LaunchConfig& config, const Program& program, const Dispatch& dispatch,
                  const std::atomic<bool>& stop)
      : config_(config),
        program_(program),
        dispatch_(dispatch),
        stop_(stop),
        waves_(dispatch.num_waves()) {
    counters_.executed.assign(program.instructions.size(), 0);
    workgroup_.launch = &config;
    workgroup_.waves.resize(dispatch.num_waves());
  }

  void run(uint64_t linear_id, uint64_t seed) {
    dispatch_.begin_workgroup(linear_id, &workgroup_);
    for (uint32_t i = 0; i < workgroup_.waves.size(); ++i) {
      Wave& w = workgroup_.waves[i];
      w = Wave{};
      w.v = waves_[i].values.get();
      w.v_undef = waves_[i].undef.get();
      w.counters = &counters_;
      w.id = i;
      w.workgroup = &workgroup_;
      dispatch_.begin_wave(&w);
      w.ip = program_.find(config_.kernel.entry + dispatch_.entry_offset());
      if (!w.ip) fail(FaultKind::IllegalInstruction, "the kernel's entry is no instruction");
    }
    Random random(seed ^ (linear_id + 1) * 0xd1342543de82ef95);
    schedule(random);
  }

  LaunchCounters& counters() { return counters_; }

 private:
  struct Registers {
    Registers() : values(new LaneRow[kNumVectorRegs]), undef(new LaneRow[kNumVectorRegs]) {}
    std::unique_ptr<LaneRow[]> values, undef;
  };

  void schedule(Random& random) {
    constexpr uint32_t kLongestTurn = 64;  // instructions
    constexpr uint32_t kAloneTurn = 1 << 16;
    auto& waves = workgroup_.waves;
    std::vector<uint32_t> ready(waves.size());
    std::iota(ready.begin(), ready.end(), 0);
    while (!stop_) {
      if (ready.empty()) {
        if (!release_barrier(&ready)) return;
        continue;
      }
      const uint32_t pick = random.below(static_cast<uint32_t>(ready.size()));
      Wave& w = waves[ready[pick]];
      const uint32_t turn = ready.size() == 1 ? kAloneTurn : 1 + random.below(kLongestTurn);
      run_wave(w, turn);
      if (w.status != WaveStatus::Running) {
        ready[pick] = ready.back();
        ready.pop_back();
      }
    }
  }

  // All waves wait or have ended. False when the workgroup is done.
  bool release_barrier(std::vector<uint32_t>* ready) {
    Wave* waiting = nullptr;
    Wave* ended = nullptr;
    for (Wave& w : workgroup_.waves) (w.status == WaveStatus::AtBarrier ? waiting : ended) = &w;
    if (!waiting) return false;
    if (ended) {
      const Inst* barrier = waiting->ip - 1;
      locate(*waiting, *barrier, [&] {
        fail(FaultKind::BarrierNotReached,
             "wave " + std::to_string(ended->id) + " ended, and the others wait for it here");
      });
    }
    locate(*waiting, *(waiting->ip - 1), [&] { workgroup_.lds.barrier(workgroup_.waves); });
    for (Wave& w : workgroup_.waves) {
      w.status = WaveStatus::Running;
      ready->push_back(w.id);
    }
    return true;
  }

  void run_wave(Wave& w, uint32_t turn) {
    const uint64_t budget = executor_options().instruction_budget;
    const Inst* current = w.ip;
    locate_current(w, current, [&] {
      uint64_t* executed = counters_.executed.data();
      for (; turn > 0 && w.status == WaveStatus::Running; --turn) {
        current = w.ip;
        const Inst& in = *current;
        if (++w.executed > budget) [[unlikely]]
          fail(FaultKind::InstructionBudget, "the wave has executed " + std::to_string(budget) +
                                                 " instructions; an endless loop?");
        ++executed[in.index];
        ++w.wait_states;
        w.ip = current + 1;
        execute(w, in);
      }
    });
  }

  // Runs `body`; a Fault leaves it with the place of `current` in it.
  template <class Body>
  void locate_current(const Wave& w, const Inst*& current, Body body) {
    try {
      body();
    } catch (Fault& fault) {
      add_location(&fault, w, *current);
      throw;
    }
  }
  template <class Body>
  void locate(const Wave& w, const Inst& in, Body body) {
    const Inst* current = &in;
    locate_current(w, current, body);
  }

  void add_location(Fault* fault, const Wave& w, const Inst& in) const {
    if (fault->located) return;
    fault->located = true;
    fault->kernel = config_.kernel.name;
    fault->workgroup = workgroup_.id;
    fault->wave = static_cast<int>(w.id);
    fault->pc = in.address - config_.object.load_bias();
    fault->instruction = in.text;
  }

  const LaunchConfig& config_;
  const Program& program_;
  const Dispatch& dispatch_;
  const std::atomic<bool>& stop_;
  std::vector<Registers> waves_;
  Workgroup workgroup_;
  LaunchCounters counters_;
};

std::vector<uint64_t> workgroup_order(uint64_t count, uint64_t seed) {
  std::vector<uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (seed == 0) return order;
  Random random(seed);
  for (uint64_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.next() % i]);
  return order;
}

LaunchStats summarize(const LaunchConfig& config, const Program& program, const Dispatch& dispatch,
                      LaunchCounters counters) {
  LaunchStats stats;
  stats.kernel = config.kernel.name;
  stats.target = config.object.target();
  stats.workgroups = dispatch.num_workgroups();
  stats.waves = stats.workgroups * dispatch.num_waves();
  for (const Inst& in : program.instructions) {
    const uint64_t n = counters.executed[in.index];
    if (n == 0) continue;
    stats.instructions += n;
    stats.by_class[static_cast<int>(in.op->cls)] += n;
    stats.mfma_passes += n * in.op->passes;
    stats.per_instruction.push_back(
        {in.text, in.address - config.object.load_bias(), in.op->cls, n});
  }
  stats.counters = std::move(counters);
  stats.vgprs = static_cast<int>(config.kernel.vgprs);
  stats.agprs = static_cast<int>(config.kernel.agprs);
  stats.sgprs = static_cast<int>(config.kernel.sgprs);
  stats.lds_bytes = config.kernel.lds_bytes + config.dynamic_lds;
  stats.scratch_bytes = config.kernel.scratch_bytes;
  stats.occupancy_waves_per_simd = occupancy_waves_per_simd(*program.target, config.kernel,
                                                            stats.lds_bytes, dispatch.num_waves());
  return stats;
}

// A number; 0 when there is none.
uint64_t from_environment(const char* name) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 0) : 0;
}

// Runs all workgroups, spread over the host's threads. Throws the first Fault.
LaunchCounters run_workgroups(const LaunchConfig& config, const Program& program,
                              const Dispatch& dispatch) {
  const ExecutorOptions options = executor_options();
  const uint64_t count = dispatch.num_workgroups();
  const std::vector<uint64_t> order = workgroup_order(count, options.seed);

  std::mutex mutex;  // guards `total` and `first_fault`
  LaunchCounters total;
  total.executed.assign(program.instructions.size(), 0);
  std::exception_ptr first_fault;
  std::atomic<uint64_t> next{0};
  std::atomic<bool> stop{false};
  const auto work = [&] {
    try {
      WorkgroupRunner runner(config, program, dispatch, stop);
      for (uint64_t i; !stop && (i = next.fetch_add(1)) < count;)
        runner.run(order[i], options.seed);
      const std::lock_guard lock(mutex);
      total.merge(runner.counters());
    } catch (...) {
      stop = true;
      const std::lock_guard lock(mutex);
      if (!first_fault) first_fault = std::current_exception();
    }
  };

  const uint64_t wanted = options.threads > 0 ? static_cast<uint64_t>(options.threads)
                                              : std::max(1u, std::thread::hardware_concurrency());
  const uint64_t num_threads = std::min(wanted, count);
  std::vector<std::thread> threads;
  try {
    for (uint64_t t = 1; t < num_threads; ++t) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // The host gives no more threads: those that run do the work.
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (first_fault) std::rethrow_exception(first_fault);
  return total;
}

// The library is compiled for processors that have these.
void require_host_processor() {
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c"))
    return;
  throw std::runtime_error("gfxsim: the host processor lacks AVX2, FMA or F16C");
}

}  // namespace

ExecutorOptions& executor_options() {
  static ExecutorOptions options{.seed = from_environment("GFXSIM_SEED")};
  return options;
}

LaunchStats launch(const LaunchConfig& config) {
  const auto start = std::chrono::steady_clock::now();
  require_host_processor();
  const Program& program = config.object.program();
  const Dispatch dispatch(config, *program.target);
  LaunchCounters counters;
  try {
    counters = run_workgroups(config, program, dispatch);
  } catch (Fault& fault) {
    if (fault.located && !fault.instruction.empty())
      fault.source = source_location(config.object, fault.pc);
    fault.kernel = config.kernel.name;
    fault.text.clear();
    throw;
  }
  LaunchStats stats = summarize(config, program, dispatch, std::move(counters));
  stats.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return stats;
}

const Inst* inst_at(const Wave& w, uint64_t address) {
  const Inst* in = w.workgroup->launch->object.program().find(address);
  if (!in) fail(FaultKind::IllegalInstruction, "a jump to an address where no instruction starts");
  return in;
}

int occupancy_waves_per_simd(const Target& target, const Kernel& kernel, uint32_t lds_bytes,
                             uint32_t waves_per_workgroup) {
  const auto round_up = [](uint32_t n, uint32_t granule) {
    return (n + granule - 1) / granule * granule;
  };
  const uint32_t vgprs = std::max(kernel.allocated_vgprs, uint32_t(target.vgpr_granule));
  uint32_t waves = std::min<uint32_t>(target.max_waves_per_simd,
                                      static_cast<uint32_t>(target.vgprs_per_simd) / vgprs);
  const uint32_t most_sgprs = static_cast<uint32_t>(target.sgprs_per_simd);
  const uint32_t sgprs = round_up(std::clamp(kernel.sgprs, 1u, most_sgprs), target.sgpr_granule);
  waves = std::min(waves, static_cast<uint32_t>(target.sgprs_per_simd) / sgprs);
  if (lds_bytes > 0) {
    const uint32_t workgroups = target.lds_bytes / round_up(lds_bytes, target.lds_granule);
    const uint32_t by_lds =
        workgroups * waves_per_workgroup / static_cast<uint32_t>(target.simds_per_cu);
    waves = std::min(waves, std::max(by_lds, workgroups > 0 ? 1u : 0u));
  }
  return static_cast<int>(waves);
}

}  // namespace gfxsim
