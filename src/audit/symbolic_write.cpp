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
  const NewValue old_value = [this, table, row, at](std::uint32_t column) {
    return value_now(table, column, row, at);
  };
  for (const sql::SetColumn& set : sets) {
    const SymValue value = eval(set.value, at);
    if (declared.columns[set.column].not_null) abort_if(guard && value.null);
    write(statement, table, set.column, guard, row, value);
  }
  const Frame after = here().with({Source{table, row}});
  const NewValue new_value = [this, table, row, after](std::uint32_t column) {
    return value_now(table, column, row, after);
  };
  free_entries(statement, table, guard, old_value, columns);
  abort_if(take_entries(statement, table, guard, new_value, columns));
  for (const sql::Expr* check : checks_of(declared, columns))
    abort_if(guard && truth(*check, after).no);
  check_parents(statement, table, guard, &new_value, columns);
  check_children(statement, table, guard, &row, columns, at);
}

// What the constraints look at when an UPDATE changes many rows. Comes before the changes.
void SymbolicRun::change_many(const sql::Statement& statement, const sql::Update& update,
                              SmtTerm found, SmtTerm alive,
                              const std::function<SmtTerm(const Row&)>& matches) {
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
  const std::optional<sql::Expr>* where = &write.where;
  search.is_candidate = [this, plan, table, frame](const Row& row) {
    std::vector<SmtTerm> parts;
    for (const sql::Expr* conjunct : plan->sources.front().fixed)
      parts.push_back(is_true(*conjunct, frame.with({Source{table, row}})));
    return symbols_.all(parts);
  };
  search.is_there = [this, is_candidate = search.is_candidate, table, frame](const Row& row) {
    return is_candidate(row) && present_now(table, row, frame);
  };
  const auto meets = [this, table, where](const Row& row, const Frame& at) {
    return present_now(table, row, at) && is_true(*where, at.with({Source{table, row}}));
  };
  search.is_found = [meets, frame](const Row& row) { return meets(row, frame); };
  search.matches = search.is_found;
  if (per_statement_) {
    const auto still = still_there(table);
    search.is_followed = [still, is_found = search.is_found](const Row& row) {
      return is_found(row) && still(row);
    };
    search.is_left = [this, is_followed = search.is_followed, table, now](const Row& row) {
      return is_followed(row) && present_now(table, row, now);
    };
    search.matches = [is_followed = search.is_followed, meets, now](const Row& row) {
      return is_followed(row) && meets(row, now);
    };
  }
  if (write.once) {
    search.matches = [matches = search.matches, untouched = is_untouched(table)](const Row& row) {
      return matches(row) && untouched(row);
    };
  }
  target.found = alive_ && search.matches(target.row);
  if (!target.is_fixed()) {
    // Some row or other, if any matches.
    const SmtTerm some = symbols_.fresh_truth("found");
    instance_.facts.push_back(implies(some, target.found));
    instance_.row_facts.push_back(
        {table, [matches = search.matches, alive = alive_, some](const Row& other) {
           return implies(alive && matches(other), some);
         }});
    target.found = some;
  }
  return target;
}

std::function<SmtTerm(const Row&)> SymbolicRun::is_untouched(sql::TableId table) {
  const auto untouched = [this, table, from = first_access_,
                          to = instance_.accesses.size()](const Row& row) {
    std::vector<SmtTerm> parts;
    for (std::size_t i = from; i < to; ++i) {
      const Access& access = instance_.accesses[i];
      if (access.kind == AccessKind::Write && access.table == table && access.column < kUniqueEntry)
        parts.push_back(!happens(symbols_, access, row));
    }
    return symbols_.all(parts);
  };
  if (loops_ == Loops::AtMostTwo || loop_frames_.empty()) return untouched;
  // A round that we do not look at may have changed it.
  const SmtFunction elsewhere = symbols_.row_function("elsewhere", table, SmtSolver::kBool);
  return [untouched, elsewhere](const Row& row) { return untouched(row) && !elsewhere(row); };
}

std::function<SmtTerm(const Row&)> SymbolicRun::still_there(sql::TableId table) {
  const bool is_reused =
      symbols_.changes().has_deletes(table) && symbols_.changes().has_inserts(table);
  if (!is_reused) return [this](const Row&) { return symbols_.yes(); };
  const SmtFunction still = symbols_.row_function("still", table, SmtSolver::kBool);
  return [still](const Row& row) { return still(row); };
}

void SymbolicRun::observe(const sql::Statement& statement, const Search& search,
                          std::uint32_t column,
                          const std::function<SmtTerm(const Row&)>& condition) {
  if (search.row) {
    read(statement, search.table, column, search.guard && condition(*search.row), *search.row);
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
    observe(statement, search, kPresence, [search](const Row& row) {
      return search.is_candidate(row) && !search.is_followed(row);
    });
    for (const std::uint32_t column : where_columns) {
      observe(statement, search, column, [search](const Row& row) {
        return search.is_there(row) && !search.is_followed(row);
      });
    }
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
    values.push_back(value_now(table, c, row, frame));
  return values;
}

void SymbolicRun::return_row(const sql::Write& write, SmtTerm alive, SmtTerm found,
                             const Frame& row, bool is_only) {
  if (write.into_rows && is_only) {
    std::vector<SymValue> values;
    for (const sql::Expr& expr : write.returning) values.push_back(eval(expr, row));
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
        alive, symbols_.choose_value(found, eval(write.returning[i], row), symbols_.null()),
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
      abort_if(target.found && is_true(expr, frame.with({Source{table, row}})));
    change_row(statement, table, update.sets, row, target.found, frame.with({Source{table, row}}));
  } else {
    change_many(statement, update, target.found, alive, target.search.matches);
    for (std::size_t i = 0; i < update.sets.size(); ++i) {
      Access access{AccessKind::Write,
                    table,
                    update.sets[i].column,
                    statement.number,
                    alive,
                    std::nullopt,
                    target.search.matches,
                    [this, s = &update, i, frame, table](const Row& other) {
                      return eval(s->sets[i].value, frame.with({Source{table, other}}));
                    }};
      access.step = at_;
      instance_.accesses.push_back(std::move(access));
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
    write(statement, table, kPresence, reports ? found : alive && target.search.is_candidate(row),
          row, absent);
    check_children(statement, table, found, &row, all_columns, target.frame);
    free_entries(
        statement, table, found,
        [this, table, row, old_row](std::uint32_t column) {
          return value_now(table, column, row, old_row);
        },
        all_columns);
  } else {
    Access access{AccessKind::Write,
                  table,
                  kPresence,
                  statement.number,
                  alive,
                  std::nullopt,
                  target.search.matches,
                  [absent](const Row&) { return absent; }};
    access.step = at_;
    instance_.accesses.push_back(std::move(access));
    check_children(statement, table, found, nullptr, all_columns, target.frame);
    change_any_entries(statement, table, found, all_columns);
  }
  return_row(remove, alive, found, old_row, target.is_fixed());
}

}  // namespace isoscope::audit
