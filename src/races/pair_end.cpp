// The end of an interleaving: does a serial order explain it, and which dependencies speak against
// one?
#include "races/pair_state.h"

namespace isoscope::races {

// Do A, those after it, and B in this order, or B, A and those after it, read the same, and leave
// what they leave? Of a key that both write, who commits last leaves the version.
bool Pair::has_serial_order(const State& state) const {
  bool first_then_second = !writes_meet_ || !state.second_first;
  bool second_then_first = !writes_meet_ || state.second_first;
  for (const std::size_t side : {kFirst, kSecond}) {
    const Txn& txn = run_.txns[txns_[side]];
    for (std::size_t i = 0; i < txn.statements.size(); ++i) {
      for (std::size_t j = 0; j < txn.statements[i].reads.size(); ++j) {
        const KeyId key = txn.statements[i].reads[j].key;
        const RunTxn seen = state.sides[side].reads[i][j];
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
  const auto writing = [&](const Txn& txn, KeyId key) {
    for (std::size_t i = txn.statements.size(); i-- > 0;) {
      for (const Write& write : txn.statements[i].writes) {
        if (write.key == key) return i;
      }
    }
    return kNothing;
  };
  // Is the version of `seen` before the one of `to`?
  const auto is_before_target = [&](RunTxn seen) {
    if (seen == txns_[to]) return false;
    if (to == kSecond) return seen != txns_[kSecond];
    return !after_.contains(seen) && !(seen == txns_[kSecond] && !state.second_first);
  };
  std::optional<Dependency> coarse;
  const auto certain = [&](const Read& read, Dependency found) -> std::optional<Dependency> {
    if (!read.is_coarse) return found;
    found.is_coarse = true;
    if (!coarse) coarse = found;
    return std::nullopt;
  };
  for (std::size_t i = 0; i < source.statements.size(); ++i) {
    for (std::size_t j = 0; j < source.statements[i].reads.size(); ++j) {
      const Read& read = source.statements[i].reads[j];
      const std::size_t writes = writing(target, read.key);
      if (writes == kNothing || !is_before_target(state.sides[from].reads[i][j])) continue;
      if (auto found =
              certain(read, {Dependency::Kind::Rw, txns_[from], txns_[to], i, writes, read.key}))
        return found;
    }
  }
  for (std::size_t i = 0; i < target.statements.size(); ++i) {
    for (std::size_t j = 0; j < target.statements[i].reads.size(); ++j) {
      const Read& read = target.statements[i].reads[j];
      if (state.sides[to].reads[i][j] != txns_[from]) continue;
      if (auto found = certain(read, {Dependency::Kind::Wr, txns_[from], txns_[to],
                                      writing(source, read.key), i, read.key}))
        return found;
    }
  }
  if (from_second != state.second_first) return coarse;
  for (std::size_t i = 0; i < source.statements.size(); ++i) {
    for (const Write& write : source.statements[i].writes) {
      const std::size_t writes = writing(target, write.key);
      if (writes != kNothing)
        return Dependency{Dependency::Kind::Ww, txns_[from], txns_[to], i, writes, write.key};
    }
  }
  return coarse;
}

// Does the statement touch a row that the transaction touches too?
bool Pair::touches_rows_of(const Statement& statement, RunTxn t) const {
  std::set<RowId> rows;
  const auto add = [&](const Statement& s, auto&& use) {
    for (const Read& read : s.reads) use(run_.keys[read.key].row);
    for (const Write& write : s.writes) use(run_.keys[write.key].row);
    for (const Lock& lock : s.locks) use(lock.row);
  };
  for (const Statement& other : run_.txns[t].statements)
    add(other, [&](RowId row) { rows.insert(row); });
  bool touches = false;
  add(statement, [&](RowId row) { touches |= rows.contains(row); });
  return touches;
}

// A statement whose application is told something else than in the recording, while the other
// transaction is under way. One that has not begun, or has ended, is in order whatever follows.
std::optional<Step> Pair::told_otherwise(const State& state) const {
  for (const std::size_t side : {kFirst, kSecond}) {
    const Txn& txn = run_.txns[txns_[side]];
    const Side& own = state.sides[side];
    const Side& other = state.sides[1 - side];
    const Txn& beside = run_.txns[txns_[1 - side]];
    for (std::size_t i = 0; i < txn.statements.size(); ++i) {
      const auto& reads = txn.statements[i].reads;
      bool differs = false;
      for (std::size_t j = 0; txn.statements[i].tells_rows && j < reads.size(); ++j)
        differs |=
            run_.value(reads[j].key, own.reads[i][j]) != run_.value(reads[j].key, reads[j].writer);
      if (!differs || other.committed_at < own.done_at[i]) continue;
      for (std::size_t k = 0; k < beside.statements.size(); ++k) {
        if (other.done_at[k] < own.committed_at &&
            touches_rows_of(beside.statements[k], txns_[side]))
          return Step{txns_[side], i};
      }
    }
  }
  return std::nullopt;
}

// SERIALIZABLE keeps both in order, whatever they go on to do.
bool Pair::is_kept() const {
  return level_of(txns_[kFirst]) == PgLevel::Serializable &&
         level_of(txns_[kSecond]) == PgLevel::Serializable;
}

void Pair::finish(const State& state) {
  if (has_serial_order(state)) {
    const auto told = told_otherwise(state);
    if (!told || is_kept()) return;
    answer_.is_open = true;
    if (answer_.guards[Guard::OtherAnswer]++ == 0) answer_.guarded_at[Guard::OtherAnswer] = *told;
    return;
  }
  if (is_kept()) return stop(state, true, Guard::Serializable);
  const auto forth = dependency(state, false);
  const auto back = dependency(state, true);
  if (!forth || !back) return;
  if (forth->is_coarse || back->is_coarse) {
    const Dependency& coarse = forth->is_coarse ? *forth : *back;
    const bool is_read_first = coarse.kind == Dependency::Kind::Rw;
    answer_.is_open = true;
    if (answer_.guards[Guard::CoarseRead]++ == 0)
      answer_.guarded_at[Guard::CoarseRead] = {
          is_read_first ? coarse.from : coarse.to,
          is_read_first ? coarse.from_statement : coarse.to_statement};
    return;
  }
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
        const RunTxn seen = state.sides[side].reads[i][j];
        if (seen != read.writer)
          found.changed.push_back({txns_[side], i, read.key, read.writer, seen});
      }
    }
  }
  const auto rank = [](const Interleaving& i) { return std::pair(i.changed.size(), i.switches); };
  if (!answer_.race || rank(found) < rank(*answer_.race)) answer_.race = std::move(found);
}

}  // namespace isoscope::races
