"""Every checker of the simulator: a kernel that commits exactly one fault, and its clean twin.

A kernel's text marks the instruction that must be reported with "// fault".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.gfxsim.assembly import NAME, Resources, assemble
from tests.gfxsim.support import code_object
from tq_ext import gfxsim
from tq_ext.gfxsim import FaultKind

LANES = 64
BUFFER_BYTES = 4 * LANES  # a dword for each lane of a wave

# Loads the first pointer into s[4:5] and puts lane * 4 into v1.
PROLOGUE = """
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
"""


@dataclass(frozen=True)
class Case:
    """A faulty kernel, how its report must look, and the kernel without the fault."""

    name: str
    kind: FaultKind
    faulty: str
    clean: str
    resources: Resources = Resources()
    waves: int = 1
    lane: int | None = None
    # The reported address: an offset in the buffer ("global") or in LDS.
    offset: int | None = None
    space: str = "global"
    message: str = ""  # a part of it


@contextmanager
def device_buffer(nbytes: int = BUFFER_BYTES, defined: bool = True) -> Iterator[int]:
    pointer = gfxsim.malloc(nbytes)
    if defined:
        gfxsim.fill(pointer, 0, nbytes)
    try:
        yield pointer
    finally:
        gfxsim.free(pointer)


def check_report(fault: gfxsim.Fault, source: Path, kind: FaultKind) -> None:
    """Kind, kernel, instruction and source line, as attributes and in the text."""
    assert fault.kind == kind, str(fault)
    assert fault.kernel == NAME
    place, _, number = fault.source.rpartition(":")
    assert place.endswith(source.name), str(fault)
    line = source.read_text().splitlines()[int(number) - 1]
    assert "// fault" in line, str(fault)
    assert fault.instruction.split()[0] == line.split()[0], str(fault)
    for part in (NAME, fault.instruction, fault.source, "workgroup", "wave"):
        assert part in str(fault)


def run_case(case: Case, body: str, folder: Path, defined: bool = True) -> int:
    """Launches the kernel on a buffer of its own; returns the buffer's address."""
    module = assemble(PROLOGUE + body, case.resources, folder)
    with device_buffer(case.waves * BUFFER_BYTES, defined) as pointer:
        folder.joinpath("pointer").write_text(str(pointer))
        module.launch(NAME, 1, case.waves * LANES, [pointer])
    return pointer


GLOBAL_CASES = [
    Case(
        # Inside the gap after the buffer, where nothing else can ever have been allocated.
        "outside_every_allocation",
        FaultKind.OutOfBounds,
        faulty="""
  v_mov_b32_e32 v2, 0x4000
  v_cmp_eq_u32_e32 vcc, 37, v0
  v_cndmask_b32_e32 v1, v1, v2, vcc
  global_load_dword v3, v1, s[4:5]  // fault
  s_waitcnt vmcnt(0)
""",
        clean="""
  v_mov_b32_e32 v2, 0
  v_cmp_eq_u32_e32 vcc, 37, v0
  v_cndmask_b32_e32 v1, v1, v2, vcc
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(0)
""",
        lane=37,
        offset=0x4000,
    ),
    Case(
        "load_across_the_end",
        FaultKind.OutOfBounds,
        faulty="  global_load_dwordx2 v[2:3], v1, s[4:5]  // fault",
        clean="  global_load_dword v2, v1, s[4:5]",
        lane=63,
        offset=252,
    ),
    Case(
        "store_across_the_end",
        FaultKind.OutOfBounds,
        faulty="""
  v_mov_b32_e32 v2, 1
  global_store_dword v1, v2, s[4:5] offset:2  // fault
""",
        clean="""
  v_mov_b32_e32 v2, 1
  global_store_short v1, v2, s[4:5] offset:2
""",
        lane=63,
        offset=254,
    ),
    Case(
        "store_below_the_start",
        FaultKind.OutOfBounds,
        faulty="""
  v_mov_b32_e32 v2, 1
  global_store_dword v1, v2, s[4:5] offset:-16  // fault
""",
        clean="""
  v_mov_b32_e32 v2, 1
  global_store_dword v1, v2, s[4:5]
""",
        lane=0,
        offset=-16,
    ),
    Case(
        "flat_load_outside",
        FaultKind.OutOfBounds,
        faulty="""
  v_mov_b32_e32 v2, s4
  v_mov_b32_e32 v3, s5
  flat_load_dword v4, v[2:3] offset:256  // fault
""",
        clean="""
  v_mov_b32_e32 v2, s4
  v_mov_b32_e32 v3, s5
  flat_load_dword v4, v[2:3] offset:252
""",
        lane=0,
        offset=256,
    ),
    Case(
        "scalar_load_outside",
        FaultKind.OutOfBounds,
        faulty="  s_load_dwordx4 s[8:11], s[4:5], 0xf8  // fault",
        clean="  s_load_dwordx4 s[8:11], s[4:5], 0xf0",
        offset=0xF8,
    ),
    Case(
        "atomic_outside",
        FaultKind.OutOfBounds,
        faulty="""
  v_mov_b32_e32 v2, 1
  global_atomic_add v1, v2, s[4:5] offset:4  // fault
""",
        clean="""
  v_mov_b32_e32 v2, 1
  global_atomic_add v1, v2, s[4:5]
""",
        lane=63,
        offset=256,
    ),
    Case(
        "misaligned_atomic",
        FaultKind.Misaligned,
        faulty="""
  v_mov_b32_e32 v1, 2
  v_mov_b32_e32 v2, 1
  global_atomic_add v1, v2, s[4:5]  // fault
""",
        clean="""
  v_mov_b32_e32 v1, 4
  v_mov_b32_e32 v2, 1
  global_atomic_add v1, v2, s[4:5]
""",
        lane=0,
        offset=2,
    ),
]

LDS = Resources(lds=256)
LDS_CASES = [
    Case(
        "lds_read_outside",
        FaultKind.LdsOutOfBounds,
        faulty="""
  ds_write_b32 v1, v1
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v2, v1 offset:4  // fault
""",
        clean="""
  ds_write_b32 v1, v1
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v2, v1
""",
        resources=LDS,
        lane=63,
        offset=256,
        space="lds",
    ),
    Case(
        "lds_write_across_the_end",
        FaultKind.LdsOutOfBounds,
        faulty="""
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 0
  ds_write_b64 v1, v[2:3]  // fault
""",
        clean="""
  v_mov_b32_e32 v2, 0
  ds_write_b32 v1, v2
""",
        resources=LDS,
        lane=63,
        offset=252,
        space="lds",
    ),
    Case(
        "copy_to_lds_outside",
        FaultKind.LdsOutOfBounds,
        faulty="""
  s_mov_b32 m0, 4
  s_nop 0
  global_load_lds_dword v1, s[4:5]  // fault
  s_waitcnt vmcnt(0)
""",
        clean="""
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  s_waitcnt vmcnt(0)
""",
        resources=LDS,
        lane=63,
        offset=256,
        space="lds",
    ),
    Case(
        "misaligned_lds_atomic",
        FaultKind.Misaligned,
        faulty="""
  v_mov_b32_e32 v2, 0
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v1, 6
  ds_add_u32 v1, v1  // fault
""",
        clean="""
  v_mov_b32_e32 v2, 0
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v1, 8
  ds_add_u32 v1, v1
""",
        resources=LDS,
        lane=0,
        offset=6,
        space="lds",
    ),
    Case(
        "misaligned_transpose_read",
        FaultKind.Misaligned,
        faulty="""
  v_mov_b32_e32 v2, 0
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  ds_read_b64_tr_b16 v[4:5], v1  // fault
""",
        clean="""
  v_mov_b32_e32 v2, 0
  ds_write_b32 v1, v2
  s_waitcnt lgkmcnt(0)
  v_and_b32_e32 v1, 0xf8, v1
  ds_read_b64_tr_b16 v[4:5], v1
""",
        resources=LDS,
        lane=1,
        offset=4,
        space="lds",
    ),
]

# v5, v6 and s20 are never written.
UNDEFINED_CASES = [
    Case(
        "register_decides_an_address",
        FaultKind.UndefinedValue,
        faulty="  global_load_dword v2, v5, s[4:5]  // fault",
        clean="  v_mov_b32_e32 v5, 0\n  global_load_dword v2, v5, s[4:5]",
        lane=0,
    ),
    Case(
        "register_decides_a_scalar_address",
        FaultKind.UndefinedValue,
        faulty="  s_load_dword s8, s[4:5], s20  // fault",
        clean="  s_mov_b32 s20, 4\n  s_load_dword s8, s[4:5], s20",
    ),
    Case(
        "register_decides_an_lds_address",
        FaultKind.UndefinedValue,
        faulty="  ds_write_b32 v5, v1  // fault",
        clean="  v_mov_b32_e32 v5, 0\n  ds_write_b32 v5, v1",
        resources=LDS,
        lane=0,
    ),
    Case(
        "scc_decides_a_branch",
        FaultKind.UndefinedValue,
        faulty="""
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 .Lnext  // fault
.Lnext:
""",
        clean="""
  s_mov_b32 s20, 0
  s_cmp_eq_u32 s20, 0
  s_cbranch_scc1 .Lnext
.Lnext:
""",
    ),
    Case(
        "vcc_decides_a_branch",
        FaultKind.UndefinedValue,
        faulty="""
  v_cmp_eq_u32_e32 vcc, 0, v5
  s_cbranch_vccnz .Lnext  // fault
.Lnext:
""",
        clean="""
  v_mov_b32_e32 v5, 0
  v_cmp_eq_u32_e32 vcc, 0, v5
  s_cbranch_vccnz .Lnext
.Lnext:
""",
    ),
    Case(
        "comparison_decides_the_exec_mask",
        FaultKind.UndefinedValue,
        faulty="""
  v_cmp_eq_u32_e32 vcc, 0, v5
  s_and_saveexec_b64 s[8:9], vcc  // fault
""",
        clean="""
  v_mov_b32_e32 v5, 0
  v_cmp_eq_u32_e32 vcc, 0, v5
  s_and_saveexec_b64 s[8:9], vcc
""",
    ),
    Case(
        "register_is_stored",
        FaultKind.UndefinedValue,
        faulty="  global_store_dword v1, v5, s[4:5]  // fault",
        # Undefined values may be moved, combined and even written to LDS, as long as what is stored
        # does not depend on them.
        clean="""
  v_mov_b32_e32 v2, v5
  v_add_f32_e32 v3, v2, v6
  ds_write_b32 v1, v3
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v4, v1
  s_waitcnt lgkmcnt(0)
  v_and_b32_e32 v4, 0, v4
  v_lshl_or_b32 v7, v5, 16, v0
  v_and_b32_e32 v7, 0xffff, v7
  v_or_b32_e32 v4, v4, v7
  global_store_dword v1, v4, s[4:5]
""",
        resources=LDS,
        lane=0,
    ),
    Case(
        "one_lane_is_stored",
        FaultKind.UndefinedValue,
        # Only lanes 0..31 were written.
        faulty="""
  s_mov_b64 exec, 0xffffffff
  v_mov_b32_e32 v2, 7
  s_mov_b64 exec, -1
  global_store_dword v1, v2, s[4:5]  // fault
""",
        clean="""
  s_mov_b64 exec, 0xffffffff
  v_mov_b32_e32 v2, 7
  global_store_dword v1, v2, s[4:5]
""",
        lane=32,
    ),
    Case(
        "unwritten_lds_is_stored",
        FaultKind.UndefinedValue,
        faulty="""
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]  // fault
""",
        clean="""
  ds_write_b32 v1, v0
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
""",
        resources=LDS,
        lane=0,
    ),
    Case(
        "sum_with_an_undefined_part_is_stored",
        FaultKind.UndefinedValue,
        faulty="""
  v_add_u32_e32 v2, v5, v0
  global_store_dword v1, v2, s[4:5]  // fault
""",
        clean="""
  v_mov_b32_e32 v5, 1
  v_add_u32_e32 v2, v5, v0
  global_store_dword v1, v2, s[4:5]
""",
        lane=0,
    ),
]

WAIT_CASES = [
    Case(
        "global_load_is_not_waited_for",
        FaultKind.MissingWait,
        faulty="""
  global_load_dword v2, v1, s[4:5]
  v_add_u32_e32 v3, 1, v2  // fault
""",
        clean="""
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v3, 1, v2
""",
        message="v2",
    ),
    Case(
        "wait_covers_only_the_older_load",
        FaultKind.MissingWait,
        faulty="""
  global_load_dword v2, v1, s[4:5]
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(1)
  v_add_u32_e32 v4, v2, v3  // fault
""",
        clean="""
  global_load_dword v2, v1, s[4:5]
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(1)
  v_add_u32_e32 v4, v2, v2
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v4, v2, v3
""",
        message="v3",
    ),
    Case(
        "wait_names_the_other_counter",
        FaultKind.MissingWait,
        faulty="""
  global_load_dword v2, v1, s[4:5]
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v3, v2  // fault
""",
        clean="""
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_mov_b32_e32 v3, v2
""",
        message="v2",
    ),
    Case(
        "lds_read_is_not_waited_for",
        FaultKind.MissingWait,
        faulty="""
  ds_write_b32 v1, v0
  ds_read_b32 v2, v1
  v_add_u32_e32 v3, 1, v2  // fault
""",
        clean="""
  ds_write_b32 v1, v0
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  v_add_u32_e32 v3, 1, v2
""",
        resources=LDS,
        message="v2",
    ),
    Case(
        "scalar_load_is_not_waited_for",
        FaultKind.MissingWait,
        faulty="""
  s_load_dword s8, s[4:5], 0x0
  s_add_u32 s9, s8, 1  // fault
""",
        clean="""
  s_load_dword s8, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  s_add_u32 s9, s8, 1
""",
        message="s8",
    ),
    Case(
        # Scalar loads may return in any order: only a wait for all of them covers the first.
        "first_of_two_scalar_loads_is_used",
        FaultKind.MissingWait,
        faulty="""
  s_load_dword s8, s[4:5], 0x0
  s_load_dword s9, s[4:5], 0x4
  s_waitcnt lgkmcnt(1)
  s_add_u32 s10, s8, 1  // fault
""",
        clean="""
  s_load_dword s8, s[4:5], 0x0
  s_load_dword s9, s[4:5], 0x4
  s_waitcnt lgkmcnt(0)
  s_add_u32 s10, s8, 1
""",
        message="s8",
    ),
    Case(
        "own_copy_to_lds_is_not_waited_for",
        FaultKind.MissingWait,
        faulty="""
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  ds_read_b32 v2, v1  // fault
  s_waitcnt vmcnt(0) lgkmcnt(0)
""",
        clean="""
  s_mov_b32 m0, 0
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  s_waitcnt vmcnt(0)
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
""",
        resources=LDS,
    ),
    Case(
        # The matrix operation's result is not interlocked when it is stored right away.
        "result_of_a_matrix_operation_is_used_early",
        FaultKind.MissingWait,
        faulty="""
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[4:5], 0
  global_store_dword v1, v8, s[4:5]  // fault
""",
        clean="""
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[4:5], 0
  s_nop 15
  s_nop 3
  global_store_dword v1, v8, s[4:5]
""",
        message="v8",
    ),
    Case(
        # Only an accumulator is forwarded from one matrix operation to the next.
        "factor_of_a_matrix_operation_is_a_fresh_result",
        FaultKind.MissingWait,
        faulty="""
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[4:5], 0
  v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[8:9], 0  // fault
""",
        clean="""
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[4:5], 0
  v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[4:5], v[8:11]
  s_nop 15
  v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[8:9], 0
""",
        message="v8",
    ),
    Case(
        "result_of_a_matrix_operation_is_overwritten_early",
        FaultKind.MissingWait,
        faulty="""
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[4:5], 0
  v_mov_b32_e32 v9, 0  // fault
""",
        clean="""
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0
  s_nop 1
  v_mfma_f32_16x16x16_f16 v[8:11], v[4:5], v[4:5], 0
  s_nop 15
  v_mov_b32_e32 v9, 0
""",
        message="v9",
    ),
    Case(
        "result_of_a_transcendental_operation_is_used_early",
        FaultKind.MissingWait,
        faulty="""
  v_exp_f32_e32 v4, 1.0
  v_add_f32_e32 v5, v4, v4  // fault
""",
        clean="""
  v_exp_f32_e32 v4, 1.0
  s_nop 0
  v_add_f32_e32 v5, v4, v4
""",
        message="v4",
    ),
    Case(
        "loaded_register_is_overwritten_early",
        FaultKind.MissingWait,
        faulty="""
  global_load_dword v2, v1, s[4:5]
  v_mov_b32_e32 v2, 0  // fault
""",
        clean="""
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_mov_b32_e32 v2, 0
""",
        message="v2",
    ),
    Case(
        "loaded_register_is_stored_early",
        FaultKind.MissingWait,
        faulty="""
  global_load_dword v2, v1, s[4:5]
  global_store_dword v1, v2, s[4:5]  // fault
""",
        clean="""
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[4:5]
""",
        message="v2",
    ),
    Case(
        "atomic_result_is_not_waited_for",
        FaultKind.MissingWait,
        faulty="""
  global_atomic_add v2, v1, v0, s[4:5] sc0
  v_mov_b32_e32 v3, v2  // fault
""",
        clean="""
  global_atomic_add v2, v1, v0, s[4:5] sc0
  s_waitcnt vmcnt(0)
  v_mov_b32_e32 v3, v2
""",
        message="v2",
    ),
]

TWO_WAVES = Resources(lds=512)
# The other wave's place for this lane.
OTHER = "  v_xor_b32_e32 v2, 0x100, v1\n"
# v1's place in LDS as a flat address, in v[4:5].
SHARED_ADDRESS = """
  s_mov_b64 s[6:7], src_shared_base
  v_mov_b32_e32 v4, v1
  v_mov_b32_e32 v5, s7
"""
RACE_CASES = [
    Case(
        "two_waves_write",
        FaultKind.LdsRace,
        faulty="""
  v_and_b32_e32 v2, 0xff, v1
  ds_write_b32 v2, v0  // fault
  s_waitcnt lgkmcnt(0)
""",
        clean="""
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
""",
        resources=TWO_WAVES,
        waves=2,
        space="lds",
    ),
    Case(
        # Whichever of the two comes second is reported.
        "read_of_another_waves_write",
        FaultKind.LdsRace,
        faulty=OTHER
        + """
  ds_write_b32 v1, v0  // fault
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v3, v2  // fault
  s_waitcnt lgkmcnt(0)
""",
        clean=OTHER
        + """
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
""",
        resources=TWO_WAVES,
        waves=2,
        space="lds",
    ),
    Case(
        # lgkmcnt covers what a flat store does in LDS.
        "flat_write_is_not_waited_for_before_the_barrier",
        FaultKind.LdsRace,
        faulty=OTHER
        + SHARED_ADDRESS
        + """
  flat_store_dword v[4:5], v0
  s_barrier
  ds_read_b32 v3, v2  // fault
  s_waitcnt vmcnt(0) lgkmcnt(0)
""",
        clean=OTHER
        + SHARED_ADDRESS
        + """
  flat_store_dword v[4:5], v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt vmcnt(0) lgkmcnt(0)
""",
        resources=TWO_WAVES,
        waves=2,
        space="lds",
    ),
    Case(
        "write_is_not_waited_for_before_the_barrier",
        FaultKind.LdsRace,
        faulty=OTHER
        + """
  ds_write_b32 v1, v0
  s_barrier
  ds_read_b32 v3, v2  // fault
  s_waitcnt lgkmcnt(0)
""",
        clean=OTHER
        + """
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
""",
        resources=TWO_WAVES,
        waves=2,
        space="lds",
    ),
    Case(
        "read_is_not_waited_for_before_the_barrier",
        FaultKind.LdsRace,
        faulty=OTHER
        + """
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v3, v1
  s_barrier
  ds_write_b32 v2, v0  // fault
  s_waitcnt lgkmcnt(0)
""",
        clean=OTHER
        + """
  ds_write_b32 v1, v0
  s_waitcnt lgkmcnt(0)
  ds_read_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_write_b32 v2, v0
  s_waitcnt lgkmcnt(0)
""",
        resources=TWO_WAVES,
        waves=2,
        space="lds",
    ),
    Case(
        "copy_to_lds_is_not_waited_for_before_the_barrier",
        FaultKind.MissingWait,
        faulty=OTHER
        + """
  v_readfirstlane_b32 s8, v1
  s_mov_b32 m0, s8
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  s_barrier
  ds_read_b32 v3, v2  // fault
  s_waitcnt vmcnt(0) lgkmcnt(0)
""",
        clean=OTHER
        + """
  v_readfirstlane_b32 s8, v1
  s_mov_b32 m0, s8
  s_nop 0
  global_load_lds_dword v1, s[4:5]
  s_waitcnt vmcnt(0)
  s_barrier
  ds_read_b32 v3, v2
  s_waitcnt lgkmcnt(0)
""",
        resources=TWO_WAVES,
        waves=2,
        space="lds",
    ),
]

PROGRAM_CASES = [
    Case(
        "barrier_that_one_wave_never_reaches",
        FaultKind.BarrierNotReached,
        faulty="""
  v_cmp_gt_u32_e32 vcc, 64, v0
  s_cbranch_vccz .Lend
  s_barrier  // fault
.Lend:
""",
        clean="  s_barrier",
        waves=2,
    ),
    Case(
        "trap",
        FaultKind.Trap,
        faulty="  s_trap 2  // fault",
        clean="  s_nop 0",
    ),
    Case(
        "register_that_the_kernel_does_not_own",
        FaultKind.IllegalInstruction,
        faulty="  v_mov_b32_e32 v60, 0  // fault",
        clean="  v_mov_b32_e32 v31, 0",
    ),
    Case(
        "unsupported_instruction",
        FaultKind.Unsupported,
        faulty="  ds_gws_barrier v0 gds  // fault",
        clean="  s_nop 0",
        message="ds_gws_barrier v0 gds",
    ),
]

ALL_CASES = [
    *GLOBAL_CASES,
    *LDS_CASES,
    *UNDEFINED_CASES,
    *WAIT_CASES,
    *RACE_CASES,
    *PROGRAM_CASES,
]


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.name)
def test_fault_is_reported(case: Case, tmp_path: Path) -> None:
    with pytest.raises(gfxsim.Fault) as raised:
        run_case(case, case.faulty, tmp_path)
    fault = raised.value
    check_report(fault, tmp_path / "kernel.s", case.kind)
    assert fault.workgroup == (0, 0, 0)
    assert fault.wave in range(case.waves)
    assert case.message in str(fault)
    if case.lane is not None:
        assert fault.lane == case.lane, str(fault)
    if case.offset is not None:
        base = int((tmp_path / "pointer").read_text()) if case.space == "global" else 0
        assert fault.address == base + case.offset, str(fault)
        assert f"{fault.address:#x}" in str(fault)


@pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.name)
def test_clean_twin_passes(case: Case, tmp_path: Path) -> None:
    run_case(case, case.clean, tmp_path)


@pytest.mark.parametrize("case", RACE_CASES, ids=lambda case: case.name)
def test_race_is_found_in_any_schedule(case: Case, tmp_path: Path) -> None:
    """Seeds bring the two waves to the shared bytes in different orders."""
    faulty = assemble(PROLOGUE + case.faulty, case.resources, tmp_path)
    clean = assemble(PROLOGUE + case.clean, case.resources, tmp_path)
    seeds = 16
    with device_buffer(case.waves * BUFFER_BYTES) as pointer:
        for seed in range(seeds):
            with gfxsim.options(seed=seed):
                with pytest.raises(gfxsim.Fault) as raised:
                    faulty.launch(NAME, 1, case.waves * LANES, [pointer])
                assert raised.value.kind == case.kind, str(raised.value)
                clean.launch(NAME, 1, case.waves * LANES, [pointer])


LOAD = "  global_load_dword v2, v1, s[4:5]  // fault\n  s_waitcnt vmcnt(0)"


def test_access_to_freed_memory(tmp_path: Path) -> None:
    module = assemble(PROLOGUE + LOAD, Resources(), tmp_path)
    with device_buffer() as pointer:
        module.launch(NAME, 1, LANES, [pointer])
    with pytest.raises(gfxsim.Fault) as raised:
        module.launch(NAME, 1, LANES, [pointer])
    check_report(raised.value, tmp_path / "kernel.s", FaultKind.UseAfterFree)
    assert raised.value.lane == 0
    assert raised.value.address == pointer


STORE = "  global_store_dword v1, v0, s[4:5]  // fault"


def test_store_to_read_only_memory(tmp_path: Path) -> None:
    module = assemble(PROLOGUE + STORE, Resources(), tmp_path)
    array = np.zeros(LANES, np.uint32)
    module.launch(NAME, 1, LANES, [array])
    assert (array == np.arange(LANES)).all()
    array.flags.writeable = False
    with pytest.raises(gfxsim.Fault) as raised:
        module.launch(NAME, 1, LANES, [array])
    check_report(raised.value, tmp_path / "kernel.s", FaultKind.ReadOnly)
    assert raised.value.lane == 0
    assert raised.value.address == array.ctypes.data


def test_store_to_code(tmp_path: Path) -> None:
    body = "  s_getpc_b64 s[4:5]\n" + STORE
    module = assemble(PROLOGUE + body, Resources(), tmp_path)
    with device_buffer() as pointer, pytest.raises(gfxsim.Fault) as raised:
        module.launch(NAME, 1, LANES, [pointer])
    check_report(raised.value, tmp_path / "kernel.s", FaultKind.ReadOnly)


COPY = """
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  global_store_dword v1, v2, s[4:5]  // fault
"""


def test_unwritten_memory_is_stored(tmp_path: Path) -> None:
    module = assemble(PROLOGUE + COPY, Resources(), tmp_path)
    with device_buffer(defined=False) as pointer:
        # All lanes but one are written.
        undefined_lane = 17
        gfxsim.fill(pointer, 1, 4 * undefined_lane)
        rest = pointer + 4 * (undefined_lane + 1)
        gfxsim.fill(rest, 1, BUFFER_BYTES - 4 * (undefined_lane + 1))
        with pytest.raises(gfxsim.Fault) as raised:
            module.launch(NAME, 1, LANES, [pointer])
        check_report(raised.value, tmp_path / "kernel.s", FaultKind.UndefinedValue)
        assert raised.value.lane == undefined_lane
        gfxsim.fill(pointer, 1, BUFFER_BYTES)
        module.launch(NAME, 1, LANES, [pointer])


def test_endless_loop(tmp_path: Path) -> None:
    body = ".Lagain:\n  s_nop 0  // fault\n  s_branch .Lagain"
    module = assemble(PROLOGUE + body, Resources(), tmp_path)
    with device_buffer() as pointer, gfxsim.options(instruction_budget=1000):
        with pytest.raises(gfxsim.Fault) as raised:
            module.launch(NAME, 1, LANES, [pointer])
    fault = raised.value
    assert fault.kind == FaultKind.InstructionBudget
    assert fault.kernel == NAME and fault.wave == 0
    assert fault.instruction.split()[0] in ("s_nop", "s_branch")
    assert re.search(r"kernel\.s:\d+$", fault.source), fault.source


def test_long_loop_within_the_budget(tmp_path: Path) -> None:
    body = """
  s_movk_i32 s8, 300
.Lagain:
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lagain
"""
    module = assemble(PROLOGUE + body, Resources(), tmp_path)
    with device_buffer() as pointer, gfxsim.options(instruction_budget=1000):
        module.launch(NAME, 1, LANES, [pointer])


def test_invalid_instruction_word(tmp_path: Path) -> None:
    module = assemble(PROLOGUE + "  .long 0xffffffff", Resources(), tmp_path)
    with device_buffer() as pointer, pytest.raises(gfxsim.Fault) as raised:
        module.launch(NAME, 1, LANES, [pointer])
    assert raised.value.kind == FaultKind.IllegalInstruction
    assert raised.value.kernel == NAME


def test_workgroup_and_wave_are_named(tmp_path: Path) -> None:
    """Only one wave of one workgroup of a 3-D grid does wrong."""
    body = """
  s_cmp_eq_u32 s2, 1
  s_cselect_b32 s8, 1, 0
  s_cmp_eq_u32 s3, 0
  s_cselect_b32 s8, s8, 0
  s_cmp_eq_u32 s4, 2
  s_cselect_b32 s8, s8, 0
  s_load_dwordx2 s[12:13], s[0:1], 0x0
  v_mov_b32_e32 v3, 0
  v_cmp_eq_u32_e32 vcc, 130, v0
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 .Lload
  v_mov_b32_e32 v4, 0x1000
  v_cndmask_b32_e32 v3, v3, v4, vcc
.Lload:
  global_load_dword v2, v3, s[12:13]  // fault
  s_waitcnt vmcnt(0)
"""
    module = assemble(body, Resources(), tmp_path)
    with device_buffer() as pointer:
        with pytest.raises(gfxsim.Fault) as raised:
            module.launch(NAME, (2, 2, 3), 3 * LANES, [pointer])
        check_report(raised.value, tmp_path / "kernel.s", FaultKind.OutOfBounds)
        assert raised.value.workgroup == (1, 0, 2)
        assert raised.value.wave == 2
        assert raised.value.lane == 2
        assert raised.value.address == pointer + 0x1000
        assert "(1, 0, 2)" in str(raised.value)
        module.launch(NAME, (2, 2, 2), 3 * LANES, [pointer])


@dataclass(frozen=True)
class HipCase:
    """A fault that a C++ kernel commits; "FAULT" stands in the line that must be named."""

    name: str
    kind: FaultKind
    source: str
    # Arguments after the buffer for the faulty and the clean launch.
    faulty: list[int]
    clean: list[int]
    lane: int | None = None


HIP_CASES = [
    HipCase(
        "out_of_bounds",
        FaultKind.OutOfBounds,
        """
extern "C" __global__ void hip_kernel(int* buffer, int shift) {
  const int i = threadIdx.x;
  buffer[i + shift] = i;  // FAULT
}
""",
        faulty=[1],
        clean=[0],
        lane=63,
    ),
    HipCase(
        "lds_out_of_bounds",
        FaultKind.LdsOutOfBounds,
        """
extern "C" __global__ void hip_kernel(int* buffer, int shift) {
  __shared__ int values[64];
  volatile int* place = values;
  place[threadIdx.x + shift] = threadIdx.x;  // FAULT
  buffer[threadIdx.x] = place[threadIdx.x];
}
""",
        faulty=[3],
        clean=[0],
        lane=61,
    ),
    HipCase(
        "undefined_shared_memory_decides_a_branch",
        FaultKind.UndefinedValue,
        """
extern "C" __global__ void hip_kernel(int* buffer, int count) {
  __shared__ int values[64];
  const int i = threadIdx.x;
  if (i < count) values[i] = i;
  __syncthreads();
  if (values[63 - i] > 5)  // FAULT
    buffer[i] = 1;
}
""",
        faulty=[63],
        clean=[64],
    ),
    HipCase(
        "no_barrier_between_waves",
        FaultKind.LdsRace,
        """
extern "C" __global__ void hip_kernel(int* buffer, int distance) {
  __shared__ volatile int values[128];
  const int i = threadIdx.x;
  values[i] = -1;
  __syncthreads();
  values[i] = i, buffer[i] = values[(i + distance) % 128];  // FAULT
}
""",
        faulty=[64],
        clean=[0],
    ),
]


@pytest.mark.parametrize("case", HIP_CASES, ids=lambda case: case.name)
def test_fault_in_cpp_names_its_line(case: HipCase) -> None:
    module = gfxsim.Module(code_object(case.source))
    threads = 128 if case.kind == FaultKind.LdsRace else LANES
    # What code_object() puts before the source.
    line = 1 + next(
        number for number, text in enumerate(case.source.splitlines(), 1) if "FAULT" in text
    )
    with device_buffer(4 * threads) as pointer:
        with pytest.raises(gfxsim.Fault) as raised:
            module.launch("hip_kernel", 1, threads, [pointer, *case.faulty])
        fault = raised.value
        assert fault.kind == case.kind, str(fault)
        assert fault.kernel == "hip_kernel"
        assert fault.source.endswith(f":{line}"), str(fault)
        if case.lane is not None:
            assert fault.lane == case.lane, str(fault)
        module.launch("hip_kernel", 1, threads, [pointer, *case.clean])


# Each wave takes tickets from a counter in LDS and records them.
TICKETS = """
extern "C" __global__ void hip_kernel(int* tickets, int rounds) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x % 64 == 0)
      tickets[threadIdx.x / 64 * rounds + round] = atomicAdd(&next, 1);
  }
}
"""


def test_seed_decides_the_schedule() -> None:
    waves, rounds, seeds = 4, 16, 6
    module = gfxsim.Module(code_object(TICKETS))

    def tickets(seed: int) -> tuple[int, ...]:
        taken = np.zeros((waves, rounds), np.int32)
        with gfxsim.options(seed=seed):
            module.launch("hip_kernel", 1, waves * LANES, [taken, rounds])
        assert sorted(taken.flat) == list(range(waves * rounds))
        return tuple(taken.flat)

    first = [tickets(seed) for seed in range(1, seeds + 1)]
    again = [tickets(seed) for seed in range(1, seeds + 1)]
    assert first == again
    assert len(set(first)) > seeds // 2
