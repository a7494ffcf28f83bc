#include "check/points/cycle_teller.h"

#include <algorithm>

#include "verdict/logic.h"
#include "verdict/naming.h"

namespace isoscope {

Edge CycleTeller::edge(const PointEdge& e) const {
  const auto statement = [&](std::uint32_t point, EventId read) {
    if (layout_.is_commit(point)) return Edge::kCommit;
    return read.is_none() || h_.txn(read) != layout_.txn(point)
               ? layout_.snapshot(point).first
               : layout_.statement(layout_.txn(point), read);
  };
  Edge edge{.from = layout_.txn(e.from), .to = layout_.txn(e.to), .key = e.key, .read = e.read};
  edge.from_statement = statement(e.from, e.read);
  edge.to_statement = statement(e.to, e.read);
  switch (e.reason) {
    case PointReason::Own:
    case PointReason::Later:
    case PointReason::Session: edge.kind = EdgeKind::So; break;
    case PointReason::Shown:
    case PointReason::Seen: edge.kind = EdgeKind::Wr; break;
    case PointReason::Missed: edge.kind = EdgeKind::Rw; break;
    case PointReason::Order:
    case PointReason::Updated: edge.kind = EdgeKind::Ww; break;
    case PointReason::Locked:
    case PointReason::Waited: edge.kind = EdgeKind::Co; break;
  }
  return edge;
}

std::string CycleTeller::axiom(const std::vector<PointEdge>& steps) const {
  const auto has = [&](PointReason reason) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const PointEdge& e) { return e.reason == reason; });
  };
  const auto to_snapshot = [&](const PointEdge& e) {
    return e.reason == PointReason::Session && !layout_.is_commit(e.to);
  };
  const auto named = [&](bool SnapRules::*rule) {
    for (const PointEdge& e : steps) {
      std::string axiom = axiom_with(levels_.of(layout_.txn(e.to)), rule);
      if (!axiom.empty()) return axiom;
    }
    return std::string();
  };
  for (auto rule : {&SnapRules::waits, &SnapRules::first_waits}) {
    if (has(PointReason::Waited) && !named(rule).empty()) return named(rule);
  }
  for (auto rule : {&SnapRules::seen, &SnapRules::first_seen}) {
    if (has(PointReason::Seen) && !named(rule).empty()) return named(rule);
  }
  for (auto rule : {&SnapRules::first_updater, &SnapRules::conflict}) {
    if (has(PointReason::Updated) && !named(rule).empty()) return named(rule);
  }
  if (std::any_of(steps.begin(), steps.end(), to_snapshot)) return named(&SnapRules::session);
  if (has(PointReason::Later)) return named(&SnapRules::monotone);
  for (const PointEdge& e : steps) {
    // A shared snapshot, entered by one read and left by another.
    if (!layout_.is_commit(e.to) && layout_.rules(layout_.txn(e.to)).one)
      return named(&SnapRules::one);
  }
  for (const PointEdge& e : steps) {
    // A plain read that stands for the moment of the commit, because no commit may come between.
    if (e.reason != PointReason::Missed || layout_.is_current(e.read)) continue;
    const std::string axiom = named(&SnapRules::first_updater);
    return axiom.empty() ? named(&SnapRules::conflict) : axiom;
  }
  return named(&SnapRules::latest);
}

Anomaly CycleTeller::name(const std::vector<Edge>& cycle) const {
  const auto count = [&](auto is_counted) {
    return std::count_if(cycle.begin(), cycle.end(), is_counted);
  };
  const auto snapshots = count([](const Edge& e) { return e.to_statement != Edge::kCommit; });
  const auto locks = count([](const Edge& e) { return e.kind == EdgeKind::Co; });
  const auto missed = count([](const Edge& e) { return e.kind == EdgeKind::Rw; });
  // Where no snapshot misses anything, each edge says who committed first.
  if (locks == 0 && (snapshots == 0 || missed == 0)) return name_cycle(h_, Logic::Psi, cycle);
  if (missed == 0) return Anomaly::Unexplainable;
  if (missed > 1) return Anomaly::LongFork;
  if (snapshots == 1 && cycle.size() == 2) {
    const bool enters_first = cycle[0].to_statement != Edge::kCommit;
    const Edge& enters = cycle[enters_first ? 0 : 1];
    const Edge& leaves = cycle[enters_first ? 1 : 0];
    const bool within = layout_.rules(enters.to).one || layout_.rules(enters.to).plain_one ||
                        enters.to_statement == leaves.from_statement;
    if (enters.kind == EdgeKind::So) return Anomaly::StaleSessionRead;
    if (enters.kind == EdgeKind::Ww) return Anomaly::LostUpdate;
    if (enters.kind == EdgeKind::Wr && within)
      return enters.key == leaves.key ? Anomaly::NonRepeatableRead : Anomaly::FracturedRead;
    return Anomaly::NonMonotonicRead;
  }
  if (locks > 0) return Anomaly::NonMonotonicRead;
  return count([](const Edge& e) { return e.kind == EdgeKind::Ww; }) == 0
             ? Anomaly::CausalityViolation
             : Anomaly::ReadSkew;
}

}  // namespace isoscope
