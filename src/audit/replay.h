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
//                we run, or if it is not known whether SERIALIZABLE of the server lets it commit.
//
// That the level allows the run is decided by the arbiter of all levels (spec/evaluate.h), on the
// run as a history.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "audit/attribute.h"
#include "audit/moments.h"
#include "audit/open_world.h"
#include "audit/scenario.h"
#include "history/execution.h"
#include "sql/run/interpreter.h"

namespace isoscope::audit {

enum class Label : std::uint8_t { Observable, ViewOnly, Spurious, Undecided };
std::string_view name_of(Label label);  // "view-only"

struct LocationKey {
  sql::TableId table;
  sql::RowKey row;
  Attribute attribute = {};  // of an entry, its values are the row
  friend auto operator<=>(const LocationKey&, const LocationKey&) = default;
};
// "account[1].balance"; "account[1]" for whether it is there; "account unique (email)['x']"
std::string print(const sql::Application& app, const LocationKey& location);

// A read of a call that takes a snapshot for each statement.
struct StatementRead {
  MomentId moment = {};
  LocationKey at;
  sql::Value value;
  std::optional<ScenarioCallId> writer;  // nothing: the start
  std::size_t limit = 0;                 // the first so many calls of ar are in its view
  Place place = {};
};

// As PostgreSQL locks rows, by strength; an INSERT holds its key.
enum class RowLock : std::uint8_t { KeyShare, Share, NoKeyUpdate, Update, Insert };
struct LockEvent {
  MomentId moment = {};
  sql::TableId table;
  sql::RowKey row;
  RowLock mode = RowLock::KeyShare;
  bool is_write = false;
  bool is_held = true;   // else it waits for the row, and finds it gone
  bool may_wait = true;  // else the statement goes on without the lock
  bool is_advisory = false;
};

// Where a call looks at the database.
struct TracedMoment {
  Place place = {};
  std::string text = {};
  std::size_t snapshot = 0;     // of a call that takes one for each: calls of ar that are in it
  bool is_second_look = false;  // DO NOTHING, which has begun with the moment before
};

// A statement changes a location: from then on, who asks for it waits.
struct WriteEvent {
  MomentId moment = {};
  LocationKey at;
};

// What one call did.
struct CallTrace {
  sql::CallResult result;
  std::map<LocationKey, sql::Value> reads;  // external ones
  std::map<LocationKey, sql::Value> writes;
  std::map<LocationKey, std::optional<ScenarioCallId>> read_from;   // nothing: the start
  std::map<std::pair<sql::TableId, sql::RowKey>, sql::Lock> locks;  // the strongest of each row
  std::map<LocationKey, Place> read_places;                         // statements
  std::map<LocationKey, Place> write_places;
  ById<MomentId, TracedMoment> moments;
  std::vector<LockEvent> lock_events;
  std::vector<WriteEvent> write_events;  // whether rows are there, their columns, UNIQUE entries
  std::vector<WriteEvent> keys_found;    // by DO NOTHING, which goes on without holding them
  // By moments: what was read there, and the rows that met the WHERE.
  std::set<std::pair<MomentId, LocationKey>> read_at;
  std::set<std::tuple<MomentId, sql::TableId, sql::RowKey>> matched_at;
  // Of a call that takes a snapshot for each statement:
  bool is_per_statement = false;
  std::vector<StatementRead> statement_reads;
  std::string impossible = {};  // why the run cannot be; empty if it can
};

struct ReplayEdge {
  ScenarioCallId from = {};
  ScenarioCallId to = {};
  EdgeKind kind = EdgeKind::Wr;
  LocationKey at;
  std::optional<sql::Value> read = {};  // what was read, of wr and rw
  Place from_place = {};                // the statements
  Place to_place = {};
};

// A step of a schedule: a statement begins, or the call commits, or it takes its one snapshot some
// time before its first statement.
struct ScheduleStep {
  ScenarioCallId call = {};
  std::optional<MomentId> moment = {};
  bool is_snapshot = false;                      // then there is no moment
  std::optional<ScenarioCallId> waits_for = {};  // who holds a row
};

using Traces = ById<ScenarioCallId, CallTrace>;

struct Replay {
  Label label = Label::Spurious;
  std::string why;  // for people: what differs, or why it is no anomaly
  Traces traces;
  std::vector<ReplayEdge> edges;  // between calls of the cycle, one for each location
  std::vector<ReplayEdge> cycle;  // a shortest one; empty if there is none
  // Where some call takes a snapshot for each statement, or one in good time before its first
  // statement: the order in which statements begin.
  std::vector<ScheduleStep> schedule;
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
  std::vector<KeyId> whole_rows;  // of levels with conflicts of rows: keys that stand for a row
};
std::optional<ReplayHistory> to_history(const Problem& problem, const Scenario& scenario,
                                        const Traces& traces, bool observe_end);

}  // namespace isoscope::audit
