// Modules: code objects that a program loads from a file or from memory.
#include <hip/hip_runtime.h>

#include <fstream>
#include <iterator>
#include <vector>

#include "cases.h"

#define HIP(call) CHECK((call) == hipSuccess)

namespace {

constexpr int kThreads = 64;

const char* module_path() { return std::getenv("GFXSIM_TEST_MODULE"); }

std::vector<char> module_bytes() {
  std::ifstream file(module_path(), std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

void check_filled(const int* device, int first, int step) {
  int got[kThreads];
  HIP(hipMemcpy(got, device, sizeof got, hipMemcpyDeviceToHost));
  for (int i = 0; i < kThreads; ++i) CHECK(got[i] == first + step * i);
}

int* new_array() {
  int* p;
  HIP(hipMalloc(&p, kThreads * sizeof(int)));
  return p;
}

}  // namespace

CASE(launch_with_pointers_to_arguments) {
  hipModule_t module;
  hipFunction_t fill, again;
  HIP(hipModuleLoad(&module, module_path()));
  HIP(hipModuleGetFunction(&fill, module, "fill"));
  HIP(hipModuleGetFunction(&again, module, "fill"));
  CHECK(fill == again);
  int* out = new_array();
  int value = 100;
  short step = 2;
  void* args[] = {&out, &value, &step};
  HIP(hipModuleLaunchKernel(fill, 1, 1, 1, kThreads, 1, 1, 0, nullptr, args, nullptr));
  check_filled(out, 103, 2);
}

CASE(launch_with_packed_arguments) {
  hipModule_t module;
  hipFunction_t fill;
  const std::vector<char> bytes = module_bytes();
  HIP(hipModuleLoadData(&module, bytes.data()));
  HIP(hipModuleGetFunction(&fill, module, "fill"));
  struct {
    int* out;
    int value;
    short step;
  } args = {new_array(), 10, -1};
  size_t size = sizeof args;
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   HIP_LAUNCH_PARAM_END};
  HIP(hipModuleLaunchKernel(fill, 1, 1, 1, kThreads, 1, 1, 0, nullptr, nullptr, extra));
  check_filled(args.out, 13, -1);
  size = 8;
  CHECK(hipModuleLaunchKernel(fill, 1, 1, 1, kThreads, 1, 1, 0, nullptr, nullptr, extra) ==
        hipErrorInvalidValue);
}

CASE(variables) {
  hipModule_t module;
  hipFunction_t fill;
  HIP(hipModuleLoad(&module, module_path()));
  hipDeviceptr_t offset;
  size_t bytes;
  HIP(hipModuleGetGlobal(&offset, &bytes, module, "offset"));
  CHECK(bytes == sizeof(int));
  HIP(hipMemsetD32(offset, 1000, 1));
  HIP(hipModuleGetFunction(&fill, module, "fill"));
  int* out = new_array();
  int value = 0;
  short step = 1;
  void* args[] = {&out, &value, &step};
  HIP(hipModuleLaunchKernel(fill, 1, 1, 1, kThreads, 1, 1, 0, nullptr, args, nullptr));
  check_filled(out, 1000, 1);
  CHECK(hipModuleGetGlobal(&offset, &bytes, module, "nothing") == hipErrorNotFound);
}

CASE(what_is_refused) {
  hipModule_t module;
  hipFunction_t fill;
  CHECK(hipModuleLoad(&module, "/nowhere") == hipErrorFileNotFound);
  const char garbage[100] = "no code object";
  CHECK(hipModuleLoadData(&module, garbage) == hipErrorInvalidImage);
  HIP(hipModuleLoad(&module, module_path()));
  CHECK(hipModuleGetFunction(&fill, module, "nothing") == hipErrorNotFound);
  HIP(hipModuleGetFunction(&fill, module, "fill"));
  CHECK(hipModuleLaunchKernel(fill, 1, 0, 1, kThreads, 1, 1, 0, nullptr, nullptr, nullptr) ==
        hipErrorInvalidValue);  // no arguments
  int blocks;
  HIP(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, kThreads, 0));
  CHECK(blocks == 32);
  HIP(hipModuleUnload(module));
  CHECK(hipModuleUnload(module) == hipErrorInvalidHandle);
  CHECK(hipModuleLaunchKernel(fill, 1, 1, 1, kThreads, 1, 1, 0, nullptr, nullptr, nullptr) ==
        hipErrorInvalidHandle);
}
