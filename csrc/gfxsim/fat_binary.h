// Picks the code object for a GPU out of what clang embeds in host objects.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gfxsim {

struct BundleEntry {
  std::string id;  // "hipv4-amdgcn-amd-amdhsa--gfx950"
  std::span<const uint8_t> bytes;
};

// How many bytes a code image spans, given only its start: an ELF file, a clang offload bundle
// ("__CLANG_OFFLOAD_BUNDLE__") or a compressed one. Throws std::runtime_error for anything else.
uint64_t code_image_bytes(const void* image);

// Entries of an offload bundle, host entries included. The spans point into `bundle`. Throws
// std::runtime_error for compressed bundles and for anything that is not a bundle.
std::vector<BundleEntry> bundle_entries(std::span<const uint8_t> bundle);

// The ELF code object for `target` ("gfx950") in an ELF file or an offload bundle. Throws
// std::runtime_error that lists the targets present when `target` is not among them.
std::span<const uint8_t> select_code_object(std::span<const uint8_t> image,
                                            std::string_view target);

}  // namespace gfxsim
