// UPDATE and DELETE, on symbols.
#include <algorithm>

#include "audit/symbolic_plan.h"

namespace isoscope::audit {

namespace {

// The CHECKs that look at one of the columns.
std::vector<const sql::Expr*> checks_of(const sql::Table& table,
                                        const std::set<std::uint32_t>& columns) {
  std::vector<const sql::Expr*> checks;
  for (const sql::Expr& check : table.checks) {
    const auto used = columns_of(check);
    if (std::ranges::any_of(used, [&](const auto& use) { return columns.contains(use.second); }))
      checks.push_back(&check);
  }
  return checks;
}

}  // namespace

void SymbolicRun::change_row(const sql::Statement& statement, sql::TableId table,
                             const std::vector<sql::SetColumn>& sets, const Row& row, SmtTerm guard,
                             const Frame& at) {
  const sql::Table& declared = symbols_.app().table(table);
  std::set<std::uint32_t> columns;
  for (const sql::SetColumn& set : sets) columns.insert(set.column);
  for (const auto& unique : declared.unique) {
    // Which entry becomes free depends on what the row had.
    if (!mentions(unique, columns)) continue;
    for (const std::uint32_t column : unique) read(statement, table, column, guard, row);
  }
  // What is referred to may not be lost: the old value matters.
  for (const sql::Table& other : symbols_.app().tables) {
    for (const sql::ForeignKey& key : other.foreign_keys) {
      if (key.target != table || !mentions(key.target_columns, columns)) continue;
      for (const std::uint32_t column : key.target_columns)
        read(statement, table, column, guard, row);
    }
  }
  for (const sql::Expr* check : checks_of(declared, columns)) {
    // A CHECK also looks at the columns that stay as they were.
    for (const auto& [of, column] : columns_of(*check)) {
      if (!columns.contains(column)) read(statement, table, column, guard, row);
    }
  }
  for (const sql::ForeignKey& key : declared.foreign_keys) {
    if (!mentions(key.columns, columns)) continue;
    for (const std::uint32_t column : key.columns) {
      if (!columns.contains(column)) read(statement, table, column, guard, row);
    }
  }
  const Frame old_row = at.with({Source{table, row}});
  for (const sql::SetColumn& set : sets) {
    const SymValue value = terms_.eval(set.value, at);
    if (declared.columns[set.column].not_null) abort_if(guard && value.null);
    write(statement, table, set.column, guard, row, value);
  }
  const Frame after = here().with({Source{table, row}});
  free_entries(statement, table, guard, old_row, columns);
  abort_if(take_entries(statement, table, guard, after, columns));
  for (const sql::Expr* check : checks_of(declared, columns))
    abort_if(guard && terms_.truth(*check, after).no);
  check_parents(statement, table, guard, &after, columns);
  check_children(statement, table, guard, &row, columns, at);
}

// What the constraints look at when an UPDATE changes many rows. Comes before the changes.
void SymbolicRun::change_many(const sql::Statement& statement, const sql::Update& update,
                              SmtTerm found, SmtTerm alive, ConditionId matches) {
  const sql::TableId table = update.table;
  const sql::Table& declared = symbols_.app().table(table);
  std::set<std::uint32_t> columns;
  for (const sql::SetColumn& set : update.sets) columns.insert(set.column);
  std::set<std::uint32_t> looked_at;
  for (const sql::Expr* check : checks_of(declared, columns)) {
    for (const auto& [of, column] : columns_of(*check)) looked_at.insert(column);
  }
  for (const auto& unique : declared.unique) {
    if (mentions(unique, columns)) looked_at.insert(unique.begin(), unique.end());
  }
  for (const sql::ForeignKey& key : declared.foreign_keys) {
    if (mentions(key.columns, columns)) looked_at.insert(key.columns.begin(), key.columns.end());
  }
  for (const sql::Table& other : symbols_.app().tables) {
    for (const sql::ForeignKey& key : other.foreign_keys) {
      if (key.target == table && mentions(key.target_columns, columns))
        looked_at.insert(key.target_columns.begin(), key.target_columns.end());
    }
  }
  for (const std::uint32_t column : looked_at) read_all(statement, table, column, alive, matches);
  change_any_entries(statement, table, found, columns);
  check_parents(statement, table, found, nullptr, columns);
  check_children(statement, table, found, nullptr, columns, current());
}

SymbolicRun::Target SymbolicRun::target_of(const sql::SearchedWrite& write) {
  const sql::TableId table = write.table;
  const sql::TableId sources[] = {table};
  const auto plan = std::make_shared<const Plan>(this->plan(sources, write.where));
  const Frame frame = here();
  const Frame now = current();
  Target target;
  target.frame = now;
  target.row = rows_of(*plan, frame).front().row;
  Search& search = target.search;
  search = {.table = table, .plan = plan, .guard = alive_, .locks = per_statement_};
  if (plan->is_fixed) search.row = target.row;
  Conditions& conditions = instance_.conditions;
  const auto meets = [&](const sql::Expr* expr, const Frame& at) {
    return conditions.add(condition::Meets{{expr, at.with({Source{table, {}}})}});
  };
  const auto is_there = [&](const Frame& at) {
    return conditions.add(condition::Present{table, at});
  };
  const sql::Expr* where = write.where ? &*write.where : nullptr;
  std::vector<ConditionId> fixed;
  for (const sql::Expr* conjunct : plan->sources.front().fixed)
    fixed.push_back(meets(conjunct, frame));
  search.is_candidate = conditions.all(std::move(fixed));
  search.is_there = conditions.all({search.is_candidate, is_there(frame)});
  search.is_found = conditions.all({is_there(frame), meets(where, frame)});
  search.matches = search.is_found;
  if (per_statement_) {
    search.is_followed = conditions.all({search.is_found, still_there(table)});
    search.is_left = conditions.all({search.is_followed, is_there(now)});
    search.matches =
        conditions.all({search.is_followed, conditions.all({is_there(now), meets(where, now)})});
  }
  if (write.once) search.matches = conditions.all({search.matches, is_untouched(table)});
  target.found = alive_ && terms_.holds(search.matches, target.row);
  if (!target.is_fixed()) {
    // Some row or other, if any matches.
    const SmtTerm some = symbols_.fresh_truth("found");
    instance_.facts.push_back(implies(some, target.found));
    const ConditionId alive = conditions.add(condition::Always{alive_});
    instance_.row_facts.push_back(
        {table, conditions.add(condition::Implies{conditions.all({alive, search.matches}),
                                                  conditions.add(condition::Always{some})})});
    target.found = some;
  }
  return target;
}

ConditionId SymbolicRun::is_untouched(sql::TableId table) {
  Conditions& conditions = instance_.conditions;
  const ConditionId untouched = conditions.add(
      condition::Unwritten{table, std::nullopt, first_access_, instance_.accesses.size()});
  if (loops_ == Loops::AtMostTwo || loop_frames_.empty()) return untouched;
  // A round that we do not look at may have changed it.
  const SmtFunction elsewhere = symbols_.row_function("elsewhere", table, SmtSolver::kBool);
  return conditions.all(
      {untouched, conditions.negate(conditions.add(condition::Named{elsewhere}))});
}

ConditionId SymbolicRun::still_there(sql::TableId table) {
  Conditions& conditions = instance_.conditions;
  const bool is_reused =
      symbols_.changes().has_deletes(table) && symbols_.changes().has_inserts(table);
  if (!is_reused) return conditions.add(condition::Always{symbols_.yes()});
  return conditions.add(condition::Named{symbols_.row_function("still", table, SmtSolver::kBool)});
}

void SymbolicRun::observe(const sql::Statement& statement, const Search& search,
                          std::uint32_t column, ConditionId condition) {
  if (search.row) {
    read(statement, search.table, column, search.guard && terms_.holds(condition, *search.row),
         *search.row);
  } else {
    read_all(statement, search.table, column, search.guard, condition);
  }
}

// What a search reads: whether rows are there, what WHERE asks for, and these columns of rows that
// match.
void SymbolicRun::read_found(const sql::Statement& statement, const Search& search,
                             bool reads_presence, const std::set<std::uint32_t>& columns) {
  const std::set<std::uint32_t>& where_columns = search.plan->sources[search.source].where_columns;
  if (!search.locks) {
    if (reads_presence || !search.row) observe(statement, search, kPresence, search.is_candidate);
    for (const std::uint32_t column : where_columns)
      observe(statement, search, column, search.is_there);
  } else {
    // Rows that the search passes by, or that are others by now.
    Conditions& conditions = instance_.conditions;
    const ConditionId is_lost = conditions.negate(search.is_followed);
    observe(statement, search, kPresence, conditions.all({search.is_candidate, is_lost}));
    for (const std::uint32_t column : where_columns)
      observe(statement, search, column, conditions.all({search.is_there, is_lost}));
    reads_at_ = kCurrent;
    observe(statement, search, kPresence, search.is_followed);
    for (const std::uint32_t column : where_columns)
      observe(statement, search, column, search.is_left);
  }
  for (const std::uint32_t column : columns) {
    if (!where_columns.contains(column)) observe(statement, search, column, search.matches);
  }
}

std::vector<SymValue> SymbolicRun::values_of(sql::TableId table, const Row& row,
                                             const Frame& frame) {
  const sql::Table& declared = symbols_.app().table(table);
  std::vector<SymValue> values;
  for (std::uint32_t c = 0; c < declared.columns.size(); ++c)
    values.push_back(terms_.value(table, c, row, frame));
  return values;
}

void SymbolicRun::return_row(const sql::Write& write, SmtTerm alive, SmtTerm found,
                             const Frame& row, bool is_only) {
  if (write.into_rows && is_only) {
    std::vector<SymValue> values;
    for (const sql::Expr& expr : write.returning) values.push_back(terms_.eval(expr, row));
    append_row(*write.into_rows, found && alive_, std::move(values));
  } else if (write.into_rows) {
    const SymArray old = *env_[write.into_rows->index].array;
    forget_rows(*write.into_rows);
    const SmtTerm size = env_[write.into_rows->index].array->size;
    instance_.facts.push_back(choose(found, old.size < size, equals(old.size, size)));
  }
  for (std::size_t i = 0; i < write.targets.size() && i < write.returning.size(); ++i) {
    Variable& target = env_[write.targets[i].index];
    target.value = symbols_.choose_value(
        alive, symbols_.choose_value(found, terms_.eval(write.returning[i], row), symbols_.null()),
        target.value);
  }
  set_found(found);
}

void SymbolicRun::update(const sql::Statement& statement, const sql::Update& update) {
  const sql::TableId table = update.table;
  const SmtTerm alive = alive_;
  const Target target = target_of(update);
  const Row row = target.row;
  const Frame frame = target.frame;
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const sql::SetColumn& set : update.sets) add_columns(set.value, used);
  for (const sql::Expr& expr : update.returning) add_columns(expr, used);
  for (const sql::Expr& expr : update.raises) add_columns(expr, used);
  std::set<std::uint32_t> columns;
  for (const auto& use : used) columns.insert(use.second);
  read_found(statement, target.search, true, columns);
  // RETURNING for a trigger asks for the row before, too.
  Source old_row{table, row};
  if (std::ranges::any_of(used, [](const auto& use) { return use.first == 1; }))
    old_row.values = values_of(table, row, frame);
  if (target.is_fixed()) {
    for (const sql::Expr& expr : update.raises)
      abort_if(target.found && terms_.is_true(expr, frame.with({Source{table, row}})));
    change_row(statement, table, update.sets, row, target.found, frame.with({Source{table, row}}));
  } else {
    change_many(statement, update, target.found, alive, target.search.matches);
    for (const sql::SetColumn& set : update.sets) {
      write_all(statement, table, set.column, alive, target.search.matches,
                RowExpr{&set.value, frame.with({Source{table, {}}})});
    }
  }
  return_row(update, alive, target.found, current().with({Source{table, row}, old_row}),
             target.is_fixed());
}

void SymbolicRun::remove(const sql::Statement& statement, const sql::Delete& remove) {
  const sql::TableId table = remove.table;
  const SmtTerm alive = alive_;
  const sql::Table& declared = symbols_.app().table(table);
  const Target target = target_of(remove);
  const Row row = target.row;
  const SmtTerm found = target.found;
  const Frame old_row = target.frame.with({Source{table, row}});
  // Who wants to know whether there was a row: also what else WHERE says, the entries that it
  // leaves, and rows that refer to it.
  const bool reports = per_statement_ || function_.found || function_.row_count ||
                       !remove.returning.empty() || !declared.unique.empty() ||
                       !target.where_columns().empty() || is_referred_to(table);
  std::set<std::uint32_t> all_columns;
  for (std::uint32_t c = 0; c < declared.columns.size(); ++c) all_columns.insert(c);
  // Of the rows that go: what RETURNING gives back, what may be referred to, and their entries.
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const sql::Expr& expr : remove.returning) add_columns(expr, used);
  std::set<std::uint32_t> columns;
  for (const auto& use : used) columns.insert(use.second);
  for (const sql::Table& other : symbols_.app().tables) {
    for (const sql::ForeignKey& key : other.foreign_keys) {
      if (key.target == table) columns.insert(key.target_columns.begin(), key.target_columns.end());
    }
  }
  for (const auto& unique : declared.unique) columns.insert(unique.begin(), unique.end());
  std::erase_if(columns, [&](std::uint32_t column) { return declared.is_key_column(column); });
  read_found(statement, target.search, reports, columns);
  const SymValue absent = symbols_.number(0);
  if (target.is_fixed()) {
    // By key alone it writes absence whether the row is there or not: it need not look.
    write(statement, table, kPresence,
          reports ? found : alive && terms_.holds(target.search.is_candidate, row), row, absent);
    check_children(statement, table, found, &row, all_columns, target.frame);
    free_entries(statement, table, found, old_row, all_columns);
  } else {
    write_all(statement, table, kPresence, alive, target.search.matches, absent);
    check_children(statement, table, found, nullptr, all_columns, target.frame);
    change_any_entries(statement, table, found, all_columns);
  }
  return_row(remove, alive, found, old_row, target.is_fixed());
}

}  // namespace isoscope::audit
