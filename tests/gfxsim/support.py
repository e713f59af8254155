"""Compiles HIP and C++ sources against the installed simulator."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from build_support.config import CSRC, GFXSIM
from build_support.toolchain import Toolchain, find_toolchain

FOLDER = Path(__file__).parent
COMMON = ("-std=c++20", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-I", CSRC)
HIP = ("-x", "hip", "--offload-arch=gfx950", "-nogpuinc", "-nogpulib", "-I", GFXSIM / "include")
CASE_SECONDS = 120


@cache
def clang() -> str:
    tools = find_toolchain()
    if not isinstance(tools, Toolchain):
        pytest.skip("no clang that compiles HIP: " + "; ".join(map(str, tools)))
    return tools.clang


def code_object(source: str, *flags: str) -> bytes:
    """The gfx950 code object of a HIP source, which need not include the HIP header."""
    text = "#include <hip/hip_runtime.h>\n" + source
    device_only = ("--offload-device-only", "--no-gpu-bundle-output")
    return compiled(text, (*HIP, *device_only, *flags)).read_bytes()


def cases_of(program: str) -> list[str]:
    """The names of the cases (see cases.h) of a program in this folder."""
    return re.findall(r"^CASE\((\w+)\)", (FOLDER / program).read_text(), re.MULTILINE)


def run_case(program: str, case: str) -> subprocess.CompletedProcess[str]:
    """Builds a .cpp or .hip program of this folder and runs one case, which must succeed."""
    source = FOLDER / program
    folder = library_folder()
    link = ("-x", "none", folder / "libgfxsim.so", f"-Wl,-rpath,{folder}")
    flags = (*HIP, "-no-hip-rt") if source.suffix == ".hip" else ("-x", "c++")
    executable = compiled(source, flags, link)
    result = subprocess.run(
        [executable, case], capture_output=True, text=True, timeout=CASE_SECONDS
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def library_folder() -> Path:
    """Where libgfxsim.so lies."""
    from tq_ext import gfxsim

    return Path(gfxsim.__file__).parent


@cache
def compiled(
    source: str | Path, flags: tuple[str | Path, ...], libraries: tuple[str | Path, ...] = ()
) -> Path:
    """What clang makes of a source text or file; from an earlier run when nothing has changed."""
    text = source.read_text() if isinstance(source, Path) else source
    command = [clang(), *COMMON, *flags]
    key = "\0".join([text, _headers_digest(), *map(str, command), *map(str, libraries)])
    output = _cache_folder() / hashlib.sha256(key.encode()).hexdigest()[:24]
    if not output.exists():
        if not isinstance(source, Path):
            source = output.with_suffix(".cpp")  # stays, for line information to lead to
            source.write_text(text)
        partial = output.with_suffix(f".{os.getpid()}")
        command += [source, *libraries, "-o", partial]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, f"clang failed:\n{result.stderr}"
        partial.rename(output)
    return output


def _cache_folder() -> Path:
    folder = Path(tempfile.gettempdir()) / f"gfxsim-tests-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    return folder


@cache
def _headers_digest() -> str:
    """Changes with any header that a program may include."""
    digest = hashlib.sha256()
    for header in sorted([*CSRC.rglob("*.h"), *FOLDER.glob("*.h")]):
        digest.update(header.read_bytes())
    return digest.hexdigest()
