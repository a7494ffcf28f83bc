#include "store/linearizer.h"

#include <algorithm>

namespace isoscope {

template <class Set>
void LinearFacts<Set>::clear() {
  all_.for_each([&](CallId t) {
    txns_[t].overwritten.for_each([&](CallId w) { overwrites(t, w) = {}; });
    txns_[t] = {};
  });
  std::fill(sessions_.begin(), sessions_.end(), Set{});
  all_ = {};
}

template <class Set>
void LinearFacts<Set>::add_txn(CallId t, ProgramSession session, const Set& read_from) {
  sessions_.grown(session).insert(t);
  txns_[t].read_from = read_from;
  txns_[t].rank = all_.size();
  all_.insert(t);
}

template <class Set>
void LinearFacts<Set>::add_read(CallId reader, const CallId* writer, const Set& writers) {
  writers.for_each([&](CallId t) {
    if (t == reader || (writer != nullptr && t == *writer)) return;
    if (writer == nullptr) {
      txns_[t].initial_readers.insert(reader);
    } else {
      overwrites(t, *writer).insert(reader);
      txns_[t].overwritten.insert(*writer);
    }
  });
}

template <class Set>
void LinearFacts<Set>::add_conflict(CallId t, const Set& others) {
  txns_[t].conflicts |= others;
  others.for_each([&](CallId other) { txns_[other].conflicts.insert(t); });
}

template <class Set>
bool Linearizer<Set>::is_possible(const LinearFacts<Set>& facts, const TxnRules<Set>& rules,
                                  Budget& budget) {
  facts_ = &facts;
  budget_ = &budget;
  rules_ = rules;
  ++question_;
  num_seen_ = 0;
  order_.clear();
  next_.clear();
  return search({});
}

template <class Set>
bool Linearizer<Set>::may_commit(const State& state, CallId t) const {
  const auto& txn = facts_->txns_[t];
  if (txn.conflicts.intersects((state.started - state.committed) & rules_.si)) return false;
  if (!txn.before.is_subset_of(state.committed)) return false;
  if (!txn.initial_readers.is_subset_of(state.started)) return false;
  bool may = true;
  (txn.overwritten & state.committed).for_each([&](CallId w) {
    may = may && facts_->overwrites(t, w).is_subset_of(state.started);
  });
  return may;
}

// Takes what can do no harm: a start, unless others wait for it to commit; a commit, if none that
// is still to come writes the same keys.
template <class Set>
bool Linearizer<Set>::take_harmless(State& state, CallId t) {
  const auto& txn = facts_->txns_[t];
  const bool is_contested = !(txn.conflicts - state.committed).empty();
  State after = state;
  if (!state.started.contains(t)) {
    if (!txn.read_from.is_subset_of(state.committed)) return false;
    if (is_contested && (rules_.si.contains(t) || !rules_.split.contains(t))) return false;
    after.started.insert(t);
  }
  if (is_contested || !may_commit(after, t)) {
    if (rules_.split.contains(t)) state = after;  // started, not yet committed
    return false;
  }
  state = after;
  state.committed.insert(t);
  order_.push_back(t);
  return true;
}

template <class Set>
bool Linearizer<Set>::search(State state) {
  if (budget_->expired()) return false;
  const std::size_t order_size = order_.size();
  const std::size_t begin = next_.size();
  bool is_again = true;
  while (is_again) {
    is_again = false;
    next_.resize(begin);
    for (const Set& session : facts_->sessions_) {
      Set rest = session - state.committed;
      while (!rest.empty() && take_harmless(state, rest.front())) {
        rest = session - state.committed;
        is_again = true;
      }
      if (!rest.empty()) next_.push_back(rest.front());
    }
  }
  if (state.committed == facts_->all_) return true;
  // What is next in each session, those that the caller prefers first.
  std::sort(next_.begin() + static_cast<std::ptrdiff_t>(begin), next_.end(),
            [&](CallId a, CallId b) { return facts_->txns_[a].rank < facts_->txns_[b].rank; });
  const std::size_t end = is_new(state) ? next_.size() : begin;
  for (std::size_t i = begin; i < end; ++i) {
    const CallId t = next_[i];
    const std::size_t before = order_.size();
    State after = state;
    if (!facts_->txns_[t].read_from.is_subset_of(state.committed)) continue;
    if (state.started.contains(t) || !rules_.split.contains(t)) {
      after.started.insert(t);
      if (!may_commit(after, t)) continue;
      after.committed.insert(t);
      order_.push_back(t);
    } else {
      after.started.insert(t);
    }
    if (search(after)) return true;
    order_.resize(before);
  }
  next_.resize(begin);
  order_.resize(order_size);
  return false;
}

// Has this state not been looked at for this question?
template <class Set>
bool Linearizer<Set>::is_new(const State& state) {
  if ((num_seen_ + 1) * 2 > seen_.size()) {
    std::vector<Slot> old = std::move(seen_);
    seen_.assign(std::max<std::size_t>(64, old.size() * 2), {});
    num_seen_ = 0;
    for (const Slot& slot : old) {
      if (slot.question == question_) is_new(slot.state);
    }
  }
  std::size_t i = state.started.hash() * 31 + state.committed.hash();
  for (i ^= i >> 29;; ++i) {
    i &= seen_.size() - 1;
    if (seen_[i].question != question_) break;
    if (seen_[i].state == state) return false;
  }
  seen_[i] = {state, question_};
  ++num_seen_;
  return true;
}

template class LinearFacts<TxnSet<1>>;
template class LinearFacts<TxnSet<4>>;
template class Linearizer<TxnSet<1>>;
template class Linearizer<TxnSet<4>>;

}  // namespace isoscope
