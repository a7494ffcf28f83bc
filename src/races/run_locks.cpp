#include "races/run_locks.h"

#include <algorithm>
#include <set>

#include "races/words.h"
#include "support/spelling.h"

namespace isoscope::races {
namespace {

// The words of a SAVEPOINT, RELEASE or ROLLBACK TO and, last, the name of its savepoint; else
// empty.
std::vector<std::string> savepoint_words(const std::string& shape) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < shape.size();) {
    const std::size_t end = shape[at] == '"' ? shape.find('"', at + 1) : shape.find(' ', at);
    const std::string_view word =
        std::string_view(shape).substr(at, end == std::string::npos ? end : end - at);
    words.push_back(word[0] == '"' ? std::string(word.substr(1)) : lower_case(word));
    at = end == std::string::npos ? end : shape.find_first_not_of(' ', end + 1);
  }
  const bool sets = words.size() == 2 && words[0] == "savepoint";
  const bool releases = words.size() >= 2 && words[0] == "release";
  const bool undoes =
      words.size() >= 3 && words[0] == "rollback" && std::ranges::find(words, "to") != words.end();
  if (!sets && !releases && !undoes) words.clear();
  return words;
}

// By statement: the ROLLBACK TO that undid it, or kNothing. Marks those behind a savepoint.
std::vector<std::size_t> follow_savepoints(std::vector<Statement>& statements) {
  std::vector<std::size_t> undone(statements.size(), kNothing);
  std::vector<std::pair<std::string, std::size_t>> savepoints;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    statements[i].is_behind_savepoint = !savepoints.empty();
    const auto words = savepoint_words(statements[i].shape);
    if (words.empty()) continue;
    if (words[0] == "savepoint") {
      savepoints.emplace_back(words.back(), i);
      continue;
    }
    while (!savepoints.empty() && savepoints.back().first != words.back()) savepoints.pop_back();
    const std::size_t from = savepoints.empty() ? 0 : savepoints.back().second + 1;
    for (std::size_t j = from; words[0] == "rollback" && j < i; ++j)
      undone[j] = std::min(undone[j], i);
    if (words[0] == "release" && !savepoints.empty()) savepoints.pop_back();
  }
  return undone;
}

bool is_found(const Run& run, const Read& read) {
  const std::string& value = run.value(read.key, read.writer);
  switch (run.keys[read.key].kind) {
    case KeyKind::Row: return !value.empty();
    case KeyKind::Answer: return value.starts_with("yes");
    case KeyKind::Cell: break;
  }
  return false;
}

// The rows that the statement writes or is recorded to lock. One that has waited, or whose foreign
// keys were checked later, is recorded as several of one text.
std::set<RowId> rows_of(const Run& run, const Txn& txn, std::size_t statement) {
  const std::string& sql = txn.statements[statement].sql;
  std::size_t i = statement;
  while (i > 0 && txn.statements[i - 1].sql == sql) --i;
  std::set<RowId> rows;
  for (; i < txn.statements.size() && txn.statements[i].sql == sql; ++i) {
    for (const Write& write : txn.statements[i].writes) rows.insert(run.keys[write.key].row);
    for (const Lock& lock : txn.statements[i].locks) rows.insert(lock.row);
  }
  return rows;
}

// Rows that are not there when the transaction has ended.
std::set<RowId> rows_ended(const Run& run, RunTxn t, const Txn& txn) {
  std::set<RowId> rows;
  for (const Statement& statement : txn.statements) {
    for (const Write& write : statement.writes) {
      const Key& key = run.keys[write.key];
      if (key.kind == KeyKind::Row && run.value(write.key, t).empty()) rows.insert(key.row);
    }
  }
  return rows;
}

// Does the statement give its row another value of a unique key? That counts as another key, for
// who refers to the row. Where it changes several rows, it is not known of which.
bool changes_unique_key(const Run& run, const Statement& statement) {
  bool changes = false;
  std::set<RowId> rows;
  for (const Write& write : statement.writes) {
    const Key& key = run.keys[write.key];
    const std::string& row = run.rows[key.row];
    if (key.kind == KeyKind::Row && row.find('=') != std::string::npos) {
      changes = true;
    } else {
      rows.insert(key.row);
    }
  }
  return changes && rows.size() == 1;
}

// UPDATE and DELETE lock the rows that they change.
void lock_written(const Run& run, Statement& statement) {
  std::map<RowId, LockMode> taken;
  const bool changes_key =
      statement.kind == StatementKind::Delete || changes_unique_key(run, statement);
  for (const Write& write : statement.writes) {
    if (write.inserts) continue;
    const Key& key = run.keys[write.key];
    LockMode& mode = taken.try_emplace(key.row, LockMode::NoKeyUpdate).first->second;
    if (changes_key || key.kind == KeyKind::Row) mode = LockMode::Update;
  }
  for (const auto& [row, mode] : taken) statement.locks.push_back({row, mode, false});
}

// Does an UPDATE write rows that it did not find: others of its rows' keys?
bool moves_rows(const Run& run, const Statement& statement) {
  std::set<RowId> found;
  for (const Read& read : statement.reads) {
    if (is_found(run, read)) found.insert(run.keys[read.key].row);
  }
  return std::ranges::any_of(statement.writes, [&](const Write& write) {
    const Key& key = run.keys[write.key];
    return key.kind == KeyKind::Cell && !found.contains(key.row);
  });
}

// A recording has what a transaction leaves: of a row that is deleted, or given another key, and
// made anew it has the cells that are others in the end, if there are any. So a row that a
// statement found and did not write was made anew, or ended later. It is held from here.
void lock_recreated(const Run& run, RunTxn t, Txn& txn, const std::vector<std::size_t>& undone) {
  const std::set<RowId> ended = rows_ended(run, t, txn);
  for (std::size_t i = 0; i < txn.statements.size(); ++i) {
    Statement& statement = txn.statements[i];
    const bool deletes = statement.kind == StatementKind::Delete;
    if ((!deletes && statement.kind != StatementKind::Update) || undone[i] != kNothing) continue;
    std::set<RowId> known = rows_of(run, txn, i);
    for (const Read& read : statement.reads) {
      const RowId row = run.keys[read.key].row;
      if (read.is_coarse || !is_found(run, read) || !known.insert(row).second) continue;
      if (!ended.contains(row) && (deletes || moves_rows(run, statement)))
        txn.recreated.insert(row);
      const LockMode mode = deletes ? LockMode::Update : LockMode::NoKeyUpdate;
      statement.locks.push_back({row, mode, false});
    }
  }
}

// ROLLBACK TO gives the locks back that were taken since its savepoint. What an UPDATE, DELETE or
// locking read took that was undone is not recorded: the rows that it found.
void give_back_locks(const Run& run, Statement& statement, std::size_t at) {
  const bool is_change =
      statement.kind == StatementKind::Update || statement.kind == StatementKind::Delete;
  const bool is_share = statement.clauses.share;
  const bool locks_rows =
      is_change || is_share || statement.clauses.update || statement.clauses.no_key_update;
  std::set<RowId> locked;
  for (const Lock& lock : statement.locks) locked.insert(lock.row);
  for (const Read& read : statement.reads) {
    const Key& key = run.keys[read.key];
    if (!locks_rows || !is_found(run, read) || !locked.insert(key.row).second) continue;
    const LockMode mode = is_share                                  ? LockMode::Share
                          : statement.kind == StatementKind::Update ? LockMode::NoKeyUpdate
                                                                    : lock_mode(statement);
    statement.locks.push_back({key.row, mode, !is_change});
  }
  for (Lock& lock : statement.locks) lock.until = at;
}

// t[7], s.t[7]: the name of the table.
std::string table_of(const std::string& row) {
  const std::string label = row.substr(0, row.find('['));
  return lower_case(label.substr(label.rfind('.') + 1));
}

// Does a LOCK TABLE of the first name a table whose rows the second touches?
bool locks_table_of(const Run& run, const Txn& holder, const Txn& other) {
  if (holder.table_locks.empty()) return false;
  std::set<RowId> rows;
  for (const Statement& statement : other.statements) {
    for (const Read& read : statement.reads) rows.insert(run.keys[read.key].row);
    for (const Write& write : statement.writes) rows.insert(run.keys[write.key].row);
    for (const Lock& lock : statement.locks) rows.insert(lock.row);
  }
  return std::ranges::any_of(
      rows, [&](RowId row) { return has_word(holder.table_locks, table_of(run.rows[row])); });
}

}  // namespace

bool may_exclude_otherwise(const Run& run, RunTxn t, RunTxn u) {
  const Txn& first = run.txns[t];
  const Txn& second = run.txns[u];
  return (first.holds_other_locks && second.holds_other_locks) ||
         locks_table_of(run, first, second) || locks_table_of(run, second, first);
}

LockMode lock_mode(const Statement& statement) {
  const bool is_no_key = statement.clauses.no_key_update && !statement.clauses.update;
  return is_no_key ? LockMode::NoKeyUpdate : LockMode::Update;
}

bool holds_found(const Statement& statement) {
  return statement.kind == StatementKind::Select && statement.clauses.any();
}

void complete_locks(const Run& run, RunTxn t, Txn& txn) {
  const auto undone = follow_savepoints(txn.statements);
  for (Statement& statement : txn.statements) lock_written(run, statement);
  lock_recreated(run, t, txn, undone);
  for (std::size_t i = 0; i < undone.size(); ++i) {
    if (undone[i] != kNothing) give_back_locks(run, txn.statements[i], undone[i]);
  }
}

}  // namespace isoscope::races
