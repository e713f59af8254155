"""Program flow, scalar memory, machine state and undefined bits: small programs in assembly.

Each program gets s[8:9] = `source` and s[10:11] = `result`, two buffers of DWORDS dwords, and
stores what it found with `s_store_dword`, so that only scalar instructions take part.
"""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tests.isa import support
from tests.isa.kernels import tool

pytestmark = support.needs_simulator

DWORDS = 64
SOURCE = np.arange(DWORDS, dtype=np.uint32) * 0x01010101 + 7

PROGRAM = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.amdhsa_code_object_version 5
.text
.globl program
.p2align 8
.type program,@function
program:
  s_load_dwordx4 s[8:11], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
{body}
  s_endpgm
.p2align 6
.amdhsa_kernel program
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 64
  .amdhsa_next_free_sgpr 64
  .amdhsa_accum_offset 64
.end_amdhsa_kernel
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: program
    .symbol: program.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 64
    .vgpr_count: 64
    .max_flat_workgroup_size: 64
    .args:
      - {{ .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }}
      - {{ .size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global }}
.end_amdgpu_metadata
"""


@functools.cache
def code_object(body: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "program.s", Path(folder) / "program.co"
        source.write_text(PROGRAM.format(body=body))
        subprocess.run(
            [tool("clang"), "-x", "assembler", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx950",
             source, "-o", output],
            check=True,
        )  # fmt: skip
        return output.read_bytes()


def run(body: str, source: np.ndarray = SOURCE) -> list[int]:
    """What the program left in `result`, which starts as zeros."""
    from tq_ext import gfxsim

    result = np.zeros(DWORDS, np.uint32)
    gfxsim.Module(code_object(body)).launch("program", 1, 64, [source.copy(), result])
    return [int(x) for x in result]


def fault_of(body: str):
    """The Fault that stops the program."""
    from tq_ext import gfxsim

    with pytest.raises(gfxsim.Fault) as caught:
        run(body)
    return caught.value


def kind(name: str):
    from tq_ext import gfxsim

    return getattr(gfxsim.FaultKind, name)


def store(*registers: str) -> str:
    """Stores scalar registers to the first dwords of `result`."""
    return "\n".join(f"s_store_dword {r}, s[10:11], {4 * i:#x}" for i, r in enumerate(registers))


# --- branches and the program counter ----------------------------------------------------------


@pytest.mark.parametrize(
    ("setup", "branch", "taken"),
    [
        ("", "s_branch", True),
        ("s_cmp_eq_u32 s8, s8", "s_cbranch_scc1", True),
        ("s_cmp_eq_u32 s8, s8", "s_cbranch_scc0", False),
        ("s_cmp_lg_u32 s8, s8", "s_cbranch_scc0", True),
        ("s_mov_b64 vcc, 0", "s_cbranch_vccz", True),
        ("s_mov_b64 vcc, 0", "s_cbranch_vccnz", False),
        ("s_mov_b64 vcc, 4", "s_cbranch_vccnz", True),
        ("s_mov_b64 exec, 0", "s_cbranch_execz", True),
        ("", "s_cbranch_execz", False),
        ("", "s_cbranch_execnz", True),
        ("", "s_cbranch_cdbgsys", False),
    ],
)
def test_branch(setup: str, branch: str, taken: bool) -> None:
    body = f"s_mov_b32 s4, 1\n{setup}\n{branch} over\ns_mov_b32 s4, 0\nover:\n{store('s4')}"
    assert run(body)[0] == int(taken)


def test_backward_branch_loops() -> None:
    loop = "s_mov_b32 s4, 0\nagain:\ns_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, 9\ns_cbranch_scc1 again"
    assert run(f"{loop}\n{store('s4')}")[0] == 9


def test_call_and_return() -> None:
    body = f"""
      s_mov_b32 s4, 1
      s_call_b64 s[6:7], twice
      s_getpc_b64 s[12:13]
    here:
      s_add_u32 s12, s12, twice - here
      s_addc_u32 s13, s13, 0
      s_swappc_b64 s[6:7], s[12:13]
      {store("s4")}
      s_branch done
    twice:
      s_lshl_b32 s4, s4, 1
      s_setpc_b64 s[6:7]
    done:
    """
    assert run(body)[0] == 4


def test_jump_to_no_instruction_faults() -> None:
    fault = fault_of("s_getpc_b64 s[4:5]\ns_add_u32 s4, s4, 2\ns_setpc_b64 s[4:5]")
    assert fault.kind == kind("IllegalInstruction")


# --- registers named by an index ---------------------------------------------------------------


def test_scalar_move_relative() -> None:
    body = f"""
      s_mov_b64 s[20:21], 7
      s_mov_b64 s[22:23], 9
      s_mov_b32 m0, 2
      s_movrels_b32 s4, s20
      s_movrels_b64 s[6:7], s[20:21]
      s_movreld_b32 s22, s4
      s_movreld_b64 s[24:25], s[6:7]
      {store("s4", "s6", "s7", "s24", "s26", "s27")}
    """
    assert run(body)[:6] == [9, 9, 0, 9, 9, 0]


def test_scalar_move_relative_past_the_end_faults() -> None:
    fault = fault_of("s_mov_b32 m0, 100\ns_movrels_b32 s4, s20")
    assert fault.kind == kind("IllegalInstruction")


def test_vector_register_index() -> None:
    body = f"""
      v_mov_b32 v1, 11
      v_mov_b32 v2, 22
      v_mov_b32 v3, 33
      s_mov_b32 s4, 2
      s_set_gpr_idx_on s4, gpr_idx(SRC0)
      s_mov_b32 s5, 3
      s_nop 0
      v_mov_b32 v5, v1
      s_set_gpr_idx_off
      s_set_gpr_idx_on s5, gpr_idx(SRC1,DST)
      v_add_u32 v6, v1, v0
      s_set_gpr_idx_off
      v_readfirstlane_b32 s12, v5
      v_readfirstlane_b32 s13, v9
      {store("s12", "s13")}
    """
    assert run(body)[:2] == [33, 44]


def test_vector_register_index_past_the_kernels_registers_faults() -> None:
    body = "s_movk_i32 s4, 70\ns_set_gpr_idx_on s4, gpr_idx(SRC0)\nv_mov_b32 v5, v1\n"
    fault = fault_of(body + "s_set_gpr_idx_off")
    assert fault.kind == kind("IllegalInstruction")


# --- machine state -----------------------------------------------------------------------------


def test_mode_register() -> None:
    body = f"""
      s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 9
      s_getreg_b32 s4, hwreg(HW_REG_MODE, 0, 8)
      s_mov_b32 s5, 0xff
      s_setreg_b32 hwreg(HW_REG_MODE, 4, 2), s5
      s_getreg_b32 s5, hwreg(HW_REG_MODE, 4, 2)
      s_getreg_b32 s6, hwreg(HW_REG_XCC_ID)
      {store("s4", "s5", "s6")}
    """
    assert run(body)[:3] == [0xC9, 3, 0]


def test_traps() -> None:
    assert run(f"s_trap 3\ns_mov_b32 s4, 5\n{store('s4')}")[0] == 5
    fault = fault_of("s_trap 2")
    assert fault.kind == kind("Trap")
    assert "trap 2" in str(fault)


# --- scalar memory -----------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16])
def test_load(count: int) -> None:
    suffix = "" if count == 1 else f"x{count}"
    last = f"s[16:{15 + count}]" if count > 1 else "s16"
    body = f"""
      s_mov_b32 s4, 8
      s_load_dword{suffix} {last}, s[8:9], s4 offset:0x4
      s_waitcnt lgkmcnt(0)
      {store(*(f"s{16 + i}" for i in range(count)))}
    """
    assert run(body)[:count] == [int(x) for x in SOURCE[3 : 3 + count]]


def test_load_at_a_negative_offset() -> None:
    body = f"""
      s_add_u32 s4, s8, 16
      s_addc_u32 s5, s9, 0
      s_load_dword s6, s[4:5], -0x8
      s_waitcnt lgkmcnt(0)
      {store("s6")}
    """
    assert run(body)[0] == SOURCE[2]


def buffer(records: int, stride: int = 0) -> str:
    """A descriptor of `source` in s[20:23]."""
    return f"s_mov_b32 s20, s8\ns_or_b32 s21, s9, {stride << 16:#x}\ns_mov_b32 s22, {records}"


def test_buffer_load_reads_zero_past_the_end() -> None:
    body = f"""
      {buffer(records=12)}
      s_buffer_load_dwordx4 s[24:27], s[20:23], 0x4
      s_mov_b32 s4, 0x1000
      s_buffer_load_dword s5, s[20:23], s4
      s_waitcnt lgkmcnt(0)
      {store("s24", "s25", "s26", "s27", "s5")}
    """
    fault = fault_of(body)  # the descriptor's last dword is undefined
    assert fault.kind == kind("UndefinedValue")
    assert run("s_mov_b32 s23, 0\n" + body)[:5] == [int(SOURCE[1]), int(SOURCE[2]), 0, 0, 0]


def test_buffer_records_count_strides() -> None:
    body = f"""
      s_mov_b32 s23, 0
      {buffer(records=2, stride=8)}
      s_buffer_load_dwordx2 s[24:25], s[20:23], 0xc
      s_waitcnt lgkmcnt(0)
      {store("s24", "s25")}
    """
    assert run(body)[:2] == [int(SOURCE[3]), 0]


ATOMICS = {  # (old, operand) -> new
    "swap": lambda old, x: x,
    "add": lambda old, x: old + x,
    "sub": lambda old, x: old - x,
    "smin": lambda old, x: min(signed(old), signed(x)),
    "umin": lambda old, x: min(old, x),
    "smax": lambda old, x: max(signed(old), signed(x)),
    "umax": lambda old, x: max(old, x),
    "and": lambda old, x: old & x,
    "or": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    "inc": lambda old, x: 0 if old >= x else old + 1,
    "dec": lambda old, x: x if old == 0 or old > x else old - 1,
}


def signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x


@pytest.mark.parametrize("name", ATOMICS)
@pytest.mark.parametrize("x", [5, 0x90000000])
def test_atomic(name: str, x: int) -> None:
    old = 0x80000001
    body = f"""
      s_mov_b32 s4, {old:#x}
      s_store_dword s4, s[10:11], 0x0
      s_mov_b32 s5, {x:#x}
      s_atomic_{name} s5, s[10:11], 0x0 glc
      s_waitcnt lgkmcnt(0)
      s_store_dword s5, s[10:11], 0x4
    """
    assert run(body)[:2] == [ATOMICS[name](old, x) & 0xFFFFFFFF, old]


def test_atomic_compare_and_swap() -> None:
    body = """
      s_mov_b64 s[4:5], 3
      s_mov_b64 s[6:7], 0
      s_atomic_cmpswap_x2 s[4:7], s[10:11], 0x0
      s_mov_b64 s[6:7], 1
      s_atomic_cmpswap_x2 s[4:7], s[10:11], 0x8
    """
    assert run(body)[:4] == [3, 0, 0, 0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("s_load_dword s4, s[8:9], 0x2\ns_waitcnt lgkmcnt(0)", "Misaligned"),
        (f"s_load_dword s4, s[8:9], {4 * DWORDS:#x}", "OutOfBounds"),
        (f"s_load_dwordx2 s[4:5], s[8:9], {4 * DWORDS - 4:#x}", "OutOfBounds"),
        ("s_load_dword s4, s[20:21], 0x0", "UndefinedValue"),
        ("s_load_dword s4, s[8:9], s20", "UndefinedValue"),
        ("s_load_dword s4, s[8:9], 0x0\ns_add_u32 s5, s4, 1", "MissingWait"),
        ("s_store_dword s20, s[10:11], 0x0", "UndefinedValue"),
        ("s_memtime s[4:5]\ns_mov_b32 s6, s4", "MissingWait"),
    ],
)
def test_memory_faults(body: str, expected: str) -> None:
    assert fault_of(body).kind == kind(expected)


# --- undefined bits: s20 and up were never written ---------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "s_and_b32 s4, s20, 0",  # no undefined bit remains
        "s_or_b32 s4, s20, -1\ns_add_u32 s4, s4, 1",
        "s_mov_b32 s4, s20\ns_mov_b32 s4, 0",
        "s_lshr_b32 s4, s20, 16\ns_lshr_b32 s4, s4, 16",
        "s_lshl_b32 s20, s20, 16\ns_and_b32 s4, s20, 0xffff",
        "s_bfe_u32 s4, s20, 0",
        "s_pack_ll_b32_b16 s4, 0, s20\ns_sext_i32_i16 s4, s4",
        "s_or_b32 s5, s20, 1\ns_cbranch_scc0 over\nover:\ns_mov_b32 s4, 0",  # one bit decides SCC
        "s_cmp_eq_u32 s8, s8\ns_cselect_b32 s4, 0, s20",
        "s_cselect_b32 s4, 0, 0",  # whatever SCC is
    ],
)
def test_undefined_bits_that_do_not_matter(body: str) -> None:
    assert run(f"{body}\ns_add_u32 s4, s4, 3\n{store('s4')}")[0] == 3


@pytest.mark.parametrize(
    "body",
    [
        "s_cmp_eq_u32 s20, 0\ns_cbranch_scc0 over\nover:",
        "s_and_b32 s4, s20, 1\ns_cbranch_scc0 over\nover:",
        "s_cbranch_scc0 over\nover:",
        "s_mov_b64 vcc, s[20:21]\ns_cbranch_vccz over\nover:",
        "s_mov_b64 exec, s[20:21]",
        "s_and_saveexec_b64 s[4:5], s[20:21]",
        "s_setpc_b64 s[20:21]",
        "s_mov_b32 m0, s20\ns_movrels_b32 s4, s8",
        "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s20",
        "s_add_u32 s4, s20, 1\ns_store_dword s4, s[10:11], 0x0",
        "s_addc_u32 s4, s8, 1\ns_store_dword s4, s[10:11], 0x0",
        "s_mov_b32 s4, src_scc\ns_store_dword s4, s[10:11], 0x0",
        "s_lshl_b32 s4, 1, s20\ns_store_dword s4, s[10:11], 0x0",
    ],
)
def test_undefined_bits_that_decide(body: str) -> None:
    assert fault_of(body).kind == kind("UndefinedValue")


def test_defined_lanes_of_exec_ignore_undefined_ones() -> None:
    """s[20:21] & 0 is defined, whatever s[20:21] holds."""
    body = f"s_mov_b64 exec, 0\ns_and_saveexec_b64 s[4:5], s[20:21]\n{store('s4')}"
    assert run(body)[0] == 0


@pytest.mark.parametrize(
    ("register", "spoiled"),
    [
        ("v4", lambda row, column: row == 3),  # A: lane l holds row l % 16
        ("v6", lambda row, column: column == 3),  # B: column l % 16
        ("v9", lambda row, column: (row, column) == (1, 3)),  # C: v[8:11] hold rows 0 to 3
    ],
)
def test_undefined_bits_of_matrix_operands(register: str, spoiled) -> None:
    """Lane 3 of one register is left undefined."""
    others = "\n".join(f"v_mov_b32 {r}, 0" for r in ("v4", "v6", "v9") if r != register)
    body = f"""
      v_mov_b32 v5, 0
      v_mov_b32 v7, 0
      v_mov_b32 v8, 0
      v_mov_b32 v10, 0
      v_mov_b32 v11, 0
      s_mov_b64 exec, ~8
      v_mov_b32 {register}, 0
      s_mov_b64 exec, -1
      {others}
      v_mfma_f32_16x16x16_f16 v[12:15], v[4:5], v[6:7], v[8:11]
      s_nop 15
    """
    for row, column in [(0, 0), (1, 3), (3, 0), (3, 3), (5, 3), (15, 15)]:
        lane, value = 16 * (row // 4) + column, row % 4
        read = f"v_readlane_b32 s4, v{12 + value}, {lane}\n{store('s4')}"
        if spoiled(row, column):
            assert fault_of(body + read).kind == kind("UndefinedValue")
        else:
            assert run(body + read)[0] == 0
