"""Runs cases on the simulator and describes disagreements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.isa import cases as case_module
from tests.isa.cases import Case, Inputs
from tests.isa.expectation import Expected, dst_matches
from tests.isa.kernels import DST, LANES, SRC, Kernel, Program, Results, mask_bits
from tests.isa.operands import from_dwords

MAX_REPORTED = 4


@dataclass
class Failure:
    label: str
    assembly: str
    details: list[str]

    def __str__(self) -> str:
        return f"{self.label}: {self.assembly}\n    " + "\n    ".join(self.details)


def column(case: Case, vectors: np.ndarray, register: int) -> np.ndarray:
    """Bits of the operand that starts at `register`, by lane, from a record."""
    at = 0
    for first, dwords in case.frame().stores:
        if first == register:
            return from_dwords(vectors.reshape(-1, vectors.shape[-1])[:, at : at + dwords])
        at += dwords
    raise KeyError(register)


def check_case(case: Case, inputs: Inputs, results: Results) -> Failure | None:
    with np.errstate(all="ignore"):
        expected = case_module.expect(case, inputs)
    details: list[str] = []
    op = case.opcode
    vectors = results.vectors
    if op.dst is not None and not case.scalar_dst:
        got = column(case, vectors, DST)
        ok = dst_matches(got, expected, op.dst)
        details += lane_report(case, inputs, ok, got, expected, op.dst.dwords)
    if expected.mask is not None:
        at = 2 if case.mask_in_vcc else 8 + 6
        details += mask_report(
            case, inputs, "lane mask", mask_bits(results.pair(at)), expected.mask
        )
    if expected.scalar is not None:
        got_scalar = results.scalars[:, 8 + 6]
        for wave in np.flatnonzero(got_scalar != expected.scalar.astype(np.uint32))[:MAX_REPORTED]:
            details.append(
                f"wave {wave}: sgpr expected {expected.scalar[wave]:#x}, got {got_scalar[wave]:#x}"
            )
    want_exec = expected.exec_mask if expected.exec_mask is not None else inputs.exec_mask
    details += mask_report(case, inputs, "exec", mask_bits(results.pair(0)), want_exec)
    for i, fmt in enumerate(op.sources):
        got = column(case, vectors, SRC[i])
        before = column(case, inputs.vectors, SRC[i])
        want = expected.sources.get(i, before)
        valid = (
            expected.dst_valid
            if i in expected.sources and (expected.dst_valid is not None)
            else None
        )
        bad = (got != want) if valid is None else ((got ^ want) & valid) != 0
        for lane in np.flatnonzero(bad)[:MAX_REPORTED]:
            details.append(
                f"source {i} of lane {lane} became {got[lane]:#x}, "
                f"expected {want[lane]:#x} (before {before[lane]:#x}, {fmt.element})"
            )
    return Failure(case.label, case.assembly(), details) if details else None


def describe_inputs(case: Case, inputs: Inputs, lane: int) -> str:
    parts = []
    for i, (source, fmt) in enumerate(zip(case.sources, case.opcode.sources, strict=True)):
        if source.kind == "v":
            bits = column(case, inputs.vectors, SRC[i])[lane]
            parts.append(f"src{i}={bits:#0{2 + fmt.dwords * 8 + 0}x}")
            if case.dpp and i == 0:
                row = column(case, inputs.vectors, SRC[0]).reshape(-1, LANES)[lane // LANES]
                source_lane = case_module.dpp_sources(case.dpp.control)[lane % LANES]
                if source_lane >= 0:
                    parts[-1] = f"src0[lane {source_lane}]={row[source_lane]:#010x}"
        elif source.kind == "s":
            record = inputs.scalars[lane // LANES, 8 + 2 * i : 8 + 2 * i + fmt.dwords]
            parts.append(f"src{i}={from_dwords(record[None])[0]:#x} (sgpr)")
        else:
            parts.append(f"src{i}={source.text}")
    if case.opcode.dst is not None:
        parts.append(f"old={column(case, inputs.vectors, DST)[lane]:#x}")
    return " ".join(parts)


def lane_report(
    case: Case, inputs: Inputs, ok: np.ndarray, got: np.ndarray, expected: Expected, dwords: int
) -> list[str]:
    bad = np.flatnonzero(~ok)
    out = []
    active = inputs.exec_mask.reshape(-1)
    for lane in bad[:MAX_REPORTED]:
        width = 2 + dwords * 8
        wants = " or ".join(
            dict.fromkeys(f"{w[lane]:#0{width}x}" for w in (expected.dst, *expected.alternatives))
        )
        state = "" if active[lane] else " (lane inactive)"
        out.append(
            f"lane {lane % LANES} of wave {lane // LANES}{state}: "
            f"{describe_inputs(case, inputs, lane)} expected {wants} "
            f"got {got[lane]:#0{width}x}"
        )
    if len(bad) > MAX_REPORTED:
        out.append(f"... {len(bad)} of {len(ok)} lanes differ")
    return out


def mask_report(
    case: Case, inputs: Inputs, what: str, got: np.ndarray, want: np.ndarray
) -> list[str]:
    bad = np.argwhere(got != want)
    out = [
        f"lane {lane} of wave {wave}: {what} bit expected {int(want[wave, lane])}, "
        f"got {int(got[wave, lane])}; {describe_inputs(case, inputs, wave * LANES + lane)}"
        for wave, lane in bad[:MAX_REPORTED]
    ]
    if len(bad) > MAX_REPORTED:
        out.append(f"... {len(bad)} bits of {what} differ")
    return out


class Suite:
    """The kernels of some mnemonics, with the check of one result.

    `check_one(case, inputs, results)` returns a Failure or None; a kernel's case is in its tag.
    Kernels are assembled in groups: a launch costs time in proportion to its code object, and every
    code object costs a run of the assembler.
    """

    KERNELS_PER_PROGRAM = 150

    def __init__(self, kernels: dict[str, list[Kernel]], check_one: Callable):
        self.kernels = kernels
        self.check_one = check_one
        self.unsupported: dict[str, list[str]] = {}  # forms that the simulator says it cannot run
        self.group_of: dict[str, int] = {}
        self.groups: list[list[Kernel]] = []
        self.programs: dict[int, Program] = {}
        for mnemonic, some in kernels.items():
            if not self.groups or len(self.groups[-1]) + len(some) > self.KERNELS_PER_PROGRAM:
                self.groups.append([])
            self.groups[-1] += some
            self.group_of[mnemonic] = len(self.groups) - 1

    def program(self, mnemonic: str) -> Program:
        group = self.group_of[mnemonic]
        if group not in self.programs:
            self.programs[group] = Program(self.groups[group])
        return self.programs[group]

    def check(self, mnemonic: str) -> list[Failure]:
        failures = []
        for kernel in self.kernels[mnemonic]:
            case = kernel.tag["case"]
            inputs = case.inputs()
            try:
                results = self.program(mnemonic).run(kernel, inputs.vectors, inputs.scalars)
            except RuntimeError as fault:
                if str(getattr(fault, "kind", "")).endswith("Unsupported"):
                    self.unsupported.setdefault(mnemonic, []).append(case.label)
                    continue
                failures.append(Failure(case.label, case.assembly(), str(fault).splitlines()[:4]))
                continue
            failure = self.check_one(case, inputs, results)
            if failure is not None:
                failures.append(failure)
        return failures


def kernels_of(cases: dict[str, tuple]) -> dict[str, list[Kernel]]:
    return {
        name: [
            Kernel(f"{name}_{i}", case.assembly(), case.frame(), {"case": case})
            for i, case in enumerate(some)
        ]
        for name, some in cases.items()
    }
