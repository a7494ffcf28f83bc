#pragma once
// What became of the claims about rows, in the answer of `audit`.
#include <string>

#include "report/audit_report.h"
#include "report/json.h"

namespace isoscope {

// Each broken claim with the rows that break it, and the run: rows at the start, calls, statements.
std::string claims_text(const AuditReport& report, const Paint& paint);
// Requires: they were tried.
Json claims_json(const AuditReport& report);

// Small runs that no serial order explains: "2 calls of sell", the run, and what was tried.
std::string small_headline(const AuditReport& report, const audit::SmallAnomaly& anomaly);
// Requires: they were tried.
std::string small_runs_text(const AuditReport& report, const Paint& paint);
Json small_runs_json(const AuditReport& report);

}  // namespace isoscope
