#include "store/checked_oracle.h"

#include <algorithm>

#include "check/check.h"
#include "history/builder.h"
#include "support/assert.h"

namespace isoscope::store {

CheckedOracle::CheckedOracle(const Executable& program, const LevelPlan& plan,
                             std::unique_ptr<Oracle> weaker, const Budget& budget)
    : program_(program), plan_(plan), weaker_(std::move(weaker)), budget_(budget) {}

void CheckedOracle::reset() {
  weaker_->reset();
  ended_.clear();
  order_.clear();
  std::fill(latest_.begin(), latest_.end(), kInitialWriter);
}

void CheckedOracle::begin(CallId call) {
  weaker_->begin(call);
  pending_ = {.call = call, .is_committed = true, .reads = {}, .writes = {}};
  is_fresh_ = plan_.is_extensible;
  order_after_.reset();
}

CallId CheckedOracle::latest(ProgramKey x) const {
  return latest_.contains(x) ? latest_[x] : kInitialWriter;
}

// Every transaction writes its own number, so that values identify the writers.
History CheckedOracle::build(const Txn& pending) const {
  HistoryBuilder builder(InitialValues::Zero);
  const auto value_of = [](CallId call) { return std::int64_t{call.index} + 1; };
  const auto add = [&](const Txn& txn) {
    const ProgramSession session = program_.outline().calls[txn.call].session;
    const TxnId t = builder.begin(builder.session(session.index),
                                  txn.is_committed ? TxnStatus::Committed : TxnStatus::Aborted, {});
    for (const Read& read : txn.reads) {
      const std::int64_t value = read.writer == kInitialWriter ? 0 : value_of(read.writer);
      builder.read(t, builder.key(read.key.index), Value::of(value), {});
    }
    for (const ProgramKey x : txn.writes)
      builder.write(t, builder.key(x.index), Value::of(value_of(txn.call)), {});
  };
  for (const Txn& txn : ended_) add(txn);
  add(pending);
  Result<History> history = std::move(builder).build();
  ISO_ASSERT(history.ok());  // values are unique
  return *std::move(history);
}

std::optional<std::vector<CallId>> CheckedOracle::explain(const Txn& pending) {
  if (is_expired_) return std::nullopt;
  const History h = build(pending);
  Assignment levels{.base = plan_.levels.base, .own = {}};
  if (plan_.levels.is_mixed()) {
    levels.own.push_back(nullptr);
    for (const Txn& txn : ended_) levels.own.push_back(&plan_.levels.of(txn.call));
    levels.own.push_back(&plan_.levels.of(pending.call));
  }
  // The same question is asked again and again with one more transaction: the recorded history is
  // there to be checked with all care.
  const Verdict verdict = Checker(h, {.confirm = false}).check(levels, budget_).verdict;
  is_expired_ = verdict.outcome == Outcome::Unknown;
  if (verdict.outcome != Outcome::Consistent) return std::nullopt;
  std::vector<CallId> order;
  for (const TxnId t : verdict.witness->order) {
    if (t == kInitialTxn) continue;
    const Txn& txn = t.index <= ended_.size() ? ended_[t.index - 1] : pending;
    if (txn.is_committed) order.push_back(txn.call);
  }
  return order;
}

bool CheckedOracle::allows(ProgramKey x, CallId w) {
  if (!weaker_->allows(x, w)) return false;
  if (is_fresh_ && w == latest(x)) return true;
  Txn longer = pending_;
  longer.reads.push_back({x, w});
  return explain(longer).has_value();
}

void CheckedOracle::take(ProgramKey x, CallId w) {
  weaker_->take(x, w);
  is_fresh_ = is_fresh_ && w == latest(x);
  pending_.reads.push_back({x, w});
}

bool CheckedOracle::allows_commit(std::span<const ProgramKey> written) {
  if (is_fresh_) {
    order_after_ = order_;
    order_after_->push_back(pending_.call);
    return true;
  }
  pending_.writes.assign(written.begin(), written.end());
  order_after_ = explain(pending_);
  return order_after_.has_value();
}

void CheckedOracle::end(bool is_committed, std::span<const ProgramKey> written) {
  weaker_->end(is_committed, written);
  pending_.is_committed = is_committed;
  pending_.writes.assign(written.begin(), written.end());
  // What an aborted transaction read may rule out orders that were possible without it.
  if (!is_committed && !is_fresh_) order_after_ = explain(pending_);
  ended_.push_back(std::move(pending_));
  if (!order_after_) return;
  order_ = std::move(*order_after_);
  std::fill(latest_.begin(), latest_.end(), kInitialWriter);
  ById<CallId, std::uint32_t> rank(program_.outline().calls.size(), 0);
  for (std::uint32_t i = 0; i < order_.size(); ++i) rank[order_[i]] = i + 1;
  for (const Txn& txn : ended_) {
    if (!txn.is_committed) continue;
    for (const ProgramKey x : txn.writes) {
      CallId& last = latest_.grown(x, kInitialWriter);
      if (last == kInitialWriter || rank[last] < rank[txn.call]) last = txn.call;
    }
  }
}

void CheckedOracle::abandon() { weaker_->abandon(); }

}  // namespace isoscope::store
