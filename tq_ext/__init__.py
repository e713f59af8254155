"""Hand-written AMD kernels for serving language models from compressed data."""

from typing import Any

import torch  # noqa: F401  its libraries must be loaded before tq_ext._C

from tq_ext import _C

__all__ = ["__version__", "build_info"]


def build_info() -> dict[str, Any]:
    """How this installation was built.

    mode: "rocm" (kernels run on the GPU), "gfxsim" (kernels run on the simulator) or "cpu" (no
        kernels).
    compiler: what compiled the kernels, or in cpu mode the host code.
    targets: the GPUs that kernels were compiled for, e.g. ["gfx950"].
    missing: in cpu mode, what has to be installed before building again to get kernels.
    versions: of tq_ext, of the torch built against and, with kernels, of the HIP headers.
    """
    return _C.build_info()


__version__: str = build_info()["versions"]["tq_ext"]
