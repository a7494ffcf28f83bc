#include "force/stress_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sql/server/level.h"
#include "sql/sqlstates.h"

namespace isoscope::force {
namespace {

constexpr std::int64_t kNoRow = -1;       // a value that is never written
constexpr std::size_t kLongestList = 32;  // appends to one list, those that are aborted included

std::vector<std::int64_t> numbers_in(const std::string& text) {
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    std::int64_t number = 0;
    const auto [stop, failure] = std::from_chars(at, end, number);
    if (failure == std::errc()) numbers.push_back(number);
    at = std::max(stop, at) + 1;
  }
  return numbers;
}

std::int64_t number_in(const Cell& cell) {
  return cell ? std::strtoll(cell->c_str(), nullptr, 10) : 0;
}

void add_operation(HistoryBuilder& b, TxnId t, const StressOp& op, bool is_list, bool with_seen) {
  const KeyId x = b.key(fmt::format("t[{}]", op.row.index));
  if (with_seen && is_list) {
    std::vector<Value> values;
    for (const std::int64_t v : op.seen) values.push_back(Value::of(v));
    b.read_list(t, x, values, {});
  } else if (with_seen) {
    b.read(t, x, Value::of(op.seen.at(0)), {});
  }
  if (op.kind == StressOp::Kind::Read) return;
  if (is_list) {
    b.append(t, x, Value::of(op.written), {});
  } else {
    b.write(t, x, Value::of(op.written), {});
  }
}

}  // namespace

StressRows::StressRows(const StressOptions& options)
    : are_lists_(options.workload == StressWorkload::List),
      size_(options.keys),
      next_{static_cast<std::uint32_t>(options.keys)} {
  for (const StressRow row : IdRange<StressRow>(0, next_.index)) open_.push_back(row);
}

void StressRows::grow(std::size_t txns, std::size_t longest) {
  if (are_lists_) size_ = next_.index + txns * longest / kLongestList;
}

void StressRows::note_write(StressRow row) {
  written_.insert(row);
  if (!are_lists_ || ++appends_[row] < kLongestList || next_.index == size_) return;
  appends_.erase(row);
  const auto full = std::ranges::find(open_, row);
  if (full == open_.end()) return;
  *full = next_;
  ++next_;
}

std::optional<std::string> StressClient::next(const Answer* last) {
  if (last != nullptr) note(*last);
  if (is_gone_) return std::nullopt;
  if (is_rolling_back_) {
    is_rolling_back_ = false;
    phase_ = Phase::Over;
    return "ROLLBACK";
  }
  if (phase_ == Phase::Idle) {
    if (!state_.may_start() || (state_.is_last && has_looked_)) return std::nullopt;
    if (!state_.is_last) ++state_.started;
    txns.emplace_back();
    txns.back().looks_at_end = state_.is_last;
    plan();
    phase_ = Phase::Begun;
    return state_.begin;
  }
  if (phase_ == Phase::Running && is_asking_)
    return fmt::format("SELECT {} FROM {} WHERE k = {}",
                       state_.options.workload == StressWorkload::List ? "v" : "prev", state_.table,
                       plan_[next_].row.index);
  if (next_ < plan_.size()) return statement(plan_[next_]);
  phase_ = Phase::Committing;
  return "COMMIT";
}

void StressClient::renew() {
  phase_ = Phase::Idle;
  is_gone_ = is_rolling_back_ = is_asking_ = false;
}

void StressClient::note_failure(const Answer& answer) {
  StressTxn& txn = txns.back();
  is_gone_ = sql::is_connection_loss(answer.error);
  if (phase_ == Phase::Committing && is_gone_) txn.status = TxnStatus::Unknown;
  if (txn.error.empty()) txn.error = answer.error;
  if (txn.ended == 0) txn.ended = ++state_.ended;
  is_asking_ = false;
  if (is_gone_) state_.is_pausing = true;
  is_rolling_back_ = phase_ != Phase::Committing && phase_ != Phase::Over;
  if (!is_rolling_back_) phase_ = Phase::Idle;
}

void StressClient::note(const Answer& answer) {
  if (answer.has_failed()) return note_failure(answer);
  StressTxn& txn = txns.back();
  switch (phase_) {
    case Phase::Begun: phase_ = Phase::Running; break;
    case Phase::Running:
      // Where an UPDATE cannot say what it overwrote, the next statement asks for it.
      is_asking_ =
          !is_asking_ && plan_[next_].kind == StressOp::Kind::Write && !state_.has_returning;
      if (is_asking_) break;
      note_operation(answer);
      ++next_;
      break;
    case Phase::Committing:
      txn.status = answer.tag == "ROLLBACK" ? TxnStatus::Aborted : TxnStatus::Committed;
      txn.ended = ++state_.ended;
      has_looked_ = state_.is_last;
      phase_ = Phase::Idle;
      break;
    case Phase::Over:
    case Phase::Idle: phase_ = Phase::Idle; break;
  }
}

void StressClient::note_operation(const Answer& answer) {
  StressOp op = plan_[next_];
  const bool has_row = !answer.tables.empty() && !answer.tables[0].rows.empty();
  if (!has_row) {
    // Rows are there before the clients come, and no client deletes them: the server has lost it.
    op = {.kind = StressOp::Kind::Read, .row = op.row, .seen = {kNoRow}};
    balances_.push_back(0);
  } else {
    const Row& row = answer.tables[0].rows[0];
    op.seen = numbers_in(row.at(0).value_or(""));
    const bool is_write = op.kind == StressOp::Kind::Write;
    if (is_write && !op.seen.empty() && op.seen.back() == op.written) op.seen.pop_back();
    op.was_asked = is_write && !state_.has_returning;
    if (row.size() > 1) balances_.push_back(number_in(row[1]));
  }
  op.seen.shrink_to_fit();
  txns.back().ops.push_back(std::move(op));
}

void StressClient::plan() {
  next_ = 0;
  plan_.clear();
  balances_.clear();
  if (state_.is_last) {
    for (const StressRow row : state_.rows.written()) plan_.push_back({.row = row});
    return;
  }
  if (state_.options.workload == StressWorkload::Bank) {
    const StressRow from = state_.rows.pick(rng_);
    const std::size_t keys = state_.options.keys;
    const StressRow to{static_cast<std::uint32_t>((from.index + 1 + rng_.below(keys - 1)) % keys)};
    for (const StressRow row : {from, to}) plan_.push_back({.row = row});
    if (rng_.chance(0.2)) return;  // this one only looks
    for (const StressRow row : {from, to}) plan_write(row);
    return;
  }
  const std::size_t length = 1 + rng_.below(state_.options.longest);
  for (std::size_t i = 0; i < length; ++i) {
    const StressRow row = state_.rows.pick(rng_);
    if (rng_.chance(0.5)) {
      plan_write(row);
    } else {
      plan_.push_back({.row = row});
    }
  }
}

void StressClient::plan_write(StressRow row) {
  plan_.push_back({.kind = StressOp::Kind::Write, .row = row, .written = ++state_.last_value});
  state_.rows.note_write(row);
}

std::string StressClient::statement(const StressOp& op) const {
  const bool is_bank = state_.options.workload == StressWorkload::Bank;
  if (op.kind == StressOp::Kind::Read)
    return fmt::format("SELECT v{} FROM {} WHERE k = {}", is_bank ? ", balance" : "", state_.table,
                       op.row.index);
  const auto returning = [&](const char* column) {
    return state_.has_returning ? fmt::format(" RETURNING {}", column) : std::string();
  };
  if (state_.options.workload == StressWorkload::List)
    return fmt::format("UPDATE {} SET v = CONCAT(v, ' {}') WHERE k = {}{}", state_.table,
                       op.written, op.row.index, returning("v"));
  // The row keeps the value before, which tells the order of the writers.
  std::string balance;
  if (is_bank) {
    const bool is_from = op.row == plan_[0].row;
    balance = fmt::format(", balance = {}", balances_[is_from ? 0 : 1] + (is_from ? -1 : 1));
  }
  return fmt::format("UPDATE {} SET prev = v, v = {}{} WHERE k = {}{}", state_.table, op.written,
                     balance, op.row.index, returning("prev"));
}

namespace {

bool is_serializable(const StressOptions& options) {
  using sql::server::PgLevel;
  return sql::server::find_pg_level(options.isolation) == PgLevel::Serializable;
}

// The values that some transaction that was not aborted has seen.
std::vector<bool> seen_values(const std::vector<std::unique_ptr<StressClient>>& clients) {
  std::vector<bool> seen;
  for (const auto& client : clients) {
    for (const StressTxn& txn : client->txns) {
      if (txn.ended != 0 && txn.status == TxnStatus::Aborted) continue;
      for (const StressOp& op : txn.ops) {
        for (const std::int64_t value : op.seen) {
          if (value < 0) continue;
          const auto place = static_cast<std::size_t>(value);
          if (place >= seen.size()) seen.resize(2 * place + 1);
          seen[place] = true;
        }
      }
    }
  }
  return seen;
}

}  // namespace

Result<History> history_of_clients(const std::vector<std::unique_ptr<StressClient>>& clients,
                                   const StressOptions& options, Budget& budget) {
  const bool is_list = options.workload == StressWorkload::List;
  HistoryBuilder b(is_list ? InitialValues::Nil : InitialValues::Zero);
  // In the order of their ends, which is near that of commits: so the checker finds one soon.
  struct Placed {
    std::size_t ended;
    const StressTxn* txn;
    SessionId session;
  };
  std::vector<Placed> placed;
  for (std::size_t c = 0; c < clients.size(); ++c) {
    const SessionId session = b.session(fmt::format("c{}", c + 1));
    std::size_t unknown = 0;
    for (const StressTxn& txn : clients[c]->txns) {
      if (txn.ops.empty()) continue;
      const bool is_open = txn.ended == 0;
      // What is of unknown outcome may take effect after the next one of its client.
      const bool is_alone = is_open || txn.status == TxnStatus::Unknown;
      placed.push_back({.ended = is_open ? static_cast<std::size_t>(-1) : txn.ended,
                        .txn = &txn,
                        .session = is_alone
                                       ? b.session(fmt::format("c{}, lost {}", c + 1, ++unknown))
                                       : session});
    }
  }
  std::ranges::stable_sort(placed, {}, &Placed::ended);
  // Servers that end a transaction because it is in no serial order promise nothing of what it read
  // until then; and what it wrote is of interest only if another has seen it.
  const bool forgets = is_serializable(options);
  const std::vector<bool> seen = forgets ? seen_values(clients) : std::vector<bool>();
  const auto is_seen = [&](const StressOp& op) {
    const auto place = static_cast<std::size_t>(op.written);
    return op.kind == StressOp::Kind::Write && place < seen.size() && seen[place];
  };
  for (const Placed& one : placed) {
    const TxnStatus status = one.txn->ended == 0 ? TxnStatus::Unknown : one.txn->status;
    const bool is_forgotten = forgets && status == TxnStatus::Aborted;
    if (is_forgotten && std::ranges::none_of(one.txn->ops, is_seen)) continue;
    const TxnId t = b.begin(one.session, status, {});
    for (const StressOp& op : one.txn->ops) {
      if (is_forgotten && op.kind == StressOp::Kind::Read) continue;
      b.begin_statement(t);
      add_operation(b, t, op, is_list, !is_forgotten);
      if (!op.was_asked || is_forgotten || is_list) continue;
      // The query that asked reads what its own transaction has written.
      b.begin_statement(t);
      b.read(t, b.key(fmt::format("t[{}]", op.row.index)), Value::of(op.written), {});
    }
    b.end_statement(t);
  }
  return std::move(b).build(&budget);
}

}  // namespace isoscope::force
