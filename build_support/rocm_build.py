"""The build on a ROCm machine: hipcc through torch.utils.cpp_extension."""

import os
import subprocess
from pathlib import Path

from setuptools import Extension

from build_support.config import CSRC, DEFAULT_TARGET, ROOT, BuildConfig, hip_sources, host_sources
from build_support.torch_info import TorchInfo

TARGETS_VARIABLE = "PYTORCH_ROCM_ARCH"  # read by torch's build


def rocm_targets() -> list[str]:
    """The GPUs to compile for; sets the default that torch's build then reads."""
    targets = os.environ.setdefault(TARGETS_VARIABLE, DEFAULT_TARGET)
    return targets.replace(";", " ").split()


def hipcc_banner(torch: TorchInfo) -> str:
    hipcc = _rocm_home(torch) / "bin/hipcc"
    lines = subprocess.check_output([str(hipcc), "--version"], text=True).splitlines()
    return "; ".join(line for line in lines if "version" in line.lower()) or str(hipcc)


def rocm_extension(config: BuildConfig, torch: TorchInfo, folder: Path) -> Extension:
    """tq_ext._C for torch's BuildExtension, which gives .hip files to hipcc.

    A CppExtension: CUDAExtension would first run hipify over sources that are HIP already and
    leave translated copies in the tree.
    """
    from torch.utils.cpp_extension import CppExtension

    config.write_header(folder)
    _drop_outdated_objects(folder)
    home = _rocm_home(torch)
    sources = [*host_sources(with_hip=True), *hip_sources()]
    return CppExtension(
        name="tq_ext._C",
        sources=[str(source.relative_to(ROOT)) for source in sources],
        include_dirs=[str(path) for path in (CSRC, folder, home / "include")],
        library_dirs=[str(home / "lib")],
        libraries=["amdhip64"],
        extra_compile_args={"cxx": ["-O3"], "nvcc": ["-O3"]},
    )


def _drop_outdated_objects(folder: Path) -> None:
    """torch's build does not see that a header which a .hip file includes has changed."""
    newest_header = max(header.stat().st_mtime for header in CSRC.rglob("*.h"))
    for source in hip_sources():
        built = folder / source.relative_to(ROOT).with_suffix(".o")
        if built.exists() and built.stat().st_mtime < newest_header:
            built.unlink()


def _rocm_home(torch: TorchInfo) -> Path:
    assert torch.rocm_home is not None
    return torch.rocm_home
