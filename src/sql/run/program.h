#pragma once
// The sessions of an SQL application as an Executable: what `explore` and `run` execute.
//
// Keys are locations of the database: `account[1]` is 1 if the row is there and else 0, and
// `account.balance[1]` is a column of it. What never changes has no key: columns that no
// called function writes, and the presence of rows in tables without INSERT and DELETE.
//
//     withdraw(1, 60)   r(account.balance[1]) = 100   w(account.balance[1], 40)
//
// A statement that looks for rows reads, for every row that could match, whether it is there. Those
// are the rows at the start and rows that some call inserts; the latter are not known beforehand.
// So an analysis is repeated until no run inserts a row that scans did not look at
// (program/rounds.h).
//
// The state of an executor is the list of answers so far, and it runs the function again with them;
// what follows the same answers is always the same, so it is kept. Locks are not modelled: reads
// FOR UPDATE are reads.
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "program/executable.h"
#include "sql/application.h"
#include "sql/run/changes.h"
#include "sql/run/interpreter.h"
#include "sql/run/numbering.h"

namespace isoscope::sql {

class SqlProgram final : public Executable {
 public:
  // Fails if there are no sessions, or a call does not fit its function.
  static Result<std::unique_ptr<SqlProgram>> create(Application app);

  const Outline& outline() const override { return outline_; }
  KeyTable& keys() const override { return keys_; }
  std::unique_ptr<Executor> executor() const override;
  // "result" first, if the function returns something; then its variables.
  std::span<const std::string> local_names(CallId call) const override;
  std::span<const FamilyId> may_read(CallId call) const override { return reads_[call.index]; }
  std::span<const FamilyId> may_write(CallId call) const override { return writes_[call.index]; }
  FailedAssertion assertion(AssertionId) const override { return {}; }
  bool has_assertions() const override { return false; }
  std::optional<AssertionId> failed_at_end(std::span<const Ending>,
                                           std::span<const std::int64_t>) const override {
    return std::nullopt;
  }
  std::string print_value(ProgramKey key, std::int64_t value) const override;
  std::string print_local(CallId call, std::size_t local, std::int64_t value) const override;

  bool may_have_new_rows() const override { return true; }
  bool has_new_rows() const override;
  void adopt_rows() const override;
  // The same for the row that a key of this name belongs to, `student[bob]` or
  // `course.capacity[3, 'a b']`: a history that is followed may know rows that no run has inserted
  // yet. Does nothing for other names.
  void adopt_row(std::string_view key_name);

  // From now on executors stop with the budget: the call that runs then has a Fault.
  void stop_with(const Budget& budget) { budget_ = budget; }
  const Budget& budget() const { return budget_; }

  const Application& app() const { return app_; }
  const Changes& changes() const { return changes_; }
  const Function& function(CallId call) const;
  const std::vector<Value>& arguments(CallId call) const;
  // The locals of a call that has ended with these variables, as local_names() has them.
  std::vector<Value> locals_of(CallId call, const std::vector<Value>& variables,
                               const std::vector<Value>& returned) const;
  // The value of a location that has a key, by its number; of a row's presence, true or false.
  Value value_of(ProgramKey key, std::int64_t number) const;

 private:
  friend class CallDatabase;
  friend class SqlExecutor;

  // Which values the keys of a family hold.
  struct Family {
    TableId table;
    std::optional<ColumnId> column;  // none: presence
  };
  struct Local {
    std::optional<VarId> var;  // none: the result
    Type type = Type::Integer;
  };

  SqlProgram(Application app, const std::vector<FunctionId>& called);

  void add_sessions();
  void add_families();
  void add_initial_rows();
  void add_locals();
  // Families that a call of the function may touch.
  void add_accesses(const Function& function);

  ProgramKey key(TableId table, const RowKey& row, std::optional<ColumnId> column) const;
  void remember(TableId table, const RowKey& row) const;
  const std::set<RowKey>& universe(TableId table) const { return universe_[table.index]; }

  Application app_;
  Budget budget_;
  Changes changes_;
  Outline outline_;
  ById<CallId, const SessionCall*> calls_;
  std::int64_t first_fresh_ = 1;
  mutable KeyTable keys_;
  mutable ValueNumbers numbers_;
  std::vector<Family> families_;                         // by FamilyId
  std::vector<FamilyId> presence_family_;                // by table
  std::vector<ById<ColumnId, FamilyId>> column_family_;  // by table and column
  std::vector<std::map<RowKey, TableRow>> initial_;      // by table
  mutable std::vector<std::set<RowKey>> universe_;       // by table
  std::vector<std::vector<Local>> locals_;               // by call
  std::vector<std::vector<std::string>> local_names_;    // by call
  std::vector<std::vector<FamilyId>> reads_;             // by call
  std::vector<std::vector<FamilyId>> writes_;            // by call
  mutable std::mutex mutex_;
  mutable std::vector<std::set<RowKey>> inserted_;  // by table; beyond the universe
};

}  // namespace isoscope::sql
