#include "record/rollbacks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "record/words.h"

namespace isoscope::record {
namespace {

// What SAVEPOINT, RELEASE and ROLLBACK TO name: the last word.
std::string savepoint_name(const std::string& sql) {
  const std::vector<Word> words = words_of(sql);
  return words.empty() ? std::string() : name_of(sql, words.back());
}

}  // namespace

std::vector<std::size_t> undone_at(const RecordedTxn& txn, bool* is_certain) {
  if (is_certain != nullptr) *is_certain = true;
  std::vector<std::size_t> undone(txn.statements.size(), txn.statements.size());
  std::vector<std::pair<std::string, std::size_t>> savepoints;
  for (std::size_t i = 0; i < txn.statements.size(); ++i) {
    const RecordedStatement& statement = txn.statements[i];
    const bool sets = statement.kind == StatementKind::Savepoint;
    const bool releases = statement.kind == StatementKind::Release;
    const bool undoes = statement.kind == StatementKind::RollbackTo;
    if (!statement.error.empty() || (!sets && !releases && !undoes)) continue;
    const std::string name = savepoint_name(statement.sql);
    if (sets) {
      savepoints.emplace_back(name, i);
      continue;
    }
    while (!savepoints.empty() && savepoints.back().first != name) savepoints.pop_back();
    // Where there is no such savepoint, everything may be undone.
    if (savepoints.empty() && is_certain != nullptr) *is_certain = false;
    const std::size_t from = savepoints.empty() ? 0 : savepoints.back().second + 1;
    for (std::size_t j = from; undoes && j < i; ++j) undone[j] = std::min(undone[j], i);
    if (releases && !savepoints.empty()) savepoints.pop_back();
  }
  return undone;
}

}  // namespace isoscope::record
