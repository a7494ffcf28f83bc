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
  const auto begin = scope_.before->begin() + static_cast<std::ptrdiff_t>(begin_);
  // An expression of PL/pgSQL without subqueries is not planned with the values of its variables.
  const bool is_planned =
      scope_.is_subquery || !scope_.sources.empty() ||
      std::any_of(begin, scope_.before->end(), [](const Statement& s) { return !s.is<Block>(); });
  const bool is_first_rough = may_drop_first_ && is_planned;
  mark_calls_as_rough(
      {is_first_rough ? begin : scope_.before->begin() + static_cast<std::ptrdiff_t>(first_),
       scope_.before->end()});
}

void LazyParts::note_known(const Expr& part) {
  may_drop_first_ = may_drop_first_ || (!uses_column(part) && !is_volatile(part));
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

namespace {

bool has_variable(const Expr& expr) {
  return expr.op == ExprOp::Variable || std::ranges::any_of(expr.args, has_variable);
}

// Is it made of parameters and variables alone, whose values the planner knows?
bool is_known_to_planner(const Scope& scope, const Expr& expr) {
  if (expr.op == ExprOp::Column || expr.is_volatile) return false;
  if (expr.op == ExprOp::Variable &&
      (scope.frame == nullptr || scope.frame->variable(expr.var).is_hidden))
    return false;
  return std::ranges::all_of(expr.args,
                             [&](const Expr& arg) { return is_known_to_planner(scope, arg); });
}

bool is_refusing(const Expr& expr) {
  if (expr.op == ExprOp::Divide || expr.op == ExprOp::Modulo) {
    const Expr& divisor =
        expr.args[1].op == ExprOp::ToNumeric ? expr.args[1].args[0] : expr.args[1];
    return divisor.op != ExprOp::Decimal && (divisor.op != ExprOp::Integer || divisor.number == 0);
  }
  // A cast of a text.
  return expr.op == ExprOp::Opaque && expr.args.size() == 1 && !expr.is_array &&
         expr.args[0].type == Type::Text && (expr.text == "integer" || expr.text == "boolean");
}

// The least that the server counts for a condition: one comparison, or IS NULL.
bool is_cheap(const Expr& expr) {
  if (expr.op == ExprOp::Not) return is_cheap(expr.args[0]);
  const bool is_one =
      expr.op == ExprOp::IsNull || (expr.op >= ExprOp::Equal && expr.op <= ExprOp::GreaterEqual);
  return expr.args.empty() || (is_one && std::ranges::all_of(expr.args, [](const Expr& arg) {
                                 return arg.args.empty();
                               }));
}

// What may fail is written last, behind conditions that the server asks first, too.
bool is_written_in_order(const Expr& condition) {
  return condition.op == ExprOp::And &&
         std::all_of(condition.args.begin(), condition.args.end() - 1, is_cheap);
}

}  // namespace

bool may_be_refused(const Expr& expr) {
  return is_refusing(expr) || std::ranges::any_of(expr.args, may_be_refused);
}

void note_order_of_parts(Scope& scope, const Expr& condition) {
  // A query may stop at its first row: INTO, LIMIT and EXISTS ask for no other.
  const bool is_query = scope.is_subquery;
  const bool has_others = condition.op == ExprOp::And || condition.op == ExprOp::Or ||
                          scope.sources.size() > 1 || is_query;
  const bool is_in_order = !is_query && scope.sources.size() == 1 && is_written_in_order(condition);
  if (has_others && !is_in_order && uses_column(condition) && may_be_refused(condition))
    scope.findings.note(condition.place,
                        "the server may compute what can fail here before the other conditions, or "
                        "not at all",
                        NoteKind::Free);
}

Expr computed_early(Scope& scope, Expr made) {
  const bool is_enum = made.op == ExprOp::Coalesce && made.type == Type::Text;  // a cast to one
  if (!is_refusing(made) && !is_enum) return made;
  const bool is_known = has_variable(made)
                            ? !scope.sources.empty() && is_known_to_planner(scope, made)
                            : is_written_out(made) && !evaluate(made, {});
  if (!is_known) return made;
  if (scope.in_lazy_part || scope.before == nullptr || scope.frame == nullptr) {
    if (!is_enum)
      scope.findings.note(made.place, "the server computes this though no row may ask for it",
                          NoteKind::Free);
    return made;
  }
  const Place place = made.place;
  const VarId var = scope.frame->add_hidden("planned", made.type, made.is_array, place, made.bits);
  scope.before->push_back(Statement{.place = place, .text = scope.text}.with(
      Assign{.target = var, .value = std::move(made)}));
  return make_variable(*scope.frame, var, place);
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
