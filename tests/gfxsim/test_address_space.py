"""What the device's memory knows: bounds, freed ranges, bytes never written, registered memory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gfxsim.support import cases_of, run_case
from tq_ext import gfxsim

PAGE = 4096
MIB = 1 << 20
GIB = 1 << 30

PROGRAM = "address_space_test.cpp"


@pytest.fixture
def allocation():
    ptr = gfxsim.malloc(1000, "the thing")
    yield ptr
    gfxsim.free(ptr)


def test_memory_holds_what_was_written(allocation):
    data = np.arange(250, dtype=np.float32)
    gfxsim.write(allocation, data)
    assert gfxsim.read(allocation, data.nbytes) == data.tobytes()
    gfxsim.fill(allocation + 8, 0x5A, 4)
    assert gfxsim.read(allocation + 8, 4) == b"\x5a" * 4


def test_addresses_are_aligned_and_apart():
    pointers = [gfxsim.malloc(size) for size in (1, 255, 4096, 5000)]
    assert all(ptr % 256 == 0 for ptr in pointers)
    for ptr, size in zip(pointers, (1, 255, 4096, 5000), strict=True):
        with pytest.raises(ValueError, match="past the end"):
            gfxsim.read(ptr + size, 1)
        gfxsim.free(ptr)


def test_a_fresh_byte_is_undefined_until_written(allocation):
    assert not gfxsim.is_defined(allocation, 1)
    gfxsim.write(allocation + 10, b"abc")
    assert gfxsim.is_defined(allocation + 10, 3)
    assert not gfxsim.is_defined(allocation + 9, 4)
    assert not gfxsim.is_defined(allocation + 10, 4)


def test_report_of_a_range_across_the_end(allocation):
    message = (
        "runs 4 bytes across the end of the 1000-byte allocation "
        rf"at {allocation:#x} \(the thing\)"
    )
    with pytest.raises(ValueError, match=message):
        gfxsim.read(allocation + 996, 8)


def test_report_of_a_range_before_the_beginning(allocation):
    with pytest.raises(ValueError, match="begins 4 bytes before the 1000-byte allocation"):
        gfxsim.read(allocation - 4, 8)


def test_report_of_an_address_past_the_end(allocation):
    with pytest.raises(ValueError, match="nearest is 16 bytes past the end of the 1000-byte"):
        gfxsim.read(allocation + 1016, 4)


def test_report_of_a_null_pointer():
    with pytest.raises(ValueError, match="a null pointer plus 24 bytes"):
        gfxsim.read(24, 4)


def test_report_of_freed_memory():
    ptr = gfxsim.malloc(64, "gone")
    gfxsim.free(ptr)
    message = (
        "inside memory freed by hipFree: byte 32 of the 64-byte allocation "
        rf"at {ptr:#x} \(gone\)"
    )
    with pytest.raises(ValueError, match=message):
        gfxsim.read(ptr + 32, 4)


def test_freed_addresses_are_not_given_out_again_soon():
    freed = set()
    for _ in range(100):
        ptr = gfxsim.malloc(64)
        assert ptr not in freed
        freed.add(ptr)
        gfxsim.free(ptr)


def test_freeing_twice_is_an_error():
    ptr = gfxsim.malloc(64)
    gfxsim.free(ptr)
    with pytest.raises(ValueError, match="nothing is allocated"):
        gfxsim.free(ptr)


def test_quarantine_is_bounded():
    def address_space_bytes() -> int:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * PAGE

    before = address_space_bytes()
    for _ in range(5000):
        gfxsim.free(gfxsim.malloc(MIB))
    assert address_space_bytes() - before < 2000 * MIB


def test_huge_allocations_cost_what_is_touched_of_them():
    size = 64 * GIB  # more than the test machine has
    ptr = gfxsim.malloc(size)
    try:
        gfxsim.write(ptr + size - 4, b"last")
        assert gfxsim.read(ptr + size - 4, 4) == b"last"
        assert gfxsim.is_defined(ptr + size - 4, 4)
        assert not gfxsim.is_defined(ptr + 5 * GIB, 4)
        with open("/proc/self/statm") as statm:
            resident = int(statm.read().split()[1]) * PAGE
        assert resident < 8 * GIB
    finally:
        gfxsim.free(ptr)


def test_report_of_an_address_before_the_beginning(allocation):
    with pytest.raises(ValueError, match="nearest is 8 bytes before the 1000-byte allocation"):
        gfxsim.read(allocation - 8, 4)


@pytest.mark.parametrize("case", cases_of(PROGRAM))
def test_cpp(case: str):
    run_case(PROGRAM, case)
