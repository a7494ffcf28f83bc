#pragma once
// Random clients that call the functions of an SQL application, and the recorded history of it.
//
// The application is loaded into a schema of its own. Every transaction is one call, with arguments
// out of what the application itself mentions: values of its rows at the start, arguments of its
// sessions, small numbers, and now and then a new one. What its functions do inside is recorded as
// `force` does it (inner_statements.h): what they read comes from the server's log, so nothing is
// asked of the application. What cannot be recorded is a gap, and a run with gaps is never
// consistent.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "force/app_calls.h"
#include "force/stress.h"

namespace isoscope::force {

struct AppStressOptions {
  std::string dsn;
  std::string isolation;  // of functions without a level of their own: "READ COMMITTED"
  std::size_t clients = 8;
  std::size_t txns = 1'000;
  double seconds = 0;  // stop after so long; 0: no limit
  std::size_t keys = 10;
  std::uint64_t seed = 0;
  Budget budget = {};
  std::function<void(const StressNumbers&, double fraction)> progress = {};
};

struct AppStressRun {
  std::string product;
  StressNumbers numbers = {};
  std::map<std::string, std::size_t> calls = {};  // that committed, by function
  std::vector<std::string> left_out = {};         // functions that cannot be called, and why
  // The history in the format jsonl, as a recording has it; `fine`: without coarse reads, empty if
  // there are none.
  std::string text = {};
  std::string fine = {};
  // Of each transaction of the history, by its id (T1, …): the call.
  std::map<std::string, std::string> call_of = {};
  bool was_cut = false;
};

Result<AppStressRun> stress_app(const sql::Application& app, const std::string& text,
                                const AppStressOptions& options);

// The application with these calls as sessions, one each: what `force` plays.
std::string app_with_sessions(std::string_view text, const std::vector<std::string>& calls);

}  // namespace isoscope::force
