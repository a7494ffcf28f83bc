#include "audit/symbolic_constraints.h"

#include <algorithm>

namespace isoscope::audit {

void SymbolicConstraints::check_parents(sql::TableId table, SmtTerm guard, const Frame* new_row,
                                        const Columns& columns) {
  for (const sql::ForeignKey& key : symbols_.app().table(table).foreign_keys) {
    if (!mentions(key.columns, columns)) continue;
    const sql::Table& target = symbols_.app().table(key.target);
    const Frame frame = call_.current();
    // By UNIQUE columns, or of many rows, the target may be any row.
    const bool is_by_key = key.target_columns == target.primary_key;
    if (new_row == nullptr || !is_by_key) {
      call_.read_all(key.target, kPresence, guard, always(symbols_.yes()));
      const ConditionId is_there = conditions_.add(condition::Present{key.target, frame});
      for (const sql::ColumnId column : key.target_columns)
        call_.read_all(key.target, Attribute(column), guard, is_there);
    }
    if (new_row == nullptr) continue;
    Row row;
    SmtTerm checked = guard;
    std::vector<SmtTerm> own;
    for (std::size_t i = 0; i < key.columns.size(); ++i) {
      const SymValue value = terms_.column_of(*new_row, sql::SourceId{0}, key.columns[i]);
      row.push_back(value.number);
      checked = checked && !value.null;
      if (key.target == table)
        own.push_back(symbols_.same_value(
            value, terms_.column_of(*new_row, sql::SourceId{0}, key.target_columns[i])));
    }
    // A row may refer to itself.
    if (key.target == table) checked = checked && !symbols_.all(own);
    if (!is_by_key) {
      some_row(key.target, key.target_columns, row, checked, frame);
      continue;
    }
    const SmtTerm present = terms_.present(key.target, row, frame);
    call_.read(key.target, kPresence, checked, row);
    call_.lock(key.target, sql::Lock::KeyShare, checked, row);
    call_.abort_if(checked && !present);
    // Where no call makes or deletes a parent, reading it is no access that would name it: a run
    // needs it among the rows at the start.
    if (symbols_.changes().has_fixed_rows(key.target))
      instance_.named_rows.emplace_back(key.target, row);
  }
}

void SymbolicConstraints::check_children(sql::TableId table, SmtTerm guard, const Row* row,
                                         const Columns& columns, const Frame& before) {
  for (std::uint32_t t = 0; t < symbols_.app().tables.size(); ++t) {
    const sql::TableId child{t};
    for (const sql::ForeignKey& key : symbols_.app().tables[t].foreign_keys) {
      if (key.target != table || !mentions(key.target_columns, columns)) continue;
      const bool is_update = !call_.statement->is<sql::Delete>();
      // What ON DELETE and ON UPDATE do are statements of their own.
      const sql::ReferenceAction action = is_update ? key.on_update : key.on_delete;
      if (action != sql::ReferenceAction::Refuse) continue;
      const Frame frame = call_.current();
      const bool is_single = row != nullptr;
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
      const ConditionId is_candidate = refers_by_key(child, key, lost, row);
      const ConditionId is_there =
          conditions_.all({is_candidate, conditions_.add(condition::Present{child, frame})});
      call_.read_all(child, kPresence, looks, is_candidate);
      for (const sql::ColumnId column : key.columns)
        call_.read_all(child, Attribute(column), looks, is_there);
      if (!is_single) continue;
      std::vector<ConditionId> parts = {always(looks), conditions_.add(condition::Committed{}),
                                        is_there};
      for (std::size_t i = 0; i < key.columns.size(); ++i)
        parts.push_back(conditions_.add(condition::Holds{child, key.columns[i], frame, lost[i]}));
      instance_.row_facts.push_back({child, conditions_.negate(conditions_.all(std::move(parts)))});
    }
  }
}

SymbolicConstraints::Columns SymbolicConstraints::referred_columns(sql::TableId table,
                                                                   const Columns* columns) const {
  Columns referred;
  for (const sql::Table& other : symbols_.app().tables) {
    for (const sql::ForeignKey& key : other.foreign_keys) {
      if (key.target == table && (columns == nullptr || mentions(key.target_columns, *columns)))
        referred.insert(key.target_columns.begin(), key.target_columns.end());
    }
  }
  return referred;
}

// A row may refer to what a row of its parent table had, as far as its key says. With no parent: to
// some of many.
ConditionId SymbolicConstraints::refers_by_key(sql::TableId child, const sql::ForeignKey& key,
                                               const Row& lost, const Row* parent) {
  if (parent == nullptr) return always(symbols_.yes());
  const auto& own_key = symbols_.app().table(child).primary_key;
  std::vector<ConditionId> parts;
  for (std::size_t i = 0; i < key.columns.size(); ++i) {
    const auto place = std::ranges::find(own_key, key.columns[i]);
    if (place == own_key.end()) continue;
    const auto part = static_cast<std::size_t>(place - own_key.begin());
    parts.push_back(conditions_.add(condition::KeyIs{part, lost[i]}));
  }
  if (child == key.target) {
    std::vector<ConditionId> same;
    for (std::size_t k = 0; k < parent->size(); ++k)
      same.push_back(conditions_.add(condition::KeyIs{k, (*parent)[k]}));
    parts.push_back(conditions_.negate(conditions_.all(std::move(same))));
  }
  return conditions_.all(std::move(parts));
}

SmtTerm SymbolicConstraints::key_is_taken(sql::TableId table, const Row& row, const Frame& frame) {
  if (call_.keys_are_unknown && symbols_.changes().frees_keys(table))
    return symbols_.fresh_truth("taken");
  return terms_.present(table, row, frame);
}

void SymbolicConstraints::look_once(sql::TableId table, Attribute attribute, const Row& row,
                                    SmtTerm looks, SmtTerm is_taken, SmtTerm is_taken_at_end) {
  instance_.facts.push_back(implies(looks && !is_taken, !is_taken_at_end));
  call_.read(table, attribute, looks && !is_taken, row);
  call_.reads_at = call_.moments.check_moment();
  call_.read(table, attribute, looks && is_taken, row);
  call_.reads_at = kCurrent;
}

SmtTerm SymbolicConstraints::taken_now(sql::TableId table, sql::UniqueId unique, const Row& entry,
                                       MomentId at) {
  if (call_.keys_are_unknown &&
      symbols_.changes().frees_entries(table, symbols_.app().table(table).unique[unique]))
    return symbols_.fresh_truth("taken");
  if (call_.disturbed.contains({table, Attribute::entry(unique)}))
    return symbols_.fresh_truth("some_round.taken");
  SmtTerm taken = instance_.taken(table, unique, entry, at);
  for (const Access& access : instance_.accesses) {
    if (access.kind != AccessKind::Write || access.table != table ||
        access.attribute != Attribute::entry(unique))
      continue;
    taken = choose(terms_.happens(access, entry),
                   equals(terms_.written(access, entry).number, symbols_.smt().number(1)), taken);
  }
  return taken;
}

SymbolicConstraints::Entry SymbolicConstraints::look_up(sql::TableId table, sql::UniqueId unique,
                                                        SmtTerm guard, const Frame& new_row,
                                                        bool looks_once) {
  Entry entry{unique, {}, guard, {}};
  for (const sql::ColumnId column : symbols_.app().table(table).unique[unique]) {
    const SymValue value = terms_.column_of(new_row, sql::SourceId{0}, column);
    entry.values.push_back(value.number);
    entry.looks = entry.looks && !value.null;  // NULLs are no doubles of each other
  }
  const MomentId at = call_.current().at;
  if (looks_once) {
    entry.taken =
        entry.looks && taken_now(table, unique, entry.values, call_.moments.check_moment());
    look_once(table, Attribute::entry(unique), entry.values, entry.looks, entry.taken,
              taken_now(table, unique, entry.values, at));
    return entry;
  }
  entry.taken = entry.looks && taken_now(table, unique, entry.values, at);
  call_.read(table, Attribute::entry(unique), entry.looks, entry.values);
  return entry;
}

SmtTerm SymbolicConstraints::take_entries(sql::TableId table, SmtTerm guard, const Frame& new_row,
                                          const Columns& columns) {
  SmtTerm is_double = symbols_.no();
  const auto& constraints = symbols_.app().table(table).unique;
  for (const sql::UniqueId u : constraints.ids()) {
    if (!mentions(constraints[u], columns)) continue;
    const Entry entry = look_up(table, u, guard, new_row);
    call_.write(table, Attribute::entry(u), entry.looks && !entry.taken, entry.values,
                symbols_.number(1));
    is_double = is_double || entry.taken;
  }
  return is_double;
}

void SymbolicConstraints::free_entries(sql::TableId table, SmtTerm guard, const Frame& old_row,
                                       const Columns& columns) {
  const auto& constraints = symbols_.app().table(table).unique;
  for (const sql::UniqueId u : constraints.ids()) {
    if (!mentions(constraints[u], columns)) continue;
    Row entry;
    std::vector<SmtTerm> known = {guard};
    for (const sql::ColumnId column : constraints[u]) {
      const SymValue value = terms_.column_of(old_row, sql::SourceId{0}, column);
      entry.push_back(value.number);
      known.push_back(!value.null);
    }
    call_.write(table, Attribute::entry(u), symbols_.all(known), entry, symbols_.number(0));
  }
}

void SymbolicConstraints::change_any_entries(sql::TableId table, SmtTerm guard,
                                             const Columns& columns) {
  const auto& constraints = symbols_.app().table(table).unique;
  for (const sql::UniqueId u : constraints.ids()) {
    if (!mentions(constraints[u], columns)) continue;
    const SmtFunction changed = symbols_.entry_function("changed", table, u);
    const SmtFunction taken = symbols_.entry_function("taken", table, u);
    const ConditionId is_changed = conditions_.add(condition::Named{changed});
    call_.read_all(table, Attribute::entry(u), guard, is_changed);
    call_.write_all(table, Attribute::entry(u), guard, is_changed, taken);
  }
}

Row SymbolicConstraints::some_row(sql::TableId table, const std::vector<sql::ColumnId>& columns,
                                  const Row& values, SmtTerm condition, const Frame& frame) {
  Row row;
  for (std::size_t i = 0; i < symbols_.app().table(table).primary_key.size(); ++i)
    row.push_back(symbols_.fresh_number("row"));
  instance_.named_rows.emplace_back(table, row);
  std::vector<SmtTerm> parts = {terms_.present(table, row, frame)};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const SymValue value = terms_.value(table, columns[i], row, frame);
    parts.push_back(!value.null && equals(value.number, values[i]));
  }
  instance_.facts.push_back(implies(condition, symbols_.all(parts)));
  return row;
}

}  // namespace isoscope::audit
