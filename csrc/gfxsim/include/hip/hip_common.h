// Included first by every header here.
#pragma once

// Lets a source file tell the simulator's headers from ROCm's.
#define HIP_GFXSIM 1

#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
