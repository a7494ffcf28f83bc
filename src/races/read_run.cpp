#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "races/run.h"
#include "sql/pg_parse.h"

namespace isoscope::races {
namespace {

std::string text_of(const History& h, Value value) {
  return value.is_nil() ? std::string() : h.texts().show(value);
}

// Without letters of two sizes.
std::string in_small_letters(std::string_view text) {
  std::string small;
  for (const char c : text) small += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return small;
}

StatementKind kind_of_text(std::string_view shape) {
  std::string word;
  for (const char c : shape.substr(0, shape.find_first_of(" (")))
    word += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  // A cursor's reads are with its declaration; (SELECT …) begins with a bracket.
  for (const char* reading : {"select", "with", "values", "table", "declare", ""}) {
    if (word == reading) return StatementKind::Select;
  }
  if (word == "insert" || word == "copy") return StatementKind::Insert;
  if (word == "update") return StatementKind::Update;
  if (word == "delete") return StatementKind::Delete;
  return StatementKind::Other;
}

// The words of a SAVEPOINT, RELEASE or ROLLBACK TO and, last, the name of its savepoint; else
// empty.
std::vector<std::string> savepoint_words(const std::string& shape) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < shape.size();) {
    const std::size_t end = shape[at] == '"' ? shape.find('"', at + 1) : shape.find(' ', at);
    const std::string_view word =
        std::string_view(shape).substr(at, end == std::string::npos ? end : end - at);
    words.push_back(word[0] == '"' ? std::string(word.substr(1)) : in_small_letters(word));
    at = end == std::string::npos ? end : shape.find_first_not_of(' ', end + 1);
  }
  const bool sets = words.size() == 2 && words[0] == "savepoint";
  const bool releases = words.size() >= 2 && words[0] == "release";
  const bool undoes =
      words.size() >= 3 && words[0] == "rollback" && std::ranges::find(words, "to") != words.end();
  if (!sets && !releases && !undoes) words.clear();
  return words;
}

// By statement: the ROLLBACK TO that undid it, or kNothing.
std::vector<std::size_t> undone_at(const std::vector<Statement>& statements) {
  std::vector<std::size_t> undone(statements.size(), kNothing);
  std::vector<std::pair<std::string, std::size_t>> savepoints;
  for (std::size_t i = 0; i < statements.size(); ++i) {
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

class RunReader {
 public:
  explicit RunReader(const History& h) : h_(h) {}

  Run read() {
    run_.txns.push_back({.name = "T0"});
    index_.assign(h_.num_txns(), RunTxn::none());
    index_[kInitialTxn] = kT0;
    for (const KeyId x : h_.keys()) add_key(x);
    for (std::uint32_t r = 0; r < h_.num_rows(); ++r) run_.rows.push_back(h_.name(RowId{r}));
    for (const TxnId t : h_.txns()) {
      if (t == kInitialTxn) continue;
      count_gaps(t);
      find_other_locks(t);
      if (!h_.is_committed(t)) {
        count_rolled_back(t);
        continue;
      }
      index_[t] = run_.txns.next_id();
      run_.txns.emplace_back();
    }
    for (const TxnId t : h_.txns()) {
      if (t != kInitialTxn && !index_[t].is_none()) read_txn(t);
    }
    finish();
    return std::move(run_);
  }

 private:
  void add_key(KeyId x) {
    Key made{.name = h_.name(x)};
    made.row = h_.row(x);
    const std::string row = h_.name(h_.row(x));
    if (made.name.size() > row.size())
      made.kind = made.name[row.size()] == '{' ? KeyKind::Answer : KeyKind::Cell;
    if (h_.has_explicit_initial(x)) made.initial = text_of(h_, h_.initial_value(x));
    run_.keys.push_back(std::move(made));
  }

  void count_gaps(TxnId t) {
    const TxnNote* note = h_.note(t);
    if (note == nullptr) return;
    run_.statements += note->stmts.size();
    run_.gaps += note->gaps.size();
    for (const GapNote& gap : note->gaps) ++run_.reasons[gap.why];
  }

  // What the application rolled back might have gone on, had it read something else.
  void count_rolled_back(TxnId t) {
    const TxnNote* note = h_.note(t);
    if (note != nullptr && (note->error == "40001" || note->error == "40P01")) return;
    for (const EventId e : h_.events(t)) {
      if (!h_.is_read(e)) continue;
      ++run_.rolled_back;
      return;
    }
  }

  // Those of the session stay, whatever becomes of the transaction that took them.
  void find_other_locks(TxnId t) {
    const TxnNote* note = h_.note(t);
    if (note == nullptr) return;
    for (const StatementNote& statement : note->stmts) {
      const std::string sql = in_small_letters(statement.sql);
      if (sql.find("advisory_lock") != std::string::npos) locking_sessions_.insert(h_.session(t));
    }
  }

  static bool takes_other_locks(const std::string& shape) {
    const std::string text = in_small_letters(shape);
    return text.starts_with("lock ") || text.find("advisory_") != std::string::npos;
  }

  void read_txn(TxnId t) {
    Txn& txn = run_.txns[index_[t]];
    const TxnNote* note = h_.note(t);
    txn.name = h_.name(t);
    txn.session = h_.name(h_.session(t));
    txn.holds_other_locks = locking_sessions_.contains(h_.session(t));
    if (note != nullptr) txn.isolation = note->isolation;
    txn.commit = static_cast<std::uint64_t>(h_.commit_number(t).value_or(0));
    txn.statements.resize(h_.num_statements(t));
    std::string shape = txn.isolation;
    for (std::size_t i = 0; i < txn.statements.size(); ++i) {
      if (note != nullptr && i < note->stmts.size()) txn.statements[i].sql = note->stmts[i].sql;
      describe(txn.statements[i]);
      txn.holds_other_locks |= takes_other_locks(txn.statements[i].shape);
      shape += "\n" + txn.statements[i].shape;
    }
    for (const EventId e : h_.events(t)) read_event(e, index_[t], txn);
    for (const RowLock& lock : h_.locks(t)) {
      Statement& statement = txn.statements[lock.statement];
      LockMode mode = lock_mode(statement.shape);  // a history does not tell the two exclusive ones
      if (lock.mode == ::isoscope::LockMode::Share) mode = LockMode::Share;
      if (lock.mode == ::isoscope::LockMode::KeyShare) mode = LockMode::KeyShare;
      statement.locks.push_back({lock.row, mode, true});
    }
    for (Statement& statement : txn.statements) add_locks(statement);
    const auto undone = undone_at(txn.statements);
    for (std::size_t i = 0; i < undone.size(); ++i) {
      if (undone[i] != kNothing) give_back_locks(txn.statements[i], undone[i]);
    }
    txn.shape = shapes_.emplace(shape, shapes_.size()).first->second;
    if (note == nullptr) return;
    for (const GapNote& gap : note->gaps) {
      if (txn.gap.empty()) txn.gap = gap.why;
      if (gap.stmt > 0 && gap.stmt <= txn.statements.size())
        txn.statements[gap.stmt - 1].gap = gap.why;
    }
  }

  // What an exclusive lock excludes, by the text of its statement.
  static LockMode lock_mode(const std::string& shape) {
    const std::string text = in_small_letters(shape);
    const bool is_no_key = text.find("for no key update") != std::string::npos &&
                           text.find("for update") == std::string::npos;
    return is_no_key ? LockMode::NoKeyUpdate : LockMode::Update;
  }

  void describe(Statement& statement) {
    auto known = described_.find(statement.sql);
    if (known == described_.end())
      known =
          described_
              .emplace(statement.sql, std::pair(shape_of(statement.sql), code_place(statement.sql)))
              .first;
    statement.shape = known->second.first;
    statement.place = known->second.second;
    statement.kind = kind_of_text(statement.shape);
    const std::string text = in_small_letters(statement.shape);
    statement.tells_rows =
        statement.kind == StatementKind::Select || text.find("returning") != std::string::npos;
    statement.takes_conflicts = text.find("on conflict") != std::string::npos;
  }

  void read_event(EventId e, RunTxn t, Txn& txn) {
    Statement& statement = txn.statements[h_.statement(e)];
    const KeyId x = h_.key(e);
    if (h_.is_read(e)) {
      if (!h_.is_external_read(e)) return;  // of an own write
      const RunTxn writer = index_[h_.writer(e)];
      // Who reads from a transaction that is not here reads what we do not know.
      if (writer.is_none()) {
        txn.gap = statement.gap = "a read from a transaction of unknown outcome";
      } else {
        statement.reads.push_back({x, writer, h_.is_coarse(e)});
      }
      return;
    }
    statement.writes.push_back({x, h_.is_insert(e)});
    run_.keys[x].writers.push_back(t);
    run_.keys[x].values[t] = text_of(h_, h_.value(e));
  }

  // UPDATE and DELETE lock the rows that they change.
  void add_locks(Statement& statement) const {
    std::map<RowId, LockMode> taken;
    for (const Write& write : statement.writes) {
      if (write.inserts) continue;
      const Key& key = run_.keys[write.key];
      const bool ends_key = statement.kind == StatementKind::Delete || key.kind == KeyKind::Row;
      LockMode& mode = taken.try_emplace(key.row, LockMode::NoKeyUpdate).first->second;
      if (ends_key) mode = LockMode::Update;
    }
    for (const auto& [row, mode] : taken) statement.locks.push_back({row, mode, false});
  }

  // ROLLBACK TO gives the locks back that were taken since its savepoint. What an UPDATE, DELETE or
  // locking read took that was undone is not recorded: the rows that it found.
  void give_back_locks(Statement& statement, std::size_t at) const {
    const std::string text = in_small_letters(statement.shape);
    const bool is_change =
        statement.kind == StatementKind::Update || statement.kind == StatementKind::Delete;
    const bool is_share = text.find("for share") != std::string::npos;
    const bool locks_rows = is_change || is_share || text.find("for update") != std::string::npos ||
                            text.find("for no key update") != std::string::npos;
    std::set<RowId> locked;
    for (const Lock& lock : statement.locks) locked.insert(lock.row);
    for (const Read& read : statement.reads) {
      const Key& key = run_.keys[read.key];
      const std::string& value = run_.value(read.key, read.writer);
      const bool is_found = key.kind == KeyKind::Row      ? !value.empty()
                            : key.kind == KeyKind::Answer ? value.starts_with("yes")
                                                          : false;
      if (!locks_rows || !is_found || !locked.insert(key.row).second) continue;
      const LockMode mode = is_share                                  ? LockMode::Share
                            : statement.kind == StatementKind::Update ? LockMode::NoKeyUpdate
                                                                      : lock_mode(statement.shape);
      statement.locks.push_back({key.row, mode, !is_change});
    }
    for (Lock& lock : statement.locks) lock.until = at;
  }

  // Versions are in the order of commits.
  void finish() {
    for (Key& key : run_.keys) {
      std::ranges::sort(key.writers, [this](RunTxn a, RunTxn b) {
        return std::pair(run_.txns[a].commit, a) < std::pair(run_.txns[b].commit, b);
      });
      key.writers.erase(std::unique(key.writers.begin(), key.writers.end()), key.writers.end());
    }
    run_.shapes = shapes_.size();
  }

  const History& h_;
  Run run_;
  ById<TxnId, RunTxn> index_;             // none for those that did not commit
  std::set<SessionId> locking_sessions_;  // that took advisory locks for longer
  std::map<std::string, std::size_t> shapes_;
  std::map<std::string, std::pair<std::string, std::string>> described_;
};

std::string without_percents(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr ==
            text.data() + i + 3) {
      out += static_cast<char>(value);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// file='shop.py:12',route='%2Fbuy': the value of a name.
std::string tag_of(std::string_view comment, std::string_view name) {
  for (std::size_t at = comment.find(name); at != std::string_view::npos;
       at = comment.find(name, at + 1)) {
    const bool begins =
        at == 0 || comment[at - 1] == ',' || comment[at - 1] == ' ' || comment[at - 1] == '*';
    const std::string_view rest = comment.substr(at + name.size());
    if (!begins || !rest.starts_with("='")) continue;
    const std::size_t end = rest.find('\'', 2);
    if (end == std::string_view::npos) return {};
    return without_percents(rest.substr(2, end - 2));
  }
  return {};
}

}  // namespace

const std::string& Run::value(KeyId key, RunTxn writer) const {
  if (writer == kT0) return keys[key].initial;
  const auto found = keys[key].values.find(writer);
  return found == keys[key].values.end() ? keys[key].initial : found->second;
}

Run run_of(const History& h) { return RunReader(h).read(); }

std::string shape_of(std::string_view sql) {
  const auto tokens = sql::scan_sql(sql);
  if (!tokens) return std::string(sql);
  std::string out;
  std::size_t last = 0;
  for (const sql::SqlToken& token : *tokens) {
    std::string_view word = sql.substr(token.begin, token.end - token.begin);
    if (word.starts_with("--") || word.starts_with("/*")) continue;
    const bool is_constant =
        word[0] == '\'' || (word[0] >= '0' && word[0] <= '9') || word[0] == '$' ||
        ((word[0] == 'E' || word[0] == 'e' || word[0] == 'B' || word[0] == 'X') &&
         word.size() > 1 && word[1] == '\'');
    if (!out.empty() && token.begin > last) out += ' ';
    out += is_constant ? std::string_view("?") : word;
    last = token.end;
  }
  while (out.ends_with(';') || out.ends_with(' ')) out.pop_back();
  // However many values: IN (?, ?, ?) is IN (?).
  for (std::size_t at = out.find(" (?, ?"); at != std::string::npos; at = out.find(" (?, ?", at)) {
    const bool is_in =
        at >= 2 && (out.compare(at - 2, 2, "IN") == 0 || out.compare(at - 2, 2, "in") == 0);
    if (is_in) {
      out.erase(at + 3, 3);
    } else {
      ++at;
    }
  }
  return out;
}

std::string code_place(std::string_view sql) {
  const auto tokens = sql::scan_sql(sql);
  if (!tokens) return {};
  for (const sql::SqlToken& token : *tokens) {
    const std::string_view comment = sql.substr(token.begin, token.end - token.begin);
    if (!comment.starts_with("/*")) continue;
    std::string place;
    for (const char* name : {"file", "filepath", "code.filepath"}) {
      if (place.empty()) place = tag_of(comment, name);
    }
    const std::string line = tag_of(comment, "line");
    if (!place.empty() && !line.empty()) place += ":" + line;
    for (const char* name : {"function", "action", "route", "controller"}) {
      const std::string in = tag_of(comment, name);
      if (in.empty()) continue;
      place += (place.empty() ? "" : " in ") + in;
      break;
    }
    if (!place.empty()) return place;
  }
  return {};
}

}  // namespace isoscope::races
