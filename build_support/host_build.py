"""The build on a machine without ROCm: the CPU parts and, given a clang, the simulator."""

import os
import shutil
import sysconfig
from pathlib import Path

from build_support.config import (
    CSRC,
    DEFAULT_TARGET,
    EXTENSION_SUFFIX,
    GFXSIM,
    GFXSIM_PYTHON,
    BuildConfig,
    gfxsim_sources,
    hip_sources,
    host_sources,
)
from build_support.ninja import Command, NinjaFile
from build_support.toolchain import Toolchain
from build_support.torch_info import TorchInfo

SIMULATOR_LIBRARY = "libgfxsim.so"
CPU = "-march=x86-64-v3"  # AVX2 and FMA; the simulator's lane loops rely on them
COMMON_FLAGS = ("-std=c++20", "-O3", "-fPIC", "-Wall", "-Wextra", "-I", CSRC)
# Results must be the instruction's, rounding for rounding: no contraction. Registers are read as
# whatever type an instruction means: no strict aliasing.
SIMULATOR_FLAGS = (CPU, "-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing", "-g1")
HIP_INCLUDE = GFXSIM / "include"
# -g: the simulator's reports name source lines.
HIP_FLAGS = (
    *("-x", "hip", "-nogpuinc", "-nogpulib", "-g", CPU),
    *(f"--offload-arch={DEFAULT_TARGET}", "-I", HIP_INCLUDE),
)
PYTHON_MODULE_FLAGS = ("-fvisibility=hidden",)
# Modules find libgfxsim beside them.
LINK_FLAGS = ("-shared", "-Wl,-rpath,$ORIGIN")
TORCH_LIBRARIES = ("-ltorch", "-ltorch_cpu", "-ltorch_python", "-lc10")


def build_with_simulator(
    config: BuildConfig, tools: Toolchain, torch: TorchInfo, folder: Path
) -> list[Path]:
    """Builds libgfxsim, tq_ext._gfxsim and tq_ext._C in `folder`; returns their files."""
    config.write_header(folder)
    ninja = NinjaFile(folder)
    # Another clang may have warnings that nobody has seen yet.
    clang = [tools.clang, *COMMON_FLAGS, *(["-Werror"] if tools.is_tested_version else [])]
    simulator = _add_simulator(ninja, clang, tools)
    outputs = [simulator]
    python_includes = _system_includes(_python_include(), torch.include_dirs[0])  # has pybind11
    module_flags = [*clang, *SIMULATOR_FLAGS, *PYTHON_MODULE_FLAGS, *python_includes]
    module = ninja.compile("gfxsim/python.o", GFXSIM_PYTHON, module_flags)
    outputs.append(_add_module(ninja, tools.clang, "_gfxsim", [module, simulator]))

    kernels = [
        ninja.compile(f"{source.relative_to(CSRC)}.o", source, [*clang, *HIP_FLAGS])
        for source in hip_sources()
    ]
    hip_host = [*clang, "-I", HIP_INCLUDE]
    objects = [*_compile_host(ninja, hip_host, torch, with_hip=True), *kernels, simulator]
    outputs.append(_add_module(ninja, tools.clang, "_C", objects, _torch_libraries(torch)))
    ninja.run()
    return [folder / output for output in outputs]


def build_cpu_only(config: BuildConfig, torch: TorchInfo, folder: Path) -> list[Path]:
    """Builds tq_ext._C without kernels in `folder`; returns its file."""
    config.write_header(folder)
    ninja = NinjaFile(folder)
    objects = _compile_host(ninja, [host_compiler(), *COMMON_FLAGS], torch, with_hip=False)
    output = _add_module(ninja, host_compiler(), "_C", objects, _torch_libraries(torch))
    ninja.run()
    return [folder / output]


def host_compiler() -> str:
    """Exits with one line when there is none."""
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        raise SystemExit(
            "tq_ext needs a C++20 compiler (Debian: g++ python3-dev); "
            f"there is no {compiler!r} on PATH."
        )
    return compiler


def _add_simulator(ninja: NinjaFile, clang: Command, tools: Toolchain) -> str:
    tool_paths = [
        f'-DGFXSIM_LIBLLVM="{tools.libllvm}"',
        f'-DGFXSIM_SYMBOLIZER="{tools.symbolizer}"',
    ]
    flags = [*clang, *SIMULATOR_FLAGS, *tool_paths]
    objects = [
        ninja.compile(f"{source.relative_to(CSRC)}.o", source, flags) for source in gfxsim_sources()
    ]
    command = [tools.clang, "-shared", f"-Wl,-soname,{SIMULATOR_LIBRARY}", "-Wl,-z,defs"]
    return ninja.link(SIMULATOR_LIBRARY, objects, command, ["-ldl", "-lpthread"])


def _compile_host(
    ninja: NinjaFile, compiler: Command, torch: TorchInfo, with_hip: bool
) -> list[str]:
    includes = _system_includes(_python_include(), *torch.include_dirs)
    flags = [*compiler, *PYTHON_MODULE_FLAGS, "-I", ninja.folder, *includes]
    return [
        ninja.compile(f"{source.relative_to(CSRC)}.o", source, flags)
        for source in host_sources(with_hip)
    ]


def _add_module(
    ninja: NinjaFile, compiler: str, name: str, objects: list[str], libraries: Command = ()
) -> str:
    return ninja.link(f"{name}{EXTENSION_SUFFIX}", objects, [compiler, *LINK_FLAGS], libraries)


def _torch_libraries(torch: TorchInfo) -> Command:
    return ["-L", torch.lib_dir, *TORCH_LIBRARIES]


def _python_include() -> Path:
    return Path(sysconfig.get_paths()["include"])


def _system_includes(*folders: Path) -> list[str | Path]:
    # As system headers, their warnings are not ours.
    return [word for folder in folders for word in ("-isystem", folder)]
