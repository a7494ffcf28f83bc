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
ServerProgram told(const AuditReport& report, const ClaimResult& result,
                   const std::vector<sql::RowAssertion>& claim) {
  return {.machine = *result.run->machine, .claims = claim, .source = report.source, .level = {}};
}

std::string claim_name(const sql::RowAssertion& claim) {
  return fmt::format("{} of line {}", claim.is_invariant ? "invariant" : "assertion",
                     claim.place.line);
}

std::string run_text(const AuditReport& report, const ClaimResult& result,
                     const sql::RowAssertion& claim, const Paint& paint) {
  const std::vector<sql::RowAssertion> claims = {claim};
  const ServerProgram on = told(report, result, claims);
  std::string out = "rows at the start\n";
  for (const sql::InitialRow& row : result.run->rows)
    out += "  " + printable(audit::print(report.problem.app, row)) + "\n";
  if (result.run->rows.empty()) out += "  none\n";
  out += "calls\n";
  for (std::size_t c = 0; c < result.run->calls.size(); ++c) {
    const audit::ScenarioCall& call = result.run->calls[c];
    out += fmt::format("  {}  {} at {}\n", call_text(on, static_cast<std::uint32_t>(c)),
                       printable(audit::print(report.problem.app, call)),
                       report.problem.levels.of(call.function).name);
  }
  out += "statements and commits, in this order\n";
  out += story_text(on, story_of(on, result.schedule, result.schedule.size()), paint);
  out += broken_text(on, result.broken, paint);
  return out;
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
      case ClaimOutcome::Kept:
        break;
      case ClaimOutcome::Broken:
        out +=
            fmt::format("\n{}: {}, which the same calls keep one after the other, in every order\n",
                        paint.bad("broken"), claim_name(claim));
        out += run_text(report, result, claim, paint);
        break;
      case ClaimOutcome::BrokenByCall:
        out += fmt::format("\n{} is none of this program: one call breaks it\n",
                           paint.unsure(claim_name(claim)));
        out += run_text(report, result, claim, paint);
        break;
    }
  }
  std::size_t kept = 0;
  for (const ClaimResult& result : report.claims->claims)
    kept += result.outcome == ClaimOutcome::Kept ? 1 : 0;
  if (kept == 0) return out;
  const std::string what = plural(kept, "claim", "claims");
  if (report.answer.outcome == audit::AuditOutcome::Serializable) {
    out +=
        fmt::format("{} about rows: kept by every execution if by each call alone, which {} did\n",
                    what, plural(report.claims->runs, "small run", "small runs"));
  } else {
    out += fmt::format("{} about rows: not broken by {}, which is no proof\n", what,
                       plural(report.claims->runs, "small run", "small runs"));
  }
  if (!report.claims->is_complete) out += "the time was over before all small runs were tried\n";
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
      case ClaimOutcome::Kept:
        one["outcome"] = "kept";
        break;
      case ClaimOutcome::Broken:
        one["outcome"] = "broken";
        break;
      case ClaimOutcome::BrokenByCall:
        one["outcome"] = "broken by a call";
        break;
    }
    if (result.run) {
      const ServerProgram on = told(report, result, claim);
      Json start = Json::array();
      for (const sql::InitialRow& row : result.run->rows)
        start.push_back(audit::print(report.problem.app, row));
      Json calls = Json::array();
      for (const audit::ScenarioCall& call : result.run->calls)
        calls.push_back({{"call", audit::print(report.problem.app, call)},
                         {"level", report.problem.levels.of(call.function).name}});
      one["start"] = std::move(start);
      one["calls"] = std::move(calls);
      one["schedule"] = story_json(on, story_of(on, result.schedule, result.schedule.size()));
      one["rows"] = broken_json(on, result.broken)["rows"];
    }
    claims.push_back(std::move(one));
  }
  return {{"claims", std::move(claims)},
          {"runs", report.claims->runs},
          {"complete", report.claims->is_complete}};
}

}  // namespace isoscope
