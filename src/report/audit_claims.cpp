#include "report/audit_claims.h"

#include <fmt/format.h>

#include "report/plural.h"
#include "report/server_story.h"
#include "support/printable.h"

namespace isoscope {
namespace {

using audit::ClaimOutcome;
using audit::ClaimResult;

// The run as `explore` and `run` tell it.
ServerProgram told(const AuditReport& report, const audit::SmallRun& run,
                   const std::vector<sql::RowAssertion>& claims) {
  return {.machine = *run.machine, .claims = claims, .source = report.source, .level = {}};
}

const std::vector<sql::RowAssertion> kNoClaims;

std::string claim_name(const sql::RowAssertion& claim) {
  return fmt::format("{} of line {}", claim.is_invariant ? "invariant" : "assertion",
                     claim.place.line);
}

std::string run_text(const AuditReport& report, const audit::SmallRun& run, const ServerProgram& on,
                     const std::vector<sql::server::Choice>& schedule, const Paint& paint) {
  std::string out = "rows at the start\n";
  for (const sql::InitialRow& row : run.rows)
    out += "  " + printable(audit::print(report.problem.app, row)) + "\n";
  if (run.rows.empty()) out += "  none\n";
  out += "calls\n";
  for (std::size_t c = 0; c < run.calls.size(); ++c) {
    const audit::ScenarioCall& call = run.calls[c];
    out += fmt::format("  {}  {} at {}\n", call_text(on, CallId{static_cast<std::uint32_t>(c)}),
                       printable(audit::print(report.problem.app, call)),
                       report.problem.levels.of(call.function).name);
  }
  out += "statements and commits, in this order\n";
  return out + story_text(on, story_of(on, schedule, schedule.size()), paint);
}

std::string broken_run_text(const AuditReport& report, const ClaimResult& result,
                            const sql::RowAssertion& claim, const Paint& paint) {
  const std::vector<sql::RowAssertion> claims = {claim};
  const ServerProgram on = told(report, *result.run, claims);
  return run_text(report, *result.run, on, result.schedule, paint) +
         broken_text(on, result.broken, paint);
}

// The run as JSON: its start, calls and schedule go into `one`.
void add_run(const AuditReport& report, const audit::SmallRun& run, const ServerProgram& on,
             const std::vector<sql::server::Choice>& schedule, Json& one) {
  Json start = Json::array();
  for (const sql::InitialRow& row : run.rows)
    start.push_back(audit::print(report.problem.app, row));
  Json calls = Json::array();
  for (const audit::ScenarioCall& call : run.calls)
    calls.push_back({{"call", audit::print(report.problem.app, call)},
                     {"level", report.problem.levels.of(call.function).name}});
  one["start"] = std::move(start);
  one["calls"] = std::move(calls);
  one["schedule"] = story_json(on, story_of(on, schedule, schedule.size()));
}

}  // namespace

std::string claims_text(const AuditReport& report, const Paint& paint) {
  std::string out;
  if (!report.claims)
    return fmt::format("{} about rows: not tried, {} is no level of a server\n",
                       plural(report.claim_texts.size(), "claim", "claims"),
                       report.problem.levels.base->name);
  for (std::size_t i = 0; i < report.claims->claims.size(); ++i) {
    const ClaimResult& result = report.claims->claims[i];
    const sql::RowAssertion& claim = report.claim_texts[i];
    switch (result.outcome) {
      case ClaimOutcome::Kept: break;
      case ClaimOutcome::Untried:
        out += fmt::format(
            "{}: not tried, as no small run starts with rows that meet it and keeps it call by "
            "call\n",
            paint.unsure(claim_name(claim)));
        break;
      case ClaimOutcome::Broken:
        out +=
            fmt::format("\n{}: {}, which the same calls keep one after the other, in every order\n",
                        paint.bad("broken"), claim_name(claim));
        out += broken_run_text(report, result, claim, paint);
        break;
      case ClaimOutcome::BrokenByCall:
        out += fmt::format("\n{} does not hold in this program: a single call breaks it\n",
                           paint.unsure(claim_name(claim)));
        out += broken_run_text(report, result, claim, paint);
        break;
    }
  }
  std::size_t kept = 0;
  std::size_t runs = 0;
  for (const ClaimResult& result : report.claims->claims) {
    if (result.outcome != ClaimOutcome::Kept) continue;
    ++kept;
    runs += result.runs;
  }
  if (kept == 0) return out;
  const std::string what = plural(kept, "claim", "claims");
  if (report.answer.outcome == audit::AuditOutcome::Serializable) {
    out +=
        fmt::format("{} about rows: kept by every execution if by each call alone, which {} did\n",
                    what, plural(runs, "small run", "small runs"));
  } else {
    out += fmt::format("{} about rows: not broken by {}, which is no proof\n", what,
                       plural(runs, "small run", "small runs"));
  }
  if (!report.claims->is_complete)
    out += "the time limit was reached before all small runs were tried\n";
  return out;
}

Json claims_json(const AuditReport& report) {
  Json claims = Json::array();
  for (std::size_t i = 0; i < report.claims->claims.size(); ++i) {
    const ClaimResult& result = report.claims->claims[i];
    const std::vector<sql::RowAssertion> claim = {report.claim_texts[i]};
    Json one{{"assertion", claim[0].text},
             {"line", claim[0].place.line},
             {"invariant", claim[0].is_invariant}};
    switch (result.outcome) {
      case ClaimOutcome::Kept: one["outcome"] = "kept"; break;
      case ClaimOutcome::Untried: one["outcome"] = "untried"; break;
      case ClaimOutcome::Broken: one["outcome"] = "broken"; break;
      case ClaimOutcome::BrokenByCall: one["outcome"] = "broken by a call"; break;
    }
    if (result.run) {
      const ServerProgram on = told(report, *result.run, claim);
      add_run(report, *result.run, on, result.schedule, one);
      one["rows"] = broken_json(on, result.broken)["rows"];
    }
    claims.push_back(std::move(one));
  }
  return {{"claims", std::move(claims)},
          {"runs", report.claims->runs},
          {"complete", report.claims->is_complete}};
}

std::string small_headline(const AuditReport& report, const audit::SmallAnomaly& anomaly) {
  std::string out;
  const std::vector<sql::FunctionId>& functions = anomaly.functions;
  for (std::size_t i = 0; i < functions.size();) {
    std::size_t same = i;
    while (same < functions.size() && functions[same] == functions[i]) ++same;
    const std::string name = printable(report.problem.app.function(functions[i]).name);
    if (i > 0) out += same == functions.size() ? " and " : ", ";
    out += same - i == 1 ? "a call of " + name : fmt::format("{} calls of {}", same - i, name);
    i = same;
  }
  return out;
}

std::string small_runs_text(const AuditReport& report, const Paint& paint) {
  const audit::SmallRunsReport& runs = *report.small_runs;
  std::string out;
  for (std::size_t i = 0; i < runs.anomalies.size(); ++i) {
    const audit::SmallAnomaly& anomaly = runs.anomalies[i];
    if (runs.anomalies.size() > 1)
      out += fmt::format("\n{} {}: {}\n", paint.strong("anomaly"), i + 1,
                         small_headline(report, anomaly));
    const ServerProgram on = told(report, anomaly.run, kNoClaims);
    out += run_text(report, anomaly.run, on, anomaly.schedule, paint);
    out += "rows at the end\n";
    sql::server::State state = on.machine.start();
    for (const sql::server::Choice& choice : anomaly.schedule) on.machine.take(state, choice);
    for (const sql::TableId table : changing_tables(on)) {
      for (const auto& values : on.machine.committed_rows(state, table))
        out += "  " + row_text(on, {table, values}) + "\n";
    }
  }
  out += fmt::format("tried: {} of 2 to {} calls, each in all its schedules; nothing is proved\n",
                     plural(runs.runs, "small run", "small runs"), runs.max_calls);
  return out;
}

Json small_runs_json(const AuditReport& report) {
  const audit::SmallRunsReport& runs = *report.small_runs;
  Json anomalies = Json::array();
  for (const audit::SmallAnomaly& anomaly : runs.anomalies) {
    Json one{{"what", small_headline(report, anomaly)}};
    Json functions = Json::array();
    for (const sql::FunctionId f : anomaly.functions)
      functions.push_back(report.problem.app.function(f).name);
    one["functions"] = std::move(functions);
    add_run(report, anomaly.run, told(report, anomaly.run, kNoClaims), anomaly.schedule, one);
    anomalies.push_back(std::move(one));
  }
  return {{"anomalies", std::move(anomalies)},
          {"runs", runs.runs},
          {"calls", runs.max_calls},
          {"complete", runs.is_complete}};
}

}  // namespace isoscope
