#include <fmt/format.h>

#include <array>

#include "audit/open_world.h"
#include "audit/symbols.h"
#include "formats/formats.h"
#include "report/audit_claims.h"
#include "report/audit_report.h"
#include "report/audit_run.h"
#include "report/json.h"
#include "sql/server/recorded.h"

namespace isoscope {
namespace {

using audit::FoundAnomaly;

Json to_json(const sql::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) return *number;
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  if (const auto* truth = std::get_if<bool>(&value.data)) return *truth;
  // As a text: a JSON number is read as a floating one by many.
  if (std::holds_alternative<sql::Decimal>(value.data)) return sql::print(value);
  const auto* elements = std::get_if<std::vector<sql::Value>>(&value.data);
  if (elements == nullptr) return nullptr;
  Json array = Json::array();
  for (const sql::Value& element : *elements) array.push_back(to_json(element));
  return array;
}

Json to_json(const std::vector<sql::Value>& values) { return to_json(sql::Value(values)); }

Json names_of(const sql::Application& app, const std::vector<sql::FunctionId>& functions) {
  Json names = Json::array();
  for (const sql::FunctionId f : functions) names.push_back(app.function(f).name);
  return names;
}

Json calls_json(const sql::Application& app, const FoundAnomaly& anomaly) {
  const audit::Scenario& scenario = anomaly.scenario;
  Json calls = Json::array();
  for (const audit::ScenarioCallId i : scenario.calls.ids()) {
    Json sees = Json::array();
    for (const audit::ScenarioCallId other : scenario.calls.ids()) {
      if (scenario.sees[i][other]) sees.push_back(call_name(other));
    }
    calls.push_back({{"id", call_name(i)},
                     {"function", app.function(scenario.calls[i].function).name},
                     {"arguments", to_json(scenario.calls[i].arguments)},
                     {"sees", std::move(sees)},
                     {"returned", to_json(anomaly.replay.traces[i].result.returned)},
                     {"prepares", scenario.prepares(i)}});
  }
  return calls;
}

Json rows_json(const sql::Application& app, const audit::Scenario& scenario) {
  Json rows = Json::array();
  for (const sql::InitialRow& row : scenario.rows) {
    const sql::Table& table = app.table(row.table);
    Json values = Json::object();
    for (const sql::ColumnId c : row.values.ids())
      values[table.columns[c].name] = to_json(row.values[c]);
    rows.push_back({{"table", table.name}, {"values", std::move(values)}});
  }
  return rows;
}

Json cycle_json(const sql::Application& app, const FoundAnomaly& anomaly) {
  Json cycle = Json::array();
  for (const audit::ReplayEdge& edge : anomaly.replay.cycle) {
    const sql::Table& table = app.table(edge.at.table);
    Json one{{"from", call_name(edge.from)},
             {"to", call_name(edge.to)},
             {"edge", name_of(edge_of(edge.kind))},
             {"table", table.name},
             {"row", to_json(edge.at.row)}};
    if (edge.at.attribute == audit::kPresence) {
      one["presence"] = true;
    } else if (edge.at.attribute.is_entry()) {
      Json columns = Json::array();
      for (const sql::ColumnId column : table.unique[edge.at.attribute.unique()])
        columns.push_back(table.columns[column].name);
      one["unique"] = std::move(columns);
    } else {
      one["column"] = table.columns[edge.at.attribute.column()].name;
    }
    if (const sql::Value* read = value_read(anomaly, edge)) one["read"] = to_json(*read);
    if (const sql::Value* written = value_written(anomaly, edge))
      one["written"] = to_json(*written);
    if (edge.from_place.line > 0) one["from_line"] = edge.from_place.line;
    if (edge.to_place.line > 0) one["to_line"] = edge.to_place.line;
    cycle.push_back(std::move(one));
  }
  return cycle;
}

// Where it matters: the order in which statements begin.
Json schedule_json(const FoundAnomaly& anomaly) {
  Json schedule = Json::array();
  for (const audit::ScheduleStep& step : anomaly.replay.schedule) {
    Json one{{"call", call_name(step.call)}};
    if (step.moment) {
      const audit::TracedMoment& moment = anomaly.replay.traces[step.call].moments[*step.moment];
      one["line"] = moment.place.line;
      one["statement"] = moment.text;
    } else {
      one[step.is_snapshot ? "snapshot" : "commit"] = true;
    }
    if (step.waits_for) one["waits_for"] = call_name(*step.waits_for);
    schedule.push_back(std::move(one));
  }
  return schedule;
}

Json history_json(const audit::Problem& problem, const FoundAnomaly& anomaly) {
  const auto run = audit::to_history(problem, anomaly.scenario, anomaly.replay.traces, true);
  if (!run) return nullptr;
  std::string text;
  const auto written =
      write_history(*run->history, Format::Hist, [&](std::string_view piece) { text += piece; });
  return written ? Json(text) : Json(nullptr);
}

Json anomaly_json(const audit::Problem& problem, const FoundAnomaly& found) {
  const FoundAnomaly anomaly = in_arbitration_order(found);
  const audit::Scenario& scenario = anomaly.scenario;
  Json vis = Json::array();
  Json ar = Json::array();
  for (const audit::ScenarioCallId i : scenario.calls.ids()) {
    ar.push_back(call_name(i));
    for (const audit::ScenarioCallId j : scenario.calls.ids()) {
      if (scenario.sees[j][i]) vis.push_back(std::array{call_name(i), call_name(j)});
    }
  }
  Json result{{"name", common_name(anomaly.name)},
              {"label", audit::name_of(anomaly.replay.label)},
              {"why", anomaly.replay.why},
              {"calls", calls_json(problem.app, anomaly)},
              {"rows", rows_json(problem.app, scenario)},
              {"cycle", cycle_json(problem.app, anomaly)},
              {"vis", std::move(vis)},
              {"ar", std::move(ar)},
              {"history", history_json(problem, anomaly)}};
  if (!anomaly.replay.schedule.empty()) result["schedule"] = schedule_json(anomaly);
  return result;
}

Json steps_json(const sql::Application& app, const audit::Proof& proof) {
  Json steps = Json::array();
  for (const audit::ProofStep& step : proof.steps) {
    Json one{{"scheme", audit::name_of(step.scheme)}, {"functions", names_of(app, step.functions)}};
    if (step.path > 0) one["path"] = step.path;
    steps.push_back(std::move(one));
  }
  return steps;
}

// The scheme of a proof; of several steps, all that it combines.
Json scheme_json(const audit::Proof& proof) {
  std::string schemes;
  for (const audit::ProofStep& step : proof.steps) {
    const std::string_view name = audit::name_of(step.scheme);
    if (schemes.find(name) == std::string::npos)
      schemes += (schemes.empty() ? "" : ", ") + std::string(name);
  }
  return proof.holds ? Json(schemes) : Json(nullptr);
}

Json lengths_json(const audit::SearchReport& search) {
  Json lengths = Json::array();
  for (const audit::LengthReport& length : search.lengths) {
    lengths.push_back({{"length", length.length},
                       {"cycles", length.cycles},
                       {"impossible", length.impossible},
                       {"found", length.found},
                       {"unrealized", length.unrealized},
                       {"unknown", length.unknown},
                       {"cut", length.is_cut},
                       {"spurious", length.spurious}});
  }
  return lengths;
}

Json repairs_json(const std::vector<audit::Repair>& repairs) {
  Json list = Json::array();
  for (const audit::Repair& repair : repairs) {
    list.push_back({{"kind", audit::name_of(repair.kind)},
                    {"function", repair.function.empty() ? Json(nullptr) : Json(repair.function)},
                    {"line", repair.place.line},
                    {"column", repair.place.column},
                    {"before", repair.before.empty() ? Json(nullptr) : Json(repair.before)},
                    {"what", repair.what},
                    {"proved", repair.is_proved}});
  }
  return list;
}

Json advice_json(const sql::Application& app, const audit::Advice& advice) {
  Json levels = Json::object();
  for (const sql::FunctionId f : advice.levels.ids())
    levels[app.function(f).name] = advice.levels[f]->name;
  return {{"levels", advice.levels.empty() ? Json(nullptr) : std::move(levels)},
          {"proofs", advice.proofs},
          {"repairs", repairs_json(advice.repairs)},
          {"repairs_in_model", repairs_json(advice.unsure)},
          {"repairs_tried", advice.repairs_tried},
          {"repairs_undecided", advice.repairs_undecided},
          {"complete", advice.is_complete},
          {"limit", advice.limit.empty() ? Json(nullptr) : Json(advice.limit)}};
}

Json subsets_json(const sql::Application& app, const audit::Subsets& subsets) {
  Json together = Json::array();
  for (const auto& set : subsets.together) together.push_back(names_of(app, set));
  Json apart = Json::array();
  for (const audit::Subsets::Bad& bad : subsets.apart)
    apart.push_back(
        {{"functions", names_of(app, bad.functions)}, {"verdict", audit::name_of(bad.outcome)}});
  Json lowest = Json::object();
  for (const sql::FunctionId f : subsets.lowest.ids())
    lowest[app.function(f).name] = subsets.lowest[f]->name;
  return {{"together", std::move(together)},
          {"apart", std::move(apart)},
          {"lowest", subsets.lowest.empty() ? Json(nullptr) : std::move(lowest)},
          {"complete", subsets.is_complete}};
}

Json levels_json(const audit::Problem& problem) {
  Json levels = Json::object();
  for (const sql::FunctionId f : problem.app.function_ids())
    levels[problem.app.function(f).name] = problem.levels.of(f).name;
  return levels;
}

}  // namespace

Header header_of(const AuditReport& report) {
  const audit::AuditReport& answer = report.answer;
  return header_of("audit", {.outcome = audit::outcome_of(answer.outcome), .limit = answer.limit},
                   report.seconds, audit::name_of(answer.outcome));
}

Outcome overall(const AuditReport& report) {
  const auto is_cut = [](const auto& part) { return part && !part->is_complete; };
  const bool is_any_cut =
      is_cut(report.advice) || is_cut(report.subsets) || is_cut(report.promoted);
  return worse(header_of(report).outcome, is_any_cut ? Outcome::Unknown : Outcome::Ok);
}

std::string audit_json(const AuditReport& report) {
  const audit::AuditReport& answer = report.answer;
  const audit::Problem& problem = report.problem;
  Json json = json_header(header_of(report));
  json["stats"] = {{"questions", answer.effort.questions},
                   {"building_seconds", answer.effort.building_seconds},
                   {"solving_seconds", answer.effort.solving_seconds}};
  json["level"] = problem.levels.base->name;
  json["levels"] = levels_json(problem);
  json["bound"] = report.options.max_length;
  const bool of_rows =
      report.small_runs || audit::rules_of(problem).conflicts == audit::Conflicts::Rows;
  json["conflicts"] = of_rows ? "row" : "column";
  Json anomalies = Json::array();
  for (const FoundAnomaly& anomaly : answer.search.anomalies)
    anomalies.push_back(anomaly_json(problem, anomaly));
  json["anomalies"] = std::move(anomalies);
  json["scheme"] = answer.proof ? scheme_json(*answer.proof) : Json(nullptr);
  json["steps"] = answer.proof ? steps_json(problem.app, *answer.proof) : Json::array();
  if (answer.proof && !answer.proof->holds) {
    json["unproved"] = names_of(problem.app, answer.proof->left);
    json["chordless"] = names_of(problem.app, answer.proof->chordless);
    json["obstacle"] = answer.proof->obstacle;
  }
  json["lengths"] = lengths_json(answer.search);
  json["impossible"] = !answer.search.lengths.empty() && answer.search.is_proof();
  json["counters"] = answer.counters;
  Json notes = Json::array();
  for (const sql::Note& note : problem.app.notes) {
    notes.push_back({{"line", note.where.line},
                     {"column", note.where.column},
                     {"function", note.function},
                     {"kind", sql::name_of(note.kind)},
                     {"what", note.what}});
  }
  json["notes"] = std::move(notes);
  if (report.small_runs) json["small_runs"] = small_runs_json(report);
  if (report.claims) json["claims"] = claims_json(report);
  if (report.advice) json["advice"] = advice_json(problem.app, *report.advice);
  if (report.subsets) json["subsets"] = subsets_json(problem.app, *report.subsets);
  if (report.promoted) json["subsets_for_update"] = subsets_json(problem.app, *report.promoted);
  return dump(json);
}

std::optional<History> audit_history(const AuditReport& report) {
  if (report.small_runs && !report.small_runs->anomalies.empty()) {
    const audit::SmallAnomaly& anomaly = report.small_runs->anomalies.front();
    sql::server::State state = anomaly.run.machine->start();
    for (const auto& choice : anomaly.schedule) anomaly.run.machine->take(state, choice);
    auto history = sql::server::to_history(*anomaly.run.machine, state, true);
    if (!history) return std::nullopt;
    return *std::move(history);
  }
  if (report.answer.search.anomalies.empty()) return std::nullopt;
  const FoundAnomaly anomaly = in_arbitration_order(report.answer.search.anomalies.front());
  auto run = audit::to_history(report.problem, anomaly.scenario, anomaly.replay.traces, true);
  if (!run) return std::nullopt;
  return std::move(*run->history);
}

}  // namespace isoscope
