"""Assembly kernels that run one instruction for one wave per workgroup.

A kernel loads vector registers from a per-lane record and scalar registers from a per-wave record,
runs the instruction under the record's exec mask, and stores registers back. All tests share this
frame; only the instruction and the register lists differ.

Scalar record, 16 dwords:  0-1 exec, 2-3 vcc, 4 scc, 5 m0, 8-15 s40..s47 (in and out).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MCPU = "gfx950"
TARGET_ID = f"amdgcn-amd-amdhsa--{MCPU}"
LANES = 64
SCALAR_DWORDS = 16

# Registers of the frame. Operand banks are far apart so that the widest operand (32 dwords) fits.
DST, SRC = 20, (60, 92, 124)
SCALAR_SRC, SCALAR_DST = (40, 42, 44), 46
LAST_VGPR = 160


@dataclass(frozen=True)
class Frame:
    """Descriptor fields and registers of a kernel."""

    loads: tuple[tuple[int, int], ...]  # (first VGPR, dwords) loaded from the lane's record
    stores: tuple[tuple[int, int], ...]  # stored to the lane's record afterwards
    denorm_32: int = 3  # 0 flushes inputs and results, 3 keeps them
    denorm_16_64: int = 3
    round_mode: int = 0  # 0 nearest even, 1 up, 2 down, 3 zero (f32 and f16/f64)
    ieee: int = 1
    lds_bytes: int = 0
    scratch_bytes: int = 0  # a lane
    agprs: bool = False
    setup: str = ""  # instructions before the one under test, full exec
    after: str = "s_nop 7\n  s_nop 7"
    finish: str = ""  # instructions after the scalar results are saved, full exec
    window_dwords: int = 0  # of the lane's out record, behind the stores: memory for the kernel

    @property
    def in_dwords(self) -> int:
        return sum(n for _, n in self.loads)

    @property
    def out_dwords(self) -> int:
        return sum(n for _, n in self.stores) + self.window_dwords


@dataclass
class Kernel:
    name: str
    instruction: str
    frame: Frame
    tag: dict = field(default_factory=dict)


def tool(name: str) -> str | None:
    """Path of an LLVM tool, newest known version first."""
    for version in ("22", "21", "20", ""):
        path = shutil.which(f"{name}-{version}" if version else name)
        if path:
            return path
    return None


def machine_codes(lines: list[str]) -> list[int | None]:
    """Machine code of each instruction as a little-endian number; None where the assembler rejects
    it for this target."""
    mc = tool("llvm-mc")
    if mc is None:
        raise RuntimeError("llvm-mc (Debian package llvm-22) is needed to assemble the tests")
    result = subprocess.run(
        [mc, "-triple=amdgcn-amd-amdhsa", f"-mcpu={MCPU}", "-show-encoding", "-"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        check=False,
    )
    bad = {int(m) for m in re.findall(r"^<stdin>:(\d+):\d+: error", result.stderr, re.M)}
    codes = re.findall(r"; encoding: \[([^\]]*)\]", result.stdout)
    good = iter(codes)
    assert len(codes) == len(lines) - len(bad), "one encoding for every accepted line"
    out: list[int | None] = []
    for number in range(1, len(lines) + 1):
        if number in bad:
            out.append(None)
        else:
            out.append(int.from_bytes(bytes(int(x, 16) for x in next(good).split(",")), "little"))
    return out


def accepted(lines: list[str]) -> list[bool]:
    """Which instructions the assembler takes for this target."""
    return [code is not None for code in machine_codes(lines)]


def transfer(
    opcode: str, address: str, base: str, registers: tuple[tuple[int, int], ...]
) -> list[str]:
    lines, at = [], 0
    for first, count in registers:
        done = 0
        while done < count:
            # v[n:n+1] and wider need an even first register.
            aligned = (first + done) % 2 == 0
            step = 4 if count - done >= 4 and aligned else 2 if count - done >= 2 and aligned else 1
            reg = (
                f"v{first + done}" if step == 1 else f"v[{first + done}:{first + done + step - 1}]"
            )
            suffix = {1: "dword", 2: "dwordx2", 4: "dwordx4"}[step]
            operands = f"{reg}, {address}" if "load" in opcode else f"{address}, {reg}"
            lines.append(f"global_{opcode}_{suffix} {operands}, {base} offset:{(at + done) * 4}")
            done += step
        at += count
    return lines


def kernel_text(kernel: Kernel) -> str:
    frame = kernel.frame
    advance = []
    for pair, amount in (
        (8, frame.in_dwords * 4 * LANES),
        (10, frame.out_dwords * 4 * LANES),
        (12, SCALAR_DWORDS * 4),
        (14, SCALAR_DWORDS * 4),
    ):
        advance += [
            f"s_mul_i32 s3, s2, {amount}",
            f"s_add_u32 s{pair}, s{pair}, s3",
            f"s_addc_u32 s{pair + 1}, s{pair + 1}, 0",
        ]
    scalars = [("s18", 0), ("s19", 1), ("vcc_lo", 2), ("vcc_hi", 3), ("s16", 4), ("m0", 5)]
    scalars += [(f"s{40 + i}", 8 + i) for i in range(8)]
    stores = []
    for i, (reg, at) in enumerate(scalars):
        stores += [
            f"v_mov_b32 v{3 + i}, {reg}",
            f"global_store_dword v2, v{3 + i}, s[14:15] offset:{at * 4}",
        ]
    body = [
        "s_load_dwordx8 s[8:15], s[0:1], 0x0",
        "s_waitcnt lgkmcnt(0)",
        *advance,
        "s_load_dwordx8 s[24:31], s[12:13], 0x0",
        "s_load_dwordx8 s[40:47], s[12:13], 0x20",
        "v_and_b32 v0, 0x3ff, v0",
        f"v_mul_u32_u24 v1, {frame.out_dwords * 4}, v0",
        f"v_mul_u32_u24 v0, {frame.in_dwords * 4}, v0",
        *transfer("load", "v0", "s[8:9]", frame.loads),
        "s_waitcnt vmcnt(0) lgkmcnt(0)",
        "s_mov_b64 vcc, s[26:27]",
        "s_mov_b32 m0, s29",
        *frame.setup.splitlines(),
        "s_cmp_lg_u32 s28, 0",
        "s_mov_b64 exec, s[24:25]",
        "s_nop 4",
        *kernel.instruction.splitlines(),
        *frame.after.splitlines(),
        "s_cselect_b32 s16, 1, 0",
        "s_mov_b64 s[18:19], exec",
        "s_mov_b64 exec, -1",
        *frame.finish.splitlines(),
        *transfer("store", "v1", "s[10:11]", frame.stores),
        "s_mov_b64 exec, 1",
        "v_mov_b32 v2, 0",
        *stores,
        "s_endpgm",
    ]
    code = "\n  ".join(line.strip() for line in body)
    descriptor = {
        "group_segment_fixed_size": frame.lds_bytes,
        "private_segment_fixed_size": frame.scratch_bytes,
        "enable_private_segment": int(frame.scratch_bytes > 0),
        "kernarg_size": 32,
        "user_sgpr_kernarg_segment_ptr": 1,
        "system_sgpr_workgroup_id_x": 1,
        "next_free_vgpr": 512 if frame.agprs else LAST_VGPR,
        "accum_offset": 256 if frame.agprs else LAST_VGPR,
        "next_free_sgpr": 96,
        "float_denorm_mode_32": frame.denorm_32,
        "float_denorm_mode_16_64": frame.denorm_16_64,
        "float_round_mode_32": frame.round_mode,
        "float_round_mode_16_64": frame.round_mode,
        "ieee_mode": frame.ieee,
        "dx10_clamp": 1,
    }
    fields = "\n".join(f"  .amdhsa_{key} {value}" for key, value in descriptor.items())
    return (
        f".text\n.globl {kernel.name}\n.p2align 8\n.type {kernel.name},@function\n"
        f'{kernel.name}:\n  {code}\n.section .rodata,"a"\n.p2align 6\n'
        f".amdhsa_kernel {kernel.name}\n{fields}\n.end_amdhsa_kernel\n"
    )


def metadata_text(kernels: list[Kernel]) -> str:
    lines = [
        ".amdgpu_metadata",
        "amdhsa.version: [1, 2]",
        f"amdhsa.target: amdgcn-amd-amdhsa--{MCPU}",
        "amdhsa.kernels:",
    ]
    for kernel in kernels:
        frame = kernel.frame
        lines += [
            f"  - .name: {kernel.name}",
            f"    .symbol: {kernel.name}.kd",
            "    .kernarg_segment_size: 32",
            "    .kernarg_segment_align: 8",
            f"    .group_segment_fixed_size: {frame.lds_bytes}",
            f"    .private_segment_fixed_size: {frame.scratch_bytes}",
            "    .wavefront_size: 64",
            "    .sgpr_count: 96",
            f"    .vgpr_count: {512 if frame.agprs else LAST_VGPR}",
            f"    .agpr_count: {256 if frame.agprs else 0}",
            "    .max_flat_workgroup_size: 64",
            "    .args:",
        ]
        for i in range(4):
            lines.append(
                f"      - {{ .size: 8, .offset: {8 * i}, .value_kind: global_buffer, "
                ".address_space: global }"
            )
    return "\n".join([*lines, ".end_amdgpu_metadata", ""])


def assemble(kernels: list[Kernel]) -> bytes:
    """An AMDHSA code object (ELF) with all kernels. Kept in a temporary folder by content."""
    clang = tool("clang")
    if clang is None:
        raise RuntimeError(
            "clang (Debian packages clang-22 and lld-22) is needed for the ISA tests"
        )
    text = (
        f'.amdgcn_target "{TARGET_ID}"\n.amdhsa_code_object_version 5\n'
        + "".join(kernel_text(k) for k in kernels)
        + metadata_text(kernels)
    )
    digest = hashlib.sha256(text.encode()).hexdigest()[:24]
    folder = Path(tempfile.gettempdir()) / f"gfxsim-isa-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    target = folder / f"{digest}.co"
    if not target.exists():
        source = folder / f"{digest}.{os.getpid()}.s"
        partial = folder / f"{digest}.{os.getpid()}.co"
        source.write_text(text)
        subprocess.run(
            [
                clang,
                "-x",
                "assembler",
                "-target",
                "amdgcn-amd-amdhsa",
                f"-mcpu={MCPU}",
                str(source),
                "-o",
                str(partial),
            ],
            check=True,
        )
        source.unlink()
        partial.rename(target)
    return target.read_bytes()


@dataclass
class Results:
    vectors: np.ndarray  # uint32 [waves, lanes, out_dwords]
    scalars: np.ndarray  # uint32 [waves, SCALAR_DWORDS]

    def pair(self, at: int) -> np.ndarray:
        low, high = self.scalars[:, at], self.scalars[:, at + 1]
        return low.astype(np.uint64) | (high.astype(np.uint64) << np.uint64(32))


def mask_bits(mask: np.ndarray) -> np.ndarray:
    """uint64 [waves] to bool [waves, lanes]."""
    return (mask[:, None] >> np.arange(LANES, dtype=np.uint64)) & np.uint64(1) == 1


class Program:
    """Kernels assembled into one code object and loaded into the simulator."""

    def __init__(self, kernels: list[Kernel]):
        from tq_ext import gfxsim

        self.options = gfxsim.options
        self.module = gfxsim.Module(assemble(kernels))

    def run(self, kernel: Kernel, vectors: np.ndarray, scalars: np.ndarray) -> Results:
        """vectors uint32 [waves, lanes, in_dwords], scalars uint32 [waves, SCALAR_DWORDS]."""
        waves = scalars.shape[0]
        if vectors.size == 0:  # the kernel loads nothing; a pointer is passed all the same
            vectors = np.zeros((waves, LANES, 1), np.uint32)
        vectors = np.ascontiguousarray(vectors, dtype=np.uint32)
        scalars = np.ascontiguousarray(scalars, dtype=np.uint32)
        out = np.zeros((waves, LANES, max(kernel.frame.out_dwords, 1)), np.uint32)
        scalar_out = np.zeros((waves, SCALAR_DWORDS), np.uint32)
        with self.options(threads=1):  # a launch of a few waves is over before threads start
            self.module.launch(
                kernel.name, (waves, 1, 1), (LANES, 1, 1), [vectors, out, scalars, scalar_out]
            )
        return Results(out, scalar_out)
