// The answers of check, predict and audit as findings.
#include <fmt/format.h>

#include <algorithm>

#include "report/audit_claims.h"
#include "report/audit_report.h"
#include "report/audit_run.h"
#include "report/check_report.h"
#include "report/explain.h"
#include "report/findings.h"
#include "report/header.h"
#include "report/predict_report.h"
#include "report/shown.h"
#include "support/printable.h"

namespace isoscope {

namespace {

FindingPlace place_in(const std::string& file, Place place, std::string message) {
  return {file, place.line, place.column, std::move(message)};
}

// Both ends of an edge: the operations on its key, or the transactions themselves.
void add_ends(const History& h, const std::string& file, const Edge& edge, Finding& finding) {
  const bool has_lines = !h.counts_records();
  for (const TxnId t : {edge.from, edge.to}) {
    if (t == kInitialTxn || !has_lines) continue;
    Place place = h.place(t);
    std::string what = shown(h, t);
    for (const EventId e : h.events(t)) {
      if (edge.key.is_none() || h.key(e) != edge.key) continue;
      const bool is_reader = (edge.kind == EdgeKind::Rw && t == edge.from) ||
                             (edge.kind == EdgeKind::Wr && t == edge.to);
      if (h.is_read(e) != is_reader) continue;
      place = h.place(e);
      what = fmt::format("{} {}", shown(h, t), show_event(h, e));
      break;
    }
    finding.related.push_back(
        place_in(file, place, fmt::format("{} ({}: {})", what, name_of(edge.kind), why(h, edge))));
  }
}

Finding violation_finding(const History& h, const std::string& source, const std::string& level,
                          const Violation& v) {
  const std::string_view name = common_name(v.anomaly);
  Finding finding{.rule = rule_of(name),
                  .message = fmt::format("{} is violated: {}", printable(level), explanation(h, v)),
                  .place = {.file = source},
                  .identity = level};
  if (v.fault) finding.place = place_in(source, h.place(v.fault->read), "");
  for (const Edge& edge : v.cycle) {
    add_ends(h, source, edge, finding);
    finding.identity += fmt::format("\n{} {} {} {}", h.name(edge.from), name_of(edge.kind),
                                    edge.key.is_none() ? "" : h.name(edge.key), h.name(edge.to));
  }
  if (!finding.related.empty()) {
    finding.place = finding.related.front();
    finding.place.message.clear();
  }
  if (v.fault) {
    finding.identity +=
        fmt::format("\n{} {}", h.name(h.txn(v.fault->read)), h.name(h.key(v.fault->read)));
  } else if (v.cycle.empty()) {
    for (const TxnId t : v.core) finding.identity += "\n" + h.name(t);
  }
  return finding;
}

// The first statement, at any depth, that reads or writes the table of the location.
const sql::Statement* statement_on(std::span<const sql::Statement> body,
                                   const audit::LocationKey& at, bool writes) {
  const auto touches = [&](const sql::Statement& s) {
    if (s.write() != nullptr && s.write()->table == at.table) {
      if (!writes) return !s.is<sql::Insert>();
      const auto* update = s.find<sql::Update>();
      return update == nullptr || std::ranges::any_of(update->sets, [&](const sql::SetColumn& set) {
               return audit::Attribute(set.column) == at.attribute;
             });
    }
    return !writes && s.is_query() && std::ranges::count(s.query()->sources, at.table) > 0;
  };
  for (const sql::Statement& s : body) {
    if (touches(s)) return &s;
    for (const auto inner : {s.body(), s.otherwise()}) {
      if (const sql::Statement* found = statement_on(inner, at, writes)) return found;
    }
  }
  return nullptr;
}

// The statement that begins there.
const sql::Statement* statement_at(std::span<const sql::Statement> body, Place place) {
  for (const sql::Statement& s : body) {
    if (s.place.line == place.line && s.place.column == place.column) return &s;
    for (const auto inner : {s.body(), s.otherwise()}) {
      if (const sql::Statement* found = statement_at(inner, place)) return found;
    }
  }
  return nullptr;
}

FindingPlace end_place(const AuditReport& report, const audit::FoundAnomaly& anomaly,
                       const audit::ReplayEdge& edge, bool is_from) {
  const audit::ScenarioCallId call = is_from ? edge.from : edge.to;
  const bool writes =
      edge.kind == audit::EdgeKind::Ww || (edge.kind == audit::EdgeKind::Wr ? is_from : !is_from);
  const sql::Function& function =
      report.problem.app.function(anomaly.scenario.calls[call].function);
  const Place known = is_from ? edge.from_place : edge.to_place;
  const sql::Statement* statement = known.line == 0 ? nullptr : statement_at(function.body, known);
  if (statement == nullptr) statement = statement_on(function.body, edge.at, writes);
  return place_in(
      report.source, statement != nullptr ? statement->place : function.place,
      fmt::format("{} {} {} {}: {}", call_name(call), printable(function.name),
                  writes ? "writes" : "reads", printable(audit::print(report.problem.app, edge.at)),
                  statement != nullptr ? printable(statement->text) : edge_story(anomaly, edge)));
}

Finding anomaly_finding(const AuditReport& report, const audit::FoundAnomaly& found) {
  const sql::Application& app = report.problem.app;
  const audit::FoundAnomaly anomaly = in_arbitration_order(found);
  Finding finding{
      .rule = rule_of(common_name(anomaly.name)),
      .message = fmt::format("{} at {}: {}", headline(app, anomaly),
                             report.problem.levels.base->name, printable(anomaly.replay.why)),
      .place = {.file = report.source},
      .identity = report.problem.levels.base->name};
  for (const audit::ReplayEdge& edge : anomaly.replay.cycle) {
    finding.related.push_back(end_place(report, anomaly, edge, true));
    finding.related.push_back(end_place(report, anomaly, edge, false));
  }
  // The order of the cycle is a matter of arguments and rows: the parts of the name are sorted.
  std::vector<std::string> parts;
  for (const sql::FunctionId function : anomaly.functions)
    parts.push_back(app.function(function).name);
  for (const audit::EdgeKind kind : anomaly.kinds) parts.emplace_back(name_of(edge_of(kind)));
  std::ranges::sort(parts);
  for (const std::string& part : parts) finding.identity += "\n" + part;
  if (!finding.related.empty()) {
    finding.place = finding.related.front();
    finding.place.message.clear();
  }
  return finding;
}

// A claim that calls break side by side: without it a baseline of anomalies would hide it.
Finding claim_finding(const AuditReport& report, const sql::RowAssertion& claim) {
  const std::string level = report.problem.levels.base->name;
  return {.rule = "broken-claim",
          .message = fmt::format("calls at {} break what they keep one after the other: {}", level,
                                 printable(claim.text)),
          .place = place_in(report.source, claim.place, ""),
          .identity = level + "\n" + claim.text};
}

// A question beside the level's own that was not answered to its end: without a case of its own, a
// report would pass where the exit code says unknown.
void add_cut_case(Findings& out, const AuditReport& report, std::string_view what,
                  std::string message) {
  out.cases.push_back({.name = fmt::format("{}: {}", report.problem.levels.base->name, what),
                       .outcome = Outcome::Unknown,
                       .message = std::move(message)});
}

void add_cut_cases(Findings& out, const AuditReport& report) {
  if (report.advice && !report.advice->is_complete)
    add_cut_case(out, report, "advice",
                 fmt::format("{} before all advice was tried", report.advice->limit));
  for (const auto* subsets : {&report.subsets, &report.promoted}) {
    if (!*subsets || (*subsets)->is_complete) continue;
    return add_cut_case(out, report, "subsets",
                        fmt::format("{} before all sets were tried", (*subsets)->limit));
  }
}

}  // namespace

Findings check_findings(const CheckReport& report) {
  Findings out{.command = "check", .source = report.source};
  for (const LevelAnswer& level : report.levels) {
    const Verdict& verdict = level.answer.verdict;
    const History& h = level.history(report.h);
    FindingCase one{.name = printable(level.level),
                    .outcome = verdict.outcome,
                    .message = verdict.limit,
                    .seconds = level.seconds};
    if (verdict.violation) {
      const Finding finding = violation_finding(h, report.source, level.level, *verdict.violation);
      one.message = finding.message;
      for (const Edge& edge : verdict.violation->cycle)
        one.details += fmt::format("{} --{}--> {}  {}\n", shown(h, edge.from), name_of(edge.kind),
                                   shown(h, edge.to), why(h, edge));
      if (level.all) {
        for (const Violation& each : level.all->each)
          out.findings.push_back(violation_finding(h, report.source, level.level, each));
        out.complete = out.complete && level.all->complete;
      } else {
        out.findings.push_back(finding);
      }
    }
    out.cases.push_back(std::move(one));
  }
  return out;
}

Findings predict_findings(const PredictReport& report) {
  Findings out{.command = "predict", .source = report.source};
  FindingCase one{.name = printable(report.level),
                  .outcome = report.answer.outcome,
                  .message = report.answer.limit,
                  .seconds = report.seconds};
  // With fewer than were asked for, these are all of them.
  if (!report.answer.predictions.empty()) out.complete = report.answer.is_complete;
  for (const predict::Prediction& prediction : report.answer.predictions) {
    const Violation& v = *prediction.unserializable.verdict.violation;
    Finding finding = violation_finding(prediction.history, report.source, report.level, v);
    finding.message = fmt::format("{} allows a run that no serial order explains: {}",
                                  printable(report.level), explanation(prediction.history, v));
    if (one.message.empty()) one.message = finding.message;
    one.details += finding.message + "\n";
    out.findings.push_back(std::move(finding));
  }
  out.cases.push_back(std::move(one));
  return out;
}

Findings audit_findings(const AuditReport& report) {
  Findings out{.command = "audit", .source = report.source};
  FindingCase one{.name = report.problem.levels.base->name,
                  .outcome = header_of(report).outcome,
                  .message = report.answer.limit,
                  .seconds = report.seconds};
  for (const audit::FoundAnomaly& anomaly : report.answer.search.anomalies) {
    out.findings.push_back(anomaly_finding(report, anomaly));
    one.message = out.findings.front().message;
    one.details += out.findings.back().message + "\n";
  }
  for (std::size_t i = 0; report.claims && i < report.claims->claims.size(); ++i) {
    if (report.claims->claims[i].outcome != audit::ClaimOutcome::Broken) continue;
    out.findings.push_back(claim_finding(report, report.claim_texts[i]));
    one.message = out.findings.front().message;
    one.details += out.findings.back().message + "\n";
  }
  if (report.small_runs) {
    for (const audit::SmallAnomaly& anomaly : report.small_runs->anomalies) {
      const std::string what = small_headline(report, anomaly);
      Finding finding{.rule = rule_of(""),
                      .message = fmt::format("{} at {}: they end as no serial order of them does",
                                             what, report.problem.levels.base->name),
                      .place = {.file = report.source},
                      .identity = report.problem.levels.base->name + "\n" + what};
      one.message = finding.message;
      one.details += finding.message + "\n";
      out.findings.push_back(std::move(finding));
    }
  }
  // Of anomalies, a limit says that others may not have been found.
  if (!out.findings.empty()) out.complete = report.answer.limit.empty();
  out.limit = report.answer.limit;
  out.cases.push_back(std::move(one));
  add_cut_cases(out, report);
  return out;
}

}  // namespace isoscope
