#pragma once
// The answer of `stress`, for people, for programs and as a page: what the clients did, and what
// check says of what they saw.
//
// A commit that a client was told of and that is gone is wrong at every level: the answer is then
// violated, whatever check says of the history that is left.
#include <map>
#include <string>
#include <vector>

#include "force/stress.h"
#include "report/check_report.h"

namespace isoscope {

struct StressReport {
  const force::StressRun& run;
  CheckReport checked;                            // of one level; the source is the server's level
  std::map<std::string, std::size_t> calls = {};  // of an application: by function
  std::vector<std::string> notes = {};
};

// Violated if the level is, or if commits are lost.
Header header_of(const StressReport& report);

// The numbers of the run in a line, lost commits, then what check says.
std::string stress_text(const StressReport& report, const Paint& paint);
// The object of check with the command and the answer of this one, and the numbers of the run.
std::string stress_json(const StressReport& report);
Page stress_page(const StressReport& report);
// With a case of its own for lost commits.
Findings stress_findings(const StressReport& report);

// Committed transactions in a second.
double throughput(const force::StressNumbers& numbers);

}  // namespace isoscope
