"""HIP's real headers and device libraries, without a ROCm installation: the triton wheel has them.

Run as a script to fetch them ahead of the tests.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TRITON = "triton==3.9.0"
FOLDER_IN_WHEEL = "triton/backends/amd/"
WANTED = ("include/", "lib/ockl.bc", "lib/ocml.bc")


def fetch_rocm_files() -> Path:
    """The folder that holds `include` and `lib`; downloaded once for each user of the machine."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tq_ext"
    target = cache / TRITON.replace("==", "-")
    cache.mkdir(parents=True, exist_ok=True)
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=cache) as folder:
                _extract(_download(Path(folder)), Path(folder) / "files")
                os.rename(Path(folder) / "files", target)
    return target


def _download(folder: Path) -> Path:
    download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run([*download, "--only-binary=:all:", "--dest", folder, TRITON], check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def _extract(wheel: Path, target: Path) -> None:
    wanted = tuple(FOLDER_IN_WHEEL + name for name in WANTED)
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if entry.is_dir() or not entry.filename.startswith(wanted):
                continue
            path = target / entry.filename.removeprefix(FOLDER_IN_WHEEL)
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, open(path, "wb") as destination:
                shutil.copyfileobj(source, destination)


if __name__ == "__main__":
    fetch_rocm_files()
