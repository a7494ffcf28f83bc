#pragma once
// CREATE FUNCTION and CREATE PROCEDURE as Function.
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sql/application.h"
#include "sql/read/catalog.h"
#include "sql/read/findings.h"
#include "sql/read/source_text.h"

namespace isoscope::sql {

// A trigger function, as it is fired.
struct FiredTrigger {
  TableId table;
  WriteOp op = WriteOp::Insert;
};

// Is the body of this CREATE FUNCTION a text of LANGUAGE sql?
bool is_in_sql(const Tree& node);
// The name of a setting (SET … in CREATE FUNCTION or ALTER FUNCTION) that may change what
// statements do, or how long they wait; empty if `option` is none.
std::string setting_that_matters(const Tree& option);
// `node` is a CreateFunctionStmt, `statement` its text without what comes before or behind, which
// starts at `begin`. Nothing, and a failure in `findings`, if it uses what we do not model.
std::optional<Function> build_function(const Tree& node, std::string_view statement,
                                       std::uint32_t begin, const SourceFile& file,
                                       Catalog& catalog, Findings& findings,
                                       const FiredTrigger* fired = nullptr);

// Numbers the statements from `next` on, in the order of the text, those of inner lists too.
void number_statements(std::span<Statement> body, std::uint32_t& next);

// A function that is not VOLATILE has one snapshot, that of the query which calls it. For functions
// that clients call: of those that other functions call, the caller knows which query it is.
void share_snapshot(const Tree& node, Function& function);

// A function that another one calls, for copying: built once. Null, and a failure that names the
// call, if it cannot be modelled or calls itself. Notes about it are the caller's, too.
std::shared_ptr<const Function> build_called(const FunctionText& text, Catalog& catalog,
                                             Findings& findings, Place place);
// The same for a trigger function that is fired for rows of a table by INSERT, UPDATE or DELETE;
// its variables begin with those of NEW and OLD, one a column each.
std::shared_ptr<const Function> build_trigger(const FunctionText& text, TableId table, WriteOp op,
                                              Catalog& catalog, Findings& findings, Place place);

}  // namespace isoscope::sql
