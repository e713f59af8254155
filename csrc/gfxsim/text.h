// Building messages.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

namespace gfxsim {

// All arguments, printed one after the other.
template <typename... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// "0x1f00"
inline std::string hex(uint64_t value) {
  std::ostringstream out;
  out << std::hex << std::showbase << value;
  return out.str();
}

// Names from files may be anything; a message shows what is not ASCII text as '?'.
inline std::string printable(std::string text) {
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return text;
}

}  // namespace gfxsim
