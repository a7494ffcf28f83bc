#pragma once
// A call that runs on symbols: the point of the program that it has come to, and how it writes
// accesses down.
//
// Variables are terms, and a path is a condition: `alive` says when the run goes on from here. The
// parts of a symbolic run share one such call, from the bottom up:
//
//     symbolic_variables.h     variables, arrays, row sets
//     row_search.h             the rows that a statement finds, by its plan (query_plan.h)
//     symbolic_select.h        queries
//     symbolic_constraints.h   what UNIQUE and foreign keys look at
//     symbolic_write.h         INSERT, UPDATE, DELETE
//     symbolic_run.cpp         control flow
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "audit/access_evaluator.h"

namespace isoscope::audit {

class SymbolicCall {
 public:
  // Writes into `instance`, which is new.
  SymbolicCall(Symbols& symbols, Instance& instance);

  Symbols& symbols;
  Instance& instance;
  AccessEvaluator terms;
  const sql::Function& function;
  const Loops loops;
  const bool per_statement;
  const bool keys_are_unknown;

  // The point that it has come to.
  struct Exits {  // of a loop or block around it: the paths that left it, and that went to its end
    SmtTerm exited;
    SmtTerm continued;
  };
  Env env;
  SmtTerm alive;
  SmtTerm aborted;
  std::vector<Exits> exits;  // the innermost last
  std::set<std::pair<sql::TableId, Attribute>> disturbed;
  const sql::Statement* statement = nullptr;  // that runs
  Moments moments;
  MomentId at = {};              // of the statement
  MomentId reads_at = {};        // the view of reads that are written down
  std::size_t first_access = 0;  // of the SQL statement that runs, with all its parts
  std::size_t num_sets = 0;      // row sets that were emptied

  void begin(const sql::Statement& next);
  Frame here() const;
  // What is there when the call commits; without snapshots per statement, the same as here().
  Frame current() const;
  void abort_if(SmtTerm condition) {
    aborted = aborted || condition;
    alive = alive && !condition;
  }
  // On paths that have ended, variables stay as they are.
  void assign(sql::VarId var, const SymValue& value);
  // FOUND, and the number of rows.
  void set_found(SmtTerm found);

  // Accesses of the statement that runs. A read of what never changes, or of what the call wrote
  // itself, is none.
  void read(sql::TableId table, Attribute attribute, SmtTerm guard, const Row& row);
  void read_all(sql::TableId table, Attribute attribute, SmtTerm guard, ConditionId condition);
  void write(sql::TableId table, Attribute attribute, SmtTerm guard, const Row& row,
             const SymValue& value);
  void write_all(sql::TableId table, Attribute attribute, SmtTerm guard, ConditionId condition,
                 WrittenValue value);
  // Of one row, or of all that meet the condition.
  void lock(sql::TableId table, sql::Lock mode, SmtTerm guard, std::optional<Row> row,
            ConditionId condition = {});
  // An advisory lock.
  void lock_numbers(sql::Lock mode, SmtTerm guard, Row numbers);

 private:
  Access& add(AccessKind kind, sql::TableId table, Attribute attribute, SmtTerm guard);
  // A read of it may be of a row that is locked, and so is as it is.
  bool may_see_current(sql::TableId table, Attribute attribute) const;
};

// One part of a symbolic run: what it works on.
class SymbolicPart {
 public:
  explicit SymbolicPart(SymbolicCall& call)
      : call_(call),
        symbols_(call.symbols),
        instance_(call.instance),
        conditions_(call.instance.conditions),
        terms_(call.terms) {}

 protected:
  ConditionId always(SmtTerm formula) { return conditions_.add(condition::Always{formula}); }
  // The fact that rows of the table obey.
  void add_row_fact(sql::TableId table, ConditionId premise, ConditionId conclusion) {
    instance_.row_facts.push_back(
        {table, conditions_.add(condition::Implies{premise, conclusion})});
  }

  SymbolicCall& call_;
  Symbols& symbols_;
  Instance& instance_;
  Conditions& conditions_;
  AccessEvaluator& terms_;
};

}  // namespace isoscope::audit
