"""Builds every *_test.hip here and runs it: on the GPU of a ROCm machine, else on the simulator."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cpp.compiler import PROGRAMS, NoCompiler, build_program

SECONDS = 600


@pytest.mark.parametrize("source", sorted(PROGRAMS.glob("*_test.hip")), ids=lambda path: path.stem)
def test_program(source: Path) -> None:
    try:
        program = build_program(source)
    except NoCompiler as reason:
        pytest.skip(str(reason))
    result = subprocess.run([program], capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode == 0, result.stdout + result.stderr
