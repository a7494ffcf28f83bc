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

// The first locking query that does not wait like that, or null.
const sql::Statement* find_lock(const std::vector<sql::Statement>& body, sql::LockWait wait) {
  for (const sql::Statement& statement : body) {
    if (statement.query.lock != sql::Lock::None && statement.query.wait == wait) return &statement;
    for (const auto* inner : {&statement.body, &statement.otherwise}) {
      if (const sql::Statement* found = find_lock(*inner, wait)) return found;
    }
  }
  return nullptr;
}

void add_lock_notes(const sql::Function& function, std::vector<sql::Note>& notes) {
  if (const sql::Statement* skips = find_lock(function.body, sql::LockWait::Skip))
    notes.push_back(
        {skips->place, function.name, "SKIP LOCKED is treated as waiting", sql::NoteKind::Gap});
  if (const sql::Statement* fails = find_lock(function.body, sql::LockWait::Fail))
    notes.push_back(
        {fails->place, function.name, "NOWAIT is treated as waiting", sql::NoteKind::Free});
}

// The first statement that audit does not model, or null.
const sql::Statement* find_refused(const sql::Application& app,
                                   const std::vector<sql::Statement>& body, std::string& why) {
  for (const sql::Statement& statement : body) {
    const bool is_update = statement.op == sql::StatementOp::Update;
    for (const sql::SetColumn& set : is_update ? statement.sets : statement.conflict_sets) {
      if (!app.table(statement.table).is_key_column(set.column)) continue;
      why = "changes a primary key";
      return &statement;
    }
    if (statement.advisory) {
      why = "takes an advisory lock";
      return &statement;
    }
    if (statement.catches) {
      why = "catches errors (EXCEPTION)";
      return &statement;
    }
    // What goes through row sets and copies of other functions is executed, and held against the
    // server, but its formulas are not yet: nothing may rest on them.
    if (statement.op == sql::StatementOp::Append || statement.op == sql::StatementOp::Block ||
        statement.query.rows || statement.into_rows || statement.once) {
      why = "asks for rows that go through a row set, or calls another function";
      return &statement;
    }
    for (const auto* inner : {&statement.body, &statement.otherwise}) {
      if (const sql::Statement* found = find_refused(app, *inner, why)) return found;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<Error> refusal(const sql::Application& app, const sql::Function& function) {
  std::string why;
  const sql::Statement* statement = find_refused(app, function.body, why);
  if (statement == nullptr) return std::nullopt;
  return Error{.where = statement->place,
               .what = fmt::format("{} {}, which audit does not model", function.name, why),
               .hint = "explore and run can execute it"};
}

std::vector<Refused> remove_refused(sql::Application& app) {
  std::vector<Refused> refused;
  std::vector<sql::Function> kept;
  for (sql::Function& function : app.functions) {
    if (auto why = refusal(app, function)) {
      refused.push_back({function.name, *std::move(why)});
    } else {
      kept.push_back(std::move(function));
    }
  }
  app.functions = std::move(kept);
  return refused;
}

sql::Note left_out_note(const std::string& function, const Error& why) {
  return {why.where, "", fmt::format("{} is left out: {}", function, why.what), sql::NoteKind::Gap};
}

std::vector<sql::Note> model_notes(const sql::Application& app) {
  std::vector<sql::Note> notes;
  for (const sql::Table& table : app.tables) {
    for (const sql::Exclusion& exclusion : table.exclusions)
      notes.push_back({exclusion.place, "", "EXCLUDE constraints are ignored", sql::NoteKind::Gap});
  }
  for (const sql::Function& function : app.functions) {
    add_lock_notes(function, notes);
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
