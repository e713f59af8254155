"""tq_ext.gfxsim: launching kernels from Python."""

from __future__ import annotations

import struct
import threading

import numpy as np
import pytest
import torch

from tests.gfxsim.support import code_object
from tq_ext import gfxsim

SOURCE = """
extern "C" __global__ void axpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
struct Pair { int first; long long second; };
extern "C" __global__ void arguments(double* out, double d, Pair p, unsigned char c, short* null) {
  out[0] = d;
  out[1] = p.first;
  out[2] = p.second;
  out[3] = c;
  out[4] = null == nullptr;
}
extern "C" __global__ void store_at(int* out, long long index) { out[index] = 7; }
extern "C" __global__ void forever(volatile int* flag) { while (*flag == 0) {} }
extern "C" __global__ void index(unsigned* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block << 16 | thread;
}
extern "C" __global__ void __launch_bounds__(128) shared(int* out) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
"""


@pytest.fixture(scope="module")
def module() -> gfxsim.Module:
    return gfxsim.Module(code_object(SOURCE))


def test_kernel_information(module):
    kernel = module.kernels["axpy"]
    assert (kernel.wave_size, kernel.lds, kernel.scratch) == (64, 0, 0)
    explicit = [(arg.offset, arg.size) for arg in kernel.args if not arg.hidden]
    assert explicit == [(0, 8), (8, 8), (16, 4), (20, 4)]
    assert module.kernels["shared"].max_workgroup == 128


def test_numpy_arrays(module):
    n = 1000
    x = np.linspace(-1, 1, n, dtype=np.float32)
    y = np.arange(n, dtype=np.float32)
    # One product and one sum, fused: exact in float64, rounded once.
    expected = (y.astype(np.float64) + 2.5 * x.astype(np.float64)).astype(np.float32)
    module.launch("axpy", 4, 256, [y, x, 2.5, n])
    np.testing.assert_array_equal(y, expected)


def test_torch_tensors(module):
    n = 300
    x, y = torch.arange(n, dtype=torch.float32), torch.ones(n)
    module.launch("axpy", (2,), (256, 1, 1), [y, x, -1.0, n])
    assert torch.equal(y, 1 - torch.arange(n, dtype=torch.float32))


def test_views_of_one_tensor(module):
    data = torch.arange(64, dtype=torch.float32)
    module.launch("axpy", 1, 64, [data[:32], data[16:48], 1.0, 32])
    expected = torch.arange(64, dtype=torch.float32)
    expected[:32] += torch.arange(16, 48, dtype=torch.float32)
    # Lanes of one wave read before they write.
    assert torch.equal(data, expected)


def test_pointers(module):
    n = 64
    x = gfxsim.malloc(4 * n)
    y = gfxsim.malloc(4 * n)
    gfxsim.write(x, np.full(n, 3, np.float32))
    gfxsim.write(y, np.zeros(n, np.float32))
    module.launch("axpy", 1, 64, [y, x, 2.0, n])
    assert gfxsim.read(y, 4 * n) == np.full(n, 6, np.float32).tobytes()
    gfxsim.free(x)
    gfxsim.free(y)


def test_arguments_of_all_kinds(module):
    out = np.zeros(5)
    pair = struct.pack("<i4xq", -5, 1 << 40)
    module.launch("arguments", 1, 1, [out, 0.1, pair, np.uint8(200), None])
    assert out.tolist() == [0.1, -5, float(1 << 40), 200, 1]
    module.launch("arguments", 1, 1, [out, np.float64(2), pair, True, 1 << 63])
    assert out.tolist() == [2, -5, float(1 << 40), 1, 0]


def test_three_dimensions(module):
    grid, block = (3, 2, 2), (4, 3, 2)
    out = np.zeros((12, 24), np.uint32)
    module.launch("index", grid, block, [out])
    blocks, threads = np.meshgrid(np.arange(12), np.arange(24), indexing="ij")
    np.testing.assert_array_equal(out, blocks << 16 | threads)


def test_dynamic_lds(module):
    out = np.zeros(128, np.int32)
    stats = module.launch("shared", 1, 128, [out], dynamic_lds=512)
    np.testing.assert_array_equal(out, np.arange(128) ^ 1)
    assert stats.lds_bytes == 512


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        ([1, 2, 3.0], ValueError, "3 were given; kernel axpy takes 4"),
        ([1, 2, 3.0, 1 << 32], ValueError, r"args\[3\].*does not fit the argument's 4 bytes"),
        ([1, 2, 3.0, "x"], TypeError, r"args\[3\].*str was given"),
        ([1.0, 2, 3.0, 4], TypeError, r"args\[0\].*float was given.*a pointer.*accepted"),
        ([1, np.float64(2), 3.0, 4], TypeError, r"args\[1\].*float64 was given.*a pointer"),
        (
            [1, 2, np.zeros(4), 4],
            TypeError,
            r"args\[2\].*an array was given; the argument is a 4-byte value",
        ),
        ([1, 2, 3.0, torch.zeros(4)], TypeError, r"args\[3\].*an array was given"),
        ([1, 2, np.float64(3), 4], ValueError, r"args\[2\].*8 bytes were given"),
        ([np.zeros((4, 4))[:, 1], 2, 3.0, 4], ValueError, r"args\[0\].*not contiguous"),
        ([np.array([None]), 2, 3.0, 4], TypeError, r"args\[0\].*Python objects"),
        ([torch.zeros(4, 4).T, 2, 3.0, 4], ValueError, r"args\[0\].*not contiguous"),
        ([torch.zeros(4, device="meta"), 2, 3.0, 4], ValueError, "CPU tensors are accepted"),
    ],
)
def test_arguments_that_are_refused(module, args, error, message):
    with pytest.raises(error, match=message):
        module.launch("axpy", 1, 64, args)


def test_an_int_for_a_float_is_its_bits(module):
    y = np.zeros(1, np.float32)
    half = int(np.float32(0.5).view(np.uint32))
    module.launch("axpy", 1, 64, [y, np.ones(1, np.float32), half, 1])
    assert y[0] == 0.5


@pytest.mark.parametrize(
    ("grid", "block", "lds", "message"),
    [
        (0, 64, 0, "grid.x is 0"),
        (1, (64, 0), 0, "block.y is 0"),
        (1, 129, 0, "compiled for at most 128"),
        (1, (32, 32, 2), 0, "at most 1024"),
        (-1, 64, 0, "grid.x is -1; 1 to 4294967295 are accepted"),
        ((1, np.int64(-2)), 64, 0, "grid.y is -2"),
        (1, (1, 1, 1 << 32), 0, "block.z is 4294967296"),
        (1, 64, -1, "dynamic_lds is -1"),
        ((1, 2, 3, 4), 1, 0, "grid: 4 numbers"),
        (1 << 31, 2, 0, "work items fit a dimension"),
        (1, 64, 160 * 1024 + 1, "163841 bytes of LDS"),
    ],
)
def test_shapes_that_are_refused(module, grid, block, lds, message):
    with pytest.raises(ValueError, match=message):
        module.launch("shared", grid, block, [0], dynamic_lds=lds)


def test_shapes_of_any_integer_type(module):
    out = np.zeros((6, 4), np.uint32)
    module.launch("index", np.array([3, 2]), np.int64(4), [out])
    np.testing.assert_array_equal(out & 0xFFFF, np.tile(np.arange(4), (6, 1)))


@pytest.mark.parametrize("given", [2.0, "2", None])
def test_shapes_that_are_no_integers(module, given):
    with pytest.raises(TypeError, match=r"grid.y is .*; an integer is accepted"):
        module.launch("index", (1, given), 1, [0])
    with pytest.raises(TypeError, match=r"block.x is .*; an integer is accepted"):
        module.launch("index", 1, [given], [0])


def test_representations(module):
    assert repr(module).startswith("Module(target='gfx950', kernels=['axpy', ")
    kernel = module.kernels["axpy"]
    hidden = sum(arg.hidden for arg in kernel.args)
    assert repr(kernel) == (
        f"KernelInfo(name='axpy', vgprs={kernel.vgprs}, agprs=0, sgprs={kernel.sgprs}, lds=0, "
        f"scratch=0, max_workgroup=1024, args=4 and {hidden} hidden)"
    )
    assert repr(kernel.args[0]) == (
        f"KernelArg(name={kernel.args[0].name!r}, value_kind='global_buffer', offset=0, size=8)"
    )


def test_every_field_and_fault_kind_is_documented():
    fields = [name for name in dir(gfxsim.KernelInfo) if not name.startswith("_")]
    assert all(getattr(gfxsim.KernelInfo, name).__doc__ for name in fields)
    for kind in gfxsim.FaultKind:
        assert f"\n{kind.name}: {kind.__doc__}" in gfxsim.FaultKind.__doc__


def test_unknown_kernel(module):
    with pytest.raises(KeyError, match="no kernel 'nothing'; the module holds axpy"):
        module.launch("nothing", 1, 1, [])


def test_fault_has_its_parts(module):
    out = np.zeros(4, np.int32)
    with pytest.raises(gfxsim.Fault) as caught:
        module.launch("store_at", (1, 2), 1, [out, 6])
    fault = caught.value
    assert isinstance(fault, RuntimeError)
    assert fault.kind is gfxsim.FaultKind.OutOfBounds
    assert fault.kernel == "store_at"
    assert fault.workgroup[0] == 0 and fault.workgroup[1] in (0, 1)
    assert (fault.wave, fault.lane) == (0, 0)
    assert fault.address == out.ctypes.data + 24
    assert fault.instruction.startswith("global_store_dword")
    assert ".cpp:" in fault.source
    assert "8 bytes past the end of the 16-byte allocation" in fault.message
    assert "args[0]" in fault.message
    assert fault.message in str(fault)


def test_a_fault_does_not_stay(module):
    out = np.zeros(4, np.int32)
    with pytest.raises(gfxsim.Fault):
        module.launch("store_at", 1, 1, [out, 6])
    module.launch("store_at", 1, 1, [out, 2])
    assert out.tolist() == [0, 0, 7, 0]


def test_read_only_array(module):
    out = np.zeros(4, np.int32)
    out.flags.writeable = False
    with pytest.raises(gfxsim.Fault) as caught:
        module.launch("store_at", 1, 1, [out, 1])
    assert caught.value.kind is gfxsim.FaultKind.ReadOnly


def test_memory_is_known_only_during_the_call(module):
    out = np.zeros(4, np.int32)
    module.launch("store_at", 1, 1, [out, 1])
    with pytest.raises(gfxsim.Fault, match="outside every live allocation"):
        module.launch("store_at", 1, 1, [out.ctypes.data, 1])


def test_freed_memory(module):
    ptr = gfxsim.malloc(64, "gone")
    gfxsim.free(ptr)
    with pytest.raises(gfxsim.Fault, match=r"freed .*\(gone\)") as caught:
        module.launch("store_at", 1, 1, [ptr, 1])
    assert caught.value.kind is gfxsim.FaultKind.UseAfterFree


def test_instruction_budget(module):
    with gfxsim.options(instruction_budget=10_000):
        with pytest.raises(gfxsim.Fault) as caught:
            module.launch("forever", 1, 1, [np.zeros(1, np.int32)])
    assert caught.value.kind is gfxsim.FaultKind.InstructionBudget


def test_options_come_back():
    from tq_ext import _gfxsim

    gfxsim.configure(seed=3)
    with gfxsim.options(seed=5, threads=1):
        assert (_gfxsim.options().seed, _gfxsim.options().threads) == (5, 1)
    assert (_gfxsim.options().seed, _gfxsim.options().threads) == (3, 0)
    gfxsim.configure(seed=0)


@pytest.mark.parametrize(
    ("option", "error", "message"),
    [
        ({"seed": -1}, ValueError, "seed is -1; 0 to"),
        ({"seed": 1.0}, TypeError, "seed is 1.0, a float; an integer is accepted"),
        ({"threads": -1}, ValueError, "threads is -1; 0 to"),
        ({"threads": "2"}, TypeError, "threads is '2', a str; an integer is accepted"),
        ({"instruction_budget": 0}, ValueError, "instruction_budget is 0; 1 to"),
        ({"instruction_budget": 1e6}, TypeError, "instruction_budget is 1000000.0, a float"),
    ],
)
def test_options_that_are_refused(option, error, message):
    from tq_ext import _gfxsim

    def present():
        current = _gfxsim.options()
        return current.seed, current.threads, current.instruction_budget

    before = present()
    with pytest.raises(error, match=message):
        gfxsim.configure(**{"seed": 9, **option})
    with pytest.raises(error, match=message), gfxsim.options(**option):
        pass
    assert present() == before


def test_memory_calls_name_what_they_refuse():
    with pytest.raises(ValueError, match="nbytes is -1"):
        gfxsim.malloc(-1)
    with pytest.raises(TypeError, match="ptr is 1.5, a float"):
        gfxsim.free(1.5)
    with pytest.raises(ValueError, match="value is 256; 0 to 255 are accepted"):
        gfxsim.fill(0, 256, 1)


def test_counts(module):
    n = 256
    x, y = np.ones(n, np.float32), np.ones(n, np.float32)
    stats = module.launch("axpy", 2, 128, [y, x, 1.0, n])
    assert stats.kernel == "axpy" and stats.target == "gfx950"
    assert (stats.workgroups, stats.waves) == (2, 4)
    assert stats.by_class["vmem_load"] == 2 * stats.waves
    assert stats.by_class["vmem_store"] == stats.waves
    assert sum(stats.by_class.values()) == stats.instructions
    assert stats.bytes_written == 4 * n
    # x and y, and kernel arguments by scalar loads.
    assert stats.bytes_read > 2 * 4 * n
    assert stats.vgprs == module.kernels["axpy"].vgprs
    assert stats.occupancy == 8
    assert sum(count for *_, count in stats.per_instruction) == stats.instructions
    assert any(text.startswith("global_store_dword") for _, text, *_ in stats.per_instruction)
    as_dict = stats.as_dict()
    assert as_dict["instructions"] == stats.instructions
    assert "per_instruction" not in as_dict
    assert gfxsim.last_launch().as_dict() == as_dict


def test_threads_may_launch_at_the_same_time(module):
    def work(y: np.ndarray) -> None:
        for _ in range(20):
            module.launch("axpy", 1, 64, [y, np.ones(64, np.float32), 1.0, 64])

    results = [np.zeros(64, np.float32) for _ in range(4)]
    threads = [threading.Thread(target=work, args=(y,)) for y in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for y in results:
        np.testing.assert_array_equal(y, np.full(64, 20, np.float32))


def test_supported_instructions():
    rows = dict(gfxsim.supported_instructions())
    assert rows["v_add_f32"] == "valu"
    assert rows["ds_read_b64_tr_b16"] == "lds_read"
    with pytest.raises(ValueError, match="gfx000"):
        gfxsim.supported_instructions("gfx000")


def test_services_that_do_not_exist_are_named():
    """Unoptimised code carries the pointers; only following one is a fault."""
    source = """
    extern "C" __global__ void k(int* out, int use) {
      auto* hidden = (__attribute__((address_space(4))) char*)__builtin_amdgcn_implicitarg_ptr();
      auto* hostcall = *(int* __attribute__((address_space(4)))*)(hidden + 80);
      *out = use ? *hostcall : 1;
    }
    """
    module = gfxsim.Module(code_object(source, "-O0"))
    kernel = module.kernels["k"]
    assert any(arg.value_kind == "hidden_hostcall_buffer" for arg in kernel.args)
    out = np.zeros(1, np.int32)
    module.launch("k", 1, 1, [out, 0])
    assert out[0] == 1
    with pytest.raises(gfxsim.Fault, match="hostcall buffer .* which gfxsim does not have"):
        module.launch("k", 1, 1, [out, 1])
