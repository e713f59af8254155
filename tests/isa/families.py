"""All families of test cases under one face, for the tests and the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.isa import cases, handwritten, matrix_cases, memory_cases, runner, scalar_cases


@dataclass(frozen=True)
class Family:
    """Mnemonics of one kind: `assembled(names)` gives their cases, `check_one` judges a result."""

    name: str
    mnemonics: tuple[str, ...]
    assembled: Callable[[list[str]], dict[str, tuple]]
    check_one: Callable

    def suite(self, assembled: dict[str, tuple]) -> runner.Suite:
        return runner.Suite(runner.kernels_of(assembled), self.check_one)


def families() -> tuple[Family, ...]:
    vector = tuple(n for n in cases.opcodes() if n not in handwritten.OTHER_TESTS)
    return (
        Family("valu", vector, cases.assembled_cases, runner.check_case),
        Family(
            "salu",
            tuple(scalar_cases.opcodes()),
            scalar_cases.assembled_cases,
            scalar_cases.check_case,
        ),
        Family(
            "matrix",
            tuple(matrix_cases.opcodes()),
            matrix_cases.assembled_cases,
            matrix_cases.check_case,
        ),
        Family(
            "memory",
            tuple(memory_cases.opcodes()),
            memory_cases.assembled_cases,
            memory_cases.check_case,
        ),
    )


def family(name: str) -> Family:
    return next(f for f in families() if f.name == name)
