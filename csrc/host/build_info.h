#pragma once

#include <pybind11/pybind11.h>

namespace tq::host {

// How this library was built; tq_ext.build_info() documents the keys.
pybind11::dict build_info();

}  // namespace tq::host
