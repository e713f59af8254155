"""What the test files share: one suite a family, built once a session."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import pytest

from tests.isa.kernels import tool
from tests.isa.runner import Suite

MAX_SHOWN = 5


def missing() -> str | None:
    """What is not there to run the tests, in words."""
    if tool("clang") is None or tool("llvm-mc") is None:
        return "needs clang and llvm-mc (Debian packages clang-22, lld-22, llvm-22)"
    if find_spec("tinygrad") is None:
        return "needs the pseudo-code in the tinygrad wheel, a test requirement"
    try:
        from tq_ext import gfxsim  # noqa: F401
    except ImportError:
        return "this build of tq_ext has no simulator"
    return None


needs_simulator = pytest.mark.skipif(missing() is not None, reason=missing() or "")


@cache
def supported() -> dict[str, str]:
    """{mnemonic: class} of what the simulator executes."""
    from tq_ext import gfxsim

    return dict(gfxsim.supported_instructions())


def mnemonics(family_name: str) -> list[str]:
    """The family's mnemonics that the simulator executes; empty where tests cannot run."""
    if missing() is not None:
        return []
    from tests.isa.families import family

    return [m for m in family(family_name).mnemonics if m in supported()]


@cache
def prepared(family_name: str) -> tuple[dict[str, tuple], Suite]:
    """Cases of the family's supported mnemonics, and the suite that runs them."""
    from tests.isa.families import family

    assembled = family(family_name).assembled(mnemonics(family_name))
    return assembled, family(family_name).suite(assembled)


def check(family_name: str, mnemonic: str) -> None:
    """Fails with the first disagreements of the mnemonic's forms."""
    assembled, suite = prepared(family_name)
    if not assembled[mnemonic]:
        pytest.skip("the assembler knows no form of it for this target")
    failures = suite.check(mnemonic)
    refused = suite.unsupported.get(mnemonic, [])
    if len(refused) == len(assembled[mnemonic]):
        pytest.fail("the simulator refuses every form of it", pytrace=False)
    if failures:
        text = "\n".join(str(failure) for failure in failures[:MAX_SHOWN])
        pytest.fail(
            f"{len(failures)} of {len(assembled[mnemonic])} forms disagree\n{text}", pytrace=False
        )
