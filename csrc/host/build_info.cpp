#include "host/build_info.h"

#include <pybind11/stl.h>
#include <torch/version.h>

#include <string>
#include <vector>

#include "build_config.h"  // written by the build
#if TQ_WITH_HIP
#include <hip/hip_version.h>
#endif

namespace py = pybind11;

namespace tq::host {

py::dict build_info() {
  py::dict versions;
  versions["tq_ext"] = TQ_VERSION;
  versions["torch"] = TORCH_VERSION;
#if TQ_WITH_HIP
  versions["hip"] = std::to_string(HIP_VERSION_MAJOR) + "." + std::to_string(HIP_VERSION_MINOR) +
                    "." + std::to_string(HIP_VERSION_PATCH);
#endif
  py::dict info;
  info["mode"] = TQ_BUILD_MODE;
  info["compiler"] = TQ_BUILD_COMPILER;
  info["targets"] = std::vector<std::string> TQ_BUILD_TARGETS;
  info["missing"] = std::vector<std::string> TQ_BUILD_MISSING;
  info["versions"] = versions;
  return info;
}

}  // namespace tq::host
