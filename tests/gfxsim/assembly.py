"""Kernels in assembly, for what a compiler would never emit."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.gfxsim.support import clang
from tq_ext import gfxsim

NAME = "kernel"
POINTER_BYTES = 8

FRAME = """\
  .text
  .globl {name}
  .p2align 8
  .type {name},@function
{name}:
{body}
  s_endpgm
  .size {name}, .-{name}

  .rodata
  .p2align 6
  .amdhsa_kernel {name}
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_system_sgpr_workgroup_id_x 1
    .amdhsa_system_sgpr_workgroup_id_y 1
    .amdhsa_system_sgpr_workgroup_id_z 1
    .amdhsa_kernarg_size {kernarg}
    .amdhsa_group_segment_fixed_size {lds}
    .amdhsa_next_free_vgpr {vgprs}
    .amdhsa_next_free_sgpr {sgprs}
    .amdhsa_accum_offset {vgprs}
  .end_amdhsa_kernel

  .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: {kernarg}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: {sgprs}
    .vgpr_count: {vgprs}
    .max_flat_workgroup_size: 1024
    .args: [{arguments}]
...
  .end_amdgpu_metadata
"""


@dataclass(frozen=True)
class Resources:
    """What a kernel is given: s[0:1] points to the pointers, s2..s4 are the workgroup's x, y and z,
    v0 is the work item's x."""

    pointers: int = 1
    lds: int = 0
    vgprs: int = 32
    sgprs: int = 48


def source_text(body: str, resources: Resources) -> str:
    argument = "{{ .size: 8, .offset: {}, .value_kind: global_buffer, .address_space: global }}"
    return FRAME.format(
        name=NAME,
        body=body,
        lds=resources.lds,
        vgprs=resources.vgprs,
        sgprs=resources.sgprs,
        kernarg=POINTER_BYTES * resources.pointers,
        arguments=", ".join(argument.format(POINTER_BYTES * i) for i in range(resources.pointers)),
    )


def assemble(body: str, resources: Resources, folder: Path) -> gfxsim.Module:
    """A module whose kernel NAME does `body`; its source is kernel.s in `folder`."""
    source, output = folder / "kernel.s", folder / "kernel.co"
    source.write_text(source_text(body, resources))
    target = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx950"]
    command = [clang(), "-x", "assembler", *target, "-g", str(source), "-o", str(output)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return gfxsim.Module(output)
