#include "races/stale_guard.h"

#include "races/words.h"

namespace isoscope::races {
namespace {

// Does the condition, as the name of a key has it, require column = value? The value may be that of
// a parameter: where v = $2 ($1 = 8, $2 = 5). An OR or a NOT may do without.
bool compares(const std::string& condition, const std::string& column, const std::string& value) {
  const auto begins_with_value = [&](std::size_t at) {
    while (at < condition.size() && (condition[at] == ' ' || condition[at] == '\'')) ++at;
    if (condition.compare(at, value.size(), value) != 0) return false;
    const std::size_t end = at + value.size();
    return end == condition.size() || (!is_of_name(condition[end]) && condition[end] != '.');
  };
  if (has_word(condition, "or") || has_word(condition, "not")) return false;
  for (std::size_t at = condition.find(column); at != std::string::npos;
       at = condition.find(column, at + 1)) {
    if (at > 0 && is_of_name(condition[at - 1])) continue;  // the end of another name
    std::size_t next = at + column.size();
    while (next < condition.size() && (condition[next] == '"' || condition[next] == ' ')) ++next;
    if (next >= condition.size() || condition[next] != '=') continue;
    ++next;
    while (next < condition.size() && condition[next] == ' ') ++next;
    if (begins_with_value(next)) return true;
    if (next >= condition.size() || condition[next] != '$') continue;
    const std::size_t end = condition.find_first_not_of("0123456789", next + 1);
    const std::string parameter = condition.substr(next, end - next) + " = ";
    const std::size_t told = condition.rfind(parameter);
    if (told > next && begins_with_value(told + parameter.size())) return true;
  }
  return false;
}

}  // namespace

namespace {

// A cell that the transaction would have read otherwise, and with whose recorded value the
// statement compares it: calls `is_stale` with its key and whom the transaction reads it from,
// until that holds.
bool any_compared(const Run& run, const Txn& txn, const std::vector<std::vector<RunTxn>>& seen,
                  const Statement& statement, const std::function<bool(KeyId, RunTxn)>& is_stale) {
  for (const Read& asked : statement.reads) {
    const Key& question = run.keys[asked.key];
    if (question.kind != KeyKind::Answer) continue;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      for (std::size_t j = 0; j < seen[i].size(); ++j) {
        const Read& read = txn.statements[i].reads[j];
        const Key& cell = run.keys[read.key];
        if (cell.kind != KeyKind::Cell || cell.row != question.row || seen[i][j] == read.writer)
          continue;
        const std::string column = cell.name.substr(run.rows[cell.row].size() + 1);
        if (compares(question.name, column, run.value(read.key, read.writer)) &&
            is_stale(read.key, seen[i][j]))
          return true;
      }
    }
  }
  return false;
}

}  // namespace

bool looks_for_stale(const Run& run, const Txn& txn, const std::vector<std::vector<RunTxn>>& seen,
                     const Statement& statement, const std::function<std::string(KeyId)>& current) {
  return any_compared(run, txn, seen, statement, [&](KeyId key, RunTxn writer) {
    return current(key) != run.value(key, writer);
  });
}

bool has_stale_value(const Run& run, const Txn& txn, const std::vector<std::vector<RunTxn>>& seen,
                     const Statement& statement) {
  return any_compared(run, txn, seen, statement, [](KeyId, RunTxn) { return true; });
}

}  // namespace isoscope::races
