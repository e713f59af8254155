"""What a build is made of: its mode, its sources, and the header that describes it to the code."""

import json
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from build_support.ninja import write_if_changed

ROOT = Path(__file__).resolve().parent.parent
CSRC = ROOT / "csrc"
GFXSIM = CSRC / "gfxsim"
GFXSIM_PYTHON = GFXSIM / "python.cpp"

PACKAGE = "tq_ext"
EXTENSION_SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
DEFAULT_TARGET = "gfx950"

Mode = Literal["rocm", "gfxsim", "cpu"]


@dataclass(frozen=True)
class BuildConfig:
    mode: Mode
    version: str  # of tq_ext
    compiler: str  # its banner
    targets: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # what a CPU-only build lacks

    @property
    def with_hip(self) -> bool:
        return self.mode != "cpu"

    def write_header(self, folder: Path) -> None:
        """Writes build_config.h, which csrc/host includes, into `folder`."""

        def initializer(items: list[str]) -> str:
            return "{" + ", ".join(map(json.dumps, items)) + "}"

        defines = {
            "TQ_WITH_HIP": str(int(self.with_hip)),
            "TQ_VERSION": json.dumps(self.version),
            "TQ_BUILD_MODE": json.dumps(self.mode),
            "TQ_BUILD_COMPILER": json.dumps(self.compiler),
            "TQ_BUILD_TARGETS": initializer(self.targets),
            "TQ_BUILD_MISSING": initializer(self.missing),
        }
        lines = ["#pragma once", *(f"#define {name} {value}" for name, value in defines.items())]
        write_if_changed(folder / "build_config.h", "\n".join(lines) + "\n")


def host_sources(with_hip: bool) -> list[Path]:
    """C++ of tq_ext._C; with HIP also what calls its runtime."""
    folders = [CSRC / "host", *([CSRC / "host/hip"] if with_hip else [])]
    return sorted(source for folder in folders for source in folder.glob("*.cpp"))


def hip_sources() -> list[Path]:
    """Every translation unit with device code."""
    return sorted(CSRC.rglob("*.hip"))


def gfxsim_sources() -> list[Path]:
    """C++ of libgfxsim."""
    return sorted(source for source in GFXSIM.rglob("*.cpp") if source != GFXSIM_PYTHON)
