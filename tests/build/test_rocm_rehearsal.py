"""The ROCm build without ROCm: everything compiles and links for gfx950 with HIP's own headers.

Nothing runs: the runtime it links to is a stub.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from build_support.config import CSRC, DEFAULT_TARGET, EXTENSION_SUFFIX, ROOT, hip_sources
from build_support.ninja import NinjaFile
from build_support.toolchain import Toolchain, find_toolchain
from tests.build.rocm_files import fetch_rocm_files
from tests.build.rocm_home import HIP_LIBRARY, lay_out_rocm_home

pytestmark = pytest.mark.xdist_group("build")

FOLDER = ROOT / "build/rehearsal"  # kept, so that the next run compiles only what changed
FAT_BINARY_ENTRY = f"hipv4-amdgcn-amd-amdhsa--{DEFAULT_TARGET}".encode()


@pytest.fixture(scope="module")
def tools() -> Toolchain:
    found = find_toolchain()
    if not isinstance(found, Toolchain):
        pytest.skip("needs clang: " + "; ".join(map(str, found)))
    return found


@pytest.fixture(scope="module")
def rocm_home(tools: Toolchain) -> Path:
    home = FOLDER / "rocm_home"
    lay_out_rocm_home(home, fetch_rocm_files(), tools)
    return home


def run_setup(rocm_home: Path) -> Path:
    """Builds the extension as on a ROCm machine; returns the library."""
    folders = ["--build-temp", FOLDER / "objects", "--build-lib", FOLDER / "lib"]
    environment = {name: os.environ[name] for name in os.environ if name != "PYTORCH_ROCM_ARCH"}
    subprocess.run(
        [sys.executable, Path(__file__).with_name("as_rocm.py"), "build_ext", *folders],
        cwd=ROOT,
        env={**environment, "ROCM_HOME": str(rocm_home), "PYTHONPATH": str(ROOT)},
        check=True,
    )
    return FOLDER / "lib/tq_ext" / f"_C{EXTENSION_SUFFIX}"


def dynamic_symbols(tools: Toolchain, library: Path, which: str) -> set[str]:
    nm = Path(tools.symbolizer).with_name("llvm-nm")
    listing = subprocess.check_output([nm, "-D", "-j", which, library], text=True)
    return {line.split("@")[0] for line in listing.splitlines()}


def test_extension(rocm_home: Path, tools: Toolchain) -> None:
    library = run_setup(rocm_home)
    needed = subprocess.check_output(
        [Path(tools.symbolizer).with_name("llvm-readelf"), "-d", library], text=True
    )
    assert f"[{HIP_LIBRARY}]" in needed
    used = {
        symbol
        for symbol in dynamic_symbols(tools, library, "--undefined-only")
        if re.match(r"_*hip", symbol)
    }
    available = dynamic_symbols(tools, rocm_home / "lib" / HIP_LIBRARY, "--defined-only")
    assert "hipLaunchKernel" in used
    assert used <= available
    # One code object for each translation unit with kernels, all for the default target.
    assert library.read_bytes().count(FAT_BINARY_ENTRY) == len(hip_sources())
    assert not list(CSRC.rglob("*_hip.*")), "hipify left translated copies in the tree"


def test_programs(rocm_home: Path) -> None:
    """The HIP programs of tests/cpp, as a ROCm machine would build them."""
    ninja = NinjaFile(FOLDER / "programs")
    hipcc = rocm_home / "bin/hipcc"
    flags = ["-std=c++20", "-O3", f"--offload-arch={DEFAULT_TARGET}", "-I", CSRC]
    programs = sorted((ROOT / "tests/cpp").rglob("*.hip"))
    assert programs
    for source in programs:
        name = str(source.relative_to(ROOT / "tests/cpp"))
        program_object = ninja.compile(f"{name}.o", source, [hipcc, *flags])
        program = name.removesuffix(".hip")
        ninja.link(program, [program_object], [hipcc, "--hip-link"], ["-L", rocm_home / "lib"])
    ninja.run()
    for source in programs:
        program = FOLDER / "programs" / source.relative_to(ROOT / "tests/cpp").with_suffix("")
        assert FAT_BINARY_ENTRY in program.read_bytes()
