#pragma once
// A concrete run: calls with arguments, the rows at the start, who sees whom.
//
// The calls of the prefix run one after the other, and everybody sees them; they make the rows
// that the others need. Then come the calls of the cycle, each on the view that vis and ar give
// it. This is what the solver's model becomes and what the interpreter runs.
#include <string>
#include <vector>

#include "sql/application.h"

namespace isoscope::audit {

struct ScenarioCall {
  sql::FunctionId function = {};
  std::vector<sql::Value> arguments;
};

struct Scenario {
  std::vector<sql::InitialRow> rows;
  std::vector<ScenarioCall> calls;  // the prefix first, in its order
  std::size_t prefix = 0;           // how many of the calls
  std::vector<std::size_t> ar;      // all calls, in this order; the prefix first
  // By call: which others it sees. Contains the whole prefix, and is contained in ar.
  std::vector<std::vector<bool>> sees;
  // By call: where each statement takes a snapshot, how many calls, in the order of ar, are in that
  // of each moment that the call comes to (moments.h). Then `sees` is what all of them contain.
  // Empty where there is one snapshot.
  std::vector<std::vector<std::size_t>> snapshots = {};
};

// "withdraw(1, 60)"
std::string print(const sql::Application& app, const ScenarioCall& call);
// "account (acc_id 1, balance 100)"
std::string print(const sql::Application& app, const sql::InitialRow& row);

}  // namespace isoscope::audit
