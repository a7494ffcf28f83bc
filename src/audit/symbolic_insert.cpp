// INSERT, with ON CONFLICT, on symbols.

#include "audit/symbolic_write.h"

namespace isoscope::audit {
namespace {

Row choose_row(SmtTerm condition, const Row& yes, const Row& no) {
  Row row;
  for (std::size_t i = 0; i < yes.size(); ++i) row.push_back(choose(condition, yes[i], no[i]));
  return row;
}

}  // namespace

bool SymbolicWrite::looks_once(bool named) const {
  return named && call_.per_statement && Moments::looks_twice(*call_.statement);
}

void SymbolicWrite::propose_row(Insertion& insertion) {
  const sql::Insert& insert = insertion.insert;
  const sql::Table& declared = insertion.declared;
  ColumnValues& values = insertion.values;
  values.resize(declared.columns.size());
  for (const sql::ColumnId c : declared.columns.ids()) {
    const sql::Column& column = declared.columns[c];
    const sql::Expr* given = nullptr;
    for (const sql::SetColumn& set : insert.sets) {
      if (set.column == c) given = &set.value;
    }
    if (given != nullptr) {
      values[c] = terms_.eval(*given, insertion.frame);
    } else if (column.is_fresh) {
      values[c] = symbols_.fresh_value("fresh", false);
      instance_.fresh_values.emplace_back(column.drawn_from
                                              ? sequence_key(*column.drawn_from)
                                              : std::pair(insert.table.index, c.index),
                                          values[c].number);
      insertion.has_fresh_key = insertion.has_fresh_key || declared.is_key_column(c);
    } else {
      values[c] = column.default_value ? terms_.eval(*column.default_value, insertion.frame)
                                       : symbols_.null();
    }
    // NOT NULL, and a key is never NULL.
    if (column.not_null || declared.is_key_column(c)) call_.abort_if(call_.alive && values[c].null);
  }
  for (const sql::ColumnId k : declared.primary_key) insertion.row.push_back(values[k].number);
  const Frame proposed = insertion.proposed();
  for (const sql::Expr& check : declared.checks)
    call_.abort_if(call_.alive && terms_.truth(check, proposed).no);
}

void SymbolicWrite::look_for_key(bool named, Insertion& insertion) {
  const sql::TableId table = insertion.insert.table;
  Frame looks = insertion.frame;
  if (looks_once(named)) looks.at = call_.moments.check_moment();
  const SmtTerm is_taken =
      insertion.inserts && constraints_.key_is_taken(table, insertion.row, looks);
  if (looks_once(named)) {
    constraints_.look_once(table, kPresence, insertion.row, insertion.inserts, is_taken,
                           terms_.present(table, insertion.row, insertion.frame));
  } else {
    call_.read(table, kPresence, insertion.inserts, insertion.row);
  }
  if (named) {
    insertion.is_handled = is_taken;
  } else {
    call_.abort_if(is_taken);
  }
  insertion.inserts = insertion.inserts && !is_taken;
}

void SymbolicWrite::look_for_entries(bool named, Insertion& insertion) {
  const sql::Insert& insert = insertion.insert;
  const auto& unique = insertion.declared.unique;
  for (const sql::UniqueId u : unique.ids()) {
    if (insert.names_key(unique[u]) != named) continue;
    insertion.entries.push_back(constraints_.look_up(insert.table, u, insertion.inserts,
                                                     insertion.proposed(), looks_once(named)));
    const SymbolicConstraints::Entry& entry = insertion.entries.back();
    if (!named) {
      call_.abort_if(entry.taken);
    } else {
      if (insert.conflict == sql::OnConflict::Update)
        insertion.there = choose_row(entry.taken,
                                     constraints_.some_row(insert.table, unique[u], entry.values,
                                                           entry.taken, insertion.frame),
                                     insertion.there);
      insertion.is_handled = insertion.is_handled || entry.taken;
    }
    insertion.inserts = insertion.inserts && !entry.taken;
  }
}

SmtTerm SymbolicWrite::update_there(const Insertion& insertion) {
  const sql::Insert& insert = insertion.insert;
  const sql::TableId table = insert.table;
  const Frame both = insertion.frame.with(
      {Source{table, insertion.there}, Source{table, insertion.row, insertion.values}});
  const SmtTerm updates = insertion.is_handled && terms_.is_true(insert.conflict_where, both);
  std::set<std::pair<sql::SourceId, sql::ColumnId>> used;
  for (const sql::SetColumn& set : insert.conflict_sets) add_columns(set.value, used);
  if (insert.conflict_where) add_columns(*insert.conflict_where, used);
  for (const sql::Expr& expr : insert.returning) add_columns(expr, used);
  for (const auto& use : used) {
    if (use.first == sql::SourceId{0})
      call_.read(table, Attribute(use.second), insertion.is_handled, insertion.there);
  }
  change_row(table, insert.conflict_sets, insertion.there, updates, both);
  return updates;
}

void SymbolicWrite::run(const sql::Insert& insert) {
  const sql::TableId table = insert.table;
  const sql::Table& declared = symbols_.app().table(table);
  Insertion insertion{.insert = insert, .declared = declared, .frame = call_.current()};
  call_.reads_at = insertion.frame.at;
  propose_row(insertion);
  const Frame new_row = insertion.proposed();
  std::set<sql::ColumnId> all_columns;
  for (const sql::ColumnId c : declared.columns.ids()) all_columns.insert(c);
  insertion.inserts = call_.alive;
  insertion.is_handled = symbols_.no();
  insertion.there = insertion.row;
  // The keys that ON CONFLICT names go first; the first key by which a row is there decides.
  for (const bool named : {true, false}) {
    if (!insertion.has_fresh_key && insert.names_key(declared.primary_key) == named)
      look_for_key(named, insertion);
    look_for_entries(named, insertion);
  }
  constraints_.check_parents(table, insertion.inserts, &new_row, all_columns);
  insertion.inserts = insertion.inserts && call_.alive;
  insertion.is_handled = insertion.is_handled && call_.alive;
  const SmtTerm alive = call_.alive;
  const SmtTerm inserts = insertion.inserts;
  SmtTerm found = inserts;
  if (insert.conflict == sql::OnConflict::Update) found = found || update_there(insertion);
  const std::size_t first_write = instance_.accesses.size();
  call_.write(table, kPresence, inserts, insertion.row, symbols_.number(1));
  for (const sql::ColumnId c : declared.columns.ids()) {
    if (!declared.is_key_column(c))
      call_.write(table, Attribute(c), inserts, insertion.row, insertion.values[c]);
  }
  for (const SymbolicConstraints::Entry& entry : insertion.entries) {
    call_.write(table, Attribute::entry(entry.unique), inserts && entry.looks, entry.values,
                symbols_.number(1));
  }
  for (std::size_t i = first_write; i < instance_.accesses.size(); ++i)
    instance_.accesses[i].is_insert = true;
  const Frame after =
      call_.current().with({Source{table, choose_row(inserts, insertion.row, insertion.there)}});
  return_row(insert, alive, found, after, true);
}

}  // namespace isoscope::audit
