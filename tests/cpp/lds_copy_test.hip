// Memory-to-LDS copies: every byte of the destination, from buffers and from addresses.
#include <cstring>

#include "gcn/fence.h"
#include "gcn/lds_copy.h"
#include "test.h"

namespace {

constexpr int kLanes = gcn::kWaveSize, kWaves = 4, kMaxBytes = 16;
constexpr int kWaveBytes = kLanes * kMaxBytes;  // LDS of a wave
constexpr uint8_t kUntouched = 0x77;

enum class From { Buffer, Address };

// Each wave copies one element a lane into its part of LDS; then all waves read the whole.
template <int Bytes, From Source>
__global__ void copy_kernel(const uint8_t* memory, uint32_t records, const uint32_t* offsets,
                            uint32_t wave_offset, uint8_t* image) {
  alignas(16) __shared__ uint8_t lds[kWaves * kWaveBytes];
  const int thread = threadIdx.x, wave = thread / kLanes;
  for (int i = thread; i < kWaves * kWaveBytes; i += kWaves * kLanes) lds[i] = kUntouched;
  gcn::lds_barrier();
  uint8_t* mine = lds + gcn::uniform(static_cast<uint32_t>(wave)) * kWaveBytes;
  if constexpr (Source == From::Buffer) {
    const gcn::Buffer buffer(gcn::BufferDescriptor::of(memory, records));
    gcn::copy_to_lds<Bytes>(buffer, mine, offsets[thread], wave_offset);
  } else {
    gcn::copy_to_lds<Bytes>(memory + offsets[thread] + wave_offset, mine);
  }
  gcn::wait_vector_memory();
  gcn::lds_barrier();
  for (int i = thread; i < kWaves * kWaveBytes; i += kWaves * kLanes) image[i] = lds[i];
}

template <int Bytes, From Source>
void test_copy(uint32_t wave_offset) {
  constexpr uint32_t kRecords = 8192;
  constexpr int kThreads = kWaves * kLanes;
  const auto memory = test::random_words<uint8_t>(2 * kRecords);
  std::vector<uint32_t> offsets(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    // Lanes read anywhere; buffer copies also past the end.
    const uint32_t limit = Source == From::Buffer ? 2 * kRecords : kRecords;
    offsets[thread] = test::random_int(0, (limit - 64) / kMaxBytes) * kMaxBytes;
  }
  const test::DeviceArray<uint8_t> device_memory(memory), image(kWaves * kWaveBytes);
  const test::DeviceArray<uint32_t> device_offsets(offsets);
  copy_kernel<Bytes, Source><<<1, kThreads>>>(device_memory.get(), kRecords, device_offsets.get(),
                                              wave_offset, image.get());
  HIP_FINISH();

  // Lane l's bytes start at l times their number.
  std::vector<uint8_t> expected(kWaves * kWaveBytes, kUntouched);
  for (int thread = 0; thread < kThreads; ++thread) {
    uint8_t* place = &expected[thread / kLanes * kWaveBytes + thread % kLanes * Bytes];
    for (int i = 0; i < Bytes; ++i) {
      const uint32_t from = offsets[thread] + wave_offset + i;
      place[i] = Source == From::Address || from < kRecords ? memory[from] : 0;
    }
  }
  const auto got = image.download();
  for (int i = 0; i < kWaves * kWaveBytes; ++i)
    CHECK(got[i] == expected[i], "%d bytes from %s, LDS byte %d: %u, not %u", Bytes,
          Source == From::Buffer ? "a buffer" : "an address", i, got[i], expected[i]);
}

// Copies in flight: a wait for the older of two lets the newer one go on.
__global__ void pipelined_kernel(const uint32_t* memory, int rounds, uint32_t* sums) {
  __shared__ uint32_t stage[2][kLanes];
  const int lane = threadIdx.x;
  const gcn::Buffer buffer(
      gcn::BufferDescriptor::of(memory, uint64_t{sizeof(uint32_t)} * kLanes * rounds));
  const uint32_t offset = lane * sizeof(uint32_t);
  constexpr uint32_t kRoundBytes = kLanes * sizeof(uint32_t);
  gcn::copy_to_lds<4>(buffer, stage[0], offset);
  uint32_t sum = 0;
  for (int round = 0; round < rounds; ++round) {
    gcn::copy_to_lds<4>(buffer, stage[(round + 1) % 2], offset, (round + 1) * kRoundBytes);
    gcn::wait_vector_memory<1>();
    sum += stage[round % 2][kLanes - 1 - lane];
    gcn::wait_lds();
  }
  gcn::wait_vector_memory();
  sums[lane] = sum;
}

void test_pipelined() {
  constexpr int kRounds = 9;
  const auto memory = test::random_words<uint32_t>(kLanes * kRounds);
  const test::DeviceArray<uint32_t> device_memory(memory), sums(kLanes);
  pipelined_kernel<<<1, kLanes>>>(device_memory.get(), kRounds, sums.get());
  HIP_FINISH();
  const auto got = sums.download();
  for (int lane = 0; lane < kLanes; ++lane) {
    uint32_t expected = 0;
    for (int round = 0; round < kRounds; ++round)
      expected += memory[round * kLanes + kLanes - 1 - lane];
    CHECK(got[lane] == expected, "lane %d", lane);
  }
}

}  // namespace

int main() {
  for (const uint32_t wave_offset : {0u, 32u}) {
    test_copy<4, From::Buffer>(wave_offset);
    test_copy<12, From::Buffer>(wave_offset);
    test_copy<16, From::Buffer>(wave_offset);
    test_copy<4, From::Address>(wave_offset);
    test_copy<12, From::Address>(wave_offset);
    test_copy<16, From::Address>(wave_offset);
  }
  test_pipelined();
  return test::finish();
}
