"""The torch that the extension is built against."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TorchInfo:
    version: str
    root: Path  # the package's folder
    rocm_home: Path | None  # set when torch is a ROCm build and ROCm is installed

    @property
    def include_dirs(self) -> list[Path]:
        include = self.root / "include"
        return [include, include / "torch/csrc/api/include"]

    @property
    def lib_dir(self) -> Path:
        return self.root / "lib"


def require_torch() -> None:
    """Exits with one line when torch is not installed. Does not import it."""
    if importlib.util.find_spec("torch") is None:
        raise SystemExit(
            "tq_ext builds against the installed torch and found none: run `pip install torch` in "
            "this environment first (front ends other than pip: build with --no-build-isolation)."
        )


def torch_info() -> TorchInfo:
    require_torch()
    import torch

    rocm_home = None
    if torch.version.hip:
        from torch.utils import cpp_extension

        rocm_home = cpp_extension.ROCM_HOME and Path(cpp_extension.ROCM_HOME)
    return TorchInfo(torch.__version__, Path(torch.__file__).parent, rocm_home)
