// Aggregates in expressions: which they are, and what they become.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/expr_parts.h"

namespace isoscope::sql {
namespace {

// Aggregates that are some function of the values to us.
Type type_of_aggregate(const std::string& name) {
  for (const std::string_view text :
       {"string_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg", "xmlagg"}) {
    if (name == text) return Type::Text;
  }
  return Type::Integer;
}

// The values of an aggregate: its argument, or all of them as one value.
Expr aggregate_argument(Scope& scope, Aggregate aggregate, const Tree& call, Place place) {
  const Tree& args = child(call, "args");
  if (args.empty()) {
    scope.findings.fail(place, "this aggregate takes an argument");
    return make_null(Type::Integer, place);
  }
  if (aggregate != Aggregate::Other) {
    if (args.size() != 1) scope.findings.fail(place, "this aggregate takes one argument");
    return build_expr(scope, args[0]);
  }
  const std::string name = last_name(child(call, "funcname"));
  Expr all = make(ExprOp::Opaque, type_of_aggregate(name), {}, place);
  all.text = name;
  for (const Tree& arg : args) all.args.push_back(build_argument(scope, arg));
  return all;
}

}  // namespace

Expr build_aggregate(Scope& scope, Aggregate aggregate, const Tree& call, Place place) {
  Output output{.aggregate = aggregate, .expr = make_null(Type::Integer, place)};
  if (has(call, "agg_within_group"))
    scope.findings.fail(place, "WITHIN GROUP is not modelled", "ORDER BY … LIMIT 1 is");
  output.distinct = flag_of(call, "agg_distinct");
  output.name = last_name(child(call, "funcname"));
  std::vector<AggregateCall>* const aggregates = scope.aggregates;
  if (aggregates == nullptr) {
    scope.findings.fail(place, "an aggregate cannot stand here", "select it into a variable first");
    return output.expr;
  }
  Type type = Type::Integer;
  scope.aggregates = nullptr;
  if (!flag_of(call, "agg_star")) {
    output.expr = aggregate_argument(scope, aggregate, call, place);
    if (aggregate == Aggregate::Sum || aggregate == Aggregate::Avg) {
      // The average of whole numbers is a numeric, too.
      const Type number =
          aggregate == Aggregate::Avg ? Type::Numeric : type_of_numbers(output.expr, output.expr);
      output.expr = adapt(scope, std::move(output.expr), number, false, "this aggregate");
    }
    if (aggregate == Aggregate::Min || aggregate == Aggregate::Max)
      note_order(scope, output.expr, place);
    if (aggregate == Aggregate::Other)
      scope.findings.note(place, fmt::format("{} is treated as some function", output.name),
                          NoteKind::Gap);
    if (aggregate == Aggregate::Array && output.expr.is_array)
      scope.findings.fail(place, "arrays of arrays are not modelled");
    if (aggregate != Aggregate::Count) type = output.expr.type;
    // count of a constant counts the rows.
    if (aggregate == Aggregate::Count && !output.distinct &&
        (output.expr.op == ExprOp::Integer || output.expr.op == ExprOp::Text ||
         output.expr.op == ExprOp::Decimal || output.expr.op == ExprOp::Boolean))
      output.expr = make_null(Type::Integer, place);
  }
  if (has(call, "agg_filter")) output.filter = build_condition(scope, child(call, "agg_filter"));
  std::vector<OrderBy> order;
  for (const Tree& entry : child(call, "agg_order")) {
    OrderBy by{.expr = build_expr(scope, child(inside(entry), "node")),
               .descending = text_of(inside(entry), "sortby_dir") == "SORTBY_DESC"};
    note_order(scope, by.expr, place);
    order.push_back(std::move(by));
  }
  scope.aggregates = aggregates;
  const bool is_array = aggregate == Aggregate::Array;
  // A sum is wider than its values, and a count is a bigint.
  const bool is_value = aggregate == Aggregate::Min || aggregate == Aggregate::Max || is_array ||
                        (aggregate == Aggregate::Sum && type == Type::Numeric);
  const VarId var =
      scope.frame->add_hidden("aggregate", type, is_array, place, is_value ? output.expr.bits : 64);
  aggregates->push_back({std::move(output), var, std::move(order)});
  return make_variable(*scope.frame, var, place);
}

std::optional<Aggregate> aggregate_of(const Tree& call) {
  const std::string name = last_name(child(call, "funcname"));
  if (name == "min") return Aggregate::Min;
  if (name == "max") return Aggregate::Max;
  if (name == "count") return Aggregate::Count;
  if (name == "sum") return Aggregate::Sum;
  if (name == "avg") return Aggregate::Avg;
  if (name == "bool_or") return Aggregate::Max;
  if (name == "bool_and" || name == "every") return Aggregate::Min;
  if (name == "array_agg") return Aggregate::Array;
  if (is_unknown_aggregate(name)) return Aggregate::Other;
  return std::nullopt;
}

bool is_unknown_aggregate(const std::string& name) {
  for (const std::string_view known :
       {"string_agg", "bit_and", "bit_or", "json_agg", "jsonb_agg", "json_object_agg",
        "jsonb_object_agg", "stddev", "variance", "mode", "percentile_cont", "percentile_disc",
        "var_pop", "var_samp", "stddev_pop", "stddev_samp", "corr", "xmlagg"}) {
    if (name == known) return true;
  }
  return false;
}

bool contains_aggregate(const Tree& node) {
  if (node.is_array()) return std::ranges::any_of(node, contains_aggregate);
  if (!node.is_object()) return false;
  for (const auto& [key, value] : node.items()) {
    if (key == "SubLink") continue;
    if (key == "FuncCall" && aggregate_of(value) && !has(value, "over")) return true;
    if (contains_aggregate(value)) return true;
  }
  return false;
}

}  // namespace isoscope::sql
