#include "sql/server/step_effect.h"

#include <algorithm>

#include "sql/server/sql_calls.h"

namespace isoscope::sql::server {
namespace {

// What the statement touches, in tables or in keys.
void add_statement(const Machine& machine, const StatementResult& result, StepEffect& effect) {
  if (machine.is_by_key()) {
    for (const ReadVersion& read : result.reads) effect.touched.push_back(read.row);
    for (const RowId row : result.writes) effect.changed.push_back(row);
    for (const auto& [row, mode] : result.locks) effect.changed.push_back(row);
    return;
  }
  Footprint footprint;
  add_statement(machine.app(), *result.statement, footprint);
  for (const TableId table : footprint.touched) effect.touched.push_back({table, kWholeTable});
  for (const TableId table : footprint.changed) effect.changed.push_back({table, kWholeTable});
}

bool shares(const std::vector<RowId>& a, const std::vector<RowId>& b) {
  return std::ranges::any_of(a, [&](RowId row) { return std::ranges::find(b, row) != b.end(); });
}

}  // namespace

StepEffect effect_of(const Machine& machine, const State& before, const State& after,
                     const Choice& choice, const StepDone& done) {
  const SessionState& session = before.sessions[choice.session];
  const TxnState& was = before.txns[done.txn];
  const TxnState& is = after.txns[done.txn];
  StepEffect effect;
  const bool wakes = std::ranges::any_of(before.sessions, [&](const SessionState& other) {
    return std::ranges::find(other.blockers, done.txn) != other.blockers.end();
  });
  const bool is_plain =
      done.kind == StepDone::Kind::Answered || done.kind == StepDone::Kind::Committed;
  if (choice.is_victim || session.running || wakes || !is_plain ||
      machine.level(done.txn) == PgLevel::Serializable ||
      machine.calls().catches(call_of(done.txn))) {
    effect.is_alone = true;
    return effect;
  }
  if (done.kind == StepDone::Kind::Committed) {
    effect.commits = true;
    for (const auto& result : is.log) {
      StepEffect of_statement;
      add_statement(machine, *result, of_statement);
      effect.changed.insert(effect.changed.end(), of_statement.changed.begin(),
                            of_statement.changed.end());
    }
    return effect;
  }
  effect.keeps_snapshot =
      machine.level(done.txn) == PgLevel::RepeatableRead && !was.has_snapshot && is.has_snapshot;
  for (std::size_t i = was.log.size(); i < is.log.size(); ++i)
    add_statement(machine, *is.log[i], effect);
  return effect;
}

bool commute(const StepEffect& a, const StepEffect& b) {
  if (a.is_alone || b.is_alone) return false;
  if ((a.commits && b.keeps_snapshot) || (a.keeps_snapshot && b.commits)) return false;
  return !shares(a.changed, b.changed) && !shares(a.changed, b.touched) &&
         !shares(a.touched, b.changed);
}

}  // namespace isoscope::sql::server
