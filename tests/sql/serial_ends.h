#pragma once
// How the calls of an SQL program may end: one after the other, in all orders that keep the
// sessions, on a plain database; and explored at a level.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "explore/explore.h"
#include "spec/levels.h"
#include "sql/run/memory_database.h"
#include "sql/run/program.h"

namespace isoscope::sql {

// By call: what it returned, or that it aborted.
using Ends = std::vector<std::string>;

inline void run_serially(const Application& app, const MemoryDatabase& database,
                         std::vector<std::size_t>& next, std::vector<Ends>& ends,
                         std::set<Ends>& all) {
  bool is_over = true;
  for (std::size_t s = 0; s < app.sessions.size(); ++s) {
    if (next[s] == app.sessions[s].calls.size()) continue;
    is_over = false;
    const SessionCall& call = app.sessions[s].calls[next[s]];
    MemoryDatabase after = database;
    const auto result = run_call(app, app.function(call.function), call.arguments, after);
    ASSERT_TRUE(result.ok()) << result.error().what;
    ends[s].push_back(result->committed ? print(result->returned.front()) : "aborted");
    ++next[s];
    run_serially(app, result->committed ? after : database, next, ends, all);
    --next[s];
    ends[s].pop_back();
  }
  if (!is_over) return;
  Ends flat;
  for (const Ends& session : ends) flat.insert(flat.end(), session.begin(), session.end());
  all.insert(flat);
}

inline std::set<Ends> serial_ends(const Application& app) {
  std::set<Ends> all;
  std::vector<std::size_t> next(app.sessions.size());
  std::vector<Ends> ends(app.sessions.size());
  run_serially(app, MemoryDatabase(app), next, ends, all);
  return all;
}

inline std::set<Ends> explored_ends(SqlProgram& program, std::string_view level_name) {
  const LevelSet levels = LevelSet::built_in();
  const auto level = levels.find(level_name);
  const auto plan =
      explore::make_plan(program, **level, levels, explore::Algorithm::Best, std::nullopt);
  std::set<Ends> all;
  const auto done = explore::explore(
      program, *plan, {.on_history = [&](const store::Recording& run) {
        Ends ends;
        for (const CallId call : run.txns.ids()) {
          const store::RecordedTxn& txn = run.txns[call];
          ends.push_back(txn.is_committed ? program.print_local(call, 0, txn.locals[0])
                                          : "aborted");
        }
        all.insert(ends);
      }});
  EXPECT_FALSE(done.fault) << done.fault->error.what;
  return all;
}

}  // namespace isoscope::sql
