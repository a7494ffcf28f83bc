#include "report/audit_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "audit/symbols.h"
#include "support/printable.h"

namespace isoscope {

namespace {

using audit::CallTrace;
using audit::FoundAnomaly;
using audit::LocationKey;
using audit::ReplayEdge;
using audit::ScenarioCallId;
using audit::StatementRead;

const sql::Value* find(const std::map<LocationKey, sql::Value>& values, const LocationKey& at) {
  const auto found = values.find(at);
  return found == values.end() ? nullptr : &found->second;
}

bool is_there(const sql::Value& presence) { return presence == sql::Value(true); }

// Of a row, or of the entry of a UNIQUE constraint: there or not.
std::string presence_story(const FoundAnomaly& anomaly, const ReplayEdge& edge) {
  const CallTrace& from = anomaly.replay.traces[edge.from];
  const CallTrace& to = anomaly.replay.traces[edge.to];
  const std::string_view thing = edge.at.attribute == audit::kPresence ? "row" : "entry";
  const auto found = [&](ScenarioCallId call, const sql::Value& presence) {
    return fmt::format("{} found {} {}", call_name(call), is_there(presence) ? "the" : "no such",
                       thing);
  };
  const auto change = [](ScenarioCallId call, const sql::Value& presence) {
    return fmt::format("{} {} it", call_name(call), is_there(presence) ? "inserted" : "deleted");
  };
  switch (edge.kind) {
    case audit::EdgeKind::Wr:
      return change(edge.from, from.writes.at(edge.at)) + ", " +
             found(edge.to, *value_read(anomaly, edge));
    case audit::EdgeKind::Rw:
      return found(edge.from, *value_read(anomaly, edge)) + ", " +
             change(edge.to, to.writes.at(edge.at));
    case audit::EdgeKind::Ww:
      return change(edge.from, from.writes.at(edge.at)) + ", then " +
             change(edge.to, to.writes.at(edge.at));
  }
  return "";
}

// The cycle that was looked for, with the kinds of edges that set the anomaly apart from others of
// the same functions; the shortest one of the run if that is shorter.
std::vector<ReplayEdge> telling_cycle(const FoundAnomaly& anomaly) {
  const std::size_t length = anomaly.kinds.size();
  const IdRange<ScenarioCallId> calls = anomaly.scenario.of_cycle();
  if (anomaly.replay.cycle.size() != length || calls.size() != length) return anomaly.replay.cycle;
  std::vector<ReplayEdge> cycle;
  for (const ScenarioCallId from : calls) {
    const ScenarioCallId to = from == calls.back() ? calls.front() : ScenarioCallId{from.index + 1};
    const audit::EdgeKind kind = anomaly.kinds[cycle.size()];
    const auto edge = std::ranges::find_if(anomaly.replay.edges, [&](const ReplayEdge& e) {
      return e.from == from && e.to == to && e.kind == kind;
    });
    if (edge == anomaly.replay.edges.end()) return anomaly.replay.cycle;
    cycle.push_back(*edge);
  }
  return cycle;
}

}  // namespace

FoundAnomaly in_arbitration_order(const FoundAnomaly& anomaly) {
  const audit::Scenario& old = anomaly.scenario;
  ById<ScenarioCallId, ScenarioCallId> place(old.calls.size());  // the new id of each
  for (const ScenarioCallId i : old.calls.ids()) place[old.ar[i.index]] = i;

  FoundAnomaly result = anomaly;
  audit::Scenario& scenario = result.scenario;
  for (const ScenarioCallId i : old.calls.ids()) {
    const ScenarioCallId was = old.ar[i.index];
    scenario.calls[i] = old.calls[was];
    scenario.ar[i.index] = i;
    result.replay.traces[i] = anomaly.replay.traces[was];
    for (auto& [location, writer] : result.replay.traces[i].read_from) {
      if (writer) writer = place[*writer];
    }
    for (StatementRead& read : result.replay.traces[i].statement_reads) {
      if (read.writer) read.writer = place[*read.writer];
    }
    for (const ScenarioCallId j : old.calls.ids())
      scenario.sees[i][j] = old.sees[was][old.ar[j.index]];
    if (!old.snapshots.empty()) scenario.snapshots[i] = old.snapshots[was];
  }
  for (audit::ScheduleStep& step : result.replay.schedule) {
    step.call = place[step.call];
    if (step.waits_for) step.waits_for = place[*step.waits_for];
  }
  result.replay.cycle = telling_cycle(anomaly);
  for (auto* edges : {&result.replay.edges, &result.replay.cycle}) {
    for (ReplayEdge& edge : *edges) {
      edge.from = place[edge.from];
      edge.to = place[edge.to];
    }
  }
  auto& cycle = result.replay.cycle;
  std::rotate(cycle.begin(), std::ranges::min_element(cycle, {}, &ReplayEdge::from), cycle.end());
  return result;
}

std::string call_name(ScenarioCallId call) { return fmt::format("T{}", call.index + 1); }

std::string headline(const sql::Application& app, const FoundAnomaly& anomaly) {
  std::vector<std::pair<sql::FunctionId, std::size_t>> counts;
  for (const sql::FunctionId function : anomaly.functions) {
    const auto same = std::ranges::find(counts, function, [](const auto& c) { return c.first; });
    if (same == counts.end()) {
      counts.emplace_back(function, 1);
    } else {
      ++same->second;
    }
  }
  const std::string_view name = common_name(anomaly.name);
  std::string out = fmt::format("{} between ", name.empty() ? "a cycle" : name);
  const bool is_counted =
      std::ranges::any_of(counts, [](const auto& count) { return count.second > 1; });
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto [function, times] = counts[i];
    if (i > 0) out += i + 1 == counts.size() ? " and " : ", ";
    if (is_counted) {
      const std::string_view unit = i > 0 ? "" : times > 1 ? "calls " : "call ";
      out += fmt::format("{} {}of ", times, unit);
    }
    out += printable(app.function(function).name);
  }
  return out;
}

EdgeKind edge_of(audit::EdgeKind kind) {
  switch (kind) {
    case audit::EdgeKind::Wr: return EdgeKind::Wr;
    case audit::EdgeKind::Ww: return EdgeKind::Ww;
    case audit::EdgeKind::Rw: return EdgeKind::Rw;
  }
  return EdgeKind::Wr;
}

const sql::Value* value_read(const FoundAnomaly& anomaly, const ReplayEdge& edge) {
  if (edge.kind == audit::EdgeKind::Ww) return nullptr;
  if (edge.read) return &*edge.read;
  const ScenarioCallId reader = edge.kind == audit::EdgeKind::Wr ? edge.to : edge.from;
  return find(anomaly.replay.traces[reader].reads, edge.at);
}

const sql::Value* value_written(const FoundAnomaly& anomaly, const ReplayEdge& edge) {
  const ScenarioCallId writer = edge.kind == audit::EdgeKind::Wr ? edge.from : edge.to;
  return find(anomaly.replay.traces[writer].writes, edge.at);
}

std::string edge_story(const FoundAnomaly& anomaly, const ReplayEdge& edge) {
  const CallTrace& from = anomaly.replay.traces[edge.from];
  const sql::Value* read = value_read(anomaly, edge);
  const sql::Value* written = value_written(anomaly, edge);
  // Where rows conflict as a whole, the two may have written different columns.
  if (written == nullptr)
    return fmt::format("{} and then {} wrote the row", call_name(edge.from), call_name(edge.to));
  if (!edge.at.attribute.is_column()) return presence_story(anomaly, edge);
  switch (edge.kind) {
    case audit::EdgeKind::Wr:
      return fmt::format("{} wrote {}, {} read it", call_name(edge.from),
                         printable(sql::print(*written)), call_name(edge.to));
    case audit::EdgeKind::Ww:
      return fmt::format("{} wrote {}, then {} wrote {}", call_name(edge.from),
                         printable(sql::print(from.writes.at(edge.at))), call_name(edge.to),
                         printable(sql::print(*written)));
    case audit::EdgeKind::Rw:
      return fmt::format("{} read {}, {} wrote {}", call_name(edge.from),
                         printable(sql::print(*read)), call_name(edge.to),
                         printable(sql::print(*written)));
  }
  return "";
}

}  // namespace isoscope
