"""PEP 517 backend: setuptools' own, building against the torch of the environment installed into.

pip builds in an isolated environment that hides the target's packages. Listing torch as a build
requirement would download another torch, so this backend looks past the isolation instead: the
interpreter is the target's own, and run without pip's overlay it tells where its packages lie.
"""

import json
import subprocess
import sys
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

from build_support.torch_info import require_torch

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]


def _append_target_packages() -> None:
    # -E: without the PYTHON* variables by which pip hides the environment.
    show_path = [sys.executable, "-E", "-c", "import json, sys; print(json.dumps(sys.path))"]
    target_path = json.loads(subprocess.check_output(show_path, text=True))
    sys.path.extend(entry for entry in target_path if entry and entry not in sys.path)


_append_target_packages()


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    require_torch()
    return build_meta.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings: dict[str, Any] | None = None) -> list[str]:
    require_torch()
    return build_meta.get_requires_for_build_editable(config_settings)
