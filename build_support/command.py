"""setup.py's build_ext: picks the mode and puts what it built into the package."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools.command.build_ext import build_ext

from build_support.config import (
    DEFAULT_TARGET,
    EXTENSION_SUFFIX,
    PACKAGE,
    ROOT,
    BuildConfig,
    Mode,
)
from build_support.host_build import (
    SIMULATOR_LIBRARY,
    build_cpu_only,
    build_with_simulator,
    host_compiler,
)
from build_support.rocm_build import hipcc_banner, rocm_extension, rocm_targets
from build_support.toolchain import Missing, Toolchain, find_toolchain
from build_support.torch_info import TorchInfo, torch_info

ARTEFACTS = (f"_C{EXTENSION_SUFFIX}", f"_gfxsim{EXTENSION_SUFFIX}", SIMULATOR_LIBRARY)


class BuildExt(build_ext):
    def run(self) -> None:
        torch = torch_info()
        if torch.rocm_home:
            self._build_rocm(torch)
            return
        tools = find_toolchain()
        if isinstance(tools, Toolchain):
            self._build_with_simulator(torch, tools)
        else:
            self._build_cpu_only(torch, tools)

    def _build_rocm(self, torch: TorchInfo) -> None:
        from torch.utils.cpp_extension import BuildExtension

        config = self._config("rocm", hipcc_banner(torch), rocm_targets())
        self._announce(f"for ROCm ({', '.join(config.targets)}) with {config.compiler}")
        folder = Path(self.build_temp).resolve()
        self.distribution.ext_modules = [rocm_extension(config, torch, folder)]
        # BuildExtension runs the ninja on PATH.
        os.environ["PATH"] += os.pathsep + str(Path(sys.executable).parent)
        command = BuildExtension(self.distribution)
        command.inplace = self.inplace
        command.build_lib = self.build_lib
        command.build_temp = self.build_temp
        command.ensure_finalized()
        command.run()
        self._remove_artefacts_except({f"_C{EXTENSION_SUFFIX}"})

    def _build_with_simulator(self, torch: TorchInfo, tools: Toolchain) -> None:
        config = self._config("gfxsim", tools.banner, [DEFAULT_TARGET])
        self._announce(f"with the gfxsim simulator, {tools.banner}")
        self._install(build_with_simulator(config, tools, torch, self._ninja_folder("gfxsim")))

    def _build_cpu_only(self, torch: TorchInfo, missing: list[Missing]) -> None:
        banner = subprocess.check_output([host_compiler(), "--version"], text=True).splitlines()[0]
        config = self._config("cpu", banner, missing=[str(item) for item in missing])
        self._announce("CPU parts only: no kernels and no simulator, since this is missing:")
        for item in missing:
            print(f"  - {item}")
        self._install(build_cpu_only(config, torch, self._ninja_folder("cpu")))

    def _config(
        self,
        mode: Mode,
        compiler: str,
        targets: list[str] | None = None,
        missing: list[str] | None = None,
    ) -> BuildConfig:
        version = self.distribution.get_version()
        return BuildConfig(mode, version, compiler, targets or [], missing or [])

    def _announce(self, text: str) -> None:
        print(f"tq_ext: building {text}", flush=True)

    def _ninja_folder(self, mode: Mode) -> Path:
        """Kept between builds, so that the next one compiles only what changed."""
        return ROOT / "build" / f"{mode}-{sys.implementation.cache_tag}"

    def _package_folder(self) -> Path:
        return (ROOT if self.inplace else Path(self.build_lib)) / PACKAGE

    def _install(self, built: list[Path]) -> None:
        self._remove_artefacts_except({source.name for source in built})
        self._package_folder().mkdir(parents=True, exist_ok=True)
        for source in built:
            target = self._package_folder() / source.name
            if target.exists() and target.stat().st_mtime == source.stat().st_mtime:
                continue
            # Replaced as a whole: a running process may have the old file mapped.
            copy = target.with_suffix(".new")
            shutil.copy2(source, copy)
            copy.replace(target)

    def _remove_artefacts_except(self, names: set[str]) -> None:
        """The folder may hold libraries of an earlier build in another mode."""
        for name in ARTEFACTS:
            if name not in names:
                (self._package_folder() / name).unlink(missing_ok=True)
