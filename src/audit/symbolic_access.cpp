// How a symbolic run writes down accesses, and what constraints look at.
#include "audit/symbolic_run.h"

namespace isoscope::audit {

bool SymbolicRun::changes(sql::TableId table, std::uint32_t column) const {
  if (column == kPresence) return !symbols_.changes().has_fixed_rows(table);
  if (column >= kUniqueEntry) return true;
  return !symbols_.changes().is_static(table, column);
}

// The transaction has not written the location itself before: then a read of it is external.
SmtTerm SymbolicRun::not_own(sql::TableId table, std::uint32_t column, const Row& row,
                             std::size_t before) {
  std::vector<SmtTerm> parts;
  for (std::size_t i = 0; i < before; ++i) {
    const Access& access = instance_.accesses[i];
    if (access.kind == AccessKind::Write && access.table == table && access.column == column)
      parts.push_back(!happens(symbols_, access, row));
  }
  return symbols_.all(parts);
}

void SymbolicRun::read(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
                       SmtTerm guard, const Row& row) {
  if (!changes(table, column)) return;
  const SmtTerm external = not_own(table, column, row, instance_.accesses.size());
  instance_.accesses.push_back(
      {AccessKind::Read, table, column, statement.number, guard && external, row, {}, {}});
}

void SymbolicRun::read_all(const sql::Statement& statement, sql::TableId table,
                           std::uint32_t column, SmtTerm guard,
                           std::function<SmtTerm(const Row&)> condition) {
  if (!changes(table, column)) return;
  const std::size_t before = instance_.accesses.size();
  auto external = [this, table, column, before, condition = std::move(condition)](const Row& row) {
    return condition(row) && not_own(table, column, row, before);
  };
  instance_.accesses.push_back({AccessKind::Read,
                                table,
                                column,
                                statement.number,
                                guard,
                                std::nullopt,
                                std::move(external),
                                {}});
}

void SymbolicRun::write(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
                        SmtTerm guard, const Row& row, SymValue value) {
  instance_.accesses.push_back(
      {AccessKind::Write, table, column, statement.number, guard, row, {}, [value](const Row&) {
         return value;
       }});
}

void SymbolicRun::lock(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                       std::optional<Row> row, std::function<SmtTerm(const Row&)> condition) {
  if (symbols_.changes().has_fixed_rows(table)) {
    bool is_written = false;
    const auto& columns = symbols_.app().table(table).columns;
    for (std::uint32_t c = 0; c < columns.size(); ++c)
      is_written = is_written || symbols_.changes().is_updated(table, c);
    if (!is_written) return;  // nobody to wait for
  }
  instance_.accesses.push_back({AccessKind::Lock,
                                table,
                                kPresence,
                                statement.number,
                                guard,
                                std::move(row),
                                std::move(condition),
                                {}});
}

void SymbolicRun::set_found(SmtTerm found) {
  if (function_.found)
    env_[function_.found->index].value =
        symbols_.choose_value(alive_, symbols_.truth(found), env_[function_.found->index].value);
  if (function_.row_count) {
    SymValue count = symbols_.fresh_value("row_count", false);
    instance_.facts.push_back(symbols_.smt().number(0) <= count.number);
    instance_.facts.push_back(iff(found, symbols_.smt().number(1) <= count.number));
    env_[function_.row_count->index].value =
        symbols_.choose_value(alive_, count, env_[function_.row_count->index].value);
  }
}

// A foreign key needs its target: the row is looked at and kept from changing unseen.
void SymbolicRun::check_parents(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                                const std::function<SymValue(std::uint32_t)>& new_value) {
  for (const sql::ForeignKey& key : symbols_.app().table(table).foreign_keys) {
    const sql::Table& target = symbols_.app().table(key.target);
    if (key.target_columns != target.primary_key) continue;  // by UNIQUE columns: not modelled
    Row row;
    std::vector<SmtTerm> known;
    for (const std::uint32_t column : key.columns) {
      const SymValue value = new_value(column);
      row.push_back(value.number);
      known.push_back(!value.null);
    }
    const SmtTerm checked = guard && symbols_.all(known);
    const SmtTerm present = present_now(key.target, row, here());
    read(statement, key.target, kPresence, checked, row);
    lock(statement, key.target, checked, row);
    aborted_ = aborted_ || (checked && !present);
    alive_ = alive_ && !(checked && !present);
  }
}

// Whoever deletes a row looks at the rows that refer to it.
void SymbolicRun::check_children(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                                 const Row& row) {
  for (std::uint32_t t = 0; t < symbols_.app().tables.size(); ++t) {
    const sql::TableId child{t};
    for (const sql::ForeignKey& key : symbols_.app().tables[t].foreign_keys) {
      if (key.target != table || key.target_columns != symbols_.app().table(table).primary_key)
        continue;
      const Frame frame = here();
      const sql::ForeignKey* columns = &key;
      auto refers = [this, child, columns, row, frame](const Row& other) {
        std::vector<SmtTerm> parts;
        for (std::size_t i = 0; i < columns->columns.size(); ++i) {
          const SymValue value = value_now(child, columns->columns[i], other, frame);
          parts.push_back(!value.null && equals(value.number, row[i]));
        }
        return symbols_.all(parts);
      };
      // Which rows refer is known from their columns only while they are there.
      auto present_refers = [this, child, frame, refers](const Row& other) {
        return present_now(child, other, frame) && refers(other);
      };
      read_all(statement, child, kPresence, guard, refers);
      lock(statement, child, guard, std::nullopt, refers);
      const SmtTerm was_aborted = aborted_;
      instance_.row_facts.push_back({child, [this, guard, present_refers](const Row& other) {
                                       return implies(guard && instance_.committed,
                                                      !present_refers(other));
                                     }});
      aborted_ = was_aborted || (guard && symbols_.fresh_truth("referred_to"));
    }
  }
}

void SymbolicRun::write_unique_entries(const sql::Statement& statement, sql::TableId table,
                                       SmtTerm guard,
                                       const std::function<SymValue(std::uint32_t)>& new_value) {
  const auto& constraints = symbols_.app().table(table).unique;
  for (std::uint32_t u = 0; u < constraints.size(); ++u) {
    Row entry;
    std::vector<SmtTerm> known;
    for (const std::uint32_t column : constraints[u]) {
      const SymValue value = new_value(column);
      entry.push_back(value.number);
      known.push_back(!value.null);
    }
    write(statement, table, kUniqueEntry + u, guard && symbols_.all(known), entry,
          symbols_.number(1));
  }
}

}  // namespace isoscope::audit
