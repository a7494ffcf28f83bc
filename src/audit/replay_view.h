#pragma once
// Versions of all locations while a scenario runs, and what one call sees of them.
//
// A View is the database of one call: it answers from the last visible version, in the order of ar,
// and writes down every access. Reads of what never changes are no accesses.
#include <map>
#include <set>
#include <vector>

#include "audit/replay.h"
#include "sql/run/changes.h"

namespace isoscope::audit {

// As far as calls have run.
struct Versions {
  std::map<LocationKey, sql::Value> initial;
  std::set<std::pair<sql::TableId, sql::RowKey>> rows;  // that anybody ever had
  Traces traces;
  std::vector<ScenarioCallId> order;  // calls that have run, in the order of ar
  std::set<std::pair<sql::TableId, sql::RowKey>> touched;  // rows that a call looked at or changed
  std::string why_stopped = {};                            // why a call is beyond what we run
};

sql::RowKey key_of(const sql::Table& table, const sql::InitialRow& row);

// Before any call.
Versions start_of(const Problem& problem, const Scenario& scenario);

// Runs a call on what it sees, after those that have run. A call that takes a snapshot for each
// statement has `snapshots`, by moment, how many of those that have run are in it; all of them
// where that is null. False if it is beyond what we run, or the budget is over.
bool run_call(const Problem& problem, const Scenario& scenario, ScenarioCallId call,
              const ById<ScenarioCallId, bool>& sees, const std::vector<std::size_t>* snapshots,
              const sql::Changes& changes, Versions& versions, Budget& budget);

}  // namespace isoscope::audit
