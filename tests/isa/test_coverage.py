"""Nothing that the simulator executes goes untested, and the interpreter itself reads right."""

import re

import numpy as np
import pytest

from tests.isa import formats, handwritten, memory_cases, pcode, scalar_cases, support
from tests.isa.families import families
from tests.isa.formats import FORMATS

# Classes whose instructions compute or move data.
DATA_CLASSES = {"salu", "valu", "transcendental", "mfma", "lds_read", "lds_write", "lds_atomic",
                "vmem_load", "vmem_store", "vmem_atomic"}  # fmt: skip


def covered_elsewhere(mnemonic: str) -> bool:
    return (
        mnemonic in handwritten.OTHER_TESTS
        or bool(scalar_cases.OTHER_TESTS.fullmatch(mnemonic))
        or bool(memory_cases.OTHER_TESTS.fullmatch(mnemonic))
    )


@pytest.mark.skipif(support.missing() is not None, reason=support.missing() or "")
def test_every_supported_instruction_is_tested() -> None:
    tested = set()
    for family in families():
        names = [m for m in family.mnemonics if m in support.supported()]
        tested |= {name for name, some in family.assembled(names).items() if some}
    untested = sorted(
        name
        for name, cls in support.supported().items()
        if cls in DATA_CLASSES and name not in tested and not covered_elsewhere(name)
    )
    assert not untested, f"no test covers {', '.join(untested)}"


def run(text: str, **operands: int) -> pcode.Machine:
    env = {
        name: pcode.make_int([value] * 2, 2, 64, bits_only=True)
        for name, value in {"D0": 0, **operands}.items()
    }
    machine = pcode.Machine(2, env)
    machine.run(text)
    return machine


@pytest.mark.parametrize(
    ("text", "operands", "result"),
    [
        ("D0.u32 = S0.u32 + S1.u32", {"S0": 0xFFFFFFFF, "S1": 2}, 1),
        ("D0.i32 = S0.i32 >> 4U", {"S0": 0x80000000}, 0xF8000000),
        (
            "D0.u32 = (S0.u32[31 : 24] + S1.u32[31 : 24]) >> 1U",
            {"S0": 0xFF000000, "S1": 0xFF000000},
            0xFF,
        ),
        ("D0.u32[31 : 0] = S0.u32[0 : 31]", {"S0": 1}, 0x80000000),
        (
            "{ D1.u1, D0.u64 } = 65'B(65'U(S0.u32) * 65'U(S1.u32) + 65'U(S2.u64))",
            {"S0": 3, "S1": 5, "S2": (1 << 64) - 1, "D1": 0},
            14,
        ),
        (
            "D0.f32 = fma(S0.f32, S1.f32, S2.f32)",  # the exact result is just below a tie
            {"S0": 0x3F800001, "S1": 0x3F800001, "S2": 0x80000001},
            0x3F800002,
        ),
        (
            "D0.i32 = -1;\nfor i in 0 : 31 do\nif S0.u32[31 - i] == 1'1U then\nD0.i32 = i;\n"
            "break\nendif\nendfor",
            {"S0": 0x00010000},
            15,
        ),
        (
            "F = lambda(x, y) (\nx > y ? x - y : y - x);\nD0.u32 = F(S0.u32, S1.u32)",
            {"S0": 3, "S1": 10},
            7,
        ),
        ("D0.f16 = f32_to_f16(S0.f32)", {"S0": 0x477FF000}, 0x7C00),  # 65520 ties to infinity
        ("D0.i32 = f32_to_i32(S0.f32)", {"S0": 0x4F000000}, 0x7FFFFFFF),
    ],
)
def test_interpreter(text: str, operands: dict[str, int], result: int) -> None:
    assert int(run(text, **operands).env["D0"].data[0]) == result


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_formats_agree_with_numpy(name: str) -> None:
    """numpy's own types are the reference for three of the formats."""
    fmt = FORMATS[name]
    kind = {"f16": np.float16, "f32": np.float32, "f64": np.float64}[name]
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 1 << 64, 5000, dtype=np.uint64) >> np.uint64(64 - fmt.bits)
    raw = bits.astype(f"uint{fmt.bits}")
    with np.errstate(all="ignore"):
        expected = raw.view(kind).astype(np.float64)
        value = formats.decode(bits, fmt)
        assert np.array_equal(value, expected, equal_nan=True)
        x = np.ldexp(rng.normal(size=5000), rng.integers(-160, 140, 5000))
        encoded = formats.encode(x, fmt)
        assert np.array_equal(encoded, x.astype(kind).view(raw.dtype).astype(np.uint64))


def test_every_text_parses() -> None:
    """The interpreter can read all of the documents' text but prose."""
    prose = re.compile(r"V_S?MFMA|DS_SWIZZLE|S_(WAITCNT|TRAP|SLEEP)|.*FORMAT")
    for encoding, texts in pcode.document().items():
        if encoding in ("SMEM", "MTBUF"):
            continue
        for name, text in texts.items():
            if not prose.match(name):
                pcode.parse(text)
