#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "formats/line_scanner.h"
#include "formats/plume.h"

namespace isoscope {

namespace {

constexpr std::string_view kHint = "a line is r(key,value,session,txn) or w(key,value,session,txn)";

// Finds the transaction that a line belongs to. Neighbouring lines mostly share it, and numbers
// of transactions are mostly dense and unique: a comparison serves the first case, an array the
// second, and a hash table only what remains.
class PlumeTransactions {
 public:
  explicit PlumeTransactions(HistoryBuilder& b) : b_(b) {}

  TxnId find(std::int64_t session, std::int64_t txn, std::uint32_t line) {
    Session& s = find_session(session);
    if (s.last_txn == txn) return s.last;
    if (txn < 0) return b_.begin(s.id, TxnStatus::Aborted, {line, 1});
    s.last_txn = txn;
    s.last = find_in(s, txn, line);
    return s.last;
  }

  // Numbers that several sessions use do not name a transaction: the session's number helps.
  void name_shared_numbers() {
    for (const auto& [owner, t] : shared_) {
      const auto [session, txn] = owner;
      b_.set_name(t, fmt::format("t{}_{}", sessions_[session].number, txn));
      const Owner& first = *owner_of(txn);
      b_.set_name(first.txn, fmt::format("t{}_{}", sessions_[first.session].number, txn));
    }
  }

 private:
  struct Session {
    std::int64_t number;
    SessionId id;
    std::int64_t last_txn;  // no transaction of a line: -2
    TxnId last;
  };
  struct Owner {  // who uses a number
    std::uint32_t session = 0;
    TxnId txn = TxnId::none();
  };
  struct PairHash {
    std::size_t operator()(const std::pair<std::uint32_t, std::int64_t>& pair) const {
      return static_cast<std::size_t>(pair.second) * 0x9e3779b97f4a7c15U + pair.first;
    }
  };

  static constexpr std::int64_t kSmallSessions = 1 << 16;
  static constexpr std::uint32_t kNoSession = 0xffffffffU;

  Session& find_session(std::int64_t number) {
    if (number == last_session_) return sessions_[last_index_];
    last_session_ = number;
    if (number < kSmallSessions) {
      const auto slot = static_cast<std::size_t>(number);
      if (slot >= small_sessions_.size()) small_sessions_.resize(slot + 1, kNoSession);
      if (small_sessions_[slot] == kNoSession) small_sessions_[slot] = add_session(number);
      last_index_ = small_sessions_[slot];
    } else {
      const auto [entry, fresh] = large_sessions_.try_emplace(number);
      if (fresh) entry->second = add_session(number);
      last_index_ = entry->second;
    }
    return sessions_[last_index_];
  }

  std::uint32_t add_session(std::int64_t number) {
    sessions_.push_back({number, b_.session(number), -2, TxnId::none()});
    return static_cast<std::uint32_t>(sessions_.size() - 1);
  }

  // The slot of a number, or null if it is not used yet.
  Owner* owner_of(std::int64_t txn) {
    const auto slot = static_cast<std::size_t>(txn);
    if (slot < owners_.size() && !owners_[slot].txn.is_none()) return &owners_[slot];
    if (sparse_owners_.empty()) return nullptr;
    const auto found = sparse_owners_.find(txn);
    return found == sparse_owners_.end() ? nullptr : &found->second;
  }

  // The array may be twice as long as there are transactions, and a bit: a file with a few huge
  // numbers costs no memory.
  void add_owner(std::int64_t txn, Owner owner) {
    const auto slot = static_cast<std::size_t>(txn);
    if (slot < owners_.size() || slot < 2 * b_.num_txns() + (1U << 16U)) {
      if (slot >= owners_.size()) owners_.resize(std::max(slot + 1, owners_.size() * 2));
      owners_[slot] = owner;
    } else {
      sparse_owners_.emplace(txn, owner);
    }
  }

  TxnId find_in(const Session& s, std::int64_t txn, std::uint32_t line) {
    Owner* first = owner_of(txn);
    if (first == nullptr) {
      const TxnId t = b_.begin(s.id, TxnStatus::Committed, {line, 1});
      b_.set_name(t, txn);
      add_owner(txn, {last_index_, t});
      return t;
    }
    if (first->session == last_index_) return first->txn;
    const auto [entry, fresh] = shared_.try_emplace({last_index_, txn});
    if (fresh) entry->second = b_.begin(s.id, TxnStatus::Committed, {line, 1});
    return entry->second;
  }

  HistoryBuilder& b_;
  std::vector<Session> sessions_;
  std::vector<std::uint32_t> small_sessions_;  // by number; position in sessions_
  std::unordered_map<std::int64_t, std::uint32_t> large_sessions_;
  std::int64_t last_session_ = -1;
  std::uint32_t last_index_ = 0;
  std::vector<Owner> owners_;  // by number of the transaction: the first session to use it
  std::unordered_map<std::int64_t, Owner> sparse_owners_;
  std::unordered_map<std::pair<std::uint32_t, std::int64_t>, TxnId, PairHash> shared_;
};

}  // namespace

Result<HistoryBuilder> gather_plume(LineReader& in) {
  HistoryBuilder b(InitialValues::Zero);
  PlumeTransactions transactions(b);
  std::string_view line;
  while (in.next(line)) {
    const std::uint32_t number = in.line_number();
    LineScanner scan(line, number);
    const char kind = scan.peek();
    if (kind != 'r' && kind != 'w') {
      if (trimmed(line).empty()) continue;
      return scan.expected("'r' or 'w'", kHint);
    }
    scan.take(kind);
    std::uint64_t key = 0;
    std::uint64_t value = 0;
    std::int64_t session = 0;
    std::int64_t txn = 0;
    if (!scan.take('(')) return scan.expected("'('", kHint);
    if (!scan.take_unsigned(key)) return scan.expected("an unsigned 64-bit key", kHint);
    if (!scan.take(',')) return scan.expected("',' behind the key", kHint);
    if (!scan.take_unsigned(value)) return scan.expected("an unsigned 64-bit value", kHint);
    if (!scan.take(',')) return scan.expected("',' behind the value", kHint);
    if (!scan.take_index(session)) return scan.expected("the number of a session", kHint);
    if (!scan.take(',')) return scan.expected("',' behind the session", kHint);
    if (!scan.take_index(txn)) {
      if (!scan.take("-1"))
        return scan.expected("the number of a transaction, or -1 for an aborted one", kHint);
      txn = -1;
    }
    if (!scan.take(')')) return scan.expected("')'", kHint);
    if (!scan.at_end() && !trimmed(scan.rest()).empty())
      return scan.expected("the end of the line", kHint);

    const TxnId t = transactions.find(session, txn, number);
    const KeyId x = unsigned_key(b, key);
    const Value v = unsigned_value(b, value);
    if (kind == 'r') {
      b.read(t, x, v, {number, 1});
    } else {
      b.write(t, x, v, {number, 1});
    }
  }
  if (auto done = check_input(in); !done) return done.error();
  transactions.name_shared_numbers();
  return b;
}

Result<History> read_plume(LineReader& in) {
  auto builder = gather_plume(in);
  if (!builder) return builder.error();
  return std::move(*builder).build_open(&in.budget());
}

}  // namespace isoscope
