#include "sql/read/lazy_parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sql/evaluate.h"
#include "sql/read/query_builder.h"

namespace isoscope::sql {
namespace {

bool is_volatile(const Expr& expr) {
  return expr.is_volatile || std::ranges::any_of(expr.args, is_volatile);
}

// It reads no variable and no column, and has the same value each time.
bool is_written_out(const Expr& expr) {
  return expr.op != ExprOp::Variable && expr.op != ExprOp::Column && !expr.is_volatile &&
         std::ranges::all_of(expr.args, is_written_out);
}

bool has_value(const Expr& expr, const Value& value) {
  if (!is_written_out(expr)) return false;
  const auto known = evaluate(expr, {});
  return known.ok() && *known == value;
}

// NULL beside it makes it NULL, whatever the other argument is.
bool is_strict(ExprOp op) { return op >= ExprOp::Add && op <= ExprOp::GreaterEqual; }

}  // namespace

LazyParts::LazyParts(Scope& scope, Place place) : scope_(scope), place_(place) {
  mark();
  begin_ = first_ = mark_;
}

LazyParts::~LazyParts() {
  if (scope_.before == nullptr) return;
  mark_calls_as_rough(
      {scope_.before->begin() + static_cast<std::ptrdiff_t>(first_), scope_.before->end()});
}

void LazyParts::end_first() {
  mark();
  first_ = mark_;
}

bool LazyParts::has_statements() const { return mark_ > begin_; }

bool LazyParts::has_grown() const {
  return scope_.before != nullptr && scope_.before->size() > mark_;
}

void LazyParts::mark() { mark_ = scope_.before != nullptr ? scope_.before->size() : 0; }

void LazyParts::guard(Expr asked) {
  // What a row decides is not known before the statement begins.
  if (uses_column(asked) || is_volatile(asked)) return;
  const auto from = scope_.before->begin() + static_cast<std::ptrdiff_t>(mark_);
  std::vector<Statement> needed(std::make_move_iterator(from),
                                std::make_move_iterator(scope_.before->end()));
  scope_.before->erase(from, scope_.before->end());
  scope_.before->push_back(Statement{.place = place_, .text = scope_.text}.with(
      If{.condition = std::move(asked), .body = std::move(needed), .otherwise = {}}));
}

Expr is_not_true(Expr test) {
  const Place place = test.place;
  return make(ExprOp::If, Type::Boolean,
              {std::move(test), make_boolean(false, place), make_boolean(true, place)}, place);
}

Expr goes_on_after(ExprOp op, Expr part) {
  const Place place = part.place;
  if (op == ExprOp::And) part = make(ExprOp::Not, Type::Boolean, {std::move(part)}, place);
  return is_not_true(std::move(part));
}

bool decides(ExprOp op, const Expr& part) { return has_value(part, Value(op == ExprOp::Or)); }

bool may_fail(const Expr& expr) {
  if (is_written_out(expr)) return false;  // the planner computes it, too
  const bool is_cast = expr.op == ExprOp::Coalesce && expr.args.size() == 1;
  const bool computes = expr.op == ExprOp::Negate || expr.op == ExprOp::Abs ||
                        (expr.op >= ExprOp::Add && expr.op <= ExprOp::Modulo) ||
                        expr.op == ExprOp::ToInteger || expr.op == ExprOp::Round ||
                        expr.op == ExprOp::Opaque || is_cast;
  return computes || std::ranges::any_of(expr.args, [](const Expr& arg) { return may_fail(arg); });
}

void refuse_dropped(Scope& scope, Place place) {
  scope.findings.fail(place, "the server computes none of this, as its value is written beside it",
                      "write the value alone: NULL, false or true");
}

void refuse_dropped_operand(Scope& scope, const Expr& made, bool has_statements) {
  if (!is_strict(made.op)) return;
  if (std::ranges::none_of(made.args, [](const Expr& arg) { return has_value(arg, Value()); }))
    return;
  if (has_statements ||
      std::ranges::any_of(made.args, [](const Expr& arg) { return may_fail(arg); }))
    refuse_dropped(scope, made.place);
}

}  // namespace isoscope::sql
