"""Writes a ninja file and runs ninja."""

import importlib.util
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

Command = Sequence[str | Path]


class NinjaFile:
    """Compiles and links. Outputs are relative to the folder that the file is written to."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._lines: list[str] = []

    def compile(self, output: str, source: Path, command: Command) -> str:
        """`command` is the compiler with its flags, without input and output."""
        self._rule(output, [*command, "-MMD", "-MF", f"{output}.d", "-c", source, "-o", output])
        self._lines += [f"  depfile = {output}.d", "  deps = gcc"]
        self._build(output, [source], f"CXX {source.name}")
        return output

    def link(self, output: str, inputs: Sequence[str], command: Command, libs: Command) -> str:
        """`command` links `inputs`, which other rules make, and the libraries `libs`."""
        self._rule(output, [*command, "-o", output, *inputs, *libs])
        self._build(output, inputs, f"LINK {output}")
        return output

    def run(self) -> None:
        """Brings every output up to date; MAX_JOBS limits the parallel jobs."""
        write_if_changed(self.folder / "build.ninja", "\n".join(self._lines) + "\n")
        jobs = os.environ.get("MAX_JOBS", str(os.cpu_count() or 1))
        command = [find_ninja(), "-C", str(self.folder), "-j", jobs]
        if subprocess.run(command).returncode != 0:
            raise SystemExit("tq_ext: the build failed; the compiler's messages are above.")

    def _rule(self, output: str, command: Command) -> None:
        text = " ".join(shlex.quote(str(word)).replace("$", "$$") for word in command)
        self._lines += [f"rule {_rule_name(output)}", f"  command = {text}"]

    def _build(self, output: str, inputs: Sequence[str | Path], description: str) -> None:
        self._lines += [
            f"  description = {description}",
            f"build {_escape(output)}: {_rule_name(output)} " + " ".join(map(_escape, inputs)),
        ]


def find_ninja() -> str:
    """The ninja of the Python package where there is one, so that every way to build has the same:
    another version would start all over."""
    spec = importlib.util.find_spec("ninja")
    if spec and spec.origin:
        import ninja

        return str(Path(ninja.BIN_DIR) / "ninja")
    path = shutil.which("ninja")
    if path is None:
        raise SystemExit("tq_ext needs ninja to build: run `pip install ninja`.")
    return path


def write_if_changed(path: Path, text: str) -> None:
    """An unchanged file keeps its time, so that nothing is built again for it."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _rule_name(output: str) -> str:
    return output.replace("/", ".")


def _escape(path: str | Path) -> str:
    return str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")
