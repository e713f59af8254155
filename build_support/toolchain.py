"""Finds the clang and the LLVM tools that compile HIP for the simulator and run it."""

import os
import platform
import re
import shutil
import subprocess
from dataclasses import dataclass

OLDEST_CLANG = 20
CLANG_NAMES = ("clang++-22", "clang++-21", "clang++-20", "clang++")
TESTED_CLANG = 22  # what the project is tested with and messages propose
HOST_MACHINE = "x86_64"


@dataclass(frozen=True)
class Toolchain:
    clang: str
    banner: str  # first line of `clang++ --version`
    libllvm: str  # shared library that disassembles
    symbolizer: str

    @property
    def is_tested_version(self) -> bool:
        return f"clang version {TESTED_CLANG}." in self.banner


@dataclass(frozen=True)
class Missing:
    what: str
    package: str  # Debian package that brings it; empty when none does

    def __str__(self) -> str:
        return f"{self.what} (Debian package {self.package})" if self.package else self.what


def find_toolchain() -> Toolchain | list[Missing]:
    """The tools, or everything that is missing. TQ_CLANG names the clang++ to use.

    Exits when TQ_CLANG is set to something that is no clang of OLDEST_CLANG or newer.
    """
    if platform.machine() != HOST_MACHINE:
        return [Missing(f"an {HOST_MACHINE} host (this is {platform.machine()})", "")]
    clang = _find_clang()
    if clang is None:
        return [
            Missing(f"clang++ {OLDEST_CLANG} or newer", f"clang-{TESTED_CLANG}"),
            Missing("lld of the same version", f"lld-{TESTED_CLANG}"),
            Missing("clang-offload-bundler of the same version", f"clang-tools-{TESTED_CLANG}"),
            Missing("llvm-symbolizer and libLLVM of the same version", f"llvm-{TESTED_CLANG}"),
        ]
    banner, version = _clang_version(clang)
    major = version.split(".")[0]
    missing = []
    if "amdgcn" not in _output(clang, "--print-targets"):
        missing.append(Missing(f"the AMDGPU target in {clang}", f"clang-{TESTED_CLANG}"))

    def find(what: str, query: str, package: str) -> str:
        # clang answers with the name itself when it finds no such file.
        path = _output(clang, f"{query}={what}").strip()
        if path == what:
            missing.append(Missing(f"{what} of {clang}", package))
        return path

    find("lld", "-print-prog-name", f"lld-{major}")
    find("clang-offload-bundler", "-print-prog-name", f"clang-tools-{major}")
    symbolizer = find("llvm-symbolizer", "-print-prog-name", f"llvm-{major}")
    libllvm = find(f"libLLVM.so.{version}", "-print-file-name", f"libllvm{major}")
    return missing or Toolchain(clang, banner, libllvm, symbolizer)


def _find_clang() -> str | None:
    wanted = os.environ.get("TQ_CLANG")
    for name in (wanted,) if wanted else CLANG_NAMES:
        path = shutil.which(name)
        version = _clang_version(path)[1] if path else ""
        if path and version and int(version.split(".")[0]) >= OLDEST_CLANG:
            return path
    if wanted:
        raise SystemExit(f"TQ_CLANG={wanted} is no clang++ of version {OLDEST_CLANG} or newer.")
    return None


def _clang_version(clang: str) -> tuple[str, str]:
    """The banner and "MAJOR.MINOR"; the latter is empty for another compiler."""
    lines = _output(clang, "--version").splitlines()
    banner = lines[0] if lines else ""
    match = re.search(r"clang version (\d+\.\d+)", banner)
    return banner, match[1] if match else ""


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout
