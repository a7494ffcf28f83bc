#pragma once
// The answers of `explore` and `run` about an SQL program on PostgreSQL: counts, the rows that
// break a claim, and the schedule that leads there, statement by statement.
#include <optional>
#include <string>
#include <vector>

#include "report/header.h"
#include "report/page.h"
#include "report/paint.h"
#include "sql/server/schedules.h"

namespace isoscope {

struct ServerProgram {
  const sql::server::Machine& machine;
  const std::vector<sql::RowAssertion>& claims;
  std::string source;  // the file, for people
  std::string level;   // "pg-rc", or "pg-rc, pg-ser" where calls differ
  // What the program does and the model does not: nothing is claimed to be complete then.
  std::vector<sql::Note> gaps = {};
};

struct ServerExploreReport {
  ServerProgram on;
  sql::server::Schedules all;
  bool wants_outcomes = false;
  bool stopped_early = false;  // with --assert-only
  double seconds = 0;
};
// complete, violated or unknown.
Header header_of(const ServerExploreReport& report);
std::string server_explore_text(const ServerExploreReport& report, const Paint& paint);
std::string server_explore_json(const ServerExploreReport& report);
// The violating schedules, statement by statement; with outcomes a table of them.
Page server_explore_page(const ServerExploreReport& report);
// One line of --histories, as at the other levels (explore_report.h), with the schedule besides.
Result<std::string> server_history_line(const ServerProgram& on, const sql::server::State& state,
                                        const std::vector<sql::server::Choice>& schedule,
                                        std::uint64_t number, bool violates);

struct ServerRuns {
  std::uint64_t runs = 0;
  std::uint64_t failed = 0;          // a claim was broken
  std::uint64_t unserializable = 0;  // no serial order of the calls ends like this
  std::uint64_t undecided = 0;       // not known whether one does
  std::uint64_t with_aborts = 0;     // the server ended a call: 40001, 40P01, 55P03
  std::optional<std::uint64_t> first_failed = {};
  std::optional<std::uint64_t> first_unserializable = {};
  std::optional<sql::server::RandomRun> shown = {};
  std::uint64_t shown_seed = 0;
  bool is_expired = false;
};
struct ServerRunReport {
  ServerProgram on;
  ServerRuns runs;
  std::uint64_t seed = 0;
  std::uint64_t wanted_runs = 1;
  std::string trace_file = {};
  double seconds = 0;
};
// ok, violated or unknown.
Header header_of(const ServerRunReport& report);
std::string server_run_text(const ServerRunReport& report, const Paint& paint);
std::string server_run_json(const ServerRunReport& report);
Page server_run_page(const ServerRunReport& report);
// "alice[1] commits: total = 100"
std::string call_end_text(const ServerProgram& on, CallId call, const sql::server::CallEnd& end);

}  // namespace isoscope
