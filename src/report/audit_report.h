#pragma once
// The answer of `audit`, for people, for programs and as a page.
#include <optional>
#include <string>
#include <vector>

#include "audit/advise.h"
#include "audit/audit.h"
#include "audit/claims.h"
#include "audit/small_runs.h"
#include "audit/subsets.h"
#include "report/findings.h"
#include "report/header.h"
#include "report/page.h"
#include "report/paint.h"

namespace isoscope {

struct AuditReport {
  const audit::Problem& problem;
  std::string source;  // the file, for people
  audit::AuditOptions options;
  audit::AuditReport answer = {};
  std::optional<audit::Advice> advice = {};  // with --advise
  // With --subsets: as they are, and with reads promoted to FOR UPDATE.
  std::optional<audit::Subsets> subsets = {};
  std::optional<audit::Subsets> promoted = {};
  // What the file claims of its rows, and what became of it at a server's levels.
  std::vector<sql::RowAssertion> claim_texts = {};
  std::optional<audit::ClaimsReport> claims = {};
  // With --server mariadb, in place of a search: small runs by the server's semantics.
  std::optional<audit::SmallRunsReport> small_runs = {};
  double seconds = 0;
};

Header header_of(const AuditReport& report);

// Of all that was asked: where the audit is good, advice or sets that were cut short are not.
Outcome overall(const AuditReport& report);

// The verdict in one line; then each anomaly as a run: the rows at the start, the calls in the
// order of arbitration with what they see and return, the cycle, one edge a line. Or how far the
// search went, the steps of the proof, what stopped it; and the advice.
std::string audit_text(const AuditReport& report, const Paint& paint);

// One JSON object, as docs/design.md fixes it.
std::string audit_json(const AuditReport& report);

// For pictures and pages: each anomaly as a run with its cycle, the levels and the repairs.
Page audit_page(const AuditReport& report);

// For continuous integration: a finding for each anomaly, with the places of the statements.
Findings audit_findings(const AuditReport& report);

// The run of the first anomaly as a history, for `check`; nothing if there is no anomaly.
std::optional<History> audit_history(const AuditReport& report);

}  // namespace isoscope
