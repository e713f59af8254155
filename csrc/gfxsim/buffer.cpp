#include "gfxsim/buffer.h"

#include <algorithm>

#include "gfxsim/text.h"

namespace gfxsim {
namespace {

constexpr uint32_t kSwizzleElementBytes = 4;

struct LaneRequest {
  uint32_t index = 0, offset = 0;
};

// Byte of the buffer for a byte of a record.
uint64_t buffer_offset(const BufferDescriptor& d, uint32_t stride, uint32_t index,
                       uint32_t offset) {
  if (!d.swizzle) return offset + uint64_t{stride} * index;
  const uint32_t index_high = index / d.index_stride, index_low = index % d.index_stride;
  const uint32_t element = offset / kSwizzleElementBytes, byte = offset % kSwizzleElementBytes;
  return (uint64_t{index_high} * stride + uint64_t{element} * kSwizzleElementBytes) *
             d.index_stride +
         uint64_t{index_low} * kSwizzleElementBytes + byte;
}

}  // namespace

BufferDescriptor BufferDescriptor::from_dwords(const std::array<uint32_t, 4>& dwords) {
  const auto field = [&dwords](int dword, int shift, int width) {
    return dwords[dword] >> shift & ((1u << width) - 1);
  };
  BufferDescriptor d;
  d.base = dwords[0] | uint64_t{field(1, 0, 16)} << 32;
  d.stride = field(1, 16, 14);
  d.swizzle = field(1, 31, 1);
  d.num_records = dwords[2];
  for (int i = 0; i < 4; ++i) d.dst_sel[i] = static_cast<uint8_t>(field(3, 3 * i, 3));
  d.num_format = static_cast<uint8_t>(field(3, 12, 3));
  d.data_format = static_cast<uint8_t>(field(3, 15, 4));
  d.index_stride = 8u << field(3, 21, 2);
  d.add_tid = field(3, 23, 1);
  return d;
}

BufferAddresses buffer_addresses(const Wave& w, const Inst& in, const Operand& vaddr,
                                 const BufferDescriptor& d, uint32_t scalar_offset,
                                 const BufferRequest& request) {
  constexpr int kStrideBits = 14;
  const uint64_t exec = w.exec();
  const bool idxen = in.mod.idxen, offen = in.mod.offen;
  if (idxen || offen) w.require_defined(vaddr, exec, "a buffer address");
  const uint32_t stride = d.add_tid && !request.formatted
                              ? d.stride | uint32_t{d.data_format} << kStrideBits
                              : d.stride;
  const bool by_index = stride != 0 && idxen;
  const uint64_t base = d.base + scalar_offset;
  const uint32_t* index_row = idxen ? w.v[vaddr.reg] : nullptr;
  const uint32_t* offset_row = offen ? w.v[vaddr.reg + idxen] : nullptr;
  const uint32_t inst_offset = static_cast<uint32_t>(in.mod.offset);
  const auto lane_request = [&](int lane) {
    return LaneRequest{
        (idxen ? index_row[lane] : 0) + (d.add_tid ? static_cast<uint32_t>(lane) : 0),
        (offen ? offset_row[lane] : 0) + inst_offset};
  };
  const int dwords = (request.bytes + 3) / 4;
  // Bytes from the access's first byte that are in range.
  const auto bytes_in_range = [&](const LaneRequest& r) -> uint64_t {
    constexpr uint64_t kAll = 4 * kMaxDataDwords;
    if (d.add_tid) return kAll;
    if (by_index) return r.index < d.num_records ? kAll : 0;
    const uint64_t begin = uint64_t{scalar_offset} + r.offset;
    return begin < d.num_records ? d.num_records - begin : 0;
  };

  BufferAddresses out;
  out.at.mask = exec;
  out.scattered = d.swizzle && dwords > 1;
  if (out.scattered)
    for (LaneAddresses& part : out.dword) part.mask = 0;
  uint64_t whole = 0;
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    const LaneRequest r = lane_request(lane);
    out.at.address[lane] = base + buffer_offset(d, stride, r.index, r.offset);
    whole |= uint64_t{bytes_in_range(r) >= static_cast<uint64_t>(request.bytes)} << lane;
  }
  out.whole = whole & exec;
  if (!out.scattered) {
    if (request.all_or_nothing || dwords == 1) return out;
    for_lanes(exec & ~out.whole, [&](int lane) {
      const uint64_t complete = bytes_in_range(lane_request(lane)) / 4;
      if (complete > 0) out.prefix[complete - 1] |= uint64_t{1} << lane;
    });
    return out;
  }
  for (int i = 0; i < dwords; ++i) {
    LaneAddresses& part = out.dword[i];
    for_lanes(exec, [&](int lane) {
      const LaneRequest r = lane_request(lane);
      const uint32_t offset = r.offset + static_cast<uint32_t>(i) * 4;
      part.address[lane] = base + buffer_offset(d, stride, r.index, offset);
      if (part.address[lane] % 4 != 0)
        fail_access(FaultKind::Misaligned, lane, part.address[lane],
                    concat("swizzled buffer access at ", hex(part.address[lane]),
                           ", which is no multiple of 4"));
      const bool in_range =
          request.all_or_nothing ? (out.whole >> lane & 1) : bytes_in_range(r) >= 4u * (i + 1);
      part.mask |= uint64_t{in_range} << lane;
    });
  }
  return out;
}

}  // namespace gfxsim
