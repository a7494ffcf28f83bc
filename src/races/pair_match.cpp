// Does a statement find what it found in the recording? What stops it, if it does not.
#include <algorithm>

#include "races/pair_state.h"
#include "races/run_locks.h"
#include "races/stale_guard.h"

namespace isoscope::races {
namespace {

bool is_match(const Key& key, const std::string& value) {
  return key.kind == KeyKind::Answer ? value.starts_with("yes") : !value.empty();
}

// Rows that the statement changes or locks, and rows that its foreign keys refer to.
std::set<RowId> rows_locked(const Statement& statement, bool by_key_share) {
  std::set<RowId> rows;
  for (const Lock& lock : statement.locks) {
    if ((lock.mode == LockMode::KeyShare) == by_key_share) rows.insert(lock.row);
  }
  return rows;
}

}  // namespace

// A row that was there when the statement began, and that the other deleted and made anew: the
// statement does not find the new one.
std::optional<Guard> Pair::lost_meanwhile(const Statement& statement, bool is_second) const {
  std::set<RowId> recreated = run_.txns[txns_[is_second ? 0 : 1]].recreated;
  for (const RunTxn t : after_) {
    if (is_second) recreated.insert(run_.txns[t].recreated.begin(), run_.txns[t].recreated.end());
  }
  for (const Lock& lock : statement.locks) {
    if (!recreated.contains(lock.row)) continue;
    if (lock.mode == LockMode::KeyShare && statement.kind != StatementKind::Select)
      return Guard::ForeignKey;
    return level_of(txns_[is_second ? 1 : 0]) == PgLevel::ReadCommitted ? Guard::FewerRows
                                                                        : Guard::FirstUpdater;
  }
  return std::nullopt;
}

// Keys that must be absent, or present: unique keys and foreign keys, as they are now.
std::optional<Guard> Pair::refused(const Statement& statement, bool is_second,
                                   bool sees_other) const {
  const bool inserts = statement.kind == StatementKind::Insert;
  if (!inserts && statement.kind != StatementKind::Update) return std::nullopt;
  const std::set<RowId> parents = rows_locked(statement, true);
  for (const Read& read : statement.reads) {
    const Key& key = run_.keys[read.key];
    if (key.kind != KeyKind::Row) continue;
    const bool was = !run_.value(read.key, read.writer).empty();
    const bool is = !run_.value(read.key, visible(read.key, is_second, sees_other)).empty();
    if (was == is) continue;
    if (was && parents.contains(key.row)) return Guard::ForeignKey;
    if (!inserts) continue;
    // An INSERT that found its key did nothing, updated the row, or failed and was given up.
    return was || statement.takes_conflicts ? Guard::OtherWay : Guard::UniqueKey;
  }
  return std::nullopt;
}

// A version column: the application looks for the value that it has read, and that changed.
bool Pair::looks_for_stale_row(const State& state, bool is_second, bool sees_other) const {
  const Side& side = state.sides[is_second ? 1 : 0];
  const Txn& txn = run_.txns[txns_[is_second ? 1 : 0]];
  const auto current = [&](KeyId key) {
    return run_.value(key, visible(key, is_second, sees_other));
  };
  return looks_for_stale(run_, txn, side.reads, txn.statements[side.next], current);
}

// Is the version one that the other brings, and that is not there yet?
bool Pair::awaits_other(RunTxn writer, bool is_second, bool sees_other) const {
  if (sees_other) return false;
  return writer == txns_[is_second ? 0 : 1] || (is_second && after_.contains(writer));
}

// Does the statement find the rows that it found in the recording? `only_locked`: in the current
// version, of the rows that it took.
//
// A row that no longer matches since the other has changed it was guarded, if that leaves the
// statement nothing to do. Where other rows still match, or the row would match only later, the
// statement does less than in the recording, and its application goes on in its own way.
std::optional<Guard> Pair::unmatched(const State& state, bool is_second, bool sees_other,
                                     bool only_locked) const {
  const Side& side = state.sides[is_second ? 1 : 0];
  const Txn& txn = run_.txns[txns_[is_second ? 1 : 0]];
  const Statement& statement = txn.statements[side.next];
  const std::set<RowId> locked = rows_locked(statement, false);
  const bool is_change =
      statement.kind == StatementKind::Update || statement.kind == StatementKind::Delete;
  if (statement.kind == StatementKind::Insert ||
      (locked.empty() && !is_change && !holds_found(statement)))
    return std::nullopt;
  // Rows that it found: also those that it locks and that none writes.
  std::set<RowId> found;
  for (const Lock& lock : statement.locks) {
    if (lock.is_explicit && lock.mode != LockMode::KeyShare) found.insert(lock.row);
  }
  std::set<RowId> lost;
  bool is_early = false;
  for (const Read& read : statement.reads) {
    const Key& key = run_.keys[read.key];
    if (key.kind == KeyKind::Cell) continue;
    const RunTxn now = visible(read.key, is_second, sees_other);
    const bool was = is_match(key, run_.value(read.key, read.writer));
    const bool is = is_match(key, run_.value(read.key, now));
    if (was && locked.contains(key.row)) found.insert(key.row);
    if (was == is) continue;
    if (locked.contains(key.row)) {
      if (!was) continue;
      lost.insert(key.row);
      is_early |= awaits_other(read.writer, is_second, sees_other);
    } else if (!only_locked && is) {
      return Guard::FurtherRows;
    }
  }
  if (lost.empty()) return std::nullopt;
  if (lost.size() < found.size()) return Guard::FewerRows;
  if (is_early && !has_stale_value(run_, txn, side.reads, statement)) return Guard::FewerRows;
  // A locking read shows what it found: who has read before may act on both.
  const auto& relevant = relevant_[is_second ? 1 : 0];
  const bool has_met =
      std::any_of(relevant.begin(), relevant.begin() + static_cast<std::ptrdiff_t>(side.next),
                  [](bool meets) { return meets; });
  if (!is_change && has_met) return Guard::FewerRows;
  return Guard::Condition;
}

}  // namespace isoscope::races
