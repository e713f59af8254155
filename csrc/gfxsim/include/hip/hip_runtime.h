// HIP for the simulator build: the host API, and in a HIP translation unit the device side.
// A subset of ROCm's header of this name, so that the same source compiles against either.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "detail/markers.h"
#include "hip_common.h"
#include "hip_runtime_api.h"
#include "hip_vector_types.h"
#include "hip_version.h"

#ifdef __HIP__
#include "detail/atomics.h"
#include "detail/index.h"
#include "detail/launch.h"
#include "detail/math.h"
#include "detail/sync.h"
#include "detail/wave.h"
#endif
