#include "audit/row_search.h"

#include <algorithm>

namespace isoscope::audit {

RowSearch::Finding RowSearch::finding_of(const ById<sql::SourceId, sql::TableId>& sources,
                                         const std::optional<sql::Expr>& where, bool locks) {
  return {.plan = plan_of(symbols_, sources, where),
          .where = where,
          .frame = call_.here(),
          .now = call_.current(),
          .alive = call_.alive,
          .locks = locks};
}

Sources RowSearch::rows_of(const QueryPlan& plan, const Frame& frame) {
  Sources rows(plan.sources.size());
  for (const sql::SourceId s : rows.ids()) rows[s].table = plan.sources[s].table;
  for (const sql::SourceId s : plan.order) {
    for (const sql::Expr* key : plan.sources[s].key) {
      rows[s].row.push_back(key != nullptr ? terms_.eval(*key, frame.with(rows)).number
                                           : symbols_.fresh_number("row"));
    }
    instance_.named_rows.emplace_back(rows[s].table, rows[s].row);
  }
  return rows;
}

SmtTerm RowSearch::are_met(const Finding& finding, const Sources& rows, const Frame& at) {
  std::vector<SmtTerm> parts;
  for (const Source& source : rows) parts.push_back(terms_.present(source.table, source.row, at));
  parts.push_back(terms_.is_true(finding.where, at.with(rows)));
  return symbols_.all(parts);
}

SmtTerm RowSearch::are_found(const Finding& finding, const Sources& rows) {
  SmtTerm found = are_met(finding, rows, finding.frame);
  for (const sql::SourceId s : finding.still.ids())
    found = found && terms_.holds(finding.still[s], rows[s].row);
  return finding.still.empty() ? found : found && are_met(finding, rows, finding.now);
}

void RowSearch::find_rows(const Finding& finding, std::size_t num_rows, Selection& selection) {
  const QueryPlan& plan = finding.plan;
  const Window& window = finding.window;
  const std::size_t count = plan.is_fixed ? 1 : num_rows;
  for (std::size_t i = 0; i < count; ++i) {
    Sources rows = rows_of(plan, finding.frame);
    if (plan.is_fixed) {
      SmtTerm found = finding.alive && are_found(finding, rows);
      if (!window.has_first) found = found && symbols_.fresh_truth("within_limit");
      selection.found.push_back(found);
    } else {
      const SmtTerm found = window.max_rows > i ? symbols_.fresh_truth("found") : symbols_.no();
      instance_.facts.push_back(implies(found, finding.alive && are_found(finding, rows)));
      for (std::size_t j = 0; j < i; ++j) {
        std::vector<SmtTerm> same;
        for (const sql::SourceId s : rows.ids())
          same.push_back(symbols_.same_row(rows[s].row, selection.rows[j][s].row));
        instance_.facts.push_back(!(found && selection.found[j] && symbols_.all(same)));
      }
      if (i > 0 && call_.loops == Loops::AtMostTwo)
        instance_.facts.push_back(implies(found, selection.found[i - 1]));
      selection.found.push_back(found);
    }
    selection.rows.push_back(std::move(rows));
  }
}

void RowSearch::find_all(const Finding& finding, std::size_t num_rows, const Selection& selection) {
  const QueryPlan& plan = finding.plan;
  if (finding.is_join() || plan.is_fixed || plan.sources.empty() || !finding.window.has_first ||
      (num_rows != 1 && call_.loops != Loops::AtMostTwo))
    return;
  const bool is_complete = num_rows > 1 && finding.window.is_whole;
  std::vector<ConditionId> parts;
  for (std::size_t i = 0; i < selection.rows.size(); ++i) {
    const ConditionId found = always(selection.found[i]);
    const ConditionId same = conditions_.add(condition::Is{selection.rows[i].front().row});
    parts.push_back(is_complete ? conditions_.all({found, same}) : found);
  }
  add_row_fact(plan.sources.front().table,
               conditions_.all({always(finding.alive), *selection.matches}),
               conditions_.add(condition::Any{std::move(parts)}));
}

TableSearch RowSearch::search_of(const Finding& finding, sql::SourceId s,
                                 std::optional<SmtFunction> looked_at) {
  TableSearch search{.source = finding.plan.sources[s],
                     .guard = finding.alive,
                     .locks = finding.locks && !finding.is_join()};
  const sql::TableId table = search.source.table;
  const auto meets = [&](const sql::Expr* expr, const Frame& at) {
    Sources rows(finding.plan.sources.size());
    rows[s].table = table;
    return conditions_.add(condition::Meets{{expr, at.with(std::move(rows)), s}});
  };
  const auto is_there = [&](const Frame& at) {
    return conditions_.add(condition::Present{table, at});
  };
  const auto matches = [&](const Frame& at) {
    return conditions_.all({is_there(at), meets(finding.where ? &*finding.where : nullptr, at)});
  };
  std::vector<ConditionId> fixed;
  for (const sql::Expr* conjunct : search.source.fixed)
    fixed.push_back(meets(conjunct, finding.frame));
  if (looked_at) fixed.push_back(conditions_.add(condition::Named{*looked_at}));
  search.is_candidate = conditions_.all(std::move(fixed));
  search.is_there = conditions_.all({search.is_candidate, is_there(finding.frame)});
  search.matches = finding.is_join() ? search.is_there : matches(finding.frame);
  if (!search.locks) return search;
  search.is_followed = conditions_.all({search.matches, finding.still.front()});
  search.is_left = conditions_.all({search.is_followed, is_there(finding.now)});
  search.matches = conditions_.all({search.is_followed, matches(finding.now)});
  return search;
}

SmtFunction RowSearch::looked_at(sql::TableId table, sql::SourceId s, const Selection& selection) {
  const SmtFunction looked_at = symbols_.row_function("looked_at", table, SmtSolver::kBool);
  for (std::size_t i = 0; i < selection.rows.size(); ++i)
    instance_.facts.push_back(implies(selection.found[i], looked_at(selection.rows[i][s].row)));
  return looked_at;
}

void RowSearch::observe(const TableSearch& search, Attribute attribute, ConditionId condition) {
  if (search.row) {
    call_.read(search.source.table, attribute, search.guard && terms_.holds(condition, *search.row),
               *search.row);
  } else {
    call_.read_all(search.source.table, attribute, search.guard, condition);
  }
}

void RowSearch::read_found(const TableSearch& search, bool reads_presence,
                           const std::set<sql::ColumnId>& columns) {
  const std::set<sql::ColumnId>& where_columns = search.source.where_columns;
  if (!search.locks) {
    if (reads_presence || !search.row) observe(search, kPresence, search.is_candidate);
    for (const sql::ColumnId column : where_columns)
      observe(search, Attribute(column), search.is_there);
  } else {
    // Rows that the search passes by, or that are others by now.
    const ConditionId is_lost = conditions_.negate(search.is_followed);
    observe(search, kPresence, conditions_.all({search.is_candidate, is_lost}));
    for (const sql::ColumnId column : where_columns)
      observe(search, Attribute(column), conditions_.all({search.is_there, is_lost}));
    call_.reads_at = kCurrent;
    observe(search, kPresence, search.is_followed);
    for (const sql::ColumnId column : where_columns)
      observe(search, Attribute(column), search.is_left);
  }
  for (const sql::ColumnId column : columns) {
    if (!where_columns.contains(column)) observe(search, Attribute(column), search.matches);
  }
}

void RowSearch::lock_found(const sql::Query& query, const Finding& finding, sql::SourceId s,
                           const std::set<sql::ColumnId>& outputs, const Selection& selection) {
  if (query.lock == sql::Lock::None || query.is_aggregate()) return;
  const SourcePlan& source = finding.plan.sources[s];
  if (finding.locks && finding.is_join()) {
    // What the search passes by is written down already; the rows that it found are read again.
    call_.reads_at = kCurrent;
    std::set<Attribute> read(outputs.begin(), outputs.end());
    read.insert(source.where_columns.begin(), source.where_columns.end());
    read.insert(kPresence);
    for (std::size_t i = 0; i < selection.rows.size(); ++i) {
      for (const Attribute attribute : read)
        call_.read(source.table, attribute, selection.found[i], selection.rows[i][s].row);
    }
    call_.reads_at = call_.at;
  }
  // Only rows that the query returns are locked: all of them in a loop and by PERFORM.
  const bool returns_all =
      call_.statement->is<sql::ForQuery>() || call_.statement->targets().empty();
  if (returns_all && finding.window.is_whole && !finding.is_join() && !source.is_fixed)
    return call_.lock(source.table, query.lock, finding.alive, std::nullopt, *selection.matches);
  for (std::size_t i = 0; i < selection.rows.size(); ++i)
    call_.lock(source.table, query.lock, selection.found[i], selection.rows[i][s].row);
}

Selection RowSearch::select(const sql::Query& query, std::size_t num_rows) {
  const bool locks =
      call_.per_statement && query.lock > sql::Lock::KeyShare && !query.is_aggregate();
  Finding finding = finding_of(query.sources, query.where, locks);
  if (!query.is_aggregate()) finding.window = window_of(query);
  for (const sql::TableId table : query.sources) {
    if (locks) finding.still.push_back(still_there(table));
  }
  std::set<std::pair<sql::SourceId, sql::ColumnId>> used;
  for (const sql::Output& output : query.outputs) add_columns(output.expr, used);
  for (const sql::OrderBy& order : query.order_by) add_columns(order.expr, used);

  Selection selection{.frame = locks ? finding.now : finding.frame,
                      .search = finding.frame,
                      .is_fixed = finding.plan.is_fixed};
  find_rows(finding, num_rows, selection);
  for (const sql::SourceId s : finding.plan.sources.ids()) {
    const SourcePlan& source = finding.plan.sources[s];
    std::optional<SmtFunction> looked;
    if (finding.is_join() && !source.is_fixed) looked = looked_at(source.table, s, selection);
    TableSearch search = search_of(finding, s, looked);
    if (source.is_fixed) search.row = selection.rows.front()[s].row;
    if (!finding.is_join()) selection.matches = search.matches;
    std::set<sql::ColumnId> outputs;
    for (const auto& [of, column] : used) {
      if (of == s && !source.where_columns.contains(column)) outputs.insert(column);
    }
    const std::size_t first_read = instance_.accesses.size();
    read_found(search, true, {});
    const bool is_fixed_by_insert =
        !finding.is_join() && !search.locks && !source.is_fixed &&
        std::ranges::none_of(source.where_columns, [&](sql::ColumnId column) {
          return symbols_.changes().is_updated(source.table, column);
        });
    for (std::size_t i = first_read; is_fixed_by_insert && i < instance_.accesses.size(); ++i) {
      instance_.accesses[i].would_match = RowExpr{query.where ? &*query.where : nullptr,
                                                  finding.frame.with({Source{source.table, {}}})};
    }
    for (const sql::ColumnId column : outputs) observe(search, Attribute(column), search.matches);
    lock_found(query, finding, s, outputs, selection);
  }
  find_all(finding, num_rows, selection);
  return selection;
}

Target RowSearch::target_of(const sql::SearchedWrite& write) {
  const ById<sql::SourceId, sql::TableId> sources = {write.table};
  Finding finding = finding_of(sources, write.where, call_.per_statement);
  Target target{.frame = finding.now, .row = rows_of(finding.plan, finding.frame).front().row};
  if (finding.locks) finding.still.push_back(still_there(write.table));
  TableSearch search = search_of(finding, sql::SourceId{0}, std::nullopt);
  if (search.source.is_fixed) search.row = target.row;
  if (write.once) search.matches = conditions_.all({search.matches, is_untouched(write.table)});
  target.found = call_.alive && terms_.holds(search.matches, target.row);
  if (!search.source.is_fixed) {
    // Some row or other, if any matches.
    const SmtTerm some = symbols_.fresh_truth("found");
    instance_.facts.push_back(implies(some, target.found));
    add_row_fact(write.table, conditions_.all({always(call_.alive), search.matches}), always(some));
    target.found = some;
  }
  target.search = std::move(search);
  return target;
}

ConditionId RowSearch::is_untouched(sql::TableId table) {
  const ConditionId untouched = conditions_.add(
      condition::Unwritten{table, std::nullopt, call_.first_access, instance_.accesses.size()});
  if (call_.loops == Loops::AtMostTwo || call_.exits.empty()) return untouched;
  // A round that we do not look at may have changed it.
  const SmtFunction elsewhere = symbols_.row_function("elsewhere", table, SmtSolver::kBool);
  return conditions_.all(
      {untouched, conditions_.negate(conditions_.add(condition::Named{elsewhere}))});
}

ConditionId RowSearch::still_there(sql::TableId table) {
  const bool is_reused =
      symbols_.changes().has_deletes(table) && symbols_.changes().has_inserts(table);
  if (!is_reused) return always(symbols_.yes());
  return conditions_.add(condition::Named{symbols_.row_function("still", table, SmtSolver::kBool)});
}

}  // namespace isoscope::audit
