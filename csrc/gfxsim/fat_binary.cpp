#include "gfxsim/fat_binary.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "gfxsim/text.h"

namespace gfxsim {
namespace {

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr uint64_t kMaxEntries = 4096;
// What the simulated devices are: entries built for the opposite do not run.
constexpr std::string_view kForeignFeatures[] = {":xnack+", ":sramecc-"};

bool starts_with(const void* bytes, std::string_view magic) {
  return std::memcmp(bytes, magic.data(), magic.size()) == 0;
}

// Reads little-endian numbers and strings one after the other.
class Cursor {
 public:
  explicit Cursor(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  std::span<const uint8_t> take(uint64_t count) {
    if (count > bytes_.size()) throw std::runtime_error("offload bundle: the header is truncated");
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  uint64_t number() {
    uint64_t value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

 private:
  std::span<const uint8_t> bytes_;
};

struct Entry {
  std::string id;
  uint64_t offset, size;
};

std::vector<Entry> read_header(std::span<const uint8_t> bundle) {
  Cursor cursor(bundle);
  cursor.take(kBundleMagic.size());
  const uint64_t count = cursor.number();
  if (count > kMaxEntries) throw std::runtime_error("offload bundle: the header is damaged");
  std::vector<Entry> entries(count);
  for (Entry& e : entries) {
    e.offset = cursor.number();
    e.size = cursor.number();
    const auto id = cursor.take(cursor.number());
    e.id.assign(id.begin(), id.end());
  }
  return entries;
}

uint64_t elf_bytes(const void* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  const auto* const start = static_cast<const uint8_t*>(image);
  uint64_t end = header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, start + header.e_phoff + i * sizeof segment, sizeof segment);
    end = std::max(end, segment.p_offset + segment.p_filesz);
  }
  return end;
}

[[noreturn]] void reject_compressed() {
  throw std::runtime_error(
      "the offload bundle is compressed, which is not supported; compile with "
      "--no-offload-compress");
}

// "gfx950" of "hipv4-amdgcn-amd-amdhsa--gfx950:xnack-"; empty for the host's entry.
std::string_view target_of(std::string_view id) {
  const size_t dashes = id.rfind("--");
  if (dashes == std::string_view::npos) return {};
  return id.substr(dashes + 2, id.find(':') - (dashes + 2));
}

bool runs_on(std::string_view id, std::string_view target) {
  if (target_of(id) != target) return false;
  return std::none_of(std::begin(kForeignFeatures), std::end(kForeignFeatures),
                      [id](std::string_view f) { return id.find(f) != std::string_view::npos; });
}

}  // namespace

uint64_t code_image_bytes(const void* image) {
  if (starts_with(image, ELFMAG)) return elf_bytes(image);
  if (starts_with(image, kCompressedMagic)) reject_compressed();
  if (!starts_with(image, kBundleMagic))
    throw std::runtime_error("neither an ELF code object nor a clang offload bundle");
  // The header says how long everything is; until it is read, the end is unknown.
  const std::span<const uint8_t> unbounded(static_cast<const uint8_t*>(image), SIZE_MAX / 2);
  uint64_t end = 0;
  for (const Entry& e : read_header(unbounded)) end = std::max(end, e.offset + e.size);
  return end;
}

std::vector<BundleEntry> bundle_entries(std::span<const uint8_t> bundle) {
  if (bundle.size() >= kCompressedMagic.size() && starts_with(bundle.data(), kCompressedMagic))
    reject_compressed();
  if (bundle.size() < kBundleMagic.size() || !starts_with(bundle.data(), kBundleMagic))
    throw std::runtime_error("neither an ELF code object nor a clang offload bundle");
  std::vector<BundleEntry> entries;
  for (Entry& e : read_header(bundle)) {
    if (e.offset > bundle.size() || e.size > bundle.size() - e.offset)
      throw std::runtime_error(concat("offload bundle: entry ", printable(e.id), " is truncated"));
    entries.push_back({std::move(e.id), bundle.subspan(e.offset, e.size)});
  }
  return entries;
}

std::span<const uint8_t> select_code_object(std::span<const uint8_t> image,
                                            std::string_view target) {
  if (image.size() >= SELFMAG && starts_with(image.data(), ELFMAG)) return image;
  std::string present;
  for (const BundleEntry& e : bundle_entries(image)) {
    if (runs_on(e.id, target)) return e.bytes;
    if (!target_of(e.id).empty()) present += (present.empty() ? "" : ", ") + printable(e.id);
  }
  throw std::runtime_error(concat("no code object for ", target, "; the bundle holds ",
                                  present.empty() ? "none" : present));
}

}  // namespace gfxsim
