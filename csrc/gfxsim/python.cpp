// tq_ext._gfxsim: what tq_ext/gfxsim.py is made of.
#include <pybind11/native_enum.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <tuple>

#include "gfxsim/address_space.h"
#include "gfxsim/code_object.h"
#include "gfxsim/disassembler.h"
#include "gfxsim/executor.h"
#include "gfxsim/fat_binary.h"
#include "gfxsim/fault.h"
#include "gfxsim/include/hip/hip_runtime_api.h"
#include "gfxsim/kernel_launch.h"
#include "gfxsim/kernel_memory.h"
#include "gfxsim/ops/families.h"
#include "gfxsim/runtime.h"
#include "gfxsim/text.h"

namespace py = pybind11;
using namespace gfxsim;

namespace {

std::span<const uint8_t> view(const py::bytes& bytes) {
  const std::string_view text = bytes;
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// --- faults ---

// The Python exception of a Fault. Its fields are attributes of the instance.
py::handle fault_type;

void raise_python_fault(const Fault& fault) {
  const auto or_none = [](bool present, auto value) {
    return present ? py::cast(value) : py::none();
  };
  py::object e = fault_type(fault.report());
  e.attr("kind") = fault.kind;
  e.attr("message") = fault.message;
  e.attr("kernel") = fault.kernel;
  e.attr("workgroup") = or_none(
      fault.located, std::make_tuple(fault.workgroup[0], fault.workgroup[1], fault.workgroup[2]));
  e.attr("wave") = or_none(fault.wave >= 0, fault.wave);
  e.attr("lane") = or_none(fault.lane >= 0, fault.lane);
  e.attr("address") = or_none(fault.has_address, fault.address);
  e.attr("pc") = fault.pc;
  e.attr("instruction") = fault.instruction;
  e.attr("source") = fault.source;
  PyErr_SetObject(fault_type.ptr(), e.ptr());
}

struct FaultKindRow {
  const char* name;
  FaultKind kind;
  const char* doc;
};

constexpr FaultKindRow kFaultKinds[] = {
    {"OutOfBounds", FaultKind::OutOfBounds,
     "a global access outside every live allocation, or across the end of one."},
    {"UseAfterFree", FaultKind::UseAfterFree, "a global access to freed memory."},
    {"ReadOnly", FaultKind::ReadOnly, "a store to code, constants or a read-only array."},
    {"LdsOutOfBounds", FaultKind::LdsOutOfBounds,
     "an LDS access outside the workgroup's allocation."},
    {"UndefinedValue", FaultKind::UndefinedValue,
     "a value never written decides an address, a branch, the exec mask or a stored byte."},
    {"MissingWait", FaultKind::MissingWait,
     "a register is used while a load into it is in flight."},
    {"LdsRace", FaultKind::LdsRace,
     "two waves touch the same bytes of LDS with no barrier between."},
    {"BarrierNotReached", FaultKind::BarrierNotReached,
     "some waves wait at a barrier that another wave never reaches."},
    {"Misaligned", FaultKind::Misaligned, "an access that the hardware would refuse."},
    {"InstructionBudget", FaultKind::InstructionBudget,
     "a wave executed more instructions than configure() allows."},
    {"Trap", FaultKind::Trap, "the kernel stopped itself: __builtin_trap, a failed assertion."},
    {"Unsupported", FaultKind::Unsupported,
     "an instruction, operand or mode that the simulator does not execute."},
    {"IllegalInstruction", FaultKind::IllegalInstruction,
     "bytes that are no instruction, or a register that the kernel does not own."},
};

void bind_faults(py::module_& m) {
  std::string doc = "What a kernel did wrong.\n";
  for (const FaultKindRow& row : kFaultKinds) doc += concat("\n", row.name, ": ", row.doc);
  py::native_enum<FaultKind> kinds(m, "FaultKind", "enum.Enum", doc.c_str());
  for (const FaultKindRow& row : kFaultKinds) kinds.value(row.name, row.kind, row.doc);
  kinds.finalize();
  fault_type = PyErr_NewExceptionWithDoc(
      "tq_ext.gfxsim.Fault",
      "A kernel violated a rule. The text is the whole report; the attributes are its parts:\n\n"
      "kind (FaultKind), message, kernel, workgroup ((x, y, z) or None), wave and lane (or None),\n"
      "address (of the access, or None), pc (in the code object), instruction (disassembly),\n"
      "source (\"file:line\", or \"\" without line information).",
      PyExc_RuntimeError, nullptr);
  m.add_object("Fault", fault_type);
  py::register_exception_translator([](std::exception_ptr p) {
    try {
      if (p) std::rethrow_exception(p);
    } catch (const Fault& fault) {
      raise_python_fault(fault);
    }
  });
}

// --- code objects ---

std::shared_ptr<CodeObject> load(const py::bytes& image, const std::string& target) {
  return CodeObject::load(select_code_object(view(image), target));
}

const Kernel& kernel_named(const CodeObject& object, const std::string& name) {
  if (const Kernel* kernel = object.find(name)) return *kernel;
  std::string present;
  for (const Kernel& k : object.kernels()) present += (present.empty() ? "" : ", ") + k.name;
  throw py::key_error(concat("no kernel '", name, "'; the module holds ", present));
}

LaunchStats launch_kernel(
    const CodeObject& object, const std::string& name, const std::array<uint32_t, 3>& grid,
    const std::array<uint32_t, 3>& block, uint32_t dynamic_lds, const py::bytes& args,
    const std::vector<std::tuple<uint64_t, uint64_t, bool, std::string>>& memory) {
  const Kernel& kernel = kernel_named(object, name);
  const std::span<const uint8_t> arg_bytes = view(args);
  KernelMemory usable;
  for (const auto& [address, bytes, writable, label] : memory) {
    void* const data = reinterpret_cast<void*>(address);
    if (writable)
      usable.output(data, bytes, label);
    else
      usable.input(data, bytes, label);
  }
  py::gil_scoped_release release;
  return run_kernel(object, kernel, {grid, block, dynamic_lds}, arg_bytes);
}

py::str kernel_text(const Kernel& k) {
  const auto hidden = std::ranges::count(k.args, KernelArg::Hidden, &KernelArg::kind);
  return py::str(
             "KernelInfo(name={!r}, vgprs={}, agprs={}, sgprs={}, lds={}, scratch={}, "
             "max_workgroup={}, args={} and {} hidden)")
      .format(k.name, k.vgprs, k.agprs, k.sgprs, k.lds_bytes, k.scratch_bytes,
              k.max_flat_workgroup_size, k.args.size() - hidden, hidden);
}

void bind_code_objects(py::module_& m) {
  py::class_<KernelArg>(m, "KernelArg", "An argument of a kernel, hidden ones included.")
      .def_readonly("name", &KernelArg::name, "As in the source; may be empty.")
      .def_readonly("value_kind", &KernelArg::value_kind,
                    "\"by_value\", \"global_buffer\" or \"hidden_...\".")
      .def_readonly("offset", &KernelArg::offset, "Bytes into the kernarg segment.")
      .def_readonly("size", &KernelArg::size, "Bytes.")
      .def_property_readonly(
          "hidden", [](const KernelArg& a) { return a.kind == KernelArg::Hidden; },
          "Whether the compiler added it and the launch fills it.")
      .def("__repr__", [](const KernelArg& a) {
        return py::str("KernelArg(name={!r}, value_kind={!r}, offset={}, size={})")
            .format(a.name, a.value_kind, a.offset, a.size);
      });
  py::class_<Kernel>(m, "KernelInfo", "What a code object says about a kernel.")
      .def_readonly("name", &Kernel::name, "Mangled, as in the code object.")
      .def_readonly("vgprs", &Kernel::vgprs, "Used vector registers, AGPRs not counted.")
      .def_readonly("agprs", &Kernel::agprs, "Used accumulation registers.")
      .def_readonly("sgprs", &Kernel::sgprs, "Used scalar registers.")
      .def_readonly("vgpr_spills", &Kernel::vgpr_spills,
                    "Vector registers that the compiler spilled to scratch.")
      .def_readonly("sgpr_spills", &Kernel::sgpr_spills,
                    "Scalar registers that the compiler spilled.")
      .def_readonly("lds", &Kernel::lds_bytes, "Static LDS, in bytes.")
      .def_readonly("scratch", &Kernel::scratch_bytes, "Private memory of a lane, in bytes.")
      .def_readonly("kernarg_size", &Kernel::kernarg_size, "Bytes, hidden arguments included.")
      .def_readonly("max_workgroup", &Kernel::max_flat_workgroup_size,
                    "The most work items of a workgroup.")
      .def_readonly("wave_size", &Kernel::wave_size, "Lanes of a wave.")
      .def_readonly("code_bytes", &Kernel::code_bytes, "Bytes of machine code.")
      .def_readonly("args", &Kernel::args,
                    "Its arguments (KernelArg) in order, hidden ones included.")
      .def_readonly("allocated_vgprs", &Kernel::allocated_vgprs,
                    "Vector registers that a wave owns, AGPRs included.")
      .def_readonly("allocated_sgprs", &Kernel::allocated_sgprs,
                    "Scalar registers that a wave owns.")
      .def_readonly("accum_offset", &Kernel::accum_offset,
                    "The first allocated register that is an AGPR; 0 without AGPRs.")
      .def_readonly("float_mode", &Kernel::float_mode, "Bits 7 to 0 of MODE at the start.")
      .def_readonly("ieee_mode", &Kernel::ieee_mode,
                    "Whether MODE.IEEE is set at the start: signaling NaNs are quieted.")
      .def_readonly("dx10_clamp", &Kernel::dx10_clamp,
                    "Whether MODE.DX10_CLAMP is set at the start: clamping turns NaN into 0.")
      .def_readonly("kernarg_preload_dwords", &Kernel::kernarg_preload_dwords,
                    "Dwords of arguments that lie in scalar registers at the start.")
      .def_property_readonly(
          "workgroup_ids",
          [](const Kernel& k) {
            return std::make_tuple(k.workgroup_id_x, k.workgroup_id_y, k.workgroup_id_z);
          },
          "Whether a scalar register holds the workgroup's x, y, z at the start.")
      .def_readonly("workitem_id_dims", &Kernel::workitem_id_dims,
                    "Dimensions of the work item's index in v0 at the start: 1 to 3.")
      .def_readonly(
          "num_user_sgprs", &Kernel::num_user_sgprs,
          "Scalar registers filled for the kernel at the start, workgroup ids not counted.")
      .def("__repr__", &kernel_text);
  py::class_<CodeObject, std::shared_ptr<CodeObject>>(m, "CodeObject")
      .def(py::init(&load), py::arg("image"), py::arg("target"))
      .def_property_readonly("target", &CodeObject::target)
      .def_property_readonly("version", &CodeObject::version)
      .def_property_readonly("kernels", &CodeObject::kernels)
      .def("symbol",
           [](const CodeObject& object, const std::string& name) {
             const DataSymbol* symbol = object.find_symbol(name);
             if (symbol == nullptr) throw py::key_error(concat("no variable '", name, "'"));
             return std::make_tuple(symbol->address, symbol->size);
           })
      .def("launch", &launch_kernel);
}

// --- counts ---

py::dict counts_by_class(const LaunchStats& s) {
  py::dict counts;
  for (int i = 0; i < kNumOpClasses; ++i)
    if (s.by_class[i] != 0) counts[op_class_name(static_cast<OpClass>(i))] = s.by_class[i];
  return counts;
}

py::list counts_by_instruction(const LaunchStats& s) {
  py::list counts;
  for (const InstructionCount& c : s.per_instruction)
    counts.append(py::make_tuple(c.address, c.text, op_class_name(c.cls), c.executed));
  return counts;
}

void bind_stats(py::module_& m) {
  py::class_<LaunchStats> stats(m, "LaunchStats", "What a launch did, as counts.");
  py::list names;
  const auto field = [&](const char* name, auto get, const char* doc) {
    stats.def_property_readonly(name, get, doc);
    names.append(name);
  };
#define FIELD(name, doc) field(#name, [](const LaunchStats& s) { return s.name; }, doc)
#define COUNTER(name, doc) field(#name, [](const LaunchStats& s) { return s.counters.name; }, doc)
  FIELD(kernel, "Name.");
  FIELD(target, "\"gfx950\".");
  FIELD(workgroups, "Workgroups run.");
  FIELD(waves, "Waves run.");
  FIELD(instructions, "Wave instructions executed.");
  field("by_class", counts_by_class, "Wave instructions by class, e.g. {\"valu\": 12}.");
  FIELD(mfma_passes, "Passes of matrix instructions, 4 clocks each.");
  COUNTER(lds_cycles, "Clocks that LDS accesses take, bank conflicts included.");
  COUNTER(lds_bank_conflict_cycles, "Of lds_cycles, those lost to bank conflicts.");
  COUNTER(lds_bytes_read, "Bytes read from LDS by active lanes.");
  COUNTER(lds_bytes_written, "Bytes written to LDS by active lanes.");
  COUNTER(bytes_read, "Bytes read from memory by active lanes.");
  COUNTER(bytes_written, "Bytes written to memory by active lanes.");
  COUNTER(lines_read, "Distinct 128-byte lines that each read touches, summed.");
  COUNTER(lines_written, "Distinct 128-byte lines that each write touches, summed.");
  FIELD(vgprs, "Used vector registers, AGPRs not counted.");
  FIELD(agprs, "Used accumulation registers.");
  FIELD(sgprs, "Used scalar registers.");
  FIELD(lds_bytes, "LDS of a workgroup, static and dynamic.");
  FIELD(scratch_bytes, "Private memory of a lane.");
  field(
      "occupancy", [](const LaunchStats& s) { return s.occupancy_waves_per_simd; },
      "Waves of this kernel that fit a SIMD.");
  FIELD(seconds, "Time the simulation took.");
#undef FIELD
#undef COUNTER
  stats.def_property_readonly("per_instruction", counts_by_instruction,
                              "(address in the code object, text, class, times executed) of each "
                              "instruction that ran, in address order.");
  const py::tuple fields(names);
  stats.def(
      "as_dict",
      [fields](py::object self) {
        py::dict all;
        for (py::handle name : fields) all[name] = self.attr(name);
        return all;
      },
      "All counts but per_instruction, by name.");
  stats.def("__repr__", [](py::object self) {
    return py::str("LaunchStats({})").format(self.attr("as_dict")());
  });
}

// --- memory ---

// Throws unless the range is memory of the device.
uint8_t* device_range(uint64_t address, uint64_t bytes) {
  AddressSpace& space = AddressSpace::get();
  if (bytes != 0 && space.find(address, bytes) == nullptr)
    throw std::invalid_argument(
        concat(bytes, " bytes at ", hex(address), ": ", space.explain(address, bytes)));
  return reinterpret_cast<uint8_t*>(address);
}

uint64_t allocate(uint64_t bytes, const std::string& label) {
  void* const ptr = AddressSpace::get().allocate(bytes, Allocation::Device, label);
  if (ptr == nullptr) throw std::invalid_argument(concat("cannot allocate ", bytes, " bytes"));
  return reinterpret_cast<uint64_t>(ptr);
}

// Waits for a launch of another thread, which may be using the memory.
void release(uint64_t address) {
  py::gil_scoped_release without_gil;
  const std::lock_guard lock(device_mutex());
  if (!AddressSpace::get().release(reinterpret_cast<void*>(address)))
    throw std::invalid_argument(concat("nothing is allocated at ", hex(address)));
}

void write(uint64_t address, const py::buffer& data) {
  const py::buffer_info info = data.request();
  if (!PyBuffer_IsContiguous(info.view(), 'C')) throw std::invalid_argument("data: not contiguous");
  const uint64_t bytes = static_cast<uint64_t>(info.size * info.itemsize);
  std::memcpy(device_range(address, bytes), info.ptr, bytes);
  AddressSpace::get().mark_defined(address, bytes);
}

py::bytes read(uint64_t address, uint64_t bytes) {
  return py::bytes(reinterpret_cast<const char*>(device_range(address, bytes)), bytes);
}

void fill(uint64_t address, uint8_t value, uint64_t bytes) {
  std::memset(device_range(address, bytes), value, bytes);
  AddressSpace::get().mark_defined(address, bytes);
}

void bind_memory(py::module_& m) {
  m.def("malloc", &allocate);
  m.def("free", &release);
  m.def("write", &write);
  m.def("read", &read);
  m.def("fill", &fill);
  m.def("is_defined", [](uint64_t address, uint64_t bytes) {
    device_range(address, bytes);
    return AddressSpace::get().is_defined(address, bytes);
  });
}

// --- options ---

void bind_options(py::module_& m) {
  py::class_<ExecutorOptions>(m, "Options")
      .def_readwrite("seed", &ExecutorOptions::seed)
      .def_readwrite("threads", &ExecutorOptions::threads)
      .def_readwrite("instruction_budget", &ExecutorOptions::instruction_budget);
  m.def("options", &executor_options, py::return_value_policy::reference);
}

std::vector<std::tuple<std::string, std::string>> supported_instructions(
    const std::string& target) {
  if (find_target(target) == nullptr)
    throw std::invalid_argument(concat("target '", target, "' is not supported"));
  std::vector<std::tuple<std::string, std::string>> rows;
  for (const Op& op : all_ops()) rows.emplace_back(op.name, op_class_name(op.cls));
  return rows;
}

}  // namespace

PYBIND11_MODULE(_gfxsim, m) {
  bind_faults(m);
  bind_code_objects(m);
  bind_stats(m);
  bind_memory(m);
  bind_options(m);
  m.def("last_launch", &last_launch);
  m.def("last_fault_report", &last_fault_report);
  m.def("reset", [] { (void)hipDeviceReset(); });
  m.def("supported_instructions", &supported_instructions);
  m.def("disassembler", &disassembler_description);
}
