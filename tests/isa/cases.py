"""VALU test cases: every opcode in every operand form, and what the pseudo-code says it yields."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from tests.isa import formats, handwritten, pcode
from tests.isa.expectation import K_LITERAL, SDWA_SELS, Context, Expected, run_text
from tests.isa.formats import FORMATS
from tests.isa.kernels import (
    DST,
    LANES,
    SCALAR_DST,
    SCALAR_DWORDS,
    SCALAR_SRC,
    SRC,
    Frame,
    Results,
    machine_codes,
    mask_bits,
)  # fmt: skip
from tests.isa.operands import Format, from_dwords, operand_bits, operand_format, to_dwords

VECTOR_ENCODINGS = ("VOP1", "VOP2", "VOPC", "VOP3", "VOP3SD", "VOP3P")
VOP3_SUFFIXES = ("", "_e64")
VOP3_OP_SEL_BIT = 11  # of the encoding
MATRIX = re.compile(r"V_S?MFMA")
# These read a lane mask: vcc, or in the e64 form an SGPR pair.
MASK_SOURCE = re.compile(r"v_cndmask_b32|v_(addc|subb|subbrev)_co_u32")


@dataclass(frozen=True)
class Opcode:
    """A mnemonic without encoding suffix, and the encodings it has."""

    mnemonic: str
    encodings: tuple[str, ...]
    sources: tuple[Format, ...]
    dst: Format | None  # None: a compare in VOPC form writes only a lane mask
    src_kinds: tuple[str, ...]  # operand types of the documents' table, widest encoding
    writes_mask: bool  # vdst or sdst is a lane mask (compare, carry)
    text: str


@cache
def opcodes() -> dict[str, Opcode]:
    from tinygrad.runtime.autogen.amd.cdna.operands import OPERANDS

    grouped: dict[str, dict[str, dict]] = {}
    for key, fields in OPERANDS.items():
        encoding = type(key).__name__.removesuffix("Op")
        if encoding in VECTOR_ENCODINGS and not MATRIX.match(key.name):
            name = re.sub(r"_E(32|64)$", "", key.name).lower()
            name = name.replace("v_mad_mix", "v_fma_mix")  # as this target's assembler says
            grouped.setdefault(name, {})[encoding] = fields
    out = {}
    for name, encodings in grouped.items():
        best = next(
            e for e in ("VOP3SD", "VOP3P", "VOP3", "VOP2", "VOP1", "VOPC") if e in encodings
        )
        if best == "VOP3" and "VOPC" not in encodings and "VOP2" in encodings:
            best = "VOP2" if "vsrc1" not in encodings["VOP2"] else "VOP3"
        fields = encodings[best]
        names = [
            n
            for n in ("src0", "src1", "vsrc1", "src2")
            if n in fields and not fields[n][0].name.endswith("_M64")
        ]  # a lane mask: see mask_source
        sources = tuple(operand_format(fields[n][0].name, fields[n][1]) for n in names)
        compare = "VOPC" in encodings
        dst = None
        if "vdst" in fields and not compare:
            dst = operand_format(fields["vdst"][0].name, fields["vdst"][1])
        try:
            text = pcode.instruction_text(name.replace("v_fma_mix", "v_mad_mix"))
        except pcode.PcodeError:
            text = ""
        out[name] = Opcode(
            name,
            tuple(encodings),
            sources,
            dst,
            tuple(fields[n][2].name for n in names),
            compare or best == "VOP3SD",
            text,
        )
    return out


@dataclass(frozen=True)
class Source:
    """One source operand: a VGPR ("v"), an SGPR ("s") or a constant ("k")."""

    kind: str = "v"
    text: str = ""  # constant as written
    neg: bool = False
    abs: bool = False
    sext: bool = False
    sel: str = "DWORD"  # SDWA


@dataclass(frozen=True)
class Dpp:
    control: str = ""
    row_mask: int = 0xF
    bank_mask: int = 0xF
    bound_ctrl: bool = False


@dataclass(frozen=True)
class Case:
    opcode: Opcode
    form: str  # e32, e64, sdwa, dpp, plus what is special
    encoding: str  # suffix: _e32, _e64, _sdwa, _dpp or ""
    sources: tuple[Source, ...]
    clamp: bool = False
    omod: str = ""  # mul:2, mul:4, div:2
    op_sel: tuple[int, ...] = ()  # as written; which bit a position means depends on the opcode
    op_sel_encoded: int = 0
    op_sel_hi: tuple[int, ...] = ()
    neg_lo: tuple[int, ...] = ()
    neg_hi: tuple[int, ...] = ()
    dst_sel: str = ""
    dst_unused: str = ""
    dpp: Dpp | None = None
    bitop3: int | None = None
    frame_changes: tuple[tuple[str, int], ...] = ()  # descriptor fields
    waves: int = 2

    @property
    def mnemonic(self) -> str:
        return self.opcode.mnemonic

    @property
    def label(self) -> str:
        return f"{self.mnemonic} [{self.form}]"

    @property
    def scalar_dst(self) -> bool:
        return self.mnemonic in handwritten.SCALAR_RESULTS

    # -- assembly --

    def source_text(self, index: int) -> str:
        source, fmt = self.sources[index], self.opcode.sources[index]
        if source.kind == "k":
            text = source.text
        else:
            bank = SRC if source.kind == "v" else SCALAR_SRC
            prefix = source.kind
            first, dwords = bank[index], fmt.dwords
            text = f"{prefix}{first}" if dwords == 1 else f"{prefix}[{first}:{first + dwords - 1}]"
        if source.sext:
            text = f"sext({text})"
        if source.abs:
            text = f"|{text}|"
        return f"-{text}" if source.neg else text

    def assembly(self) -> str:
        op, name = self.opcode, self.mnemonic
        srcs = [self.source_text(i) for i in range(len(self.sources))]
        operands = []
        if op.dst is not None:
            dwords = op.dst.dwords
            operands.append(
                f"s{SCALAR_DST}"
                if self.scalar_dst
                else f"v{DST}"
                if dwords == 1
                else f"v[{DST}:{DST + dwords - 1}]"
            )
        if op.writes_mask:
            operands.append("vcc" if self.mask_in_vcc else f"s[{SCALAR_DST}:{SCALAR_DST + 1}]")
        if "fmamk" in name or "madmk" in name:
            srcs.insert(1, hex(K_LITERAL[srcs_bits(op)]))
        if "fmaak" in name or "madak" in name:
            srcs.append(hex(K_LITERAL[srcs_bits(op)]))
        operands += srcs
        if MASK_SOURCE.fullmatch(name):
            first = SCALAR_SRC[2]
            operands.append(f"s[{first}:{first + 1}]" if self.mask_source else "vcc")
        text = f"{name}{self.encoding} " + ", ".join(operands)
        if self.bitop3 is not None:
            text += f" bitop3:{self.bitop3:#x}"
        for key in ("op_sel", "op_sel_hi", "neg_lo", "neg_hi"):
            bits = getattr(self, key)
            if bits:
                text += f" {key}:[{','.join(map(str, bits))}]"
        if self.clamp:
            text += " clamp"
        if self.omod:
            text += f" {self.omod}"
        if self.encoding == "_sdwa":
            if self.dst_sel:
                text += f" dst_sel:{self.dst_sel} dst_unused:{self.dst_unused}"
            text += "".join(f" src{i}_sel:{s.sel}" for i, s in enumerate(self.sources))
        if self.dpp:
            text += (
                f" {self.dpp.control} row_mask:{self.dpp.row_mask:#x} "
                f"bank_mask:{self.dpp.bank_mask:#x}"
            )
            text += " bound_ctrl:0" if self.dpp.bound_ctrl else ""
        return text

    @property
    def mask_source(self) -> bool:
        """The lane mask read comes from the third SGPR pair, not from vcc."""
        return self.encoding == "_e64" and bool(MASK_SOURCE.fullmatch(self.mnemonic))

    @property
    def mask_in_vcc(self) -> bool:
        return self.opcode.writes_mask and self.encoding in ("_e32", "_sdwa", "_dpp")

    def op_sel_bit(self, index: int) -> int:
        """op_sel of source `index`, or of the destination for index 3, as encoded."""
        return self.op_sel_encoded >> index & 1

    # -- kernel and inputs --

    def frame(self) -> Frame:
        loads = []
        if self.opcode.dst is not None:
            loads.append((DST, self.opcode.dst.dwords))
        for i, fmt in enumerate(self.opcode.sources):
            loads.append((SRC[i], fmt.dwords))
        changes = dict(self.frame_changes)
        return Frame(loads=tuple(loads), stores=tuple(loads), **changes)

    def inputs(self) -> Inputs:
        rng = np.random.default_rng(zlib.crc32(self.label.encode()))
        op = self.opcode
        lanes = self.waves * LANES
        columns = []
        old = rng.integers(0, 1 << 32, (lanes, op.dst.dwords if op.dst else 0), dtype=np.uint64)
        if op.dst is not None:
            accumulates = "D0.f" in (op.text.split("=", 1) + [""])[1] or "D0[" in op.text
            if accumulates and op.dst.is_float:
                old = to_dwords(operand_bits(rng, [op.dst], lanes)[0], op.dst.dwords)
            columns.append(old)
        vectors = handwritten.specified_inputs(
            self.mnemonic, operand_bits(rng, list(op.sources), lanes), list(op.sources)
        )
        for fmt, bits in zip(op.sources, vectors, strict=True):
            columns.append(to_dwords(bits, fmt.dwords))
        vector = np.concatenate([c.reshape(self.waves, LANES, -1) for c in columns], axis=-1)
        scalars = rng.integers(0, 1 << 32, (self.waves, SCALAR_DWORDS), dtype=np.uint64)
        scalars = scalars.astype(np.uint32)
        scalars[:, 4] &= 1
        scalars[0, 0:2] = 0xFFFFFFFF  # the first wave runs with all lanes
        if "permlane" in self.mnemonic:  # the text does not say what inactive lanes do
            scalars[:, 0:2] = 0xFFFFFFFF
        if self.mnemonic == "v_readfirstlane_b32":
            scalars[-1, 0:2] = 0
        # SGPR sources take the values of one lane each.
        for i, (fmt, bits) in enumerate(zip(op.sources, vectors, strict=True)):
            if fmt.dwords <= 2:
                pick = to_dwords(bits[::LANES], fmt.dwords)
                scalars[:, 8 + 2 * i : 8 + 2 * i + fmt.dwords] = pick
        return Inputs(vector.astype(np.uint32), scalars)


@dataclass
class Inputs:
    vectors: np.ndarray  # uint32 [waves, lanes, dwords]
    scalars: np.ndarray  # uint32 [waves, SCALAR_DWORDS]

    @property
    def exec_mask(self) -> np.ndarray:
        return mask_bits(Results(self.vectors, self.scalars).pair(0))

    def lane_mask(self, at: int) -> np.ndarray:
        return mask_bits(Results(self.vectors, self.scalars).pair(at))


def srcs_bits(op: Opcode) -> int:
    return 16 if op.sources[0].bits == 16 else 32


# --- forms -------------------------------------------------------------------------------------

INLINE = {"int": ("5", "-7"), "float": ("0.5", "-4.0", "0.15915494309189532")}
LITERAL = "0x3e21b5a7"
DPP_CONTROLS = (
    "quad_perm:[2,0,3,1]", "row_shl:1", "row_shl:15", "row_shr:3", "row_ror:5", "wave_shl:1",
    "wave_rol:1", "wave_shr:1", "wave_ror:1", "row_mirror", "row_half_mirror", "row_bcast:15",
    "row_bcast:31", "row_newbcast:6",
)  # fmt: skip
PLAIN_ENCODINGS = {"VOP1": "_e32", "VOP2": "_e32", "VOPC": "_e32"}
# The text cannot say how these saturate: 65-bit sums, parts of a wide result, shifts.
NO_INTEGER_CLAMP = re.compile(r"v_mad_[iu]64|v_m?qsad|v_pk_(lshl|lshr|ashr)rev")
DPP_THOROUGH = ("v_mov_b32", "v_add_f32", "v_add_u32", "v_max_i32", "v_mul_f32", "v_add_f16")
SDWA_THOROUGH = ("v_mov_b32", "v_add_f32", "v_add_u32", "v_add_f16", "v_mul_u32_u24", "v_or_b32",
                 "v_cvt_f32_f16", "v_lshlrev_b32", "v_cmp_lt_f32", "v_cmp_eq_u32")  # fmt: skip


def plain(op: Opcode) -> tuple[Source, ...]:
    return tuple(Source() for _ in op.sources)


def with_source(sources: tuple[Source, ...], index: int, **changes: object) -> tuple[Source, ...]:
    changed = replace(sources[index], **changes)
    return (*sources[:index], changed, *sources[index + 1 :])


def candidates(op: Opcode) -> list[Case]:
    """All forms worth trying; the assembler rejects those that do not exist."""
    base = plain(op)
    singles = sum(f.count == 1 for f in op.sources)
    main_waves = 10 if singles == 2 else 6 if len(op.sources) == 3 else 4
    if any(f.count >= 16 for f in (*op.sources, *([op.dst] if op.dst else []))):
        main_waves = 2  # every lane tries many values
    out: list[Case] = []
    mask = tuple(e for e in op.encodings if e in PLAIN_ENCODINGS)
    if mask:
        out += e32_forms(op, base, main_waves)
    if any(e in op.encodings for e in ("VOP3", "VOP3SD")):
        suffix = "_e64" if mask else ""
        out += e64_forms(op, base, suffix, main_waves if not mask else 4)
    if "VOP3P" in op.encodings:
        out += packed_forms(op, base, main_waves)
    if mask:
        out += sdwa_forms(op, base) + dpp_forms(op, base)
    if op.mnemonic == "v_writelane_b32":
        s, k = Source("s"), Source("k", "7")
        out = [
            Case(op, f"{a.kind} {b.kind}", "", (a, b), waves=4)
            for a, b in ((s, k), (k, s), (s, s), (k, k))
        ]
    if op.mnemonic.startswith("v_bitop3"):
        out = [
            replace(c, bitop3=t, form=f"{c.form} bitop3:{t:#x}")
            for t in (0x1D, 0xE8, 0x96)
            for c in out
            if c.form in ("e64", "e64 src0 sgpr") or "op_sel" in c.form
        ]
    return out


def constant_forms(
    op: Opcode, base: tuple[Source, ...], encoding: str, form: str, positions: range, literal: bool
) -> list[Case]:
    out = []
    for i in positions:
        fmt = op.sources[i]
        if fmt.dwords > 2:
            continue
        out.append(Case(op, f"{form} src{i} sgpr", encoding, with_source(base, i, kind="s")))
        inline_float = fmt.element in ("f16", "f32", "f64", "bf16")
        texts = list(INLINE["int"]) + (list(INLINE["float"]) if inline_float else [])
        pick = zlib.crc32(f"{op.mnemonic} {form} {i}".encode())
        if "VOPC" in op.encodings:  # so many of them: one constant each
            texts = [texts[pick % len(texts)]]
        elif encoding != "_e32" and inline_float:  # one integer and one number each
            texts = [texts[pick % 2], texts[2 + pick % 3]]
        if "scalef32" in op.mnemonic and i == len(op.sources) - 1:
            texts = [t for t in texts if t != "-7"]  # a NaN scale: see specified_inputs
        texts += [LITERAL] if literal and fmt.count == 1 else []
        for text in texts:
            out.append(
                Case(
                    op, f"{form} src{i} {text}", encoding, with_source(base, i, kind="k", text=text)
                )
            )
    return out


def e32_forms(op: Opcode, base: tuple[Source, ...], waves: int) -> list[Case]:
    out = [Case(op, "e32", "_e32", base, waves=waves)]
    out += constant_forms(op, base, "_e32", "e32", range(1), True)
    if flushes(op):
        out.append(
            Case(
                op,
                "e32 denorm flush",
                "_e32",
                base,
                waves=waves,
                frame_changes=(("denorm_32", 0), ("denorm_16_64", 0)),
            )
        )
    if rounds(op):
        out += [
            Case(op, f"e32 round {name}", "_e32", base, waves=4, frame_changes=(("round_mode", i),))
            for i, name in ((1, "up"), (2, "down"), (3, "zero"))
        ]
    return out


def e64_forms(op: Opcode, base: tuple[Source, ...], suffix: str, waves: int) -> list[Case]:
    out = [Case(op, "e64", suffix, base, waves=waves)]
    if "VOPC" in op.encodings:  # 198 of them, which differ in the comparison only
        out[0] = replace(out[0], waves=2)
        out += constant_forms(op, base, suffix, "e64", range(1, 2), False)
        if op.sources[0].is_float:
            sources = with_source(base, 0, neg=True, abs=True)
            out.append(
                Case(
                    op,
                    "e64 -|src0| -src1",
                    suffix,
                    with_source(sources, 1, neg=True) if op.sources[1].is_float else sources,
                )
            )
        return out
    out += constant_forms(op, base, suffix, "e64", range(len(base)), False)
    for i, fmt in enumerate(op.sources):
        if fmt.is_float and fmt.count == 1 and "bitop3" not in op.mnemonic:
            out.append(Case(op, f"e64 -src{i}", suffix, with_source(base, i, neg=True)))
            out.append(Case(op, f"e64 -|src{i}|", suffix, with_source(base, i, neg=True, abs=True)))
            out.append(
                Case(
                    op,
                    f"e64 -|src{i}| sgpr",
                    suffix,
                    with_source(base, i, neg=True, abs=True, kind="s"),
                )
            )
    # Where the text leaves no room to say what saturates: a 65-bit sum, sums packed by a call.
    if not re.match(r"v_mad_[iu]64|v_m?qsad_pk", op.mnemonic):
        out.append(Case(op, "e64 clamp", suffix, base, clamp=True, waves=4))
    # Not where a denormal decides, which omod's mode flushes at a point that is not specified.
    plain_result = not re.match(r"v_(div_scale|dot2)", op.mnemonic)
    if op.dst is not None and op.dst.is_float and op.dst.count == 1 and plain_result:
        out += [
            Case(
                op,
                f"e64 {omod}",
                suffix,
                base,
                omod=omod,
                frame_changes=(("denorm_32", 0), ("denorm_16_64", 0), ("ieee", 0)),
            )
            for omod in ("mul:2", "mul:4", "div:2")
        ]
    if any(f.bits <= 16 for f in (*op.sources, *([op.dst] if op.dst else []))) or (
        "scalef32" in op.mnemonic or "cvt_sr" in op.mnemonic or "cvt_pk" in op.mnemonic
    ):
        out += op_sel_forms(op, base, suffix)
    if rounds(op) and suffix == "":
        out += [
            Case(op, f"e64 round {name}", suffix, base, waves=4, frame_changes=(("round_mode", i),))
            for i, name in ((1, "up"), (2, "down"), (3, "zero"))
        ]
    return out


def op_sel_forms(op: Opcode, base: tuple[Source, ...], suffix: str) -> list[Case]:
    n = len(base)
    patterns = [tuple(int(i == k) for k in range(n + 1)) for i in range(n + 1)]
    patterns += [(1,) * (n + 1)]
    if n < 3:
        patterns += [(0,) * n + (0,) * (3 - n) + (1,), (0, 0, 1, 0), (0, 0, 1, 1), (1, 1, 0, 0)]
    out = []
    for pattern in dict.fromkeys(patterns):
        out.append(Case(op, f"e64 op_sel:{list(pattern)}", suffix, base, op_sel=pattern, waves=2))
    return out


def mix_forms(op: Opcode, base: tuple[Source, ...], waves: int) -> list[Case]:
    """op_sel_hi makes a source f16, op_sel then picks its high half."""
    n = len(base)
    out = [Case(op, "vop3p", "", base, waves=waves)]
    for high in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (1, 1, 0)):
        for low in ((0, 0, 0), high):
            text = f"vop3p op_sel:{list(low)} op_sel_hi:{list(high)}"
            case = Case(op, text, "", base, op_sel=low, op_sel_hi=high)
            out.append(case)
            for i in range(n):
                changed = with_source(base, i, neg=i != 1, abs=i != 0)
                out.append(replace(case, form=f"{text} modified src{i}", sources=changed))
    out.append(Case(op, "vop3p clamp", "", base, clamp=True, waves=4))
    return out


def packed_forms(op: Opcode, base: tuple[Source, ...], waves: int) -> list[Case]:
    n = len(base)
    if "fma_mix" in op.mnemonic:
        return mix_forms(op, base, waves)
    out = [Case(op, "vop3p", "", base, waves=waves)]
    out += constant_forms(op, base, "", "vop3p", range(n), False)
    for i in range(n):
        low = tuple(int(k == i) for k in range(n))
        high = tuple(int(k != i) for k in range(n))
        out.append(Case(op, f"vop3p op_sel:{list(low)}", "", base, op_sel=low))
        out.append(Case(op, f"vop3p op_sel_hi:{list(high)}", "", base, op_sel_hi=high))
        out.append(
            Case(
                op,
                f"vop3p op_sel:{list(low)} op_sel_hi:{list(high)}",
                "",
                base,
                op_sel=low,
                op_sel_hi=high,
            )
        )
        if op.sources[i].is_float:
            out.append(Case(op, f"vop3p neg_lo:{list(low)}", "", base, neg_lo=low))
            out.append(Case(op, f"vop3p neg_hi:{list(low)}", "", base, neg_hi=low))
    if not NO_INTEGER_CLAMP.match(op.mnemonic):
        out.append(Case(op, "vop3p clamp", "", base, clamp=True, waves=4))
    return out


def sdwa_forms(op: Opcode, base: tuple[Source, ...]) -> list[Case]:
    if any(f.bits > 32 for f in op.sources) or (op.dst is not None and op.dst.bits > 32):
        return []
    if op.mnemonic == "v_pk_fmac_f16":  # how a selection meets two halves is not documented
        return []
    compare = "VOPC" in op.encodings
    mask_only = compare
    out = []

    def add(
        name: str,
        sels: tuple[str, ...],
        dst_sel: str = "DWORD",
        unused: str = "UNUSED_PAD",
        **changes: object,
    ) -> None:
        sources = tuple(replace(s, sel=sel) for s, sel in zip(base, sels, strict=False))
        for key, value in changes.items():
            sources = with_source(sources, 0, **{key: value})
        out.append(
            Case(
                op,
                f"sdwa {name}",
                "_sdwa",
                sources,
                dst_sel="" if mask_only else dst_sel,
                dst_unused="" if mask_only else unused,
            )
        )

    n = len(base)
    compare |= handwritten.approximate(op.mnemonic)  # whole results only, where tolerances apply
    thorough = op.mnemonic in SDWA_THOROUGH
    picks = range(len(SDWA_SELS)) if thorough else (zlib.crc32(op.mnemonic.encode()) % 6,)
    for i in picks:
        sels = tuple(SDWA_SELS[(i + 3 * k) % 7] for k in range(n))
        add(" ".join(sels), sels)
        if not op.sources[0].is_float:
            add(f"sext {' '.join(sels)}", sels, sext=True)
        else:
            add(f"-|| {' '.join(sels)}", sels, neg=True, abs=True)
    dsts = SDWA_SELS[:6] if thorough else ("WORD_1", "BYTE_2")
    for dst_sel in () if compare else dsts:
        for unused in ("UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"):
            add(f"dst {dst_sel} {unused}", ("DWORD",) * n, dst_sel, unused)
    return out


def dpp_forms(op: Opcode, base: tuple[Source, ...]) -> list[Case]:
    controls = (
        DPP_CONTROLS
        if op.mnemonic in DPP_THOROUGH
        else (DPP_CONTROLS[0], DPP_CONTROLS[3], DPP_CONTROLS[-1])
    )
    out = []
    for control in controls:
        out.append(Case(op, f"dpp {control}", "_dpp", base, dpp=Dpp(control)))
        if op.mnemonic in DPP_THOROUGH:
            out.append(
                Case(
                    op, f"dpp {control} bound_ctrl", "_dpp", base, dpp=Dpp(control, bound_ctrl=True)
                )
            )
            out.append(Case(op, f"dpp {control} masks", "_dpp", base, dpp=Dpp(control, 0x5, 0xA)))
    if op.sources[0].is_float:
        out.append(
            Case(
                op,
                "dpp -|src0|",
                "_dpp",
                with_source(base, 0, neg=True, abs=True),
                dpp=Dpp(DPP_CONTROLS[0]),
            )
        )
    return out


FLUSH_OPS = re.compile(
    r"v_(add|sub|subrev|mul|fmac|fma|max|min|cvt_f16_f32|cvt_f32_f16)_?(f32|f16)?$"
)


def flushes(op: Opcode) -> bool:
    return bool(re.fullmatch(r"v_(add|sub|subrev|mul|fmac)_f32", op.mnemonic))


def rounds(op: Opcode) -> bool:
    return bool(
        re.fullmatch(r"v_(add|sub|mul|fmac|fma)_f(32|16)|v_cvt_f16_f32|v_cvt_f32_u32", op.mnemonic)
    )


def assembled_cases(mnemonics: Iterable[str]) -> dict[str, tuple[Case, ...]]:
    """The cases the assembler accepts; a mnemonic it knows in no form has none."""
    flat = [case for name in mnemonics for case in candidates(opcodes()[name])]
    codes = machine_codes([case.assembly() for case in flat])
    out: dict[str, list[Case]] = {name: [] for name in mnemonics}
    seen: set[tuple] = set()
    for case, code in zip(flat, codes, strict=True):
        key = (code, case.frame_changes)
        if code is None or key in seen:
            continue
        seen.add(key)
        if case.op_sel and case.encoding in VOP3_SUFFIXES and "VOP3P" not in case.opcode.encodings:
            case = replace(case, op_sel_encoded=code >> VOP3_OP_SEL_BIT & 0xF)
        out[case.mnemonic].append(case)
    return {name: tuple(cases) for name, cases in out.items()}


# --- expectation -------------------------------------------------------------------------------


def constant_bits(text: str, fmt: Format) -> int:
    """Bits that a constant puts into an operand of this format."""
    if text.startswith("0x"):
        literal = int(text, 16)
        if fmt.element == "f64":
            return literal << 32
        return literal & ((1 << max(fmt.element_bits, 32 if fmt.bits > 16 else 16)) - 1)
    if "." in text:
        # An inline float constant has the operand's format; two halves: f16 in the low half.
        element = fmt.element if fmt.is_float else {16: "f16", 64: "f64"}.get(fmt.bits, "f32")
        if element in ("f16", "f32", "f64", "bf16"):
            inline = {"0.15915494309189532": 0x3FC45F306DC9C882}  # 1 / (2 * pi)
            value = (
                formats.decode(np.array([inline[text]], np.uint64), FORMATS["f64"])
                if text in inline
                else np.array([float(text)])
            )
            if fmt.count == 2 and element == "f32":
                one = int(formats.encode(value, FORMATS["f32"])[0])
                return one | one << 32
            return int(formats.encode(value, FORMATS[element])[0])
    value = int(text)
    if fmt.element == "f32" and fmt.count == 2:
        return (value & 0xFFFFFFFF) * 0x100000001
    return value & ((1 << max(fmt.bits, 32)) - 1)


def float_modifiers(bits: np.ndarray, width: int, neg: bool, absolute: bool) -> np.ndarray:
    sign = 1 << (width - 1)
    if absolute:
        bits = bits & ~sign
    return bits ^ sign if neg else bits


def select_field(bits: np.ndarray, sel: str, sext: bool) -> np.ndarray:
    low, width = sdwa_field(sel)
    value = (bits >> low) & ((1 << width) - 1)
    if sext:
        value = pcode.wrap(value, width, True) & 0xFFFFFFFF
    return value


def sdwa_field(sel: str) -> tuple[int, int]:
    if sel == "DWORD":
        return 0, 32
    kind, index = sel.split("_")
    width = 8 if kind == "BYTE" else 16
    return int(index) * width, width


def dpp_sources(control: str) -> np.ndarray:
    """For each lane the lane it reads, -1 where there is none."""
    lane = np.arange(LANES)
    row, at = lane // 16 * 16, lane % 16
    name, _, arg = control.partition(":")
    if name == "quad_perm":
        perm = np.array([int(x) for x in arg.strip("[]").split(",")])
        return lane // 4 * 4 + perm[lane % 4]
    if name == "row_mirror":
        return row + 15 - at
    if name == "row_half_mirror":
        return lane // 8 * 8 + 7 - lane % 8
    n = int(arg)
    if name == "row_shl":
        return np.where(at + n < 16, lane + n, -1)
    if name == "row_shr":
        return np.where(at >= n, lane - n, -1)
    if name == "row_ror":
        return row + (at - n) % 16
    if name == "wave_shl":
        return np.where(lane + n < LANES, lane + n, -1)
    if name == "wave_shr":
        return np.where(lane >= n, lane - n, -1)
    if name == "wave_rol":
        return (lane + n) % LANES
    if name == "wave_ror":
        return (lane - n) % LANES
    if name == "row_newbcast":
        return row + n
    if name == "row_bcast" and n == 15:  # the last lane of a row to the next row
        return np.where(lane >= 16, row - 1, -1)
    if name == "row_bcast" and n == 31:  # lane 31 to rows 2 and 3
        return np.where(lane >= 32, 31, -1)
    raise ValueError(control)


def expect(case: Case, inputs: Inputs) -> Expected:
    op = case.opcode
    waves = case.waves
    lanes = waves * LANES
    vectors = inputs.vectors.reshape(lanes, -1)
    at = 0
    old = np.zeros(lanes, dtype=object)
    if op.dst is not None:
        old = from_dwords(vectors[:, : op.dst.dwords])
        at = op.dst.dwords
    active = inputs.exec_mask.reshape(lanes)
    sources = []
    for i, (source, fmt) in enumerate(zip(case.sources, op.sources, strict=True)):
        bits = from_dwords(vectors[:, at : at + fmt.dwords])
        at += fmt.dwords
        if source.kind == "s":
            scalar = from_dwords(inputs.scalars[:, 8 + 2 * i : 8 + 2 * i + fmt.dwords])
            bits = np.repeat(scalar, LANES)
        elif source.kind == "k":
            bits = pcode.object_array(constant_bits(source.text, fmt), lanes)
        sources.append(bits)
    write = active.copy()
    if case.dpp:
        sources[0], write = apply_dpp(case.dpp, sources[0], active, waves)
    for i, (source, fmt) in enumerate(zip(case.sources, op.sources, strict=True)):
        sources[i] = prepare_source(case, i, source, fmt, sources[i])
    lane_mask = inputs.lane_mask(8 + 2 * 2 if case.mask_source else 2)
    return evaluate(case, inputs, sources, old, active, write, lane_mask.reshape(lanes))


def apply_dpp(
    dpp: Dpp, bits: np.ndarray, active: np.ndarray, waves: int
) -> tuple[np.ndarray, np.ndarray]:
    """Source 0 as DPP delivers it, and the lanes that are written."""
    source = dpp_sources(dpp.control)
    lane = np.arange(LANES)
    enabled = ((dpp.row_mask >> (lane // 16)) & 1 == 1) & (
        (dpp.bank_mask >> (lane % 16 // 4)) & 1 == 1
    )
    rows, act = bits.reshape(waves, LANES), active.reshape(waves, LANES)
    exists = (source >= 0)[None, :] & act[:, np.maximum(source, 0)]
    moved = np.where(exists, rows[:, np.maximum(source, 0)], 0)
    write = act & enabled
    if not dpp.bound_ctrl:
        write = write & exists
    return moved.reshape(-1), write.reshape(-1)


def prepare_source(
    case: Case, index: int, source: Source, fmt: Format, bits: np.ndarray
) -> np.ndarray:
    """Selections and modifiers of one source."""
    packed = not case.encoding and "VOP3P" in case.opcode.encodings
    if "fma_mix" in case.mnemonic:
        return bits  # the reference reads the modifiers itself: the format varies
    if case.encoding == "_sdwa" and "SDWA_SRC0_SEL" not in case.opcode.text:
        bits = select_field(bits, source.sel, source.sext)
    elif packed:
        return packed_source(case, index, fmt, bits)
    elif (
        case.op_sel
        and fmt.bits <= 16
        and "OPSEL" not in case.opcode.text
        and (case.op_sel_bit(index))
    ):
        bits = bits >> 16
    if source.neg or source.abs:
        bits = float_modifiers(bits, fmt.element_bits, source.neg, source.abs)
    return bits


def packed_source(case: Case, index: int, fmt: Format, bits: np.ndarray) -> np.ndarray:
    if fmt.count != 2 or case.mnemonic in ("v_pk_mov_b32",):
        return bits
    width = 32 if fmt.bits == 64 else 16
    low_sel = case.op_sel[index] if case.op_sel else 0
    high_sel = case.op_sel_hi[index] if case.op_sel_hi else 1
    field_mask = (1 << width) - 1
    low, high = ((bits >> (width * sel)) & field_mask for sel in (low_sel, high_sel))
    if case.neg_lo and case.neg_lo[index]:
        low = low ^ (1 << (width - 1))
    if case.neg_hi and case.neg_hi[index]:
        high = high ^ (1 << (width - 1))
    return low | (high << width)


def evaluate(
    case: Case,
    inputs: Inputs,
    sources: list[np.ndarray],
    old: np.ndarray,
    active: np.ndarray,
    write: np.ndarray,
    vcc: np.ndarray,
) -> Expected:
    op = case.opcode
    changes = dict(case.frame_changes)
    frame = case.frame()
    mode = ("rne", "up", "down", "zero")[frame.round_mode]
    flush32 = changes.get("denorm_32") == 0
    unflushed, old_value = sources, old
    if flush32:
        sources = [flush_bits(b, f) for b, f in zip(sources, op.sources, strict=True)]
        old_value = flush_bits(old, op.dst) if op.dst is not None else old
    rule = handwritten.rule(case.mnemonic)
    context = Context(case, inputs, sources, old_value, active, vcc, mode, ieee=bool(frame.ieee))
    custom = handwritten.reference_for(case.mnemonic)
    if custom is not None:
        expected = custom(context)
        if expected.final:
            return expected
        results = [expected.dst, *expected.alternatives]
    else:
        expected = run_text(context)
        results = [expected.dst]
        if rule.flush_alternative and op.dst is not None and op.dst.is_float:
            flushed = [flush_bits(b, f) for b, f in zip(sources, op.sources, strict=True)]
            other = run_text(replace(context, sources=flushed, old=flush_bits(old, op.dst))).dst
            results += [other, flush_bits(expected.dst, op.dst), flush_bits(other, op.dst)]
    if expected.mask is not None:  # lanes that DPP disables count as inactive
        expected.mask = expected.mask & write.reshape(-1, LANES)
        if expected.exec_mask is not None:
            expected.exec_mask = expected.mask
    if op.dst is None:
        return expected
    if case.omod:  # whether denormals meet the multiplier or zero is not specified
        kept = (
            run_text(replace(context, sources=unflushed, old=old)).dst
            if custom is None
            else (custom(replace(context, sources=unflushed, old=old)).dst)
        )
        results += [kept, flush_bits(kept, op.dst), flush_bits(results[0], op.dst)]
    outputs, valid = [], None
    for bits in results:
        if flush32 and not case.omod:
            bits = flush_bits(bits, op.dst)
        out, valid = finish_dst(case, bits, old)
        outputs.append(np.where(write, out, old))
        if case.omod:
            outputs.append(np.where(write, flush_bits(out, op.dst), old))
    full = (1 << (32 * op.dst.dwords)) - 1
    expected.dst = outputs[0]
    expected.alternatives = outputs[1:]
    expected.dst_valid = np.where(write, valid, full)
    expected.ulp = rule.ulp
    return expected


def flush_bits(bits: np.ndarray, fmt: Format) -> np.ndarray:
    """Denormal elements become zero of their sign."""
    if not fmt.is_float or fmt.element not in ("f32", "f16", "f64"):
        return bits
    form = FORMATS[fmt.element]
    out = np.zeros(len(bits), dtype=object)
    for i in range(fmt.count):
        shift = i * form.bits
        one = (bits >> shift) & ((1 << form.bits) - 1)
        denormal = (one >> form.man) & ((1 << form.exp) - 1) == 0
        one = np.where(denormal, one & (1 << (form.bits - 1)), one)
        out = out | (one << shift)
    return out


def finish_dst(case: Case, bits: np.ndarray, old: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Output modifiers and placement; also the mask of bits whose value is specified."""
    fmt = case.opcode.dst
    full = (1 << (32 * fmt.dwords)) - 1
    # Some texts place the result themselves.
    if fmt.is_float and (case.clamp or case.omod) and "OPSEL" not in case.opcode.text:
        bits = float_output(case, bits, fmt)
    if case.encoding == "_sdwa":
        # A NaN's bits are not specified, wherever they are put.
        specified = np.where(nan_lanes(bits, fmt) & (case.dst_sel not in ("", "DWORD")), 0, full)
        return sdwa_dst(case, bits, old), specified
    if fmt.element == "f16" and (case.clamp or case.omod) and "OPSEL" in case.opcode.text:
        shift = 16 * case.op_sel_bit(3)  # the text has put the result into a half already
        half = float_output(case, bits >> shift & 0xFFFF, fmt)
        bits = bits & ~(0xFFFF << shift) | half << shift
    if fmt.bits > 16 or "OPSEL" in case.opcode.text:
        return bits & full, pcode.object_array(full, len(bits))
    low = bits & 0xFFFF
    if case.op_sel_bit(3):
        return (old & 0xFFFF) | (low << 16), pcode.object_array(0xFFFFFFFF, len(bits))
    policy = handwritten.high_half(case.mnemonic)
    high = {"zero": 0, "keep": old >> 16, "unspecified": 0}[policy]
    valid = 0xFFFF if policy == "unspecified" else 0xFFFFFFFF
    return low | (high << 16), pcode.object_array(valid, len(bits))


def nan_lanes(bits: np.ndarray, fmt: Format) -> np.ndarray:
    if not fmt.is_float or fmt.count > 1:
        return np.zeros(len(bits), dtype=bool)
    form = FORMATS[fmt.element]
    return np.isnan(formats.decode((bits & ((1 << form.bits) - 1)).astype(np.uint64), form))


def float_output(case: Case, bits: np.ndarray, fmt: Format) -> np.ndarray:
    form = FORMATS[fmt.element]
    out = np.zeros(len(bits), dtype=object)
    for i in range(fmt.count):
        shift = i * form.bits
        one = ((bits >> shift) & ((1 << form.bits) - 1)).astype(np.uint64)
        value = formats.decode(one, form)
        with np.errstate(all="ignore"):
            if case.omod:
                factor = {"mul:2": 2.0, "mul:4": 4.0, "div:2": 0.5}[case.omod]
                value = formats.round_to(value * factor, form)
            if case.clamp:
                value = handwritten.clamped(value)
        encoded = formats.encode(value, form)
        # Untouched values keep their bits (NaN payloads are not compared anyway).
        out = out | (pcode.object_array(encoded, len(bits)) << shift)
    return out


def sdwa_dst(case: Case, bits: np.ndarray, old: np.ndarray) -> np.ndarray:
    if case.opcode.dst.bits <= 16:
        bits = bits & 0xFFFF
    if not case.dst_sel or case.dst_sel == "DWORD":
        return bits & 0xFFFFFFFF
    low, width = sdwa_field(case.dst_sel)
    field_mask = ((1 << width) - 1) << low
    value = (bits << low) & field_mask
    if case.dst_unused == "UNUSED_PRESERVE":
        return (old & ~field_mask) | value
    if case.dst_unused == "UNUSED_SEXT":
        top = (value >> (low + width - 1)) & 1
        return value | top * (0xFFFFFFFF & ~((1 << (low + width)) - 1))
    return value
