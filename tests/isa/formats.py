"""Floating-point formats as bits: decode to float64, round once, encode.

All arrays are numpy arrays with one element per lane. Bits are uint64; values are float64, which
holds every finite value of every format here exactly (float64 itself included).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

U64 = np.uint64


@dataclass(frozen=True)
class FloatFormat:
    """A binary format: sign, `exp` exponent bits, `man` mantissa bits.

    `specials` says what the top exponent means: "ieee" infinities and NaNs, "fn" only the all-ones
    pattern is a NaN (no infinity), "none" all patterns are finite.
    """

    name: str
    exp: int
    man: int
    bias: int
    specials: str = "ieee"

    @property
    def bits(self) -> int:
        return 1 + self.exp + self.man

    @property
    def emin(self) -> int:
        """Exponent of the smallest normal number."""
        return 1 - self.bias

    @property
    def max_finite(self) -> float:
        top = (1 << self.exp) - 1
        if self.specials == "ieee":
            return float(2 - Fraction(1, 1 << self.man)) * 2.0 ** (top - 1 - self.bias)
        lost = 2 if self.specials == "fn" else 1
        return float(2 - Fraction(lost, 1 << self.man)) * 2.0 ** (top - self.bias)


FORMATS = {
    f.name: f
    for f in (
        FloatFormat("f16", 5, 10, 15),
        FloatFormat("bf16", 8, 7, 127),
        FloatFormat("f32", 8, 23, 127),
        FloatFormat("f64", 11, 52, 1023),
        FloatFormat("fp8", 4, 3, 7, "fn"),  # OCP E4M3
        FloatFormat("bf8", 5, 2, 15),  # OCP E5M2
        FloatFormat("fp6", 2, 3, 1, "none"),  # OCP E2M3
        FloatFormat("bf6", 3, 2, 3, "none"),  # OCP E3M2
        FloatFormat("fp4", 2, 1, 1, "none"),  # OCP E2M1
    )
}

F64_QUIET = U64(1 << 51)


def f64_bits(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x, dtype=np.float64).view(U64)


def is_signaling(x: np.ndarray) -> np.ndarray:
    return np.isnan(x) & ((f64_bits(x) & F64_QUIET) == 0)


def quiet(x: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x), (f64_bits(x) | F64_QUIET).view(np.float64), x)


def decode(bits: np.ndarray, fmt: FloatFormat) -> np.ndarray:
    """Exact value of each pattern. NaNs keep sign, quiet bit and payload (shifted to float64's)."""
    bits = np.asarray(bits, dtype=U64)
    if fmt.name == "f64":
        return bits.view(np.float64).copy()
    sign = (bits >> U64(fmt.bits - 1)) & U64(1)
    exp = ((bits >> U64(fmt.man)) & U64((1 << fmt.exp) - 1)).astype(np.int64)
    man = bits & U64((1 << fmt.man) - 1)
    hidden = np.where(exp > 0, 1 << fmt.man, 0)
    scale = np.maximum(exp, 1) - fmt.bias - fmt.man
    value = np.ldexp(man.astype(np.float64) + hidden, scale)
    value = np.where(sign == 1, -value, value)
    top = (1 << fmt.exp) - 1
    raw = (sign << U64(63)) | U64(0x7FF << 52) | (man << U64(52 - fmt.man))
    if fmt.specials == "ieee":
        value = np.where(exp == top, raw.view(np.float64), value)
    elif fmt.specials == "fn":
        nan = (exp == top) & (man == U64((1 << fmt.man) - 1))
        value = np.where(nan, (raw | F64_QUIET).view(np.float64), value)
    return value


def round_to(x: np.ndarray, fmt: FloatFormat, mode: str = "rne") -> np.ndarray:
    """Rounds float64 values once to `fmt`. mode: rne, up, down, zero, away (from zero). Overflow
    gives infinity (or the largest finite value where the mode points that way or the format has no
    infinity)."""
    x = np.asarray(x, dtype=np.float64)
    if fmt.name == "f64":
        return x
    finite = np.isfinite(x) & (x != 0)
    safe = np.where(finite, x, 1.0)
    exponent = np.maximum(np.frexp(safe)[1] - 1, fmt.emin)
    scaled = np.ldexp(safe, fmt.man - exponent)
    rounding = {
        "rne": np.rint,
        "up": np.ceil,
        "down": np.floor,
        "zero": np.trunc,
        "away": lambda v: np.copysign(np.ceil(np.abs(v)), v),
    }[mode]
    rounded = np.ldexp(rounding(scaled), exponent - fmt.man)
    rounded = np.copysign(rounded, safe)
    over = np.abs(rounded) > fmt.max_finite
    to_max = (
        (mode == "zero")
        | ((mode == "up") & (safe < 0))
        | ((mode == "down") & (safe > 0))
        | (fmt.specials != "ieee")
    )
    limit = np.where(to_max, fmt.max_finite, np.inf)
    rounded = np.where(over, np.copysign(limit, safe), rounded)
    return np.where(finite, rounded, x)


def encode(
    x: np.ndarray, fmt: FloatFormat, mode: str = "rne", saturate: bool = False
) -> np.ndarray:
    """Bits of `x` rounded to `fmt`. Overflow gives infinity, else NaN, else the largest value; with
    `saturate` always the largest value. A NaN without a pattern becomes the largest value."""
    x = np.asarray(x, dtype=np.float64)
    if fmt.name == "f64":
        return f64_bits(x).copy()
    value = round_to(x, fmt, mode)
    if saturate:
        value = np.where(np.isnan(value), value, np.clip(value, -fmt.max_finite, fmt.max_finite))
    elif fmt.specials == "fn":
        # One more step of the top binade would be the NaN's pattern: what rounds there overflows.
        step = 2.0 ** (fmt.bias + 1 - fmt.man)
        first_lost = {"rne": step / 2, "away": 0.0}.get(mode, step)
        # Ties go to the largest value, whose mantissa is even.
        wide = (np.abs(x) > fmt.max_finite + first_lost) | (np.abs(x) >= fmt.max_finite + step)
        value = np.where(np.isinf(x) | wide, np.copysign(np.nan, x), value)
    raw = f64_bits(value)
    sign = (raw >> U64(63)) << U64(fmt.bits - 1)
    finite = np.isfinite(value)
    mag = np.abs(np.where(finite, value, 0.0))
    exponent = np.frexp(np.where(mag > 0, mag, 1.0))[1] - 1
    normal = (mag > 0) & (exponent >= fmt.emin)
    units = np.ldexp(mag, fmt.man - np.where(normal, exponent, fmt.emin)).astype(U64)
    biased = np.where(normal, exponent + fmt.bias, 0).astype(U64)
    hidden = np.where(normal, U64(1 << fmt.man), U64(0))
    bits = (biased << U64(fmt.man)) | (units - hidden)
    top = U64(((1 << fmt.exp) - 1) << fmt.man)
    all_ones = top | U64((1 << fmt.man) - 1)
    if fmt.specials == "ieee":
        bits = np.where(np.isinf(value), top, bits)
        payload = (raw & U64((1 << 52) - 1)) >> U64(52 - fmt.man)
        payload = np.where(payload == 0, U64(1 << (fmt.man - 1)), payload)
        bits = np.where(np.isnan(value), top | payload, bits)
    elif fmt.specials == "fn":
        bits = np.where(np.isinf(value), all_ones - U64(1), bits)
        bits = np.where(np.isnan(value), all_ones, bits)
    else:
        bits = np.where(finite, bits, all_ones)
    return sign | bits


def two_sum_odd(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b rounded to odd in float64: rounding the result to any format of at most 51 bits of
    mantissa then equals one rounding of the exact sum."""
    with np.errstate(all="ignore"):
        s = a + b
        t = s - a
        err = (a - (s - t)) + (b - t)
    inexact = np.isfinite(s) & np.isfinite(err) & (err != 0)
    raw = f64_bits(s)
    even = (raw & U64(1)) == 0
    # An even significand moves one step towards the error; away from zero when the signs agree.
    away = (err > 0) == (s > 0)
    moved = np.where(away, raw + U64(1), raw - U64(1)).view(np.float64)
    return np.where(inexact & even, moved, s)


def signed_zero_sum(a: np.ndarray, b: np.ndarray, total: np.ndarray, mode: str) -> np.ndarray:
    """A sum that cancels to zero is -0 when rounding down, +0 otherwise (IEEE 754)."""
    if mode != "down":
        return total
    cancels = (total == 0) & ((a != 0) | (np.signbit(a) != np.signbit(b)))
    return np.where(cancels, -0.0, total)


def fma(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, fmt: FloatFormat, mode: str = "rne"
) -> np.ndarray:
    """a * b + c with one rounding to `fmt`; the operands are values of `fmt`."""
    with np.errstate(all="ignore"):
        if fmt.name != "f64":
            # Products of 24-bit significands are exact in float64.
            total = signed_zero_sum(a * b, c, two_sum_odd(a * b, c), mode)
            return round_to(total, fmt, mode)
        plain = a * b + c
    out = plain.copy()
    for i in range(len(out)):
        if np.isfinite(a[i]) and np.isfinite(b[i]) and np.isinf(c[i]):
            out[i] = c[i]  # even where the product alone would overflow
        elif np.isfinite(a[i]) and np.isfinite(b[i]) and np.isfinite(c[i]):
            exact = Fraction(float(a[i])) * Fraction(float(b[i])) + Fraction(float(c[i]))
            if exact != 0:
                out[i] = fraction_to_f64(exact)
            else:  # the sign of an exact zero is that of the float sum of the signed zeros
                product = np.copysign(0.0, a[i]) * np.copysign(1.0, b[i])
                zero_product = a[i] == 0 or b[i] == 0
                out[i] = product + c[i] if zero_product else 0.0
        elif np.isfinite(a[i]) and np.isfinite(b[i]):
            out[i] = c[i]  # the exact product is finite even where its f64 is not
    return out


def fraction_to_f64(value: Fraction) -> float:
    """Nearest float64 (ties to even), with overflow to infinity."""
    try:
        return value.numerator / value.denominator  # int / int rounds correctly
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
