"""Lays out a ROCM_HOME that can compile and link for a GPU, but not run.

The headers and the device libraries are ROCm's own, hipcc is clang, and libamdhip64 is a stub that
exports what the headers declare.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from build_support.config import DEFAULT_TARGET
from build_support.ninja import write_if_changed
from build_support.toolchain import Toolchain

HIP_LIBRARY = "libamdhip64.so.7"

# Called by the code that clang generates for a HIP translation unit; no header declares them.
COMPILER_FUNCTIONS = (
    "__hipPopCallConfiguration",
    "__hipPushCallConfiguration",
    "__hipRegisterFatBinary",
    "__hipRegisterFunction",
    "__hipRegisterManagedVar",
    "__hipRegisterSurface",
    "__hipRegisterTexture",
    "__hipRegisterVar",
    "__hipUnregisterFatBinary",
)

# The libraries by which clang tells the device code its options: one constant or two in each.
OPTION_LIBRARIES: dict[str, dict[str, str]] = {
    f"oclc_isa_version_{DEFAULT_TARGET.removeprefix('gfx')}": {"ISA_version": "i32 9500"},
    "oclc_abi_version_500": {"ABI_version": "i32 500"},
    "oclc_abi_version_600": {"ABI_version": "i32 600"},
    "oclc_wavefrontsize64_on": {"wavefrontsize64": "i8 1", "wavefrontsize_log2": "i32 6"},
    "oclc_wavefrontsize64_off": {"wavefrontsize64": "i8 0", "wavefrontsize_log2": "i32 5"},
    "oclc_finite_only_on": {"finite_only_opt": "i8 1"},
    "oclc_finite_only_off": {"finite_only_opt": "i8 0"},
    "oclc_unsafe_math_on": {"unsafe_math_opt": "i8 1"},
    "oclc_unsafe_math_off": {"unsafe_math_opt": "i8 0"},
    "oclc_correctly_rounded_sqrt_on": {"correctly_rounded_sqrt32": "i8 1"},
    "oclc_correctly_rounded_sqrt_off": {"correctly_rounded_sqrt32": "i8 0"},
    "opencl": {},  # must be there for clang to take the folder; HIP code is not linked to it
}


def lay_out_rocm_home(home: Path, files: Path, tools: Toolchain) -> None:
    """Builds the folder `home` from `files` of fetch_rocm_files(), unless it is complete."""
    complete = home / "complete"
    if complete.exists() and complete.read_text() == tools.banner:
        return
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    (home / "include").symlink_to(files / "include")
    hipcc = home / "bin/hipcc"
    write_if_changed(hipcc, f'#!/bin/sh\nexec {tools.clang} --rocm-path={home} "$@"\n')
    hipcc.chmod(0o755)
    _make_device_libraries(home / "amdgcn/bitcode", files / "lib", tools)
    _make_runtime_stub(home / "lib", hipcc, tools)
    complete.write_text(tools.banner)


def _make_device_libraries(folder: Path, libraries: Path, tools: Toolchain) -> None:
    folder.mkdir(parents=True)
    for library in libraries.glob("*.bc"):
        (folder / library.name).symlink_to(library)
    for name, constants in OPTION_LIBRARIES.items():
        text = "".join(
            f"@__oclc_{constant} = linkonce_odr hidden local_unnamed_addr "
            f"addrspace(4) constant {value}\n"
            for constant, value in constants.items()
        )
        compile_ir = [tools.clang, "--target=amdgcn-amd-amdhsa", "-nogpulib", "-x", "ir", "-"]
        emit = ["-emit-llvm", "-c", "-Wno-override-module", "-o", folder / f"{name}.bc"]
        subprocess.run([*compile_ir, *emit], input=text, text=True, check=True)


def _make_runtime_stub(folder: Path, hipcc: Path, tools: Toolchain) -> None:
    preprocess = [hipcc, "-D__HIP_PLATFORM_AMD__", "-I", hipcc.parent.parent / "include"]
    source = "#include <hip/hip_runtime_api.h>\n"
    header = subprocess.check_output(
        [*preprocess, "-x", "c++", "-E", "-P", "-"], input=source, text=True
    )
    declared = re.findall(
        r"^\s*(?:extern )?(?:hipError_t|const char ?\*) ?(hip\w+)\(", header, re.M
    )
    functions = sorted({*declared, *COMPILER_FUNCTIONS})
    code = "".join(f"void {function}(void) {{}}\n" for function in functions)
    folder.mkdir()
    library = folder / HIP_LIBRARY
    link = [tools.clang, "-shared", "-fPIC", f"-Wl,-soname,{HIP_LIBRARY}", "-x", "c", "-"]
    subprocess.run([*link, "-o", library], input=code, text=True, check=True)
    (folder / "libamdhip64.so").symlink_to(HIP_LIBRARY)
