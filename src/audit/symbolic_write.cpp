// UPDATE and DELETE, on symbols.
#include "audit/symbolic_write.h"

#include <algorithm>

namespace isoscope::audit {

namespace {

// The CHECKs that look at one of the columns.
std::vector<const sql::Expr*> checks_of(const sql::Table& table,
                                        const std::set<sql::ColumnId>& columns) {
  std::vector<const sql::Expr*> checks;
  for (const sql::Expr& check : table.checks) {
    const auto used = columns_of(check);
    if (std::ranges::any_of(used, [&](const auto& use) { return columns.contains(use.second); }))
      checks.push_back(&check);
  }
  return checks;
}

}  // namespace

void SymbolicWrite::change_row(sql::TableId table, const std::vector<sql::SetColumn>& sets,
                               const Row& row, SmtTerm guard, const Frame& at) {
  const sql::Table& declared = symbols_.app().table(table);
  std::set<sql::ColumnId> columns;
  for (const sql::SetColumn& set : sets) columns.insert(set.column);
  for (const auto& unique : declared.unique) {
    // Which entry becomes free depends on what the row had.
    if (!mentions(unique, columns)) continue;
    for (const sql::ColumnId column : unique) call_.read(table, Attribute(column), guard, row);
  }
  // What is referred to may not be lost: the old value matters.
  for (const sql::Table& other : symbols_.app().tables) {
    for (const sql::ForeignKey& key : other.foreign_keys) {
      if (key.target != table || !mentions(key.target_columns, columns)) continue;
      for (const sql::ColumnId column : key.target_columns)
        call_.read(table, Attribute(column), guard, row);
    }
  }
  for (const sql::Expr* check : checks_of(declared, columns)) {
    // A CHECK also looks at the columns that stay as they were.
    for (const auto& [of, column] : columns_of(*check)) {
      if (!columns.contains(column)) call_.read(table, Attribute(column), guard, row);
    }
  }
  for (const sql::ForeignKey& key : declared.foreign_keys) {
    if (!mentions(key.columns, columns)) continue;
    for (const sql::ColumnId column : key.columns) {
      if (!columns.contains(column)) call_.read(table, Attribute(column), guard, row);
    }
  }
  const Frame old_row = at.with({Source{table, row}});
  for (const sql::SetColumn& set : sets) {
    const SymValue value = terms_.eval(set.value, at);
    if (declared.columns[set.column].not_null) call_.abort_if(guard && value.null);
    call_.write(table, Attribute(set.column), guard, row, value);
  }
  const Frame after = call_.here().with({Source{table, row}});
  constraints_.free_entries(table, guard, old_row, columns);
  call_.abort_if(constraints_.take_entries(table, guard, after, columns));
  for (const sql::Expr* check : checks_of(declared, columns))
    call_.abort_if(guard && terms_.truth(*check, after).no);
  constraints_.check_parents(table, guard, &after, columns);
  constraints_.check_children(table, guard, &row, columns, at);
}

void SymbolicWrite::change_many(const sql::Update& update, const Target& target, SmtTerm alive) {
  const sql::TableId table = update.table;
  const sql::Table& declared = symbols_.app().table(table);
  std::set<sql::ColumnId> columns;
  for (const sql::SetColumn& set : update.sets) columns.insert(set.column);
  std::set<sql::ColumnId> looked_at;
  for (const sql::Expr* check : checks_of(declared, columns)) {
    for (const auto& [of, column] : columns_of(*check)) looked_at.insert(column);
  }
  for (const auto& unique : declared.unique) {
    if (mentions(unique, columns)) looked_at.insert(unique.begin(), unique.end());
  }
  for (const sql::ForeignKey& key : declared.foreign_keys) {
    if (mentions(key.columns, columns)) looked_at.insert(key.columns.begin(), key.columns.end());
  }
  looked_at.merge(constraints_.referred_columns(table, &columns));
  for (const sql::ColumnId column : looked_at)
    call_.read_all(table, Attribute(column), alive, target.search.matches);
  constraints_.change_any_entries(table, target.found, columns);
  constraints_.check_parents(table, target.found, nullptr, columns);
  constraints_.check_children(table, target.found, nullptr, columns, call_.current());
}

void SymbolicWrite::return_row(const sql::Write& write, SmtTerm alive, SmtTerm found,
                               const Frame& row, bool is_only) {
  if (write.into_rows && is_only) {
    std::vector<SymValue> values;
    for (const sql::Expr& expr : write.returning) values.push_back(terms_.eval(expr, row));
    variables_.append_row(*write.into_rows, found && call_.alive, std::move(values));
  } else if (write.into_rows) {
    const SymArray old = *call_.env[write.into_rows->index].array;
    variables_.forget_rows(*write.into_rows);
    const SmtTerm size = call_.env[write.into_rows->index].array->size;
    instance_.facts.push_back(choose(found, old.size < size, equals(old.size, size)));
  }
  for (std::size_t i = 0; i < write.targets.size() && i < write.returning.size(); ++i) {
    Variable& target = call_.env[write.targets[i].index];
    target.value = symbols_.choose_value(
        alive, symbols_.choose_value(found, terms_.eval(write.returning[i], row), symbols_.null()),
        target.value);
  }
  call_.set_found(found);
}

void SymbolicWrite::run(const sql::Update& update) {
  const sql::TableId table = update.table;
  const SmtTerm alive = call_.alive;
  const Target target = search_.target_of(update);
  const Row row = target.row;
  const Frame frame = target.frame;
  std::set<std::pair<sql::SourceId, sql::ColumnId>> used;
  for (const sql::SetColumn& set : update.sets) add_columns(set.value, used);
  for (const sql::Expr& expr : update.returning) add_columns(expr, used);
  for (const sql::Expr& expr : update.raises) add_columns(expr, used);
  std::set<sql::ColumnId> columns;
  for (const auto& use : used) columns.insert(use.second);
  search_.read_found(target.search, true, columns);
  // RETURNING for a trigger asks for the row before, too.
  Source old_row{table, row};
  if (std::ranges::any_of(used, [](const auto& use) { return use.first == sql::SourceId{1}; })) {
    for (const sql::ColumnId c : symbols_.app().table(table).columns.ids())
      old_row.values.push_back(terms_.value(table, c, row, frame));
  }
  if (target.is_fixed()) {
    for (const sql::Expr& expr : update.raises)
      call_.abort_if(target.found && terms_.is_true(expr, frame.with({Source{table, row}})));
    change_row(table, update.sets, row, target.found, frame.with({Source{table, row}}));
  } else {
    change_many(update, target, alive);
    for (const sql::SetColumn& set : update.sets) {
      call_.write_all(table, Attribute(set.column), alive, target.search.matches,
                      RowExpr{&set.value, frame.with({Source{table, {}}})});
    }
  }
  return_row(update, alive, target.found, call_.current().with({Source{table, row}, old_row}),
             target.is_fixed());
}

void SymbolicWrite::run(const sql::Delete& remove) {
  const sql::TableId table = remove.table;
  const SmtTerm alive = call_.alive;
  const sql::Table& declared = symbols_.app().table(table);
  const Target target = search_.target_of(remove);
  const Row row = target.row;
  const SmtTerm found = target.found;
  const Frame old_row = target.frame.with({Source{table, row}});
  // Who wants to know whether there was a row: also what else WHERE says, the entries that it
  // leaves, and rows that refer to it.
  const std::set<sql::ColumnId> referred = constraints_.referred_columns(table, nullptr);
  const bool reports = call_.per_statement || call_.function.found || call_.function.row_count ||
                       !remove.returning.empty() || !declared.unique.empty() ||
                       !target.search.source.where_columns.empty() || !referred.empty();
  std::set<sql::ColumnId> all_columns;
  for (const sql::ColumnId c : declared.columns.ids()) all_columns.insert(c);
  // Of the rows that go: what RETURNING gives back, what may be referred to, and their entries.
  std::set<std::pair<sql::SourceId, sql::ColumnId>> used;
  for (const sql::Expr& expr : remove.returning) add_columns(expr, used);
  std::set<sql::ColumnId> columns;
  for (const auto& use : used) columns.insert(use.second);
  columns.merge(std::set(referred));
  for (const auto& unique : declared.unique) columns.insert(unique.begin(), unique.end());
  std::erase_if(columns, [&](sql::ColumnId column) { return declared.is_key_column(column); });
  search_.read_found(target.search, reports, columns);
  const SymValue absent = symbols_.number(0);
  if (target.is_fixed()) {
    // By key alone it writes absence whether the row is there or not: it need not look.
    call_.write(table, kPresence,
                reports ? found : alive && terms_.holds(target.search.is_candidate, row), row,
                absent);
    constraints_.check_children(table, found, &row, all_columns, target.frame);
    constraints_.free_entries(table, found, old_row, all_columns);
  } else {
    call_.write_all(table, kPresence, alive, target.search.matches, absent);
    constraints_.check_children(table, found, nullptr, all_columns, target.frame);
    constraints_.change_any_entries(table, found, all_columns);
  }
  return_row(remove, alive, found, old_row, target.is_fixed());
}

}  // namespace isoscope::audit
