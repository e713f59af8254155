// One wave instruction's access to LDS, step by step: check it, move the data, hold it in flight.
#pragma once

#include <initializer_list>

#include "gfxsim/lane_data.h"
#include "gfxsim/lds.h"
#include "gfxsim/ops/atomic_op.h"
#include "gfxsim/workgroup.h"

namespace gfxsim {

// Checks the access, and counts it.
void begin_lds_access(Wave& w, const LdsAccess& access);
// Bytes and cycles.
void count_lds_access(Wave& w, const LdsAccess& access);

// Faults unless the address of every lane is a multiple of `alignment`, a power of two.
void require_lds_alignment(const LdsAccess& access, uint32_t alignment);

// Carries out a read-modify-write lane after lane; A is a row of ops/atomic_op.h. `old` gets, in
// dwords `first`.., what was there.
template <class A>
void run_lds_atomic(Wave& w, const LdsAccess& access, const LaneData& data, const LaneData& data2,
                    int first, LaneData* old);

// Bytes of LDS to dwords `first`.. of `data` (zero-extended), in the lanes of the access.
void load_lds(Wave& w, const LdsAccess& access, int first, LaneData* data);
// The low bytes of dwords `first`.. of `data` to LDS; `shift` skips low bits of the first dword.
void store_lds(Wave& w, const LdsAccess& access, int first, int shift, const LaneData& data);

// Keeps at most two accesses in the wave's pool until `op` lands.
void hold_lds_accesses(Wave& w, InFlight& op, std::initializer_list<const LdsAccess*> accesses);

template <class A>
void run_lds_atomic(Wave& w, const LdsAccess& access, const LaneData& data, const LaneData& data2,
                    int first, LaneData* old) {
  using Bits = AtomicBits<typename A::Value>;
  require_lds_alignment(access, sizeof(Bits));
  begin_lds_access(w, access);
  Lds& lds = w.workgroup->lds;
  for_lanes(access.mask, [&](int lane) {
    uint8_t* const memory = lds.data() + access.address[lane];
    uint8_t* const memory_undef = lds.undef() + access.address[lane];
    Bits before, before_undef;
    std::memcpy(&before, memory, sizeof before);
    std::memcpy(&before_undef, memory_undef, sizeof before_undef);
    const Bits after = atomic_apply<A>(before, lane_bits<Bits>(data.value, lane),
                                       lane_bits<Bits>(data2.value, lane));
    Bits operand_undef = 0;
    if (data.any_undef) operand_undef |= lane_bits<Bits>(data.undef, lane);
    if (data2.any_undef) operand_undef |= lane_bits<Bits>(data2.undef, lane);
    const Bits after_undef = atomic_undef<A>(before_undef, operand_undef);
    std::memcpy(memory, &after, sizeof after);
    std::memcpy(memory_undef, &after_undef, sizeof after_undef);
    set_lane_bits<Bits>(old->value + first, lane, before);
    if (before_undef != 0) old->track_undef(kMaxDataDwords);
    if (old->any_undef) set_lane_bits<Bits>(old->undef + first, lane, before_undef);
  });
}

}  // namespace gfxsim
