#include "audit/symbolic_call.h"

namespace isoscope::audit {

SymbolicCall::SymbolicCall(Symbols& the_symbols, Instance& the_instance)
    : symbols(the_symbols),
      instance(the_instance),
      terms(the_symbols, the_instance),
      function(the_symbols.app().function(the_instance.function())),
      loops(the_instance.rules().loops),
      per_statement(the_instance.rules().per_statement),
      keys_are_unknown(the_instance.rules().keys_are_unknown && !per_statement),
      alive(the_symbols.yes()),
      aborted(the_symbols.no()) {}

void SymbolicCall::begin(const sql::Statement& next) {
  statement = &next;
  if (next.is_sql() && !next.continues) first_access = instance.accesses.size();
  if (!per_statement) return;
  const std::size_t count = moments.begin(next);
  if (!next.is_sql()) return;
  instance.moments.resize(instance.moments.size() + count, alive);
  at = moments.moment(next);
  reads_at = at;
}

Frame SymbolicCall::here() const {
  return {std::make_shared<const Env>(env), instance.accesses.size(), at, {}, disturbed};
}

Frame SymbolicCall::current() const {
  Frame frame = here();
  if (per_statement) frame.at = kCurrent;
  return frame;
}

Access& SymbolicCall::add(AccessKind kind, sql::TableId table, Attribute attribute, SmtTerm guard) {
  return instance.accesses.emplace_back(Access{.kind = kind,
                                               .table = table,
                                               .attribute = attribute,
                                               .statement = statement->number,
                                               .guard = guard,
                                               .step = at});
}

bool SymbolicCall::may_see_current(sql::TableId table, Attribute attribute) const {
  return reads_at != kCurrent && !attribute.is_entry() && per_statement &&
         terms.may_have_locked(table, instance.accesses.size());
}

void SymbolicCall::read(sql::TableId table, Attribute attribute, SmtTerm guard, const Row& row) {
  if (!symbols.may_change(table, attribute)) return;
  const std::size_t before = instance.accesses.size();
  guard = guard && terms.is_unwritten({table, attribute, 0, before}, row);
  const auto add_read = [&](SmtTerm condition, MomentId view) {
    Access& access = add(AccessKind::Read, table, attribute, condition);
    access.row = row;
    access.at = view;
  };
  if (!may_see_current(table, attribute)) return add_read(guard, reads_at);
  const SmtTerm locked = terms.has_locked(table, row, before);
  add_read(guard && !locked, reads_at);
  add_read(guard && locked, kCurrent);
}

void SymbolicCall::read_all(sql::TableId table, Attribute attribute, SmtTerm guard,
                            ConditionId condition) {
  if (!symbols.may_change(table, attribute)) return;
  const std::size_t before = instance.accesses.size();
  Conditions& conditions = instance.conditions;
  const ConditionId external = conditions.add(condition::Unwritten{table, attribute, 0, before});
  const auto add_read = [&](ConditionId holds, MomentId view) {
    Access& access = add(AccessKind::Read, table, attribute, guard);
    access.condition = conditions.all({holds, external});
    access.at = view;
  };
  if (!may_see_current(table, attribute)) return add_read(condition, reads_at);
  const ConditionId locked = conditions.add(condition::Locked{table, before});
  add_read(conditions.all({condition, conditions.negate(locked)}), reads_at);
  add_read(conditions.all({condition, locked}), kCurrent);
}

void SymbolicCall::write(sql::TableId table, Attribute attribute, SmtTerm guard, const Row& row,
                         const SymValue& value) {
  Access& access = add(AccessKind::Write, table, attribute, guard);
  access.row = row;
  access.value = value;
}

void SymbolicCall::write_all(sql::TableId table, Attribute attribute, SmtTerm guard,
                             ConditionId condition, WrittenValue value) {
  Access& access = add(AccessKind::Write, table, attribute, guard);
  access.condition = condition;
  access.value = std::move(value);
}

void SymbolicCall::lock(sql::TableId table, sql::Lock mode, SmtTerm guard, std::optional<Row> row,
                        ConditionId condition) {
  if (mode == sql::Lock::KeyShare && !symbols.changes().has_deletes(table)) return;
  if (symbols.changes().has_fixed_rows(table) && !per_statement) {
    bool is_written = false;
    const auto& columns = symbols.app().table(table).columns;
    for (const sql::ColumnId c : columns.ids())
      is_written = is_written || symbols.changes().is_updated(table, c);
    if (!is_written) return;  // no other call to wait for
  }
  Access& access = add(AccessKind::Lock, table, kPresence, guard);
  access.row = std::move(row);
  access.condition = condition;
  access.lock = mode;
  access.is_late = per_statement && loops == Loops::AnyTwo && statement->is<sql::ForQuery>();
}

void SymbolicCall::lock_numbers(sql::Lock mode, SmtTerm guard, Row numbers) {
  Access& access =
      add(AccessKind::Lock, advisory_table(symbols.app(), numbers.size()), kPresence, guard);
  access.row = std::move(numbers);
  access.lock = mode;
}

void SymbolicCall::assign(sql::VarId var, const SymValue& value) {
  env[var.index].value = symbols.choose_value(alive, value, env[var.index].value);
}

void SymbolicCall::set_found(SmtTerm found) {
  if (function.found) assign(*function.found, symbols.truth(found));
  if (function.row_count) {
    const SymValue count = symbols.fresh_value("row_count", false);
    instance.facts.push_back(symbols.smt().number(0) <= count.number);
    instance.facts.push_back(iff(found, symbols.smt().number(1) <= count.number));
    assign(*function.row_count, count);
  }
}

}  // namespace isoscope::audit
