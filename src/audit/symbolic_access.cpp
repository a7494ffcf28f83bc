// How a symbolic run writes down accesses.
#include "audit/symbolic_run.h"

namespace isoscope::audit {

bool SymbolicRun::changes(sql::TableId table, std::uint32_t column) const {
  if (column == kPresence) return !symbols_.changes().has_fixed_rows(table);
  if (column >= kUniqueEntry) return true;
  return !symbols_.changes().is_static(table, column);
}

Frame SymbolicRun::here() const {
  return {std::make_shared<const Env>(env_), instance_.accesses.size(), at_, {}, disturbed_};
}

Frame SymbolicRun::current() const {
  Frame frame = here();
  if (per_statement_) frame.at = kCurrent;
  return frame;
}

Access& SymbolicRun::add(Access access) {
  access.step = at_;
  return instance_.accesses.emplace_back(std::move(access));
}

bool SymbolicRun::may_see_current(sql::TableId table, std::uint32_t column) const {
  return reads_at_ != kCurrent && column < kUniqueEntry && per_statement_ &&
         terms_.may_have_locked(table, instance_.accesses.size());
}

void SymbolicRun::read(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
                       SmtTerm guard, const Row& row) {
  if (!changes(table, column)) return;
  const std::size_t before = instance_.accesses.size();
  guard = guard && terms_.is_unwritten({table, column, 0, before}, row);
  Access access{.table = table, .column = column, .statement = statement.number, .row = row};
  const auto add_read = [&](SmtTerm condition, std::uint32_t at) {
    access.guard = condition;
    access.at = at;
    add(access);
  };
  if (!may_see_current(table, column)) return add_read(guard, reads_at_);
  const SmtTerm locked = terms_.has_locked(table, row, before);
  add_read(guard && !locked, reads_at_);
  add_read(guard && locked, kCurrent);
}

void SymbolicRun::read_all(const sql::Statement& statement, sql::TableId table,
                           std::uint32_t column, SmtTerm guard, ConditionId condition) {
  if (!changes(table, column)) return;
  const std::size_t before = instance_.accesses.size();
  Conditions& conditions = instance_.conditions;
  const ConditionId external = conditions.add(condition::Unwritten{table, column, 0, before});
  Access access{.table = table, .column = column, .statement = statement.number, .guard = guard};
  const auto add_read = [&](ConditionId holds, std::uint32_t at) {
    access.condition = conditions.all({holds, external});
    access.at = at;
    add(access);
  };
  if (!may_see_current(table, column)) return add_read(condition, reads_at_);
  const ConditionId locked = conditions.add(condition::Locked{table, before});
  add_read(conditions.all({condition, conditions.negate(locked)}), reads_at_);
  add_read(conditions.all({condition, locked}), kCurrent);
}

void SymbolicRun::write(const sql::Statement& statement, sql::TableId table, std::uint32_t column,
                        SmtTerm guard, const Row& row, SymValue value) {
  add({.kind = AccessKind::Write,
       .table = table,
       .column = column,
       .statement = statement.number,
       .guard = guard,
       .row = row,
       .value = value});
}

void SymbolicRun::write_all(const sql::Statement& statement, sql::TableId table,
                            std::uint32_t column, SmtTerm guard, ConditionId condition,
                            WrittenValue value) {
  add({.kind = AccessKind::Write,
       .table = table,
       .column = column,
       .statement = statement.number,
       .guard = guard,
       .condition = condition,
       .value = std::move(value)});
}

void SymbolicRun::lock(const sql::Statement& statement, sql::TableId table, sql::Lock mode,
                       SmtTerm guard, std::optional<Row> row, ConditionId condition) {
  if (mode == sql::Lock::KeyShare && !symbols_.changes().has_deletes(table)) return;
  if (symbols_.changes().has_fixed_rows(table) && !per_statement_) {
    bool is_written = false;
    const auto& columns = symbols_.app().table(table).columns;
    for (std::uint32_t c = 0; c < columns.size(); ++c)
      is_written = is_written || symbols_.changes().is_updated(table, c);
    if (!is_written) return;  // nobody to wait for
  }
  add({.kind = AccessKind::Lock,
       .table = table,
       .column = kPresence,
       .statement = statement.number,
       .guard = guard,
       .row = std::move(row),
       .condition = condition,
       .lock = mode,
       .is_late = per_statement_ && loops_ == Loops::AnyTwo && statement.is<sql::ForQuery>()});
}

// Held to the end of the call. Whoever takes it later sees, from the next snapshot on, what the
// call did: at READ COMMITTED that of the next statement (world.cpp), with one snapshot none. One
// that is only tried is had (model_notes.h).
void SymbolicRun::take_advisory(const sql::Statement& statement, const sql::Select& select) {
  SmtTerm taken = alive_;
  Row numbers;
  for (const sql::Output& output : select.query.outputs) {
    const SymValue number = terms_.eval(output.expr, here());
    taken = taken && !number.null;
    numbers.push_back(number.number);
  }
  const sql::TableId table = advisory_table(symbols_.app(), numbers.size());
  add({.kind = AccessKind::Lock,
       .table = table,
       .column = kPresence,
       .statement = statement.number,
       .guard = taken,
       .row = std::move(numbers),
       .lock = select.advisory->is_shared ? sql::Lock::Share : sql::Lock::Update});
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
