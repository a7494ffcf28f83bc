// The server refuses a row for which a partitioned table has no partition (23514): a CHECK of the
// whole table, where the bounds are constants, else a note.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/schema_builder.h"

namespace isoscope::sql {
namespace {

Tree name_tree(const std::string& name) { return {{"String", {{"sval", name}}}}; }

Tree compared_column(const std::string& column, const char* with, const Tree& value,
                     std::int64_t location) {
  Tree left = {{"ColumnRef", {{"fields", Tree::array({name_tree(column)})}}}};
  left["ColumnRef"]["location"] = location;
  return {{"A_Expr",
           {{"kind", "AEXPR_OP"},
            {"name", Tree::array({name_tree(with)})},
            {"lexpr", std::move(left)},
            {"rexpr", value},
            {"location", location}}}};
}

Tree joined_trees(const char* with, Tree parts, std::int64_t location) {
  return {{"BoolExpr", {{"boolop", with}, {"args", std::move(parts)}, {"location", location}}}};
}

// MINVALUE and MAXVALUE are no constants.
bool is_open_bound(const Tree& value) { return has(value, "ColumnRef"); }

bool is_bound_constant(const Tree& value, Type type) {
  const Tree& constant = child(value, "A_Const");
  return has(constant, type == Type::Text ? "sval" : "ival");
}

}  // namespace

bool SchemaBuilder::Partitioned::has_default() const {
  return std::ranges::any_of(bounds,
                             [](const Tree* bound) { return flag_of(*bound, "is_default"); });
}

bool SchemaBuilder::Partitioned::takes_all_hashes() const {
  double share = 0;
  for (const Tree* bound : bounds) {
    const std::int64_t modulus = number_of(*bound, "modulus");
    if (modulus > 0) share += 1.0 / static_cast<double>(modulus);
  }
  return strategy == "hash" && share > 0.999999;
}

void SchemaBuilder::add_partitioned(TableId id, const Tree& node) {
  const Tree& relation = child(node, "relation");
  const Tree& spec = child(node, "partspec");
  const Tree& keys = child(spec, "partParams");
  Partitioned table{.root = id, .strategy = text_of(spec, "strategy"), .place = place(relation)};
  table.location = number_of(relation, "location");
  if (keys.size() == 1) table.column = text_of(inside(keys[0]), "name");
  partitioned_.insert_or_assign(text_of(relation, "relname"), std::move(table));
}

void SchemaBuilder::add_partition(const std::string& whole, const std::string& name,
                                  const Tree& bound) {
  partition_of_[name] = whole;
  if (const auto table = partitioned_.find(whole); table != partitioned_.end())
    table->second.bounds.push_back(&bound);
}

// Its rows are gone, and new ones find none.
void SchemaBuilder::drop_partition(const std::string& name) {
  const auto known = partition_of_.find(name);
  if (known == partition_of_.end()) return;
  if (const auto table = partitioned_.find(known->second); table != partitioned_.end())
    table->second.is_changed = true;
  partition_of_.erase(known);
}

// That a row has a partition, as an expression; nothing if it cannot be told.
std::optional<Tree> SchemaBuilder::partition_check(const Partitioned& table) const {
  const auto column = find_column(catalog_.table(table.root), table.column);
  const bool is_list = table.strategy == "list";
  const bool is_range = table.strategy == "range";
  if (!column || table.is_changed || table.bounds.empty() || (!is_list && !is_range))
    return std::nullopt;
  const Column& key = catalog_.table(table.root).columns[*column];
  const bool is_number = key.type == Type::Integer && key.width.is_number;
  if (!is_number && !(is_list && key.type == Type::Text)) return std::nullopt;
  const std::int64_t at = table.location;
  Tree any = Tree::array();
  for (const Tree* bound : table.bounds) {
    for (const Tree& value : child(*bound, "listdatums")) {
      if (!is_bound_constant(value, key.type)) return std::nullopt;
      any.push_back(compared_column(table.column, "=", value, at));
    }
    if (is_list) continue;
    Tree both = Tree::array();
    for (const bool is_low : {true, false}) {
      const Tree& values = child(*bound, is_low ? "lowerdatums" : "upperdatums");
      if (values.size() != 1) return std::nullopt;
      const Tree& datum =
          has(values[0], "PartitionRangeDatum") ? child(inside(values[0]), "value") : values[0];
      const bool is_unbounded = is_open_bound(datum) || datum.is_null();
      if (!is_unbounded && !is_bound_constant(datum, key.type)) return std::nullopt;
      if (!is_unbounded)
        both.push_back(compared_column(table.column, is_low ? ">=" : "<", datum, at));
    }
    if (both.empty()) return std::nullopt;
    any.push_back(both.size() == 1 ? both[0] : joined_trees("AND_EXPR", both, at));
  }
  Tree known = {{"ColumnRef", {{"fields", Tree::array({name_tree(table.column)})}}}};
  known["ColumnRef"]["location"] = at;
  const Tree is_known = {
      {"NullTest", {{"arg", known}, {"nulltesttype", "IS_NOT_NULL"}, {"location", at}}}};
  return joined_trees(
      "AND_EXPR",
      Tree::array({is_known, any.size() == 1 ? any[0] : joined_trees("OR_EXPR", any, at)}), at);
}

void SchemaBuilder::add_partition_rules() {
  std::set<TableId> rough;
  for (const auto& [name, table] : partitioned_) {
    if (table.is_part && !table.has_default()) rough.insert(table.root);
  }
  for (const auto& [name, table] : partitioned_) {
    if (table.is_part || dropped_.contains(table.root)) continue;
    const TableId id = table.root;
    if (table.is_changed)
      findings_.note(
          table.place,
          fmt::format("what was in the dropped partition of '{}' is kept", catalog_.table(id).name),
          NoteKind::Free, id);
    if (!rough.contains(id) && (table.has_default() || table.takes_all_hashes()) &&
        !table.is_changed)
      continue;
    auto check = rough.contains(id) ? std::nullopt : partition_check(table);
    if (!check) {
      findings_.note(table.place,
                     fmt::format("rows of '{}' for which there may be no partition are taken",
                                 catalog_.table(id).name),
                     NoteKind::Free, id, catalog_.table(id).partition_key);
      continue;
    }
    own_trees_.push_back({{"contype", "CONSTR_CHECK"},
                          {"conname", name + " (partitions)"},
                          {"raw_expr", *std::move(check)},
                          {"location", table.location}});
    pending_.push_back({id, &own_trees_.back(), ""});
  }
}

}  // namespace isoscope::sql
