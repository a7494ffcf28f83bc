#pragma once
// A concrete run: calls with arguments, the rows at the start, who sees whom.
//
// The calls of the prefix run one after the other, visible to all others; they make the rows
// that those need. Then come the calls of the cycle, each on the view that vis and ar give
// it. This is what the solver's model becomes and what the interpreter runs.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sql/application.h"
#include "support/by_id.h"

namespace isoscope::audit {

using ScenarioCallId = Id<struct ScenarioCallTag>;

// A call draws its fresh values (of sequences, and made-up keys) from a range of its own, the same
// in every order of the calls.
constexpr std::int64_t kFreshPerCall = 1000;

struct ScenarioCall {
  sql::FunctionId function = {};
  std::vector<sql::Value> arguments;
  // The first of them; without it, that of the place of the call in the scenario.
  std::optional<std::int64_t> first_fresh = {};
};

struct Scenario {
  std::vector<sql::InitialRow> rows;
  ById<ScenarioCallId, ScenarioCall> calls;  // the prefix first, in its order
  std::size_t prefix = 0;                    // how many of the calls
  std::vector<ScenarioCallId> ar;            // all calls, in this order; the prefix first
  // Which others a call sees. Contains the whole prefix, and is contained in ar.
  ById<ScenarioCallId, ById<ScenarioCallId, bool>> sees;
  // Where each statement takes a snapshot, how many calls, in the order of ar, are in that
  // of each moment that the call comes to (moments.h). Then `sees` is what all of them contain.
  // Empty where there is one snapshot.
  ById<ScenarioCallId, std::vector<std::size_t>> snapshots = {};

  bool prepares(ScenarioCallId call) const { return call.index < prefix; }
  // The calls behind the prefix.
  IdRange<ScenarioCallId> of_cycle() const {
    return {static_cast<std::uint32_t>(prefix), static_cast<std::uint32_t>(calls.size())};
  }
};

// "withdraw(1, 60)"
std::string print(const sql::Application& app, const ScenarioCall& call);
// "account (acc_id 1, balance 100)"
std::string print(const sql::Application& app, const sql::InitialRow& row);

}  // namespace isoscope::audit
