"""The HIP runtime face: programs that use it, and its header against ROCm's."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from build_support.config import GFXSIM
from tests.build.rocm_files import fetch_rocm_files
from tests.gfxsim.support import cases_of, clang, code_object, run_case

PROGRAM = "runtime_test.hip"
MODULE_PROGRAM = "module_test.hip"
DEVICE_PROGRAM = "device_functions_test.hip"
API_HEADER = GFXSIM / "include/hip/hip_runtime_api.h"


@pytest.mark.parametrize("case", cases_of(PROGRAM))
def test_runtime(case: str):
    run_case(PROGRAM, case)


MODULE = """
__device__ int offset = 3;
extern "C" __global__ void fill(int* out, int value, short step) {
  out[threadIdx.x] = offset + value + step * threadIdx.x;
}
"""


@pytest.mark.parametrize("case", cases_of(MODULE_PROGRAM))
def test_module(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "module.co"
    path.write_bytes(code_object(MODULE))
    monkeypatch.setenv("GFXSIM_TEST_MODULE", str(path))
    run_case(MODULE_PROGRAM, case)


def test_report_goes_to_stderr():
    result = run_case(PROGRAM, "reset_brings_the_device_back")
    assert "out-of-bounds access" in result.stderr
    assert "store_at" in result.stderr


# --- the header, compared with ROCm's by the compiler ---


@pytest.fixture(scope="module")
def rocm_include() -> Path:
    return fetch_rocm_files() / "include"


def api_text() -> str:
    """Our API header without comments and default arguments."""
    text = re.sub(r"//.*", "", API_HEADER.read_text())
    return re.sub(r"GFXSIM_DEFAULT\(\w+\)", "", text)


def check_against_rocm(include: Path, code: str) -> None:
    source = "#include <hip/hip_runtime_api.h>\n#include <type_traits>\n" + code
    command = [clang(), "-x", "c++", "-std=c++20", "-fsyntax-only", "-Wno-deprecated-declarations"]
    defines = ["-D__HIP_PLATFORM_AMD__", "-isystem", include]
    result = subprocess.run(
        [*command, *defines, "-ferror-limit=0", "-"], input=source, text=True, capture_output=True
    )
    assert result.returncode == 0, result.stderr


def test_enumerators_have_rocms_values(rocm_include: Path):
    values = re.findall(r"^  (hip\w+) = (\d+),", api_text(), re.MULTILINE)
    assert len(values) > 70
    check_against_rocm(
        rocm_include, "".join(f"static_assert({name} == {value});\n" for name, value in values)
    )


def test_macros_have_rocms_values(rocm_include: Path):
    macros = re.findall(r"^#define (hip\w+|HIP_LAUNCH\w+) (.*)$", api_text(), re.MULTILINE)
    assert len(macros) > 15
    # Casts of numbers to pointers are no constant expressions: compared as text by a second
    # definition, which must be the same, or as values.
    checks = ""
    for name, value in macros:
        number = value.strip("()").split(")")[-1]
        checks += f"static_assert(__builtin_constant_p((long)({name})) ? "
        checks += f"(long)({name}) == {number} : false);\n"
    check_against_rocm(rocm_include, checks)


def test_struct_fields_have_rocms_types(rocm_include: Path):
    fields = ""
    for name, body in re.findall(r"typedef struct (hip\w+) \{(.*?)\}", api_text(), re.DOTALL):
        for kind, field, array in re.findall(r"^  (.+?) ?(\w+)(\[\d+\])?;", body, re.MULTILINE):
            fields += f"static_assert(std::is_same_v<decltype({name}::{field}), {kind}{array}>);\n"
    assert fields.count("\n") > 40
    check_against_rocm(rocm_include, fields)


def test_functions_have_rocms_signatures(rocm_include: Path):
    declared = re.findall(
        r"^(?:hipError_t|const char\*) hip\w+\([^)]*\);", api_text(), re.MULTILINE
    )
    assert len(declared) > 75
    # Declared again with C linkage: a difference in a parameter or the result is an error.
    check_against_rocm(rocm_include, 'extern "C" {\n' + "\n".join(declared) + "\n}\n")


@pytest.mark.parametrize("case", cases_of(DEVICE_PROGRAM))
def test_device_functions(case: str):
    run_case(DEVICE_PROGRAM, case)
