#include "audit/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "audit/server_levels.h"

namespace isoscope::audit {

namespace {

using sql::ExprOp;
using sql::StatementOp;

void for_each(std::vector<sql::Statement>& body,
              const std::function<void(sql::Statement&)>& action) {
  for (sql::Statement& statement : body) {
    action(statement);
    for_each(statement.body, action);
    for_each(statement.otherwise, action);
  }
}

bool is_same(const sql::Expr& a, const sql::Expr& b) {
  return a.op == b.op && a.number == b.number && a.text == b.text && a.var == b.var &&
         a.source == b.source && a.column == b.column &&
         std::ranges::equal(a.args, b.args, is_same);
}

// With something that the model leaves out, nothing is proved.
bool leaves_out(const Problem& problem) {
  const auto& notes = problem.app.notes;
  return std::ranges::find(notes, sql::NoteKind::Gap, &sql::Note::kind) != notes.end() ||
         !unmodelled(problem.app, problem.levels).empty();
}

bool is_proved(const Problem& problem, const AuditOptions& options, Budget& budget) {
  if (leaves_out(problem)) return false;
  OpenWorld open(problem, budget);
  return prove_serializable(problem, open, {.progress = options.progress}, budget).holds;
}

void choose_levels(const Problem& problem, const std::vector<const Level*>& levels,
                   const AuditOptions& options, Budget& budget, Advice& advice) {
  Problem trial = problem;
  trial.levels = {levels.back(),
                  std::vector<const Level*>(problem.app.functions.size(), levels.back())};
  const auto proves = [&] {
    ++advice.proofs;
    return is_proved(trial, options, budget);
  };
  const bool is_enough = proves();
  for (const Level*& own : trial.levels.own) {
    for (const Level* level : levels) {
      if (!is_enough || level == levels.back() || budget.expired_now()) break;
      own = level;
      if (proves()) break;
      own = levels.back();
    }
  }
  if (is_enough) advice.levels = trial.levels.own;
  advice.has_all_levels = !budget.expired_now();
}

// A copy of the application with one change, and what it is.
struct Candidate {
  sql::Application app;
  Repair repair;
};

// Some foreign key refers to the table.
bool is_target(const sql::Application& app, sql::TableId table) {
  return std::ranges::any_of(app.tables, [&](const sql::Table& other) {
    return std::ranges::any_of(other.foreign_keys,
                               [&](const sql::ForeignKey& key) { return key.target == table; });
  });
}

// The text of an UPDATE with the column in place of the variable that held it: after "column =".
std::string with_column(const std::string& text, const std::string& column,
                        const std::string& variable) {
  const std::string old_set = column + " = " + variable;
  const std::size_t at = text.find(old_set);
  if (at == std::string::npos) return "";
  return text.substr(0, at) + column + " = " + column + text.substr(at + old_set.size());
}

void add_locks(const sql::Application& app, std::vector<Candidate>& candidates) {
  for (std::size_t f = 0; f < app.functions.size(); ++f) {
    for (std::uint32_t number = 0; number < app.functions[f].num_statements; ++number) {
      Candidate candidate{app, {.kind = RepairKind::Lock, .function = app.functions[f].name}};
      bool is_changed = false;
      for_each(candidate.app.functions[f].body, [&](sql::Statement& statement) {
        if (statement.number != number || statement.op != StatementOp::Select ||
            statement.query.sources.empty() || statement.query.is_aggregate() ||
            statement.query.lock != sql::Lock::None)
          return;
        const bool is_referred_to = std::ranges::any_of(
            statement.query.sources, [&](sql::TableId table) { return is_target(app, table); });
        statement.query.lock = is_referred_to ? sql::Lock::NoKeyUpdate : sql::Lock::Update;
        candidate.repair.place = statement.place;
        candidate.repair.before = statement.text;
        candidate.repair.what =
            statement.text + (is_referred_to ? " FOR NO KEY UPDATE" : " FOR UPDATE");
        is_changed = true;
      });
      if (is_changed) candidates.push_back(std::move(candidate));
    }
  }
}

void add_equalities(const sql::Expr& expr, std::vector<std::uint32_t>& columns) {
  if (expr.op == ExprOp::And) {
    for (const sql::Expr& arg : expr.args) add_equalities(arg, columns);
  }
  if (expr.op != ExprOp::Equal) return;
  for (const sql::Expr& side : expr.args) {
    if (side.op == ExprOp::Column && side.source == 0) columns.push_back(side.column);
  }
}

// Columns that a function looks for in a table that it inserts into.
void add_unique(const sql::Application& app, std::vector<Candidate>& candidates) {
  std::vector<std::pair<sql::TableId, std::vector<std::uint32_t>>> known;
  for (const sql::Function& original : app.functions) {
    sql::Function function = original;
    std::vector<sql::TableId> inserted;
    for_each(function.body, [&](sql::Statement& statement) {
      if (statement.op == StatementOp::Insert) inserted.push_back(statement.table);
    });
    for_each(function.body, [&](sql::Statement& statement) {
      const sql::Query& query = statement.query;
      if (statement.op != StatementOp::Select || query.sources.size() != 1 || !query.where) return;
      const sql::TableId table = query.sources.front();
      if (std::ranges::find(inserted, table) == inserted.end()) return;
      std::vector<std::uint32_t> columns;
      add_equalities(*query.where, columns);
      std::ranges::sort(columns);
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      const sql::Table& declared = app.table(table);
      std::vector<std::uint32_t> key = declared.primary_key;
      std::ranges::sort(key);
      const auto change = std::pair(table, columns);
      if (columns.empty() || columns == key || std::ranges::find(known, change) != known.end())
        return;
      known.push_back(change);
      Candidate candidate{app, {.kind = RepairKind::Unique, .place = declared.place}};
      candidate.app.tables[table.index].unique.push_back(columns);
      std::string names;
      for (const std::uint32_t column : columns)
        names += (names.empty() ? "" : ", ") + declared.columns[column].name;
      candidate.repair.what = fmt::format("ALTER TABLE {} ADD UNIQUE ({})", declared.name, names);
      candidates.push_back(std::move(candidate));
    });
  }
}

// SELECT c INTO v … ; UPDATE … SET c = v + e: the UPDATE can compute from the column itself.
void add_atomic(const sql::Application& app, std::vector<Candidate>& candidates) {
  for (std::size_t f = 0; f < app.functions.size(); ++f) {
    // Variables that hold a column, by the last SELECT that filled them.
    struct Held {
      sql::TableId table;
      std::uint32_t column;
      std::optional<sql::Expr> where;
    };
    std::vector<std::optional<Held>> holds(app.functions[f].variables.size());
    Candidate candidate{app, {.kind = RepairKind::Atomic, .function = app.functions[f].name}};
    bool is_changed = false;
    for_each(candidate.app.functions[f].body, [&](sql::Statement& statement) {
      for (const sql::VarId target : statement.targets) holds[target.index].reset();
      const sql::Query& query = statement.query;
      if (statement.op == StatementOp::Select && query.sources.size() == 1 &&
          !query.is_aggregate()) {
        for (std::size_t i = 0; i < statement.targets.size() && i < query.outputs.size(); ++i) {
          const sql::Expr& output = query.outputs[i].expr;
          if (output.op == ExprOp::Column)
            holds[statement.targets[i].index] =
                Held{query.sources.front(), output.column, query.where};
        }
      }
      if (statement.op != StatementOp::Update) return;
      for (sql::SetColumn& set : statement.sets) {
        if (set.value.op != ExprOp::Add && set.value.op != ExprOp::Subtract) continue;
        sql::Expr& first = set.value.args.front();
        if (first.op != ExprOp::Variable || !holds[first.var.index]) continue;
        const Held& held = *holds[first.var.index];
        if (held.table != statement.table || held.column != set.column || !held.where ||
            !statement.where || !is_same(*held.where, *statement.where))
          continue;
        const std::string variable = app.functions[f].variables[first.var.index].name;
        first.op = ExprOp::Column;
        first.source = 0;
        first.column = set.column;
        candidate.repair.place = statement.place;
        const std::string& column = app.table(statement.table).columns[set.column].name;
        candidate.repair.what = with_column(statement.text, column, variable);
        candidate.repair.before = statement.text;
        if (candidate.repair.what.empty()) {
          candidate.repair.before.clear();
          candidate.repair.what =
              fmt::format("UPDATE {} SET {} = {} {} …", app.table(statement.table).name, column,
                          column, set.value.op == ExprOp::Add ? '+' : '-');
        }
        is_changed = true;
      }
    });
    if (is_changed) candidates.push_back(std::move(candidate));
  }
}

}  // namespace

std::string_view name_of(RepairKind kind) {
  switch (kind) {
    case RepairKind::Lock:
      return "lock";
    case RepairKind::Unique:
      return "unique";
    case RepairKind::Atomic:
      return "atomic";
  }
  return "";
}

Advice advise(const Problem& problem, const std::vector<const Level*>& levels, bool has_anomaly,
              const AuditOptions& options, Budget& budget) {
  Advice advice;
  choose_levels(problem, levels, options, budget, advice);
  if (has_anomaly) {
    std::vector<Candidate> candidates;
    add_atomic(problem.app, candidates);
    add_locks(problem.app, candidates);
    add_unique(problem.app, candidates);
    AuditOptions again = options;
    again.prove = true;
    again.all = false;
    again.path.reset();
    for (Candidate& candidate : candidates) {
      if (budget.expired_now()) break;
      const Problem repaired{candidate.app, problem.levels, problem.conflicts, problem.serial,
                             problem.rows_at_start};
      ++advice.repairs_tried;
      const AuditReport report = audit(repaired, again, budget);
      if (report.outcome == AuditOutcome::Anomaly) continue;
      // On a server, a cycle that is not ruled out may happen, though we have no run of it.
      const bool is_enough =
          report.outcome == AuditOutcome::Serializable ||
          (is_on_server(problem.levels) ? report.search.is_proof() : report.search.is_complete());
      if (!is_enough || leaves_out(repaired)) {
        ++advice.repairs_undecided;
        continue;
      }
      candidate.repair.is_proved = report.outcome == AuditOutcome::Serializable;
      advice.repairs.push_back(std::move(candidate.repair));
    }
  }
  advice.is_complete = !budget.expired_now();
  if (!advice.is_complete) advice.limit = limit_reached() + " was reached";
  return advice;
}

}  // namespace isoscope::audit
