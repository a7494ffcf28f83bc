#pragma once
// What the sessions of a Machine run: the functions of an SQL program (sql_calls.h), or the
// transactions of a `.txn` program (key_calls.h). Snapshots, locks, waiting, deadlocks and commits
// are the Machine's, whatever is run.
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "program/executable.h"
#include "sql/run/query.h"
#include "sql/server/statement_run.h"

namespace isoscope::sql {
struct RowAssertion;
}

namespace isoscope::sql::server {

struct ClaimAnswer;
struct State;

using Log = std::vector<std::shared_ptr<const StatementResult>>;
using PartLogs = std::vector<const Log*>;  // of a call's parts, in their order

// What a session does next.
struct NextStep {
  // Rollback: of a procedure, which goes on.
  enum class Kind : std::uint8_t { Statement, Commit, Rollback, Abort, Limit };
  Kind kind = Kind::Commit;
  const Statement* statement = nullptr;  // also of a Commit or Rollback that a procedure says
  bool goes_on = false;                  // of Commit: the call goes on in its next part
  std::vector<Value> variables = {};
  QueryNeeds needs = {};
  Failure failure = {};            // of Abort; of Limit, our own
  std::vector<Value> locals = {};  // of Commit; of a `.txn` program always
  // An EXCEPTION block has caught the last failure: what the statements from this one on did is
  // taken back.
  std::optional<std::size_t> undo_from = {};
  // Of a `.txn` program: the first assertion of the transaction that has failed so far.
  std::optional<AssertionId> failed_assertion = {};
  std::optional<Error> fault = {};  // of Limit, where it has a place of its own
};

// Stands for all advisory locks where tables are named.
inline constexpr TableId kAdvisoryLocks = TableId::none();
// Stands for a sequence there.
inline TableId as_table(SequenceId sequence) {
  return TableId{kAdvisoryLocks.index - 1 - sequence.index};
}

// Tables that a call may touch, and those that it changes or locks rows of.
struct Footprint {
  std::set<TableId> touched = {};
  std::set<TableId> changed = {};

  void add(const Footprint& other) {
    touched.insert(other.touched.begin(), other.touched.end());
    changed.insert(other.changed.begin(), other.changed.end());
  }
  bool meets(const Footprint& other) const;
};

class Calls {
 public:
  virtual ~Calls() = default;

  virtual const Executable& executable() const = 0;
  virtual const Application& app() const = 0;  // its tables
  virtual Storage storage() const = 0;         // at the start

  // What a call does whose statements so far came to this; `before` has those of the parts before.
  virtual NextStep find_next(CallId call, const Log& log, const PartLogs& before) const = 0;
  // Goes on with a statement as far as it gets.
  virtual Attempt go_on(const StatementContext& context, Running& running) const = 0;
  // Can it go on after a statement that has failed?
  virtual bool catches(CallId call) const = 0;

  virtual Footprint footprint(CallId call) const = 0;
  // Tables that SERIALIZABLE watches because the call reads them, and those that it writes.
  virtual Footprint guarded(CallId call) const = 0;
  virtual bool may_change(TableId table) const = 0;
  // Do runs differ by values that the database makes anew?
  virtual bool makes_fresh_values() const = 0;
  virtual ClaimAnswer ask(const State& state, const RowAssertion& claim) const = 0;
  // Why a claim about the finished run cannot be evaluated.
  virtual std::optional<Error> fault_at_end(const State&) const { return std::nullopt; }
};

}  // namespace isoscope::sql::server
