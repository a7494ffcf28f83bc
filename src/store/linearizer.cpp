#include "store/linearizer.h"

#include <algorithm>

namespace isoscope {

template <class Set>
void LinearFacts<Set>::clear() {
  all_.for_each([&](std::uint32_t t) {
    txns_[t].overwritten.for_each([&](std::uint32_t w) { overwrites(t, w) = {}; });
    txns_[t] = {};
  });
  order_.clear();
  all_ = {};
}

template <class Set>
void LinearFacts<Set>::add_txn(std::uint32_t t, std::uint32_t session, const Set& read_from) {
  txns_[t].session = session;
  txns_[t].read_from = read_from;
  order_.push_back(t);
  all_.insert(t);
}

template <class Set>
void LinearFacts<Set>::add_read(std::uint32_t reader, const std::uint32_t* writer,
                                const Set& others) {
  others.for_each([&](std::uint32_t t) {
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
bool Linearizer<Set>::is_possible(StrongRule rule) {
  rule_ = rule;
  std::fill(is_used_.begin(), is_used_.end(), std::uint8_t{0});
  num_seen_ = 0;
  return search({});
}

// Is t the next of its session, and has it everything it reads?
template <class Set>
bool Linearizer<Set>::may_start(const State& state, std::uint32_t t) const {
  return facts_.txns_[t].read_from.is_subset_of(state.committed);
}

template <class Set>
bool Linearizer<Set>::may_commit(const State& state, std::uint32_t t) const {
  const auto& txn = facts_.txns_[t];
  if (rule_ == StrongRule::Si && txn.conflicts.intersects(state.started - state.committed))
    return false;
  if (!txn.initial_readers.is_subset_of(state.started)) return false;
  bool may = true;
  (txn.overwritten & state.committed).for_each([&](std::uint32_t w) {
    may = may && facts_.overwrites(t, w).is_subset_of(state.started);
  });
  return may;
}

// Can starting t as early as possible prevent nothing?
template <class Set>
bool Linearizer<Set>::is_harmless(std::uint32_t t) const {
  return rule_ == StrongRule::Pc || facts_.txns_[t].conflicts.empty();
}

template <class Set>
bool Linearizer<Set>::search(const State& from) {
  State state = from;
  const auto is_next = [&](std::uint32_t i) {
    // The first of its session that has not started, once the one before has committed.
    const std::uint32_t t = facts_.order_[i];
    if (state.started.contains(t)) return false;
    for (std::uint32_t j = 0; j < i; ++j) {
      const std::uint32_t other = facts_.order_[j];
      if (facts_.txns_[other].session == facts_.txns_[t].session &&
          !state.committed.contains(other))
        return false;
    }
    return may_start(state, t);
  };
  const std::uint32_t count = static_cast<std::uint32_t>(facts_.order_.size());
  if (rule_ != StrongRule::Ser) {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (is_harmless(facts_.order_[i]) && is_next(i)) state.started.insert(facts_.order_[i]);
    }
  }
  if (state.committed == facts_.all_) return true;
  if (!is_new(state)) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t t = facts_.order_[i];
    if (state.committed.contains(t)) continue;
    if (!state.started.contains(t)) {
      if (!is_next(i)) continue;
      State next = state;
      next.started.insert(t);
      if (rule_ == StrongRule::Ser) {
        if (!may_commit(next, t)) continue;
        next.committed.insert(t);
      }
      if (search(next)) return true;
    } else if (may_commit(state, t)) {
      State next = state;
      next.committed.insert(t);
      if (search(next)) return true;
    }
  }
  return false;
}

template <class Set>
bool Linearizer<Set>::is_new(const State& state) {
  if ((num_seen_ + 1) * 2 > seen_.size()) {
    std::vector<State> old = std::move(seen_);
    std::vector<std::uint8_t> old_used = std::move(is_used_);
    seen_.assign(std::max<std::size_t>(64, old.size() * 2), {});
    is_used_.assign(seen_.size(), 0);
    num_seen_ = 0;
    for (std::size_t i = 0; i < old.size(); ++i) {
      if (old_used[i] != 0) is_new(old[i]);
    }
  }
  std::size_t slot = state.started.hash() * 31 + state.committed.hash();
  for (slot ^= slot >> 29;; ++slot) {
    slot &= seen_.size() - 1;
    if (is_used_[slot] == 0) break;
    if (seen_[slot] == state) return false;
  }
  seen_[slot] = state;
  is_used_[slot] = 1;
  ++num_seen_;
  return true;
}

template class LinearFacts<TxnSet<1>>;
template class LinearFacts<TxnSet<4>>;
template class Linearizer<TxnSet<1>>;
template class Linearizer<TxnSet<4>>;

}  // namespace isoscope
