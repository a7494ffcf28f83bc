#include "audit/model_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "sql/statement_walk.h"

namespace isoscope::audit {

namespace {

using sql::ExprOp;

struct Arithmetic {
  std::optional<Place> first;
  std::set<std::string> operators;
};

bool is_constant(const sql::Expr& expr) {
  const auto is_number = [](const sql::Expr& e) {
    return e.op == ExprOp::Integer || e.op == ExprOp::Decimal;
  };
  return is_number(expr) || (expr.op == ExprOp::Negate && is_number(expr.args.front()));
}

void visit(const sql::Expr& expr, Place statement, Arithmetic& found) {
  const char* name = nullptr;
  if (expr.op == ExprOp::Multiply && !is_constant(expr.args[0]) && !is_constant(expr.args[1]))
    name = "*";
  if (expr.op == ExprOp::Divide) name = "/";
  if (expr.op == ExprOp::Modulo) name = "%";
  if ((expr.op == ExprOp::ToInteger || expr.op == ExprOp::Round) && !sql::keeps_value(expr))
    name = "rounding";
  if (name != nullptr) {
    if (!found.first) found.first = expr.place.line > 0 ? expr.place : statement;
    found.operators.insert(name);
  }
  for (const sql::Expr& arg : expr.args) visit(arg, statement, found);
}

void visit(std::span<const sql::Statement> body, Arithmetic& found) {
  for (const sql::Statement& s : body) {
    // What a function returns decides nothing in it.
    if (!s.is<sql::Return>())
      sql::for_each_expr(s, [&](const sql::Expr& expr) { visit(expr, s.place, found); });
    visit(s.body(), found);
    visit(s.otherwise(), found);
  }
}

// The first statement, at any depth, of which `is_it` holds, or null.
template <class IsIt>
const sql::Statement* find_first(std::span<const sql::Statement> body, const IsIt& is_it) {
  for (const sql::Statement& statement : body) {
    if (is_it(statement)) return &statement;
    for (const auto inner : {statement.body(), statement.otherwise(), statement.handler()}) {
      if (const sql::Statement* found = find_first(inner, is_it)) return found;
    }
  }
  return nullptr;
}

// The first locking query that does not wait like that.
const sql::Statement* find_lock(std::span<const sql::Statement> body, sql::LockWait wait) {
  return find_first(body, [&](const sql::Statement& statement) {
    return statement.lock() != sql::Lock::None && statement.query()->wait == wait;
  });
}

// The first advisory lock that is only tried.
const sql::Statement* find_tried(std::span<const sql::Statement> body) {
  return find_first(body, [](const sql::Statement& statement) {
    return statement.advisory() != nullptr && statement.advisory()->is_tried;
  });
}

// The first EXCEPTION block behind which the call may go on. One whose handlers raise in any case
// only says in other words why the call aborts.
const sql::Statement* find_handler(std::span<const sql::Statement> body) {
  return find_first(body, [](const sql::Statement& statement) { return statement.may_recover(); });
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
  const sql::Statement* find(std::span<const sql::Statement> body) {
    for (const sql::Statement& statement : body) {
      if (statement.is_separate()) {  // statements of their own
        if (const auto* found = OwnChanges().find(statement.body())) return found;
        continue;
      }
      if (looks_at_change(statement)) return &statement;
      // The second round of a loop follows the first.
      for (int round = 0; round < (statement.is_loop() ? 2 : 1); ++round) {
        if (const auto* found = find(statement.body())) return found;
      }
      if (const auto* found = find(statement.otherwise())) return found;
    }
    return nullptr;
  }

 private:
  bool looks_at_change(const sql::Statement& statement) {
    if (!statement.is_sql()) return false;
    if (!statement.continues) changed_.clear();
    if (statement.is_query())
      return std::ranges::any_of(statement.query()->sources,
                                 [&](sql::TableId table) { return changed_.contains(table); });
    const bool is_new = changed_.insert(statement.write()->table).second;
    // INSERT looks for its key among its own rows, too.
    return !is_new && statement.searched() != nullptr && !statement.searched()->once;
  }

  std::set<sql::TableId> changed_;
};

bool changes_key(const sql::Application& app, const sql::Statement& statement) {
  const auto has_key = [&](sql::TableId table, const std::vector<sql::SetColumn>& sets) {
    return std::ranges::any_of(sets, [&](const sql::SetColumn& set) {
      return app.table(table).is_key_column(set.column);
    });
  };
  const auto* insert = statement.find<sql::Insert>();
  const auto* update = statement.find<sql::Update>();
  return (insert != nullptr && has_key(insert->table, insert->conflict_sets)) ||
         (update != nullptr && has_key(update->table, update->sets));
}

// The first statement that audit does not model, or null.
const sql::Statement* find_refused(const sql::Application& app,
                                   std::span<const sql::Statement> body, bool on_server,
                                   std::string& why) {
  return find_first(body, [&](const sql::Statement& statement) {
    const auto* block = statement.find<sql::Block>();
    if (statement.is<sql::EndTransaction>()) {
      why = fmt::format("ends its transaction by {} and goes on",
                        statement.as<sql::EndTransaction>().commits ? "COMMIT" : "ROLLBACK");
    } else if (changes_key(app, statement)) {
      why = "changes a primary key";
    } else if (statement.advisory() != nullptr && !on_server) {
      why = "takes an advisory lock at a level that is none of PostgreSQL's";
    } else if (block != nullptr && block->is_rough) {
      why = fmt::format("calls {} inside of a statement with a query of its own, or perhaps not",
                        statement.text);
    }
    return !why.empty();
  });
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
      notes.push_back({exclusion.place, "",
                       exclusion.is_unique ? "UNIQUE of some rows, of expressions or of NULLs is "
                                             "ignored"
                                           : "EXCLUDE constraints are ignored",
                       sql::NoteKind::Gap});
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
