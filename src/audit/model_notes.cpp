#include "audit/model_notes.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>

namespace isoscope::audit {

namespace {

using sql::ExprOp;

struct Arithmetic {
  std::optional<Place> first;
  std::set<std::string> operators;
};

bool is_constant(const sql::Expr& expr) {
  return expr.op == ExprOp::Integer ||
         (expr.op == ExprOp::Negate && expr.args.front().op == ExprOp::Integer);
}

void visit(const sql::Expr& expr, Place statement, Arithmetic& found) {
  const char* name = nullptr;
  if (expr.op == ExprOp::Multiply && !is_constant(expr.args[0]) && !is_constant(expr.args[1]))
    name = "*";
  if (expr.op == ExprOp::Divide) name = "/";
  if (expr.op == ExprOp::Modulo) name = "%";
  if (name != nullptr) {
    if (!found.first) found.first = expr.place.line > 0 ? expr.place : statement;
    found.operators.insert(name);
  }
  for (const sql::Expr& arg : expr.args) visit(arg, statement, found);
}

void visit(const std::vector<sql::Statement>& body, Arithmetic& found) {
  for (const sql::Statement& s : body) {
    const auto look = [&](const sql::Expr& expr) { visit(expr, s.place, found); };
    for (const auto* expr : {&s.where, &s.conflict_where, &s.expr, &s.index, &s.upper, &s.step,
                             &s.query.where, &s.query.limit, &s.query.offset}) {
      // What a function returns decides nothing in it.
      if (*expr && !(s.op == sql::StatementOp::Return && expr == &s.expr)) look(**expr);
    }
    for (const sql::SetColumn& set : s.sets) look(set.value);
    for (const sql::SetColumn& set : s.conflict_sets) look(set.value);
    for (const sql::Expr& expr : s.returning) look(expr);
    for (const sql::Output& output : s.query.outputs) look(output.expr);
    for (const sql::OrderBy& order : s.query.order_by) look(order.expr);
    visit(s.body, found);
    visit(s.otherwise, found);
  }
}

}  // namespace

std::vector<sql::Note> model_notes(const sql::Application& app) {
  std::vector<sql::Note> notes;
  for (const sql::Function& function : app.functions) {
    Arithmetic found;
    visit(function.body, found);
    if (!found.first) continue;
    std::string operators;
    for (const std::string& name : found.operators)
      operators += (operators.empty() ? "" : " and ") + name;
    notes.push_back({*found.first, function.name,
                     fmt::format("{} of variables: an unknown function of its operands", operators),
                     sql::NoteKind::Free});
  }
  return notes;
}

}  // namespace isoscope::audit
