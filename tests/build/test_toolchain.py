"""The search for clang and LLVM's tools, with programs that only answer questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_support import toolchain


def make_clang(folder: Path, name: str, version: str, lacking: tuple[str, ...] = ()) -> Path:
    """A clang++ that finds every tool beside itself but those named."""
    program = folder / name
    known = "".join(f"*={tool}) echo {tool};;\n" for tool in lacking)
    program.write_text(
        '#!/bin/sh\ncase "$1" in\n'
        f'--version) echo "clang version {version}";;\n'
        "--print-targets) echo amdgcn;;\n"
        f'{known}*=*) echo "/tools/${{1#*=}}";;\nesac\n'
    )
    program.chmod(0o755)
    return program


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TQ_CLANG", raising=False)
    monkeypatch.setattr(toolchain.platform, "machine", lambda: toolchain.HOST_MACHINE)
    return tmp_path


def test_complete(folder: Path) -> None:
    clang = make_clang(folder, "clang++-21", "21.1.3")
    assert toolchain.find_toolchain() == toolchain.Toolchain(
        clang=str(clang),
        banner="clang version 21.1.3",
        libllvm="/tools/libLLVM.so.21.1",
        symbolizer="/tools/llvm-symbolizer",
    )


def test_old_clang_is_passed_over(folder: Path) -> None:
    make_clang(folder, "clang++", "19.1.7")
    missing = toolchain.find_toolchain()
    assert isinstance(missing, list)
    assert str(missing[0]) == "clang++ 20 or newer (Debian package clang-22)"


def test_each_missing_tool_is_named_with_its_package(folder: Path) -> None:
    lacking = ("lld", "clang-offload-bundler", "llvm-symbolizer", "libLLVM.so.22.1")
    clang = make_clang(folder, "clang++-22", "22.1.8", lacking)
    missing = toolchain.find_toolchain()
    packages = ("lld-22", "clang-tools-22", "llvm-22", "libllvm22")
    assert missing == [
        toolchain.Missing(f"{tool} of {clang}", package)
        for tool, package in zip(lacking, packages, strict=True)
    ]


def test_chosen_clang(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_clang(folder, "clang++-22", "22.1.8")
    chosen = make_clang(folder, "my-clang", "20.1.0")
    monkeypatch.setenv("TQ_CLANG", str(chosen))
    found = toolchain.find_toolchain()
    assert isinstance(found, toolchain.Toolchain)
    assert found.clang == str(chosen)


def test_chosen_clang_must_fit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TQ_CLANG", str(make_clang(folder, "my-clang", "14.0.6")))
    with pytest.raises(SystemExit, match="TQ_CLANG=.*my-clang"):
        toolchain.find_toolchain()


def test_other_machines_have_no_simulator(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain.platform, "machine", lambda: "aarch64")
    assert [str(item) for item in toolchain.find_toolchain()] == [
        "an x86_64 host (this is aarch64)"
    ]
