// What calls of functions in expressions stand for.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql/functions.h"
#include "sql/read/expr_parts.h"
#include "sql/read/inliner.h"
#include "sql/read/sequence_builder.h"

namespace isoscope::sql {
namespace {

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

}  // namespace

bool is_of_server(std::string_view name) {
  constexpr std::string_view kOfSequences[] = {"nextval", "currval", "lastval", "setval"};
  const auto is_in = [&](const auto& names) {
    return std::ranges::find(names, name) != std::end(names);
  };
  return name.starts_with("pg_") || is_in(kExecuted) || is_in(kImpureTexts) ||
         is_in(kImpureNumbers) || is_in(kOfSequences);
}

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
    return build_aggregate(scope, *aggregate, call, place);
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
