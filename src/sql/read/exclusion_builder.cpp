// EXCLUDE constraints of the schema.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql/read/expr_builder.h"
#include "sql/read/schema_builder.h"

namespace isoscope::sql {
namespace {

struct RangeType {
  std::string_view name;
  bool is_discrete;  // [1, 3] is the same as [1, 4)
};
constexpr std::array<RangeType, 6> kRanges = {{{"int4range", true},
                                               {"int8range", true},
                                               {"numrange", false},
                                               {"tsrange", false},
                                               {"tstzrange", false},
                                               {"daterange", false}}};

// [ or ( and ] or ), as the third argument of a range has them.
struct Bounds {
  bool is_low_open = false;
  bool is_high_closed = false;
};

std::optional<Bounds> bounds_of(const Tree& args) {
  if (args.size() == 2) return Bounds{};
  if (args.size() != 3) return std::nullopt;
  const std::string text = text_of(child(child(args[2], "A_Const"), "sval"), "sval");
  if (text.size() != 2) return std::nullopt;
  return Bounds{.is_low_open = text[0] == '(', .is_high_closed = text[1] == ']'};
}

Expr plus_one(Expr expr) {
  const Place place = expr.place;
  return make(ExprOp::Add, Type::Integer, {std::move(expr), make_integer(1, place)}, place);
}

}  // namespace

// A range made of two columns, with the operator &&; nothing for anything else.
std::optional<ExclusionPart> SchemaBuilder::range_part(TableId id, const Tree& expr, Place at) {
  const Tree& call = child(expr, "FuncCall");
  const std::string name = last_name(child(call, "funcname"));
  const RangeType* type = nullptr;
  for (const RangeType& known : kRanges) {
    if (known.name == name) type = &known;
  }
  const auto bounds = bounds_of(child(call, "args"));
  // The day after one is not known here.
  if (type == nullptr || !bounds ||
      (name == "daterange" && (bounds->is_low_open || bounds->is_high_closed)))
    return std::nullopt;
  const Type of = name == "numrange" ? Type::Numeric : Type::Integer;
  auto low = expression(child(call, "args")[0], id, of, true, "EXCLUDE", at);
  auto high = expression(child(call, "args")[1], id, of, true, "EXCLUDE", at);
  if (!low || !high) return std::nullopt;
  ExclusionPart part{*std::move(low), *std::move(high), bounds->is_low_open,
                     bounds->is_high_closed};
  if (!type->is_discrete) return part;
  if (part.is_low_open) part.value = plus_one(std::move(part.value));
  if (part.is_high_closed) part.high = plus_one(*std::move(part.high));
  part.is_low_open = false;
  part.is_high_closed = false;
  return part;
}

void SchemaBuilder::add_exclusion(TableId id, const Tree& constraint, Place at) {
  const auto ignore = [&](std::string_view why) {
    ignore_rule(id, at, fmt::format("this EXCLUDE constraint is ignored: {}", why), constraint);
  };
  if (has(constraint, "where_clause")) return ignore("it has a WHERE");
  if (flag_of(constraint, "deferrable")) return ignore("it is deferrable");
  Exclusion exclusion{.name = text_of(constraint, "conname"), .place = at};
  const Table& table = catalog_.table(id);
  for (const Tree& entry : child(constraint, "exclusions")) {
    const Tree& items = child(inside(entry), "items");
    if (items.size() != 2) return ignore("it is not understood");
    const Tree& element = inside(items[0]);
    const std::string op = last_name(child(inside(items[1]), "items"));
    const std::string name = text_of(element, "name");
    std::optional<ExclusionPart> part;
    if (op == "=" && !name.empty()) {
      const auto column = find_column(table, name);
      if (!column) return ignore(fmt::format("there is no column '{}'", name));
      Scope scope{.catalog = catalog_, .findings = findings_, .where = where_};
      scope.sources = {{.table = id, .name = table.name}};
      part = ExclusionPart{make_column(scope, 0, *column, at), {}};
    } else if (op == "&&" && has(element, "expr")) {
      part = range_part(id, child(element, "expr"), at);
    }
    if (!part)
      return ignore(
          "only columns WITH = and ranges of two columns, as in int4range(a, b), WITH && "
          "are modelled");
    exclusion.parts.push_back(*std::move(part));
  }
  if (exclusion.parts.empty()) return ignore("it is not understood");
  if (exclusion.name.empty()) exclusion.name = table.name + "_excl";
  catalog_.tables[id.index].exclusions.push_back(std::move(exclusion));
}

// NULLS NOT DISTINCT.
void SchemaBuilder::add_key_with_nulls(TableId id, const std::vector<ColumnId>& key,
                                       std::string name, Place at) {
  Exclusion index{.name = std::move(name), .place = at, .is_unique = true, .nulls_agree = true};
  index.key_columns = key;
  Scope scope{.catalog = catalog_, .findings = findings_, .where = where_};
  scope.sources = {{.table = id, .name = catalog_.table(id).name}};
  for (const ColumnId column : key) index.parts.push_back({make_column(scope, 0, column, at), {}});
  catalog_.tables[id.index].exclusions.push_back(std::move(index));
}

// CREATE UNIQUE INDEX … WHERE, or over expressions.
void SchemaBuilder::add_strange_index(TableId id, const Tree& node, std::string name, Place at) {
  const auto ignore = [&] {
    ignore_rule(id, at, "a unique index over expressions or some of the rows is ignored", node);
  };
  // An expression with something unknown in it says nothing of which rows are equal.
  const auto known = [&](const Tree& tree, Type type) -> std::optional<Expr> {
    Findings own;
    Scope scope{.catalog = catalog_, .findings = own, .where = where_};
    scope.sources = {{.table = id, .name = catalog_.table(id).name}};
    Expr expr = build_expr(scope, tree);
    if (type == Type::Boolean) expr = adapt(scope, std::move(expr), type, false, "WHERE");
    const bool is_rough = std::ranges::any_of(
        own.notes(), [](const Note& note) { return note.kind != NoteKind::Remark; });
    return own.failed() || is_rough ? std::nullopt : std::optional(std::move(expr));
  };
  Exclusion index{.name = std::move(name),
                  .place = at,
                  .is_unique = true,
                  .nulls_agree = flag_of(node, "nulls_not_distinct")};
  for (const Tree& entry : child(node, "indexParams")) {
    const Tree& element = inside(entry);
    const auto column = find_column(catalog_.table(id), text_of(element, "name"));
    Scope scope{.catalog = catalog_, .findings = findings_, .where = where_};
    scope.sources = {{.table = id, .name = catalog_.table(id).name}};
    auto part = column ? std::optional(make_column(scope, 0, *column, at))
                       : known(child(element, "expr"), Type::Integer);
    if (!part) return ignore();
    index.parts.push_back({*std::move(part), {}});
  }
  if (has(node, "whereClause")) {
    index.where = known(child(node, "whereClause"), Type::Boolean);
    if (!index.where) return ignore();
  }
  catalog_.tables[id.index].exclusions.push_back(std::move(index));
}

}  // namespace isoscope::sql
