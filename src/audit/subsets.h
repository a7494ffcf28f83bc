#pragma once
// Which functions are serializable together, and how low their levels may be.
//
// A set of functions is serializable together at the given levels if every execution of calls of
// these functions alone is. Less functions do less, so a set with one that is not proved is not
// tried: sets grow one function at a time, from those whose subsets are all proved.
//
// Paper    [VandevoortKetsmanKochNeven-VLDB'21] asks the same of templates at multiversion Read
//          Committed: robust subsets. Here the proof is of SQL at the levels of PostgreSQL.
#include <cstdint>
#include <string>
#include <vector>

#include "audit/advise.h"

namespace isoscope::audit {

struct Subsets {
  using Functions = std::vector<sql::FunctionId>;  // ascending
  std::vector<Functions> together;                 // proved, and as large as can be
  struct Bad {
    Functions functions;
    AuditOutcome outcome = AuditOutcome::Unknown;  // Anomaly, or there is no proof
  };
  std::vector<Bad> apart;                      // as small as can be
  ById<sql::FunctionId, const Level*> lowest;  // as Advice::levels
  bool is_complete = true;                     // false: the budget was over
  std::string limit;                           // then: what ended it
};

// `levels` from the weakest to the strongest, for `lowest`. Bad sets are looked at for anomalies of
// up to options.max_length calls.
Subsets find_subsets(const Problem& problem, const std::vector<const Level*>& levels,
                     const AuditOptions& options, Budget& budget);

// The application with FOR UPDATE at every SELECT of rows that can have it.
sql::Application with_promoted_reads(const sql::Application& app);

}  // namespace isoscope::audit
