// What names and calls in expressions stand for.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql/functions.h"
#include "sql/read/inliner.h"
#include "sql/read/sequence_builder.h"
#include "support/spelling.h"

namespace isoscope::sql {
namespace {

struct FoundColumn {
  std::uint32_t source = 0;
  ColumnId column = {};
};

// The column of that name, of the source `qualifier` unless that is empty.
std::vector<FoundColumn> find_columns(const Scope& scope, const std::string& qualifier,
                                      const std::string& name) {
  std::vector<FoundColumn> found;
  for (std::uint32_t i = 0; i < scope.sources.size(); ++i) {
    const Source& source = scope.sources[i];
    if (qualifier.empty() ? scope.first_source_only && i > 0 : source.name != qualifier) continue;
    if (qualifier.empty() && std::ranges::find(source.merged, name) != source.merged.end())
      continue;
    if (const auto column = find_source_column(scope, i, name)) found.push_back({i, *column});
  }
  return found;
}

// A column of a query around: a variable of the loop around, if it has become one; else that query
// must be built again so that it is.
std::optional<Expr> outer_column(const Scope& scope, const std::string& qualifier,
                                 const std::string& name, Place place) {
  for (const Scope* around = scope.outer; around != nullptr; around = around->outer) {
    const auto found = find_columns(*around, qualifier, name);
    if (found.empty()) continue;
    Expr value = make_column(*around, found.front().source, found.front().column, place);
    if (!uses_column(value)) return value;
    if (around->is_used_inside != nullptr) {
      *around->is_used_inside = true;
    } else {
      scope.findings.fail(place, fmt::format("the subquery uses '{}' of the query around it", name),
                          "a join, or a loop with a SELECT inside, can be modelled");
    }
    return make_null(value.type, place);
  }
  return std::nullopt;
}

void fail_unknown(Scope& scope, const std::string& name, Place place) {
  std::vector<std::string_view> names;
  for (std::uint32_t i = 0; i < scope.sources.size(); ++i) {
    for (const ColumnName& column : columns_of_source(scope, i)) names.push_back(column.name);
  }
  if (scope.frame != nullptr) {
    for (const std::string_view known : scope.frame->known_names()) names.push_back(known);
  }
  scope.findings.fail(
      place, fmt::format("unknown name '{}'", name),
      names.empty() ? "no columns or variables are known here" : suggest(name, names));
}

Expr whole_record(Scope& scope, const std::string& name, Place place) {
  scope.findings.fail(place, fmt::format("the record '{}' is used as a value", name),
                      fmt::format("name a field, as in {}.f", name));
  return make_null(Type::Integer, place);
}

}  // namespace

std::optional<Expr> build_record_test(Scope& scope, const Tree& value, bool is_null, Place place) {
  const Tree& fields = child(child(value, "ColumnRef"), "fields");
  if (fields.size() != 1 || scope.frame == nullptr) return std::nullopt;
  const std::string name = last_name(fields);
  const auto number = scope.frame->find_number(name);
  if (!number || !find_columns(scope, "", name).empty()) return std::nullopt;
  NamedVariable& record = scope.frame->named(*number);
  if (!record.is_record || record.fields.empty()) return std::nullopt;
  record.is_tested = true;
  std::optional<Expr> all;
  for (const FieldVariable& field : record.fields) {
    if (field.is_hidden) continue;
    Expr test =
        make(ExprOp::IsNull, Type::Boolean, {make_variable(*scope.frame, field.var, place)}, place);
    if (!is_null) test = make(ExprOp::Not, Type::Boolean, {std::move(test)}, place);
    all = both(std::move(all), std::move(test));
  }
  return all;
}

namespace {

// PL/pgSQL refuses a name that stands for something in the statement and for a variable, too.
void fail_clash(Scope& scope, const std::string& name, std::string_view what, Place place) {
  scope.findings.fail(
      place,
      fmt::format("'{}' is {} and a variable: the server refuses the statement (42702)", name,
                  what),
      "give the variable another name, or write the table before the column");
}

// `name` is a column: as a variable too it would be ambiguous, and the call would fail.
void check_clash(Scope& scope, const std::string& name, Place place) {
  if (scope.names_may_clash && scope.frame != nullptr && scope.frame->find(name) != nullptr)
    fail_clash(scope, name, "a column", place);
}

// The name of a table that the statement or a query around it reads stands for its whole row.
bool is_whole_row(const Scope& scope, const std::string& name) {
  for (const Scope* around = &scope; around != nullptr; around = around->outer) {
    if (std::ranges::find(around->sources, name, &Source::name) != around->sources.end())
      return true;
  }
  return false;
}

Expr plain_name(Scope& scope, const std::string& name, Place place) {
  const auto columns = find_columns(scope, "", name);
  if (columns.size() > 1)
    scope.findings.fail(
        place, fmt::format("'{}' is a column of several tables here", name),
        fmt::format("write which, as in {}.{}", scope.sources[columns.front().source].name, name));
  if (!columns.empty()) {
    check_clash(scope, name, place);
    return make_column(scope, columns.front().source, columns.front().column, place);
  }
  if (auto outer = outer_column(scope, "", name, place)) {
    check_clash(scope, name, place);
    return *outer;
  }
  if (scope.frame != nullptr) {
    if (const NamedVariable* variable = scope.frame->find(name)) {
      if (scope.names_may_clash && is_whole_row(scope, name))
        fail_clash(scope, name, "a table of the statement", place);
      if (variable->is_record) return whole_record(scope, name, place);
      Expr value = make_variable(*scope.frame, variable->var, place);
      if (!variable->is_message) return value;
      // Unknown where the variable of the handler is NULL.
      Expr told = make(ExprOp::Opaque, Type::Text, {std::move(value)}, place);
      told.text = kMessageOfError;
      return told;
    }
    const auto found = scope.frame->function().found;
    if (name == "found" && found) return make_variable(*scope.frame, *found, place);
  }
  fail_unknown(scope, name, place);
  return make_null(Type::Integer, place);
}

std::optional<Expr> field_of(Scope& scope, const NamedVariable& record, const std::string& field,
                             Place place) {
  if (!record.is_record) return std::nullopt;
  if (const auto var = record.field(field)) return make_variable(*scope.frame, *var, place);
  std::vector<std::string_view> names;
  for (const FieldVariable& known : record.fields) {
    if (!known.is_hidden) names.push_back(known.name);
  }
  scope.findings.fail(place, fmt::format("the record '{}' has no field '{}'", record.name, field),
                      names.empty() ? "no query has filled it before" : suggest(field, names));
  return make_null(Type::Integer, place);
}

// A field of a record, or a variable of the block or function `qualifier`.
bool is_qualified_variable(const Scope& scope, const std::string& qualifier,
                           const std::string& name) {
  if (scope.frame == nullptr) return false;
  const NamedVariable* record = scope.frame->find(qualifier);
  return (record != nullptr && record->is_record && record->field(name)) ||
         scope.frame->find(qualifier, name) != nullptr;
}

Expr qualified_name(Scope& scope, const std::string& qualifier, const std::string& name,
                    Place place) {
  const auto columns = find_columns(scope, qualifier, name);
  if (!columns.empty()) {
    if (scope.names_may_clash && is_qualified_variable(scope, qualifier, name))
      fail_clash(scope, fmt::format("{}.{}", qualifier, name), "a column", place);
    return make_column(scope, columns.front().source, columns.front().column, place);
  }
  for (std::uint32_t i = 0; i < scope.sources.size(); ++i) {
    if (scope.sources[i].name != qualifier) continue;
    std::vector<std::string_view> names;
    for (const ColumnName& column : columns_of_source(scope, i)) names.push_back(column.name);
    scope.findings.fail(place, fmt::format("'{}' has no column '{}'", qualifier, name),
                        suggest(name, names));
    return make_null(Type::Integer, place);
  }
  if (auto outer = outer_column(scope, qualifier, name, place)) return *outer;
  if (scope.frame != nullptr) {
    if (const NamedVariable* record = scope.frame->find(qualifier)) {
      if (auto field = field_of(scope, *record, name, place)) return *field;
    }
    if (const NamedVariable* variable = scope.frame->find(qualifier, name)) {
      if (variable->is_record) return whole_record(scope, name, place);
      return make_variable(*scope.frame, variable->var, place);
    }
  }
  fail_unknown(scope, scope.sources.empty() ? qualifier + "." + name : qualifier, place);
  return make_null(Type::Integer, place);
}

struct KnownCall {
  std::string_view name;
  Type type;
  std::uint8_t bits = 64;
};
// Functions of their arguments and nothing else, whose type we know.
constexpr std::array<KnownCall, 36> kPureCalls = {{{"upper", Type::Text},
                                                   {"lower", Type::Text},
                                                   {"left", Type::Text},
                                                   {"right", Type::Text},
                                                   {"length", Type::Integer, 32},
                                                   {"char_length", Type::Integer, 32},
                                                   {"substr", Type::Text},
                                                   {"substring", Type::Text},
                                                   {"trim", Type::Text},
                                                   {"btrim", Type::Text},
                                                   {"ltrim", Type::Text},
                                                   {"rtrim", Type::Text},
                                                   {"replace", Type::Text},
                                                   {"concat", Type::Text},
                                                   {"format", Type::Text},
                                                   {"md5", Type::Text},
                                                   {"lpad", Type::Text},
                                                   {"rpad", Type::Text},
                                                   {"regexp_replace", Type::Text},
                                                   {"split_part", Type::Text},
                                                   {"strpos", Type::Integer, 32},
                                                   {"initcap", Type::Text},
                                                   {"reverse", Type::Text},
                                                   {"translate", Type::Text},
                                                   {"json_build_object", Type::Text},
                                                   {"jsonb_build_object", Type::Text},
                                                   {"json_build_array", Type::Text},
                                                   {"jsonb_build_array", Type::Text},
                                                   {"to_json", Type::Text},
                                                   {"to_jsonb", Type::Text},
                                                   {"row_to_json", Type::Text},
                                                   {"hstore", Type::Text},
                                                   {"sign", Type::Integer},
                                                   {"position", Type::Integer, 32},
                                                   {"hashtext", Type::Integer, 32},
                                                   {"hashtextextended", Type::Integer}}};

// Those of them that are executed as they are, or whose values say nothing but whether their
// arguments are equal.
constexpr std::array<std::string_view, 11> kExecuted = {
    "upper",       "lower", "left", "right",    "length",
    "char_length", "sign",  "md5",  "hashtext", "hashtextextended",
    "replace"};

bool is_executed(const std::string& name, const std::vector<Expr>& args) {
  const auto are = [&](std::size_t first, Type type) {
    return std::all_of(args.begin() + static_cast<std::ptrdiff_t>(first), args.end(),
                       [&](const Expr& arg) { return arg.type == type && !arg.is_array; });
  };
  if (std::ranges::find(kExecuted, name) != kExecuted.end()) return true;
  if (name == "btrim" || name == "ltrim" || name == "rtrim") return args.size() == 1;
  if (name == "substr" || name == "substring") return args.size() > 1 && are(1, Type::Integer);
  // A whole number of 64 bits may be a moment, which has another text.
  return name == "concat" && std::ranges::all_of(args, [](const Expr& arg) {
           const bool is_number = arg.type == Type::Integer && arg.bits < 64;
           return !arg.is_array && (is_number || arg.type == Type::Text || arg.op == ExprOp::Null);
         });
}

constexpr std::array<std::string_view, 5> kImpureTexts = {
    "gen_random_uuid", "uuid_generate_v4", "version", "current_setting", "timeofday"};
constexpr std::array<std::string_view, 6> kImpureNumbers = {
    "now",         "random", "clock_timestamp", "transaction_timestamp", "statement_timestamp",
    "txid_current"};

// round, trunc, ceil, floor and sign of a numeric; nothing for other calls.
std::optional<Expr> call_on_numeric(Scope& scope, const std::string& name, std::vector<Expr>& args,
                                    Place place) {
  const bool has_scale = args.size() == 2 && (name == "round" || name == "trunc");
  const bool is_one = is_decimal_function(name) && (has_scale || args.size() == 1);
  if (!is_one) return std::nullopt;
  // With a scale there is only the one of numerics; without, a whole number goes to that of floats.
  if (args[0].type != Type::Numeric && !(has_scale && args[0].type == Type::Integer))
    return std::nullopt;
  args[0] = adapt(scope, std::move(args[0]), Type::Numeric, false, name);
  std::uint8_t scale = has_scale ? kAnyScale : 0;
  if (has_scale) {
    args[1] = adapt(scope, std::move(args[1]), Type::Integer, false, name);
    const bool is_known = args[1].op == ExprOp::Integer && args[1].number < Decimal::kMaxDigits;
    if (is_known) scale = static_cast<std::uint8_t>(std::max<std::int64_t>(args[1].number, 0));
  }
  Expr call = make(ExprOp::Opaque, Type::Numeric, std::move(args), place);
  call.text = name;
  call.bits = scale;
  return call;
}

std::optional<Expr> known_call(Scope& scope, const std::string& name, std::vector<Expr>& args,
                               Place place) {
  const auto number = [&](Expr arg, Type type) {
    return adapt(scope, std::move(arg), type, false, name);
  };
  if (name == "abs" && args.size() == 1) {
    const Type type = type_of_numbers(args[0], args[0]);
    return make(ExprOp::Abs, type, {number(std::move(args[0]), type)}, place);
  }
  if (name == "mod" && args.size() == 2) {
    const Type type = type_of_numbers(args[0], args[1]);
    Expr left = number(std::move(args[0]), type);
    return make(ExprOp::Modulo, type, {std::move(left), number(std::move(args[1]), type)}, place);
  }
  if (auto rounded = call_on_numeric(scope, name, args, place)) return rounded;
  const bool is_length = (name == "array_length" || name == "array_upper") && args.size() == 2 &&
                         args[1].op == ExprOp::Integer && args[1].number == 1;
  if (is_length || (name == "cardinality" && args.size() == 1)) {
    if (!args[0].is_array && args[0].op != ExprOp::Null)
      scope.findings.fail(place, fmt::format("{} takes an array", name));
    Expr size = make(ExprOp::Cardinality, Type::Integer, {std::move(args[0])}, place);
    if (name == "cardinality") return size;
    // The length of an empty array is NULL.
    Expr is_empty = make(ExprOp::Equal, Type::Boolean, {size, make_integer(0, place)}, place);
    return make(ExprOp::If, Type::Integer,
                {std::move(is_empty), make_null(Type::Integer, place), std::move(size)}, place);
  }
  return std::nullopt;
}

// Aggregates that are some function of the values to us.
Type type_of_aggregate(const std::string& name) {
  for (const std::string_view text :
       {"string_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg", "xmlagg"}) {
    if (name == text) return Type::Text;
  }
  return Type::Integer;
}

// An argument of a function of the server. The name of a table of the query is its row.
Expr build_argument(Scope& scope, const Tree& arg) {
  const Tree& fields = child(child(arg, "ColumnRef"), "fields");
  const std::string name = fields.size() == 1 ? last_name(fields) : "";
  const auto source = std::ranges::find(scope.sources, name, &Source::name);
  const bool is_variable = scope.frame != nullptr && scope.frame->find(name) != nullptr;
  if (name.empty() || source == scope.sources.end() || is_variable ||
      !find_columns(scope, "", name).empty())
    return build_expr(scope, arg);
  const Place place = scope.place(inside(arg));
  const auto number = static_cast<std::uint32_t>(source - scope.sources.begin());
  std::vector<Expr> columns;
  for (const ColumnName& column : columns_of_source(scope, number))
    columns.push_back(make_column(scope, number, column.number, place));
  scope.findings.note(place,
                      fmt::format("a row of {} is treated as some function of its columns", name),
                      NoteKind::Gap);
  Expr row = make(ExprOp::Opaque, Type::Text, std::move(columns), place);
  row.text = "row";
  return row;
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

Expr aggregate_call(Scope& scope, Aggregate aggregate, const Tree& call, Place place) {
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

}  // namespace

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

Expr build_name(Scope& scope, const Tree& column_ref, Place place) {
  std::vector<std::string> names;
  for (const Tree& field : child(column_ref, "fields")) names.push_back(string_node(field));
  if (names.empty() || names.back().empty()) {
    scope.findings.fail(place, "* cannot stand here", "name the columns");
    return make_null(Type::Integer, place);
  }
  if (names.size() == 1) return plain_name(scope, names[0], place);
  return qualified_name(scope, names[names.size() - 2], names.back(), place);
}

namespace {

// The record variable that an argument names; nothing if a column has the name.
NamedVariable* record_of(Scope& scope, const Tree& arg) {
  const Tree& fields = child(child(arg, "ColumnRef"), "fields");
  if (fields.size() != 1 || scope.frame == nullptr) return nullptr;
  const std::string name = last_name(fields);
  const auto number = scope.frame->find_number(name);
  if (!number || !find_columns(scope, "", name).empty() || is_whole_row(scope, name))
    return nullptr;
  NamedVariable& record = scope.frame->named(*number);
  return record.is_record && !record.fields.empty() ? &record : nullptr;
}

// to_jsonb(r) and its like: some function of the fields of r. NEW or OLD without a row is NULL; so
// is any other record, but only as long as no query has filled it.
std::optional<Expr> build_call_of_record(Scope& scope, const std::string& name, const Tree& call,
                                         Place place) {
  static constexpr std::string_view kKnown[] = {"to_json", "to_jsonb", "row_to_json", "hstore"};
  const Tree& args = child(call, "args");
  if (std::ranges::find(kKnown, name) == std::end(kKnown) || args.size() != 1) return std::nullopt;
  NamedVariable* record = record_of(scope, args[0]);
  if (record == nullptr) return std::nullopt;
  record->is_tested = true;
  std::vector<Expr> fields;
  std::optional<Expr> is_null;
  bool is_of_trigger = record->is_row && (record->name == "new" || record->name == "old");
  for (const FieldVariable& field : record->fields) {
    // A hidden one stands for a key: a row may be NULL in all columns.
    if (field.is_hidden) is_of_trigger = false;
    if (field.is_hidden) continue;
    fields.push_back(make_variable(*scope.frame, field.var, place));
    is_null = both(std::move(is_null), make(ExprOp::IsNull, Type::Boolean, {fields.back()}, place));
  }
  if (!is_null) return std::nullopt;
  scope.findings.note(
      place, fmt::format("{} is treated as some function of the fields of {}", name, record->name),
      is_of_trigger ? NoteKind::Free : NoteKind::Gap);
  Expr opaque = make(ExprOp::Opaque, Type::Text, std::move(fields), place);
  opaque.text = name;
  if (!is_of_trigger) return opaque;
  return make(ExprOp::If, Type::Text,
              {*std::move(is_null), make_null(Type::Text, place), std::move(opaque)}, place);
}

// The arguments of a function of the server. One that is given by its name adds it to `called`, so
// that f(a => 1) and f(b => 1) may differ.
std::vector<Expr> build_arguments(Scope& scope, const Tree& call, std::string& called) {
  std::vector<Expr> args;
  for (const Tree& arg : child(call, "args")) {
    const Tree& named = child(arg, "NamedArgExpr");
    if (!named.is_null()) called += " " + text_of(named, "name");
    args.push_back(build_argument(scope, named.is_null() ? arg : child(named, "arg")));
  }
  return args;
}

// pg_notify tells other sessions at COMMIT, and changes no row. It fails for a channel without a
// name.
Expr build_notify(Scope& scope, std::vector<Expr> args, Place place) {
  constexpr std::size_t kLongestName = 63;
  const Expr& channel = args[0];
  const bool is_named =
      channel.op == ExprOp::Text && !channel.text.empty() && channel.text.size() <= kLongestName;
  if (!is_named)
    scope.findings.note(place, "pg_notify is taken to have the name of a channel", NoteKind::Free);
  Expr opaque = make(ExprOp::Opaque, Type::Text, std::move(args), place);
  opaque.text = "pg_notify";
  return opaque;
}

}  // namespace

Expr build_call(Scope& scope, const Tree& call, Place place) {
  const std::string name = last_name(child(call, "funcname"));
  if (has(call, "over")) {
    scope.findings.fail(place, "window functions (OVER) are not modelled",
                        "a loop over the rows can be");
    return make_null(Type::Integer, place);
  }
  if (const auto aggregate = aggregate_of(call))
    return aggregate_call(scope, *aggregate, call, place);
  if (scope.catalog.functions.contains(name)) return inline_call(scope, call, place);
  if (auto of_sequence = build_sequence_call(scope, name, call, place)) return *of_sequence;
  std::string called = name;
  if (auto of_row = build_call_of_record(scope, name, call, place)) return *std::move(of_row);
  std::vector<Expr> args = build_arguments(scope, call, called);
  if (called == name) {
    if (auto known = known_call(scope, name, args, place)) return *known;
    if (auto lock = build_advisory_lock(scope, name, args, place)) return *lock;
  }
  if (called == "pg_notify" && args.size() == 2) return build_notify(scope, std::move(args), place);
  Expr opaque = make(ExprOp::Opaque, Type::Integer, std::move(args), place);
  opaque.text = called;
  for (const KnownCall& pure : kPureCalls) {
    if (pure.name == name) {
      opaque.type = pure.type;
      opaque.bits = pure.bits;
      note_scale(scope, opaque.args, place);
      if (!is_executed(name, opaque.args))
        scope.findings.note(place,
                            fmt::format("{} is treated as some function of its arguments", name),
                            NoteKind::Free);
      return opaque;
    }
  }
  if (std::ranges::find(kImpureTexts, name) != kImpureTexts.end()) {
    opaque.type = Type::Text;
    opaque.is_volatile = true;
    scope.findings.note(place, fmt::format("{}() is an unknown value at each call", name),
                        NoteKind::Free);
    return opaque;
  }
  if (std::ranges::find(kImpureNumbers, name) != kImpureNumbers.end()) {
    opaque.is_volatile = true;
    scope.findings.note(place, fmt::format("{}() is an unknown value at each call", name),
                        NoteKind::Free);
    return opaque;
  }
  if (!opaque.args.empty()) opaque.type = opaque.args.front().type;
  if (name == "extract") opaque.type = Type::Numeric;
  // It may as well look at tables, or give something else each time.
  scope.findings.note(place,
                      fmt::format("{} is treated as some function of its arguments, which gives {}",
                                  name, a_type(opaque.type)),
                      NoteKind::Gap);
  return opaque;
}

}  // namespace isoscope::sql
