#pragma once
// Runs of a few calls on small rows, in all their schedules, on a server of which the formulas have
// no model: MariaDB.
//
// Every run is executed by the server's semantics (sql/server/machine.h). One that ends as the same
// calls do in no serial order, in its rows or in the variables of its calls, is an anomaly. That
// none was found proves nothing.
#include <vector>

#include "audit/claims.h"
#include "audit/model_notes.h"

namespace isoscope::audit {

struct SmallAnomaly {
  std::vector<sql::FunctionId> functions;  // sorted
  SmallRun run;
  std::vector<sql::server::Choice> schedule;
};

struct SmallRunsReport {
  std::vector<SmallAnomaly> anomalies;  // one for each set of functions
  std::size_t runs = 0;                 // small instances that were run
  std::size_t max_calls = 0;
  bool is_complete = true;  // false: the budget was over
};

struct SmallRunsOptions {
  std::size_t max_calls = 3;
  bool all = false;  // else the search ends with the first anomaly
};

// Takes out the functions that cannot be executed as MariaDB does, and says why; the others get
// notes on what may mean another thing there.
std::vector<Refused> remove_refused_by_innodb(sql::Application& app);

// Requires: levels of a server.
SmallRunsReport search_small_runs(const Problem& problem, const SmallRunsOptions& options,
                                  Budget& budget);

}  // namespace isoscope::audit
