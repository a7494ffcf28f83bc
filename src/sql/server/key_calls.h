#pragma once
// Calls of a `.txn` program on the server: a key is a row of the table of its family.
//
//     read(x)                      SELECT v FROM x
//     write(x, e)                  UPDATE x SET v = e
//     lock(x), lock_shared(x)      SELECT … FOR UPDATE, FOR SHARE
//     stmt { a := read(x); write(x, a + 1) }      UPDATE x SET v = v + 1: one statement
//
// Every access outside of a `stmt` is a statement of its own (key_statement.h runs them). Every key
// has its initial value from the start, so a row is put into the storage at its first
// use; it always gets the same place.
#include <map>

#include "program/machine.h"
#include "sql/server/calls.h"

namespace isoscope::sql::server {

class KeyCalls final : public Calls {
 public:
  // Requires: the program outlives it.
  explicit KeyCalls(const Program& program);

  const Executable& executable() const override { return program_; }
  const Application& app() const override { return app_; }
  Storage storage() const override;
  NextStep find_next(CallId call, const Log& log, const PartLogs& before) const override;
  Attempt go_on(const StatementContext& context, Running& running) const override;
  bool catches(CallId) const override { return false; }
  Footprint footprint(CallId call) const override;
  Footprint guarded(CallId call) const override { return footprint(call); }
  bool may_change(TableId table) const override;
  bool makes_fresh_values() const override { return false; }
  ClaimAnswer ask(const State& state, const RowAssertion& claim) const override;
  std::optional<Error> fault_at_end(const State& state) const override;

  // The row of a key; it is in the storage from now on.
  RowId row(Storage& storage, ProgramKey key) const;
  static std::int64_t value_of(const Version& version);

 private:
  const Statement& statement(CallId call, std::uint32_t instruction) const;
  RowId place_of(ProgramKey key) const;
  // Calls `ask` with how the calls ended, and the last values of the keys that claims ask for.
  template <class Ask>
  auto at_end(const State& state, const Ask& ask) const;

  const Program& program_;
  Application app_;
  std::uint32_t num_shown_ = 0;  // of the keys that the text names
  // What is learned while it runs never changes what was known before.
  mutable isoscope::Machine executor_;
  mutable std::vector<std::optional<RowId>> places_;      // by key
  mutable std::vector<std::vector<ProgramKey>> keys_of_;  // by table and row
  mutable std::map<std::pair<std::uint32_t, std::uint32_t>, Statement> statements_;
};

}  // namespace isoscope::sql::server
