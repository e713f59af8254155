"""What a test expects of one instruction, and the comparison with what the simulator stored."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tests.isa import formats, pcode
from tests.isa.formats import FORMATS
from tests.isa.operands import Format

if TYPE_CHECKING:
    from tests.isa.cases import Case, Inputs

LANES = 64

# The literal of v_fmamk/v_fmaak/v_madmk/v_madak, by operand width.
K_LITERAL = {16: 0x3D9A, 32: 0x3F99999A}

# SDWA selections in the order of their encoding.
SDWA_SELS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")


@dataclass
class Expected:
    """Destination bits by lane, and what else the instruction writes."""

    dst: np.ndarray  # object [lanes]: bits of the destination in every lane
    dst_valid: np.ndarray | None = None  # object [lanes]: bits that are specified; None: all
    alternatives: list[np.ndarray] = field(default_factory=list)  # other accepted bits
    ulp: int = 0  # accepted distance of a float result, in units of the last place
    absolute: np.ndarray | None = None  # accepted absolute error by lane
    mask: np.ndarray | None = None  # bool [waves, lanes]: the lane mask written
    exec_mask: np.ndarray | None = None  # bool [waves, lanes] afterwards, where it changes
    scalar: np.ndarray | None = None  # object [waves]: a scalar result
    sources: dict[int, np.ndarray] = field(default_factory=dict)  # sources the op writes (swap)
    final: bool = False  # dst is complete: no output modifier or exec mask is applied to it


@dataclass(frozen=True)
class Context:
    """One evaluation: operands after modifiers, and the machine's state."""

    case: Case
    inputs: Inputs
    sources: list[np.ndarray]  # object [lanes]
    old: np.ndarray  # destination before
    active: np.ndarray  # bool [lanes]
    vcc: np.ndarray  # bool [lanes]
    mode: str  # rounding
    ieee: bool
    stochastic: str = "zero"  # how stochastic conversions round: zero or away
    saturate_fp8: bool = False  # overflowing conversions to fp8 and bf8 give the largest value


def elements(bits: np.ndarray, fmt: Format) -> list[np.ndarray]:
    """The elements of a packed value as uint64 bits (of any width up to 64)."""
    width = fmt.element_bits
    field_mask = (1 << width) - 1
    return [((bits >> (i * width)) & field_mask).astype(np.uint64) for i in range(fmt.count)]


def ordered(bits: np.ndarray, fmt: formats.FloatFormat) -> np.ndarray:
    """Maps float patterns to integers so that neighbours differ by one."""
    sign = np.uint64(1 << (fmt.bits - 1))
    magnitude = (bits & (sign - np.uint64(1))).astype(object)
    return np.where((bits & sign) != 0, -magnitude, magnitude)


def float_matches(
    got: np.ndarray,
    want: np.ndarray,
    fmt: formats.FloatFormat,
    ulp: int,
    absolute: np.ndarray | None,
) -> np.ndarray:
    """NaN matches NaN whatever its sign and payload (see handwritten.RULES)."""
    same = got == want
    got_value, want_value = formats.decode(got, fmt), formats.decode(want, fmt)
    both_nan = np.isnan(got_value) & np.isnan(want_value)
    same = same | both_nan
    number = ~np.isnan(got_value) & ~np.isnan(want_value)
    if ulp:
        distance = np.abs(ordered(got, fmt) - ordered(want, fmt))
        same = same | (number & (distance <= ulp).astype(bool))
    if absolute is not None:
        with np.errstate(all="ignore"):
            same = same | (number & (np.abs(got_value - want_value) <= absolute))
    return same


def dst_matches(got: np.ndarray, expected: Expected, fmt: Format) -> np.ndarray:
    """bool [lanes]: each element equals the expectation or one of the alternatives."""
    if fmt.is_float and fmt.bits < 32:  # op_sel and SDWA may put it anywhere in the register
        fmt = Format(fmt.element, 32 // fmt.element_bits, 32)
    full = (1 << (32 * fmt.dwords)) - 1
    valid = expected.dst_valid
    valid = np.full(len(got), full, dtype=object) if valid is None else valid
    covered = fmt.element_bits * fmt.count
    wanted = (expected.dst, *expected.alternatives)
    # Bits above the elements, among them elements that op_sel moved there.
    ok = np.logical_or.reduce([((got ^ want) & valid) >> covered == 0 for want in wanted])
    if len(expected.alternatives) == 0 and not fmt.is_float:
        return ok & (((got ^ expected.dst) & valid) == 0)
    parts = [elements(x, fmt) for x in (got, *wanted, valid)]
    form = FORMATS.get(fmt.element)
    for i in range(fmt.count):
        part_ok = np.zeros(len(got), dtype=bool)
        mask = parts[-1][i]
        for want in parts[1:-1]:
            if form is not None and form.specials != "none":
                part_ok |= float_matches(
                    parts[0][i] & mask, want[i] & mask, form, expected.ulp, expected.absolute
                )
            else:
                part_ok |= (parts[0][i] & mask) == (want[i] & mask)
        ok = ok & part_ok
    return ok.astype(bool)


def run_text(context: Context, text: str | None = None) -> Expected:
    """Evaluates the pseudo-code."""
    case = context.case
    op, lanes = case.opcode, len(context.active)
    env: dict[str, pcode.Value] = {
        "VCC.lane": pcode.make_int(context.vcc.astype(object) * 1, lanes, 1),
        "SIMM32": pcode.make_int(K_LITERAL[32], lanes, 32, bits_only=True),
        "SIMM16": pcode.make_int(K_LITERAL[16], lanes, 16, bits_only=True),
        "OPSEL": pcode.make_int(
            sum(case.op_sel_bit(i) << i for i in range(4)), lanes, 4, bits_only=True
        ),
        "SDWA_SRC0_SEL": pcode.make_int(
            SDWA_SELS.index(case.sources[0].sel) if case.sources else 6, lanes, 3, bits_only=True
        ),
        **{
            f"{kind}{i}": pcode.make_int(base + i, lanes, 3, bits_only=True)
            for kind, base, count in (("BYTE", 0, 4), ("WORD", 4, 2))
            for i in range(count)
        },
    }
    for i, (bits, fmt) in enumerate(zip(context.sources, op.sources, strict=True)):
        width = max(fmt.bits, 32)
        env[f"S{i}"] = pcode.make_int(bits, lanes, width, bits_only=True)
    dst_width = op.dst.dwords * 32 if op.dst is not None else 64
    for name in ("D0", "D"):
        env[name] = pcode.make_int(context.old, lanes, dst_width, bits_only=True)
    machine = pcode.Machine(
        lanes,
        env,
        ieee=context.ieee,
        mode=context.mode,
        saturate=case.clamp and op.dst is not None and not op.dst.is_float,
        stochastic=context.stochastic,
        saturate_fp8=context.saturate_fp8,
    )
    machine.run(text or op.text)
    expected = Expected(
        machine.env["D" if re.search(r"^D\.", op.text, re.M) else "D0"].data,
        np.zeros(lanes, dtype=object),
    )
    mask = machine.env.get("D0.lane" if op.dst is None else "VCC.lane")
    if op.writes_mask:
        if op.dst is not None and "D1" in machine.env:
            mask = machine.env["D1"]
        taken = (mask.data != 0) & context.active
        expected.mask = taken.reshape(-1, LANES)
        if case.mnemonic.startswith("v_cmpx"):
            expected.exec_mask = expected.mask
    return expected
