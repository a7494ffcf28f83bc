#pragma once
// ON DELETE and ON UPDATE of foreign keys: CASCADE, SET NULL and SET DEFAULT.
//
// The server has them as AFTER triggers of the table that is referred to, which run a statement on
// the table that refers. So have we: the trigger's function is written here as text and goes the
// way of all others, with the triggers and foreign keys that its own statement meets.
//
//     child.parent REFERENCES parent (id)
//       ON DELETE CASCADE    is, for each deleted row OLD:
//                              DELETE FROM child WHERE parent = OLD.id
//       ON UPDATE CASCADE    is, for each row whose id was OLD.id and is NEW.id, another value:
//                              UPDATE child SET parent = NEW.id WHERE parent = OLD.id
//
// The statement looks at all that is committed (SearchedWrite::is_cascade): whoever has inserted a
// row that refers to OLD held a lock on it until then.
//
// On the server, what such a statement causes in turn (further foreign keys, checks, AFTER
// triggers) waits in a queue behind all that was due before. Here it follows at once. Where that
// might not be the same, the statement is refused (refused_cascade) or gets a note (LateTriggers).
#include <functional>
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

// What happens to rows of a table: they go, or these columns may get other values.
struct RowEffect {
  bool deletes = false;
  std::set<ColumnId> updates = {};
};
// A statement with its effect on its own table. `assigned` tells the columns that BEFORE UPDATE
// triggers of a table may give other values where some are set.
struct RowChange {
  TableId table;
  RowEffect effect;
  std::function<std::set<ColumnId>(TableId, const std::set<ColumnId>&)> assigned;

  std::string_view verb() const { return effect.deletes ? "DELETE" : "UPDATE"; }
};

// Why the rows cannot be changed, if so: what foreign keys do then is not modelled.
std::string refused_cascade(const Catalog& catalog, const RowChange& change);

// AFTER triggers of a program around a statement. The server runs those of rows that go or change
// because of others when all that was due before has been done, breadth first; here they run right
// behind the statement that fires them. Nothing if that is the same: no foreign key does anything
// beyond the first table, and only that one has such triggers.
struct LateTriggers {
  std::vector<std::pair<const Trigger*, WriteOp>> fired;
  std::set<TableId> touched;  // tables whose rows go or change
};
std::optional<LateTriggers> late_triggers(const Catalog& catalog, const RowChange& change);

// A foreign key of a row that ON UPDATE changes which may refuse that, by its name; empty if there
// is none. The server checks it when all else that is due has been done, here it comes first: then
// another error may come before it.
std::string early_check(const Catalog& catalog, const RowChange& change);

// Marks the statement that such a function runs; false if there is none.
bool mark_cascade(std::span<Statement> body);

}  // namespace isoscope::sql
