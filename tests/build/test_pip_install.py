"""`pip install .` into clean virtual environments.

pip works as for a user: isolated build, from the source tree. torch is there by a path file that
points to the packages of the interpreter that runs the tests, which spares its download.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
from pathlib import Path

import pytest

from build_support.config import DEFAULT_TARGET, ROOT
from build_support.toolchain import Toolchain, find_toolchain

pytestmark = pytest.mark.xdist_group("build")


def make_environment(folder: Path, with_torch: bool) -> Path:
    """A clean virtual environment; returns its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin/python"
    if with_torch:
        ask = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
        packages = Path(subprocess.check_output(ask, text=True).strip())
        (packages / "torch_from.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python


def pip_install(
    python: Path, path: str | None = None, source: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    hidden = {"CXX", "TQ_CLANG", "PYTHONPATH"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [python, "-m", "pip", "install", "--verbose", source],
        env={**environment, **({"PATH": path} if path else {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run_python(python: Path, code: str, folder: Path) -> str:
    """Runs outside the source tree, so that the installed package is the one imported."""
    return subprocess.check_output([python, "-c", code], cwd=folder, text=True)


def build_info(python: Path, folder: Path) -> dict:
    code = "import json, tq_ext; print(json.dumps(tq_ext.build_info()))"
    return json.loads(run_python(python, code, folder))


def path_without(folder: Path, *prefixes: str) -> str:
    """A PATH with every program of the present one but those whose names begin so."""
    folder.mkdir()
    for entry in os.environ["PATH"].split(os.pathsep):
        for program in Path(entry).glob("*") if entry else ():
            link = folder / program.name
            if not program.name.startswith(prefixes) and not link.exists():
                link.symlink_to(program)
    return str(folder)


def test_without_torch(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "venv", with_torch=False)
    installation = pip_install(python)
    assert installation.returncode != 0
    ours = [line for line in installation.stdout.splitlines() if "tq_ext builds" in line]
    assert len(set(map(str.strip, ours))) == 1 and "pip install torch" in ours[0]
    assert "Traceback" not in installation.stdout


def test_with_clang(tmp_path: Path) -> None:
    if not isinstance(find_toolchain(), Toolchain):
        pytest.skip("needs clang")
    python = make_environment(tmp_path / "venv", with_torch=True)
    installation = pip_install(python)
    assert installation.returncode == 0, installation.stdout
    info = build_info(python, tmp_path)
    assert info["mode"] == "gfxsim"
    assert info["targets"] == [DEFAULT_TARGET]
    demo = run_python(python, "import tq_ext.demo; tq_ext.demo.main()", tmp_path)
    assert "correct" in demo


def test_without_clang(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "venv", with_torch=True)
    installation = pip_install(python, path_without(tmp_path / "bin", "clang"))
    assert installation.returncode == 0, installation.stdout
    for package in ("clang-22", "lld-22", "clang-tools-22", "llvm-22"):
        assert f"(Debian package {package})" in installation.stdout
    info = build_info(python, tmp_path)
    assert info["mode"] == "cpu"
    assert info["targets"] == []
    assert any("clang++ 20 or newer" in item for item in info["missing"])
    installed = run_python(
        python, "import os, tq_ext; print(os.listdir(tq_ext.__path__[0]))", tmp_path
    )
    assert "libgfxsim" not in installed and "_gfxsim" not in installed


def test_source_distribution_without_compiler(tmp_path: Path) -> None:
    """The archive has what the build reads; the build starts and asks for a compiler."""
    command = [sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", tmp_path]
    subprocess.run(command, cwd=ROOT, check=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        packed = {name.partition("/")[2] for name in tar.getnames()}
    needed = {ROOT / "setup.py", ROOT / "pyproject.toml", *(ROOT / "build_support").glob("*.py")}
    needed.update(path for path in (ROOT / "csrc").rglob("*") if path.is_file())
    assert {str(path.relative_to(ROOT)) for path in needed} <= packed

    python = make_environment(tmp_path / "venv", with_torch=True)
    path = path_without(tmp_path / "bin", "clang", "c++")
    installation = pip_install(python, path, archive)
    assert installation.returncode != 0
    assert "tq_ext needs a C++20 compiler (Debian: g++ python3-dev)" in installation.stdout
    assert "Traceback" not in installation.stdout


def test_uses_the_torch_of_the_environment(tmp_path: Path) -> None:
    """Within pip's isolation the build sees the environment's torch and pip's own setuptools."""
    import torch

    overlay = tmp_path / "overlay"
    overlay.mkdir()
    (overlay / "sitecustomize.py").write_text(
        "import site, sys\n"
        "hidden = site.getsitepackages()\n"
        "sys.path[:] = [entry for entry in sys.path if entry not in hidden]\n"
    )
    code = "import build_support.backend, torch; print(torch.__file__)"
    packages = sysconfig.get_path("purelib")
    for module in ("setuptools", "_distutils_hack"):
        (overlay / module).symlink_to(Path(packages) / module)
    environment = {**os.environ, "PYTHONPATH": f"{overlay}{os.pathsep}{ROOT}"}
    seen = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert seen.strip() == torch.__file__
