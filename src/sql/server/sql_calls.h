#pragma once
// Calls of an SQL program: what a function does between its statements follows from their results,
// so it is run again with these to find what is next.
#include "sql/run/program.h"
#include "sql/server/calls.h"
#include "sql/server/level.h"

namespace isoscope::sql::server {

// Adds what one statement touches, without those inside of it.
void add_statement(const Application& app, const Statement& statement, Footprint& footprint);

class SqlCalls final : public Calls {
 public:
  // Requires: the program outlives it.
  SqlCalls(const SqlProgram& program, ServerKind server, const Budget& budget);

  const Executable& executable() const override { return program_; }
  const Application& app() const override { return program_.app(); }
  Storage storage() const override;
  NextStep find_next(CallId call, const Log& log, const PartLogs& before) const override;
  Attempt go_on(const StatementContext& context, Running& running) const override;
  bool catches(CallId call) const override { return catches_[call]; }
  Footprint footprint(CallId call) const override;
  Footprint guarded(CallId call) const override;
  bool may_change(TableId table) const override;
  bool makes_fresh_values() const override;
  ClaimAnswer ask(const State& state, const RowAssertion& claim) const override;

  const SqlProgram& program() const { return program_; }

 private:
  const SqlProgram& program_;
  ServerKind server_;
  mutable Budget budget_;
  ById<CallId, bool> catches_;  // has an EXCEPTION block
};

}  // namespace isoscope::sql::server
