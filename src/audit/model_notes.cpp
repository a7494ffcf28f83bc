#include "audit/model_notes.h"

#include <fmt/format.h>

#include <algorithm>
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

// The first advisory lock that is only tried, or null.
const sql::Statement* find_tried(const std::vector<sql::Statement>& body) {
  for (const sql::Statement& statement : body) {
    if (statement.advisory && statement.advisory->is_tried) return &statement;
    for (const auto* inner : {&statement.body, &statement.otherwise}) {
      if (const sql::Statement* found = find_tried(*inner)) return found;
    }
  }
  return nullptr;
}

// The first EXCEPTION block, or null.
const sql::Statement* find_handler(const std::vector<sql::Statement>& body) {
  for (const sql::Statement& statement : body) {
    if (statement.catches) return &statement;
    for (const auto* inner : {&statement.body, &statement.otherwise}) {
      if (const sql::Statement* found = find_handler(*inner)) return found;
    }
  }
  return nullptr;
}

// A call that catches an error goes on by what no serial order need show: a serialization failure,
// or a key that its snapshot does not have.
void add_handler_note(const sql::Function& function, std::vector<sql::Note>& notes) {
  if (const sql::Statement* handler = find_handler(function.body))
    notes.push_back({handler->place, function.name,
                     "what follows an error that an EXCEPTION block catches is not modelled",
                     sql::NoteKind::Gap});
}

void add_lock_notes(const sql::Function& function, std::vector<sql::Note>& notes) {
  if (const sql::Statement* skips = find_lock(function.body, sql::LockWait::Skip))
    notes.push_back(
        {skips->place, function.name, "SKIP LOCKED is treated as waiting", sql::NoteKind::Gap});
  // No serial order has a call that finds the lock taken.
  if (const sql::Statement* tried = find_tried(function.body))
    notes.push_back({tried->place, function.name,
                     "an advisory lock that is only tried is taken to be free",
                     sql::NoteKind::Gap});
  if (const sql::Statement* fails = find_lock(function.body, sql::LockWait::Fail))
    notes.push_back(
        {fails->place, function.name, "NOWAIT is treated as waiting", sql::NoteKind::Free});
}

// A part of an SQL statement that looks at a table which the same statement has changed before, or
// null. To the server all parts see the table as it was; the formulas let it see the change.
class OwnChanges {
 public:
  const sql::Statement* find(const std::vector<sql::Statement>& body) {
    for (const sql::Statement& statement : body) {
      if (statement.is_separate) {  // statements of their own
        if (const auto* found = OwnChanges().find(statement.body)) return found;
        continue;
      }
      if (looks_at_change(statement)) return &statement;
      // The second round of a loop follows the first.
      for (int round = 0; round < (statement.is_loop() ? 2 : 1); ++round) {
        if (const auto* found = find(statement.body)) return found;
      }
      if (const auto* found = find(statement.otherwise)) return found;
    }
    return nullptr;
  }

 private:
  bool looks_at_change(const sql::Statement& statement) {
    if (!statement.is_sql()) return false;
    if (!statement.continues) changed_.clear();
    if (statement.is_query())
      return std::ranges::any_of(statement.query.sources,
                                 [&](sql::TableId table) { return changed_.contains(table); });
    const bool is_new = changed_.insert(statement.table).second;
    // INSERT looks for its key among its own rows, too.
    return !is_new && !statement.once && statement.op != sql::StatementOp::Insert;
  }

  std::set<sql::TableId> changed_;
};

// The first statement that audit does not model, or null.
const sql::Statement* find_refused(const sql::Application& app,
                                   const std::vector<sql::Statement>& body, bool on_server,
                                   std::string& why) {
  for (const sql::Statement& statement : body) {
    const bool is_update = statement.op == sql::StatementOp::Update;
    for (const sql::SetColumn& set : is_update ? statement.sets : statement.conflict_sets) {
      if (!app.table(statement.table).is_key_column(set.column)) continue;
      why = "changes a primary key";
      return &statement;
    }
    if (statement.advisory && !on_server) {
      why = "takes an advisory lock at a level that is none of PostgreSQL's";
      return &statement;
    }
    if (statement.is_rough) {
      why = fmt::format("calls {} inside of a statement with a query of its own, or perhaps not",
                        statement.text);
      return &statement;
    }
    for (const auto* inner : {&statement.body, &statement.otherwise}) {
      if (const sql::Statement* found = find_refused(app, *inner, on_server, why)) return found;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<Error> refusal(const sql::Application& app, const sql::Function& function,
                             bool on_server) {
  std::string why;
  const sql::Statement* statement = find_refused(app, function.body, on_server, why);
  if (statement == nullptr) {
    statement = OwnChanges().find(function.body);
    why = "looks in one statement at a table that the same statement changes";
  }
  if (statement == nullptr) return std::nullopt;
  return Error{.where = statement->place,
               .what = fmt::format("{} {}, which audit does not model", function.name, why),
               .hint = "explore and run can execute it"};
}

std::vector<Refused> remove_refused(sql::Application& app, bool on_server) {
  std::vector<Refused> refused;
  std::vector<sql::Function> kept;
  for (sql::Function& function : app.functions) {
    if (auto why = refusal(app, function, on_server)) {
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
    add_handler_note(function, notes);
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
