"""Loading code objects: headers, descriptors, metadata, relocations, fat binaries, bad files."""

from __future__ import annotations

import struct

import pytest

from tests.gfxsim.support import HIP, code_object, compiled
from tq_ext import gfxsim

# A kernel whose descriptor fields are all chosen here.
ASSEMBLY = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.amdhsa_code_object_version {version}
.text
.globl k
.p2align 8
.type k,@function
k:
  s_endpgm
.size k, . - k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_private_segment_fixed_size 48
  .amdhsa_kernarg_size 24
  .amdhsa_user_sgpr_count 8
  .amdhsa_user_sgpr_dispatch_ptr 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_kernarg_preload_length 4
  .amdhsa_user_sgpr_kernarg_preload_offset 2
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 0
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_next_free_vgpr 41
  .amdhsa_accum_offset 32
  .amdhsa_next_free_sgpr 30
  .amdhsa_reserve_vcc 0
  .amdhsa_float_round_mode_32 1
  .amdhsa_float_round_mode_16_64 2
  .amdhsa_float_denorm_mode_32 0
  .amdhsa_float_denorm_mode_16_64 3
  .amdhsa_dx10_clamp 0
  .amdhsa_ieee_mode 1
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, {metadata_minor}]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .group_segment_fixed_size: 1024
    .private_segment_fixed_size: 48
    .kernarg_segment_size: 24
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .max_flat_workgroup_size: 512
    .vgpr_count: 41
    .agpr_count: 9
    .sgpr_count: 30
    .sgpr_spill_count: 3
    .vgpr_spill_count: 5
    .args:
      - {{ .name: where, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }}
      - {{ .name: count, .offset: 8, .size: 4, .value_kind: by_value }}
      - {{ .offset: 16, .size: 4, .value_kind: hidden_block_count_x }}
...
.end_amdgpu_metadata
"""

# Flags of C++ mean nothing to the assembler.
UNUSED_IS_FINE = ("-Wno-unused-command-line-argument",)
ASSEMBLER = ("-x", "assembler", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx950")
# Byte offsets in an ELF header.
EI_OSABI, EI_ABIVERSION, E_TYPE, E_MACHINE, E_FLAGS = 7, 8, 16, 18, 48


def assembled(version: int) -> bytes:
    metadata_minor = {4: 1, 5: 2, 6: 2}[version]
    text = ASSEMBLY.format(version=version, metadata_minor=metadata_minor)
    return compiled(text, (*ASSEMBLER, *UNUSED_IS_FINE)).read_bytes()


@pytest.mark.parametrize("version", [5, 6])
def test_versions(version: int):
    module = gfxsim.Module(assembled(version))
    assert (module.target, module.version) == ("gfx950", version)
    assert list(module.kernels) == ["k"]


def test_version_4_is_refused():
    with pytest.raises(RuntimeError, match="version 4; versions 5 and 6 are supported"):
        gfxsim.Module(assembled(4))


def test_descriptor():
    kernel = gfxsim.Module(assembled(5)).kernels["k"]
    assert kernel.lds == 1024
    assert kernel.scratch == 48
    assert kernel.kernarg_size == 24
    # Two user SGPRs for each of the two pointers, four preloaded.
    assert kernel.num_user_sgprs == 8
    assert kernel.kernarg_preload_dwords == 4
    assert kernel.workgroup_ids == (True, False, True)
    assert kernel.workitem_id_dims == 3
    assert kernel.allocated_vgprs == 48  # 41, in granules of 8
    assert kernel.accum_offset == 32
    assert kernel.allocated_sgprs % 16 == 0 and 30 <= kernel.allocated_sgprs < 64
    # MODE: bits 1..0 and 3..2 round, 5..4 and 7..6 denormals.
    assert kernel.float_mode == 1 | 2 << 2 | 0 << 4 | 3 << 6
    assert (kernel.dx10_clamp, kernel.ieee_mode) == (False, True)


def test_metadata():
    kernel = gfxsim.Module(assembled(6)).kernels["k"]
    assert (kernel.vgprs, kernel.agprs, kernel.sgprs) == (32, 9, 30)  # 41 counts both kinds
    assert (kernel.sgpr_spills, kernel.vgpr_spills) == (3, 5)
    assert (kernel.max_workgroup, kernel.wave_size) == (512, 64)
    args = [(a.name, a.offset, a.size, a.value_kind, a.hidden) for a in kernel.args]
    assert args == [
        ("where", 0, 8, "global_buffer", False),
        ("count", 8, 4, "by_value", False),
        ("", 16, 4, "hidden_block_count_x", True),
    ]


DATA = """
__device__ int value = 7;
__device__ int* pointer = &value;
__device__ int* both[2] = {nullptr, &value};
__constant__ short table[3] = {1, -2, 3};
__device__ float zeros[100];
__global__ void k(int** out, float* f) { *out = both[pointer - &value]; *f = zeros[table[0]]; }
"""


def test_variables_and_relocations():
    module = gfxsim.Module(code_object(DATA))
    value, size = module.symbol("value")
    assert (size, gfxsim.read(value, size)) == (4, struct.pack("<i", 7))
    assert gfxsim.read(*module.symbol("pointer")) == struct.pack("<Q", value)
    assert gfxsim.read(*module.symbol("both")) == struct.pack("<QQ", 0, value)
    assert gfxsim.read(*module.symbol("table")) == struct.pack("<hhh", 1, -2, 3)
    assert gfxsim.read(*module.symbol("zeros")) == bytes(400)
    assert gfxsim.is_defined(*module.symbol("zeros"))
    with pytest.raises(KeyError, match="no variable 'nothing'"):
        module.symbol("nothing")


def test_two_loads_do_not_share_variables():
    image = code_object(DATA)
    first, second = gfxsim.Module(image), gfxsim.Module(image)
    gfxsim.write(first.symbol("value")[0], struct.pack("<i", 8))
    assert gfxsim.read(*second.symbol("value")) == struct.pack("<i", 7)


def test_unloading_ends_the_memory():
    module = gfxsim.Module(code_object(DATA))
    value, size = module.symbol("value")
    del module
    with pytest.raises(ValueError, match="outside every live allocation"):
        gfxsim.read(value, size)


def test_a_path_is_loaded(tmp_path):
    (tmp_path / "k.co").write_bytes(code_object(DATA))
    assert gfxsim.Module(tmp_path / "k.co").target == "gfx950"
    assert gfxsim.Module(str(tmp_path / "k.co")).target == "gfx950"


def test_undefined_symbol_is_named():
    text = ASSEMBLY.format(version=5, metadata_minor=2) + ".data\n.quad missing\n"
    linker = ("-Xlinker", "--unresolved-symbols=ignore-all")
    image = compiled(text, (*ASSEMBLER, *linker, *UNUSED_IS_FINE)).read_bytes()
    with pytest.raises(RuntimeError, match="symbol 'missing' is undefined"):
        gfxsim.Module(image)


# --- fat binaries ---

KERNEL = "__global__ void k(int* p) { *p = 1; }"


def fat_binary(*flags: str) -> bytes:
    bundled = ("--offload-device-only", "--gpu-bundle-output", "--offload-arch=gfx942", *flags)
    text = "#include <hip/hip_runtime.h>\n" + KERNEL
    return compiled(text, (*HIP, *bundled)).read_bytes()


def test_fat_binary_entry_is_picked_by_target():
    image = fat_binary("--no-offload-compress")
    assert gfxsim.Module(image).target == "gfx950"
    assert gfxsim.Module(image, target="gfx942").target == "gfx942"


def test_fat_binary_without_the_target():
    with pytest.raises(RuntimeError, match="no code object for gfx1100; the bundle holds .*gfx942"):
        gfxsim.Module(fat_binary("--no-offload-compress"), target="gfx1100")


def test_entry_for_other_features_is_not_taken():
    text = "#include <hip/hip_runtime.h>\n" + KERNEL
    flags = ("--offload-device-only", "--gpu-bundle-output", "--no-offload-compress")
    hip = [flag for flag in HIP if flag != "--offload-arch=gfx950"]
    image = compiled(text, (*hip, *flags, "--offload-arch=gfx950:xnack+")).read_bytes()
    with pytest.raises(RuntimeError, match="no code object for gfx950"):
        gfxsim.Module(image)


def test_compressed_fat_binary_says_which_flag_to_use():
    with pytest.raises(RuntimeError, match="--no-offload-compress"):
        gfxsim.Module(fat_binary("--offload-compress"))


# --- bad files ---


def patched(image: bytes, offset: int, value: bytes) -> bytes:
    return image[:offset] + value + image[offset + len(value) :]


@pytest.mark.parametrize(
    ("offset", "value", "message"),
    [
        (EI_OSABI, b"\0", "HSA"),
        (EI_ABIVERSION, b"\7", "version 9"),
        (E_TYPE, struct.pack("<H", 1), "relocatable"),
        (E_MACHINE, struct.pack("<H", 62), "not a 64-bit AMDGPU"),
        (E_FLAGS, b"\x4c", "says gfx942 and the metadata gfx950"),
    ],
)
def test_header_that_is_not_ours(offset: int, value: bytes, message: str):
    with pytest.raises(RuntimeError, match=message):
        gfxsim.Module(patched(assembled(5), offset, value))


@pytest.mark.parametrize(
    "image", [b"", b"abc", b"\x7fELF", bytes(5000), b"__CLANG_OFFLOAD_BUNDLE__"]
)
def test_garbage(image: bytes):
    with pytest.raises(RuntimeError):
        gfxsim.Module(image)


def test_every_truncation_is_noticed():
    image = assembled(5)
    for size in range(0, len(image), 16):
        with pytest.raises(RuntimeError):
            gfxsim.Module(image[:size])


def test_damaged_bytes_never_crash():
    """Whatever a byte is, loading succeeds or raises RuntimeError."""
    image = bytearray(assembled(5))
    for offset in range(0, len(image), 7):
        before = image[offset]
        image[offset] = 0xFF
        try:
            gfxsim.Module(bytes(image))
        except RuntimeError:
            pass
        image[offset] = before
