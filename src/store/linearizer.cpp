#include "store/linearizer.h"

#include <algorithm>

namespace isoscope {

template <class Set>
void LinearFacts<Set>::clear() {
  all_.for_each([&](std::uint32_t t) {
    txns_[t].overwritten.for_each([&](std::uint32_t w) { overwrites(t, w) = {}; });
    txns_[t] = {};
  });
  std::fill(sessions_.begin(), sessions_.end(), Set{});
  all_ = {};
}

template <class Set>
void LinearFacts<Set>::add_txn(std::uint32_t t, std::uint32_t session, const Set& read_from) {
  if (session >= sessions_.size()) sessions_.resize(session + 1);
  sessions_[session].insert(t);
  txns_[t].read_from = read_from;
  txns_[t].rank = all_.size();
  all_.insert(t);
}

template <class Set>
void LinearFacts<Set>::add_read(std::uint32_t reader, const std::uint32_t* writer,
                                const Set& writers) {
  writers.for_each([&](std::uint32_t t) {
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
void LinearFacts<Set>::add_conflict(std::uint32_t t, const Set& others) {
  txns_[t].conflicts |= others;
  others.for_each([&](std::uint32_t other) { txns_[other].conflicts.insert(t); });
}

template <class Set>
bool Linearizer<Set>::is_possible(const LinearFacts<Set>& facts, StrongRule rule) {
  facts_ = &facts;
  rule_ = rule;
  ++question_;
  num_seen_ = 0;
  order_.clear();
  next_.clear();
  if (!search({})) return false;
  std::reverse(order_.begin(), order_.end());
  return true;
}

template <class Set>
bool Linearizer<Set>::may_commit(const State& state, std::uint32_t t) const {
  const auto& txn = facts_->txns_[t];
  if (rule_ == StrongRule::Si && txn.conflicts.intersects(state.started - state.committed))
    return false;
  if (!txn.initial_readers.is_subset_of(state.started)) return false;
  bool may = true;
  (txn.overwritten & state.committed).for_each([&](std::uint32_t w) {
    may = may && facts_->overwrites(t, w).is_subset_of(state.started);
  });
  return may;
}

template <class Set>
bool Linearizer<Set>::search(State state) {
  // The next transaction of each session, those that the caller prefers first.
  const std::size_t begin = next_.size();
  for (const Set& session : facts_->sessions_) {
    const Set rest = session - state.committed;
    if (rest.empty()) continue;
    const std::uint32_t t = rest.front();
    if (!state.started.contains(t)) {
      if (!facts_->txns_[t].read_from.is_subset_of(state.committed)) continue;
      // Starting as early as possible prevents nothing, unless others wait for it to commit.
      const bool is_harmless = rule_ == StrongRule::Pc ||
                               (rule_ == StrongRule::Si && facts_->txns_[t].conflicts.empty());
      if (is_harmless) state.started.insert(t);
    }
    next_.push_back(t);
    for (std::size_t i = next_.size() - 1;
         i > begin && facts_->txns_[next_[i - 1]].rank > facts_->txns_[t].rank; --i)
      std::swap(next_[i], next_[i - 1]);
  }
  if (state.committed == facts_->all_) return true;
  const std::size_t end = is_new(state) ? next_.size() : begin;
  for (std::size_t i = begin; i < end; ++i) {
    const std::uint32_t t = next_[i];
    State after = state;
    const bool starts = !state.started.contains(t);
    after.started.insert(t);
    if (!starts || rule_ == StrongRule::Ser) {
      if (!may_commit(after, t)) continue;
      after.committed.insert(t);
    }
    if (!search(after)) continue;
    if (after.committed.contains(t)) order_.push_back(t);
    return true;
  }
  next_.resize(begin);
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
