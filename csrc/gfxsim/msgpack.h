// Reader for MessagePack, the encoding of a code object's metadata note.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gfxsim {

struct MsgPack {
  enum Type : uint8_t { Nil, Bool, Int, Float, String, Binary, Array, Map };
  Type type = Nil;
  int64_t integer = 0;            // Bool and Int; unsigned values above INT64_MAX wrap
  double real = 0;                // Float
  std::string text;               // String and Binary
  std::vector<MsgPack> items;     // Array and Map
  std::vector<std::string> keys;  // Map: keys[i] belongs to items[i]

  // Throws std::runtime_error when the bytes are not one well-formed value.
  static MsgPack parse(std::span<const uint8_t> bytes);

  // The value of a map's key, or a Nil value when there is none.
  const MsgPack& operator[](std::string_view key) const;
  // The value, or `otherwise` when this is of another type.
  int64_t as_int(int64_t otherwise = 0) const;
  std::string as_string(std::string otherwise = {}) const;
};

}  // namespace gfxsim
