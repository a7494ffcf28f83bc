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

bool SymbolicRun::may_have_locked(sql::TableId table, std::size_t before) const {
  for (std::size_t i = 0; i < before; ++i) {
    const Access& access = instance_.accesses[i];
    if (access.table == table && excludes_writers(access) && !access.is_late) return true;
  }
  return false;
}

SmtTerm SymbolicRun::has_locked(sql::TableId table, const Row& row, std::size_t before) {
  std::vector<SmtTerm> parts;
  for (std::size_t i = 0; i < before; ++i) {
    const Access& access = instance_.accesses[i];
    if (access.table == table && excludes_writers(access) && !access.is_late)
      parts.push_back(happens(symbols_, access, row));
  }
  return symbols_.any(parts);
}

void SymbolicRun::read(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
                       SmtTerm guard, const Row& row) {
  if (!changes(table, column)) return;
  const std::size_t before = instance_.accesses.size();
  guard = guard && not_own(table, column, row, before);
  const auto add = [&](SmtTerm condition, std::uint32_t at) {
    Access access{AccessKind::Read, table, column, statement.number, condition, row, {}, {}};
    access.at = at;
    access.step = at_;
    instance_.accesses.push_back(std::move(access));
  };
  if (reads_at_ == kCurrent || column >= kUniqueEntry || !may_have_locked(table, before) ||
      !per_statement_)
    return add(guard, reads_at_);
  const SmtTerm locked = has_locked(table, row, before);
  add(guard && !locked, reads_at_);
  add(guard && locked, kCurrent);
}

void SymbolicRun::read_all(const sql::Statement& statement, sql::TableId table,
                           std::uint32_t column, SmtTerm guard,
                           std::function<SmtTerm(const Row&)> condition) {
  if (!changes(table, column)) return;
  const std::size_t before = instance_.accesses.size();
  const auto add = [&](std::function<SmtTerm(const Row&)> holds, std::uint32_t at) {
    auto external = [this, table, column, before, holds = std::move(holds)](const Row& row) {
      return holds(row) && not_own(table, column, row, before);
    };
    Access access{AccessKind::Read,    table, column, statement.number, guard, std::nullopt,
                  std::move(external), {}};
    access.at = at;
    access.step = at_;
    instance_.accesses.push_back(std::move(access));
  };
  if (reads_at_ == kCurrent || column >= kUniqueEntry || !may_have_locked(table, before) ||
      !per_statement_)
    return add(std::move(condition), reads_at_);
  const auto locked = [this, table, before](const Row& row) {
    return has_locked(table, row, before);
  };
  add([condition, locked](const Row& row) { return condition(row) && !locked(row); }, reads_at_);
  add([condition, locked](const Row& row) { return condition(row) && locked(row); }, kCurrent);
}

void SymbolicRun::write(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
                        SmtTerm guard, const Row& row, SymValue value) {
  instance_.accesses.push_back(
      {AccessKind::Write, table, column, statement.number, guard, row, {}, [value](const Row&) {
         return value;
       }});
  instance_.accesses.back().step = at_;
}

void SymbolicRun::lock(const sql::Statement& statement, sql::TableId table, sql::Lock mode,
                       SmtTerm guard, std::optional<Row> row,
                       std::function<SmtTerm(const Row&)> condition) {
  if (mode == sql::Lock::KeyShare && !symbols_.changes().has_deletes(table)) return;
  if (symbols_.changes().has_fixed_rows(table) && !per_statement_) {
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
  instance_.accesses.back().step = at_;
  instance_.accesses.back().is_late =
      per_statement_ && loops_ == Loops::AnyTwo && statement.is<sql::ForQuery>();
}

// Held to the end of the call. Whoever takes it later sees, from the next snapshot on, what the
// call did: at READ COMMITTED that of the next statement (world.cpp), with one snapshot none. One
// that is only tried is had (model_notes.h).
void SymbolicRun::take_advisory(const sql::Statement& statement, const sql::Select& select) {
  SmtTerm taken = alive_;
  Row numbers;
  for (const sql::Output& output : select.query.outputs) {
    const SymValue number = eval(output.expr, here());
    taken = taken && !number.null;
    numbers.push_back(number.number);
  }
  const auto count = numbers.size();
  instance_.accesses.push_back({AccessKind::Lock,
                                advisory_table(symbols_.app(), count),
                                kPresence,
                                statement.number,
                                taken,
                                std::move(numbers),
                                {},
                                {}});
  instance_.accesses.back().lock =
      select.advisory->is_shared ? sql::Lock::Share : sql::Lock::Update;
  instance_.accesses.back().step = at_;
  if (!select.in_expression) set_found(symbols_.yes());
  for (const sql::VarId target : select.targets) {
    SymValue& value = env_[target.index].value;
    const SymValue given = select.advisory->is_tried
                               ? SymValue{alive_ && !taken, symbols_.smt().number(1)}
                               : symbols_.null();
    value = symbols_.choose_value(alive_, given, value);
  }
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
