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
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sql/read/catalog.h"
#include "sql/statement.h"

namespace isoscope::sql {

// Declares the triggers and their functions. Requires: the tables are as they stay.
void add_cascades(Catalog& catalog, Findings& findings);

// Why rows of the table cannot be deleted, if so: what foreign keys do then is not modelled.
std::string refused_cascade(const Catalog& catalog, TableId table);

// AFTER triggers of a program around a DELETE. The server runs those of rows that go or change
// because of others when all that was due before has been done, breadth first; here they run right
// behind the statement that fires them. Nothing if that is the same: no foreign key does anything
// beyond the first table, and only that one has such triggers.
struct LateTriggers {
  std::vector<std::pair<const Trigger*, WriteOp>> fired;
  std::set<TableId> touched;  // tables whose rows go or change
};
std::optional<LateTriggers> late_triggers(const Catalog& catalog, TableId table);

// Marks the statement that such a function runs; false if it is not one statement.
bool mark_cascade(std::span<Statement> body);

}  // namespace isoscope::sql
