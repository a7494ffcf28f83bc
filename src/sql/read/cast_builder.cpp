// Casts: between numbers they round, all others are functions that only runs compute. And in which
// order the values of declared types are.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/expr_builder.h"
#include "sql/read/lazy_parts.h"

namespace isoscope::sql {
namespace {

// Declared as a whole number, or computed of such.
bool is_surely_number(const Scope& scope, const Expr& expr) {
  switch (expr.op) {
    case ExprOp::Integer:
    case ExprOp::ToInteger:
    case ExprOp::Cardinality: return true;
    case ExprOp::Variable: return scope.frame->variable(expr.var).width.is_number;
    case ExprOp::Column: {
      const auto from = std::ranges::find_if(scope.sources, [&](const Source& source) {
        return !source.columns && source.number == expr.source;
      });
      return from != scope.sources.end() &&
             scope.catalog.table(from->table).columns[expr.column].width.is_number;
    }
    default:
      // A sum with an interval is a moment, so each part has to be a number.
      return !expr.args.empty() && expr.op != ExprOp::Opaque &&
             std::ranges::all_of(expr.args, [&](const Expr& arg) {
               return arg.type != Type::Integer || is_surely_number(scope, arg);
             });
  }
}

// A moment is a number here, but not to the server, where it has a text of its own.
bool may_be_moment(const Scope& scope, const Expr& value) {
  return scope.catalog.has_moments && value.type == Type::Integer && value.bits == 64 &&
         !is_surely_number(scope, value);
}

// Is it declared with these values, or is it one of them?
bool is_of_enum(const Scope& scope, const Expr& expr, const Width& width) {
  if (expr.op == ExprOp::Null) return true;
  if (expr.op == ExprOp::Text)
    return std::ranges::find(*width.labels, expr.text) != width.labels->end();
  const auto declared = declared_width(scope, expr);
  return declared && declared->labels == width.labels;
}

// May it be a value of an enum whose values are not declared in the order of their bytes?
bool may_be_out_of_order(const Scope& scope, const Expr& expr) {
  const auto is_declared_otherwise = [](const Width& width) {
    return width.labels != nullptr && !std::ranges::is_sorted(*width.labels);
  };
  if (expr.type != Type::Text) return false;
  switch (expr.op) {
    case ExprOp::Variable:
    case ExprOp::Column:
      if (const auto declared = declared_width(scope, expr))
        return is_declared_otherwise(*declared);
      return std::ranges::any_of(scope.catalog.types, [&](const auto& type) {
        return is_declared_otherwise(type.second.width);
      });
    case ExprOp::Coalesce:
      if (!expr.text.empty()) return true;
      [[fallthrough]];
    case ExprOp::If:
    case ExprOp::Element:
    case ExprOp::Least:
    case ExprOp::Greatest:
      return std::ranges::any_of(expr.args,
                                 [&](const Expr& arg) { return may_be_out_of_order(scope, arg); });
    default: return false;
  }
}

// A text that is none of the values of the enum ends the call.
Expr cast_to_enum(Scope& scope, Expr value, const Width& width, Place place) {
  if (is_of_enum(scope, value, width)) return value;
  Expr cast = make(ExprOp::Coalesce, Type::Text, {std::move(value)}, place);
  cast.text = "\n";
  for (const std::string& label : *width.labels) cast.text += label + "\n";
  return computed_early(scope, std::move(cast));
}

}  // namespace

std::optional<Width> declared_width(const Scope& scope, const Expr& expr) {
  if (expr.op == ExprOp::Variable && scope.frame != nullptr &&
      !scope.frame->variable(expr.var).is_hidden)
    return scope.frame->variable(expr.var).width;
  if (expr.op != ExprOp::Column) return std::nullopt;
  const auto from = std::ranges::find_if(scope.sources, [&](const Source& source) {
    return !source.columns && source.number == expr.source;
  });
  if (from == scope.sources.end()) return std::nullopt;
  return scope.catalog.table(from->table).columns[expr.column].width;
}

void note_order(Scope& scope, const Expr& expr, Place place) {
  if (may_be_out_of_order(scope, expr))
    scope.findings.note(place,
                        "values of an enum are ordered by their bytes, not as they are declared",
                        NoteKind::Gap);
}

void note_uuid(Scope& scope, const Expr& value, const Width& width) {
  if (!width.is_uuid || value.type != Type::Text) return;
  switch (value.op) {
    case ExprOp::Null:
    case ExprOp::Text: return;  // the constant has a note of its own
    case ExprOp::If:
    case ExprOp::Coalesce:
      for (std::size_t i = value.op == ExprOp::If ? 1 : 0; i < value.args.size(); ++i)
        note_uuid(scope, value.args[i], width);
      return;
    default: break;
  }
  const auto declared = declared_width(scope, value);
  const bool is_made = value.op == ExprOp::Opaque && value.is_volatile;  // gen_random_uuid()
  // Of a row that a query has made the types are not known.
  const bool is_of_query = value.op == ExprOp::Column && !declared;
  if (is_made || is_of_query || (declared && declared->is_uuid)) return;
  scope.findings.note(value.place, "a text becomes a uuid, and is compared as it is written",
                      NoteKind::Gap);
}

Expr build_cast(Scope& scope, const Tree& node, Place place) {
  Expr value = build_expr(scope, child(node, "arg"));
  const DeclaredType type =
      scope.catalog.type_of(child(node, "typeName"), scope.where, scope.findings);
  if (type.type == Type::Text && has(child(node, "typeName"), "typmods"))
    scope.findings.note(place, "a cast that may cut a text is ignored", NoteKind::Gap);
  if (has_no_type(value)) {
    value = adapt(scope, std::move(value), type.type, type.is_array, "this cast", type.width.bits);
    if (type.type == Type::Numeric && !type.is_array) return round_to(std::move(value), type.width);
    return cast_number(std::move(value), type.width.bits);
  }
  const bool is_number = (value.type == Type::Integer || value.type == Type::Numeric) &&
                         (type.type == Type::Integer || type.type == Type::Numeric);
  if (is_number && !value.is_array && !type.is_array && !type.is_record)
    return cast_number(assigned(scope, std::move(value), type.type, false, "this cast", type.width),
                       type.width.bits);
  if (value.type == type.type && value.is_array == type.is_array) {
    if (!type.is_array) note_uuid(scope, value, type.width);
    if (type.width.labels != nullptr && !type.is_array)
      return cast_to_enum(scope, std::move(value), type.width, place);
    return cast_number(std::move(value), type.width.bits);
  }
  if (value.is_array || type.is_array || type.is_record) {
    scope.findings.fail(place, "this cast is not modelled");
    return value;
  }
  note_scale(scope, {&value, 1}, place);
  const std::string name = last_name(child(child(node, "typeName"), "names"));
  const bool is_rough = is_rough_number(name);
  if (may_be_moment(scope, value))
    scope.findings.note(place, "this may be the text of a moment, or of a number", NoteKind::Gap);
  if (is_rough || (value.type == Type::Text && type.type == Type::Numeric))
    scope.findings.note(place, fmt::format("a cast to {} gives some value", name), NoteKind::Free);
  constexpr std::string_view kNames[] = {"integer", "text", "boolean", "numeric"};
  Expr opaque = make(ExprOp::Opaque, type.type, {std::move(value)}, place);
  opaque.text = is_rough ? "cast to " + name : kNames[static_cast<std::size_t>(type.type)];
  opaque.bits = type.width.bits;
  return computed_early(scope, std::move(opaque));
}

}  // namespace isoscope::sql
