#include "gfxsim/lane_data.h"

#include "gfxsim/lane_io.h"

namespace gfxsim {
namespace {

// On the undefined plane, sign extension copies the sign's undefinedness.
void extend(uint32_t* row, MemoryType type) {
  const int unused = 32 - 8 * type.bytes;
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    const uint32_t high = row[lane] << unused;
    row[lane] = type.sign_extend ? static_cast<uint32_t>(static_cast<int32_t>(high) >> unused)
                                 : high >> unused;
  }
}

void merge_half(uint32_t* row, const uint32_t* old, Half half) {
  for (int lane = 0; lane < kMaxLanes; ++lane)
    row[lane] = half == Half::Low ? (old[lane] & 0xffff0000) | (row[lane] & 0xffff)
                                  : (old[lane] & 0xffff) | row[lane] << 16;
}

}  // namespace

void LaneData::track_undef(int dwords) {
  if (!any_undef) std::memset(undef, 0, sizeof(LaneRow) * static_cast<size_t>(dwords));
  any_undef = true;
}

void LaneData::clear(int dwords) {
  std::memset(value, 0, sizeof(LaneRow) * static_cast<size_t>(dwords));
  any_undef = false;
}

void read_data(const Wave& w, const Operand& operand, int first, int dwords, LaneData* data) {
  data->any_undef = false;
  for (int d = 0; d < dwords; ++d) {
    if (operand.is_vector()) {
      std::memcpy(data->value[d], w.v[operand.reg + first + d], sizeof(LaneRow));
    } else {
      const uint32_t value = w.scalar_value(operand, first + d);
      for (int lane = 0; lane < kMaxLanes; ++lane) data->value[d][lane] = value;
    }
  }
  for (int d = 0; d < dwords; ++d) {
    const int reg = operand.reg + first + d;
    if (!operand.is_vector() || !w.maybe_undef(reg)) continue;
    data->track_undef(dwords);
    std::memcpy(data->undef[d], w.v_undef[reg], sizeof(LaneRow));
  }
}

void extend_data(MemoryType type, LaneData* data) {
  if (type.bytes >= 4) return;
  extend(data->value[0], type);
  if (data->any_undef) extend(data->undef[0], type);
}

void write_data(Wave& w, int reg, MemoryType type, LaneData* data, uint64_t mask) {
  extend_data(type, data);
  if (type.half != Half::None) {
    merge_half(data->value[0], w.v[reg], type.half);
    if (w.maybe_undef(reg)) data->track_undef(1);
    if (data->any_undef) merge_half(data->undef[0], w.undef_row(reg), type.half);
  }
  for (int d = 0; d < type.dwords(); ++d) {
    blend_row(w.v[reg + d], data->value[d], mask);
    if (data->any_undef) {
      blend_row(w.undef_row(reg + d), data->undef[d], mask);
      w.settle_undef(reg + d);
    } else if (w.maybe_undef(reg + d)) {
      if (mask == w.full_exec()) {
        w.set_maybe_undef(reg + d, false);
      } else {
        for_lanes(mask, [&](int lane) { w.v_undef[reg + d][lane] = 0; });
        w.settle_undef(reg + d);
      }
    }
  }
}

}  // namespace gfxsim
