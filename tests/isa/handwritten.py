"""References for instructions whose pseudo-code is prose, imprecise or known to be wrong, and the
table of tolerances. Everything else is computed from the documents' text.

Sources: "ISA" is AMD's CDNA3/CDNA4 instruction set document, "LLVM" the AMDGPU backend's rules
about the same instructions (AMDGPUUsage, GCNSubtarget), "OCP" the OCP 8-bit and MX format
specifications.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from tests.isa import formats, pcode
from tests.isa.expectation import LANES, Context, Expected, run_text
from tests.isa.formats import FORMATS
from tests.isa.operands import Format

# The result is an SGPR.
SCALAR_RESULTS = {"v_readlane_b32", "v_readfirstlane_b32"}

# Mnemonics of the vector encodings that another test file covers, or that are no arithmetic.
OTHER_TESTS = {
    "v_accvgpr_read": "test_mfma.py",
    "v_accvgpr_write": "test_mfma.py",
    "v_accvgpr_read_b32": "test_mfma.py",
    "v_accvgpr_write_b32": "test_mfma.py",
    "v_accvgpr_mov_b32": "test_mfma.py",
    "v_nop": "writes nothing",
    "v_clrexcp": "exception state, which the simulator does not have",
    "v_screen_partition_4se_b32": "graphics only; no public pseudo-code",
}


# --- tolerances --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rule:
    """How far a result may be from the reference, and why."""

    pattern: str
    reason: str
    ulp: int = 0
    flush_alternative: bool = False  # denormal inputs or results may count as zero


RULES = (
    Rule(
        r"v_(rcp|rcp_iflag|rsq|sqrt|exp|log)_f32|v_(exp|log)_legacy_f32",
        "ISA: 1 ULP, denormals flushed in the approximation unit",
        1,
        True,
    ),
    Rule(r"v_(rcp|rsq|sqrt|exp|log|sin|cos)_f16", "ISA: 1 ULP of f16", 1),
    Rule(
        r"v_(rcp|rsq|sqrt)_f64",
        "ISA: the result has 2^29 ULP accuracy; a seed for Newton steps",
        1 << 29,
    ),
    Rule(
        r"v_(mac|mad|madmk|madak)_f32|v_mad_legacy_f32|v_mac_legacy_f32",
        "ISA: v_mad flushes denormals always",
        0,
        True,
    ),
)
EXACT = Rule(
    "",
    "exact; a NaN result may have any sign and payload, because the documents say "
    "only that it is quiet",
)


def rule(mnemonic: str) -> Rule:
    return next((r for r in RULES if re.fullmatch(r.pattern, mnemonic)), EXACT)


def approximate(mnemonic: str) -> bool:
    """Results have a tolerance, so that parts of them cannot be compared."""
    return bool(rule(mnemonic).ulp) or bool(re.match(r"v_(sin|cos|fract|dot2)", mnemonic))


# Bits 31:16 of the destination of a 16-bit operation. LLVM lists (GCNSubtarget::
# zeroesHigh16BitsOfDest) what gfx9 clears; ISA says that the op_sel forms without "legacy" keep
# them. Elsewhere compilers rely on neither, and the bits are not compared.
ZEROES_HIGH = re.compile(
    r"v_(cvt_f16_f32|cvt_f16_u16|cvt_f16_i16|rcp_f16|rsq_f16|sqrt_f16|log_f16|exp_f16|sin_f16"
    r"|cos_f16|floor_f16|ceil_f16|trunc_f16|rndne_f16|fract_f16|frexp_mant_f16|frexp_exp_i16_f16"
    r"|ldexp_f16|lshlrev_b16|lshrrev_b16|ashrrev_i16|(add|sub|subrev|mul_lo|max|min)_u16"
    r"|(add|sub|subrev|mul|max|min)_f16|(max|min)_i16)"
)
KEEPS_HIGH = re.compile(r"v_(mad_f16|mad_u16|mad_i16|fma_f16|div_fixup_f16)")


def high_half(mnemonic: str) -> str:
    if ZEROES_HIGH.fullmatch(mnemonic):
        return "zero"
    return "keep" if KEEPS_HIGH.fullmatch(mnemonic) else "unspecified"


# --- helpers -----------------------------------------------------------------------------------


def floats(context: Context, index: int) -> np.ndarray:
    fmt = context.case.opcode.sources[index]
    form = FORMATS[fmt.element]
    return formats.decode((context.sources[index] & ((1 << form.bits) - 1)).astype(np.uint64), form)


def ints(context: Context, index: int, signed: bool = False, width: int = 32) -> np.ndarray:
    return pcode.wrap(context.sources[index], width, signed)


def encoded(context: Context, value: np.ndarray) -> np.ndarray:
    """Float results as destination bits."""
    form = FORMATS[context.case.opcode.dst.element]
    return pcode.object_array(formats.encode(value, form, context.mode), len(value))


def unary(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[Context], Expected]:
    """A function of one float source, computed in float64 and rounded once."""

    def reference(context: Context) -> Expected:
        x = floats(context, 0)
        with np.errstate(all="ignore"):
            expected = Expected(encoded(context, function(x)))
            if rule(context.case.mnemonic).flush_alternative:
                tiny = np.abs(x) < 2.0**-126
                flushed = np.where(tiny, np.copysign(0.0, x), x)
                value = function(flushed)
                expected.alternatives = [encoded(context, value)]
                for v in (value, function(x)):
                    small = np.abs(v) < 2.0**-126
                    expected.alternatives.append(
                        encoded(context, np.where(small, np.copysign(0.0, v), v))
                    )
        return expected

    return reference


def sine(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[Context], Expected]:
    """Input in revolutions, valid in [-256, 256] (ISA). The fraction is taken before the product
    with 2*pi, exactly, so that the reference is good for large arguments."""

    def reference(context: Context) -> Expected:
        x = floats(context, 0)
        form = FORMATS[context.case.opcode.dst.element]
        with np.errstate(all="ignore"):
            turns = x - np.rint(x)
            expected = Expected(encoded(context, function(2 * np.pi * turns)))
        # ISA gives no bound; hardware tables are good to about 2^-20 (f32) and one f16 step.
        expected.absolute = np.full(len(x), max(2.0**-20, 2.0**-form.man))
        outside = np.abs(x) > 256
        expected.absolute = np.where(outside, np.inf, expected.absolute)
        return expected

    return reference


def fract(context: Context) -> Expected:
    """x - floor(x); the text's rounded difference may be 1.0, hardware clamps below it (LLVM folds
    min(x - floor(x), nextbelow(1)) to this instruction). Both are accepted."""
    x = floats(context, 0)
    form = FORMATS[context.case.opcode.dst.element]
    with np.errstate(all="ignore"):
        value = formats.round_to(x - np.floor(x), form, context.mode)
    below = 1.0 - 2.0 ** -(form.man + 1)
    return Expected(
        encoded(context, np.minimum(value, below)), alternatives=[encoded(context, value)]
    )


def frexp_exp(context: Context) -> Expected:
    """Exponent for a mantissa in [0.5, 1), of denormals too; 0 for 0, infinity and NaN (ISA)."""
    x = floats(context, 0)
    ok = np.isfinite(x) & (x != 0)
    exponent = np.where(ok, np.frexp(np.where(ok, x, 1.0))[1], 0)
    width = context.case.opcode.dst.bits
    return Expected(pcode.object_array(exponent, len(x)) & ((1 << width) - 1))


def ldexp(context: Context) -> Expected:
    """S0 * 2^S1 with one rounding; the text's power would overflow on its own."""
    x = floats(context, 0)
    bits = min(context.case.opcode.sources[1].bits, 32)
    power = np.clip(ints(context, 1, True, bits).astype(np.int64), -5000, 5000)
    form = FORMATS[context.case.opcode.dst.element]
    with np.errstate(all="ignore"):
        if form.name != "f64":
            value = np.ldexp(x, power)
        else:
            value = np.array([exact_ldexp(a, int(p)) for a, p in zip(x, power, strict=True)])
    return Expected(encoded(context, value))


def exact_ldexp(x: float, power: int) -> float:
    if not np.isfinite(x) or x == 0:
        return float(x)
    exact = Fraction(float(x)) * Fraction(2) ** power
    return float(np.copysign(abs(formats.fraction_to_f64(exact)), x))


def cvt_off_i4(context: Context) -> Expected:
    """ISA's table: the signed 4-bit value / 16."""
    value = pcode.wrap(context.sources[0] & 0xF, 4, True).astype(np.float64) / 16
    return Expected(encoded(context, value))


def cvt_rpi(context: Context) -> Expected:
    """floor(x + 0.5). The text rounds the sum to f32 first, which differs just below 0.5 and above
    2^23; both readings are accepted."""
    x = floats(context, 0)
    machine = pcode.Machine(len(x), {})
    with np.errstate(all="ignore"):
        exact = np.floor(x + 0.5)
        text = np.floor(formats.round_to(x + 0.5, FORMATS["f32"], context.mode))
    out = [
        pcode.to_bits(pcode.float_to_int(machine, pcode.Float(v, "f32"), 32, True))
        for v in (exact, text)
    ]
    return Expected(out[0], alternatives=[out[1]])


def cvt_pk_u8(context: Context) -> Expected:
    """A byte of S2 (or of the destination) replaced by u8(S0), saturated. ISA leaves the rounding
    to the text's f32_to_u8, which truncates elsewhere, and LLVM rounds to nearest even: both."""
    x = floats(context, 0)
    base = context.old if "accum" in context.case.mnemonic else context.sources[2]
    at = (context.sources[1] & 3) * 8
    results = []
    for rounded in (np.rint(x), np.trunc(x)):
        value = np.clip(np.where(np.isnan(rounded), 0.0, rounded), 0.0, 255.0)
        byte = pcode.object_array(value.astype(np.int64), len(x))
        results.append((base & ~(0xFF << at) | (byte << at)) & 0xFFFFFFFF)
    return Expected(results[0], alternatives=results[1:])


def cvt_norm(context: Context) -> Expected:
    """f16/f32 to snorm/unorm 16: x * 32767 or x * 65535 to nearest even (ISA does not say how ties
    and the product's rounding go, so the other neighbour of a near-tie is accepted)."""
    case = context.case
    signed = case.opcode.dst.element == "i16"
    scale = 32767.0 if signed else 65535.0
    packed = case.opcode.dst.count == 2
    count = 2 if packed else 1
    totals = [np.zeros(len(context.active), dtype=object) for _ in range(2)]
    for i in range(count):
        x = floats(context, i)
        x = np.clip(np.where(np.isnan(x), 0.0, x), -1.0 if signed else 0.0, 1.0) * scale
        near = x - np.trunc(x)
        tie = np.abs(np.abs(near) - 0.5) < 1e-3
        first = np.rint(x)
        second = np.where(
            tie, np.trunc(x) + np.sign(x) * (np.abs(first) == np.abs(np.trunc(x))), first
        )
        for total, value in zip(totals, (first, second), strict=True):
            total |= (pcode.object_array(value.astype(np.int64), len(x)) & 0xFFFF) << (16 * i)
    return Expected(totals[0], alternatives=[totals[1]])


def dot2(context: Context) -> Expected:
    """Two products and an addend. ISA does not fix the order, the intermediate rounding or the
    treatment of denormals: the result may be off by two f32 roundings of the largest term."""
    case = context.case
    element = "bf16" if "bf16" in case.mnemonic else "f16"
    form = FORMATS[element]

    def half(index: int, high: int) -> np.ndarray:
        bits = (context.sources[index] >> (16 * high)) & 0xFFFF
        return formats.decode(bits.astype(np.uint64), form)

    if len(case.sources) == 3:
        addend = floats(context, 2)
    else:
        addend = formats.decode((context.old & 0xFFFFFFFF).astype(np.uint64), FORMATS["f32"])
    with np.errstate(all="ignore"):
        products = [half(0, h) * half(1, h) for h in range(2)]
        total = products[0] + products[1] + addend
        size = np.maximum(np.maximum(np.abs(products[0]), np.abs(products[1])), np.abs(addend))
        expected = Expected(encoded(context, total))
        expected.absolute = np.where(np.isfinite(size), size * 2.0**-22, 0.0) + 2.0**-125
        # A partial sum may overflow although the total does not.
        huge = np.isfinite(size) & (size > 2.0**126)
        expected.absolute = np.where(huge, np.inf, expected.absolute)
    return expected


def mad_f16(context: Context) -> Expected:
    """S0 * S1 + S2, with the product rounded first (as the text says) or fused."""
    legacy = "legacy" in context.case.mnemonic
    fused = pcode.instruction_text("v_fma_legacy_f16" if legacy else "v_fma_f16")
    return Expected(run_text(context).dst, alternatives=[run_text(context, fused).dst])


def div_scale(context: Context) -> Expected:
    """The text, with "== DENORM" read as "is denormal" and the result S0 where nothing is scaled;
    exponent() is the biased field. Lanes where the quotient decides (1/S1 or S2/S1 denormal) use
    exact quotients. The f32 text compares 1/S1 with an f64 denormal, which it never is; a denormal
    of the operands' format is meant, whose reciprocal the f32 sequence could not represent. Where
    the quotient is a denormal too, the text scales such a denominator up, which would overflow:
    down is meant, as v_div_fmas then scales the quotient down."""
    form = FORMATS[context.case.opcode.dst.element]
    wide = form.name == "f64"
    step, gap, tiny = (128, 768, 53) if wide else (64, 96, 23)
    out, flags = [], []
    columns = [floats(context, i) for i in range(3)]
    fields = [
        [int(b >> form.man) & ((1 << form.exp) - 1) for b in context.sources[i]] for i in range(3)
    ]
    for lane in range(len(context.active)):
        s0, s1, s2 = (float(c[lane]) for c in columns)
        e1, e2 = fields[1][lane], fields[2][lane]
        value, flag = s0, 0
        if s2 == 0 or s1 == 0:
            value = float("nan")
        elif e2 - e1 >= gap:
            flag = 1
            if s0 == s1:
                value = exact_ldexp(s0, step)
        elif e1 == 0:
            value = exact_ldexp(s0, step)
        elif denormal(1.0, s1, form) and denormal(s2, s1, form):
            flag = 1
            if s0 == s1:
                value = exact_ldexp(s0, -step)
        elif denormal(1.0, s1, form):
            value = exact_ldexp(s0, -step)
        elif denormal(s2, s1, form):
            flag = 1
            if s0 == s2:
                value = exact_ldexp(s0, step)
        elif e2 <= tiny:
            value = exact_ldexp(s0, step)
        out.append(value)
        flags.append(flag)
    mask = (np.array(flags, dtype=bool) & context.active).reshape(-1, LANES)
    return Expected(encoded(context, np.array(out)), mask=mask)


def div_fmas(context: Context) -> Expected:
    """The text multiplies by 2^32 (f64: 2^64), which undoes none of v_div_scale's factors 2^64 and
    2^-64 (f64: 2^128): what v_div_scale scaled down is above 2, what it scaled up far below 1."""
    wide = FORMATS[context.case.opcode.dst.element].name == "f64"
    text, step, bias = ("2.0 ** 64", 128, 1023) if wide else ("2.0F ** 32", 64, 127)
    body = pcode.instruction_text(context.case.mnemonic)
    assert text in body
    up, down = (
        run_text(context, body.replace(text, text[: text.index("*")] + f"** {power}")).dst
        for power in (step, -step)
    )
    field = context.sources[2] >> FORMATS["f64" if wide else "f32"].man
    large = (field & (2 * bias + 1)) > bias
    expected = Expected(np.where(large, up, down))
    if not wide:  # a denormal result may be rounded once or twice
        a, b, c = (floats(context, i) for i in range(3))
        power = np.where(context.vcc, np.where(large, step, -step), 0)
        with np.errstate(all="ignore"):
            once = np.ldexp(formats.two_sum_odd(a * b, c), power.astype(np.int64))
        expected.alternatives = [encoded(context, once)]
    return expected


def div_fixup(context: Context) -> Expected:
    """The text; a NaN for S0, which the steps before make of an overflow, becomes infinity where
    the text would return it."""
    expected = run_text(context)
    form = FORMATS[context.case.opcode.dst.element]
    columns = [floats(context, i) for i in range(3)]
    result = formats.decode(expected.dst.astype(np.uint64), form)
    overflow = np.isnan(columns[0]) & np.isnan(result)
    for ordinary in columns[1:]:
        overflow &= np.isfinite(ordinary) & (ordinary != 0)
    sign = np.signbit(columns[1]) ^ np.signbit(columns[2])
    infinity = encoded(context, np.where(sign, -np.inf, np.inf))
    return Expected(np.where(overflow, infinity, expected.dst))


def denormal(a: float, b: float, form: formats.FloatFormat) -> bool:
    """Whether a / b is a denormal of the format (not zero)."""
    if not np.isfinite(a) or not np.isfinite(b) or b == 0:
        return False
    quotient = abs(Fraction(a) / Fraction(b))
    return Fraction(2) ** (form.emin - form.man - 1) < quotient < Fraction(2) ** form.emin


TWO_OVER_PI_BITS = 1201


def two_over_pi() -> int:
    """floor(2/pi * 2^1201), from Machin's formula in integers."""
    guard = TWO_OVER_PI_BITS + 64

    def arctan_inverse(n: int) -> int:
        term = (1 << guard) // n
        total, k, sign = term, 3, -1
        while term:
            term //= n * n
            total += sign * (term // k)
            k, sign = k + 2, -sign
        return total

    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    return ((2 << (guard + TWO_OVER_PI_BITS)) // pi) & ((1 << TWO_OVER_PI_BITS) - 1)


def trig_preop(context: Context) -> Expected:
    """The text: 53 bits of 2/pi from a bit position that the exponent and S1 choose."""
    table = two_over_pi()
    out = []
    for s0, s1 in zip(context.sources[0], context.sources[1], strict=True):
        exponent = (int(s0) >> 52) & 0x7FF
        shift = (int(s1) & 31) * 53 + max(0, exponent - 1077)
        bits = (table << shift) >> (TWO_OVER_PI_BITS - 53) & ((1 << 53) - 1)
        scale = -53 - shift + (128 if exponent >= 1968 else 0)
        out.append(exact_ldexp(float(bits), scale))
    return Expected(encoded(context, np.array(out)))


# --- lanes -------------------------------------------------------------------------------------


def readlane(context: Context) -> Expected:
    rows = context.sources[0].reshape(-1, LANES)
    lane = (context.sources[1].reshape(-1, LANES)[:, 0] & 63).astype(np.int64)
    return Expected(context.old, scalar=rows[np.arange(len(rows)), lane], final=True)


def readfirstlane(context: Context) -> Expected:
    rows = context.sources[0].reshape(-1, LANES)
    active = context.active.reshape(-1, LANES)
    first = np.where(active.any(axis=1), active.argmax(axis=1), 0)
    return Expected(context.old, scalar=rows[np.arange(len(rows)), first], final=True)


def writelane(context: Context) -> Expected:
    """One lane is written whatever the exec mask."""
    rows = context.old.reshape(-1, LANES).copy()
    lane = (context.sources[1].reshape(-1, LANES)[:, 0] & 63).astype(np.int64)
    rows[np.arange(len(rows)), lane] = context.sources[0].reshape(-1, LANES)[:, 0]
    return Expected(rows.reshape(-1), final=True)


def swap(context: Context) -> Expected:
    old, source = context.old, context.sources[0]
    return Expected(
        np.where(context.active, source, old),
        sources={0: np.where(context.active, old, source)},
        final=True,
    )


def permlane_swap(rows: int) -> Callable[[Context], Expected]:
    """Upper half of each pair of `rows`-lane groups of vdst changes places with the lower half of
    the source's. Tested with all lanes active: the text does not mention exec."""

    def reference(context: Context) -> Expected:
        dst = context.old.reshape(-1, LANES // (2 * rows), 2, rows).copy()
        source = context.sources[0].reshape(dst.shape).copy()
        low = source[:, :, 0].copy()
        source[:, :, 0] = dst[:, :, 1]
        dst[:, :, 1] = low
        return Expected(dst.reshape(-1), sources={0: source.reshape(-1)}, final=True)

    return reference


# --- stochastic and scaled conversions ---------------------------------------------------------


def stochastic(context: Context) -> Expected:
    """The random bits decide between the two neighbours of the exact value; which bits take part
    differs between the text and the hardware emulation in public headers, so either neighbour is
    accepted (an exactly representable value has only one). Overflow may saturate or not."""
    text = SR_TEXT.get(context.case.mnemonic)
    results = [
        run_text(replace(context, stochastic=mode, saturate_fp8=saturate), text).dst
        for mode in ("zero", "away")
        for saturate in (True, False)
    ]
    return Expected(results[0], alternatives=results[1:])


# The text adds the random bits by hand and rounds afterwards; stated like the scaled forms instead.
SR_TEXT = {
    f"v_cvt_sr_{name}_f32": (
        "dstbyte = OPSEL[3 : 2].i32 * 8;"
        f"VGPR[laneId][VDST.u32][dstbyte + 7 : dstbyte].{name} = f32_to_{name}_sr(S0.f32, S1.u32)"
    )
    for name in ("fp8", "bf8")
}


def scaled_fp8(context: Context) -> Expected:
    """As the text; ISA does not say whether overflow saturates, so both are accepted."""
    results = [run_text(replace(context, saturate_fp8=saturate)).dst for saturate in (True, False)]
    return Expected(results[0], alternatives=results[1:])


def bitop3(context: Context) -> Expected:
    width = context.case.opcode.dst.bits
    table, mask = context.case.bitop3, (1 << width) - 1
    out = np.zeros(len(context.active), dtype=object)
    for i in range(8):
        if table >> i & 1:
            term = pcode.object_array(mask, len(out))
            for bit, source in zip((4, 2, 1), context.sources, strict=True):
                term = term & (source if i & bit else ~source)
            out = out | term
    return Expected(out & mask)


def pk_mov(context: Context) -> Expected:
    """Each op_sel bit picks a dword of its source (the text indexes beyond a u32)."""
    selects = context.case.op_sel or (0, 0)
    low, high = (context.sources[i] >> (32 * selects[i]) & 0xFFFFFFFF for i in range(2))
    return Expected(low | high << 32)


def clamped(value: np.ndarray) -> np.ndarray:
    """The clamp modifier on a float: [0, 1], NaN becomes 0 (DX10_CLAMP), zero is positive."""
    value = np.where(np.isnan(value), 0.0, np.clip(value, 0.0, 1.0))
    return np.where(value == 0, 0.0, value)


def fma_mix(context: Context) -> Expected:
    """v_mad_mix of the text, fused: op_sel_hi makes a source f16 and op_sel picks its half."""
    case = context.case
    columns = []
    for i, bits in enumerate(context.sources):
        is_half = case.op_sel_hi[i] if case.op_sel_hi else 0
        element = "f16" if is_half else "f32"
        if is_half and case.op_sel and case.op_sel[i]:
            bits = bits >> 16
        form = FORMATS[element]
        source = case.sources[i]
        value = formats.decode((bits & ((1 << form.bits) - 1)).astype(np.uint64), form)
        value = np.abs(value) if source.abs else value
        columns.append(-value if source.neg else value)
    with np.errstate(all="ignore"):
        a, b, c = columns
        total = formats.fma(a, b, c, FORMATS["f32"])
        if case.clamp:
            total = clamped(total)
    if case.mnemonic == "v_fma_mix_f32":
        return Expected(np.where(context.active, encoded(context, total), context.old), final=True)
    # Whether f32 is rounded in between is not said: one or two roundings.
    results = []
    for value in (total, formats.two_sum_odd(a * b, c)):
        if case.clamp:
            value = clamped(value)
        half = encoded(context, value)
        new = (context.old & 0xFFFF) | half << 16
        if "mixlo" in case.mnemonic:
            new = (context.old & ~0xFFFF) | half
        results.append(np.where(context.active, new, context.old))
    return Expected(results[0], alternatives=results[1:], final=True)


def scaled_to_f16(context: Context) -> Expected:
    """As the text, whose comment gives op_sel[3] the choice of the destination's half; the other
    half is kept (LLVM ties the destination to the register before)."""
    low = run_text(context).dst & 0xFFFF
    if context.case.op_sel_bit(3):
        return Expected((context.old & 0xFFFF) | (low << 16))
    return Expected((context.old & ~0xFFFF) | low)


REFERENCE: dict[str, Callable[[Context], Expected]] = {
    "v_cvt_off_f32_i4": cvt_off_i4,
    "v_cvt_rpi_i32_f32": cvt_rpi,
    "v_cvt_pk_u8_f32": cvt_pk_u8,
    "v_cvt_pkaccum_u8_f32": cvt_pk_u8,
    "v_trig_preop_f64": trig_preop,
    "v_readlane_b32": readlane,
    "v_readfirstlane_b32": readfirstlane,
    "v_writelane_b32": writelane,
    "v_swap_b32": swap,
    "v_permlane16_swap_b32": permlane_swap(16),
    "v_permlane32_swap_b32": permlane_swap(32),
    "v_bitop3_b32": bitop3,
    "v_bitop3_b16": bitop3,
    "v_exp_legacy_f32": unary(np.exp2),
    "v_log_legacy_f32": unary(np.log2),
    "v_rcp_iflag_f32": unary(lambda x: 1.0 / x),
    "v_dot2_f32_f16": dot2,
    "v_dot2_f32_bf16": dot2,
    "v_dot2c_f32_f16": dot2,
    "v_dot2c_f32_bf16": dot2,
    "v_mad_f16": mad_f16,
    "v_mad_legacy_f16": mad_f16,
    "v_div_scale_f32": div_scale,
    "v_div_scale_f64": div_scale,
    "v_div_fixup_f32": div_fixup,
    "v_div_fixup_f64": div_fixup,
    "v_div_fmas_f32": div_fmas,
    "v_div_fmas_f64": div_fmas,
    "v_frexp_exp_i16_f16": frexp_exp,
    "v_pk_mov_b32": pk_mov,
    "v_fma_mix_f32": fma_mix,
    "v_fma_mixlo_f16": fma_mix,
    "v_fma_mixhi_f16": fma_mix,
    "v_cvt_scalef32_f16_fp8": scaled_to_f16,
    "v_cvt_scalef32_f16_bf8": scaled_to_f16,
}
for _name in ("f16", "f32", "f64"):
    REFERENCE |= {
        f"v_rcp_{_name}": unary(lambda x: 1.0 / x),
        f"v_rsq_{_name}": unary(lambda x: 1.0 / np.sqrt(x)),
        f"v_sqrt_{_name}": unary(np.sqrt),
        f"v_exp_{_name}": unary(np.exp2),
        f"v_log_{_name}": unary(np.log2),
        f"v_sin_{_name}": sine(np.sin),
        f"v_cos_{_name}": sine(np.cos),
        # The text of these adds a half or a one in the format, which is inexact for large values.
        f"v_floor_{_name}": unary(np.floor),
        f"v_ceil_{_name}": unary(np.ceil),
        f"v_rndne_{_name}": unary(np.rint),
        f"v_trunc_{_name}": unary(np.trunc),
        f"v_fract_{_name}": fract,
        f"v_frexp_exp_i32_{_name}": frexp_exp,
        f"v_frexp_mant_{_name}": unary(lambda x: np.where(np.isfinite(x), np.frexp(x)[0], x)),
        f"v_ldexp_{_name}": ldexp,
    }
for _name in ("i16_f16", "u16_f16"):
    REFERENCE |= {f"v_cvt_norm_{_name}": cvt_norm, f"v_cvt_pknorm_{_name}": cvt_norm}
for _name in ("i16_f32", "u16_f32"):
    REFERENCE[f"v_cvt_pknorm_{_name}"] = cvt_norm


def reference_for(mnemonic: str) -> Callable[[Context], Expected] | None:
    if mnemonic in REFERENCE:
        return REFERENCE[mnemonic]
    if re.match(r"v_cvt(_scalef32)?_sr_", mnemonic):
        return stochastic
    return scaled_fp8 if re.match(r"v_cvt_scalef32_pk_(fp8|bf8)_", mnemonic) else None


def specified_inputs(
    mnemonic: str, operands: list[np.ndarray], fmts: list[Format]
) -> list[np.ndarray]:
    """Operands with the values replaced that the documents leave without meaning: a scale of
    infinity or NaN (E8M0's code 255), and NaN into formats that have none (OCP)."""
    if not mnemonic.startswith("v_cvt_scalef32_"):
        return operands
    scale = operands[-1]
    scale = np.where((scale >> 23) & 0xFF == 0xFF, scale & ~0x00800000, scale)
    out = [*operands[:-1], scale]
    if re.match(r"v_cvt_scalef32_(sr_)?(2x)?pk\d*_(fp4|fp6|bf6)_", mnemonic):
        for i, fmt in enumerate(fmts[:-1]):
            if fmt.is_float:
                out[i] = without_nan(out[i], fmt)
    return out


def without_nan(bits: np.ndarray, fmt: Format) -> np.ndarray:
    """Clears the mantissa's high part of NaN elements, which leaves infinities."""
    form = FORMATS[fmt.element]
    top = ((1 << form.exp) - 1) << form.man
    out = np.zeros(len(bits), dtype=object)
    for i in range(fmt.count):
        one = (bits >> (i * form.bits)) & ((1 << form.bits) - 1)
        one = np.where(one & top == top, one & ~((1 << form.man) - 1), one)
        out = out | (one << (i * form.bits))
    return out
