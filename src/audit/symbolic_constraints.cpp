// What constraints look at, and when they end a transaction.
#include <algorithm>

#include "audit/symbolic_plan.h"

namespace isoscope::audit {

bool mentions(const std::vector<std::uint32_t>& constraint,
              const std::set<std::uint32_t>& columns) {
  return std::ranges::any_of(constraint, [&](std::uint32_t c) { return columns.contains(c); });
}

bool SymbolicRun::is_referred_to(sql::TableId table) const {
  return std::ranges::any_of(symbols_.app().tables, [&](const sql::Table& other) {
    return std::ranges::any_of(other.foreign_keys,
                               [&](const sql::ForeignKey& key) { return key.target == table; });
  });
}

// A foreign key needs its target: the row is looked at and kept from going away unseen. Of many
// rows, or by UNIQUE columns, the target may be any row.
void SymbolicRun::check_parents(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                                const Frame* new_row, const std::set<std::uint32_t>& columns) {
  for (const sql::ForeignKey& key : symbols_.app().table(table).foreign_keys) {
    if (!mentions(key.columns, columns)) continue;
    const sql::Table& target = symbols_.app().table(key.target);
    const Frame frame = current();
    const bool is_by_key = key.target_columns == target.primary_key;
    if (new_row == nullptr || !is_by_key) {
      Conditions& conditions = instance_.conditions;
      read_all(statement, key.target, kPresence, guard,
               conditions.add(condition::Always{symbols_.yes()}));
      const ConditionId is_there = conditions.add(condition::Present{key.target, frame});
      for (const std::uint32_t column : key.target_columns)
        read_all(statement, key.target, column, guard, is_there);
    }
    if (new_row == nullptr) continue;
    Row row;
    SmtTerm checked = guard;
    std::vector<SmtTerm> own;
    for (std::size_t i = 0; i < key.columns.size(); ++i) {
      const SymValue value = terms_.column_of(*new_row, 0, key.columns[i]);
      row.push_back(value.number);
      checked = checked && !value.null;
      if (key.target == table)
        own.push_back(
            symbols_.same_value(value, terms_.column_of(*new_row, 0, key.target_columns[i])));
    }
    // A row may refer to itself.
    if (key.target == table) checked = checked && !symbols_.all(own);
    if (!is_by_key) {
      some_row(key.target, key.target_columns, row, checked, frame);
      continue;
    }
    const SmtTerm present = terms_.present(key.target, row, frame);
    read(statement, key.target, kPresence, checked, row);
    lock(statement, key.target, sql::Lock::KeyShare, checked, row);
    abort_if(checked && !present);
  }
}

// Whoever deletes a row, or changes what is referred to, looks at the rows that refer to it. With
// no row: to some of many.
void SymbolicRun::check_children(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                                 const Row* row, const std::set<std::uint32_t>& columns,
                                 const Frame& before) {
  for (std::uint32_t t = 0; t < symbols_.app().tables.size(); ++t) {
    const sql::TableId child{t};
    for (const sql::ForeignKey& key : symbols_.app().tables[t].foreign_keys) {
      if (key.target != table || !mentions(key.target_columns, columns)) continue;
      const Frame frame = current();
      const bool is_single = row != nullptr;
      const bool is_update = !statement.is<sql::Delete>();
      // What the row was referred to by, if it no longer has it.
      Row lost;
      SmtTerm looks = guard;
      std::vector<SmtTerm> same;
      for (std::size_t i = 0; is_single && i < key.target_columns.size(); ++i) {
        const SymValue old = terms_.value(table, key.target_columns[i], *row, before);
        lost.push_back(old.number);
        looks = looks && !old.null;
        if (is_update)
          same.push_back(
              symbols_.same_value(old, terms_.value(table, key.target_columns[i], *row, frame)));
      }
      if (is_single && is_update) looks = looks && !symbols_.all(same);
      Conditions& conditions = instance_.conditions;
      const ConditionId is_candidate = refers_by_key(child, key, lost, row);
      const ConditionId is_there =
          conditions.all({is_candidate, conditions.add(condition::Present{child, frame})});
      read_all(statement, child, kPresence, looks, is_candidate);
      for (const std::uint32_t column : key.columns)
        read_all(statement, child, column, looks, is_there);
      if (!is_single) continue;
      std::vector<ConditionId> parts = {conditions.add(condition::Always{looks}),
                                        conditions.add(condition::Committed{}), is_there};
      for (std::size_t i = 0; i < key.columns.size(); ++i)
        parts.push_back(conditions.add(condition::Holds{child, key.columns[i], frame, lost[i]}));
      instance_.row_facts.push_back({child, conditions.negate(conditions.all(std::move(parts)))});
    }
  }
}

// A row may refer to what a row of its parent table had, as far as its key says. With no parent: to
// some of many.
ConditionId SymbolicRun::refers_by_key(sql::TableId child, const sql::ForeignKey& key,
                                       const Row& lost, const Row* parent) {
  Conditions& conditions = instance_.conditions;
  if (parent == nullptr) return conditions.add(condition::Always{symbols_.yes()});
  const auto& own_key = symbols_.app().table(child).primary_key;
  std::vector<ConditionId> parts;
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    const auto place = std::ranges::find(own_key, key.columns[i]);
    if (place == own_key.end()) continue;
    const auto part = static_cast<std::size_t>(place - own_key.begin());
    parts.push_back(conditions.add(condition::KeyIs{part, lost[i]}));
  }
  if (child == key.target) {
    std::vector<ConditionId> same;
    for (std::size_t k = 0; k < parent->size(); ++k)
      same.push_back(conditions.add(condition::KeyIs{k, (*parent)[k]}));
    parts.push_back(conditions.negate(conditions.all(std::move(same))));
  }
  return conditions.all(std::move(parts));
}

SmtTerm SymbolicRun::key_is_taken(sql::TableId table, const Row& row, const Frame& frame) {
  if (keys_are_unknown_ && symbols_.changes().frees_keys(table))
    return symbols_.fresh_truth("taken");
  return terms_.present(table, row, frame);
}

void SymbolicRun::look_once(const sql::Statement& statement, sql::TableId table,
                            std::uint32_t column, const Row& row, SmtTerm looks, SmtTerm is_taken,
                            SmtTerm is_taken_at_end) {
  instance_.facts.push_back(implies(looks && !is_taken, !is_taken_at_end));
  read(statement, table, column, looks && !is_taken, row);
  reads_at_ = moments_.check_moment();
  read(statement, table, column, looks && is_taken, row);
  reads_at_ = kCurrent;
}

SmtTerm SymbolicRun::taken_now(sql::TableId table, std::uint32_t unique, const Row& entry,
                               std::uint32_t at) {
  if (keys_are_unknown_ &&
      symbols_.changes().frees_entries(table, symbols_.app().table(table).unique[unique]))
    return symbols_.fresh_truth("taken");
  if (disturbed_.contains({table.index, kUniqueEntry}))
    return symbols_.fresh_truth("some_round.taken");
  SmtTerm taken = instance_.taken(table, unique, entry, at);
  for (const Access& access : instance_.accesses) {
    if (access.kind != AccessKind::Write || access.table != table ||
        access.column != kUniqueEntry + unique)
      continue;
    taken = choose(terms_.happens(access, entry),
                   equals(terms_.written(access, entry).number, symbols_.smt().number(1)), taken);
  }
  return taken;
}

SymbolicRun::Entry SymbolicRun::look_up(const sql::Statement& statement, sql::TableId table,
                                        std::uint32_t unique, SmtTerm guard, const Frame& new_row,
                                        bool looks_once) {
  Entry entry{unique, {}, guard, {}};
  for (const std::uint32_t column : symbols_.app().table(table).unique[unique]) {
    const SymValue value = terms_.column_of(new_row, 0, column);
    entry.values.push_back(value.number);
    entry.looks = entry.looks && !value.null;  // NULLs are no doubles of each other
  }
  const std::uint32_t at = current().at;
  if (looks_once) {
    entry.taken = entry.looks && taken_now(table, unique, entry.values, moments_.check_moment());
    look_once(statement, table, kUniqueEntry + unique, entry.values, entry.looks, entry.taken,
              taken_now(table, unique, entry.values, at));
    return entry;
  }
  entry.taken = entry.looks && taken_now(table, unique, entry.values, at);
  read(statement, table, kUniqueEntry + unique, entry.looks, entry.values);
  return entry;
}

// Takes the entries of constraints that mention the columns; returns whether one was taken already.
SmtTerm SymbolicRun::take_entries(const sql::Statement& statement, sql::TableId table,
                                  SmtTerm guard, const Frame& new_row,
                                  const std::set<std::uint32_t>& columns) {
  SmtTerm is_double = symbols_.no();
  const auto& constraints = symbols_.app().table(table).unique;
  for (std::uint32_t u = 0; u < constraints.size(); ++u) {
    if (!mentions(constraints[u], columns)) continue;
    const Entry entry = look_up(statement, table, u, guard, new_row);
    write(statement, table, kUniqueEntry + u, entry.looks && !entry.taken, entry.values,
          symbols_.number(1));
    is_double = is_double || entry.taken;
  }
  return is_double;
}

void SymbolicRun::free_entries(const sql::Statement& statement, sql::TableId table, SmtTerm guard,
                               const Frame& old_row, const std::set<std::uint32_t>& columns) {
  const auto& constraints = symbols_.app().table(table).unique;
  for (std::uint32_t u = 0; u < constraints.size(); ++u) {
    if (!mentions(constraints[u], columns)) continue;
    Row entry;
    std::vector<SmtTerm> known = {guard};
    for (const std::uint32_t column : constraints[u]) {
      const SymValue value = terms_.column_of(old_row, 0, column);
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
    const ConditionId is_changed = instance_.conditions.add(condition::Named{changed});
    read_all(statement, table, kUniqueEntry + u, guard, is_changed);
    write_all(statement, table, kUniqueEntry + u, guard, is_changed, taken);
  }
}

}  // namespace isoscope::audit
