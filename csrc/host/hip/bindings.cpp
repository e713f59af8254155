#include "host/hip/bindings.h"

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <torch/csrc/utils/pybind.h>

#include "demo/axpy.h"
#include "host/hip/device_call.h"

namespace py = pybind11;

namespace tq::host {
namespace {

void axpy(float a, const at::Tensor& x, const at::Tensor& y) {
  for (const auto& [name, tensor] : {std::pair{"x", x}, std::pair{"y", y}}) {
    TORCH_CHECK(tensor.scalar_type() == at::kFloat && tensor.is_contiguous(), "axpy: ", name,
                " must be a contiguous float32 tensor, got ", tensor.scalar_type(),
                tensor.is_contiguous() ? "" : ", not contiguous");
  }
  TORCH_CHECK(x.sizes() == y.sizes(), "axpy: x and y must have one shape, got ", x.sizes(), " and ",
              y.sizes());
  DeviceCall call({x, y});
  check(demo::axpy(a, x.const_data_ptr<float>(), y.mutable_data_ptr<float>(), x.numel(),
                   call.stream()),
        "axpy");
  call.finish();
}

}  // namespace

void bind_device_functions(py::module_& module) {
  module.def("axpy", &axpy, py::arg("a"), py::arg("x"), py::arg("y"),
             py::call_guard<py::gil_scoped_release>(),
             "y += a * x for contiguous float32 tensors of one shape and device. CPU tensors are "
             "registered with the HIP runtime for the call.");
}

}  // namespace tq::host
