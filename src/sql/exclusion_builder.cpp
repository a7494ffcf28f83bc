// EXCLUDE constraints of the schema.
#include <fmt/format.h>

#include <array>

#include "sql/expr_builder.h"
#include "sql/schema_builder.h"

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
  auto low = expression(child(call, "args")[0], id, Type::Integer, true, "EXCLUDE", at);
  auto high = expression(child(call, "args")[1], id, Type::Integer, true, "EXCLUDE", at);
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
    findings_.note(at, fmt::format("this EXCLUDE constraint is ignored: {}", why), NoteKind::Gap);
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

}  // namespace isoscope::sql
