// How a symbolic run writes down accesses.
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

void SymbolicRun::lock(const sql::Statement& statement, sql::TableId table, sql::Lock mode,
                       SmtTerm guard, std::optional<Row> row,
                       std::function<SmtTerm(const Row&)> condition) {
  if (mode == sql::Lock::KeyShare && !symbols_.changes().has_deletes(table)) return;
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
  instance_.accesses.back().lock = mode;
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

}  // namespace isoscope::audit
