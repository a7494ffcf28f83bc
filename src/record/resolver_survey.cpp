// The first time through a run: what there is to know before the first statement is read.
#include <algorithm>

#include "record/resolver.h"
#include "record/words.h"
#include "support/spelling.h"

namespace isoscope::record {

Result<void> Resolver::survey() {
  if (auto done = source_.rewind(); !done) return done.error();
  for (;;) {
    auto part = source_.next_part();
    if (!part) return part.error();
    if (*part == nullptr) break;
    if (!(*part)->trouble.empty())
      return Error{.what = "a line of the server's log is not understood: " + (*part)->trouble};
    versions_.touch(**part);
    for (const LogTxn& txn : (*part)->txns) {
      for (const LogChange& change : txn.changes) accesses_.announce_deleted(change, versions_);
    }
    std::uint64_t horizon = std::numeric_limits<std::uint64_t>::max();
    for (const GateMessage& message : (*part)->messages) {
      counts_.add_message(message);
      horizon = std::min(horizon, message.snapshot.xmin);
    }
    horizons_.push_back(horizon);
    for (;;) {
      auto next = source_.next_txn();
      if (!next) return next.error();
      if (!*next) break;
      last_end_ = std::max(last_end_, (*next)->txn->end);
      for (const RecordedStatement& statement : (*next)->txn->statements) {
        find_altered(statement);
        if (statement.gate != 0) counts_.add_execution(statement.gate, !statement.error.empty());
        if (const auto shape = shape_of(statement)) accesses_.announce(shape, statement, versions_);
      }
    }
    counts_.end_part();
  }
  rules_ = counts_.rules();
  for (std::size_t i = horizons_.size(); i-- > 1;)
    horizons_[i - 1] = std::min(horizons_[i - 1], horizons_[i]);
  return {};
}

std::shared_ptr<const Shape> Resolver::shape_of(const RecordedStatement& statement) {
  if (!has_shape(statement.kind)) return nullptr;
  std::shared_ptr<const Shape> shape = statement.shape;
  if (shape == nullptr) {
    const auto known = gates_.statements(statement.sql);
    if (known.size() == 1 && known[0].text.kind == statement.kind) shape = known[0].shape;
  }
  // The blocks of a query hold the constants of the text that they were read from.
  if (shape == nullptr || (shape->is_query && !shape->literals.empty()))
    return gates_.exact_shape(statement.sql, statement.kind);
  return shape;
}

// Tables that were dropped, made anew or altered, perhaps: what is known of their rows may be
// that of another table. Any statement that we do not understand and that has the name counts.
void Resolver::find_altered(const RecordedStatement& statement) {
  const bool is_other = statement.kind == StatementKind::Other;
  if ((!is_other && statement.kind != StatementKind::Setting) || !statement.error.empty()) return;
  const NamesOf names(statement.sql);
  // It turns off foreign keys, and triggers with them.
  const bool is_replica =
      lower_case(statement.sql).find("session_replication_role") != std::string::npos;
  const bool drops_all = is_other && names.contains("schema");
  for (const auto& [name, table] : catalog_.tables) {
    const bool has_keys = !table.foreign_keys.empty() || !table.children.empty();
    if ((is_other && names.contains(table.name)) || (drops_all && names.contains(table.schema)) ||
        (is_replica && has_keys))
      altered_.insert(&table);
  }
  if (is_other) find_renamed_functions(statement.sql);
}

// CREATE, ALTER and DROP FUNCTION: the end does not know what was called before.
void Resolver::find_renamed_functions(const std::string& sql) {
  const std::vector<Word> words = words_of(sql);
  static const std::set<std::string> kRoutines = {"function", "procedure", "routine", "aggregate"};
  if (words.empty() ||
      (words[0].text != "create" && words[0].text != "alter" && words[0].text != "drop"))
    return;
  const auto is_routine = [](const Word& word) { return kRoutines.contains(word.text); };
  for (auto word = std::ranges::find_if(words, is_routine); word != words.end(); ++word) {
    // What follows the name of a new one says what it does.
    if (words[0].text == "create" && word->text == "(") break;
    changed_functions_.insert(record::name_of(sql, *word));
  }
}

}  // namespace isoscope::record
