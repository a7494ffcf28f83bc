// Makers of expressions, and the fitting of values to types.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sql/functions.h"
#include "sql/read/expr_builder.h"

namespace isoscope::sql {

namespace {

// The most digits behind the point that a numeric result has.
std::uint8_t scale_of_result(ExprOp op, std::span<const Expr> args) {
  int scale = 0;
  switch (op) {
    case ExprOp::ToNumeric: return 0;
    case ExprOp::Multiply:
      for (const Expr& arg : args) scale += arg.op == ExprOp::Null ? 0 : arg.bits;
      break;
    case ExprOp::If: args = args.subspan(1); [[fallthrough]];
    case ExprOp::Element:
    case ExprOp::Negate:
    case ExprOp::Abs:
    case ExprOp::Add:
    case ExprOp::Subtract:
    case ExprOp::Modulo:
    case ExprOp::ArrayOf:
    case ExprOp::Coalesce:
    case ExprOp::Least:
    case ExprOp::Greatest:
      for (const Expr& arg : args) {
        const bool is_whole = arg.op == ExprOp::Null || arg.type != Type::Numeric;
        scale = std::max<int>(scale, is_whole ? 0 : arg.bits);
      }
      break;
    default: return kAnyScale;
  }
  return scale > Decimal::kMaxDigits ? kAnyScale : static_cast<std::uint8_t>(scale);
}

std::uint8_t bits_of_result(ExprOp op, std::span<const Expr> args) {
  switch (op) {
    case ExprOp::Cardinality: return 32;
    case ExprOp::Element: return args[0].bits;
    case ExprOp::If: args = args.subspan(1); break;
    case ExprOp::Negate:
    case ExprOp::Abs:
    case ExprOp::Add:
    case ExprOp::Subtract:
    case ExprOp::Multiply:
    case ExprOp::Divide:
    case ExprOp::Modulo:
    case ExprOp::ArrayOf:
    case ExprOp::Coalesce:
    case ExprOp::Least:
    case ExprOp::Greatest: break;
    default: return 64;
  }
  std::uint8_t bits = 16;
  for (const Expr& arg : args) bits = std::max(bits, arg.bits);
  return bits;
}

}  // namespace

Expr make(ExprOp op, Type type, Args args, Place place) {
  const std::uint8_t bits =
      type == Type::Numeric ? scale_of_result(op, args.list) : bits_of_result(op, args.list);
  return {.op = op, .type = type, .bits = bits, .args = std::move(args.list), .place = place};
}

Expr make_null(Type type, Place place) {
  // It takes the type of whatever stands beside it.
  return {.op = ExprOp::Null, .type = type, .bits = 16, .place = place};
}

Expr make_integer(std::int64_t number, Place place) {
  return {.op = ExprOp::Integer,
          .type = Type::Integer,
          .bits = static_cast<std::uint8_t>(fits(32, number) ? 32 : 64),
          .number = number,
          .place = place};
}

Expr make_decimal(const Decimal& number, Place place) {
  return {.op = ExprOp::Decimal,
          .type = Type::Numeric,
          .bits = number.scale,
          .text = print(number),
          .place = place};
}

Expr to_numeric(Expr value) {
  const Place place = value.place;
  if (value.op == ExprOp::Integer) return make_decimal({value.number, 0}, place);
  return make(ExprOp::ToNumeric, Type::Numeric, {std::move(value)}, place);
}

Expr to_integer(Expr value, std::uint8_t bits) {
  const Place place = value.place;
  value = make(ExprOp::ToInteger, Type::Integer, {std::move(value)}, place);
  value.bits = bits;
  return value;
}

Expr round_to(Expr value, const Width& width) {
  if (width.bits == kAnyScale || value.type != Type::Numeric || value.op == ExprOp::Null)
    return value;
  const Place place = value.place;
  value = make(ExprOp::Round, Type::Numeric, {std::move(value)}, place);
  value.number = width.bits;
  value.bits = width.bits;
  value.precision = width.precision;
  return value;
}

void note_scale(Scope& scope, std::span<const Expr> args, Place place) {
  for (const Expr& arg : args) {
    if (arg.type == Type::Numeric)
      return scope.findings.note(
          place, "what this gives depends on how many digits a numeric shows", NoteKind::Gap);
  }
}

Expr without_idle_rounding(Expr value) {
  const bool is_plain =
      value.op == ExprOp::Round && value.args[0].bits == value.number && value.args[0].args.empty();
  if (!is_plain || value.args[0].op == ExprOp::Decimal) return value;
  Expr inner = std::move(value.args[0]);
  return inner;
}

Type type_of_numbers(const Expr& a, const Expr& b) {
  const bool is_numeric = (a.type == Type::Numeric && a.op != ExprOp::Null) ||
                          (b.type == Type::Numeric && b.op != ExprOp::Null);
  return is_numeric ? Type::Numeric : Type::Integer;
}

Expr cast_number(Expr value, std::uint8_t bits) {
  if (value.type != Type::Integer || value.is_array || value.bits == bits) return value;
  const bool is_computed = value.op >= ExprOp::Negate && value.op <= ExprOp::Modulo;
  const bool is_checked = is_computed || value.op == ExprOp::Abs || value.op == ExprOp::Coalesce;
  const bool is_fine =
      value.op == ExprOp::Integer ? fits(bits, value.number) : value.bits < bits && !is_checked;
  if (!is_fine) {
    const Place place = value.place;
    value = make(ExprOp::Coalesce, Type::Integer, {std::move(value)}, place);
  }
  value.bits = bits;
  return value;
}

Expr make_text(std::string text, Place place) {
  return {.op = ExprOp::Text, .type = Type::Text, .text = std::move(text), .place = place};
}

Expr make_boolean(bool truth, Place place) {
  return {.op = ExprOp::Boolean, .type = Type::Boolean, .number = truth ? 1 : 0, .place = place};
}

bool has_no_type(const Expr& expr) {
  return expr.op == ExprOp::Null || expr.op == ExprOp::Text || expr.is_untyped;
}

Expr make_variable(const Frame& frame, VarId var, Place place) {
  const Variable& variable = frame.variable(var);
  return {.op = ExprOp::Variable,
          .type = variable.type,
          .is_array = variable.is_array,
          .bits = variable.width.bits,
          .is_untyped = frame.is_untyped(var),
          .var = var,
          .place = place};
}

std::optional<VarId> BoundRow::find(ColumnId column) const {
  for (const auto& [known, var] : columns) {
    if (known == column) return var;
  }
  return std::nullopt;
}

Expr make_column(const Scope& scope, std::uint32_t source, ColumnId column, Place place) {
  const Source& from = scope.sources[source];
  const Type type = from.columns ? (*from.columns)[column].type
                                 : scope.catalog.table(from.table).columns[column].type;
  const std::uint8_t bits = from.columns
                                ? (*from.columns)[column].bits
                                : scope.catalog.table(from.table).columns[column].width.bits;
  const bool is_array = from.columns && (*from.columns)[column].is_array;
  if (from.bound) {
    auto var = from.bound->find(column);
    if (!var) {
      const std::string name = from.columns ? (*from.columns)[column].name
                                            : scope.catalog.table(from.table).columns[column].name;
      var = scope.frame->add_hidden(from.name + "." + name, type, is_array, place, bits);
      from.bound->columns.emplace_back(column, *var);
    }
    return make_variable(*scope.frame, *var, place);
  }
  if (from.columns) return *(*from.columns)[column].value;
  return {.op = ExprOp::Column,
          .type = type,
          .bits = bits,
          .source = from.number,
          .column = column,
          .place = place};
}

std::vector<ColumnName> columns_of_source(const Scope& scope, std::uint32_t source) {
  std::vector<ColumnName> names;
  const Source& from = scope.sources[source];
  if (from.columns) {
    for (const ColumnId c : from.columns->ids()) names.push_back({(*from.columns)[c].name, c});
    return names;
  }
  const auto& columns = scope.catalog.table(from.table).columns;
  for (const ColumnId c : columns.ids()) {
    if (!columns[c].is_hidden) names.push_back({columns[c].name, c});
  }
  return names;
}

std::optional<ColumnId> find_source_column(const Scope& scope, std::uint32_t source,
                                           std::string_view name) {
  for (const ColumnName& column : columns_of_source(scope, source)) {
    if (column.name == name) return column.number;
  }
  return std::nullopt;
}

std::optional<Expr> both(std::optional<Expr> left, std::optional<Expr> right) {
  if (!left) return right;
  if (!right) return left;
  const Place place = left->place;
  if (left->op == ExprOp::And) {
    left->args.push_back(std::move(*right));
    return left;
  }
  return make(ExprOp::And, Type::Boolean, {std::move(*left), std::move(*right)}, place);
}

bool uses_column(const Expr& expr) {
  if (expr.op == ExprOp::Column) return true;
  for (const Expr& arg : expr.args) {
    if (uses_column(arg)) return true;
  }
  return false;
}

namespace {

std::optional<Expr> integer_from(const Expr& text) {
  std::int64_t number = 0;
  const char* end = text.text.data() + text.text.size();
  const auto [rest, error] = std::from_chars(text.text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return make_integer(number, text.place);
}

// As the server reads it, blanks around it included; not NaN and the infinities.
std::optional<Expr> decimal_from(const Expr& text) {
  std::string_view digits = text.text;
  while (digits.starts_with(' ')) digits.remove_prefix(1);
  while (digits.ends_with(' ')) digits.remove_suffix(1);
  const auto number = parse_decimal(digits);
  if (!number) return std::nullopt;
  return make_decimal(*number, text.place);
}

std::optional<Expr> boolean_from(const Expr& text) {
  for (const std::string_view word : {"t", "true", "yes", "on", "1"}) {
    if (text.text == word) return make_boolean(true, text.place);
  }
  for (const std::string_view word : {"f", "false", "no", "off", "0"}) {
    if (text.text == word) return make_boolean(false, text.place);
  }
  return std::nullopt;
}

// '{1,2}' as ARRAY[1, 2]; elements with quotes or braces of their own are not understood.
std::optional<Expr> array_from(Scope& scope, const Expr& text, Type type, std::uint8_t bits) {
  std::string_view rest = text.text;
  if (!rest.starts_with('{') || !rest.ends_with('}')) return std::nullopt;
  rest = rest.substr(1, rest.size() - 2);
  if (rest.find_first_of("\"{}\\") != std::string_view::npos) return std::nullopt;
  Expr array = make(ExprOp::ArrayOf, type, {}, text.place);
  array.is_array = true;
  array.bits = bits;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    std::string_view element = rest.substr(0, comma);
    while (element.starts_with(' ')) element.remove_prefix(1);
    while (element.ends_with(' ')) element.remove_suffix(1);
    Expr value = element == "NULL" ? make_null(type, text.place)
                                   : make_text(std::string(element), text.place);
    array.args.push_back(adapt(scope, std::move(value), type, false, "an element"));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return array;
}

}  // namespace

Expr adapt(Scope& scope, Expr value, Type type, bool is_array, std::string_view what,
           std::uint8_t bits) {
  if (value.op == ExprOp::Null) {
    value.type = type;
    value.is_array = is_array;
    return value;
  }
  if (value.is_untyped && scope.frame != nullptr) {
    if (scope.frame->is_untyped(value.var)) scope.frame->set_type(value.var, type, is_array, bits);
    value = make_variable(*scope.frame, value.var, value.place);
  }
  if (value.op == ExprOp::ArrayOf && value.args.empty()) value.type = type;
  if (value.op == ExprOp::Text && is_array) {
    if (auto array = array_from(scope, value, type, bits)) return *array;
  }
  if (value.is_array == is_array && value.type == type) return value;
  if (type == Type::Numeric && value.type == Type::Integer && value.is_array == is_array) {
    if (!is_array) return to_numeric(std::move(value));
    if (value.op == ExprOp::ArrayOf) {
      for (Expr& arg : value.args) arg = adapt(scope, std::move(arg), type, false, what);
      value = make(ExprOp::ArrayOf, type, std::move(value.args), value.place);
      value.is_array = true;
      return value;
    }
  }
  if (value.op == ExprOp::Text && !is_array) {
    if (type == Type::Boolean) {
      if (auto truth = boolean_from(value)) return *truth;
    } else if (type == Type::Numeric) {
      if (auto number = decimal_from(value)) return *number;
      scope.findings.fail(value.place, fmt::format("'{}' is no numeric that we have", value.text),
                          "NaN, the infinities and more than 38 digits are not modelled");
      return value;
    } else if (auto number = integer_from(value)) {
      if (fits(bits, number->number)) number->bits = bits;
      return *number;
    } else {
      const Place place = value.place;
      scope.findings.note(
          place, fmt::format("the constant '{}' is treated as some whole number", value.text),
          NoteKind::Free);
      Expr opaque = make(ExprOp::Opaque, type, {std::move(value)}, place);
      opaque.text = "constant";
      return opaque;
    }
  }
  // Columns that are arrays are kept as texts.
  const bool is_kept_array = value.is_array && type == Type::Text;
  if (!is_array && (is_kept_array || !value.is_array) && value.type != Type::Boolean &&
      type != Type::Boolean && value.op != ExprOp::Integer && value.op != ExprOp::Decimal &&
      (value.type == Type::Text || type == Type::Text)) {
    // A text that stands for a number, a date or the like, or the other way round.
    const Place place = value.place;
    scope.findings.note(place,
                        fmt::format("{} takes {}, and gets {}: some function of it", what,
                                    a_type(type), a_type(value.type)),
                        NoteKind::Gap);
    Expr opaque = make(ExprOp::Opaque, type, {std::move(value)}, place);
    opaque.text = type == Type::Text ? "text" : type == Type::Numeric ? "numeric" : "integer";
    return opaque;
  }
  scope.findings.fail(
      value.place,
      fmt::format("{} takes {}{}, but this is {}{}", what, is_array ? "an array, each " : "",
                  a_type(type), value.is_array ? "an array, each " : "", a_type(value.type)),
      "a cast, as in x::integer, converts a value");
  return value;
}

Expr assigned(Scope& scope, Expr value, Type type, bool is_array, std::string_view what,
              const Width& width) {
  if (type == Type::Integer && value.type == Type::Numeric && !is_array && !value.is_array &&
      value.op != ExprOp::Null)
    return to_integer(std::move(value), width.bits);
  value = adapt(scope, std::move(value), type, is_array, what, width.bits);
  if (!is_array) note_uuid(scope, value, width);
  return is_array ? value : cut_to(scope, round_to(std::move(value), width), width);
}

Expr cut_to(const Scope& scope, Expr value, const Width& width) {
  if (value.type != Type::Text || width.length == 0 || value.op == ExprOp::Null) return value;
  if (value.op == ExprOp::Text) {
    value.text = cut_text(std::move(value.text), width.length);
    return value;
  }
  const auto declared = declared_width(scope, value);
  const bool has_room = declared && ((declared->length > 0 && declared->length <= width.length) ||
                                     declared->labels != nullptr);
  if (has_room) return value;
  const Place place = value.place;
  Expr length = make_integer(static_cast<std::int64_t>(width.length), place);
  value = make(ExprOp::Opaque, Type::Text, {std::move(value), std::move(length)}, place);
  value.text = kCut;
  return value;
}

}  // namespace isoscope::sql
