#pragma once
// ON DELETE CASCADE, SET NULL and SET DEFAULT of foreign keys.
//
// The server has them as AFTER DELETE triggers of the table that is referred to, which run a
// statement on the table that refers. So have we: the trigger's function is written here as text
// and goes the way of all others, with the triggers and foreign keys that its own statement meets.
//
//     child.parent REFERENCES parent (id) ON DELETE CASCADE      is      for each deleted row OLD:
//                                                    DELETE FROM child WHERE parent = OLD.id
//
// The statement looks at all that is committed (SearchedWrite::is_cascade): whoever has inserted a
// row that refers to OLD held a lock on it until then.
#include <span>
#include <string>

#include "sql/catalog.h"
#include "sql/statement.h"

namespace isoscope::sql {

// Declares the triggers and their functions. Requires: the tables are as they stay.
void add_cascades(Catalog& catalog, Findings& findings);

// Why rows of the table cannot be deleted, if so: what foreign keys do then is not modelled.
std::string refused_cascade(const Catalog& catalog, TableId table);

// Marks the statement that such a function runs; false if it is not one statement.
bool mark_cascade(std::span<Statement> body);

}  // namespace isoscope::sql
