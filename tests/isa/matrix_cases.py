"""Matrix instructions: fragment layouts and products, computed independently in numpy.

Layouts (ISA, chapter on matrix arithmetic; checked against the tables in Composable Kernel's
mx_mfma_op test, which ran on hardware). M rows (A) or columns (B) fill lanes l % M; G = l // M is
the lane's group. Register element e of group G holds

- one block: k = G * E + e, where E is the number of elements a lane holds;
- several blocks: block G, k = e (f64 4x4x4: block (l // 4) % 4, k = l // 16);
- f8f6f4 with 8-bit elements: k = 16 * G + e % 16 + 16 * (64 // M) * (e // 16), that is two runs of
  16; with 6-bit and 4-bit elements k = 32 * G + e.

C and D of element v: 32x32: row 8 * (v // 4) + 4 * (l // 32) + v % 4 (16 registers a block);
16x16: row 4 * (l // 16) + v (4 a block); 4x4: row v, block l // 4; f64: row 4 * v + l // 16.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np

from tests.isa import formats
from tests.isa.cases import Inputs
from tests.isa.formats import FORMATS
from tests.isa.kernels import (
    DST,
    LANES,
    SCALAR_DWORDS,
    SRC,
    Frame,
    Results,
    accepted,
)  # fmt: skip
from tests.isa.runner import MAX_REPORTED, Failure

WAVES = 3  # small integers (exact), random values, infinities and NaNs
SCALE_REGS = (52, 53)
F8F6F4 = ("fp8", "bf8", "fp6", "bf6", "fp4")  # by the value of cbsz and blgp
SHAPE = re.compile(
    r"v_(s?)mfma(?:c?)_(?:(scale)_)?(f32|i32|f64)_(\d+)x(\d+)x(\d+)_(?:(\d+)b_)?(.*)"
)


@dataclass(frozen=True)
class MatrixOp:
    mnemonic: str
    rows: int  # M = N in every instruction
    depth: int
    blocks: int
    accumulator: str  # f32, i32 or f64
    a: str
    b: str
    sparse: bool = False
    scaled: bool = False

    @property
    def groups(self) -> int:
        return LANES // self.rows

    @property
    def b_elements(self) -> int:
        """Elements of B that a lane holds."""
        return self.rows * self.depth * self.blocks // LANES

    @property
    def a_elements(self) -> int:
        return self.b_elements // 2 if self.sparse else self.b_elements

    @property
    def d_elements(self) -> int:
        return self.rows * self.rows * self.blocks // LANES


def bits_of(element: str) -> int:
    return FORMATS[element].bits if element in FORMATS else int(element[1:])


@cache
def opcodes() -> dict[str, MatrixOp]:
    from tinygrad.runtime.autogen.amd.cdna.operands import OPERANDS

    out = {}
    for key in OPERANDS:
        name = key.name.lower()
        match = SHAPE.fullmatch(name)
        if not match:
            continue
        sparse, scaled, accumulator, rows, _, depth, blocks, kinds = match.groups()
        a, _, b = kinds.partition("_")
        out[name] = MatrixOp(
            name,
            int(rows),
            int(depth),
            int(blocks or 1),
            accumulator,
            a,
            b or a,
            bool(sparse),
            bool(scaled),
        )
    return out


@dataclass(frozen=True)
class MatrixCase:
    op: MatrixOp
    a: str  # element formats (f8f6f4 chooses them by modifier)
    b: str
    modifiers: str = ""
    c: str = ""  # inline constant instead of the C registers
    agprs: str = ""  # letters of the operands in AGPRs: a, b, c (C and D)
    cbsz: int = 0
    abid: int = 0
    blgp: int = 0
    scale_select: tuple[int, int] = (0, 0)  # byte of the scale registers

    @property
    def label(self) -> str:
        parts = [
            self.a,
            self.b,
            self.modifiers,
            f"c={self.c}" if self.c else "",
            f"agprs={self.agprs}" if self.agprs else "",
        ]
        return f"{self.op.mnemonic} [{' '.join(p for p in parts if p)}]"

    def dwords(self, which: str) -> int:
        op = self.op
        if which in "ab":
            count = op.a_elements if which == "a" else op.b_elements
            return max(1, count * bits_of(self.a if which == "a" else self.b) // 32)
        return op.d_elements * (2 if op.accumulator == "f64" else 1)

    def register(self, first: int, dwords: int, agpr: bool) -> str:
        kind = "a" if agpr else "v"
        return f"{kind}{first}" if dwords == 1 else f"{kind}[{first}:{first + dwords - 1}]"

    def assembly(self) -> str:
        d = self.register(DST, self.dwords("c"), "c" in self.agprs)
        a = self.register(SRC[0], self.dwords("a"), "a" in self.agprs)
        b = self.register(SRC[1], self.dwords("b"), "b" in self.agprs)
        c = self.c or self.register(SRC[2], self.dwords("c"), "c" in self.agprs)
        if self.op.sparse:
            c = f"v{SRC[2]}"
        text = f"{self.op.mnemonic} {d}, {a}, {b}, {c}"
        if self.op.scaled:
            text += f", v{SCALE_REGS[0]}, v{SCALE_REGS[1]}"
        return f"{text} {self.modifiers}".strip()

    def loads(self) -> tuple[tuple[int, int], ...]:
        out = [(SRC[0], self.dwords("a")), (SRC[1], self.dwords("b"))]
        if self.op.sparse:
            out += [(DST, self.dwords("c")), (SRC[2], 1)]
        elif not self.c:
            out.append((SRC[2], self.dwords("c")))
        if self.op.scaled:
            out += [(SCALE_REGS[0], 1), (SCALE_REGS[1], 1)]
        return tuple(out)

    def frame(self) -> Frame:
        setup, finish = [], []
        for letter, first in (("a", SRC[0]), ("b", SRC[1]), ("c", SRC[2]), ("d", DST)):
            if letter.replace("d", "c") not in self.agprs:
                continue
            count = self.dwords(letter.replace("d", "c"))
            registers = range(first, first + count)
            if letter == "d":
                finish += [f"v_accvgpr_read_b32 v{r}, a{r}" for r in registers]
            if letter != "d" or self.op.sparse:
                setup += [f"v_accvgpr_write_b32 a{r}, v{r}" for r in registers]
        wait = ["s_nop 15"] * 2
        return Frame(
            loads=self.loads(),
            stores=((DST, self.dwords("c")),),
            agprs=bool(self.agprs),
            setup="\n".join(setup),
            after="\n".join(wait),
            finish="\n".join(finish),
        )

    # -- inputs --

    def inputs(self) -> Inputs:
        rng = np.random.default_rng(zlib.crc32(self.label.encode()))
        columns = []
        for first, dwords in self.loads():
            if first == SRC[0]:
                columns.append(fragment(rng, self.a, self.op.a_elements))
            elif first == SRC[1]:
                columns.append(fragment(rng, self.b, self.op.b_elements))
            elif first == SRC[2] and self.op.sparse:
                columns.append(sparse_index(rng))
            elif first in SCALE_REGS:
                scales = rng.integers(120, 134, (WAVES, LANES, 4))
                columns.append((scales << [0, 8, 16, 24]).sum(-1, keepdims=True).astype(np.uint32))
            else:
                columns.append(fragment(rng, self.op.accumulator, self.op.d_elements))
            assert columns[-1].shape[-1] == dwords
        scalars = rng.integers(0, 1 << 32, (WAVES, SCALAR_DWORDS), dtype=np.uint64)
        return Inputs(np.concatenate(columns, -1), scalars.astype(np.uint32))


def fragment(rng: np.random.Generator, element: str, count: int) -> np.ndarray:
    """uint32 [WAVES, LANES, dwords]: small integers, random values, then a few specials."""
    width = bits_of(element)
    if element not in FORMATS:
        low, high = (-(1 << (width - 1)), 1 << (width - 1)) if width < 32 else (-1000, 1000)
        bits = rng.integers(low, high, (WAVES, LANES, count)).astype(np.int64).astype(np.uint64)
    else:
        fmt = FORMATS[element]
        shape = (WAVES, LANES, count)
        top = {"fp4": 3, "fp6": 4, "bf6": 8}.get(element, 8)
        exact = rng.integers(-top, top + 1, shape).astype(np.float64)
        spread = rng.normal(0, 1, shape)
        bits = formats.encode(exact, fmt)
        bits[1:] = formats.encode(spread, fmt)[1:]
        if fmt.specials != "none":  # about one element in 200 is special
            value = rng.choice([np.inf, -np.inf, np.nan], shape[1:])
            rare = rng.random(shape[1:]) < 0.005
            bits[2] = np.where(rare, formats.encode(value, fmt), bits[2])
    bits = bits & np.uint64((1 << width) - 1 if width < 64 else 0xFFFFFFFFFFFFFFFF)
    return pack(bits, width)


def pack(bits: np.ndarray, width: int) -> np.ndarray:
    """Elements of `width` bits, lowest first, into dwords."""
    planes = (bits[..., None] >> np.arange(width, dtype=np.uint64)) & np.uint64(1)
    flat = planes.reshape(*bits.shape[:-1], -1)
    words = flat.reshape(*flat.shape[:-1], -1, 32) << np.arange(32, dtype=np.uint64)
    return words.sum(-1).astype(np.uint32)


def unpack(dwords: np.ndarray, width: int, count: int) -> np.ndarray:
    planes = (dwords[..., None].astype(np.uint64) >> np.arange(32, dtype=np.uint64)) & np.uint64(1)
    flat = planes.reshape(*dwords.shape[:-1], -1)[..., : width * count]
    words = flat.reshape(*flat.shape[:-1], count, width) << np.arange(width, dtype=np.uint64)
    return words.sum(-1, dtype=np.uint64)


def sparse_index(rng: np.random.Generator) -> np.ndarray:
    """32 bits: for every pair of stored elements two different positions of four, in order."""
    pairs = np.array([0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110])
    picks = pairs[rng.integers(0, len(pairs), (WAVES, LANES, 8))]
    return (picks << np.arange(0, 32, 4)).sum(-1, keepdims=True).astype(np.uint32)


def values_of(dwords: np.ndarray, element: str, count: int) -> np.ndarray:
    bits = unpack(dwords, bits_of(element), count)
    if element in FORMATS:
        return formats.decode(bits, FORMATS[element])
    width = bits_of(element)
    signed = bits.astype(np.int64)
    return np.where(signed >= 1 << (width - 1), signed - (1 << width), signed)


# --- reference ---------------------------------------------------------------------------------


def k_of(op: MatrixOp, element: str, lane: np.ndarray, e: np.ndarray) -> np.ndarray:
    group = lane // op.rows
    if op.a == "f8f6f4":
        if bits_of(element) == 8:
            return 16 * group + e % 16 + 16 * op.groups * (e // 16)
        return 32 * group + e
    if op.accumulator == "f64":
        return lane // 16 + 0 * e
    return e + 0 * lane if op.blocks > 1 else group * op.b_elements + e


def block_of(op: MatrixOp, lane: np.ndarray) -> np.ndarray:
    if op.blocks == 1:
        return 0 * lane
    return lane // 4 % 4 if op.accumulator == "f64" else lane // op.rows


def dense(op: MatrixOp, element: str, values: np.ndarray) -> np.ndarray:
    """[waves, blocks, rows, depth] from [waves, lanes, elements]."""
    lane, e = np.meshgrid(np.arange(LANES), np.arange(values.shape[-1]), indexing="ij")
    out = np.zeros((values.shape[0], op.blocks, op.rows, op.depth), values.dtype)
    out[:, block_of(op, lane), lane % op.rows, k_of(op, element, lane, e)] = values
    return out


def d_position(op: MatrixOp) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(block, row, column) of [lanes, elements] of C and D."""
    lane, v = np.meshgrid(np.arange(LANES), np.arange(op.d_elements), indexing="ij")
    if op.accumulator == "f64":
        if op.rows == 4:
            return lane // 4 % 4, lane // 16, lane % 4
        return 0 * lane, 4 * v + lane // 16, lane % 16
    if op.rows == 32:
        return v // 16, 8 * (v % 16 // 4) + 4 * (lane // 32) + v % 4, lane % 32
    if op.rows == 16:
        return v // 4, 4 * (lane // 16) + v % 4, lane % 16
    return lane // 4, v, lane % 4


def expand_sparse(case: MatrixCase, a: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Stored pair p of a lane lies at two of the positions 4p..4p+3, named by 2-bit indices."""
    count = a.shape[-1]
    shift = case.abid * 2 * count if case.cbsz == 0 else 0
    out = np.zeros((*a.shape[:-1], 2 * count), a.dtype)
    waves, lanes = np.meshgrid(np.arange(a.shape[0]), np.arange(LANES), indexing="ij")
    for e in range(count):
        position = (index[..., 0].astype(np.int64) >> (shift + 2 * e)) & 3
        out[waves, lanes, 4 * (e // 2) + position] = a[..., e]
    return out


def broadcast_b(values: np.ndarray, blgp: int) -> np.ndarray:
    """BLGP: the lanes of B that each lane sees."""
    lane = np.arange(LANES)
    pattern = {
        0: lane,
        1: lane % 32,
        2: lane % 32 + 32,
        3: (lane + 16) % LANES,
        4: lane % 16,
        5: lane % 16 + 16,
        6: lane % 16 + 32,
        7: lane % 16 + 48,
    }[blgp]
    return values[:, pattern]


@dataclass
class MatrixExpected:
    value: np.ndarray  # [waves, lanes, elements], float64 or int64
    tolerance: np.ndarray  # absolute; 0 where the result must be exact


def expect(case: MatrixCase, inputs: Inputs) -> MatrixExpected:
    op = case.op
    parts, at = {}, 0
    for first, count in case.loads():
        parts[first] = inputs.vectors[..., at : at + count]
        at += count
    a = values_of(parts[SRC[0]], case.a, op.a_elements)
    b = values_of(parts[SRC[1]], case.b, op.b_elements)
    position = d_position(op)
    c = np.zeros(
        (WAVES, op.blocks, op.rows, op.rows), np.int64 if op.accumulator == "i32" else np.float64
    )
    if case.c:
        c += int(case.c) if op.accumulator == "i32" else float(case.c)
    else:
        held = values_of(parts[DST if op.sparse else SRC[2]], op.accumulator, op.d_elements)
        c[:, *position] = held
    if op.sparse:
        a = expand_sparse(case, a, parts[SRC[2]])
    if case.blgp and op.a != "f8f6f4" and op.accumulator != "f64":
        b = broadcast_b(b, case.blgp)
    left, right = dense(op, case.a, a), dense(op, case.b, b)
    if op.scaled:
        left = left * scales_of(op, parts[SCALE_REGS[0]], case.scale_select[0])
        right = right * scales_of(op, parts[SCALE_REGS[1]], case.scale_select[1])
    if op.accumulator == "f64" and case.blgp:  # negation of A, B and C
        signs = [-1.0 if case.blgp >> i & 1 else 1.0 for i in range(3)]
        left, right, c = left * signs[0], right * signs[1], c * signs[2]
    if case.cbsz and op.blocks > 1:
        group = 1 << case.cbsz
        left = left[:, np.arange(op.blocks) // group * group + case.abid]
    with np.errstate(all="ignore"):
        total = np.einsum("wbik,wbjk->wbij", left, right) + c
        size = np.einsum("wbik,wbjk->wbij", np.abs(left), np.abs(right)) + np.abs(c)
    value = total[:, *position]
    if op.accumulator == "i32":
        value = (value & 0xFFFFFFFF).astype(np.int64)
        return MatrixExpected(value, np.zeros(value.shape))
    # Order and intermediate rounding are not specified: one rounding a term bounds the error.
    # The first wave holds small integers, whose sums are exact.
    step = 2.0**-53 if op.accumulator == "f64" else 2.0**-24
    tolerance = size[:, *position] * step * (op.depth + 1)
    if not op.scaled:  # scales spread the terms beyond what f32 holds exactly
        tolerance[0] = 0
    return MatrixExpected(value, np.where(np.isfinite(tolerance), tolerance, 0))


def scales_of(op: MatrixOp, dwords: np.ndarray, select: int) -> np.ndarray:
    """[waves, 1, rows, depth]: lane l scales row l % rows, k block l // rows of 32."""
    codes = (dwords[..., 0] >> np.uint32(8 * select)) & np.uint32(0xFF)
    factor = np.ldexp(1.0, codes.astype(np.int64) - 127)
    by_group = factor.reshape(-1, op.groups, op.rows).transpose(0, 2, 1)
    return np.repeat(by_group, 32, axis=2)[:, None]


# --- cases -------------------------------------------------------------------------------------


def candidates(op: MatrixOp) -> list[MatrixCase]:
    if op.a == "f8f6f4":
        return f8f6f4_cases(op)
    base = MatrixCase(op, op.a, op.b)
    out = [base]
    if op.sparse:
        out.append(MatrixCase(op, op.a, op.b, agprs="c"))
        out += [
            MatrixCase(op, op.a, op.b, f"abid:{i}", abid=i)
            for i in range(1, 4)
            if 2 * op.a_elements * (i + 1) <= 32
        ]
        out.append(MatrixCase(op, op.a, op.b, "cbsz:1 abid:1", cbsz=1, abid=1))
        return out
    out += [MatrixCase(op, op.a, op.b, agprs=which) for which in ("a", "b", "c", "abc")]
    out.append(MatrixCase(op, op.a, op.b, c="1" if op.accumulator == "i32" else "0.5"))
    out.append(MatrixCase(op, op.a, op.b, c="0"))
    if op.blocks > 1:
        for cbsz in range(1, op.blocks.bit_length()):
            abid = (1 << cbsz) - 1
            out.append(MatrixCase(op, op.a, op.b, f"cbsz:{cbsz} abid:{abid}", cbsz=cbsz, abid=abid))
    # BLGP exists in every encoding, but only these shapes are documented with lane patterns.
    if bits_of(op.a) >= 16 and op.accumulator != "f64" and op.depth <= 8:
        out += [MatrixCase(op, op.a, op.b, f"blgp:{i}", blgp=i) for i in range(1, 8)]
    if op.accumulator == "f64":
        out += [
            MatrixCase(op, op.a, op.b, f"neg:[{i & 1},{i >> 1 & 1},{i >> 2}]", blgp=i)
            for i in (1, 2, 4, 7)
        ]
    return out


def f8f6f4_cases(op: MatrixOp) -> list[MatrixCase]:
    out = []
    for i, a in enumerate(F8F6F4):
        for j, b in enumerate(F8F6F4):
            text = " ".join(x for x in (f"cbsz:{i}" if i else "", f"blgp:{j}" if j else "") if x)
            select = ((i + 2 * j) % 4, (2 * i + j + 1) % 4) if op.scaled else (0, 0)
            if op.scaled:
                low, high = [s & 1 for s in select], [s >> 1 for s in select]
                text = (
                    f"op_sel:[{low[0]},{low[1]},0] op_sel_hi:[{high[0]},{high[1]},0] {text}"
                ).strip()
            out.append(MatrixCase(op, a, b, text, cbsz=i, blgp=j, scale_select=select))
    out.append(
        MatrixCase(
            op, "fp8", "fp8", agprs="abc", modifiers="op_sel_hi:[0,0,0]" if op.scaled else ""
        )
    )
    return out


def assembled_cases(mnemonics: list[str]) -> dict[str, tuple[MatrixCase, ...]]:
    flat = [case for name in mnemonics for case in candidates(opcodes()[name])]
    ok = accepted([case.assembly() for case in flat])
    out: dict[str, list[MatrixCase]] = {name: [] for name in mnemonics}
    for case, good in zip(flat, ok, strict=True):
        if good:
            out[case.op.mnemonic].append(case)
    return {name: tuple(cases) for name, cases in out.items()}


@cache
def all_cases() -> dict[str, tuple[MatrixCase, ...]]:
    return assembled_cases(list(opcodes()))


def check_case(case: MatrixCase, inputs: Inputs, results: Results) -> Failure | None:
    op = case.op
    want = expect(case, inputs)
    got_bits = unpack(results.vectors, 64 if op.accumulator == "f64" else 32, op.d_elements)
    if op.accumulator == "i32":
        got = got_bits.astype(np.int64)
        ok = got == want.value
    else:
        got = formats.decode(got_bits, FORMATS[op.accumulator])
        with np.errstate(all="ignore"):
            ok = (
                (np.abs(got - want.value) <= want.tolerance)
                | (got == want.value)
                | (np.isnan(got) & np.isnan(want.value))
            )
    details = []
    bad = np.argwhere(~ok)
    position = d_position(op)
    for wave, lane, element in bad[:MAX_REPORTED]:
        block, row, col = (p[lane, element] for p in position)
        details.append(
            f"wave {wave} lane {lane} element {element} (block {block}, row {row}, "
            f"column {col}): expected {want.value[wave, lane, element]!r} "
            f"+- {want.tolerance[wave, lane, element]:.3g}, "
            f"got {got[wave, lane, element]!r}"
        )
    if len(bad) > MAX_REPORTED:
        details.append(f"... {len(bad)} of {ok.size} elements differ")
    return Failure(case.label, case.assembly(), details) if details else None
