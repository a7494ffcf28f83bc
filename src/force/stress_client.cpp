#include "force/stress_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace isoscope::force {
namespace {

constexpr std::size_t kMostLookedAt = 1'000;  // keys that a client reads in the end

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

// Is the connection gone? SQLSTATEs of PostgreSQL, numbers of MariaDB's client and server.
bool is_loss(const std::string& error) {
  return error.starts_with("08") || error.starts_with("57P") || error == "2006" ||
         error == "2013" || error == "1927" || error == "1053";
}

void add_operation(HistoryBuilder& b, TxnId t, const StressOp& op, bool is_list) {
  const KeyId x = b.key(fmt::format("t[{}]", op.key));
  if (is_list) {
    std::vector<Value> values;
    for (const std::int64_t v : op.values) values.push_back(Value::of(v));
    if (op.kind == StressOp::Kind::Read) {
      b.read_list(t, x, values, {});
    } else {
      b.append(t, x, values.at(0), {});
    }
    return;
  }
  if (op.overwritten) b.read(t, x, Value::of(*op.overwritten), {});
  if (op.kind == StressOp::Kind::Read) {
    b.read(t, x, Value::of(op.values.at(0)), {});
  } else {
    b.write(t, x, Value::of(op.values.at(0)), {});
  }
}

}  // namespace

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
    plan();
    phase_ = Phase::Begun;
    return state_.begin;
  }
  if (phase_ == Phase::Running && is_asking_)
    return fmt::format("SELECT prev FROM {} WHERE k = {}", state_.table, plan_[next_].key);
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
  is_gone_ = is_loss(answer.error);
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
    case Phase::Begun:
      phase_ = Phase::Running;
      break;
    case Phase::Running:
      // Where an UPDATE cannot say what it overwrote, the next statement asks for it.
      is_asking_ = !is_asking_ && overwrites(plan_[next_]) && !state_.has_returning;
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
    case Phase::Idle:
      phase_ = Phase::Idle;
      break;
  }
}

bool StressClient::overwrites(const StressOp& op) const {
  return op.kind == StressOp::Kind::Write && state_.options.workload != StressWorkload::List;
}

void StressClient::note_operation(const Answer& answer) {
  StressOp op = plan_[next_];
  if (overwrites(op)) op.overwritten = number_in(answer.tables.at(0).rows.at(0).at(0));
  if (op.kind == StressOp::Kind::Read) {
    const Row& row = answer.tables.at(0).rows.at(0);
    op.values = numbers_in(row.at(0).value_or(""));
    if (state_.options.workload == StressWorkload::Bank) balances_.push_back(number_in(row.at(1)));
  }
  txns.back().ops.push_back(std::move(op));
}

void StressClient::plan() {
  next_ = 0;
  plan_.clear();
  balances_.clear();
  if (state_.is_last) {
    for (std::size_t k = 0; k < std::min(state_.options.keys, kMostLookedAt); ++k)
      plan_.push_back({.kind = StressOp::Kind::Read, .key = k});
    return;
  }
  if (state_.options.workload == StressWorkload::Bank) {
    const std::size_t from = key();
    const std::size_t to = (from + 1 + rng_.below(state_.options.keys - 1)) % state_.options.keys;
    plan_ = {{.kind = StressOp::Kind::Read, .key = from},
             {.kind = StressOp::Kind::Read, .key = to}};
    if (rng_.chance(0.2)) return;  // somebody only looks
    for (const std::size_t k : {from, to})
      plan_.push_back({.kind = StressOp::Kind::Write, .key = k, .values = {++state_.last_value}});
    return;
  }
  const std::size_t length = 1 + rng_.below(state_.options.longest);
  for (std::size_t i = 0; i < length; ++i) {
    StressOp op{.key = key()};
    if (rng_.chance(0.5)) {
      op.kind = StressOp::Kind::Write;
      op.values = {++state_.last_value};
    }
    plan_.push_back(std::move(op));
  }
}

std::string StressClient::statement(const StressOp& op) const {
  const bool is_bank = state_.options.workload == StressWorkload::Bank;
  if (op.kind == StressOp::Kind::Read)
    return fmt::format("SELECT v{} FROM {} WHERE k = {}", is_bank ? ", balance" : "", state_.table,
                       op.key);
  if (state_.options.workload == StressWorkload::List)
    return fmt::format("UPDATE {} SET v = CONCAT(v, ' {}') WHERE k = {}", state_.table,
                       op.values[0], op.key);
  // The row keeps the value before, which tells the order of the writers.
  const char* returning = state_.has_returning ? " RETURNING prev" : "";
  if (!is_bank)
    return fmt::format("UPDATE {} SET prev = v, v = {} WHERE k = {}{}", state_.table, op.values[0],
                       op.key, returning);
  const bool is_from = op.key == plan_[0].key;
  return fmt::format("UPDATE {} SET prev = v, v = {}, balance = {} WHERE k = {}{}", state_.table,
                     op.values[0], balances_[is_from ? 0 : 1] + (is_from ? -1 : 1), op.key,
                     returning);
}

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
  const bool is_serializable =
      std::ranges::equal(options.isolation, std::string_view("SERIALIZABLE"),
                         [](unsigned char x, char y) { return std::toupper(x) == y; });
  for (const Placed& one : placed) {
    const TxnStatus status = one.txn->ended == 0 ? TxnStatus::Unknown : one.txn->status;
    const TxnId t = b.begin(one.session, status, {});
    for (StressOp op : one.txn->ops) {
      // Servers that end a transaction because it is in no serial order promise nothing of what it
      // read until then.
      if (is_serializable && status == TxnStatus::Aborted) {
        if (op.kind == StressOp::Kind::Read) continue;
        op.overwritten.reset();
      }
      b.begin_statement(t);
      add_operation(b, t, op, is_list);
    }
    b.end_statement(t);
  }
  return std::move(b).build(&budget);
}

}  // namespace isoscope::force
