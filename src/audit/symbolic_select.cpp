// The rows that a query finds, on symbols: what it reads of each table, and which rows it locks.
#include <algorithm>

#include "audit/symbolic_plan.h"

namespace isoscope::audit {

Window window_of(const sql::Query& query) {
  const auto is_null = [](const sql::Expr& expr) { return expr.op == sql::ExprOp::Null; };
  Window window;
  window.is_whole = !query.limit && !query.offset && !query.distinct;
  const auto& offset = query.offset;
  if (offset && !is_null(*offset))
    window.has_first = offset->op == sql::ExprOp::Integer && offset->number == 0;
  const auto& limit = query.limit;
  if (!limit || is_null(*limit)) return window;
  if (limit->op == sql::ExprOp::Integer && limit->number > 0) {
    window.max_rows = static_cast<std::size_t>(limit->number);
  } else {
    window.has_first = false;
  }
  return window;
}

bool SymbolicRun::is_locking(const sql::Query& query) const {
  return per_statement_ && query.lock > sql::Lock::KeyShare && !query.is_aggregate();
}

// What the parts of one SELECT share.
struct SymbolicRun::Finding {
  std::shared_ptr<const Plan> plan;
  const sql::Query& query;
  Frame frame;         // of its snapshot
  Frame now;           // when the call commits
  SmtTerm alive;       // it happens
  bool locks = false;  // the rows that it returns, with a snapshot per statement
  Window window = {};
  // With `locks`, by source: the row is no other one under the same key by now.
  std::vector<ConditionId> still = {};

  bool is_join() const { return query.sources.size() > 1; }
};

SymbolicRun::Finding SymbolicRun::finding_of(const sql::Query& query) {
  Finding finding{.plan = std::make_shared<const Plan>(plan(query.sources, query.where)),
                  .query = query,
                  .frame = here(),
                  .now = current(),
                  .alive = alive_,
                  .locks = is_locking(query)};
  if (!query.is_aggregate()) finding.window = window_of(query);
  for (const sql::TableId table : query.sources) {
    if (finding.locks) finding.still.push_back(still_there(table));
  }
  return finding;
}

// These rows, one a source, are there and meet WHERE as things are in a frame.
SmtTerm SymbolicRun::are_met(const sql::Query& query, const std::vector<Source>& rows,
                             const Frame& at) {
  std::vector<SmtTerm> parts;
  for (const Source& source : rows) parts.push_back(terms_.present(source.table, source.row, at));
  parts.push_back(terms_.is_true(query.where, at.with(rows)));
  return symbols_.all(parts);
}

// And so does the statement find them: in its snapshot, and with `locks` at the end too.
SmtTerm SymbolicRun::are_found(const Finding& finding, const std::vector<Source>& rows) {
  SmtTerm found = are_met(finding.query, rows, finding.frame);
  for (std::size_t s = 0; s < finding.still.size(); ++s)
    found = found && terms_.holds(finding.still[s], rows[s].row);
  return finding.still.empty() ? found : found && are_met(finding.query, rows, finding.now);
}

// The rows that it finds. Without a fixed key it finds some, free to be any that match.
void SymbolicRun::find_rows(const Finding& finding, std::size_t num_rows, Selection& selection) {
  const Plan& plan = *finding.plan;
  const Window& window = finding.window;
  const std::size_t count = plan.is_fixed ? 1 : num_rows;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<Source> rows = rows_of(plan, finding.frame);
    if (plan.is_fixed) {
      SmtTerm found = finding.alive && are_found(finding, rows);
      if (!window.has_first) found = found && symbols_.fresh_truth("within_limit");
      selection.found.push_back(found);
    } else {
      const SmtTerm found = window.max_rows > i ? symbols_.fresh_truth("found") : symbols_.no();
      instance_.facts.push_back(implies(found, finding.alive && are_found(finding, rows)));
      for (std::size_t j = 0; j < i; ++j) {
        std::vector<SmtTerm> same;
        for (std::size_t s = 0; s < rows.size(); ++s)
          same.push_back(symbols_.same_row(rows[s].row, selection.rows[j][s].row));
        instance_.facts.push_back(!(found && selection.found[j] && symbols_.all(same)));
      }
      if (i > 0 && loops_ == Loops::AtMostTwo)
        instance_.facts.push_back(implies(found, selection.found[i - 1]));
      selection.found.push_back(found);
    }
    selection.rows.push_back(std::move(rows));
  }
}

// What it looks for in one of its tables. In a join, which rows of one table are looked at depends
// on the others: a free symbol says.
SymbolicRun::Search SymbolicRun::search_of(const Finding& finding, std::uint32_t s,
                                           const Selection& selection) {
  const Plan::OfSource& source = finding.plan->sources[s];
  const sql::TableId table = source.table;
  Search search{.table = table,
                .plan = finding.plan,
                .source = s,
                .guard = finding.alive,
                .locks = finding.locks};
  if (source.is_fixed) search.row = selection.rows.front()[s].row;
  std::optional<SmtFunction> looked_at;
  if (finding.is_join() && !source.is_fixed) {
    looked_at = symbols_.row_function("looked_at", table, SmtSolver::kBool);
    for (std::size_t i = 0; i < selection.rows.size(); ++i)
      instance_.facts.push_back(
          implies(selection.found[i], (*looked_at)(selection.rows[i][s].row)));
  }
  Conditions& conditions = instance_.conditions;
  const auto meets = [&](const sql::Expr* expr, const Frame& at) {
    std::vector<Source> rows(finding.plan->sources.size());
    rows[s].table = table;
    return conditions.add(condition::Meets{{expr, at.with(std::move(rows)), s}});
  };
  const auto is_there = [&](const Frame& at) {
    return conditions.add(condition::Present{table, at});
  };
  std::vector<ConditionId> fixed;
  for (const sql::Expr* conjunct : source.fixed) fixed.push_back(meets(conjunct, finding.frame));
  if (looked_at) fixed.push_back(conditions.add(condition::Named{*looked_at}));
  search.is_candidate = conditions.all(std::move(fixed));
  search.is_there = conditions.all({search.is_candidate, is_there(finding.frame)});
  search.matches = search.is_there;
  if (finding.is_join()) return search;
  const sql::Expr* where = finding.query.where ? &*finding.query.where : nullptr;
  search.is_found = conditions.all({is_there(finding.frame), meets(where, finding.frame)});
  search.matches = search.is_found;
  if (!finding.locks) return search;
  search.is_followed = conditions.all({search.is_found, finding.still.front()});
  search.is_left = conditions.all({search.is_followed, is_there(finding.now)});
  search.matches = conditions.all(
      {search.is_followed, conditions.all({is_there(finding.now), meets(where, finding.now)})});
  return search;
}

// A read of rows that no key fixes: their presence, what WHERE looks at, and what is shown.
void SymbolicRun::scan(const sql::Statement& statement, const Finding& finding,
                       const Search& search, const std::set<std::uint32_t>& outputs) {
  const sql::TableId table = search.table;
  const std::set<std::uint32_t>& where_columns = finding.plan->sources[search.source].where_columns;
  const std::size_t first_read = instance_.accesses.size();
  read_all(statement, table, kPresence, finding.alive, search.is_candidate);
  for (const std::uint32_t column : where_columns)
    read_all(statement, table, column, finding.alive, search.is_there);
  const bool is_fixed_by_insert = std::ranges::none_of(where_columns, [&](std::uint32_t column) {
    return symbols_.changes().is_updated(table, column);
  });
  if (!finding.is_join() && is_fixed_by_insert) {
    const auto& where = finding.query.where;
    for (std::size_t i = first_read; i < instance_.accesses.size(); ++i) {
      instance_.accesses[i].would_match =
          RowExpr{where ? &*where : nullptr, finding.frame.with({Source{table, {}}})};
    }
  }
  for (const std::uint32_t column : outputs)
    read_all(statement, table, column, finding.alive, search.matches);
}

// The locks of FOR UPDATE and its kind on one of the tables.
void SymbolicRun::lock_found(const sql::Statement& statement, const Finding& finding,
                             const Search& search, const std::set<std::uint32_t>& outputs,
                             const Selection& selection) {
  const std::uint32_t s = search.source;
  const sql::Lock mode = finding.query.lock;
  if (mode == sql::Lock::None || finding.query.is_aggregate()) return;
  const Plan::OfSource& source = finding.plan->sources[s];
  if (finding.locks && finding.is_join()) {
    // What the search passes by is written down already; the rows that it found are read again.
    reads_at_ = kCurrent;
    std::set<std::uint32_t> columns = outputs;
    columns.insert(source.where_columns.begin(), source.where_columns.end());
    columns.insert(kPresence);
    for (std::size_t i = 0; i < selection.rows.size(); ++i) {
      for (const std::uint32_t column : columns)
        read(statement, search.table, column, selection.found[i], selection.rows[i][s].row);
    }
    reads_at_ = at_;
  }
  // Only rows that the query returns are locked: all of them in a loop and by PERFORM.
  const bool returns_all = statement.is<sql::ForQuery>() || statement.targets().empty();
  if (returns_all && finding.window.is_whole && !finding.is_join() && !source.is_fixed) {
    lock(statement, search.table, mode, finding.alive, std::nullopt, search.matches);
  } else {
    for (std::size_t i = 0; i < selection.rows.size(); ++i)
      lock(statement, search.table, mode, selection.found[i], selection.rows[i][s].row);
  }
}

// Every row that matches is found, or there are more than the ones that we look at.
void SymbolicRun::find_all(const Finding& finding, std::size_t num_rows,
                           const Selection& selection) {
  const Plan& plan = *finding.plan;
  if (finding.is_join() || plan.is_fixed || plan.sources.empty() || !finding.window.has_first ||
      (num_rows != 1 && loops_ != Loops::AtMostTwo))
    return;
  const bool is_complete = num_rows > 1 && finding.window.is_whole;
  Conditions& conditions = instance_.conditions;
  std::vector<ConditionId> parts;
  for (std::size_t i = 0; i < selection.rows.size(); ++i) {
    const ConditionId found = conditions.add(condition::Always{selection.found[i]});
    const ConditionId same = conditions.add(condition::Is{selection.rows[i].front().row});
    parts.push_back(is_complete ? conditions.all({found, same}) : found);
  }
  const ConditionId alive = conditions.add(condition::Always{finding.alive});
  instance_.row_facts.push_back(
      {plan.sources.front().table,
       conditions.add(condition::Implies{conditions.all({alive, *selection.matches}),
                                         conditions.add(condition::Any{std::move(parts)})})});
}

SymbolicRun::Selection SymbolicRun::select(const sql::Statement& statement, const sql::Query& query,
                                           std::size_t num_rows) {
  const Finding finding = finding_of(query);
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const sql::Output& output : query.outputs) add_columns(output.expr, used);
  for (const sql::OrderBy& order : query.order_by) add_columns(order.expr, used);

  Selection selection;
  selection.frame = finding.locks ? finding.now : finding.frame;
  selection.search = finding.frame;
  find_rows(finding, num_rows, selection);
  for (std::uint32_t s = 0; s < finding.plan->sources.size(); ++s) {
    const Plan::OfSource& source = finding.plan->sources[s];
    const Search search = search_of(finding, s, selection);
    if (!finding.is_join()) selection.matches = search.matches;
    std::set<std::uint32_t> outputs;
    for (const auto& [of, column] : used) {
      if (of == s && !source.where_columns.contains(column)) outputs.insert(column);
    }
    if (finding.locks && !finding.is_join()) {
      read_found(statement, search, true, outputs);
    } else if (source.is_fixed) {
      const Row& row = *search.row;
      const SmtTerm alive = finding.alive;
      read(statement, source.table, kPresence, alive && terms_.holds(search.is_candidate, row),
           row);
      for (const std::uint32_t column : source.where_columns)
        read(statement, source.table, column, alive && terms_.holds(search.is_there, row), row);
      for (const std::uint32_t column : outputs)
        read(statement, source.table, column, alive && terms_.holds(search.matches, row), row);
    } else {
      scan(statement, finding, search, outputs);
    }
    lock_found(statement, finding, search, outputs, selection);
  }
  find_all(finding, num_rows, selection);
  return selection;
}

}  // namespace isoscope::audit
