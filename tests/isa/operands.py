"""Operand formats (from the documents' operand tables) and the values that tests feed them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from tests.isa import formats
from tests.isa.formats import FORMATS


@dataclass(frozen=True)
class Format:
    """Of an operand: `count` elements of type `element` (u16, f32, fp6, ...)."""

    element: str
    count: int
    bits: int

    @property
    def dwords(self) -> int:
        return max(1, (self.bits + 31) // 32)

    @property
    def is_float(self) -> bool:
        return self.element in FORMATS

    @property
    def element_bits(self) -> int:
        return FORMATS[self.element].bits if self.is_float else int(self.element[1:])


def operand_format(name: str, bits: int) -> Format:
    """FMT_NUM_PK2_F16 -> two f16; FMT_NUM_M64 (a lane mask) -> b64."""
    match = re.match(r"FMT_NUM_(?:PK(\d+)_)?([A-Z]+)(\d+)$", name)
    if not match:
        return Format("b32" if bits <= 32 else "b64", 1, bits)
    count, kind, width = int(match[1] or 1), match[2].lower(), match[3]
    kind = "b" if kind == "m" else kind
    if int(width) > 64:
        count, width = int(width) // 32, "32"
    return Format(kind + width, count, bits)


F32_SPECIALS = [
    0x00000000, 0x80000000, 0x3F800000, 0xBF800000,  # +-0 +-1
    0x3F000000, 0x3FC00000, 0xC0200000, 0x40490FDB,  # 0.5 1.5 -2.5 pi
    0x7F800000, 0xFF800000, 0x7FC00001, 0xFFC12345, 0x7F800001,  # inf, quiet NaNs, signaling NaN
    0x00000001, 0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF,  # denormals, min, max
    0x3EFFFFFF, 0x4B800001, 0x477FE000, 0x33000000,  # just below .5, 2^24 + 2, 65504, f16 tie
    0x4F000000, 0xCF000001, 0x4F800000, 0x38000001,  # 2^31, < -2^31, 2^32, f16 denormal edge
]  # fmt: skip
F16_SPECIALS = [
    0x0000, 0x8000, 0x3C00, 0xBC00, 0x3800, 0x3E00, 0xC100, 0x4248, 0x7C00, 0xFC00, 0x7E01, 0xFD00,
    0x7C01, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x37FF, 0x6400,
]  # fmt: skip
BF16_SPECIALS = [
    0x0000, 0x8000, 0x3F80, 0xBF80, 0x3F00, 0x3FC0, 0xC020, 0x4049, 0x7F80, 0xFF80, 0x7FC1, 0xFFD0,
    0x7F81, 0x0001, 0x807F, 0x0080, 0x7F7F, 0xFF7F, 0x3EFF, 0x4380,
]  # fmt: skip
F64_SPECIALS = [
    0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
    0x3FE0000000000000, 0x3FF8000000000000, 0xC004000000000000, 0x400921FB54442D18,
    0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000001, 0xFFF8123456789ABC,
    0x7FF0000000000001, 0x0000000000000001, 0x800FFFFFFFFFFFFF, 0x0010000000000000,
    0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x41DFFFFFFFC00000, 0x3FDFFFFFFFFFFFFF,
    0x47EFFFFFF0000000, 0x36A0000000000000, 0x41EFFFFFFFE00000, 0xC1E0000000200000,
]  # fmt: skip


def int_specials(width: int) -> list[int]:
    top = 1 << (width - 1)
    mask = 2 * top - 1
    base = [0, 1, 2, 3, mask, mask - 1, top, top - 1, top + 1, 0x5555555555555555,
            0xAAAAAAAAAAAAAAAA, 0x0F0F0F0F0F0F0F0F, 7, 8, 31, 32, 33, 63, 0x8000,
            0x00FF00FF00FF00FF, 0xFFFF, 0x10000, 0x00800000, 0x8000000000000001]  # fmt: skip
    return list(dict.fromkeys(value & mask for value in base))


@cache
def specials(element: str) -> tuple[int, ...]:
    table = {"f32": F32_SPECIALS, "f16": F16_SPECIALS, "bf16": BF16_SPECIALS, "f64": F64_SPECIALS}
    if element in table:
        return tuple(table[element])
    width = FORMATS[element].bits if element in FORMATS else int(element[1:])
    if width <= 8:
        return tuple(range(1 << width))
    return tuple(int_specials(width))


def random_values(rng: np.random.Generator, element: str, count: int) -> np.ndarray:
    """Random bits; floats mostly of moderate exponent, so that arithmetic meets."""
    if element not in FORMATS:
        width = int(element[1:])
        values = rng.integers(0, 1 << 64, count, dtype=np.uint64) >> np.uint64(64 - width)
        small = rng.random(count) < 0.25
        return np.where(small, values & np.uint64(0x3F), values)
    fmt = FORMATS[element]
    raw = rng.integers(0, 1 << 64, count, dtype=np.uint64) >> np.uint64(64 - fmt.bits)
    if fmt.bits <= 8:
        return raw
    moderate = np.ldexp(rng.uniform(-2.0, 2.0, count), rng.integers(-8, 9, count))
    integers = rng.integers(-300, 300, count) / 2.0
    pick = rng.integers(0, 4, count)
    chosen = np.where(pick == 0, integers, moderate)
    return np.where(pick == 3, raw, formats.encode(chosen, fmt))


def values(rng: np.random.Generator, element: str, count: int) -> np.ndarray:
    """Half specials, half random, shuffled."""
    table = np.array(specials(element), dtype=np.uint64)
    special = table[rng.integers(0, len(table), count)]
    return np.where(rng.random(count) < 0.5, special, random_values(rng, element, count))


def operand_bits(rng: np.random.Generator, fmts: list[Format], lanes: int) -> list[np.ndarray]:
    """Bits of each operand as object arrays of Python ints, `lanes` elements.

    The first lanes walk through the specials: every one for a single operand, every pair for two
    single-element operands of the same length; the rest is mixed.
    """
    single = [i for i, fmt in enumerate(fmts) if fmt.count == 1]
    tables = [np.array(specials(fmt.element), dtype=np.uint64) for fmt in fmts]
    index = np.arange(lanes)
    out = []
    for operand, fmt in enumerate(fmts):
        columns = [values(rng, fmt.element, lanes) for _ in range(fmt.count)]
        if len(single) <= 2 and operand in single:
            inner = len(tables[single[0]])
            total = inner * (len(tables[single[1]]) if len(single) == 2 else 1)
            pick = index % inner if operand == single[0] else index // inner
            walk = tables[operand][np.minimum(pick, len(tables[operand]) - 1)]
            columns[0] = np.where(index < total, walk, columns[0])
        bits = np.zeros(lanes, dtype=object)
        for i, column in enumerate(columns):
            bits = bits | (column.astype(object) << (i * fmt.element_bits))
        # Garbage above a narrow operand: the instruction must ignore it.
        if fmt.bits < 32:
            noise = rng.integers(0, 1 << 32, lanes, dtype=np.uint64).astype(object)
            bits = bits | ((noise >> fmt.bits) << fmt.bits)
        out.append(bits)
    return out


def to_dwords(bits: np.ndarray, count: int) -> np.ndarray:
    """uint32 [lanes, count]."""
    return np.stack([((bits >> (32 * i)) & 0xFFFFFFFF).astype(np.uint32) for i in range(count)], -1)


def from_dwords(dwords: np.ndarray) -> np.ndarray:
    """[..., count] to object array [...]."""
    out = np.zeros(dwords.shape[:-1], dtype=object)
    for i in range(dwords.shape[-1]):
        out = out | (dwords[..., i].astype(object) << (32 * i))
    return out
