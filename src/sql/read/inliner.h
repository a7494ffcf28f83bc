#pragma once
// A call of a function of the program, as its statements: with variables of their own, in a Block
// that RETURN leaves. Also the bodies of triggers.
//
// The statements of a VOLATILE function each have a snapshot of their own, wherever it is called;
// those of a STABLE one share that of the statement that calls it.
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sql/read/query_parts.h"

namespace isoscope::sql {

// Calls `visit` for every variable that the statements mention, to change it.
using VariableVisit = std::function<void(VarId&)>;
void for_each_variable(std::span<Statement> body, const VariableVisit& visit);

// The statements of a function, and where its variables are in the function that calls it.
struct InlinedBody {
  std::vector<Statement> body;
  std::uint32_t first = 0;  // variable i of the function is number first + i
  const Function* function = nullptr;
};
// Copies the body of a function; RETURN and RETURN NEXT are as they were.
InlinedBody copy_body(Frame& frame, const Function& function);
// Variables that the function declares are as at its start.
void reset_variables(Frame& frame, const InlinedBody& inlined, std::vector<Statement>& to,
                     Place place);

// Makes RETURN leave the Block that the body will be in: `give` adds what it does with the value,
// which is nothing for RETURN alone. RETURN NEXT goes on behind it.
using Give = std::function<void(std::vector<Statement>& to, const Statement& from,
                                const std::optional<Expr>& value)>;
void replace_returns(std::vector<Statement>& body, const Give& give, std::uint32_t depth = 0);

// Keeps FOUND and ROW_COUNT as they are around the statements.
void keep_found(Frame& frame, std::vector<Statement>& body, Place place);

// Can computing it fail, or a part of it? Functions that are not known do not.
bool can_fail(const Expr& expr);

// Does this CREATE FUNCTION say SETOF or TABLE?
bool returns_rows(const Tree& function);

// The value of a call. Its statements go to `scope.before`.
Expr inline_call(Scope& scope, const Tree& call, Place place);

}  // namespace isoscope::sql
