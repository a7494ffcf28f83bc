// UPDATE, DELETE and INSERT, on symbols.
#include <algorithm>

#include "audit/symbolic_plan.h"

namespace isoscope::audit {

void SymbolicRun::update(const sql::Statement& statement) {
  const sql::TableId table = statement.table;
  const sql::TableId sources[] = {table};
  const auto plan = std::make_shared<const Plan>(this->plan(sources, statement.where));
  const Plan::OfSource& source = plan->sources.front();
  const Frame frame = here();
  const SmtTerm alive = alive_;
  const sql::Statement* s = &statement;

  const auto is_candidate = [this, plan, table, frame](const Row& row) {
    std::vector<SmtTerm> parts;
    for (const sql::Expr* conjunct : plan->sources.front().fixed)
      parts.push_back(is_true(*conjunct, frame.with({Source{table, row}})));
    return symbols_.all(parts);
  };
  const auto is_there = [this, is_candidate, table, frame](const Row& row) {
    return is_candidate(row) && present_now(table, row, frame);
  };
  const auto matches = [this, table, frame, s](const Row& row) {
    return present_now(table, row, frame) && is_true(s->where, frame.with({Source{table, row}}));
  };
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const sql::SetColumn& set : statement.sets) add_columns(set.value, used);
  for (const sql::Expr& expr : statement.returning) add_columns(expr, used);

  const std::vector<Source> rows = rows_of(*plan, frame);
  const Row row = rows.front().row;
  SmtTerm found = alive && matches(row);
  if (source.is_fixed) {
    read(statement, table, kPresence, alive && is_candidate(row), row);
    for (const std::uint32_t column : source.where_columns)
      read(statement, table, column, alive && is_there(row), row);
    for (const auto& use : used) {
      if (!source.where_columns.contains(use.second))
        read(statement, table, use.second, alive && matches(row), row);
    }
    const auto at = frame.with({Source{table, row}});
    for (const sql::SetColumn& set : statement.sets)
      write(statement, table, set.column, found, row, eval(set.value, at));
  } else {
    const SmtTerm some = symbols_.fresh_truth("found");
    instance_.facts.push_back(implies(some, found));
    instance_.row_facts.push_back({table, [matches, alive, some](const Row& other) {
                                     return implies(alive && matches(other), some);
                                   }});
    found = some;
    read_all(statement, table, kPresence, alive, is_candidate);
    for (const std::uint32_t column : source.where_columns)
      read_all(statement, table, column, alive, is_there);
    for (const auto& use : used) {
      if (!source.where_columns.contains(use.second))
        read_all(statement, table, use.second, alive, matches);
    }
    for (std::size_t i = 0; i < statement.sets.size(); ++i) {
      instance_.accesses.push_back(
          {AccessKind::Write, table, statement.sets[i].column, statement.number, alive,
           std::nullopt, matches, [this, s, i, frame, table](const Row& other) {
             return eval(s->sets[i].value, frame.with({Source{table, other}}));
           }});
    }
  }
  const Frame after = here().with({Source{table, row}});
  const NewValue new_value = [this, table, row, after](std::uint32_t column) {
    return value_now(table, column, row, after);
  };
  std::set<std::uint32_t> set_columns;
  for (const sql::SetColumn& set : statement.sets) set_columns.insert(set.column);
  const sql::Table& declared = symbols_.app().table(table);
  if (source.is_fixed) {
    const Frame before = frame.with({Source{table, row}});
    const NewValue old_value = [this, table, row, before](std::uint32_t column) {
      return value_now(table, column, row, before);
    };
    for (const auto& unique : declared.unique) {
      // Which entry becomes free depends on what the row had.
      const bool is_changed = std::ranges::any_of(
          unique, [&](std::uint32_t column) { return set_columns.contains(column); });
      for (const std::uint32_t column : unique) {
        if (is_changed && !declared.is_key_column(column))
          read(statement, table, column, found, row);
      }
    }
    free_entries(statement, table, found, old_value, set_columns);
    abort_if(take_entries(statement, table, found, new_value, set_columns));
  } else {
    change_any_entries(statement, table, found, set_columns);
  }
  for (const sql::Expr& check : declared.checks) {
    const auto columns = columns_of(check);
    const bool is_changed = std::ranges::any_of(
        columns, [&](const auto& column) { return set_columns.contains(column.second); });
    if (!is_changed) continue;
    // A CHECK also looks at the columns that stay as they were.
    for (const auto& [of, column] : columns) {
      if (set_columns.contains(column) || declared.is_key_column(column)) continue;
      if (source.is_fixed) {
        read(statement, table, column, found, row);
      } else {
        read_all(statement, table, column, alive, matches);
      }
    }
    abort_if(source.is_fixed ? found && truth(check, after).no
                             : found && symbols_.fresh_truth("check_fails"));
  }
  const bool refers = std::ranges::any_of(declared.foreign_keys, [&](const sql::ForeignKey& key) {
    return std::ranges::any_of(key.columns,
                               [&](std::uint32_t column) { return set_columns.contains(column); });
  });
  if (refers) check_parents(statement, table, found, new_value);
  for (std::size_t i = 0; i < statement.targets.size() && i < statement.returning.size(); ++i) {
    Variable& target = env_[statement.targets[i].index];
    target.value = symbols_.choose_value(
        alive, symbols_.choose_value(found, eval(statement.returning[i], after), symbols_.null()),
        target.value);
  }
  set_found(found);
}

void SymbolicRun::remove(const sql::Statement& statement) {
  const sql::TableId table = statement.table;
  const sql::TableId sources[] = {table};
  const auto plan = std::make_shared<const Plan>(this->plan(sources, statement.where));
  const Plan::OfSource& source = plan->sources.front();
  const Frame frame = here();
  const SmtTerm alive = alive_;
  const sql::Statement* s = &statement;
  const sql::Table& declared = symbols_.app().table(table);
  // Who wants to know whether there was a row: also the entries that it leaves.
  const bool reports = function_.found || function_.row_count || !statement.returning.empty() ||
                       !declared.unique.empty();
  std::set<std::uint32_t> all_columns;
  for (std::uint32_t c = 0; c < declared.columns.size(); ++c) all_columns.insert(c);

  const auto is_candidate = [this, plan, table, frame](const Row& row) {
    std::vector<SmtTerm> parts;
    for (const sql::Expr* conjunct : plan->sources.front().fixed)
      parts.push_back(is_true(*conjunct, frame.with({Source{table, row}})));
    return symbols_.all(parts);
  };
  const auto is_there = [this, is_candidate, table, frame](const Row& row) {
    return is_candidate(row) && present_now(table, row, frame);
  };
  const auto matches = [this, table, frame, s](const Row& row) {
    return present_now(table, row, frame) && is_true(s->where, frame.with({Source{table, row}}));
  };
  const SymValue absent = symbols_.number(0);
  const std::vector<Source> rows = rows_of(*plan, frame);
  const Row row = rows.front().row;
  const Frame old_row = frame.with({Source{table, row}});
  SmtTerm found = alive && matches(row);
  if (source.is_fixed) {
    if (reports) read(statement, table, kPresence, alive && is_candidate(row), row);
    for (const std::uint32_t column : source.where_columns)
      read(statement, table, column, alive && is_there(row), row);
    check_children(statement, table, found, row);
    // By key alone it writes absence whether the row is there or not: it need not look.
    const bool is_blind = source.where_columns.empty() && !reports;
    write(statement, table, kPresence, is_blind ? alive && is_candidate(row) : found, row, absent);
    for (const auto& unique : declared.unique) {
      for (const std::uint32_t column : unique) {
        if (!declared.is_key_column(column)) read(statement, table, column, found, row);
      }
    }
    free_entries(
        statement, table, found,
        [this, table, row, old_row](std::uint32_t column) {
          return value_now(table, column, row, old_row);
        },
        all_columns);
  } else {
    const SmtTerm some = symbols_.fresh_truth("found");
    instance_.facts.push_back(implies(some, found));
    instance_.row_facts.push_back({table, [matches, alive, some](const Row& other) {
                                     return implies(alive && matches(other), some);
                                   }});
    found = some;
    read_all(statement, table, kPresence, alive, is_candidate);
    for (const std::uint32_t column : source.where_columns)
      read_all(statement, table, column, alive, is_there);
    check_children(statement, table, found, row);
    instance_.accesses.push_back({AccessKind::Write, table, kPresence, statement.number, alive,
                                  std::nullopt, matches, [absent](const Row&) { return absent; }});
    change_any_entries(statement, table, found, all_columns);
  }
  for (std::size_t i = 0; i < statement.targets.size() && i < statement.returning.size(); ++i) {
    Variable& target = env_[statement.targets[i].index];
    target.value = symbols_.choose_value(
        alive, symbols_.choose_value(found, eval(statement.returning[i], old_row), symbols_.null()),
        target.value);
  }
  set_found(found);
}

void SymbolicRun::insert(const sql::Statement& statement) {
  const sql::TableId table = statement.table;
  const sql::Table& declared = symbols_.app().table(table);
  const Frame frame = here();
  std::vector<SymValue> values(declared.columns.size());
  bool has_fresh_key = false;
  for (std::uint32_t c = 0; c < declared.columns.size(); ++c) {
    const sql::Column& column = declared.columns[c];
    const sql::Expr* given = nullptr;
    for (const sql::SetColumn& set : statement.sets) {
      if (set.column == c) given = &set.value;
    }
    if (given != nullptr) {
      values[c] = eval(*given, frame);
    } else if (column.is_fresh) {
      values[c] = symbols_.fresh_value("fresh", false);
      instance_.fresh_values.emplace_back(std::pair(table.index, c), values[c].number);
      has_fresh_key = has_fresh_key || declared.is_key_column(c);
    } else {
      values[c] = column.default_value ? eval(*column.default_value, frame) : symbols_.null();
    }
    // NOT NULL, and a key is never NULL.
    if (column.not_null || declared.is_key_column(c)) {
      abort_if(alive_ && values[c].null);
    }
  }
  Row row;
  for (const std::uint32_t k : declared.primary_key) row.push_back(values[k].number);
  const SmtTerm is_taken = has_fresh_key ? symbols_.no() : present_now(table, row, frame);
  if (!has_fresh_key) read(statement, table, kPresence, alive_, row);
  if (statement.conflict == sql::OnConflict::Fail) abort_if(alive_ && is_taken);
  const NewValue new_value = [values](std::uint32_t column) { return values[column]; };
  const Frame proposed = frame.with({Source{table, row, values}});
  for (const sql::Expr& check : declared.checks)
    abort_if(alive_ && !is_taken && truth(check, proposed).no);
  std::set<std::uint32_t> all_columns;
  for (std::uint32_t c = 0; c < declared.columns.size(); ++c) all_columns.insert(c);
  const SmtTerm is_double =
      take_entries(statement, table, alive_ && !is_taken, new_value, all_columns);
  // ON CONFLICT DO UPDATE of a row that has the same unique values but another key is not modelled:
  // it counts as an abort.
  if (statement.conflict != sql::OnConflict::Nothing) abort_if(is_double);
  check_parents(statement, table, alive_ && !is_taken && !is_double, new_value);
  const SmtTerm alive = alive_;
  const SmtTerm inserts = alive && !is_taken && !is_double;
  SmtTerm found = inserts;
  if (statement.conflict == sql::OnConflict::Update) {
    const Frame both = frame.with({Source{table, row}, Source{table, row, values}});
    const SmtTerm updates = alive && is_taken && is_true(statement.conflict_where, both);
    std::set<std::pair<std::uint32_t, std::uint32_t>> used;
    for (const sql::SetColumn& set : statement.conflict_sets) add_columns(set.value, used);
    if (statement.conflict_where) add_columns(*statement.conflict_where, used);
    for (const auto& use : used) {
      if (use.first == 0) read(statement, table, use.second, alive && is_taken, row);
    }
    for (const sql::SetColumn& set : statement.conflict_sets)
      write(statement, table, set.column, updates, row, eval(set.value, both));
    found = found || updates;
  }
  write(statement, table, kPresence, inserts, row, symbols_.number(1));
  for (std::uint32_t c = 0; c < declared.columns.size(); ++c) {
    if (!declared.is_key_column(c)) write(statement, table, c, inserts, row, values[c]);
  }
  const Frame after = here().with({Source{table, row}});
  for (std::size_t i = 0; i < statement.targets.size() && i < statement.returning.size(); ++i) {
    Variable& target = env_[statement.targets[i].index];
    target.value = symbols_.choose_value(
        alive, symbols_.choose_value(found, eval(statement.returning[i], after), symbols_.null()),
        target.value);
  }
  set_found(found);
}

}  // namespace isoscope::audit
