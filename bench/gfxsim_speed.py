"""Wave instructions a second that gfxsim executes on one host thread.

    python -m bench.gfxsim_speed

Prints one line for each kernel of gfxsim_speed.hip, as a ratio of the simulator's design goal of
20 million wave instructions a second.
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from build_support.toolchain import Toolchain, find_toolchain
from tq_ext import gfxsim

HEADERS = Path(__file__).parents[1] / "csrc/gfxsim/include"
DESIGN_GOAL = 20e6  # wave instructions a second on one core
WORKGROUPS = 8
REPEATS = 3


def machine_name() -> str:
    """The processor's name, as the operating system gives it."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def compile_kernels() -> gfxsim.Module:
    """The kernels of gfxsim_speed.hip, compiled for gfx950."""
    source = Path(__file__).with_suffix(".hip")
    tools = find_toolchain()
    if not isinstance(tools, Toolchain):
        raise SystemExit("missing: " + ", ".join(map(str, tools)))
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder) / "kernels.co"
        subprocess.run(
            [
                *(str(tools.clang), "-x", "hip", "--cuda-device-only"),
                *("--no-gpu-bundle-output", "--offload-arch=gfx950", "-nogpuinc", "-nogpulib"),
                *("-O3", "-I", str(HEADERS), str(source), "-o", str(code)),
            ],
            check=True,
        )
        return gfxsim.Module(code.read_bytes())


def measure(module: gfxsim.Module, kernel: str, block: int, rounds: int) -> gfxsim.LaunchStats:
    """The fastest of some launches."""
    source = np.ones(4096, np.float32)
    out = np.zeros(WORKGROUPS * block, np.float32)
    args: list[object] = [out, rounds] if kernel != "attention_like" else [source, out, rounds]
    launches = [
        module.launch(kernel, (WORKGROUPS, 1, 1), (block, 1, 1), args) for _ in range(REPEATS)
    ]
    return min(launches, key=lambda stats: stats.seconds)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=4000, help="loop rounds of each kernel")
    rounds = parser.parse_args().rounds
    print(f"machine: {machine_name()}, one thread, best of {REPEATS}")
    print(f"{'kernel':<16}{'wave instructions':>18}{'seconds':>10}{'million/s':>11}{'of goal':>9}")
    module = compile_kernels()
    with gfxsim.options(threads=1):
        for kernel, block in (("vector_alu", 64), ("lds_exchange", 256), ("attention_like", 64)):
            stats = measure(module, kernel, block, rounds)
            rate = stats.instructions / stats.seconds
            print(
                f"{kernel:<16}{stats.instructions:>18,}{stats.seconds:>10.3f}"
                f"{rate / 1e6:>11.1f}{rate / DESIGN_GOAL:>9.2f}"
            )


if __name__ == "__main__":
    main()
