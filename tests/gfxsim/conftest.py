"""These tests need the simulator, which a ROCm or CPU-only build does not have."""

from __future__ import annotations

import importlib.util

HAS_SIMULATOR = importlib.util.find_spec("tq_ext._gfxsim") is not None

collect_ignore_glob = [] if HAS_SIMULATOR else ["test_*.py"]


def pytest_report_header() -> str:
    return "gfxsim: tested" if HAS_SIMULATOR else "gfxsim: this build has none, no test of it runs"
