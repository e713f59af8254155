// Waits, barriers and fences: encodings, and programs whose result is right only if they order.
#include "gcn/fence.h"
#include "test.h"

namespace {

// s_waitcnt of gfx9, from the ISA: vmcnt is bits 3:0 and 15:14, expcnt 6:4, lgkmcnt 11:8.
void test_encoding() {
  CHECK(gcn::waitcnt_bits(0, 0) == 0x0070, "vmcnt(0) lgkmcnt(0)");
  CHECK(gcn::waitcnt_bits(0, gcn::kNoLdsWait) == 0x0f70, "vmcnt(0)");
  CHECK(gcn::waitcnt_bits(gcn::kNoVectorMemoryWait, 0) == 0xc07f, "lgkmcnt(0)");
  CHECK(gcn::waitcnt_bits(17, 5) == 0x4571, "vmcnt(17) lgkmcnt(5)");
}

constexpr int kThreads = 256, kRounds = 8;

// All waves rotate a vector through LDS; a missing wait or barrier mixes rounds up.
__global__ void rotate_kernel(const uint32_t* values, uint32_t* results) {
  __shared__ uint32_t ring[2][kThreads];
  const int thread = threadIdx.x;
  uint32_t value = values[thread];
  for (int round = 0; round < kRounds; ++round) {
    uint32_t* slots = ring[round % 2];
    slots[thread] = value;
    gcn::lds_barrier();
    value = slots[(thread + 65) % kThreads] + round;
  }
  results[thread] = value;
}

void test_lds_barrier() {
  const auto values = test::random_words<uint32_t>(kThreads);
  const test::DeviceArray<uint32_t> device_values(values), results(kThreads);
  rotate_kernel<<<1, kThreads>>>(device_values.get(), results.get());
  HIP_FINISH();
  const auto got = results.download();
  constexpr uint32_t kAdded = kRounds * (kRounds - 1) / 2;
  for (int thread = 0; thread < kThreads; ++thread)
    CHECK(got[thread] == values[(thread + 65 * kRounds) % kThreads] + kAdded, "thread %d", thread);
}

// Explicit waits around raw barriers: the loads of the next round stay in flight across the
// barrier.
__global__ void pipelined_kernel(const uint32_t* values, uint32_t* results) {
  __shared__ uint32_t stage[kThreads];
  const int thread = threadIdx.x;
  uint32_t next = values[thread], sum = 0;
  for (int round = 1; round <= kRounds; ++round) {
    stage[thread] = next;
    next = values[round * kThreads + thread];
    gcn::wait_lds();
    gcn::barrier();
    gcn::fence_acquire<gcn::Scope::Workgroup>();
    sum += stage[kThreads - 1 - thread];
    gcn::lds_barrier();
  }
  results[thread] = sum + next;
}

void test_pipelined() {
  const auto values = test::random_words<uint32_t>(kThreads * (kRounds + 1));
  const test::DeviceArray<uint32_t> device_values(values), results(kThreads);
  pipelined_kernel<<<1, kThreads>>>(device_values.get(), results.get());
  HIP_FINISH();
  const auto got = results.download();
  for (int thread = 0; thread < kThreads; ++thread) {
    uint32_t expected = values[kRounds * kThreads + thread];
    for (int round = 0; round < kRounds; ++round)
      expected += values[round * kThreads + kThreads - 1 - thread];
    CHECK(got[thread] == expected, "thread %d", thread);
  }
}

// Every workgroup publishes its part; the last to arrive adds all of them up and re-arms the
// counter.
__global__ void last_arrival_kernel(const uint32_t* values, uint32_t* parts, uint32_t* counter,
                                    uint32_t* total) {
  __shared__ bool is_last;
  const int thread = threadIdx.x, block = blockIdx.x;
  parts[block * kThreads + thread] = values[block * kThreads + thread] * 3;
  gcn::fence_release<gcn::Scope::Agent>();
  __syncthreads();
  if (thread == 0) is_last = atomicAdd(counter, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  gcn::fence_acquire<gcn::Scope::Agent>();
  uint32_t sum = 0;
  for (uint32_t b = 0; b < gridDim.x; ++b) sum += parts[b * kThreads + thread];
  total[thread] = sum;
  if (thread == 0) *counter = 0;
}

void test_last_arrival() {
  constexpr int kBlocks = 24, kLaunches = 3;
  const auto values = test::random_words<uint32_t>(kBlocks * kThreads);
  const test::DeviceArray<uint32_t> device_values(values), total(kThreads);
  const test::DeviceArray<uint32_t> counter(std::vector<uint32_t>{0});
  for (int launch = 0; launch < kLaunches; ++launch) {
    const test::DeviceArray<uint32_t> parts(kBlocks * kThreads);
    last_arrival_kernel<<<kBlocks, kThreads>>>(device_values.get(), parts.get(), counter.get(),
                                               total.get());
    HIP_FINISH();
    const auto got = total.download();
    for (int thread = 0; thread < kThreads; ++thread) {
      uint32_t expected = 0;
      for (int block = 0; block < kBlocks; ++block)
        expected += values[block * kThreads + thread] * 3;
      CHECK(got[thread] == expected, "launch %d, thread %d", launch, thread);
    }
    CHECK(counter.download()[0] == 0, "launch %d left the counter at %u", launch,
          counter.download()[0]);
  }
}

// System scope compiles and orders a single store as well.
__global__ void system_kernel(uint32_t* value) {
  *value = 17;
  gcn::fence_release<gcn::Scope::System>();
  gcn::fence_acquire<gcn::Scope::System>();
  *value += 1;
}

void test_system() {
  const test::DeviceArray<uint32_t> value(1);
  system_kernel<<<1, 1>>>(value.get());
  HIP_FINISH();
  CHECK(value.download()[0] == 18, "%u", value.download()[0]);
}

}  // namespace

int main() {
  test_encoding();
  test_lds_barrier();
  test_pipelined();
  test_last_arrival();
  test_system();
  return test::finish();
}
