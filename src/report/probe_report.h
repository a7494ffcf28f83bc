#pragma once
// The answer of `probe`: a table of anomalies by declared level, and what the levels amount to.
#include <string>

#include "force/probe.h"
#include "report/paint.h"

namespace isoscope {

// kept, broken, or unknown if a limit was reached before anything broke.
std::string_view verdict_of(const force::ProbeAnswer& answer);
std::string probe_text(const force::ProbeAnswer& answer, const Paint& paint);
std::string probe_json(const force::ProbeAnswer& answer, double seconds);

}  // namespace isoscope
