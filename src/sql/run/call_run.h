#pragma once
// One call of a function, statement by statement: run_call() (interpreter.h) for callers that run
// many calls of one application, and so compute its Changes only once.
#include <span>

#include "sql/run/changes.h"
#include "sql/run/interpreter.h"

namespace isoscope::sql {

class StatementRunner;

// As run_call(). Also leaves the function's variables as they were at the end in `variables`, if
// that is not null. Whatever the database throws passes through. With a `runner` it runs the SQL
// statements (statement_runner.h), and the database is not asked.
Result<CallResult> run_call_with(const Application& app, const Changes& changes,
                                 const Function& function, std::span<const Value> arguments,
                                 Database& database, std::size_t max_steps, Budget* budget,
                                 std::vector<Value>* variables = nullptr,
                                 StatementRunner* runner = nullptr);

}  // namespace isoscope::sql
