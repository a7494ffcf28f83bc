// INSERT, with ON CONFLICT, on symbols.
#include <algorithm>

#include "audit/symbolic_plan.h"

namespace isoscope::audit {
namespace {

// Does ON CONFLICT say what to do if a row is there by this key?
bool is_named(const sql::Insert& insert, const std::vector<std::uint32_t>& key) {
  if (insert.conflict == sql::OnConflict::Fail) return false;
  const auto& named = insert.conflict_key;
  return named.empty() || std::ranges::is_permutation(named, key);
}

Row choose_row(SmtTerm condition, const Row& yes, const Row& no) {
  Row row;
  for (std::size_t i = 0; i < yes.size(); ++i) row.push_back(choose(condition, yes[i], no[i]));
  return row;
}

}  // namespace

// A row that is there and has these values, if the condition holds.
Row SymbolicRun::some_row(sql::TableId table, const std::vector<std::uint32_t>& columns,
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

// An INSERT on its way: the row that it proposes, and what comes of it.
struct SymbolicRun::Insertion {
  const sql::Table& declared;
  Frame frame;                        // as things are when it looks
  std::vector<SymValue> values = {};  // by column
  Row row = {};                       // its primary key
  bool has_fresh_key = false;         // which no other row can have
  SmtTerm inserts = {};               // it inserts
  SmtTerm is_handled = {};            // a row is there, and ON CONFLICT says what to do
  Row there = {};                     // that row
  std::vector<Entry> entries = {};    // of UNIQUE constraints
};

// The values of the row: given, fresh or by default. Aborts where NOT NULL or CHECK forbid them.
void SymbolicRun::propose_row(const sql::Insert& insert, Insertion& insertion) {
  const sql::Table& declared = insertion.declared;
  std::vector<SymValue>& values = insertion.values;
  values.resize(declared.columns.size());
  for (std::uint32_t c = 0; c < declared.columns.size(); ++c) {
    const sql::Column& column = declared.columns[c];
    const sql::Expr* given = nullptr;
    for (const sql::SetColumn& set : insert.sets) {
      if (set.column == c) given = &set.value;
    }
    if (given != nullptr) {
      values[c] = terms_.eval(*given, insertion.frame);
    } else if (column.is_fresh) {
      values[c] = symbols_.fresh_value("fresh", false);
      instance_.fresh_values.emplace_back(std::pair(insert.table.index, c), values[c].number);
      insertion.has_fresh_key = insertion.has_fresh_key || declared.is_key_column(c);
    } else {
      values[c] = column.default_value ? terms_.eval(*column.default_value, insertion.frame)
                                       : symbols_.null();
    }
    // NOT NULL, and a key is never NULL.
    if (column.not_null || declared.is_key_column(c)) abort_if(alive_ && values[c].null);
  }
  for (const std::uint32_t k : declared.primary_key) insertion.row.push_back(values[k].number);
  const Frame proposed = insertion.frame.with({Source{insert.table, insertion.row, values}});
  for (const sql::Expr& check : declared.checks)
    abort_if(alive_ && terms_.truth(check, proposed).no);
}

// Looks whether the primary key is taken. `named`: ON CONFLICT says what to do then.
void SymbolicRun::look_for_key(const sql::Statement& statement, const sql::Insert& insert,
                               bool named, Insertion& insertion) {
  const sql::TableId table = insert.table;
  const bool looks_once = named && per_statement_ && Moments::looks_twice(statement);
  Frame looks = insertion.frame;
  if (looks_once) looks.at = moments_.check_moment();
  const SmtTerm is_taken = insertion.inserts && key_is_taken(table, insertion.row, looks);
  if (looks_once) {
    look_once(statement, table, kPresence, insertion.row, insertion.inserts, is_taken,
              terms_.present(table, insertion.row, insertion.frame));
  } else {
    read(statement, table, kPresence, insertion.inserts, insertion.row);
  }
  if (named) {
    insertion.is_handled = is_taken;
  } else {
    abort_if(is_taken);
  }
  insertion.inserts = insertion.inserts && !is_taken;
}

// The same for the keys of UNIQUE constraints.
void SymbolicRun::look_for_entries(const sql::Statement& statement, const sql::Insert& insert,
                                   bool named, const Frame& new_row, Insertion& insertion) {
  const bool looks_once = named && per_statement_ && Moments::looks_twice(statement);
  const auto& unique = insertion.declared.unique;
  for (std::uint32_t u = 0; u < unique.size(); ++u) {
    if (is_named(insert, unique[u]) != named) continue;
    insertion.entries.push_back(
        look_up(statement, insert.table, u, insertion.inserts, new_row, looks_once));
    const Entry& entry = insertion.entries.back();
    if (!named) {
      abort_if(entry.taken);
    } else {
      if (insert.conflict == sql::OnConflict::Update)
        insertion.there = choose_row(
            entry.taken,
            some_row(insert.table, unique[u], entry.values, entry.taken, insertion.frame),
            insertion.there);
      insertion.is_handled = insertion.is_handled || entry.taken;
    }
    insertion.inserts = insertion.inserts && !entry.taken;
  }
}

// DO UPDATE of the row that is there; returns whether it happens.
SmtTerm SymbolicRun::update_there(const sql::Statement& statement, const sql::Insert& insert,
                                  const Insertion& insertion) {
  const sql::TableId table = insert.table;
  const Frame both = insertion.frame.with(
      {Source{table, insertion.there}, Source{table, insertion.row, insertion.values}});
  const SmtTerm updates = insertion.is_handled && terms_.is_true(insert.conflict_where, both);
  std::set<std::pair<std::uint32_t, std::uint32_t>> used;
  for (const sql::SetColumn& set : insert.conflict_sets) add_columns(set.value, used);
  if (insert.conflict_where) add_columns(*insert.conflict_where, used);
  for (const sql::Expr& expr : insert.returning) add_columns(expr, used);
  for (const auto& use : used) {
    if (use.first == 0) read(statement, table, use.second, insertion.is_handled, insertion.there);
  }
  change_row(statement, table, insert.conflict_sets, insertion.there, updates, both);
  return updates;
}

void SymbolicRun::insert(const sql::Statement& statement, const sql::Insert& insert) {
  const sql::TableId table = insert.table;
  const sql::Table& declared = symbols_.app().table(table);
  Insertion insertion{.declared = declared, .frame = current()};
  reads_at_ = insertion.frame.at;
  propose_row(insert, insertion);
  const Frame new_row = insertion.frame.with({Source{table, insertion.row, insertion.values}});
  std::set<std::uint32_t> all_columns;
  for (std::uint32_t c = 0; c < declared.columns.size(); ++c) all_columns.insert(c);
  insertion.inserts = alive_;
  insertion.is_handled = symbols_.no();
  insertion.there = insertion.row;
  // The keys that ON CONFLICT names go first; the first key by which a row is there decides.
  for (const bool named : {true, false}) {
    if (!insertion.has_fresh_key && is_named(insert, declared.primary_key) == named)
      look_for_key(statement, insert, named, insertion);
    look_for_entries(statement, insert, named, new_row, insertion);
  }
  check_parents(statement, table, insertion.inserts, &new_row, all_columns);
  insertion.inserts = insertion.inserts && alive_;
  insertion.is_handled = insertion.is_handled && alive_;
  const SmtTerm alive = alive_;
  const SmtTerm inserts = insertion.inserts;
  SmtTerm found = inserts;
  if (insert.conflict == sql::OnConflict::Update)
    found = found || update_there(statement, insert, insertion);
  const std::size_t first_write = instance_.accesses.size();
  write(statement, table, kPresence, inserts, insertion.row, symbols_.number(1));
  for (std::uint32_t c = 0; c < declared.columns.size(); ++c) {
    if (!declared.is_key_column(c))
      write(statement, table, c, inserts, insertion.row, insertion.values[c]);
  }
  for (const Entry& entry : insertion.entries) {
    write(statement, table, kUniqueEntry + entry.unique, inserts && entry.looks, entry.values,
          symbols_.number(1));
  }
  for (std::size_t i = first_write; i < instance_.accesses.size(); ++i)
    instance_.accesses[i].is_insert = true;
  const Frame after =
      current().with({Source{table, choose_row(inserts, insertion.row, insertion.there)}});
  return_row(insert, alive, found, after, true);
}

}  // namespace isoscope::audit
