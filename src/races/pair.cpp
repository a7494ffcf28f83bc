#include "races/pair.h"

#include <algorithm>
#include <span>

#include "races/pair_state.h"

namespace isoscope::races {
namespace {

// PostgreSQL's table of row locks.
bool excludes(LockMode a, LockMode b) {
  const auto weak = std::min(a, b);
  const auto strong = std::max(a, b);
  switch (strong) {
    case LockMode::Update: return true;
    case LockMode::NoKeyUpdate: return weak != LockMode::KeyShare;
    case LockMode::Share:
    case LockMode::KeyShare: return false;
  }
  return true;
}

std::set<KeyId> keys_read(const Txn& txn) {
  std::set<KeyId> keys;
  for (const Statement& statement : txn.statements) {
    for (const Read& read : statement.reads) keys.insert(read.key);
  }
  return keys;
}

std::set<KeyId> keys_written(const Txn& txn) {
  std::set<KeyId> keys;
  for (const Statement& statement : txn.statements) {
    for (const Write& write : statement.writes) keys.insert(write.key);
  }
  return keys;
}

template <class T>
bool share(const std::set<T>& a, const std::set<T>& b) {
  const auto& small = a.size() < b.size() ? a : b;
  const auto& large = a.size() < b.size() ? b : a;
  return std::ranges::any_of(small, [&](const T& item) { return large.contains(item); });
}

bool locks_meet(const Statement& s, const Statement& u) {
  for (const Lock& mine : s.locks) {
    for (const Lock& theirs : u.locks) {
      if (mine.row == theirs.row && excludes(mine.mode, theirs.mode)) return true;
    }
  }
  return false;
}

}  // namespace

bool may_conflict(const Run& run, RunTxn t, RunTxn u) {
  const Txn& a = run.txns[t];
  const Txn& b = run.txns[u];
  const auto written_a = keys_written(a);
  const auto written_b = keys_written(b);
  if (share(written_a, written_b) || share(written_a, keys_read(b)) ||
      share(written_b, keys_read(a)))
    return true;
  return std::ranges::any_of(a.statements, [&](const Statement& s) {
    return std::ranges::any_of(b.statements,
                               [&](const Statement& other) { return locks_meet(s, other); });
  });
}

Pair::Pair(const Run& run, RunTxn a, RunTxn b, const PairOptions& options)
    : run_(run), txns_{a, b}, options_(options) {
  if (options.sessions_are_connections && run.txns[a].session == run.txns[b].session)
    may_overlap_ = false;
  if (may_overlap_) find_needed();
  if (may_overlap_) find_relevant();
}

PgLevel Pair::level_of(RunTxn t) const {
  return std::max(run_.txns[t].level.value_or(PgLevel::ReadCommitted), options_.level);
}

bool Pair::conflicts(RunTxn t, RunTxn u) const {
  if (options_.sessions_are_connections && run_.txns[t].session == run_.txns[u].session)
    return true;
  // What a gap read or wrote is not known: it may conflict with every transaction.
  if (!run_.txns[t].gap.empty() || !run_.txns[u].gap.empty()) return true;
  return may_conflict(run_, t, u);
}

// B needs, of those between, whom it read from, and whom they read from.
void Pair::find_needed() {
  const RunTxn a = txns_[0];
  const RunTxn b = txns_[1];
  std::set<RunTxn> needed;
  std::vector<RunTxn> open = {b};
  while (!open.empty()) {
    const RunTxn t = open.back();
    open.pop_back();
    const auto add = [&](RunTxn u) {
      if (u > a && u < b && needed.insert(u).second) open.push_back(u);
      if (u > b) may_overlap_ = false;  // it read from one that ended after it
    };
    for (const Statement& statement : run_.txns[t].statements) {
      for (const Read& read : statement.reads) add(read.writer);
    }
    if (options_.sessions_are_connections) {
      for (RunTxn u{a.index + 1}; u < t; ++u) {
        if (run_.txns[u].session == run_.txns[t].session) add(u);
      }
    }
  }
  for (const RunTxn t : needed) {
    const bool follows =
        conflicts(a, t) || std::ranges::any_of(after_, [&](RunTxn u) { return conflicts(u, t); });
    (follows ? after_ : before_).insert(t);
  }
}

void Pair::find_relevant() {
  std::set<RowId> rows;
  bool is_single = true;
  for (const RunTxn t : txns_) {
    std::size_t statements = 0;
    for (const Statement& statement : run_.txns[t].statements) {
      for (const Read& read : statement.reads) rows.insert(run_.keys[read.key].row);
      for (const Write& write : statement.writes) rows.insert(run_.keys[write.key].row);
      for (const Lock& lock : statement.locks) rows.insert(lock.row);
      const bool touches = !statement.reads.empty() || !statement.writes.empty();
      if (touches) ++statements;
    }
    is_single &= statements == 1;
  }
  is_one_row_ = is_single && rows.size() == 1;
  writes_meet_ = share(keys_written(run_.txns[txns_[0]]), keys_written(run_.txns[txns_[1]]));
  for (const std::size_t side : {kFirst, kSecond}) {
    const Txn& own = run_.txns[txns_[side]];
    const Txn& other = run_.txns[txns_[1 - side]];
    const auto written = keys_written(other);
    auto touched = keys_read(other);
    touched.insert(written.begin(), written.end());
    // What comes with A's commit is seen with it.
    std::set<KeyId> with_first;
    if (side == kSecond) {
      for (const RunTxn t : after_) with_first.merge(keys_written(run_.txns[t]));
    }
    for (const Statement& statement : own.statements) {
      bool meets = false;
      for (const Read& read : statement.reads)
        meets |= written.contains(read.key) || with_first.contains(read.key);
      for (const Write& write : statement.writes) meets |= touched.contains(write.key);
      for (const Statement& theirs : other.statements) meets |= locks_meet(statement, theirs);
      relevant_[side].push_back(meets);
    }
  }
}

// Who wrote the version that is seen, besides own writes: by A or by B, with or without the other's
// writes.
RunTxn Pair::visible(KeyId key, bool is_second, bool sees_other) const {
  const auto [a, b] = txns_;
  const std::vector<RunTxn>& writers = run_.keys[key].writers;
  if (!is_second && sees_other && std::ranges::find(writers, b) != writers.end()) return b;
  for (auto writer = writers.rbegin(); writer != writers.rend(); ++writer) {
    const RunTxn t = *writer;
    if (t == b) continue;
    if (t < a || before_.contains(t)) return t;
    if (is_second && sees_other && (t == a || after_.contains(t))) return t;
  }
  return kT0;
}

void Pair::stop(const State& state, bool is_second, Guard guard) {
  if (answer_.guards[guard]++ == 0)
    answer_.guarded_at[guard] = {txns_[is_second ? 1 : 0], state.sides[is_second ? 1 : 0].next};
  answer_.is_open |= leaves_way_open(txns_[is_second ? 1 : 0], guard);
  // Of a deadlock, either one may be ended.
  const bool is_error = guard == Guard::UniqueKey || guard == Guard::ForeignKey ||
                        guard == Guard::FirstUpdater || guard == Guard::Deadlock;
  for (const std::size_t side : {kFirst, kSecond}) {
    if (!is_error || (guard != Guard::Deadlock && is_second != (side == kSecond))) continue;
    const auto& statements = run_.txns[txns_[side]].statements;
    const std::size_t next = state.sides[side].next;
    if (next < statements.size() && statements[next].is_behind_savepoint)
      return stop(state, side == kSecond, Guard::Caught);
  }
}

// Does the application go on, in a way that the recording does not have?
bool Pair::leaves_way_open(RunTxn t, Guard guard) const {
  switch (guard) {
    // Two statements on one row come one after the other, whatever they find; but who finds nothing
    // holds nothing, and at READ COMMITTED goes on to see what the other commits.
    case Guard::FewerRows:
      return !is_kept() && (!is_one_row_ || level_of(t) == PgLevel::ReadCommitted);
    case Guard::FurtherRows:
    case Guard::OtherWay: return !is_kept() && !is_one_row_;
    case Guard::Caught: return !is_kept();
    case Guard::OtherAnswer:
    case Guard::CoarseRead:
    case Guard::OtherLocks: return true;
    case Guard::LockedRead:
    case Guard::LockedWrite:
    case Guard::Condition:
    case Guard::UniqueKey:
    case Guard::ForeignKey:
    case Guard::FirstUpdater:
    case Guard::Serializable:
    case Guard::Deadlock: return false;
  }
  return true;
}

// Is a row that the statement wants held by the other one?
bool Pair::blocked_by(const State& state, bool is_second, const Statement& statement,
                      bool& is_explicit) const {
  const Side& other = state.sides[is_second ? 0 : 1];
  if (other.is_committed) return false;
  const Txn& holder = run_.txns[txns_[is_second ? 0 : 1]];
  for (std::size_t i = 0; i < other.next; ++i) {
    for (const Lock& held : holder.statements[i].locks) {
      if (held.until < other.next) continue;
      for (const Lock& wanted : statement.locks) {
        if (held.row != wanted.row || !excludes(held.mode, wanted.mode)) continue;
        is_explicit = held.is_explicit;
        return true;
      }
    }
    // Two rows of one key: the second INSERT waits for the first.
    for (const Write& write : holder.statements[i].writes) {
      for (const Write& mine : statement.writes) {
        if (mine.key == write.key && statement.kind == StatementKind::Insert) return true;
      }
    }
  }
  return false;
}

// The rows that the statement changes or locks: waits, and what it finds then.
Pair::Done Pair::take_rows(State& state, bool is_second, const Statement& statement,
                           bool sees_other) {
  Side& side = state.sides[is_second ? 1 : 0];
  const Side& other = state.sides[is_second ? 0 : 1];
  if (const auto guard = unmatched(state, is_second, sees_other, false)) {
    stop(state, is_second, *guard);
    return Done::Ends;
  }
  bool is_explicit = false;
  if (blocked_by(state, is_second, statement, is_explicit)) {
    side.is_waiting = true;
    side.snapshot_sees = sees_other;
    answer_.guarded_at.try_emplace(is_explicit ? Guard::LockedRead : Guard::LockedWrite,
                                   Step{txns_[is_second ? 1 : 0], side.next});
    ++answer_.guards[is_explicit ? Guard::LockedRead : Guard::LockedWrite];
    return Done::Waits;
  }
  std::optional<Guard> guard;
  if (!sees_other && other.is_committed) guard = lost_meanwhile(statement, is_second);
  if (!guard) guard = refused(statement, is_second, other.is_committed);
  if (!guard) guard = unmatched(state, is_second, other.is_committed, true);
  if (!guard && looks_for_stale_row(state, is_second, other.is_committed)) guard = Guard::Condition;
  if (guard) {
    stop(state, is_second, *guard);
    return Done::Ends;
  }
  if (sees_other || !other.is_committed ||
      level_of(txns_[is_second ? 1 : 0]) == PgLevel::ReadCommitted)
    return Done::Yes;
  // Changed since the snapshot.
  std::set<RowId> changed;
  std::set<RunTxn> ended = {txns_[is_second ? 0 : 1]};
  if (is_second) ended.insert(after_.begin(), after_.end());
  for (const RunTxn t : ended) {
    for (const KeyId key : keys_written(run_.txns[t])) changed.insert(run_.keys[key].row);
  }
  for (const Lock& lock : statement.locks) {
    if (lock.mode == LockMode::KeyShare || !changed.contains(lock.row)) continue;
    stop(state, is_second, Guard::FirstUpdater);
    return Done::Ends;
  }
  return Done::Yes;
}

Pair::Done Pair::run_statement(State& state, bool is_second) {
  Side& side = state.sides[is_second ? 1 : 0];
  const Side& other = state.sides[is_second ? 0 : 1];
  const Txn& txn = run_.txns[txns_[is_second ? 1 : 0]];
  const Statement& statement = txn.statements[side.next];
  bool sees_other = other.is_committed;
  if (level_of(txns_[is_second ? 1 : 0]) != PgLevel::ReadCommitted) {
    if (!side.has_snapshot) side.snapshot_sees = other.is_committed;
    side.has_snapshot = true;
    sees_other = side.snapshot_sees;
  } else if (side.is_waiting) {
    sees_other = side.snapshot_sees;
  }
  const bool keeps_snapshot = side.has_snapshot;
  const Done done = take_rows(state, is_second, statement, sees_other);
  if (done != Done::Yes) {
    if (keeps_snapshot) side.snapshot_sees = sees_other;
    return done;
  }
  side.is_waiting = false;
  // A foreign key is checked, and the key of an INSERT, against what is there now.
  const bool is_change =
      statement.kind == StatementKind::Insert || statement.kind == StatementKind::Update;
  std::set<RowId> taken;
  for (const Lock& lock : statement.locks) {
    if (lock.mode != LockMode::KeyShare || is_change) taken.insert(lock.row);
  }
  std::vector<RunTxn> seen;
  for (const Read& read : statement.reads) {
    const bool is_current =
        taken.contains(run_.keys[read.key].row) ||
        (statement.kind == StatementKind::Insert && run_.keys[read.key].kind == KeyKind::Row);
    seen.push_back(visible(read.key, is_second, is_current ? other.is_committed : sees_other));
  }
  side.reads.push_back(std::move(seen));
  side.done_at.push_back(state.now++);
  ++side.next;
  return Done::Yes;
}

void Pair::advance(State state) {
  if (answer_.interleavings >= options_.most) {
    answer_.is_cut = true;
    return;
  }
  if (state.sides[kFirst].is_committed && state.sides[kSecond].is_committed) {
    ++answer_.interleavings;
    return finish(state);
  }
  const auto ended = [&](std::size_t side) { return state.sides[side].is_committed; };
  // Those that come right after A's commit would wait for B where it holds what they lock.
  const auto is_stuck_after = [&](const State& at) {
    const std::span held(run_.txns[txns_[kSecond]].statements.data(), at.sides[kSecond].next);
    return std::ranges::any_of(after_, [&](RunTxn t) {
      return std::ranges::any_of(run_.txns[t].statements, [&](const Statement& statement) {
        return std::ranges::any_of(
            held, [&](const Statement& other) { return locks_meet(statement, other); });
      });
    });
  };
  if (state.sides[kFirst].is_waiting && state.sides[kSecond].is_waiting) {
    ++answer_.interleavings;
    return stop(state, true, Guard::Deadlock);
  }
  // Who does something that the other does not notice goes on at once.
  std::vector<std::size_t> choices;
  for (const std::size_t side : {kFirst, kSecond}) {
    const Side& s = state.sides[side];
    if (ended(side) || (s.is_waiting && !ended(1 - side))) continue;
    const bool is_quiet = s.next < relevant_[side].size() && !relevant_[side][s.next] &&
                          (s.has_snapshot || level_of(txns_[side]) == PgLevel::ReadCommitted);
    if (is_quiet && !s.is_waiting) {
      choices = {side};
      break;
    }
    choices.push_back(side);
  }
  for (const std::size_t side : choices) {
    State next = state;
    Side& s = next.sides[side];
    const Step step{txns_[side], s.next};
    if (next.last != side) ++next.switches;
    next.last = side;
    if (s.next == run_.txns[txns_[side]].statements.size()) {
      if (side == kFirst && !ended(kSecond) && is_stuck_after(next)) continue;
      if (side == kSecond && !ended(kFirst)) {
        next.second_first = true;
        if (std::ranges::any_of(after_, [&](RunTxn t) { return conflicts(txns_[kSecond], t); }))
          continue;
      }
      s.is_committed = true;
      s.committed_at = next.now++;
      next.steps.push_back(step);
      advance(std::move(next));
      continue;
    }
    if (!s.is_waiting) next.steps.push_back(step);  // otherwise it was sent before
    if (run_statement(next, side == kSecond) == Done::Ends) {
      ++answer_.interleavings;
    } else {
      advance(std::move(next));
    }
  }
}

PairAnswer Pair::explore() {
  answer_ = {};
  if (may_overlap_) advance(State{});
  return std::move(answer_);
}

}  // namespace isoscope::races
