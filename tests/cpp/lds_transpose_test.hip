// LDS transpose reads: where each element of each lane comes from.
//
// The rule, from the ISA's description of the MFMA transpose loads and the layouts that compilers
// use for them: groups of 16 lanes; the lanes' data, put side by side, are a matrix of 16 columns
// whose rows follow each other (with 16-bit elements lanes 0..3 are row 0, with 8-bit elements
// lanes 0..1, with 4- and 6-bit elements lane 0); lane t receives column t, row 0 in the low bits.
#include <cstring>

#include "gcn/lds_transpose.h"
#include "test.h"

namespace {

constexpr int kLanes = gcn::kWaveSize, kGroup = 16, kColumns = 16;
constexpr int kSlot = 16;  // LDS bytes for each lane, enough for the 6-bit form and its alignment
constexpr int kMaxDwords = 3;

template <int Bits>
__global__ void transpose_kernel(const uint8_t* image, const int* slots, uint32_t* results) {
  alignas(16) __shared__ uint8_t lds[kLanes * kSlot];
  const int lane = threadIdx.x;
  for (int i = 0; i < kSlot; ++i) lds[lane * kSlot + i] = image[lane * kSlot + i];
  __syncthreads();
  const uint8_t* address = lds + slots[lane] * kSlot;
  uint32_t* result = results + lane * kMaxDwords;
  if constexpr (Bits == 6) {
    const gcn::u32x3 got = gcn::lds_read_transposed_b6(address);
    for (int i = 0; i < 3; ++i) result[i] = got[i];
  } else {
    gcn::u32x2 got;
    if constexpr (Bits == 4) got = gcn::lds_read_transposed_b4(address);
    if constexpr (Bits == 8) got = gcn::lds_read_transposed_b8(address);
    if constexpr (Bits == 16) {
      got = __builtin_bit_cast(
          gcn::u32x2, gcn::lds_read_transposed_b16(reinterpret_cast<const _Float16*>(address)));
      const gcn::u32x2 same = __builtin_bit_cast(
          gcn::u32x2, gcn::lds_read_transposed_b16(reinterpret_cast<const __bf16*>(address)));
      result[2] = (got[0] ^ same[0]) | (got[1] ^ same[1]);
    }
    for (int i = 0; i < 2; ++i) result[i] = got[i];
  }
}

// Element `index` of a little-endian string of elements.
uint32_t extract(const uint8_t* bytes, int bits, int index) {
  uint32_t value = 0;
  for (int b = 0; b < bits; ++b) {
    const int position = index * bits + b;
    value |= (bytes[position / 8] >> (position % 8) & 1u) << b;
  }
  return value;
}

template <int Bits>
void test_transpose(bool shuffled) {
  constexpr int kElements = (Bits == 6 ? 96 : 64) / Bits;  // of a lane
  const std::vector<uint8_t> image = test::random_words<uint8_t>(kLanes * kSlot);
  std::vector<int> slots(kLanes);
  for (int lane = 0; lane < kLanes; ++lane) slots[lane] = lane;
  if (shuffled) std::shuffle(slots.begin(), slots.end(), test::random_engine());
  const test::DeviceArray<uint8_t> device_image(image);
  const test::DeviceArray<int> device_slots(slots);
  const test::DeviceArray<uint32_t> results(kLanes * kMaxDwords);
  transpose_kernel<Bits><<<1, kLanes>>>(device_image.get(), device_slots.get(), results.get());
  HIP_FINISH();
  const auto got = results.download();

  using Layout = gcn::LdsTransposeLayout<Bits>;
  for (int lane = 0; lane < kLanes; ++lane) {
    const int group = lane / kGroup;
    // The group's matrix, row by row.
    std::vector<uint32_t> matrix;
    for (int l = group * kGroup; l < (group + 1) * kGroup; ++l)
      for (int e = 0; e < kElements; ++e)
        matrix.push_back(extract(&image[slots[l] * kSlot], Bits, e));
    uint8_t result[kMaxDwords * sizeof(uint32_t)];
    std::memcpy(result, &got[lane * kMaxDwords], sizeof result);
    for (int e = 0; e < kElements; ++e) {
      const uint32_t expected = matrix[e * kColumns + lane % kGroup];
      const uint32_t element = extract(result, Bits, e);
      CHECK(element == expected, "b%d, lane %d, element %d: %x, not %x", Bits, lane, e, element,
            expected);
      // The header's functions say the same.
      const int source = slots[Layout::source_lane(lane, e)];
      CHECK(extract(&image[source * kSlot], Bits, Layout::source_element(lane)) == expected,
            "layout of b%d, lane %d, element %d", Bits, lane, e);
    }
    const int first = lane % kGroup * kElements;
    CHECK(Layout::address_row(lane) == first / kColumns &&
              Layout::address_column(lane) == first % kColumns,
          "addresses of b%d, lane %d", Bits, lane);
    if (Bits == 16)
      CHECK(got[lane * kMaxDwords + 2] == 0, "the fp16 form differs from the bf16 form");
  }
}

}  // namespace

int main() {
  for (const bool shuffled : {false, true}) {
    test_transpose<4>(shuffled);
    test_transpose<6>(shuffled);
    test_transpose<8>(shuffled);
    test_transpose<16>(shuffled);
  }
  return test::finish();
}
