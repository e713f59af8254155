"""Memory instructions: LDS, global, flat, scratch and buffer accesses and atomics.

Every lane has a window of memory that the kernel fills from the lane's record before, and that is
compared afterwards. LDS windows are copied in and out; the other spaces use the out record itself.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from tests.isa import pcode
from tests.isa.cases import Inputs
from tests.isa.expectation import Expected, dst_matches
from tests.isa.kernels import DST, LANES, SCALAR_DWORDS, SRC, Frame, Results, accepted
from tests.isa.operands import Format, from_dwords, random_values, to_dwords
from tests.isa.runner import MAX_REPORTED, Failure

WAVES = 3
WINDOW = 64  # bytes a lane
WINDOW_DWORDS = WINDOW // 4
FILL, READ_BACK = SRC[2], SRC[2] + WINDOW_DWORDS  # registers of the window before and after
ADDRESS, DATA0, DATA1, POINTER = SRC[0], SRC[1], SRC[1] + 8, SRC[0] + 2
DESCRIPTOR = 48  # s[48:51]
# Buffers end before the last lanes' windows, which must then read 0 and ignore stores.
BUFFER_LANES = 48
MAX_DWORDS = 4

SPACES = {"DS": "lds", "GLOBAL": "global", "FLAT": "flat", "MUBUF": "buffer", "SCRATCH": "scratch"}
# Typed buffer accesses convert by a format table that the simulator does not have; cache control
# does nothing here; memory-to-LDS copies and the rest are tested as HIP programs.
OTHER_TESTS = re.compile(
    r"t?buffer_(load|store)_format.*|buffer_(wbl2|inv)|.*_lds_.*|ds_(gws|nop|ordered).*"
    r"|ds_condxchg32_rtn_b64"
)
ATOMIC_FLOAT = re.compile(r".*_(f32|f64|f16|bf16)$")


@dataclass(frozen=True)
class MemoryOp:
    mnemonic: str
    space: str
    dst: int  # dwords of the result, 0 when there is none
    data0: int  # dwords
    data1: int
    text: str

    @property
    def atomic(self) -> bool:
        return (
            "atomic" in self.mnemonic
            or "MEM" in self.text
            and (self.data0 > 0 and "tmp = MEM" in self.text)
        )

    @property
    def two_offsets(self) -> bool:
        return "OFFSET1.u32 *" in self.text

    @property
    def element(self) -> str:
        """Type of the data."""
        match = re.search(r"_(f64|f32|f16|bf16)$", self.mnemonic)
        return match[1] if match else "b32"


@cache
def opcodes() -> dict[str, MemoryOp]:
    from tinygrad.runtime.autogen.amd.cdna.operands import OPERANDS

    out = {}
    for key, fields in OPERANDS.items():
        space = SPACES.get(type(key).__name__.removesuffix("Op"))
        name = key.name.lower()
        if space is None or OTHER_TESTS.fullmatch(name):
            continue

        def dwords(field: str, fields: dict = fields) -> int:
            return max(1, fields[field][1] // 32) if field in fields else 0

        try:
            text = pcode.instruction_text(name)
        except pcode.PcodeError:
            text = ""
        data = "vdata" if space == "buffer" else "data0" if space == "lds" else "data"
        result = dwords("vdst")
        stored = dwords(data)
        if space == "buffer":
            load = "load" in name
            result = stored if load else 0
            stored = 0 if load else stored
        if "atomic" in name:
            result = stored // 2 if "cmpswap" in name else stored
        out[name] = MemoryOp(name, space, result, stored, dwords("data1"), text)
    return out


@dataclass(frozen=True)
class MemoryCase:
    op: MemoryOp
    form: str
    offset: int = 0  # immediate; two 8-bit fields for the two-address forms
    offset1: int = 0
    returns: bool = True  # atomics: with result (sc0)
    saddr: bool = True
    soffset: int = 0
    stride: int = WINDOW  # of lane addresses
    full_exec: bool = False

    @property
    def label(self) -> str:
        return f"{self.op.mnemonic} [{self.form}]"

    @property
    def has_result(self) -> bool:
        return self.op.dst > 0 and (self.returns or "atomic" not in self.op.mnemonic)

    @property
    def result(self) -> int:
        """The first register of the result: a buffer atomic returns it where its data was."""
        atomic = self.op.space == "buffer" and "atomic" in self.op.mnemonic
        return DATA0 if atomic and self.has_result else DST

    def registers(self, first: int, dwords: int) -> str:
        return f"v{first}" if dwords == 1 else f"v[{first}:{first + dwords - 1}]"

    def assembly(self) -> str:
        op = self.op
        data0 = self.registers(DATA0, op.data0) if op.data0 else ""
        data1 = self.registers(DATA1, op.data1) if op.data1 else ""
        dst = self.registers(DST, op.dst) if self.has_result else ""
        sc0 = "sc0" if self.has_result and "atomic" in op.mnemonic else ""
        if op.space == "lds":
            address = (
                ""
                if "addtid" in op.mnemonic or op.mnemonic in ("ds_append", "ds_consume")
                else f"v{ADDRESS}"
            )
            operands = [x for x in (dst, address, data0, data1) if x]
            offsets = (
                f"offset0:{self.offset} offset1:{self.offset1}"
                if op.two_offsets
                else f"offset:{self.offset}"
            )
            return f"{op.mnemonic} {', '.join(operands)} {offsets}"
        if op.space == "buffer":
            reg = data0 or dst
            return (
                f"{op.mnemonic} {reg}, v{ADDRESS}, s[{DESCRIPTOR}:{DESCRIPTOR + 3}], "
                f"{'s52' if self.soffset else '0'} offen offset:{self.offset} {sc0}"
            ).strip()
        pointer = f"v[{POINTER}:{POINTER + 1}]"
        address = f"v{ADDRESS}" if self.saddr and op.space == "global" else pointer
        operands = [x for x in (dst, address, data0) if x]
        if op.space == "global":
            operands.append("s[10:11]" if self.saddr else "off")
        if op.space == "scratch":
            operands = [x for x in (dst, f"v{ADDRESS}", data0, "off") if x]
        return f"{op.mnemonic} {', '.join(operands)} offset:{self.offset} {sc0}".strip()

    def loads(self) -> tuple[tuple[int, int], ...]:
        out = [(DST, max(1, self.op.dst)), (ADDRESS, 1), (FILL, WINDOW_DWORDS)]
        if self.op.data0:
            out.append((DATA0, self.op.data0))
        if self.op.data1:
            out.append((DATA1, self.op.data1))
        return tuple(out)

    def frame(self) -> Frame:
        stores = ((self.result, max(1, self.op.dst)),)
        if self.op.space == "lds":
            copy_in = [f"v_lshlrev_b32 v2, {WINDOW.bit_length() - 1}, v2"]
            copy_in += [
                f"ds_write_b128 v2, v[{FILL + i}:{FILL + i + 3}] offset:{4 * i}"
                for i in range(0, WINDOW_DWORDS, 4)
            ]
            copy_out = [
                f"ds_read_b128 v[{READ_BACK + i}:{READ_BACK + i + 3}], v2 offset:{4 * i}"
                for i in range(0, WINDOW_DWORDS, 4)
            ]
            lane = ["v_mbcnt_lo_u32_b32 v2, -1, 0", "v_mbcnt_hi_u32_b32 v2, -1, v2"]
            return Frame(
                loads=self.loads(),
                stores=(*stores, (READ_BACK, WINDOW_DWORDS)),
                lds_bytes=WINDOW * LANES,
                setup="\n".join([*lane, *copy_in, "s_waitcnt lgkmcnt(0)"]),
                after="s_waitcnt lgkmcnt(0)",
                finish="\n".join([*copy_out, "s_waitcnt lgkmcnt(0)"]),
            )
        if self.op.space == "scratch":
            copy_in = [
                f"scratch_store_dwordx4 off, v[{FILL + i}:{FILL + i + 3}], off offset:{4 * i}"
                for i in range(0, WINDOW_DWORDS, 4)
            ]
            copy_out = [
                f"scratch_load_dwordx4 v[{READ_BACK + i}:{READ_BACK + i + 3}], off, off "
                f"offset:{4 * i}"
                for i in range(0, WINDOW_DWORDS, 4)
            ]
            wait = "s_waitcnt vmcnt(0)"
            return Frame(
                loads=self.loads(),
                stores=(*stores, (READ_BACK, WINDOW_DWORDS)),
                scratch_bytes=WINDOW,
                setup="\n".join([*copy_in, wait]),
                after=wait,
                finish="\n".join([*copy_out, wait]),
            )
        window_at = 4 * stores[0][1]
        setup = [
            f"global_store_dwordx4 v1, v[{FILL + i}:{FILL + i + 3}], s[10:11] "
            f"offset:{window_at + 4 * i}"
            for i in range(0, WINDOW_DWORDS, 4)
        ]
        setup += [
            f"v_mov_b32 v{POINTER + 1}, s11",
            f"v_add_co_u32 v{POINTER}, vcc, s10, v{ADDRESS}",
            f"v_addc_co_u32 v{POINTER + 1}, vcc, 0, v{POINTER + 1}, vcc",
        ]
        record = 4 * (stores[0][1] + WINDOW_DWORDS)
        setup += [
            f"s_mov_b32 s{DESCRIPTOR}, s10",
            f"s_mov_b32 s{DESCRIPTOR + 1}, s11",
            f"s_mov_b32 s{DESCRIPTOR + 2}, {record * BUFFER_LANES}",
            f"s_mov_b32 s{DESCRIPTOR + 3}, 0x00027000",
            f"s_mov_b32 s52, {self.soffset}",
        ]
        wait = "s_waitcnt vmcnt(0) lgkmcnt(0)"
        return Frame(
            loads=self.loads(),
            stores=stores,
            window_dwords=WINDOW_DWORDS,
            setup="\n".join([*setup, wait]),
            after=wait,
        )

    # -- inputs --

    def inputs(self) -> Inputs:
        rng = np.random.default_rng(zlib.crc32(self.label.encode()))
        lanes = WAVES * LANES
        columns = {DST: rng.integers(0, 1 << 32, (lanes, max(1, self.op.dst)), dtype=np.uint64)}
        columns[ADDRESS] = self.addresses(rng)[:, None]
        columns[FILL] = data(rng, self.op, lanes, WINDOW_DWORDS)
        if self.op.data0:
            columns[DATA0] = data(rng, self.op, lanes, self.op.data0)
        if self.op.data1:
            columns[DATA1] = data(rng, self.op, lanes, self.op.data1)
        if re.search("cmpst|cmpswap", self.op.mnemonic):
            self.make_some_compare_equal(rng, columns)
        vectors = np.concatenate([columns[first] for first, _ in self.loads()], -1)
        scalars = rng.integers(0, 1 << 32, (WAVES, SCALAR_DWORDS), dtype=np.uint64)
        scalars[:, 5] = rng.integers(0, 64, WAVES) * 4  # m0: a byte offset
        scalars[0 if not self.full_exec else slice(None), 0:2] = 0xFFFFFFFF
        return Inputs(
            vectors.reshape(WAVES, LANES, -1).astype(np.uint32), scalars.astype(np.uint32)
        )

    def addresses(self, rng: np.random.Generator) -> np.ndarray:
        """One for each lane, in its own window; windows are dealt to lanes at random."""
        if "permute" in self.op.mnemonic:
            return rng.integers(0, 1 << 32, WAVES * LANES, dtype=np.uint64)
        order = np.concatenate([rng.permutation(LANES) for _ in range(WAVES)])
        inside = rng.integers(0, 2, WAVES * LANES) * 16 if self.stride == WINDOW else 0
        if self.op.space == "lds":
            return (order * self.stride + inside).astype(np.uint64)
        if self.op.space == "scratch":
            return np.asarray(inside, dtype=np.uint64)
        record = 4 * (max(1, self.op.dst) + WINDOW_DWORDS)
        return (order * record + 4 * max(1, self.op.dst) + inside - self.soffset).astype(np.uint64)

    def make_some_compare_equal(self, rng: np.random.Generator, columns: dict) -> None:
        """Half of the lanes hold the value that memory has."""
        places = self.places(columns[ADDRESS][:, 0])
        dwords = self.op.dst or self.op.data0
        width = max(1, self.op.data0 // 2) if "cmpswap" in self.op.mnemonic else self.op.data0
        memory = columns[FILL].astype(np.uint32).view(np.uint8).reshape(WAVES, -1)
        for lane in np.flatnonzero(rng.random(WAVES * LANES) < 0.5):
            at = int(places[lane]) + self.offset
            current = memory[lane // LANES, at : at + 4 * width].view(np.uint32)
            if "cmpswap" in self.op.mnemonic:
                columns[DATA0][lane, width : 2 * width] = current
            else:
                columns[DATA0][lane, :width] = current
        del dwords

    def places(self, addresses: np.ndarray) -> np.ndarray:
        """Addresses as positions in the wave's windows laid end to end."""
        if self.op.space == "lds":
            return addresses
        if self.op.space == "scratch":
            return addresses.astype(np.int64) + np.arange(len(addresses)) % LANES * WINDOW
        first = 4 * max(1, self.op.dst)
        record = first + WINDOW
        linear = addresses.astype(np.int64)
        if self.op.space == "buffer":
            linear += self.soffset
        return linear // record * WINDOW + linear % record - first


def data(rng: np.random.Generator, op: MemoryOp, lanes: int, dwords: int) -> np.ndarray:
    """Random dwords; for float atomics finite numbers that are no denormals, because the documents
    leave NaN selection and denormals in memory atomics open."""
    if not (op.atomic and ATOMIC_FLOAT.fullmatch(op.mnemonic)):
        return rng.integers(0, 1 << 32, (lanes, dwords), dtype=np.uint64)
    width = {"f64": 64, "f32": 32}.get(op.element, 16)
    count = dwords * 32 // width
    columns = []
    for _ in range(max(count, 1)):
        bits = random_values(rng, op.element, lanes)
        exponent_bits, man = {"f64": (11, 52), "f32": (8, 23), "f16": (5, 10), "bf16": (8, 7)}[
            op.element
        ]
        middle = np.uint64(((1 << (exponent_bits - 1)) - 1) << man)
        exponent = (bits >> np.uint64(man)) & np.uint64((1 << exponent_bits) - 1)
        extreme = (exponent < 8) | (exponent > (1 << exponent_bits) - 8)
        keep = np.uint64((1 << man) - 1) | np.uint64(1 << (width - 1))
        columns.append(np.where(extreme, (bits & keep) | middle, bits))
    total = np.zeros(lanes, dtype=object)
    for i, column in enumerate(columns):
        total = total | (column.astype(object) << (i * width))
    return to_dwords(total, dwords).astype(np.uint64)


# --- reference ---------------------------------------------------------------------------------


@dataclass
class MemoryExpected:
    dst: Expected
    memory: np.ndarray  # uint8 [waves, LANES * WINDOW]


def expect(case: MemoryCase, inputs: Inputs) -> MemoryExpected:
    op = case.op
    lanes = WAVES * LANES
    parts = split(case, inputs.vectors)
    active = inputs.exec_mask.reshape(lanes)
    memory = parts[FILL].reshape(WAVES, -1).view(np.uint8).copy()
    address = pcode.object_array(case.places(parts[ADDRESS].reshape(-1)), lanes)
    old = from_dwords(parts[case.result].reshape(lanes, -1)[:, : max(1, op.dst)])
    special = SPECIAL.get(op.mnemonic)
    if special is not None:
        new = special(case, inputs, parts, address, memory)
    else:
        reachable = active.copy()
        if op.space == "buffer":  # lanes beyond num_records read 0 and store nothing
            reachable &= np.array([a < BUFFER_LANES * WINDOW for a in address])
        new = run_text(case, inputs, parts, address, memory, reachable)
        if op.space == "buffer":
            new = np.where(reachable, new, old & kept_bits(op))
    dst = np.where(active, new, old) if case.has_result else old
    return MemoryExpected(Expected(dst), memory)


def kept_bits(op: MemoryOp) -> int:
    """Bits of the destination that a load does not fill."""
    if "_d16" not in op.mnemonic:
        return 0
    return 0xFFFF if "_d16_hi" in op.mnemonic else 0xFFFF0000


def run_text(
    case: MemoryCase,
    inputs: Inputs,
    parts: dict[int, np.ndarray],
    address: np.ndarray,
    memory: np.ndarray,
    reachable: np.ndarray,
) -> np.ndarray:
    op = case.op
    lanes = WAVES * LANES
    whole = address if op.two_offsets else address + case.offset
    size = memory.shape[1]
    safe = np.where((whole + 32 <= size) & (whole >= 0), whole, size - 32)

    def bits(first: int, width: int) -> pcode.Int:
        return pcode.make_int(
            from_dwords(parts[first].reshape(lanes, -1)), lanes, width, bits_only=True
        )

    safe = whole if op.space == "lds" else safe
    env: dict[str, pcode.Value] = {
        "ADDR": pcode.make_int(safe, lanes),
        "ADDR_BASE": pcode.make_int(safe, lanes),
        "OFFSET": pcode.make_int(0, lanes),
        "OFFSET0": pcode.make_int(case.offset & 0xFF, lanes, 8),
        "OFFSET1": pcode.make_int(case.offset1 if op.two_offsets else case.offset >> 8, lanes, 8),
        "SADDR": pcode.make_int(0, lanes),
        "VADDR": pcode.make_int(0, lanes),
        "SRSRC": pcode.make_int(0, lanes),
        "SOFFSET": pcode.make_int(0, lanes),
        "laneID": pcode.make_int(np.arange(lanes) % LANES, lanes),
        "M0": pcode.make_int(np.repeat(inputs.scalars[:, 5], LANES), lanes, bits_only=True),
        "EXEC.lane": pcode.make_int(reachable.astype(object) * 1, lanes, 1),
    }
    for name in ("RETURN_DATA",) + (() if op.data0 else ("VDATA",)):
        env[name] = bits(DST, 32 * max(1, op.dst))
    if op.data0:
        for name in ("DATA", "DATA0", "VDATA"):
            env[name] = bits(DATA0, 32 * op.data0)
    if op.data1:
        env["DATA2"] = bits(DATA1, 32 * op.data1)
    machine = pcode.Machine(lanes, env, memory=memory)
    machine.run(op.text)
    result = machine.env["VDATA" if "load" in op.mnemonic else "RETURN_DATA"]
    return pcode.to_bits(result)


def split(case: MemoryCase, vectors: np.ndarray) -> dict[int, np.ndarray]:
    parts, at = {}, 0
    for first, count in case.loads():
        parts[first] = np.ascontiguousarray(vectors[..., at : at + count])
        at += count
    return parts


def lane_rows(inputs: Inputs, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return values.reshape(WAVES, LANES), inputs.exec_mask


def permute(
    case: MemoryCase, inputs: Inputs, parts: dict, address: np.ndarray, memory: np.ndarray
) -> np.ndarray:
    """The document's loops over lanes."""
    rows, active = lane_rows(inputs, from_dwords(parts[DATA0].reshape(-1, 1)))
    target = (parts[ADDRESS].reshape(WAVES, LANES).astype(np.int64) + case.offset) // 4 % LANES
    out = np.zeros((WAVES, LANES), dtype=object)
    for wave in range(WAVES):
        for lane in range(LANES):
            other = target[wave, lane]
            if "bpermute" in case.op.mnemonic:
                if active[wave, other]:
                    out[wave, lane] = rows[wave, other]
            elif active[wave, lane]:
                out[wave, other] = rows[wave, lane]
    return out.reshape(-1)


def swizzle(
    case: MemoryCase, inputs: Inputs, parts: dict, address: np.ndarray, memory: np.ndarray
) -> np.ndarray:
    """ISA: offset bit 15 selects a permutation of four lanes, else and/or/xor masks on the lane
    number within 32; 0xc000 rotates (by lanes in bits 9:5; LLVM's disassembly drops the mask in
    bits 4:0), 0xe000 permutes as the FFT tables say. A lane whose source is inactive gets 0."""
    rows, active = lane_rows(inputs, from_dwords(parts[ADDRESS].reshape(-1, 1)))
    lane = np.arange(LANES)
    offset = case.offset
    if offset >= 0xE000:
        table = re.search(rf"0x{offset & 31:02x}: {{([^}}]*)}}", case.op.text)
        source = np.array([int(x, 16) - 1 for x in table[1].split(",")])[lane & 31] | (lane & 32)
    elif offset >= 0xC000:
        mask, rotate = offset & 31, offset >> 5 & 31
        rotate = -rotate if offset >> 10 & 1 else rotate
        source = (lane & mask) | ((lane + rotate) & ~mask & 31) | (lane & 32)
    elif offset & 0x8000:
        source = (lane & ~3) | (offset >> (2 * (lane & 3)) & 3)
    else:
        and_mask, or_mask, xor_mask = offset & 31, offset >> 5 & 31, offset >> 10 & 31
        source = (((lane & 31) & and_mask) | or_mask) ^ xor_mask | (lane & 32)
    return np.where(active[:, source], rows[:, source], 0).reshape(-1)


def transpose_read(
    case: MemoryCase, inputs: Inputs, parts: dict, address: np.ndarray, memory: np.ndarray
) -> np.ndarray:
    """Sixteen lanes read a tile of 16 columns, rows lying one after the other; lane t receives
    column t. (How Composable Kernel and Triton use these instructions for gfx950.)"""
    match = re.search(r"b(\d+)_tr_b(\d+)", case.op.mnemonic)
    total, width = int(match[1]), int(match[2])
    count = total // width  # elements a lane
    lanes_per_row = 16 // count
    field = (1 << width) - 1
    size = total // 8
    machine = pcode.Machine(WAVES * LANES, {}, memory=memory)
    raw = machine.load(address + case.offset, size)
    out = np.zeros(len(raw), dtype=object)
    for lane in range(len(raw)):
        first, t = lane // 16 * 16, lane % 16
        for e in range(count):
            source = first + e * lanes_per_row + t // count
            out[lane] |= ((raw[source] >> (width * (t % count))) & field) << (width * e)
    return out


def append_consume(
    case: MemoryCase, inputs: Inputs, parts: dict, address: np.ndarray, memory: np.ndarray
) -> np.ndarray:
    """Adds (subtracts) the number of active lanes at M0 + offset; returns the value before. (LLVM
    puts the LDS address into M0 as it is.)"""
    sign = 1 if "append" in case.op.mnemonic else -1
    out = np.zeros((WAVES, LANES), dtype=object)
    for wave in range(WAVES):
        at = int(inputs.scalars[wave, 5]) + case.offset
        word = memory[wave, at : at + 4].view(np.uint32)
        out[wave] = int(word[0])
        count = int(inputs.exec_mask[wave].sum())
        word[0] = (int(word[0]) + sign * count) & 0xFFFFFFFF
    return out.reshape(-1)


SPECIAL = {
    "ds_permute_b32": permute,
    "ds_bpermute_b32": permute,
    "ds_swizzle_b32": swizzle,
    "ds_append": append_consume,
    "ds_consume": append_consume,
    **{
        f"ds_read_{kind}": transpose_read
        for kind in ("b64_tr_b16", "b64_tr_b8", "b64_tr_b4", "b96_tr_b6")
    },
}


# --- cases -------------------------------------------------------------------------------------


def candidates(op: MemoryOp) -> list[MemoryCase]:
    if op.mnemonic == "ds_swizzle_b32":
        return [
            MemoryCase(op, f"offset {x:#x}", x)
            for x in (
                0x801B,
                0x80E4,
                0x041F,
                0x7C1F,
                0x00F0,
                0x1C07,
                0xC060,
                0xC460,
                0xE000,
                0xE010,
            )
        ]
    if "_tr_" in op.mnemonic:
        return [MemoryCase(op, f"offset {x}", x, full_exec=True) for x in (0, 16)]
    if op.two_offsets:
        stride64 = "st64" in op.mnemonic
        unit = 8 if "b64" in op.mnemonic else 4
        stride = unit if stride64 else WINDOW
        pairs = ((1, 5), (3, 0)) if stride64 else ((0, 3), (2, 1))
        return [MemoryCase(op, f"offsets {a} {b}", a, b, stride=stride) for a, b in pairs]
    base = [MemoryCase(op, "offset 0"), MemoryCase(op, "offset 16", 16)]
    if "permute" in op.mnemonic or "addtid" in op.mnemonic:
        return base
    if op.space == "global":
        base += [replace(case, form=f"{case.form} off", saddr=False) for case in base]
        base.append(MemoryCase(op, "offset -16", -16, soffset=-16))
    if op.space == "buffer":
        base.append(MemoryCase(op, "soffset", 16, soffset=4))
    if "atomic" in op.mnemonic:
        base += [replace(case, form=f"{case.form} no return", returns=False) for case in base[:1]]
    if re.search("byte|[ui]8|short|[ui]16|_b8|_b16", op.mnemonic):
        base += [
            replace(
                base[0],
                form="offset 3"
                if "short" not in op.mnemonic and "16" not in op.mnemonic
                else "offset 2",
                offset=3 if "short" not in op.mnemonic and "16" not in op.mnemonic else 2,
            )
        ]
    return base


def assembled_cases(mnemonics: list[str]) -> dict[str, tuple[MemoryCase, ...]]:
    flat = [case for name in mnemonics for case in candidates(opcodes()[name])]
    ok = accepted([case.assembly() for case in flat])
    out: dict[str, list[MemoryCase]] = {name: [] for name in mnemonics}
    for case, good in zip(flat, ok, strict=True):
        if good:
            out[case.op.mnemonic].append(case)
    return {name: tuple(cases) for name, cases in out.items()}


def check_case(case: MemoryCase, inputs: Inputs, results: Results) -> Failure | None:
    want = expect(case, inputs)
    op = case.op
    dwords = max(1, op.dst)
    lanes = WAVES * LANES
    got = from_dwords(results.vectors[..., :dwords].reshape(lanes, -1))
    parts = split(case, inputs.vectors)
    element = op.element if op.atomic and ATOMIC_FLOAT.fullmatch(op.mnemonic) else "b32"
    width = {"f64": 64, "b32": 32, "f32": 32}.get(element, 16)
    fmt = Format(element, dwords * 32 // width if dwords * 32 >= width else 1, dwords * 32)
    details = []
    addresses = parts[ADDRESS].reshape(-1)
    data0 = from_dwords(parts[DATA0].reshape(lanes, -1)) if op.data0 else None

    def where(lane: int) -> str:
        text = f"address={addresses[lane]:#x}"
        return text + (f" data={int(data0[lane]):#x}" if data0 is not None else "")

    bad = np.flatnonzero(~dst_matches(got, want.dst, fmt))
    for lane in bad[:MAX_REPORTED]:
        details.append(
            f"wave {lane // LANES} lane {lane % LANES} {where(lane)}: result expected "
            f"{want.dst.dst[lane]:#x} got {got[lane]:#x}"
        )
    if len(bad) > MAX_REPORTED:
        details.append(f"... {len(bad)} of {lanes} lanes differ")
    after = np.ascontiguousarray(results.vectors[..., dwords : dwords + WINDOW_DWORDS])
    after = after.reshape(WAVES, -1).view(np.uint8)
    wrong = np.argwhere(after != want.memory)
    for wave, at in wrong[:MAX_REPORTED]:
        at4 = at // 4 * 4
        writers = [
            lane
            for lane in range(LANES)
            if case.places(addresses)[wave * LANES + lane] // WINDOW == at // WINDOW
        ]
        words = [m[wave, at4 : at4 + 4].view(np.uint32)[0] for m in (want.memory, after)]
        before = parts[FILL].reshape(WAVES, -1)[wave, at4 // 4]
        details.append(
            f"wave {wave} memory byte {at} (window of lanes {writers}; "
            f"{where(wave * LANES + writers[0]) if writers else ''}): dword before "
            f"{before:#x} expected {words[0]:#x} got {words[1]:#x}"
        )
    if len(wrong) > MAX_REPORTED:
        details.append(f"... {len(wrong)} bytes of memory differ")
    return Failure(case.label, case.assembly(), details) if details else None
