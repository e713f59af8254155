"""gfxsim: runs AMD GPU machine code on the CPU, checks what it does and counts it.

A :class:`Module` holds the kernels of a code object; :meth:`Module.launch` runs one. Pointers are
integers, the same numbers for the host and for kernels. A kernel that does something a GPU program
must not do stops with a :class:`Fault`, whose `kind` is a :class:`FaultKind`.

    import numpy as np
    from tq_ext import gfxsim

    # extern "C" __global__ void scale(float* x, float by, int n)
    module = gfxsim.Module("scale.hsaco")
    x = np.ones(1000, np.float32)
    stats = module.launch("scale", grid=4, block=256, args=[x, 2.5, 1000])
    print(x[0], stats.by_class, stats.lds_bank_conflict_cycles)
"""

from __future__ import annotations

import operator
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

try:
    from tq_ext import _gfxsim
except ImportError as error:
    raise ImportError(
        "this installation of tq_ext has no simulator; tq_ext.build_info() tells why"
    ) from error
from tq_ext._gfxsim import Fault, FaultKind, KernelArg, KernelInfo, LaunchStats

__all__ = [
    "Fault",
    "FaultKind",
    "KernelArg",
    "KernelInfo",
    "LaunchStats",
    "Module",
    "configure",
    "disassembler",
    "fill",
    "free",
    "is_defined",
    "last_fault_report",
    "last_launch",
    "malloc",
    "options",
    "read",
    "reset",
    "supported_instructions",
    "write",
]

DEFAULT_TARGET = "gfx950"
AXES = "xyz"
MAX_INT32 = (1 << 31) - 1
MAX_UINT8 = (1 << 8) - 1
MAX_UINT32 = (1 << 32) - 1
MAX_UINT64 = (1 << 64) - 1

# A range of host memory that a kernel may use: address, bytes, writable, name in reports.
_Range = tuple[int, int, bool, str]


class Module:
    """The kernels of a code object.

    code: an AMDHSA code object (ELF) or a HIP fat binary (clang offload bundle), as bytes or as the
        path of a file.
    target: which entry of a fat binary to take.

    Raises RuntimeError when the code cannot be loaded; the text says what is wrong with it.
    """

    def __init__(self, code: bytes | str | os.PathLike[str], target: str = DEFAULT_TARGET):
        image = code if isinstance(code, bytes) else Path(code).read_bytes()
        self._object = _gfxsim.CodeObject(image, target)
        self._kernels = {kernel.name: kernel for kernel in self._object.kernels}

    def __repr__(self) -> str:
        return f"Module(target={self.target!r}, kernels={list(self._kernels)})"

    @property
    def target(self) -> str:
        """The GPU that the code is for, e.g. "gfx950"."""
        return self._object.target

    @property
    def version(self) -> int:
        """Code object version: 5 or 6."""
        return self._object.version

    @property
    def kernels(self) -> dict[str, KernelInfo]:
        """All kernels by name (mangled, as in the code object)."""
        return self._kernels

    def symbol(self, name: str) -> tuple[int, int]:
        """Address and size in bytes of a __device__ or __constant__ variable."""
        return self._object.symbol(name)

    def launch(
        self,
        name: str,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any],
        dynamic_lds: int = 0,
    ) -> LaunchStats:
        """Runs a kernel to its end.

        grid: workgroups, as one integer or up to three (x, y, z).
        block: work items in a workgroup, likewise.
        args: one for each argument of the kernel.
            int, bool: an integer of the argument's size, or a pointer. The code object does not
            tell floats from integers: for a float argument an int is its raw bits.
            float: an fp32 or fp64 number, by the argument's size. Not for pointers.
            numpy scalar, bytes: their bytes, which must have the argument's size.
            None: a null pointer.
            numpy array, torch CPU tensor: a pointer to its data, which kernels may use during the
            call. It must be contiguous. A read-only numpy array may not be written.
            Only for pointers.
        dynamic_lds: bytes of LDS beyond those the kernel declares.

        Raises Fault when the kernel violates a rule, KeyError for an unknown kernel, ValueError or
        TypeError for a launch that the kernel or the device cannot do.
        """
        if name not in self._kernels:
            raise KeyError(f"no kernel '{name}'; the module holds {', '.join(self._kernels)}")
        packed, memory = _pack(self._kernels[name], args)
        return self._object.launch(
            name,
            _size("grid", grid),
            _size("block", block),
            _integer("dynamic_lds", dynamic_lds, 0, MAX_UINT32),
            packed,
            memory,
        )


def malloc(nbytes: int, label: str = "") -> int:
    """Allocates device memory and returns its address, a multiple of 256.

    Its bytes are undefined until written. `label` names the allocation in reports.
    """
    return _gfxsim.malloc(_integer("nbytes", nbytes, 0, MAX_UINT64), label)


def free(ptr: int) -> None:
    """Frees what malloc() returned. A kernel that still uses it stops with a Fault."""
    _gfxsim.free(_address(ptr))


def write(ptr: int, data: Any) -> None:
    """Copies a contiguous array or bytes into device memory."""
    _gfxsim.write(_address(ptr), data)


def read(ptr: int, nbytes: int) -> bytes:
    """The bytes of a range of device memory, defined or not."""
    return _gfxsim.read(_address(ptr), _integer("nbytes", nbytes, 0, MAX_UINT64))


def fill(ptr: int, value: int, nbytes: int) -> None:
    """Sets every byte of a range of device memory to `value`, 0 to 255."""
    byte = _integer("value", value, 0, MAX_UINT8)
    _gfxsim.fill(_address(ptr), byte, _integer("nbytes", nbytes, 0, MAX_UINT64))


def is_defined(ptr: int, nbytes: int) -> bool:
    """Whether every byte of the range was written since it was allocated."""
    return _gfxsim.is_defined(_address(ptr), _integer("nbytes", nbytes, 0, MAX_UINT64))


def configure(
    seed: int | None = None, threads: int | None = None, instruction_budget: int | None = None
) -> None:
    """Sets options of all later launches; None leaves an option as it is.

    seed: 0 or more; chooses how the waves of a workgroup interleave and, when not 0, in which order
        workgroups run. Starts as the number in the environment's GFXSIM_SEED, or 0.
    threads: host threads that run workgroups; 0, the start value, takes all of the machine.
    instruction_budget: instructions, 1 or more, that a wave may execute before it counts as an
        endless loop. Starts at 200,000,000.

    Raises TypeError for what is no integer and ValueError for one that is not accepted; then no
    option has changed.
    """
    accepted = {
        "seed": (seed, 0, MAX_UINT64),
        "threads": (threads, 0, MAX_INT32),
        "instruction_budget": (instruction_budget, 1, MAX_UINT64),
    }
    chosen = {
        name: _integer(name, value, low, high)
        for name, (value, low, high) in accepted.items()
        if value is not None
    }
    current = _gfxsim.options()
    for name, value in chosen.items():
        setattr(current, name, value)


@contextmanager
def options(
    seed: int | None = None, threads: int | None = None, instruction_budget: int | None = None
) -> Iterator[None]:
    """configure() for the duration of a `with` block."""
    current = _gfxsim.options()
    before = (current.seed, current.threads, current.instruction_budget)
    configure(seed, threads, instruction_budget)
    try:
        yield
    finally:
        configure(*before)


def last_launch() -> LaunchStats:
    """The counts of the last launch that reached its end, through HIP or through this module."""
    return _gfxsim.last_launch()


def last_fault_report() -> str:
    """The report of the last fault of a kernel launched through HIP; "" when there was none.

    Such a fault stays: every HIP call of the process fails until reset().
    """
    return _gfxsim.last_fault_report()


def reset() -> None:
    """hipDeviceReset: frees what HIP programs have allocated and clears a fault that stayed."""
    _gfxsim.reset()


def supported_instructions(target: str = DEFAULT_TARGET) -> list[tuple[str, str]]:
    """Mnemonic and class of every instruction that the simulator executes."""
    return _gfxsim.supported_instructions(target)


def disassembler() -> str:
    """Version and path of the LLVM library that decodes instructions."""
    return _gfxsim.disassembler()


def _integer(what: str, value: Any, low: int, high: int) -> int:
    """`value`, an integer of any type, as an int."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{what} is {value!r}, a {type(value).__name__}; an integer is accepted"
        ) from None
    if not low <= number <= high:
        raise ValueError(f"{what} is {number}; {low} to {high} are accepted")
    return number


def _address(ptr: Any) -> int:
    return _integer("ptr", ptr, 0, MAX_UINT64)


def _size(what: str, size: int | Sequence[int]) -> list[int]:
    """The size in x, y and z."""
    values = tuple(size) if isinstance(size, Iterable) else (size,)
    if not 1 <= len(values) <= len(AXES):
        raise ValueError(f"{what}: {len(values)} numbers were given; 1 to {len(AXES)} are accepted")
    padded = (*values, 1, 1)[: len(AXES)]
    return [
        _integer(f"{what}.{axis}", value, 1, MAX_UINT32)
        for axis, value in zip(AXES, padded, strict=True)
    ]


def _pack(kernel: KernelInfo, args: Sequence[Any]) -> tuple[bytes, list[_Range]]:
    """The bytes of the explicit arguments, and the memory that array arguments refer to."""
    accepted = [arg for arg in kernel.args if not arg.hidden]
    if len(args) != len(accepted):
        raise ValueError(
            f"args: {len(args)} were given; kernel {kernel.name} takes {len(accepted)}"
        )
    packed = bytearray(max((arg.offset + arg.size for arg in accepted), default=0))
    memory: list[_Range] = []
    for index, (value, arg) in enumerate(zip(args, accepted, strict=True)):
        what = f"args[{index}]" + (f" ({arg.name})" if arg.name else "")
        by_value = arg.value_kind == "by_value"
        if not by_value and isinstance(value, float):
            raise TypeError(
                f"{what}: {type(value).__name__} was given; the argument is a pointer, for which "
                "int, None, numpy arrays and torch CPU tensors are accepted"
            )
        if (array := _host_range(what, value)) is not None:
            if by_value:
                raise TypeError(
                    f"{what}: an array was given; the argument is a {arg.size}-byte value"
                )
            memory.append(array)
            value = array[0]
        packed[arg.offset : arg.offset + arg.size] = _value_bytes(what, value, arg.size)
    return bytes(packed), memory


def _host_range(what: str, value: Any) -> _Range | None:
    """The memory of an array argument; None for other values."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError(f"{what}: the array is not contiguous")
        if value.dtype.hasobject:
            raise TypeError(f"{what}: the array holds Python objects; numbers are accepted")
        return value.ctypes.data, value.nbytes, value.flags.writeable, what
    if hasattr(value, "data_ptr"):
        if value.device.type != "cpu":
            raise ValueError(f"{what}: the tensor is on {value.device}; CPU tensors are accepted")
        if not value.is_contiguous():
            raise ValueError(f"{what}: the tensor is not contiguous")
        return value.data_ptr(), value.numel() * value.element_size(), True, what
    return None


def _value_bytes(what: str, value: Any, size: int) -> bytes:
    if isinstance(value, np.generic):
        value = value.tobytes()
    if isinstance(value, bytes):
        if len(value) != size:
            raise ValueError(f"{what}: {len(value)} bytes were given; the argument has {size}")
        return value
    if value is None:
        value = 0
    if isinstance(value, int):
        low, high = -(1 << (8 * size - 1)), 1 << (8 * size)
        if not low <= value < high:
            raise ValueError(f"{what}: {value} does not fit the argument's {size} bytes")
        return (value % high).to_bytes(size, "little")
    if isinstance(value, float):
        formats = {4: "<f", 8: "<d"}
        if size not in formats:
            raise ValueError(f"{what}: a float was given; the argument has {size} bytes")
        return struct.pack(formats[size], value)
    raise TypeError(
        f"{what}: {type(value).__name__} was given; int, bool, float, bytes, None, numpy arrays "
        "and scalars, and torch CPU tensors are accepted"
    )
