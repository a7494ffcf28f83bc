#pragma once
// Forces the calls of an SQL application to interleave on the server, statement by statement.
//
// The application is loaded into a schema of its own, with gates (gates.h) between the statements
// of its functions, and dropped again. Each call of its sessions is a transaction on a connection
// of its own; a call starts when the one before it in its session has ended. Schedules are tried
// with the fewest switches between calls first, since most races need one or two, until one goes
// wrong. That is stronger than one schedule read off a prediction: *prevented* means that every
// schedule that was tried is harmless, and the answer says whether these were all.
//
// The judge is the recorded history of the run (inner_statements.h), the second witness are the
// serial orders, which the server plays too; they decide where functions cannot be recorded.
#include "force/app_calls.h"
#include "force/forcing.h"
#include "sql/application.h"

namespace isoscope::force {

struct AppForceOptions {
  std::string dsn;
  std::string isolation;  // "REPEATABLE READ": of calls without a level of their own
  // Names of calls ("alice[1]") to play; empty: all.
  std::vector<std::string> only = {};
  std::size_t most_schedules = 1'000;
  std::size_t times = 1;  // of the schedule that went wrong
  Budget budget = {};
  Progress progress = {};
};

struct AppForceAnswer {
  Spec spec;  // the calls as sessions, for reports
  ForceAnswer answer;
};

// `text` is the file that `app` was read from.
Result<AppForceAnswer> force_app(const sql::Application& app, const std::string& text,
                                 const AppForceOptions& options);

}  // namespace isoscope::force
