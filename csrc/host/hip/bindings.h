#pragma once

#include <pybind11/pybind11.h>

namespace tq::host {

// Adds the functions that launch kernels.
void bind_device_functions(pybind11::module_& module);

}  // namespace tq::host
