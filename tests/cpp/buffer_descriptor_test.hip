// Buffer loads and stores of every size, their bounds, and bases beyond 4 GiB.
#include <cstring>

#include "gcn/buffer_descriptor.h"
#include "test.h"

namespace {

constexpr int kLanes = gcn::kWaveSize;

// A value of `Bytes` bytes.
template <int Bytes>
struct Element;
template <>
struct Element<1> {
  using Type = uint8_t;
};
template <>
struct Element<2> {
  using Type = uint16_t;
};
template <>
struct Element<4> {
  using Type = uint32_t;
};
template <>
struct Element<8> {
  using Type = gcn::u32x2;
};
template <>
struct Element<16> {
  using Type = gcn::u32x4;
};

template <typename T>
__global__ void copy_kernel(const uint8_t* from, uint32_t from_bytes, uint8_t* to,
                            uint32_t to_bytes, const uint32_t* offsets, uint32_t wave_offset,
                            T* loaded) {
  const int lane = threadIdx.x;
  const gcn::Buffer source(gcn::BufferDescriptor::of(from, from_bytes));
  const gcn::Buffer target(gcn::BufferDescriptor::of(to, to_bytes));
  const T value = source.load<T>(offsets[lane], wave_offset);
  loaded[lane] = value;
  target.store(value, offsets[lane], wave_offset);
}

// Lanes read and write at random places inside and outside a descriptor that covers the first half
// of the memory.
template <int Bytes>
void test_bounds(uint32_t wave_offset) {
  using T = typename Element<Bytes>::Type;
  constexpr uint32_t kRecords = 1024, kMemory = 2 * kRecords;
  constexpr uint32_t kFarBeyond[] = {kMemory, 1u << 20, 0x7ffffff0u, 0xfffff000u};
  std::vector<uint8_t> memory = test::random_words<uint8_t>(kMemory);
  for (uint8_t& byte : memory) byte |= 1;  // never 0, so that a 0 comes from the bounds check
  std::vector<uint32_t> offsets(kLanes);
  for (int lane = 0; lane < kLanes; ++lane) {
    // Different places, so that no two lanes store to the same one.
    constexpr uint32_t kStep = kMemory / kLanes;
    offsets[lane] = (lane * 37 % kLanes) * kStep + test::random_int(0, kStep / Bytes - 1) * Bytes;
    if (lane % 16 == 15) offsets[lane] = kFarBeyond[lane / 16];
  }
  const test::DeviceArray<uint8_t> source(memory), target(kMemory);
  const test::DeviceArray<uint32_t> device_offsets(offsets);
  const test::DeviceArray<T> loaded(kLanes);
  copy_kernel<<<1, kLanes>>>(source.get(), kRecords, target.get(), kRecords, device_offsets.get(),
                             wave_offset, loaded.get());
  HIP_FINISH();

  std::vector<uint8_t> expected_target(kMemory, test::DeviceArray<uint8_t>::kPoison);
  const auto got_loaded = loaded.download();
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint64_t place = uint64_t{offsets[lane]} + wave_offset;
    T expected;
    std::memset(&expected, 0, sizeof expected);
    if (place < kRecords) {
      std::memcpy(&expected, &memory[place], Bytes);
      std::memcpy(&expected_target[place], &memory[place], Bytes);
    }
    CHECK(std::memcmp(&got_loaded[lane], &expected, Bytes) == 0, "%d bytes at %u + %u, lane %d",
          Bytes, offsets[lane], wave_offset, lane);
  }
  const auto got_target = target.download();
  for (uint32_t i = 0; i < kMemory; ++i)
    CHECK(got_target[i] == expected_target[i], "%d-byte stores, byte %u: %u, not %u", Bytes, i,
          got_target[i], expected_target[i]);
}

// A 16-byte access that crosses the end: each of its dwords is checked alone.
void test_partly_outside() {
  constexpr uint32_t kRecords = 1024, kMemory = 2 * kRecords;
  const std::vector<uint8_t> memory = test::random_words<uint8_t>(kMemory);
  std::vector<uint32_t> offsets(kLanes, kMemory);
  constexpr int kCrossing = 3;
  for (int lane = 0; lane < kCrossing; ++lane)
    offsets[lane] = kRecords - 4 * (lane + 1);  // 1, 2 and 3 dwords inside
  for (int lane = 1; lane < kCrossing; ++lane) offsets[lane] = kMemory;
  for (int inside = 1; inside <= kCrossing; ++inside) {
    offsets[0] = kRecords - 4 * inside;
    const test::DeviceArray<uint8_t> source(memory), target(kMemory);
    const test::DeviceArray<uint32_t> device_offsets(offsets);
    const test::DeviceArray<gcn::u32x4> loaded(kLanes);
    copy_kernel<<<1, kLanes>>>(source.get(), kRecords, target.get(), kRecords, device_offsets.get(),
                               0, loaded.get());
    HIP_FINISH();
    uint8_t expected[16] = {};
    std::memcpy(expected, &memory[offsets[0]], 4 * inside);
    const auto got = loaded.download();
    CHECK(std::memcmp(&got[0], expected, sizeof expected) == 0, "%d dwords inside", inside);
    const auto got_target = target.download();
    CHECK(std::memcmp(&got_target[offsets[0]], expected, 4 * inside) == 0, "%d dwords inside",
          inside);
    for (uint32_t i = kRecords; i < kMemory; ++i)
      CHECK(got_target[i] == test::DeviceArray<uint8_t>::kPoison, "byte %u was stored", i);
  }
}

__global__ void far_kernel(uint32_t* memory, uint64_t bytes, uint64_t base, uint32_t* loaded) {
  const int lane = threadIdx.x;
  const gcn::Buffer buffer(gcn::BufferDescriptor::at(memory, bytes, base));
  const uint32_t offset = lane * sizeof(uint32_t);
  const uint32_t seen = buffer.load<uint32_t>(offset);
  loaded[lane] = seen;
  buffer.store(seen + 1, offset);
}

// 6 GiB, of which only a few pages are used.
void test_beyond_4_gib() {
  constexpr uint64_t kBytes = uint64_t{6} << 30;
  uint32_t* memory = nullptr;
  HIP(hipMalloc(&memory, kBytes));
  const uint64_t bases[] = {0,      (uint64_t{1} << 32) - 128,   uint64_t{5} << 30, kBytes - 128,
                            kBytes, kBytes + (uint64_t{1} << 32)};
  for (const uint64_t base : bases) {
    std::vector<uint32_t> values = test::random_words<uint32_t>(kLanes);
    const int64_t rest = static_cast<int64_t>(kBytes) - static_cast<int64_t>(base);
    const int inside =
        static_cast<int>(std::clamp<int64_t>(rest / int64_t{sizeof(uint32_t)}, 0, kLanes));
    char* place = reinterpret_cast<char*>(memory) + base;
    if (inside > 0)
      HIP(hipMemcpy(place, values.data(), inside * sizeof(uint32_t), hipMemcpyHostToDevice));
    const test::DeviceArray<uint32_t> loaded(kLanes);
    far_kernel<<<1, kLanes>>>(memory, kBytes, base, loaded.get());
    HIP_FINISH();
    const auto got = loaded.download();
    std::vector<uint32_t> stored(kLanes);
    if (inside > 0)
      HIP(hipMemcpy(stored.data(), place, inside * sizeof(uint32_t), hipMemcpyDeviceToHost));
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint32_t expected = lane < inside ? values[lane] : 0;
      CHECK(got[lane] == expected, "base %llu, lane %d", static_cast<unsigned long long>(base),
            lane);
      CHECK(lane >= inside || stored[lane] == values[lane] + 1, "base %llu, lane %d",
            static_cast<unsigned long long>(base), lane);
    }
  }
  HIP(hipFree(memory));
}

void test_descriptor() {
  using Descriptor = gcn::BufferDescriptor;
  CHECK(Descriptor::clamp_records(0) == 0, "no bytes");
  CHECK(Descriptor::clamp_records(0xffffffffull) == 0xffffffffu, "4 GiB - 1");
  CHECK(Descriptor::clamp_records(0x100000000ull) == 0xffffffffu, "4 GiB");
}

}  // namespace

int main() {
  test_descriptor();
  for (const uint32_t wave_offset : {0u, 64u, 2048u}) {
    test_bounds<1>(wave_offset);
    test_bounds<2>(wave_offset);
    test_bounds<4>(wave_offset);
    test_bounds<8>(wave_offset);
    test_bounds<16>(wave_offset);
  }
  test_partly_outside();
  test_beyond_4_gib();
  return test::finish();
}
