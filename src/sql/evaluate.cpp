#include "sql/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/digits_limit.h"
#include "sql/functions.h"
#include "support/assert.h"

namespace isoscope::sql {
namespace {

class NoRows final : public RowsInScope {
 public:
  Value column(SourceId, ColumnId) override { return {}; }
};

// What the server says; a type that we treat as a whole number says it like a bigint.
Error overflow(std::uint8_t bits) {
  return {.what = bits == 16   ? "smallint out of range"
                  : bits == 32 ? "integer out of range"
                               : "bigint out of range"};
}

Result<Value> arithmetic(ExprOp op, std::uint8_t bits, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool is_over = false;
  switch (op) {
    case ExprOp::Add: is_over = __builtin_add_overflow(a, b, &result); break;
    case ExprOp::Subtract: is_over = __builtin_sub_overflow(a, b, &result); break;
    case ExprOp::Multiply: is_over = __builtin_mul_overflow(a, b, &result); break;
    case ExprOp::Divide:
      if (b == 0) return Error{.what = "division by zero"};
      if (b == -1) return arithmetic(ExprOp::Subtract, bits, 0, a);  // the one that overflows
      result = a / b;
      break;
    default:
      ISO_ASSERT(op == ExprOp::Modulo);
      if (b == 0) return Error{.what = "division by zero"};
      result = b == -1 ? 0 : a % b;  // the hardware traps on the smallest % -1
  }
  if (is_over || !fits(bits, result)) return overflow(bits);
  return Value(result);
}

Result<Value> in_limits(const std::optional<Decimal>& number) {
  if (!number) return too_many_digits();
  return Value(*number);
}

Result<Value> arithmetic(ExprOp op, const Decimal& a, const Decimal& b) {
  switch (op) {
    case ExprOp::Add: return in_limits(a + b);
    case ExprOp::Subtract: return in_limits(a - b);
    case ExprOp::Multiply: return in_limits(a * b);
    default:
      ISO_ASSERT(op == ExprOp::Divide || op == ExprOp::Modulo);
      if (b.digits == 0) return Error{.what = "division by zero"};
      return in_limits(op == ExprOp::Divide ? a / b : a % b);
  }
}

std::optional<Decimal> decimal_in(const Value& value) {
  if (const auto* decimal = std::get_if<Decimal>(&value.data)) return *decimal;
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) return Decimal{*number, 0};
  return std::nullopt;
}

bool is_decimal(const Value& value) { return std::holds_alternative<Decimal>(value.data); }

std::optional<Error> why_not_numeric(std::uint8_t precision, std::uint8_t scale,
                                     const Decimal& value) {
  if (precision == 0 || digits_before_point(value) <= precision - scale) return std::nullopt;
  return Error{.what = "numeric field overflow"};
}

Result<Value> round(const Expr& e, const Value& value) {
  const auto number = decimal_in(value);
  if (!number) return Value();
  const auto result = rounded(*number, static_cast<int>(e.number));
  if (result) {
    const auto scale = static_cast<std::uint8_t>(e.number);
    if (auto misfit = why_not_numeric(e.precision, scale, *result)) return *misfit;
  }
  return in_limits(result);
}

Result<Value> whole(std::uint8_t bits, const Value& value) {
  const auto number = decimal_in(value);
  if (!number) return Value();
  const auto result = to_integer(*number);
  if (!result || !fits(bits, *result)) return overflow(bits);
  return Value(*result);
}

Result<Value> absolute(std::uint8_t bits, const Value& value) {
  if (const auto* decimal = std::get_if<Decimal>(&value.data))
    return Value(decimal->digits < 0 ? -*decimal : *decimal);
  const auto* number = std::get_if<std::int64_t>(&value.data);
  if (number == nullptr) return Value();
  return *number < 0 ? arithmetic(ExprOp::Subtract, bits, 0, *number) : Value(*number);
}

Result<Value> arithmetic(ExprOp op, std::uint8_t bits, const Value& a, const Value& b) {
  if (is_decimal(a) || is_decimal(b)) {
    const auto l = decimal_in(a);
    const auto r = decimal_in(b);
    if (l && r) return arithmetic(op, *l, *r);
  }
  const auto* left = std::get_if<std::int64_t>(&a.data);
  const auto* right = std::get_if<std::int64_t>(&b.data);
  // Texts that stand for dates and the like are only compared; a sum with one is unknown to us.
  if (left == nullptr || right == nullptr) return Value();
  return arithmetic(op, bits, *left, *right);
}

Value compared(ExprOp op, const Value& a, const Value& b) {
  const auto order = compare(a, b);
  if (!order) return {};
  switch (op) {
    case ExprOp::Equal: return Value(*order == 0);
    case ExprOp::NotEqual: return Value(*order != 0);
    case ExprOp::Less: return Value(*order < 0);
    case ExprOp::LessEqual: return Value(*order <= 0);
    case ExprOp::Greater: return Value(*order > 0);
    default: return Value(*order >= 0);
  }
}

class Evaluator {
 public:
  Evaluator(std::span<const Value> variables, RowsInScope& rows)
      : variables_(variables), rows_(rows) {}

  Result<Value> value(const Expr& e) {
    switch (e.op) {
      case ExprOp::Null: return Value();
      case ExprOp::Integer: return Value(e.number);
      case ExprOp::Text: return Value(e.text);
      case ExprOp::Boolean: return Value(e.number != 0);
      case ExprOp::Decimal: return in_limits(parse_decimal(e.text));
      case ExprOp::Variable:
        return e.var.index < variables_.size() ? variables_[e.var.index] : Value();
      case ExprOp::Column: return rows_.column(e.source, e.column);
      case ExprOp::And:
      case ExprOp::Or: return connective(e);
      case ExprOp::If: {
        const Expr* branch = &e;
        while (branch->op == ExprOp::If) {
          auto condition = value(branch->args[0]);
          if (!condition) return condition;
          branch = &branch->args[is_true(*condition) ? 1 : 2];
        }
        return value(*branch);
      }
      case ExprOp::Coalesce: return first_known(e);
      default: return of_arguments(e);
    }
  }

 private:
  // And, Or: the value that decides, else NULL if one was, else the other value.
  Result<Value> connective(const Expr& e) {
    const Value decisive(e.op == ExprOp::Or);
    bool has_null = false;
    for (const Expr& arg : e.args) {
      auto v = value(arg);
      if (!v || *v == decisive) return v;
      has_null = has_null || v->is_null();
    }
    return has_null ? Value() : Value(e.op == ExprOp::And);
  }

  // COALESCE of one argument is a cast.
  static std::optional<Error> why_not_cast(const Expr& e, const Value& value) {
    const auto* number = std::get_if<std::int64_t>(&value.data);
    if (number != nullptr && !fits(e.bits, *number)) return overflow(e.bits);
    const auto* text = std::get_if<std::string>(&value.data);
    if (text != nullptr && !e.text.empty() && e.text.find("\n" + *text + "\n") == std::string::npos)
      return Error{.what = "a text is none of its type"};
    return std::nullopt;
  }

  Result<Value> first_known(const Expr& e) {
    for (const Expr& arg : e.args) {
      auto v = value(arg);
      if (!v) return v;
      if (v->is_null()) continue;
      if (e.args.size() == 1) {
        if (auto misfit = why_not_cast(e, *v)) return *std::move(misfit);
      }
      return v;
    }
    return Value();
  }

  // Operators that look at all their arguments.
  Result<Value> of_arguments(const Expr& e) {
    std::vector<Value> args;
    for (const Expr& arg : e.args) {
      auto v = value(arg);
      if (!v) return v;
      args.push_back(*std::move(v));
    }
    switch (e.op) {
      case ExprOp::Element: return element(args[0], args[1]);
      case ExprOp::Cardinality:
        if (const auto* list = std::get_if<std::vector<Value>>(&args[0].data))
          return Value(static_cast<std::int64_t>(list->size()));
        return Value();
      case ExprOp::ArrayOf: return Value(std::move(args));
      case ExprOp::InArray: return in_array(args[0], args[1]);
      case ExprOp::Not: return args[0].is_null() ? Value() : Value(!is_true(args[0]));
      case ExprOp::IsNull: return Value(args[0].is_null());
      case ExprOp::Negate:
        return arithmetic(ExprOp::Subtract, e.bits, Value(std::int64_t{0}), args[0]);
      case ExprOp::Abs: return absolute(e.bits, args[0]);
      case ExprOp::ToNumeric: return args[0].is_null() ? Value() : in_limits(decimal_in(args[0]));
      case ExprOp::ToInteger: return whole(e.bits, args[0]);
      case ExprOp::Round: return round(e, args[0]);
      case ExprOp::Add:
      case ExprOp::Subtract:
      case ExprOp::Multiply:
      case ExprOp::Divide:
      case ExprOp::Modulo: return arithmetic(e.op, e.bits, args[0], args[1]);
      case ExprOp::Concat: return concatenate(args[0], args[1]);
      case ExprOp::Least:
      case ExprOp::Greatest: return extreme(args, e.op == ExprOp::Greatest);
      case ExprOp::Opaque: {
        if (!e.is_array) {
          auto value = call_function(e.text, e.type, args);
          const auto* number = value ? std::get_if<std::int64_t>(&value->data) : nullptr;
          const bool is_cast = e.text == "integer";
          if (is_cast && number != nullptr && !fits(e.bits, *number)) return overflow(e.bits);
          return value;
        }
        // Some values: two stand for however many there are.
        std::vector<Value> values;
        for (const char* which : {" 1", " 2"}) {
          auto value = call_function(e.text + which, e.type, args);
          if (!value) return value.error();
          values.push_back(*std::move(value));
        }
        return Value(std::move(values));
      }
      default: return compared(e.op, args[0], args[1]);
    }
  }

  static Value element(const Value& array, const Value& index) {
    const auto* list = std::get_if<std::vector<Value>>(&array.data);
    const auto* at = std::get_if<std::int64_t>(&index.data);
    if (list == nullptr || at == nullptr) return {};
    if (*at < 1 || *at > static_cast<std::int64_t>(list->size())) return {};
    return (*list)[static_cast<std::size_t>(*at - 1)];
  }

  static Value in_array(const Value& needle, const Value& array) {
    const auto* list = std::get_if<std::vector<Value>>(&array.data);
    if (list == nullptr) return {};
    bool has_null = false;
    for (const Value& v : *list) {
      Value same = compared(ExprOp::Equal, needle, v);
      if (is_true(same)) return same;
      has_null = has_null || same.is_null();
    }
    return has_null ? Value() : Value(false);
  }

  static Value extreme(const std::vector<Value>& args, bool greatest) {
    Value best;
    for (const Value& v : args) {
      if (v.is_null()) continue;
      if (best.is_null() || (greatest ? best < v : v < best)) best = v;
    }
    return best;
  }

  std::span<const Value> variables_;
  RowsInScope& rows_;
};

// In UTF-8.
std::ptrdiff_t num_characters(std::string_view text) {
  return std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

}  // namespace

Result<Value> evaluate(const Expr& expr, std::span<const Value> variables, RowsInScope& rows) {
  return Evaluator(variables, rows).value(expr);
}

Result<Value> evaluate(const Expr& expr, std::span<const Value> variables) {
  NoRows none;
  return evaluate(expr, variables, none);
}

std::optional<std::strong_ordering> compare(const Value& a, const Value& b) {
  if (a.is_null() || b.is_null()) return std::nullopt;
  return a <=> b;
}

Result<Value> add(const Value& a, const Value& b) { return arithmetic(ExprOp::Add, 64, a, b); }

Result<Value> average(const Value& sum, std::int64_t count) {
  const auto number = decimal_in(sum);
  if (!number || count == 0) return Value();
  return arithmetic(ExprOp::Divide, *number, Decimal{count, 0});
}

std::optional<Error> why_not_in(const Width& width, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) {
    if (!fits(width.bits, *number)) return overflow(width.bits);
  }
  if (const auto* number = std::get_if<Decimal>(&value.data))
    return why_not_numeric(width.precision, width.bits, *number);
  const auto* list = std::get_if<std::vector<Value>>(&value.data);
  if (list != nullptr && width.bits < 64) {
    for (const Value& element : *list) {
      if (auto misfit = why_not_in(width, element)) return misfit;
    }
  }
  const auto* text = std::get_if<std::string>(&value.data);
  if (text != nullptr && width.labels != nullptr &&
      std::ranges::find(*width.labels, *text) == width.labels->end())
    return Error{.what = "a text is none of its type"};
  if (text == nullptr || width.length == 0) return std::nullopt;
  // Blanks at the end may be cut off.
  const std::string_view kept(text->data(), text->find_last_not_of(' ') + 1);
  if (num_characters(kept) > width.length) return Error{.what = "a text is too long"};
  return std::nullopt;
}

Value kept_in(const Width& width, Value value) {
  auto* text = std::get_if<std::string>(&value.data);
  if (text == nullptr || width.length == 0) return value;
  *text = cut_text(std::move(*text), width.length);
  return value;
}

}  // namespace isoscope::sql
