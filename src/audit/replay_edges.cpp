#include "audit/replay_edges.h"

#include <algorithm>

namespace isoscope::audit {

namespace {

using sql::Value;

Place place_in(const std::map<LocationKey, Place>& places, const LocationKey& location) {
  const auto found = places.find(location);
  return found == places.end() ? Place{} : found->second;
}

// Of the location, else of another column of the row.
Place place_of_row(const std::map<LocationKey, Place>& places, const LocationKey& location) {
  if (places.contains(location)) return places.at(location);
  for (const auto& [other, place] : places) {
    if (other.table == location.table && other.row == location.row && !other.attribute.is_entry())
      return place;
  }
  return {};
}

// A shortest cycle through the call, breadth first; rw edges are preferred, as they tell most.
std::vector<ReplayEdge> cycle_through(ScenarioCallId start, std::size_t num_calls,
                                      const std::vector<ReplayEdge>& edges) {
  ById<ScenarioCallId, std::optional<ReplayEdge>> by(num_calls);
  std::vector<ScenarioCallId> queue = {start};
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (const EdgeKind kind : {EdgeKind::Rw, EdgeKind::Wr, EdgeKind::Ww}) {
      for (const ReplayEdge& edge : edges) {
        if (edge.from != queue[head] || edge.kind != kind) continue;
        if (edge.to == start) {
          std::vector<ReplayEdge> cycle = {edge};
          for (ScenarioCallId at = edge.from; at != start; at = cycle.back().from)
            cycle.push_back(*by[at]);
          std::ranges::reverse(cycle);
          return cycle;
        }
        if (by[edge.to]) continue;
        by[edge.to] = edge;
        queue.push_back(edge.to);
      }
    }
  }
  return {};
}

}  // namespace

std::vector<ReplayEdge> edges_of(const Scenario& scenario, const Versions& versions,
                                 Conflicts conflicts) {
  ById<ScenarioCallId, std::size_t> place(scenario.calls.size());
  for (std::size_t i = 0; i < versions.order.size(); ++i) place[versions.order[i]] = i;
  std::vector<ReplayEdge> edges;
  for (const ScenarioCallId a : scenario.of_cycle()) {
    for (const ScenarioCallId b : scenario.of_cycle()) {
      if (a == b) continue;
      const CallTrace& from = versions.traces[a];
      const CallTrace& to = versions.traces[b];
      for (const auto& [location, writer] : to.read_from) {
        if (writer == a && !to.is_per_statement)
          edges.push_back({a, b, EdgeKind::Wr, location, to.reads.at(location),
                           place_in(from.write_places, location),
                           place_in(to.read_places, location)});
      }
      for (const StatementRead& read : to.statement_reads) {
        if (read.writer == a)
          edges.push_back({a, b, EdgeKind::Wr, read.at, read.value,
                           place_in(from.write_places, read.at), read.place});
      }
      for (const auto& write : from.writes) {
        const auto& location = write.first;
        const bool both = to.writes.contains(location) ||
                          (conflicts == Conflicts::Rows && !location.attribute.is_entry() &&
                           std::ranges::any_of(to.writes, [&](const auto& other) {
                             return other.first.table == location.table &&
                                    other.first.row == location.row &&
                                    !other.first.attribute.is_entry();
                           }));
        if (both && place[a] < place[b])
          edges.push_back({a,
                           b,
                           EdgeKind::Ww,
                           location,
                           {},
                           place_in(from.write_places, location),
                           place_of_row(to.write_places, location)});
      }
      for (const auto& [location, writer] : from.read_from) {
        const auto written = to.writes.find(location);
        if (from.is_per_statement || written == to.writes.end() || scenario.sees[a][b]) continue;
        if (writer && place[*writer] > place[b]) continue;
        if (written->second != from.reads.at(location))
          edges.push_back({a, b, EdgeKind::Rw, location, from.reads.at(location),
                           place_in(from.read_places, location),
                           place_in(to.write_places, location)});
      }
      for (const StatementRead& read : from.statement_reads) {
        const auto written = to.writes.find(read.at);
        if (written == to.writes.end() || place[b] < read.limit) continue;
        if (written->second != read.value)
          edges.push_back({a, b, EdgeKind::Rw, read.at, read.value, read.place,
                           place_in(to.write_places, read.at)});
      }
    }
  }
  return edges;
}

std::vector<ReplayEdge> cycle_of(const Scenario& scenario, const std::vector<ReplayEdge>& edges) {
  std::vector<ReplayEdge> best;
  for (const ScenarioCallId start : scenario.of_cycle()) {
    std::vector<ReplayEdge> cycle = cycle_through(start, scenario.calls.size(), edges);
    if (!cycle.empty() && (best.empty() || cycle.size() < best.size())) best = std::move(cycle);
  }
  return best;
}

}  // namespace isoscope::audit
