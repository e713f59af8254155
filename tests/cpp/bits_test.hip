// v_perm_b32 and v_bitop3_b32.
#include "gcn/bitop3.h"
#include "gcn/perm.h"
#include "test.h"

namespace {

constexpr int kLanes = 64, kInputs = 3;

__global__ void perm_kernel(const uint32_t* high, const uint32_t* low, const uint32_t* selectors,
                            const uint32_t* table, const uint32_t* indices, uint32_t* permuted,
                            uint32_t* looked_up) {
  const int i = threadIdx.x;
  permuted[i] = gcn::byte_permute(high[i], low[i], selectors[i]);
  const gcn::ByteTable16 bytes{{table[0], table[1], table[2], table[3]}};
  looked_up[i] = bytes(indices[i]);
}

void test_perm() {
  const auto high = test::random_words<uint32_t>(kLanes),
             low = test::random_words<uint32_t>(kLanes);
  const auto table = test::random_words<uint32_t>(4);
  std::vector<uint32_t> selectors(kLanes), indices(kLanes);
  for (int i = 0; i < kLanes; ++i) {
    for (int byte = 0; byte < 4; ++byte) {
      selectors[i] |= static_cast<uint32_t>(test::random_int(0, 7)) << (8 * byte);
      indices[i] |= static_cast<uint32_t>((i + 5 * byte) % 16) << (8 * byte);
    }
  }
  const test::DeviceArray<uint32_t> d_high(high), d_low(low), d_selectors(selectors),
      d_table(table), d_indices(indices), permuted(kLanes), looked_up(kLanes);
  perm_kernel<<<1, kLanes>>>(d_high.get(), d_low.get(), d_selectors.get(), d_table.get(),
                             d_indices.get(), permuted.get(), looked_up.get());
  HIP_FINISH();
  const auto got_permuted = permuted.download(), got_looked_up = looked_up.download();
  for (int i = 0; i < kLanes; ++i) {
    for (int byte = 0; byte < 4; ++byte) {
      const uint32_t selector = selectors[i] >> (8 * byte) & 0xff;
      const uint32_t word = selector < 4 ? low[i] : high[i];
      const uint32_t index = indices[i] >> (8 * byte) & 0xff;
      CHECK((got_permuted[i] >> (8 * byte) & 0xff) == (word >> (selector % 4 * 8) & 0xff),
            "selector %u, byte %d", selector, byte);
      CHECK((got_looked_up[i] >> (8 * byte) & 0xff) == (table[index / 4] >> (index % 4 * 8) & 0xff),
            "index %u, byte %d", index, byte);
    }
  }
}

using gcn::kBitA, gcn::kBitB, gcn::kBitC;

template <int... Tables>
struct TruthTables {
  static constexpr int kCount = sizeof...(Tables);
  static constexpr int kTables[] = {Tables...};

  static __device__ void evaluate(uint32_t a, uint32_t b, uint32_t c, uint32_t* results) {
    int i = 0;
    ((results[i++] = gcn::bitop3<Tables>(a, b, c)), ...);
  }
};
using Tested = TruthTables<0x00, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff, 0x96, 0xe8,
                           (kBitA & kBitB) | kBitC, (kBitA & kBitB) | ~kBitC,
                           (kBitA & kBitC) | (kBitB & ~kBitC), kBitA ^ (kBitB | kBitC)>;

__global__ void bitop3_kernel(const uint32_t* inputs, uint32_t* results) {
  const uint32_t* mine = inputs + threadIdx.x * kInputs;
  Tested::evaluate(mine[0], mine[1], mine[2], results + threadIdx.x * Tested::kCount);
}

void test_bitop3() {
  const auto inputs = test::random_words<uint32_t>(kLanes * kInputs);
  const test::DeviceArray<uint32_t> d_inputs(inputs), results(kLanes * Tested::kCount);
  bitop3_kernel<<<1, kLanes>>>(d_inputs.get(), results.get());
  HIP_FINISH();
  const auto got = results.download();
  for (int i = 0; i < kLanes; ++i) {
    const uint32_t a = inputs[i * kInputs], b = inputs[i * kInputs + 1],
                   c = inputs[i * kInputs + 2];
    for (int t = 0; t < Tested::kCount; ++t) {
      uint32_t expected = 0;
      for (int bit = 0; bit < 32; ++bit) {
        // Bit n of the table is the result where A, B and C spell n.
        const int n = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1);
        expected |= static_cast<uint32_t>(Tested::kTables[t] >> n & 1) << bit;
      }
      CHECK(got[i * Tested::kCount + t] == expected, "table %02x", Tested::kTables[t] & 0xff);
    }
    CHECK(got[i * Tested::kCount + 12] == ((a & b) | c), "(a & b) | c");
    CHECK(got[i * Tested::kCount + 15] == (a ^ (b | c)), "a ^ (b | c)");
  }
}

}  // namespace

int main() {
  test_perm();
  test_bitop3();
  return test::finish();
}
