// The Python module tq_ext._C.
#include <pybind11/pybind11.h>

#include "build_config.h"  // written by the build
#include "host/build_info.h"
#if TQ_WITH_HIP
#include "host/hip/bindings.h"
#endif

PYBIND11_MODULE(_C, module) {
  module.def("build_info", &tq::host::build_info);
#if TQ_WITH_HIP
  tq::host::bind_device_functions(module);
#endif
}
