// The table of all operations, merged from the families.
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "gfxsim/ops/families.h"

namespace gfxsim {
namespace {

struct OpTable {
  std::vector<Op> rows;
  std::unordered_map<std::string_view, const Op*> by_name;
};

OpTable build_table() {
  using Family = std::vector<Op> (*)();
  constexpr Family kFamilies[] = {
      scalar_ops, program_ops, scalar_memory_ops, integer_ops, float_ops, convert_ops,
      packed_ops, compare_ops, lane_move_ops,     matrix_ops,  lds_ops,   vector_memory_ops,
  };
  OpTable table;
  for (const Family family : kFamilies) {
    const std::vector<Op> rows = family();
    table.rows.insert(table.rows.end(), rows.begin(), rows.end());
  }
  for (const Op& op : table.rows)
    if (!table.by_name.emplace(op.name, &op).second)
      throw std::logic_error("gfxsim: two rows of the operation table are named " +
                             std::string(op.name));
  return table;
}

const OpTable& op_table() {
  static const OpTable table = build_table();
  return table;
}

}  // namespace

const Op* find_op(std::string_view mnemonic) {
  const auto& by_name = op_table().by_name;
  const auto found = by_name.find(mnemonic);
  return found == by_name.end() ? nullptr : found->second;
}

std::span<const Op> all_ops() { return op_table().rows; }

}  // namespace gfxsim
