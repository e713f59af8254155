// Streams and events. All work is done when the call that enqueued it returns, so that a stream is
// only an order and an event only a point in time.
#include <chrono>

#include "gfxsim/hip_state.h"

using namespace gfxsim::hip;
using Clock = std::chrono::steady_clock;

struct ihipStream_t {
  unsigned flags;
  int priority;
};

struct ihipEvent_t {
  unsigned flags;
  bool recorded = false;
  Clock::time_point time{};
};

namespace {

// Smaller is more urgent.
constexpr int kGreatestPriority = -1;
constexpr int kLeastPriority = 1;

Handles<ihipStream_t>& streams() {
  static auto* handles = new Handles<ihipStream_t>;
  return *handles;
}

Handles<ihipEvent_t>& events() {
  static auto* handles = new Handles<ihipEvent_t>;
  return *handles;
}

bool is_special(hipStream_t stream) {
  return stream == nullptr || stream == hipStreamLegacy || stream == hipStreamPerThread;
}

// The properties of a stream, special or live.
ihipStream_t properties(hipStream_t stream) {
  if (is_special(stream)) return {hipStreamDefault, 0};
  return *streams().check(stream, "the stream");
}

ihipEvent_t* checked(hipEvent_t event) { return events().check(event, "the event"); }

}  // namespace

void gfxsim::hip::check_stream(hipStream_t stream) { properties(stream); }

extern "C" {

hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority) {
  return call([&] {
    require(stream != nullptr, hipErrorInvalidValue, "stream is null");
    require(flags == hipStreamDefault || flags == hipStreamNonBlocking, hipErrorInvalidValue,
            "flags: neither hipStreamDefault nor hipStreamNonBlocking");
    const int clamped = std::min(std::max(priority, kGreatestPriority), kLeastPriority);
    *stream = streams().create({flags, clamped});
  });
}

hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return hipStreamCreateWithPriority(stream, flags, 0);
}

hipError_t hipStreamCreate(hipStream_t* stream) {
  return hipStreamCreateWithFlags(stream, hipStreamDefault);
}

hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
  });
}

hipError_t hipStreamDestroy(hipStream_t stream) {
  return call([&] { streams().destroy(stream, "the stream"); });
}

hipError_t hipStreamQuery(hipStream_t stream) {
  return synchronising_call([&] { check_stream(stream); });
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
  return synchronising_call([&] { check_stream(stream); });
}

hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return call([&] {
    check_stream(stream);
    checked(event);
    require(flags == 0, hipErrorInvalidValue, "flags is not 0");
  });
}

hipError_t hipStreamGetFlags(hipStream_t stream, unsigned* flags) {
  return call([&] {
    require(flags != nullptr, hipErrorInvalidValue, "flags is null");
    *flags = properties(stream).flags;
  });
}

hipError_t hipStreamGetPriority(hipStream_t stream, int* priority) {
  return call([&] {
    require(priority != nullptr, hipErrorInvalidValue, "priority is null");
    *priority = properties(stream).priority;
  });
}

hipError_t hipStreamGetDevice(hipStream_t stream, hipDevice_t* device) {
  return call([&] {
    check_stream(stream);
    require(device != nullptr, hipErrorInvalidValue, "device is null");
    *device = 0;
  });
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  return call([&] {
    check_stream(stream);
    require(status != nullptr, hipErrorInvalidValue, "status is null");
    *status = hipStreamCaptureStatusNone;
  });
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return call([&] {
    require(event != nullptr, hipErrorInvalidValue, "event is null");
    *event = events().create({flags});
  });
}

hipError_t hipEventCreate(hipEvent_t* event) {
  return hipEventCreateWithFlags(event, hipEventDefault);
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return call([&] { events().destroy(event, "the event"); });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return call([&] {
    ihipEvent_t* const e = checked(event);
    enqueue(stream, [e] {
      e->recorded = true;
      e->time = Clock::now();
    });
  });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return synchronising_call([&] { checked(event); });
}

hipError_t hipEventQuery(hipEvent_t event) {
  return synchronising_call([&] { checked(event); });
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return synchronising_call([&] {
    require(milliseconds != nullptr, hipErrorInvalidValue, "milliseconds is null");
    const ihipEvent_t *const a = checked(start), *const b = checked(stop);
    require(a->recorded && b->recorded, hipErrorInvalidHandle, "an event was never recorded");
    require(!((a->flags | b->flags) & hipEventDisableTiming), hipErrorInvalidHandle,
            "an event was created with hipEventDisableTiming");
    *milliseconds = std::chrono::duration<float, std::milli>(b->time - a->time).count();
  });
}

}  // extern "C"
