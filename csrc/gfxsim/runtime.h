// What the simulator can tell beyond HIP's error codes.
#pragma once

#include <string>

namespace gfxsim {

// The report of the last kernel fault that a launch through the HIP face met; empty when there was
// none since the start or the last hipDeviceReset.
std::string last_fault_report();

// Why the last HIP call of this thread that failed did so; empty when the code says it all.
std::string last_error_detail();

}  // namespace gfxsim
