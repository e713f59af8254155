"""Builds every *_test.hip here and runs it: on the GPU of a ROCm machine, else on the simulator."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cpp.compiler import PROGRAMS, NoCompiler, build_mode, build_program

SECONDS = 600
SEED_VARIABLE = "GFXSIM_SEED"  # of the simulator's schedules
MORE_SEEDS = range(1, 5)

# A program's tests share a worker, so that it is built once.
every_program = pytest.mark.parametrize(
    "source",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.xdist_group(path.stem))
        for path in sorted(PROGRAMS.glob("*_test.hip"))
    ],
)


def run(source: Path, seed: int) -> None:
    try:
        program = build_program(source)
    except NoCompiler as reason:
        pytest.skip(str(reason))
    environment = {**os.environ, SEED_VARIABLE: str(seed)}
    result = subprocess.run(
        [program], capture_output=True, text=True, timeout=SECONDS, env=environment
    )
    assert result.returncode == 0, f"seed {seed}\n{result.stdout}{result.stderr}"


@every_program
def test_program(source: Path) -> None:
    run(source, seed=0)


@every_program
def test_other_schedules(source: Path) -> None:
    """Waves and workgroups in other orders give the same results."""
    if build_mode() != "gfxsim":
        pytest.skip("the hardware decides the schedule")
    for seed in MORE_SEEDS:
        run(source, seed)
