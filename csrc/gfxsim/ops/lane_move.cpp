// Operations that move values between lanes, between the vector and the scalar registers, or
// between registers in place. They carry undefined bits along themselves.
#include <bit>
#include <string>
#include <utility>

#include "gfxsim/lane_op.h"
#include "gfxsim/ops/families.h"

namespace gfxsim {
namespace {

uint32_t selected_lane(const Wave& w, const Operand& select) {
  w.require_defined(select, 0, "which lane is accessed");
  return w.scalar_value(select, 0) & (kMaxLanes - 1);
}

void copy_lane_to_scalar(Wave& w, const Inst& in, int lane) {
  w.set_scalar(in.dst().reg, w.lane_value(in.src(0), 0, lane), w.lane_undef(in.src(0), 0, lane));
}

void v_readlane(Wave& w, const Inst& in) {
  copy_lane_to_scalar(w, in, static_cast<int>(selected_lane(w, in.src(1))));
}

// Lane 0 when no lane is active.
void v_readfirstlane(Wave& w, const Inst& in) {
  copy_lane_to_scalar(w, in, w.exec() ? std::countr_zero(w.exec()) : 0);
}

// Whatever the exec mask.
void v_writelane(Wave& w, const Inst& in) {
  const uint32_t lane = selected_lane(w, in.src(1));
  const int reg = in.dst().reg;
  w.v[reg][lane] = w.scalar_value(in.src(0), 0);
  const uint32_t undef = w.lane_undef(in.src(0), 0, static_cast<int>(lane));
  if (undef == 0 && !w.maybe_undef(reg)) return;
  w.undef_row(reg)[lane] = undef;
  w.settle_undef(reg);
}

// Calls exchange(row of the first register, row of the second) for the values, and for the
// undefined bits where either register may have some.
template <class Exchange>
void exchange_registers(Wave& w, const Inst& in, Exchange exchange) {
  const int a = in.dst(0).reg, b = in.dst(1).reg;
  exchange(w.v[a], w.v[b]);
  if (!w.maybe_undef(a) && !w.maybe_undef(b)) return;
  exchange(w.undef_row(a), w.undef_row(b));
  w.settle_undef(a);
  w.settle_undef(b);
}

void v_swap(Wave& w, const Inst& in) {
  const uint64_t exec = w.exec();
  exchange_registers(w, in, [exec](LaneRow& a, LaneRow& b) {
    for (int lane = 0; lane < kMaxLanes; ++lane) {
      const bool active = exec >> lane & 1;
      const uint32_t was_a = a[lane], was_b = b[lane];
      a[lane] = active ? was_b : was_a;
      b[lane] = active ? was_a : was_b;
    }
  });
}

// The upper group of `Group` lanes of each pair in the first register changes places with the lower
// group of the pair in the second.
template <int Group>
void v_permlane_swap(Wave& w, const Inst& in) {
  const uint64_t exec = w.exec();
  if (exec != ~uint64_t{0}) {
    for (int lane = 0; lane < kMaxLanes; ++lane) {
      const int partner = lane ^ Group;
      if ((exec >> lane & 1) && !(exec >> partner & 1))
        fail_lane(FaultKind::Unsupported, lane,
                  "the lane exchanges with inactive lane " + std::to_string(partner) +
                      ", for which no result is documented");
    }
  }
  exchange_registers(w, in, [exec](LaneRow& first, LaneRow& second) {
    for (int pair = 0; pair < kMaxLanes; pair += 2 * Group)
      for (int lower = pair; lower < pair + Group; ++lower)
        if (exec >> lower & 1) std::swap(second[lower], first[lower + Group]);
  });
}

Op scalar_result_op(std::string_view name, Handler run) {
  Op op;
  op.name = name;
  op.cls = OpClass::Valu;
  op.run = run;
  op.types = {Type::B32, Type::B32, Type::B32};
  return op;
}

Op writelane_op() {
  Op op;
  op.name = "v_writelane_b32";
  op.cls = OpClass::Valu;
  op.run = &v_writelane;
  op.types = {Type::B32, Type::B32, Type::B32};
  op.fixup = [](Inst& in) { in.partial_write = true; };
  return op;
}

Op exchange_op(std::string_view name, Handler run) {
  Op op;
  op.name = name;
  op.cls = OpClass::Valu;
  op.run = run;
  op.num_dst = 2;
  op.reads_dst = true;
  op.types = {Type::B32, Type::B32};
  return op;
}

Op copy_op(std::string_view name) {
  return lane_op<uint32_t(uint32_t), LaneOpOptions{.undef = Undef::Bits}>(
      name, [](uint32_t x) { return x; });
}

}  // namespace

std::vector<Op> lane_move_ops() {
  return {
      scalar_result_op("v_readlane_b32", &v_readlane),
      scalar_result_op("v_readfirstlane_b32", &v_readfirstlane),
      writelane_op(),
      exchange_op("v_swap_b32", &v_swap),
      exchange_op("v_permlane16_swap_b32", &v_permlane_swap<16>),
      exchange_op("v_permlane32_swap_b32", &v_permlane_swap<32>),
      copy_op("v_accvgpr_read_b32"),
      copy_op("v_accvgpr_write_b32"),
      copy_op("v_accvgpr_mov_b32"),
  };
}

}  // namespace gfxsim
