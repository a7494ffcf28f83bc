#pragma once
// The variables of a call on symbols: plain values, arrays, and row sets.
//
// Row sets are the hidden variables through which outer joins, groups, WITH, RETURNING of many rows
// and functions that return rows go (sql/statement.h). Which rows a set can have is known as long
// as each was put there by a statement that gives at most one; then a query over it is exact. What
// loops put there for every round, and what a query of many rows gives, is not: any number of rows
// with any values. That says less than the program does, never more: what was read of the database
// to fill the set is written down where it happens, and values are free to be those of the program.
#include <span>

#include "audit/symbolic_call.h"

namespace isoscope::audit {

class SymbolicVariables : private SymbolicPart {
 public:
  using SymbolicPart::SymbolicPart;

  // As they are when the call begins.
  void declare();
  // An assignment of the program.
  void assign(const sql::Assign& statement);
  // What a loop puts into a variable, whether or not the call goes on.
  void set(sql::VarId var, const SymValue& value);
  // Any value that the variable can have.
  SymValue any_value(sql::VarId var);
  // Variables that the body assigns have any value.
  void forget(std::span<const sql::Statement> body);
  // One or the other.
  Env merge(SmtTerm condition, const Env& yes, const Env& no);

  // How many rows, and which, is not known.
  void forget_rows(sql::VarId rows);
  void clear_rows(sql::VarId rows);
  void append_row(sql::VarId rows, SmtTerm is_there, std::vector<SymValue> values);

 private:
  void set_array(Variable& variable, SymArray array, const SymValue& value);
  void bound_truth(const SymValue& value);
};

}  // namespace isoscope::audit
