#pragma once
// The answer of `probe`: a table of anomalies by declared level, and what the levels amount to.
#include <string>

#include "force/probe.h"
#include "report/findings.h"
#include "report/page.h"
#include "report/paint.h"

namespace isoscope {

std::string_view level_verdict(const force::ProbedLevel& level);
std::string probe_text(const force::ProbeAnswer& answer, const Paint& paint);
std::string probe_json(const force::ProbeAnswer& answer, double seconds);
// The table, with a run for each anomaly that is possible.
Page probe_page(const force::ProbeAnswer& answer);
// A case for each declared level, which fails if its promise is broken.
Findings probe_findings(const force::ProbeAnswer& answer, double seconds);
// "possible", or what stood in the way: "blocks, 40001".
std::string cell_text(const force::ProbeCell& cell);

}  // namespace isoscope
