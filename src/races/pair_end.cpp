// The end of an interleaving: does a serial order explain it, and which dependencies speak against
// one?
#include "races/pair_state.h"

namespace isoscope::races {

// Do A, those after it, and B in this order, or B, A and those after it, read the same?
bool Pair::has_serial_order(const State& state) const {
  bool first_then_second = true;
  bool second_then_first = true;
  for (const std::size_t side : {kFirst, kSecond}) {
    const Txn& txn = run_.txns[txns_[side]];
    for (std::size_t i = 0; i < txn.statements.size(); ++i) {
      for (std::size_t j = 0; j < txn.statements[i].reads.size(); ++j) {
        const KeyIndex key = txn.statements[i].reads[j].key;
        const TxnIndex seen = state.sides[side].reads[i][j];
        const bool is_second = side == kSecond;
        first_then_second &= seen == visible(key, is_second, is_second);
        second_then_first &= seen == visible(key, is_second, !is_second);
      }
    }
  }
  return first_then_second || second_then_first;
}

std::optional<Dependency> Pair::dependency(const State& state, bool from_second) const {
  const std::size_t from = from_second ? kSecond : kFirst;
  const std::size_t to = 1 - from;
  const Txn& source = run_.txns[txns_[from]];
  const Txn& target = run_.txns[txns_[to]];
  const auto writing = [&](const Txn& txn, KeyIndex key) {
    for (std::size_t i = txn.statements.size(); i-- > 0;) {
      for (const Write& write : txn.statements[i].writes) {
        if (write.key == key) return i;
      }
    }
    return kNothing;
  };
  // Is the version of `seen` before the one of `to`?
  const auto is_before_target = [&](TxnIndex seen) {
    if (seen == txns_[to]) return false;
    if (to == kSecond) return seen != txns_[kSecond];
    return !after_.contains(seen) && !(seen == txns_[kSecond] && !state.second_first);
  };
  for (std::size_t i = 0; i < source.statements.size(); ++i) {
    for (std::size_t j = 0; j < source.statements[i].reads.size(); ++j) {
      const KeyIndex key = source.statements[i].reads[j].key;
      const std::size_t writes = writing(target, key);
      if (writes != kNothing && is_before_target(state.sides[from].reads[i][j]))
        return Dependency{Dependency::Kind::Rw, txns_[from], txns_[to], i, writes, key};
    }
  }
  for (std::size_t i = 0; i < target.statements.size(); ++i) {
    for (std::size_t j = 0; j < target.statements[i].reads.size(); ++j) {
      if (state.sides[to].reads[i][j] != txns_[from]) continue;
      const KeyIndex key = target.statements[i].reads[j].key;
      return Dependency{Dependency::Kind::Wr, txns_[from], txns_[to], writing(source, key), i, key};
    }
  }
  if (from_second != state.second_first) return std::nullopt;
  for (std::size_t i = 0; i < source.statements.size(); ++i) {
    for (const Write& write : source.statements[i].writes) {
      const std::size_t writes = writing(target, write.key);
      if (writes != kNothing)
        return Dependency{Dependency::Kind::Ww, txns_[from], txns_[to], i, writes, write.key};
    }
  }
  return std::nullopt;
}

void Pair::finish(const State& state) {
  if (has_serial_order(state)) return;
  if (level_of(txns_[kFirst]) == ServerLevel::Serializable &&
      level_of(txns_[kSecond]) == ServerLevel::Serializable)
    return stop(state, true, Guard::Serializable);
  const auto forth = dependency(state, false);
  const auto back = dependency(state, true);
  if (!forth || !back) return;
  Interleaving found{.steps = state.steps,
                     .forth = *forth,
                     .back = *back,
                     .first_commits_last = state.second_first,
                     .switches = state.switches};
  for (const std::size_t side : {kFirst, kSecond}) {
    const Txn& txn = run_.txns[txns_[side]];
    found.reads[txns_[side]] = state.sides[side].reads;
    for (std::size_t i = 0; i < txn.statements.size(); ++i) {
      for (std::size_t j = 0; j < txn.statements[i].reads.size(); ++j) {
        const Read& read = txn.statements[i].reads[j];
        const TxnIndex seen = state.sides[side].reads[i][j];
        if (seen != read.writer)
          found.changed.push_back({txns_[side], i, read.key, read.writer, seen});
      }
    }
  }
  const auto rank = [](const Interleaving& i) { return std::pair(i.changed.size(), i.switches); };
  if (!answer_.race || rank(found) < rank(*answer_.race)) answer_.race = std::move(found);
}

}  // namespace isoscope::races
