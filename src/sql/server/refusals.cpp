#include "sql/server/refusals.h"

#include <algorithm>

namespace isoscope::sql::server {

Refusals::Refusals(const Machine& machine) : machine_(machine) {
  const Outline& outline = machine.outline();
  for (const CallId call : outline.calls.ids())
    footprints_.push_back(machine.calls().guarded(call));
  sessions_.resize(outline.calls.size());
  for (const ProgramSession s : outline.sessions.ids()) {
    const Session& session = outline.sessions[s];
    for (CallId call = session.first; call < session.end(); ++call) sessions_[call] = s.index;
  }
  const auto has_edges = [&](CallId pivot) {
    bool in = false;
    bool out = false;
    for (const CallId other : outline.calls.ids()) {
      in = in || has_edge(txn_of(other), txn_of(pivot));
      out = out || has_edge(txn_of(pivot), txn_of(other));
    }
    return in && out;
  };
  any_ = std::ranges::any_of(outline.calls.ids(), has_edges);
}

bool Refusals::has_edge(TxnNo from, TxnNo to) const {
  const CallId a = call_of(from);
  const CallId b = call_of(to);
  if (sessions_[a] == sessions_[b] || machine_.level(from) != PgLevel::Serializable ||
      machine_.level(to) != PgLevel::Serializable)
    return false;
  return std::ranges::any_of(footprints_[a].touched,
                             [&](TableId table) { return footprints_[b].changed.contains(table); });
}

// Has the other one committed since the transaction's snapshot?
bool Refusals::has_committed_beside(const State& state, TxnNo txn, TxnNo other) const {
  return txn != other && state.committed.contains(other) &&
         !state.txns[txn].snapshot.contains(other);
}

bool Refusals::is_beside(const State& state, TxnNo txn, TxnNo other) const {
  if (has_committed_beside(state, txn, other)) return true;
  return txn != other && state.running.contains(other) && state.txns[other].has_snapshot;
}

bool Refusals::may_refuse(const State& state, TxnNo txn) const {
  if (machine_.level(txn) != PgLevel::Serializable || !state.txns[txn].has_snapshot) return false;
  const auto any = [&](const auto& holds) { return std::ranges::any_of(state.of_calls(), holds); };
  const auto is_pivot = [&](TxnNo pivot) {
    return any([&](TxnNo out) {
      return out != txn && has_edge(pivot, out) && has_committed_beside(state, pivot, out);
    });
  };
  if (is_pivot(txn) &&
      any([&](TxnNo in) { return has_edge(in, txn) && is_beside(state, txn, in); }))
    return true;
  return any([&](TxnNo pivot) {
    return has_edge(txn, pivot) && has_committed_beside(state, txn, pivot) && is_pivot(pivot);
  });
}

std::vector<Choice> Refusals::choices(const State& state) const {
  std::vector<Choice> choices;
  for (const ProgramSession s : state.sessions.ids()) {
    if (machine_.is_done(state, s)) continue;
    const SessionState& session = state.sessions[s];
    const TxnNo txn = txn_of(session.call);
    if (!state.running.contains(txn) || !may_refuse(state, txn)) continue;
    const bool ends = session.next != nullptr && session.next->kind == NextStep::Kind::Commit;
    if (ends || session.running) choices.push_back({.session = s, .is_refused = true});
  }
  return choices;
}

}  // namespace isoscope::sql::server
