#include "audit/anomaly_name.h"

#include <algorithm>

namespace isoscope::audit {

namespace {

bool reads_and_writes(const CallTrace& trace, const LocationKey& at) {
  return trace.reads.contains(at) && trace.writes.contains(at);
}

}  // namespace

Anomaly name_of(const Replay& replay) {
  const std::vector<ReplayEdge>& cycle = replay.cycle;
  if (cycle.empty()) return Anomaly::None;
  const auto writes = [&](ScenarioCallId call) { return !replay.traces[call].writes.empty(); };
  const auto num_rw = std::ranges::count(cycle, EdgeKind::Rw, &ReplayEdge::kind);
  if (cycle.size() == 2) {
    const ReplayEdge& first = cycle.front();
    const bool is_lost_update = std::ranges::any_of(cycle, [&](const ReplayEdge& edge) {
      return edge.kind == EdgeKind::Rw && reads_and_writes(replay.traces[first.from], edge.at) &&
             reads_and_writes(replay.traces[first.to], edge.at);
    });
    if (is_lost_update) return Anomaly::LostUpdate;
    if (num_rw == 2) return Anomaly::WriteSkew;
  }
  if (num_rw == 1) return Anomaly::ReadSkew;
  if (num_rw == 0) return Anomaly::DirtyWrite;
  // w1 -wr-> r1 -rw-> w2 -wr-> r2 -rw-> w1, and the readers do not see each other.
  if (cycle.size() == 4 && num_rw == 2) {
    const std::size_t start = cycle.front().kind == EdgeKind::Rw ? 1 : 0;
    const bool alternates =
        cycle[start].kind != EdgeKind::Rw && cycle[start + 1].kind == EdgeKind::Rw &&
        cycle[(start + 2) % 4].kind != EdgeKind::Rw && cycle[(start + 3) % 4].kind == EdgeKind::Rw;
    if (alternates) return Anomaly::LongFork;
  }
  const bool has_reader =
      std::ranges::any_of(cycle, [&](const ReplayEdge& edge) { return !writes(edge.from); });
  if (has_reader) return Anomaly::ReadOnlyAnomaly;
  return Anomaly::SerializationCycle;
}

}  // namespace isoscope::audit
