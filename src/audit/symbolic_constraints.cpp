// What constraints look at, and when they end a transaction.
#include <algorithm>

#include "audit/symbolic_run.h"

namespace isoscope::audit {

// A foreign key needs its target: the row is looked at and kept from changing unseen.
void SymbolicRun::check_parents(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                                const NewValue& new_value) {
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
    abort_if(checked && !present);
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
      instance_.row_facts.push_back({child, [this, guard, present_refers](const Row& other) {
                                       return implies(guard && instance_.committed,
                                                      !present_refers(other));
                                     }});
      abort_if(guard && symbols_.fresh_truth("referred_to"));
    }
  }
}

namespace {

bool mentions(const std::vector<std::uint32_t>& constraint,
              const std::set<std::uint32_t>& columns) {
  return std::ranges::any_of(constraint, [&](std::uint32_t c) { return columns.contains(c); });
}

}  // namespace

SmtTerm SymbolicRun::taken_now(sql::TableId table, std::uint32_t unique, const Row& entry) {
  if (disturbed_.contains({table.index, kUniqueEntry}))
    return symbols_.fresh_truth("some_round.taken");
  SmtTerm taken = instance_.taken(table, unique, entry);
  for (const Access& access : instance_.accesses) {
    if (access.kind != AccessKind::Write || access.table != table ||
        access.column != kUniqueEntry + unique)
      continue;
    taken = choose(happens(symbols_, access, entry),
                   equals(access.value(entry).number, symbols_.smt().number(1)), taken);
  }
  return taken;
}

// Takes the entries of constraints that mention the columns; returns whether one was taken already.
SmtTerm SymbolicRun::take_entries(const sql::Statement& statement, sql::TableId table,
                                  SmtTerm guard, const NewValue& new_value,
                                  const std::set<std::uint32_t>& columns) {
  SmtTerm is_double = symbols_.no();
  const auto& constraints = symbols_.app().table(table).unique;
  for (std::uint32_t u = 0; u < constraints.size(); ++u) {
    if (!mentions(constraints[u], columns)) continue;
    Row entry;
    std::vector<SmtTerm> known = {guard};
    for (const std::uint32_t column : constraints[u]) {
      const SymValue value = new_value(column);
      entry.push_back(value.number);
      known.push_back(!value.null);  // NULLs are no doubles of each other
    }
    const SmtTerm looks = symbols_.all(known);
    const SmtTerm taken = taken_now(table, u, entry);
    read(statement, table, kUniqueEntry + u, looks, entry);
    write(statement, table, kUniqueEntry + u, looks && !taken, entry, symbols_.number(1));
    is_double = is_double || (looks && taken);
  }
  return is_double;
}

void SymbolicRun::free_entries(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                               const NewValue& old_value, const std::set<std::uint32_t>& columns) {
  const auto& constraints = symbols_.app().table(table).unique;
  for (std::uint32_t u = 0; u < constraints.size(); ++u) {
    if (!mentions(constraints[u], columns)) continue;
    Row entry;
    std::vector<SmtTerm> known = {guard};
    for (const std::uint32_t column : constraints[u]) {
      const SymValue value = old_value(column);
      entry.push_back(value.number);
      known.push_back(!value.null);
    }
    write(statement, table, kUniqueEntry + u, symbols_.all(known), entry, symbols_.number(0));
  }
}

void SymbolicRun::change_any_entries(const sql::Statement& statement, sql::TableId table,
                                     SmtTerm guard, const std::set<std::uint32_t>& columns) {
  const auto& constraints = symbols_.app().table(table).unique;
  for (std::uint32_t u = 0; u < constraints.size(); ++u) {
    if (!mentions(constraints[u], columns)) continue;
    const SmtFunction changed = symbols_.entry_function("changed", table, u);
    const SmtFunction taken = symbols_.entry_function("taken", table, u);
    const auto is_changed = [changed](const Row& entry) { return changed(entry); };
    read_all(statement, table, kUniqueEntry + u, guard, is_changed);
    instance_.accesses.push_back(
        {AccessKind::Write, table, kUniqueEntry + u, statement.number, guard, std::nullopt,
         is_changed, [this, taken](const Row& entry) { return symbols_.truth(taken(entry)); }});
  }
}

}  // namespace isoscope::audit
