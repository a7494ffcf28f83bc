#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "races/run.h"
#include "races/run_locks.h"
#include "races/words.h"
#include "sql/read/pg_parse.h"
#include "sql/sqlstates.h"
#include "support/spelling.h"

namespace isoscope::races {
namespace {

std::string text_of(const History& h, Value value) {
  return value.is_nil() ? std::string() : h.texts().show(value);
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
    if (note != nullptr && sql::ends_transaction_by_others(note->error)) return;
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
      if (described(statement.sql).locks_session) locking_sessions_.insert(h_.session(t));
    }
  }

  void note_other_locks(const Statement& statement, Txn& txn) {
    const Described& known = described(statement.sql);
    const std::string text = lower_case(statement.shape);
    const bool locks_tables = text.starts_with("lock ");
    if (locks_tables) txn.table_locks += text + ";";
    txn.holds_other_locks |= locks_tables || known.takes_advisory;
    txn.tries_locks |= known.tries_advisory;
  }

  void read_txn(TxnId t) {
    Txn& txn = run_.txns[index_[t]];
    const TxnNote* note = h_.note(t);
    txn.name = h_.name(t);
    txn.session = h_.name(h_.session(t));
    txn.holds_other_locks = locking_sessions_.contains(h_.session(t));
    if (note != nullptr) txn.isolation = note->isolation;
    txn.level = sql::server::find_pg_level(txn.isolation);
    txn.commit = static_cast<std::uint64_t>(h_.commit_number(t).value_or(0));
    txn.statements.resize(h_.num_statements(t));
    std::string shape(txn.level ? name_of(*txn.level) : txn.isolation);
    for (std::size_t i = 0; i < txn.statements.size(); ++i) {
      txn.statements[i] =
          described(note != nullptr && i < note->stmts.size() ? note->stmts[i].sql : "").statement;
      note_other_locks(txn.statements[i], txn);
      shape += "\n" + txn.statements[i].shape;
    }
    for (const EventId e : h_.events(t)) read_event(e, index_[t], txn);
    for (const RowLock& lock : h_.locks(t)) {
      Statement& statement = txn.statements[lock.statement];
      LockMode mode = lock_mode(statement);  // a history does not tell the two exclusive ones
      if (lock.mode == ::isoscope::LockMode::Share) mode = LockMode::Share;
      if (lock.mode == ::isoscope::LockMode::KeyShare) mode = LockMode::KeyShare;
      statement.locks.push_back({lock.row, mode, true});
    }
    complete_locks(run_, index_[t], txn);
    txn.shape = shapes_.emplace(shape, shapes_.size()).first->second;
    if (note == nullptr) return;
    for (const GapNote& gap : note->gaps) {
      if (txn.gap.empty()) txn.gap = gap.why;
      if (gap.stmt > 0 && gap.stmt <= txn.statements.size())
        txn.statements[gap.stmt - 1].gap = gap.why;
    }
  }

  // What a text tells by itself.
  struct Described {
    Statement statement;
    bool locks_session = false;   // it takes advisory locks that the session keeps
    bool takes_advisory = false;  // … or gives them back, or takes some for the transaction
    bool tries_advisory = false;
  };

  const Described& described(const std::string& sql) {
    const auto [known, is_new] = described_.try_emplace(sql);
    if (!is_new) return known->second;
    const StatementWords words(sql);
    Statement& made = known->second.statement;
    made = {.sql = sql, .shape = shape_of(sql), .place = code_place(sql)};
    made.kind = kind_of_text(made.shape);
    made.tells_rows = made.kind == StatementKind::Select || words.have("returning");
    made.takes_conflicts = words.have("on conflict");
    made.clauses = {.update = words.have("for update"),
                    .no_key_update = words.have("for no key update"),
                    .share = words.have("for share"),
                    .key_share = words.have("for key share")};
    known->second.locks_session = words.call("advisory_lock");
    known->second.takes_advisory = words.call("advisory_");
    known->second.tries_advisory = words.call("pg_try_advisory_");
    return known->second;
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
  std::map<std::string, Described> described_;
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
