#include "gfxsim/source_location.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "gfxsim/code_object.h"

#ifndef GFXSIM_SYMBOLIZER
#define GFXSIM_SYMBOLIZER "llvm-symbolizer"
#endif

namespace gfxsim {
namespace {

// A file that is removed when the object dies.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::span<const uint8_t> bytes) {
    path_ = (std::filesystem::temp_directory_path() / "gfxsim-XXXXXX").string();
    const int fd = mkstemp(path_.data());
    if (fd < 0) return;
    written_ = write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    close(fd);
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  bool written() const { return written_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool written_ = false;
};

std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return {};
  std::string out;
  std::array<char, 4096> chunk;
  while (const size_t n = fread(chunk.data(), 1, chunk.size(), pipe)) out.append(chunk.data(), n);
  pclose(pipe);
  return out;
}

}  // namespace

std::string source_location(const CodeObject& object, uint64_t address) {
  const TemporaryFile file(object.elf());
  if (!file.written()) return {};
  char command[1024];
  std::snprintf(command, sizeof command,
                "%s --obj=%s --functions=none --output-style=GNU 0x%llx 2>/dev/null",
                GFXSIM_SYMBOLIZER, file.path().c_str(), static_cast<unsigned long long>(address));
  std::string chain;
  const std::string text = output_of(command);
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    if (line.empty() || line.starts_with("??")) continue;
    if (const size_t note = line.find(" (discriminator"); note != std::string::npos)
      line.resize(note);
    if (line.ends_with(":0") || line.ends_with(":?")) continue;
    chain += (chain.empty() ? "" : ", inlined at ") + line;
  }
  return chain;
}

}  // namespace gfxsim
