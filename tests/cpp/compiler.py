"""Compiles the test programs and remembers the results.

On a ROCm machine hipcc builds programs for the GPU, elsewhere clang builds them for the simulator.
What is built is kept under a name made of all that decides it: a second run compiles nothing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from build_support.toolchain import Toolchain, find_toolchain

ROOT = Path(__file__).resolve().parents[2]
CSRC = ROOT / "csrc"
PROGRAMS = Path(__file__).resolve().parent
CACHE = ROOT / "build" / "test-programs"

TARGET = "gfx950"
LIBRARY = "libgfxsim.so"
# Where libgfxsim.so lies, when not beside the installed package.
LIBRARY_VARIABLE = "TQ_GFXSIM_LIBRARY_DIR"

COMMON_FLAGS = ("-std=c++20", "-O3", "-g", "-Wall", "-Wextra", "-Werror")
SIMULATOR_FLAGS = ("-x", "hip", f"--offload-arch={TARGET}", "-nogpuinc", "-nogpulib")
INCLUDES = (CSRC, PROGRAMS)
SIMULATOR_INCLUDE = CSRC / "gfxsim/include"


class NoCompiler(RuntimeError):
    """Nothing on this machine compiles HIP; the text says what is missing."""


@dataclass(frozen=True)
class Compiler:
    """Commands that turn a .hip file into a program: `compile` takes the source, `link` follows."""

    compile: tuple[str, ...]
    link: tuple[str, ...]
    version: str


def build_mode() -> str:
    """How tq_ext was built: "rocm", "gfxsim" or "cpu"."""
    if LIBRARY_VARIABLE in os.environ:
        return "gfxsim"
    import tq_ext

    return tq_ext.build_info()["mode"]


def _library_folder() -> Path:
    if LIBRARY_VARIABLE in os.environ:
        return Path(os.environ[LIBRARY_VARIABLE]).resolve()
    import tq_ext

    return Path(tq_ext.__file__).resolve().parent


@cache
def program_compiler() -> Compiler:
    """The compiler of this build's mode. Raises NoCompiler where a build has no kernels."""
    includes = [f"-I{folder}" for folder in INCLUDES]
    mode = build_mode()
    if mode == "rocm":
        from torch.utils.cpp_extension import ROCM_HOME

        hipcc = str(Path(ROCM_HOME) / "bin/hipcc")
        version = subprocess.check_output([hipcc, "--version"], text=True)
        flags = (*COMMON_FLAGS, f"--offload-arch={TARGET}", *includes)
        return Compiler((hipcc, *flags), (), version)
    if mode != "gfxsim":
        raise NoCompiler("tq_ext was built without kernels")
    tools = find_toolchain()
    if not isinstance(tools, Toolchain):
        raise NoCompiler("missing: " + ", ".join(map(str, tools)))
    folder = _library_folder()
    flags = (*COMMON_FLAGS, *SIMULATOR_FLAGS, *includes, f"-I{SIMULATOR_INCLUDE}")
    link = (f"-L{folder}", "-lgfxsim", f"-Wl,-rpath,{folder}")
    return Compiler((*_with_ccache(tools.clang), *flags), link, tools.banner)


def build_program(source: Path) -> Path:
    """The program that `source` compiles to."""
    compiler = program_compiler()
    compile_command = [*compiler.compile, "-c", str(source)]
    key = _key(compiler.version, *compile_command, *compiler.link, _file_hashes(source))

    def build(output: Path) -> None:
        object_file = output.with_suffix(".o")
        _run([*compile_command, "-o", str(object_file)])
        _run([_linker(compiler), str(object_file), *compiler.link, "-o", str(output)])
        object_file.unlink()

    program = _remembered(f"{source.stem}-{key}", build)
    for outdated in set(CACHE.glob(f"{source.stem}-*")) - {program}:
        outdated.unlink(missing_ok=True)
    return program


def _with_ccache(compiler: str) -> list[str]:
    return [ccache, compiler] if (ccache := shutil.which("ccache")) else [compiler]


def _linker(compiler: Compiler) -> str:
    return next(word for word in compiler.compile if not word.endswith("ccache"))


def _file_hashes(source: Path) -> str:
    """A hash of the contents of everything that a test program may include."""
    headers = [*CSRC.glob("gcn/*.h"), *SIMULATOR_INCLUDE.rglob("*.h"), *PROGRAMS.glob("*.h")]
    digest = hashlib.sha256()
    for file in [*sorted(headers), source]:
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _key(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _remembered(name: str, build: Callable[[Path], None]) -> Path:
    """The file of this name; `build` makes it when it is not there yet."""
    result = CACHE / name
    if not result.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        # Built beside it and renamed: two test processes may build the same file.
        with tempfile.TemporaryDirectory(dir=CACHE) as folder:
            built = Path(folder) / name
            build(built)
            built.rename(result)
    return result


def _run(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
