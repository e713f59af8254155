// The local data share of a workgroup: its bytes, which of their bits were never written, and the
// rules that waves must keep when they share it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gfxsim/inst.h"

namespace gfxsim {

struct Wave;

enum class LdsAccessKind : uint8_t { Read, Write, Atomic };

// What one wave instruction touches: `bytes` bytes at an address in each lane of `mask`.
struct LdsAccess {
  const Inst* inst = nullptr;
  LdsAccessKind kind = LdsAccessKind::Read;
  uint8_t bytes = 0;  // a lane
  uint64_t mask = 0;
  uint32_t address[kMaxLanes];  // byte offsets in the workgroup's allocation; set in `mask`
};

// The accesses that a wave has issued and not waited for, at stable slots.
class LdsAccessPool {
 public:
  int add(const LdsAccess& access);
  void remove(int slot);
  // Calls f(access) for each one in flight.
  template <class F>
  void for_each(F f) const {
    for (size_t i = 0; i < slots_.size(); ++i)
      if (used_[i]) f(slots_[i]);
  }

 private:
  std::vector<LdsAccess> slots_;
  std::vector<uint8_t> used_;
  std::vector<int> free_;
};

// Data of a memory-to-LDS load on its way.
struct LdsDmaTransfer {
  LdsAccess access;
  uint32_t wave = 0;
  bool in_flight = false;
  // kMaxLanes * access.bytes, lane after lane.
  std::vector<uint8_t> data, undef;
};

class Lds {
 public:
  // Starts a workgroup of `num_waves` waves: `bytes` bytes, all undefined.
  void init(uint32_t bytes, uint32_t num_waves);
  // Whether races are possible: waves then hold their accesses in flight in their pools.
  bool is_shared() const { return num_waves_ > 1; }
  uint32_t size() const { return size_; }
  uint8_t* data() { return data_.data(); }
  // 1 = the bit was never written.
  uint8_t* undef() { return undef_.data(); }

  // Faults unless the access is inside the allocation, touches no bytes of a memory-to-LDS load
  // that has not been waited for, and races with no other wave; remembers it for the accesses to
  // come. The wave must issue() the instruction and, where is_shared(), hold the access in its pool
  // until it lands.
  void enter(const Wave& w, const LdsAccess& access);

  // Starts a memory-to-LDS load of `access` (a write): the bytes land when land() is called with
  // the returned transfer. Includes enter(). The caller fills data and undef.
  int begin_dma(const Wave& w, const LdsAccess& access);
  LdsDmaTransfer& dma(int transfer) { return *transfers_[transfer]; }
  void land_dma(int transfer);

  // All waves that have not ended passed a barrier: what they accessed before is ordered before
  // what they access from now on, except for accesses that they have not waited for.
  void barrier(std::span<Wave> waves);

 private:
  // Who accessed a dword (or byte) last: epoch << 32 | wave << 24 | Inst::index. The epoch counts
  // barriers; marks of an older epoch do not matter any more. Of readers and of atomic operations
  // two different waves are kept: one of them is another wave than the next to come.
  using Mark = uint64_t;
  struct Tags {  // by dword, or by byte
    std::vector<Mark> write, read[2], atomic[2];
    size_t size() const { return write.size(); }
    void resize(size_t count);
    void copy(const Tags& from, size_t from_index, size_t to_index);
  };

  void check_bounds(const LdsAccess& access) const;
  void check_landed(const Wave& w, const LdsAccess& access, bool is_dma) const;
  void mark(const Wave& w, const LdsAccess& access);
  template <LdsAccessKind Kind>
  void mark_lanes(Mark mine, const LdsAccess& access);
  template <LdsAccessKind Kind>
  void mark_bytes(uint32_t begin, uint32_t end, Mark mine, const LdsAccess& access, int lane);
  template <LdsAccessKind Kind>
  void mark_tag(Tags& tags, size_t index, Mark mine, const LdsAccess& access, int lane);
  template <LdsAccessKind Kind>
  bool mark_whole_dwords(Mark mine, const LdsAccess& access);
  [[noreturn]] void report_race(Mark other, const char* did, Mark mine, const LdsAccess& access,
                                int lane) const;
  std::string describe(const Inst& inst) const;
  bool is_split(uint32_t dword) const { return any_split_ && split_epoch_[dword] == epoch_; }
  void split(uint32_t dword);

  uint32_t size_ = 0;
  uint32_t num_waves_ = 0;
  const Wave* marking_ = nullptr;  // the wave whose access is being marked, for reports
  std::vector<uint8_t> data_, undef_;

  uint32_t epoch_ = 1;  // never 0, which unused marks have
  Tags tags_;           // by dword
  bool any_atomic_ = false;
  // Dwords that waves access in part have a tag for each byte, in the epoch where they do.
  bool any_split_ = false;
  std::vector<uint32_t> split_epoch_;
  Tags byte_tags_;

  std::vector<std::unique_ptr<LdsDmaTransfer>> transfers_;
  int dma_in_flight_ = 0;
  std::vector<uint8_t> dma_pending_;  // by dword: transfers in flight that will write to it
};

}  // namespace gfxsim
