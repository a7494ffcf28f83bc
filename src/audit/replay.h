#pragma once
// Runs a scenario, and says whether some serial order explains it.
//
// The calls run in the order of ar, each on the last visible versions
// ([NagarJagannathan-CONCUR'18], Appendix B: E-SPAWN builds the view, E-COMMIT extends vis and ar).
// The same calls then run one after the other in every order. A scenario is
//
//   observable   if its results or its final state differ from those of every serial order,
//   view-only    if some serial order has the same results and final state, but in each of those
//                some statement finds other rows or other values in them,
//   spurious     if a serial order has all of it, or if the run is not what the model said: a call
//                aborts, or the level does not allow it,
//   undecided    if a call, in the run or in a serial order that decides, takes more steps than
//                we run.
//
// That the level allows the run is decided by the arbiter of all levels (spec/evaluate.h), on the
// run as a history.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/open_world.h"
#include "audit/scenario.h"
#include "history/execution.h"
#include "sql/interpreter.h"

namespace isoscope::audit {

enum class Label : std::uint8_t { Observable, ViewOnly, Spurious, Undecided };
std::string_view name_of(Label label);  // "view-only"

struct LocationKey {
  sql::TableId table;
  sql::RowKey row;
  std::uint32_t column = 0;  // or kPresence; or kUniqueEntry + i, with the entry for the row
  friend auto operator<=>(const LocationKey&, const LocationKey&) = default;
};
// "account[1].balance"; "account[1]" for whether it is there; "account unique (email)['x']"
std::string print(const sql::Application& app, const LocationKey& location);

// What one call did.
struct CallTrace {
  sql::CallResult result;
  std::map<LocationKey, sql::Value> reads;  // external ones
  std::map<LocationKey, sql::Value> writes;
  std::map<LocationKey, std::optional<std::size_t>> read_from;      // the call; nothing: the start
  std::set<std::pair<sql::TableId, sql::RowKey>> matched;           // rows that met a WHERE
  std::map<std::pair<sql::TableId, sql::RowKey>, sql::Lock> locks;  // the strongest of each row
};

struct ReplayEdge {
  std::size_t from = 0;  // calls
  std::size_t to = 0;
  EdgeKind kind = EdgeKind::Wr;
  LocationKey at;
};

struct Replay {
  Label label = Label::Spurious;
  std::string why;                // for people: what differs, or why it is no anomaly
  std::vector<CallTrace> traces;  // by call of the scenario
  std::vector<ReplayEdge> edges;  // between calls of the cycle, one for each location
  std::vector<ReplayEdge> cycle;  // a shortest one; empty if there is none
  // Rows at the start that some call looks at, in the run or in a serial order of it.
  std::vector<std::size_t> rows_that_matter;
};

// Nothing if the budget is over before the scenario has its label.
std::optional<Replay> replay(const Problem& problem, const Scenario& scenario, Budget& budget);

// The run as a history, one session a call, with its witness; for `check` and for the arbiter. With
// `observe_end`, one more transaction, `end`, reads the final state: histories have no other way to
// tell who wrote last. It is the last because every call writes a key, done, that it reads.
struct ReplayHistory {
  std::unique_ptr<History> history;
  Witness witness;
};
std::optional<ReplayHistory> to_history(const Problem& problem, const Scenario& scenario,
                                        const std::vector<CallTrace>& traces, bool observe_end);

}  // namespace isoscope::audit
