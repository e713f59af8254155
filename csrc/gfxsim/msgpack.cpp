#include "gfxsim/msgpack.h"

#include <bit>
#include <stdexcept>
#include <utility>

namespace gfxsim {
namespace {

constexpr int kMaxDepth = 64;

bool is_utf8(std::string_view text) {
  int continuations = 0;  // bytes 10xxxxxx still to come
  for (unsigned char c : text) {
    const int ones = std::countl_one(c);
    if (continuations > 0) {
      if (ones != 1) return false;
      --continuations;
    } else {
      if (ones == 1 || ones > 4) return false;
      continuations = ones == 0 ? 0 : ones - 1;
    }
  }
  return continuations == 0;
}

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  MsgPack value(int depth = 0) {
    if (depth > kMaxDepth) throw std::runtime_error("metadata is nested too deeply");
    const uint8_t tag = static_cast<uint8_t>(big_endian(1));
    if (tag <= 0x7f) return integer(tag);
    if (tag <= 0x8f) return map(tag & 0xf, depth);
    if (tag <= 0x9f) return array(tag & 0xf, depth);
    if (tag <= 0xbf) return text(MsgPack::String, tag & 0x1f);
    if (tag >= 0xe0) return integer(static_cast<int8_t>(tag));
    switch (tag) {
      case 0xc0:
        return {};
      case 0xc2:
      case 0xc3: {
        MsgPack v = integer(tag & 1);
        v.type = MsgPack::Bool;
        return v;
      }
      case 0xc4:
      case 0xc5:
      case 0xc6:
        return text(MsgPack::Binary, big_endian(1 << (tag - 0xc4)));
      case 0xca:
        return real(std::bit_cast<float>(static_cast<uint32_t>(big_endian(4))));
      case 0xcb:
        return real(std::bit_cast<double>(big_endian(8)));
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf:
        return integer(static_cast<int64_t>(big_endian(1 << (tag - 0xcc))));
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3:
        return integer(sign_extended(1 << (tag - 0xd0)));
      case 0xd9:
      case 0xda:
      case 0xdb:
        return text(MsgPack::String, big_endian(1 << (tag - 0xd9)));
      case 0xdc:
      case 0xdd:
        return array(big_endian(2 << (tag - 0xdc)), depth);
      case 0xde:
      case 0xdf:
        return map(big_endian(2 << (tag - 0xde)), depth);
      default:
        throw std::runtime_error("metadata holds a MessagePack type that metadata never uses");
    }
  }

  bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const uint8_t> take(uint64_t count) {
    if (count > bytes_.size()) throw std::runtime_error("metadata ends in the middle of a value");
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  uint64_t big_endian(int count) {
    uint64_t value = 0;
    for (uint8_t byte : take(count)) value = value << 8 | byte;
    return value;
  }
  int64_t sign_extended(int count) {
    const int shift = 64 - 8 * count;
    return static_cast<int64_t>(big_endian(count) << shift) >> shift;
  }
  static MsgPack integer(int64_t value) {
    MsgPack v;
    v.type = MsgPack::Int;
    v.integer = value;
    return v;
  }
  static MsgPack real(double value) {
    MsgPack v;
    v.type = MsgPack::Float;
    v.real = value;
    return v;
  }
  MsgPack text(MsgPack::Type type, uint64_t count) {
    MsgPack v;
    v.type = type;
    const auto bytes = take(count);
    v.text.assign(bytes.begin(), bytes.end());
    if (type == MsgPack::String && !is_utf8(v.text))
      throw std::runtime_error("metadata has a string that is not UTF-8");
    return v;
  }
  MsgPack array(uint64_t count, int depth) {
    MsgPack v;
    v.type = MsgPack::Array;
    for (uint64_t i = 0; i < count; ++i) v.items.push_back(value(depth + 1));
    return v;
  }
  MsgPack map(uint64_t count, int depth) {
    MsgPack v;
    v.type = MsgPack::Map;
    for (uint64_t i = 0; i < count; ++i) {
      MsgPack key = value(depth + 1);
      if (key.type != MsgPack::String) throw std::runtime_error("metadata has a non-string key");
      v.keys.push_back(std::move(key.text));
      v.items.push_back(value(depth + 1));
    }
    return v;
  }

  std::span<const uint8_t> bytes_;
};

}  // namespace

MsgPack MsgPack::parse(std::span<const uint8_t> bytes) {
  Reader reader(bytes);
  MsgPack value = reader.value();
  if (!reader.at_end()) throw std::runtime_error("metadata has bytes after its value");
  return value;
}

const MsgPack& MsgPack::operator[](std::string_view key) const {
  static const MsgPack nil;
  for (size_t i = 0; i < keys.size(); ++i)
    if (keys[i] == key) return items[i];
  return nil;
}

int64_t MsgPack::as_int(int64_t otherwise) const {
  return type == Int || type == Bool ? integer : otherwise;
}

std::string MsgPack::as_string(std::string otherwise) const {
  return type == String ? text : otherwise;
}

}  // namespace gfxsim
