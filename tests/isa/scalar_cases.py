"""SALU test cases. Each wave of a launch runs the instruction once on its own operands."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import cache

import numpy as np

from tests.isa import pcode
from tests.isa.cases import Inputs
from tests.isa.kernels import (
    SCALAR_DST,
    SCALAR_DWORDS,
    SCALAR_SRC,
    Frame,
    Results,
    accepted,
)  # fmt: skip
from tests.isa.operands import Format, from_dwords, operand_bits, operand_format, to_dwords
from tests.isa.runner import MAX_REPORTED, Failure

WAVES = 192
ENCODINGS = ("SOP1", "SOP2", "SOPC", "SOPK")
IMMEDIATES = (0, 1, -1, 0x7FFF, -0x8000, 0x1234, -37)
LITERAL = 0x1E21B5A7

# Program flow and machine state: covered by the simulator's own tests, not by arithmetic.
OTHER_TESTS = re.compile(
    r"s_(getpc|setpc|swappc|call)_b64|s_rfe.*|s_cbranch.*|s_(get|set)reg.*|s_set_gpr.*|s_setvskip"
    r"|s_movrel[sd]_b(32|64)"
)


@dataclass(frozen=True)
class ScalarOp:
    mnemonic: str
    encoding: str
    sources: tuple[Format, ...]
    dst: Format | None
    text: str


@cache
def opcodes() -> dict[str, ScalarOp]:
    from tinygrad.runtime.autogen.amd.cdna.operands import OPERANDS

    out = {}
    for key, fields in OPERANDS.items():
        encoding = type(key).__name__.removesuffix("Op")
        name = key.name.lower()
        if encoding not in ENCODINGS or OTHER_TESTS.fullmatch(name):
            continue
        sources = tuple(
            operand_format(fields[n][0].name, fields[n][1])
            for n in ("ssrc0", "ssrc1")
            if n in fields
        )
        dst = fields.get("sdst")
        fmt = operand_format(dst[0].name, dst[1]) if dst else None
        out[name] = ScalarOp(name, encoding, sources, fmt, pcode.instruction_text(name))
    return out


@dataclass(frozen=True)
class ScalarCase:
    """`operands` are the texts of the sources: an SGPR ("s0", "s1"), vcc, exec, m0, a constant,
    or the immediate of a SOPK."""

    op: ScalarOp
    operands: tuple[str, ...]
    dst: str = "s"  # "s" or "vcc"

    @property
    def label(self) -> str:
        return f"{self.op.mnemonic} [{self.dst} {' '.join(self.operands)}]"

    def register(self, first: int, dwords: int) -> str:
        return f"s{first}" if dwords == 1 else f"s[{first}:{first + dwords - 1}]"

    def special(self, name: str, dwords: int) -> str:
        return name + ("_lo" if dwords == 1 and name in ("vcc", "exec") else "")

    def assembly(self) -> str:
        out = []
        if self.op.dst is not None:
            dwords = self.op.dst.dwords
            out.append(
                self.register(SCALAR_DST, dwords)
                if self.dst == "s"
                else self.special("vcc", dwords)
            )
        for i, operand in enumerate(self.operands):
            dwords = self.op.sources[i].dwords if self.op.sources else 1
            if operand in ("s0", "s1"):
                operand = self.register(SCALAR_SRC[int(operand[1])], dwords)
            elif operand in ("vcc", "exec", "m0"):
                operand = self.special(operand, dwords)
            out.append(operand)
        return f"{self.op.mnemonic} " + ", ".join(out)

    def frame(self) -> Frame:
        return Frame(loads=(), stores=())

    def inputs(self) -> Inputs:
        rng = np.random.default_rng(zlib.crc32(self.label.encode()))
        scalars = rng.integers(0, 1 << 32, (WAVES, SCALAR_DWORDS), dtype=np.uint64)
        scalars = scalars.astype(np.uint32)
        scalars[:, 4] &= 1
        fmts = list(self.op.sources) or ([self.op.dst] if self.op.dst else [])
        for i, bits in enumerate(operand_bits(rng, fmts, WAVES)):
            # SOPK's only register operand is its destination.
            at = 8 + 2 * i if self.op.sources else 14
            scalars[:, at : at + fmts[i].dwords] = to_dwords(bits, fmts[i].dwords)
            if i == 0 and self.operands and self.operands[0] in SPECIAL_AT:
                where = SPECIAL_AT[self.operands[0]]
                count = 1 if self.operands[0] == "m0" else fmts[i].dwords
                scalars[:, where : where + count] = to_dwords(bits, count)
        scalars[: WAVES // 8, 0:2] = 0  # some waves with no lane active
        return Inputs(np.zeros((WAVES, 64, 0), np.uint32), scalars)


SPECIAL_AT = {"exec": 0, "vcc": 2, "m0": 5}  # positions in the scalar record


def candidates(op: ScalarOp) -> list[ScalarCase]:
    if op.encoding == "SOPK":
        return [ScalarCase(op, (str(i),)) for i in IMMEDIATES]
    n = len(op.sources)
    plain = tuple(f"s{i}" for i in range(n))
    out = [ScalarCase(op, plain)]
    if op.dst is not None:
        out.append(ScalarCase(op, plain, "vcc"))
    for i in range(n):
        for text in ("5", "-7", hex(LITERAL), "vcc", "exec", "m0"):
            if text in SPECIAL_AT and i:
                continue
            out.append(ScalarCase(op, (*plain[:i], text, *plain[i + 1 :])))
    return out


def assembled_cases(mnemonics: list[str]) -> dict[str, tuple[ScalarCase, ...]]:
    flat = [case for name in mnemonics for case in candidates(opcodes()[name])]
    ok = accepted([case.assembly() for case in flat])
    out: dict[str, list[ScalarCase]] = {name: [] for name in mnemonics}
    for case, good in zip(flat, ok, strict=True):
        if good:
            out[case.op.mnemonic].append(case)
    return {name: tuple(cases) for name, cases in out.items()}


@cache
def all_cases() -> dict[str, tuple[ScalarCase, ...]]:
    return assembled_cases(list(opcodes()))


def source_value(case: ScalarCase, inputs: Inputs, index: int) -> np.ndarray:
    operand, scalars = case.operands[index], inputs.scalars
    dwords = case.op.sources[index].dwords if case.op.sources else 1
    if operand in ("s0", "s1"):
        at = 8 + 2 * int(operand[1])
        return from_dwords(scalars[:, at : at + dwords])
    if operand in SPECIAL_AT:
        at = SPECIAL_AT[operand]
        return from_dwords(scalars[:, at : at + dwords])
    bits = int(operand, 0) & ((1 << (32 * dwords)) - 1)
    return pcode.object_array(bits, len(scalars))


@dataclass
class ScalarExpected:
    dst: np.ndarray
    scc: np.ndarray
    exec_mask: np.ndarray


def expect(case: ScalarCase, inputs: Inputs) -> ScalarExpected:
    waves = len(inputs.scalars)
    op = case.op
    record = Results(inputs.vectors, inputs.scalars)
    dwords = op.dst.dwords if op.dst is not None else 1
    at = 14 if case.dst == "s" else 2
    old = from_dwords(inputs.scalars[:, at : at + dwords])
    env: dict[str, pcode.Value] = {
        "D0": pcode.make_int(old, waves, 32 * dwords, bits_only=True),
        "SCC": pcode.make_int(inputs.scalars[:, 4], waves, 1),
        "EXEC": pcode.make_int(record.pair(0), waves, 64, bits_only=True),
    }
    for i in range(len(case.operands)):
        width = 32 * (op.sources[i].dwords if op.sources else 1)
        env[f"S{i}"] = pcode.make_int(source_value(case, inputs, i), waves, width, bits_only=True)
    if op.mnemonic.startswith("s_cmpk"):  # the register is the first operand of the comparison
        env["S1"], env["S0"] = env["S0"], env["D0"]
    machine = pcode.Machine(waves, env)
    machine.run(op.text)
    return ScalarExpected(
        pcode.to_bits(machine.env["D0"]), machine.env["SCC"].data, machine.env["EXEC"].data
    )


def check_case(case: ScalarCase, inputs: Inputs, results: Results) -> Failure | None:
    want = expect(case, inputs)
    op = case.op
    columns = []
    if op.dst is not None:
        at = 14 if case.dst == "s" else 2
        got = from_dwords(results.scalars[:, at : at + op.dst.dwords])
        columns.append(("result", got, want.dst))
    columns.append(("scc", results.scalars[:, 4].astype(object), want.scc))
    columns.append(("exec", results.pair(0).astype(object), want.exec_mask))
    details = []
    for what, got, expected in columns:
        bad = np.flatnonzero(got != expected)
        for wave in bad[:MAX_REPORTED]:
            sources = " ".join(
                f"src{i}={int(source_value(case, inputs, i)[wave]):#x}"
                for i in range(len(case.operands))
            )
            before = from_dwords(inputs.scalars[:, 14:16])[wave]
            details.append(
                f"wave {wave}: {sources} sdst before={before:#x} "
                f"scc={inputs.scalars[wave, 4]} "
                f"exec={Results(inputs.vectors, inputs.scalars).pair(0)[wave]:#x}: "
                f"{what} expected {int(expected[wave]):#x} got {int(got[wave]):#x}"
            )
        if len(bad) > MAX_REPORTED:
            details.append(f"... {len(bad)} of {len(got)} {what}s differ")
    return Failure(case.label, case.assembly(), details) if details else None
