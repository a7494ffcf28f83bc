#pragma once
// One statement of a `.txn` program as PostgreSQL would run it: an access, or a stmt { … }.
//
// Reads see the snapshot, but a read of a row that the statement also writes or locks sees the row
// as it is when the lock is there (a *current* read). Whether a row is locked later on is known
// only when it is; so a statement whose row has changed between its snapshot and its lock begins
// again, with the locks that it has, and reads those rows currently. This is what EvalPlanQual does
// to an UPDATE: the new version of the row is taken, WHERE (an `if`) and SET are evaluated anew,
// and a row that no longer matches stays locked. Other rows are read from the same snapshot as
// before.
//
// Writes are kept until the statement ends. What it has done when it must wait stays, and it goes
// on behind its last access.
#include "program/machine.h"
#include "sql/server/statement_run.h"

namespace isoscope::sql::server {

class KeyCalls;

class KeyStatement {
 public:
  KeyStatement(const KeyCalls& calls, isoscope::Machine& executor, const StatementContext& context,
               Running& running)
      : calls_(calls),
        executor_(executor),
        context_(context),
        running_(running),
        keys_(running.keys) {}

  Attempt go_on();

 private:
  void begin();
  void read(ProgramKey key);
  void write(ProgramKey key, std::int64_t value);
  // Nothing: the row is locked. `begins_again_` says whether that showed another version.
  std::optional<Attempt> lock(ProgramKey key, Lock mode);
  void finish();

  bool has_locked(RowId id) const;
  View view() const { return {running_.result.snapshot, context_.txn, running_.result.command}; }

  const KeyCalls& calls_;
  isoscope::Machine& executor_;
  const StatementContext& context_;
  Running& running_;
  KeyAccesses& keys_;
  bool begins_again_ = false;
};

}  // namespace isoscope::sql::server
