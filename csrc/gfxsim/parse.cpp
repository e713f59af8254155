#include "gfxsim/parse.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace gfxsim {
namespace {

using Words = std::vector<std::string_view>;

// Splits at `separator`, but not inside brackets, parentheses, bars or quotes.
Words split(std::string_view text, char separator) {
  Words out;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == separator && depth == 0 && !quoted)) {
      std::string_view word = text.substr(start, i - start);
      while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
      while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
      if (!word.empty()) out.push_back(word);
      start = i + 1;
      continue;
    }
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '[' || text[i] == '(') ++depth;
    if (text[i] == ']' || text[i] == ')') --depth;
  }
  return out;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  bool negative = false;
  if (text.starts_with('-')) {
    negative = true;
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
}

int64_t require_integer(std::string_view text) {
  const std::optional<int64_t> value = parse_integer(text);
  if (!value) throw DecodeError{"'" + std::string(text) + "' is not a number"};
  return *value;
}

std::optional<double> parse_float(std::string_view text) {
  if (text.find('.') == std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The body of `word` when it has the form prefix + body + suffix.
std::optional<std::string_view> inside(std::string_view word, std::string_view prefix,
                                       std::string_view suffix) {
  if (word.size() < prefix.size() + suffix.size() || !word.starts_with(prefix) ||
      !word.ends_with(suffix))
    return std::nullopt;
  return word.substr(prefix.size(), word.size() - prefix.size() - suffix.size());
}

struct NamedScalar {
  std::string_view name;
  uint8_t reg;
  uint8_t dwords;
};
constexpr NamedScalar kNamedScalars[] = {
    {"vcc", kVcc, 2},
    {"vcc_lo", kVcc, 1},
    {"vcc_hi", kVcc + 1, 1},
    {"exec", kExec, 2},
    {"exec_lo", kExec, 1},
    {"exec_hi", kExec + 1, 1},
    {"m0", kM0, 1},
    {"null", kNull, 1},
    {"flat_scratch", kFlatScratch, 2},
    {"flat_scratch_lo", kFlatScratch, 1},
    {"flat_scratch_hi", kFlatScratch + 1, 1},
    {"xnack_mask", kXnackMask, 2},
    {"xnack_mask_lo", kXnackMask, 1},
    {"xnack_mask_hi", kXnackMask + 1, 1},
};

struct NamedSpecial {
  std::string_view name;
  SpecialSource source;
};
constexpr NamedSpecial kNamedSpecials[] = {
    {"src_shared_base", kSharedBase},
    {"src_shared_limit", kSharedLimit},
    {"src_private_base", kPrivateBase},
    {"src_private_limit", kPrivateLimit},
    {"src_vccz", kSrcVccz},
    {"src_execz", kSrcExecz},
    {"src_scc", kSrcScc},
};

// "v7", "v[4:7]", "s[0:1]", "a3", "ttmp[0:1]": file prefix, first register and count.
bool parse_register(std::string_view word, Operand* operand) {
  struct File {
    std::string_view prefix;
    Operand::Kind kind;
    int base;
  };
  constexpr File kFiles[] = {{"ttmp", Operand::Scalar, kTtmp},
                             {"v", Operand::Vector, 0},
                             {"a", Operand::Vector, kAgprBase},
                             {"s", Operand::Scalar, 0}};
  for (const File& file : kFiles) {
    if (!word.starts_with(file.prefix)) continue;
    const std::string_view rest = word.substr(file.prefix.size());
    int64_t first = 0, last = 0;
    if (const auto range = inside(rest, "[", "]")) {
      const Words bounds = split(*range, ':');
      first = require_integer(bounds.front());
      last = require_integer(bounds.back());
    } else {
      const std::optional<int64_t> number = parse_integer(rest);
      if (!number) continue;
      first = last = *number;
    }
    operand->kind = file.kind;
    operand->reg = static_cast<uint16_t>(file.base + first);
    operand->dwords = static_cast<uint8_t>(last - first + 1);
    return true;
  }
  return false;
}

Operand parse_operand(std::string_view word) {
  Operand operand;
  // A leading minus is the neg modifier unless a number follows.
  if (word.starts_with('-') && !parse_integer(word) && !parse_float(word)) {
    operand.neg = true;
    word.remove_prefix(1);
  } else if (const auto body = inside(word, "neg(", ")")) {
    operand.neg = true;
    word = *body;
  }
  if (const auto bars = inside(word, "|", "|")) {
    operand.abs = true;
    word = *bars;
  } else if (const auto body = inside(word, "abs(", ")")) {
    operand.abs = true;
    word = *body;
  }
  if (const auto body = inside(word, "sext(", ")")) {
    operand.sext = true;
    word = *body;
  }
  if (word == "off") {
    operand.kind = Operand::Off;
    return operand;
  }
  for (const NamedScalar& named : kNamedScalars) {
    if (word != named.name) continue;
    operand.kind = Operand::Scalar;
    operand.reg = named.reg;
    operand.dwords = named.dwords;
    return operand;
  }
  for (const NamedSpecial& named : kNamedSpecials) {
    if (word != named.name) continue;
    operand.kind = Operand::Special;
    operand.special = named.source;
    operand.dwords = 1;
    return operand;
  }
  if (parse_register(word, &operand)) return operand;
  // A hexadecimal literal of a value that has a shorter encoding.
  if (const auto body = inside(word, "lit(", ")")) word = *body;
  operand.dwords = 1;
  if (const std::optional<int64_t> integer = parse_integer(word)) {
    operand.kind = Operand::Constant;
    operand.bits = static_cast<uint64_t>(*integer);
    operand.is_literal = word.find("0x") != std::string_view::npos;
    return operand;
  }
  if (const std::optional<double> number = parse_float(word)) {
    operand.kind = Operand::Constant;
    operand.is_float = true;
    operand.float_value = *number;
    return operand;
  }
  throw DecodeError{"operand '" + std::string(word) + "'"};
}

uint8_t parse_bit_list(std::string_view list) {
  const auto body = inside(list, "[", "]");
  if (!body) throw DecodeError{"'" + std::string(list) + "' is not a list of bits"};
  uint8_t bits = 0;
  int i = 0;
  for (std::string_view word : split(*body, ',')) bits |= uint8_t((word == "1") << i++);
  return bits;
}

constexpr int kRowLanes = 16;

// Fills dpp->source for a control such as "row_shr:1" or "quad_perm:[3,2,1,0]". False when `name`
// is no DPP control.
bool parse_dpp_control(std::string_view name, std::string_view value, Dpp* dpp) {
  const auto fill = [dpp](auto source_of) {
    for (int lane = 0; lane < kMaxLanes; ++lane)
      dpp->source[lane] = static_cast<int8_t>(source_of(lane));
  };
  const auto in_row = [](int lane, int position) {
    return position < 0 || position >= kRowLanes ? -1 : (lane & ~(kRowLanes - 1)) + position;
  };
  const auto n = [value] { return static_cast<int>(require_integer(value)); };
  if (name == "quad_perm") {
    const auto body = inside(value, "[", "]");
    if (!body) throw DecodeError{"quad_perm without a list"};
    const Words lanes = split(*body, ',');
    if (lanes.size() != 4) throw DecodeError{"quad_perm needs four lanes"};
    fill(
        [&](int lane) { return (lane & ~3) + static_cast<int>(require_integer(lanes[lane & 3])); });
  } else if (name == "row_shl") {
    fill([&](int lane) { return in_row(lane, lane % kRowLanes + n()); });
  } else if (name == "row_shr") {
    fill([&](int lane) { return in_row(lane, lane % kRowLanes - n()); });
  } else if (name == "row_ror") {
    fill([&](int lane) { return in_row(lane, (lane - n()) & (kRowLanes - 1)); });
  } else if (name == "wave_shl") {
    fill([](int lane) { return lane + 1 < kMaxLanes ? lane + 1 : -1; });
  } else if (name == "wave_rol") {
    fill([](int lane) { return (lane + 1) % kMaxLanes; });
  } else if (name == "wave_shr") {
    fill([](int lane) { return lane - 1; });
  } else if (name == "wave_ror") {
    fill([](int lane) { return (lane + kMaxLanes - 1) % kMaxLanes; });
  } else if (name == "row_mirror") {
    fill([&](int lane) { return in_row(lane, kRowLanes - 1 - lane % kRowLanes); });
  } else if (name == "row_half_mirror") {
    fill([](int lane) { return lane ^ 7; });
  } else if (name == "row_bcast" && n() == 15) {
    // The last lane of each row, to all of the next row.
    fill([](int lane) { return lane < kRowLanes ? -1 : (lane & ~(kRowLanes - 1)) - 1; });
  } else if (name == "row_bcast" && n() == 31) {
    fill([](int lane) { return lane < 32 ? -1 : 31; });
  } else if (name == "row_newbcast" || name == "row_share") {
    fill([&](int lane) { return in_row(lane, n()); });
  } else {
    return false;
  }
  return true;
}

// row_mask and bank_mask: a bit for each row of 16 lanes, a bit for each bank of 4 lanes in a row.
uint64_t dpp_lanes(uint32_t row_mask, uint32_t bank_mask) {
  uint64_t lanes = 0;
  for (int lane = 0; lane < kMaxLanes; ++lane) {
    const bool on =
        (row_mask >> (lane / kRowLanes) & 1) && (bank_mask >> (lane % kRowLanes / 4) & 1);
    lanes |= uint64_t{on} << lane;
  }
  return lanes;
}

Sel parse_sel(std::string_view name) {
  constexpr std::string_view kNames[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                         "WORD_0", "WORD_1", "DWORD"};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) return static_cast<Sel>(i);
  throw DecodeError{"SDWA selection '" + std::string(name) + "'"};
}

Unused parse_unused(std::string_view name) {
  if (name == "UNUSED_PAD") return Unused::Pad;
  if (name == "UNUSED_SEXT") return Unused::Sext;
  if (name == "UNUSED_PRESERVE") return Unused::Preserve;
  throw DecodeError{"SDWA dst_unused '" + std::string(name) + "'"};
}

// The offset field that encodes "swizzle(QUAD_PERM,0,1,2,3)" and its like.
int32_t parse_swizzle(std::string_view arguments) {
  constexpr int32_t kQuadPerm = 0x8000, kFft = 0xe000, kRotate = 0xc000;
  constexpr int32_t kAllBits = 0x1f, kOrShift = 5, kXorShift = 10;
  const Words words = split(arguments, ',');
  const auto number = [&words](size_t i) {
    if (i >= words.size()) throw DecodeError{"swizzle() lacks an argument"};
    return static_cast<int32_t>(require_integer(words[i]));
  };
  if (words[0] == "QUAD_PERM")
    return kQuadPerm | number(1) | number(2) << 2 | number(3) << 4 | number(4) << 6;
  if (words[0] == "BROADCAST") return (kAllBits + 1 - number(1)) | number(2) << kOrShift;
  if (words[0] == "REVERSE") return kAllBits | (number(1) - 1) << kXorShift;
  if (words[0] == "SWAP") return kAllBits | number(1) << kXorShift;
  if (words[0] == "FFT") return kFft | number(1);
  if (words[0] == "ROTATE") return kRotate | number(1) << 10 | number(2) << 5;
  if (words[0] == "BITMASK_PERM" && words.size() == 2) {
    const auto pattern = inside(words[1], "\"", "\"");
    if (!pattern) throw DecodeError{"BITMASK_PERM without a pattern"};
    int32_t keep = 0, set = 0, flip = 0;
    for (const char c : *pattern) {  // most significant lane bit first
      keep = keep << 1 | (c == 'p' || c == 'i');
      set = set << 1 | (c == '1');
      flip = flip << 1 | (c == 'i');
    }
    return keep | set << kOrShift | flip << kXorShift;
  }
  throw DecodeError{"swizzle(" + std::string(arguments) + ")"};
}

// "hwreg(HW_REG_MODE, 4, 2)" as the 16-bit field: id | offset << 6 | (width - 1) << 11.
int32_t parse_hwreg(std::string_view arguments) {
  struct Named {
    std::string_view name;
    int32_t id;
  };
  constexpr Named kNamed[] = {
      {"HW_REG_MODE", 1},   {"HW_REG_STATUS", 2},        {"HW_REG_TRAPSTS", 3},
      {"HW_REG_HW_ID", 4},  {"HW_REG_GPR_ALLOC", 5},     {"HW_REG_LDS_ALLOC", 6},
      {"HW_REG_IB_STS", 7}, {"HW_REG_SH_MEM_BASES", 15}, {"HW_REG_XCC_ID", 20},
  };
  const Words words = split(arguments, ',');
  int32_t id = -1;
  for (const Named& named : kNamed)
    if (words[0] == named.name) id = named.id;
  if (id < 0) id = static_cast<int32_t>(require_integer(words[0]));
  const int64_t offset = words.size() > 1 ? require_integer(words[1]) : 0;
  const int64_t width = words.size() > 2 ? require_integer(words[2]) : 32;
  return static_cast<int32_t>(id | offset << 6 | (width - 1) << 11);
}

// "[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT]"; what is not named keeps its default.
void parse_buffer_format(std::string_view value, Modifiers* mod) {
  constexpr std::string_view kDataPrefix = "BUF_DATA_FORMAT_", kNumPrefix = "BUF_NUM_FORMAT_";
  constexpr std::string_view kData[] = {"INVALID",     "8",          "16",         "8_8",
                                        "32",          "16_16",      "10_11_11",   "11_11_10",
                                        "10_10_10_2",  "2_10_10_10", "8_8_8_8",    "32_32",
                                        "16_16_16_16", "32_32_32",   "32_32_32_32"};
  constexpr std::string_view kNum[] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                       "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
  const auto list = inside(value, "[", "]");
  if (!list) throw DecodeError{"format '" + std::string(value) + "'"};
  for (std::string_view word : split(*list, ',')) {
    const auto find = [&word](std::string_view prefix, auto& names, uint8_t* field) {
      if (!word.starts_with(prefix)) return false;
      const auto it = std::find(std::begin(names), std::end(names), word.substr(prefix.size()));
      if (it == std::end(names)) return false;
      *field = static_cast<uint8_t>(it - std::begin(names));
      return true;
    };
    if (!find(kDataPrefix, kData, &mod->data_format) && !find(kNumPrefix, kNum, &mod->num_format))
      throw DecodeError{"format '" + std::string(word) + "'"};
  }
}

int32_t parse_gpr_idx(std::string_view arguments) {
  constexpr std::string_view kNames[] = {"SRC0", "SRC1", "SRC2", "DST"};
  int32_t bits = 0;
  for (std::string_view word : split(arguments, ','))
    for (int i = 0; i < 4; ++i)
      if (word == kNames[i]) bits |= 1 << i;
  return bits;
}

struct Flag {
  std::string_view name;
  bool Modifiers::* field;
};
constexpr Flag kFlags[] = {
    {"clamp", &Modifiers::clamp}, {"sc0", &Modifiers::sc0}, {"sc1", &Modifiers::sc1},
    {"nt", &Modifiers::nt},       {"glc", &Modifiers::glc}, {"offen", &Modifiers::offen},
    {"idxen", &Modifiers::idxen}, {"lds", &Modifiers::lds}, {"gds", &Modifiers::gds},
    {"tfe", &Modifiers::tfe},
};

struct BitList {
  std::string_view name;
  uint8_t Modifiers::* field;
};
constexpr BitList kBitLists[] = {
    {"op_sel", &Modifiers::op_sel}, {"op_sel_hi", &Modifiers::op_sel_hi},
    {"neg_lo", &Modifiers::neg_lo}, {"neg_hi", &Modifiers::neg_hi},
    {"neg", &Modifiers::neg_lo},
};

struct SmallNumber {
  std::string_view name;
  uint8_t Modifiers::* field;
};
constexpr SmallNumber kSmallNumbers[] = {
    {"cbsz", &Modifiers::cbsz},
    {"abid", &Modifiers::abid},
    {"blgp", &Modifiers::blgp},
    {"bitop3", &Modifiers::bitop3},
};

class InstructionParser {
 public:
  InstructionParser(Inst* inst, const Target& target) : in_(*inst), target_(target) {}

  void parse(std::string_view text) {
    const size_t space = text.find(' ');
    parse_mnemonic(text.substr(0, space));
    if (space != std::string_view::npos) parse_rest(text.substr(space + 1));
    if (has_dpp_) {
      dpp_.write_mask = dpp_lanes(row_mask_, bank_mask_);
      in_.dpp = std::make_shared<const Dpp>(dpp_);
    }
  }

 private:
  void parse_mnemonic(std::string_view word) {
    constexpr std::string_view kEncodings[] = {"_e32", "_e64", "_sdwa", "_dpp", "_e64_dpp"};
    for (std::string_view suffix : kEncodings) {
      if (!word.ends_with(suffix)) continue;
      in_.mod.sdwa = suffix == "_sdwa";
      word.remove_suffix(suffix.size());
      break;
    }
    in_.mnemonic = word;
  }

  // Operands are separated by commas; after the last one stand the modifiers.
  void parse_rest(std::string_view rest) {
    const Words fields = split(rest, ',');
    for (size_t i = 0; i < fields.size(); ++i) {
      Words words = split(fields[i], ' ');
      size_t modifiers_from = 0;
      if (is_operand(words[0])) {
        add_operand(words[0]);
        modifiers_from = 1;
      }
      for (size_t j = modifiers_from; j < words.size(); ++j) parse_modifier(words[j]);
    }
  }

  bool is_operand(std::string_view word) const {
    if (word.starts_with("vmcnt(") || word.starts_with("lgkmcnt(") || word.starts_with("expcnt("))
      return false;
    // A modifier has a colon outside brackets ("offset:16"), or is a bare flag.
    const size_t colon = word.find(':');
    const size_t bracket = word.find('[');
    if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon < bracket))
      return false;
    return std::none_of(std::begin(kFlags), std::end(kFlags),
                        [word](const Flag& flag) { return flag.name == word; });
  }

  void add_operand(std::string_view word) {
    if (const auto body = inside(word, "hwreg(", ")")) {
      in_.immediate = parse_hwreg(*body);
      return;
    }
    if (const auto body = inside(word, "gpr_idx(", ")")) {
      in_.immediate = parse_gpr_idx(*body);
      return;
    }
    if (word.starts_with("sendmsg(")) return;
    if (in_.num_operands == kMaxOperands) throw DecodeError{"too many operands"};
    in_.operands[in_.num_operands++] = parse_operand(word);
  }

  void parse_modifier(std::string_view word) {
    for (const Flag& flag : kFlags)
      if (word == flag.name) {
        in_.mod.*flag.field = true;
        return;
      }
    for (const CounterName& counter : target_.counter_names) {
      if (counter.name.empty() || !word.starts_with(counter.name)) continue;
      const auto value = inside(word.substr(counter.name.size()), "(", ")");
      if (!value) continue;
      in_.wait[static_cast<int>(counter.counter)] = static_cast<uint8_t>(require_integer(*value));
      return;
    }
    const size_t colon = word.find(':');
    const std::string_view name = word.substr(0, colon);
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view() : word.substr(colon + 1);
    if (parse_value_modifier(name, value) || parse_lane_modifier(name, value)) return;
    throw DecodeError{"modifier '" + std::string(word) + "'"};
  }

  bool parse_value_modifier(std::string_view name, std::string_view value) {
    Modifiers& mod = in_.mod;
    for (const BitList& list : kBitLists)
      if (name == list.name) {
        mod.*list.field = parse_bit_list(value);
        return true;
      }
    for (const SmallNumber& number : kSmallNumbers)
      if (name == number.name) {
        mod.*number.field = static_cast<uint8_t>(require_integer(value));
        return true;
      }
    if (name == "offset") {
      const auto swizzle = inside(value, "swizzle(", ")");
      mod.offset = swizzle ? parse_swizzle(*swizzle) : static_cast<int32_t>(require_integer(value));
    } else if (name == "offset0") {
      mod.offset0 = static_cast<int32_t>(require_integer(value));
    } else if (name == "offset1") {
      mod.offset1 = static_cast<int32_t>(require_integer(value));
    } else if (name == "format") {
      parse_buffer_format(value, &mod);
    } else if (name == "mul") {
      mod.omod = value == "2" ? 1 : 2;
    } else if (name == "div") {
      mod.omod = -1;
    } else {
      return false;
    }
    return true;
  }

  bool parse_lane_modifier(std::string_view name, std::string_view value) {
    Modifiers& mod = in_.mod;
    if (name == "dst_sel") {
      mod.dst_sel = parse_sel(value);
    } else if (name == "dst_unused") {
      mod.dst_unused = parse_unused(value);
    } else if (name == "src0_sel") {
      mod.src_sel[0] = parse_sel(value);
    } else if (name == "src1_sel") {
      mod.src_sel[1] = parse_sel(value);
    } else if (name == "row_mask") {
      row_mask_ = static_cast<uint32_t>(require_integer(value));
    } else if (name == "bank_mask") {
      bank_mask_ = static_cast<uint32_t>(require_integer(value));
    } else if (name == "bound_ctrl") {
      dpp_.bound_ctrl = true;
    } else if (name == "fi") {
      dpp_.fetch_inactive = require_integer(value) != 0;
    } else if (parse_dpp_control(name, value, &dpp_)) {
      has_dpp_ = true;
    } else {
      return false;
    }
    return true;
  }

  Inst& in_;
  const Target& target_;
  Dpp dpp_;
  bool has_dpp_ = false;
  uint32_t row_mask_ = 0xf, bank_mask_ = 0xf;
};

}  // namespace

void parse_instruction(std::string_view text, const Target& target, Inst* inst) {
  InstructionParser(inst, target).parse(text);
}

}  // namespace gfxsim
