"""Each building block compiles to the instructions it promises, and to no loop around them."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from build_support.toolchain import Toolchain, find_toolchain
from tests.gfxsim.support import code_object

TARGET = "gfx950"

PREFIX = """
#include "gcn/bf16.h"
#include "gcn/bitop3.h"
#include "gcn/fence.h"
#include "gcn/fp4.h"
#include "gcn/fp8.h"
#include "gcn/lds_copy.h"
#include "gcn/lds_transpose.h"
#include "gcn/mfma.h"
#include "gcn/perm.h"
#include "gcn/wave_reduce.h"
using namespace gcn;
constexpr auto E4M3 = MatrixFormat::E4M3, E2M1 = MatrixFormat::E2M1;
"""

# A kernel: out[thread] = `expression` of in(i), the i-th value of type `In` of the thread.
KERNEL = """
extern "C" __global__ void {name}(const {type}* values, {result}* out, uint32_t records) {{
  [[maybe_unused]] const auto in = [=](int i) {{ return values[64 * i + threadIdx.x]; }};
  [[maybe_unused]] const Buffer buffer(BufferDescriptor::of(values, records));
  [[maybe_unused]] __shared__ uint32_t lds[1024];
  out[threadIdx.x] = {expression};
}}
"""

# Name, type of the inputs, type of the result, expression, and how often which instructions occur.
CASES: list[tuple[str, str, str, str, dict[str, int]]] = [
    ("mfma_bf16_32", "bf16x8", "f32x4", "mfma_16x16x32(in(0), in(1), f32x4{})",
     {"v_mfma_f32_16x16x32_bf16": 1}),
    ("mfma_f16_32", "f16x8", "f32x4", "mfma_16x16x32(in(0), in(1), f32x4{})",
     {"v_mfma_f32_16x16x32_f16": 1}),
    ("mfma_bf16_16", "bf16x4", "f32x4", "mfma_16x16x16(in(0), in(1), f32x4{})",
     {"v_mfma_f32_16x16x16_bf16": 1}),
    ("mfma_f16_16", "f16x4", "f32x4", "mfma_16x16x16(in(0), in(1), f32x4{})",
     {"v_mfma_f32_16x16x16_f16": 1}),
    ("mfma_scale", "i32x8", "f32x4",
     "mfma_scale_16x16x128<E4M3, E4M3, 1, 2>(in(0), in(1), f32x4{}, in(2)[0], in(2)[1])",
     {"v_mfma_scale_f32_16x16x128_f8f6f4": 1}),
    ("mfma_scale_fp4", "i32x4", "f32x16",
     "mfma_scale_32x32x64<E2M1, E2M1>(in(0), in(1), f32x16{}, in(2)[0], in(2)[1])",
     {"v_mfma_scale_f32_32x32x64_f8f6f4": 1}),
    ("mfma_unscaled", "i32x8", "f32x4", "mfma_16x16x128<E4M3, E4M3>(in(0), in(1), f32x4{})",
     {"v_mfma_f32_16x16x128_f8f6f4": 1}),
    ("buffer_1", "uint32_t", "uint8_t", "buffer.load<uint8_t>(threadIdx.x)",
     {"buffer_load_ubyte": 1}),
    ("buffer_2", "uint32_t", "uint16_t", "buffer.load<uint16_t>(threadIdx.x)",
     {"buffer_load_ushort": 1}),
    ("buffer_4", "uint32_t", "uint32_t", "buffer.load<uint32_t>(threadIdx.x)",
     {"buffer_load_dword": 1}),
    ("buffer_8", "uint32_t", "u32x2", "buffer.load<u32x2>(threadIdx.x)",
     {"buffer_load_dwordx2": 1}),
    ("buffer_16", "uint32_t", "u32x4", "buffer.load<u32x4>(threadIdx.x)",
     {"buffer_load_dwordx4": 1}),
    # Which memory a lane reads through its own pointer is still one descriptor, without a loop.
    ("buffer_divergent", "uint32_t*", "uint32_t",
     "Buffer(BufferDescriptor::of(in(0), 64)).load<uint32_t>(0)",
     {"buffer_load_dword": 1, "v_readfirstlane_b32": 2}),
    ("copy_4", "uint32_t", "uint32_t", "(copy_to_lds<4>(buffer, lds, threadIdx.x), 0)",
     {"buffer_load_dword": 1}),
    ("copy_12", "uint32_t", "uint32_t", "(copy_to_lds<12>(buffer, lds, threadIdx.x), 0)",
     {"buffer_load_dwordx3": 1}),
    ("copy_16", "uint32_t", "uint32_t", "(copy_to_lds<16>(buffer, lds, threadIdx.x), 0)",
     {"buffer_load_dwordx4": 1}),
    ("copy_address", "uint32_t", "uint32_t", "(copy_to_lds<16>(values + threadIdx.x, lds), 0)",
     {"global_load_lds_dwordx4": 1}),
    ("transpose_16", "uint32_t", "bf16x4",
     "lds_read_transposed_b16(reinterpret_cast<const __bf16*>(lds) + 4 * threadIdx.x)",
     {"ds_read_b64_tr_b16": 1}),
    ("transpose_8", "uint32_t", "u32x2", "lds_read_transposed_b8(lds + 2 * threadIdx.x)",
     {"ds_read_b64_tr_b8": 1}),
    ("transpose_6", "uint32_t", "u32x3", "lds_read_transposed_b6(lds + 4 * threadIdx.x)",
     {"ds_read_b96_tr_b6": 1}),
    ("transpose_4", "uint32_t", "u32x2", "lds_read_transposed_b4(lds + 2 * threadIdx.x)",
     {"ds_read_b64_tr_b4": 1}),
    ("sum", "float", "float", "wave_sum(in(0))",
     {"v_add_f32_dpp": 4, "v_permlane16_swap_b32": 1, "v_permlane32_swap_b32": 1, "v_add_f32": 2}),
    ("sum_16", "float", "float", "group_reduce<16>(in(0), Sum{})", {"v_add_f32_dpp": 4}),
    ("permute", "uint32_t", "uint32_t", "byte_permute(in(0), in(1), in(2))", {"v_perm_b32": 1}),
    ("boolean", "uint32_t", "uint32_t", "bitop3<(kBitA & kBitB) | ~kBitC>(in(0), in(1), in(2))",
     {"v_bitop3_b32": 1}),
    ("to_bf16", "float", "bf16x2", "pack_bf16(in(0), in(1))", {"v_cvt_pk_bf16_f32": 1}),
    ("to_fp8", "float", "uint32_t", "pack_e4m3<false>(in(0), in(1), 0)",
     {"v_med3_f32": 2, "v_cvt_pk_fp8_f32": 1}),
    ("from_fp8", "uint32_t", "bf16x2", "unpack_e4m3_bf16<true>(in(0), 1.0f)",
     {"v_cvt_scalef32_pk_bf16_fp8": 1}),
    ("from_fp4", "uint32_t", "bf16x2", "unpack_e2m1_bf16<3>(in(0), 1.0f)",
     {"v_cvt_scalef32_pk_bf16_fp4": 1}),
    ("to_fp4", "float", "uint32_t", "pack_e2m1<1>(in(0), in(1), 4.0f, 0)",
     {"v_cvt_scalef32_pk_fp4_f32": 1}),
    ("barrier", "uint32_t", "uint32_t", "(lds_barrier(), 0)", {"s_barrier": 1}),
]  # fmt: skip


@cache
def instructions() -> dict[str, Counter[str]]:
    """How often each instruction occurs in each kernel, without encoding suffixes."""
    tools = find_toolchain()
    if not isinstance(tools, Toolchain):
        pytest.skip("no clang that compiles HIP: " + "; ".join(map(str, tools)))
    source = PREFIX + "".join(
        KERNEL.format(name=name, type=kind, result=result, expression=expression)
        for name, kind, result, expression, _ in CASES
    )
    objdump = Path(tools.symbolizer).with_name("llvm-objdump")
    listing = subprocess.run(
        [objdump, "-d", "--no-show-raw-insn", "-"],
        input=code_object(source, "-O3"),
        capture_output=True,
        check=True,
    ).stdout.decode()
    counts: dict[str, Counter[str]] = {}
    for line in listing.splitlines():
        if label := re.match(r"[0-9a-f]+ <(\w+)>:", line):
            counts[label[1]] = Counter()
        elif counts and (words := line.split()):
            counts[list(counts)[-1]][re.sub(r"_e(32|64)$", "", words[0])] += 1
    return counts


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_instructions(case: tuple[str, str, str, str, dict[str, int]]) -> None:
    name, *_, expected = case
    found = instructions()[name]
    assert {mnemonic: found[mnemonic] for mnemonic in expected} == expected, found
    assert not [mnemonic for mnemonic in found if "branch" in mnemonic], found
