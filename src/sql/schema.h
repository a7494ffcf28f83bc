#pragma once
// Tables as a program declares them: columns, keys and constraints.
//
// Every table has a primary key. One that is declared without gets a hidden column, `rowid`, which
// is fresh in each row.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sql/expr.h"
#include "sql/value.h"
#include "support/by_id.h"

namespace isoscope::sql {

// A number never given before: CREATE SEQUENCE, serial, IDENTITY. What it has given is never
// rolled back.
using SequenceId = Id<struct SequenceTag>;
struct Sequence {
  std::string name;
  std::int64_t start = 1;  // the number that the first call gets: behind those of rows at the start
  std::int64_t increment = 1;
  // Rows at the start have numbers that it will give, since they were written by hand.
  bool may_meet_rows = false;
};

// The values of a row, by column.
using TableRow = ById<ColumnId, Value>;

// A key of a table besides its primary key.
using UniqueId = Id<struct UniqueTag>;
// A constraint or index of a table that is no plain key.
using ExclusionId = Id<struct ExclusionTag>;

struct Column {
  std::string name;
  Type type = Type::Integer;
  Width width = {};
  bool not_null = false;
  // Filled by the database with a value never used before: IDENTITY, serial, nextval.
  bool is_fresh = false;
  bool is_always = false;     // GENERATED ALWAYS AS IDENTITY: only OVERRIDING gives it a value
  std::string sequence = {};  // that fills it by default; empty if none does
  // The sequence of all its fresh values, if there is one.
  std::optional<SequenceId> drawn_from = {};
  bool is_hidden = false;  // the `rowid` of a table that declares no key: no program names it
  std::optional<Expr> default_value = {};
  std::optional<Expr> generated = {};  // GENERATED … STORED, over the columns of source 0
  Place place = {};
};

// What becomes of rows that refer to one that is deleted, or whose key changes; with Refuse the
// statement fails.
enum class ReferenceAction : std::uint8_t { Refuse, Cascade, SetNull, SetDefault };

struct ForeignKey {
  std::vector<ColumnId> columns;  // of this table
  TableId target;
  std::vector<ColumnId> target_columns;
  std::string name = {};
  ReferenceAction on_delete = ReferenceAction::Refuse;
  ReferenceAction on_update = ReferenceAction::Refuse;
  // ON UPDATE RESTRICT: refused also where another row has got the old values meanwhile.
  bool restricts_update = false;
  bool is_valid = true;  // not NOT VALID: of rows that were there before, too
  // By SET NULL and SET DEFAULT of ON DELETE; none: all.
  std::vector<ColumnId> set_columns = {};
  Place place = {};
};

// EXCLUDE: no two rows agree in all parts. A part is a value of the row (WITH =), or a range of two
// (WITH &&), which contains its lower end and not its upper one unless told. A NULL agrees with
// nothing unless told; as an end of a range it is none.
struct ExclusionPart {
  Expr value;  // over the columns of source 0; of a range the lower end
  std::optional<Expr> high = {};
  bool is_low_open = false;
  bool is_high_closed = false;
};
// A UNIQUE index of some of the rows, over expressions, or to which NULLs are equal, is one as
// well; whoever comes second then waits before it has an entry, so that two do not wait for each
// other.
struct Exclusion {
  std::vector<ExclusionPart> parts = {};
  std::string name = {};
  Place place = {};
  std::optional<Expr> where = {};  // rows that do not meet it exclude nothing
  bool is_unique = false;
  bool nulls_agree = false;  // NULLS NOT DISTINCT
  // Columns whose change is one of the row's key: of such an index over columns of all rows.
  std::vector<ColumnId> key_columns = {};
};

struct Table {
  std::string name;
  ById<ColumnId, Column> columns;
  std::vector<ColumnId> primary_key;             // columns, in the order of the declaration
  ById<UniqueId, std::vector<ColumnId>> unique;  // further keys
  std::vector<ForeignKey> foreign_keys;
  std::map<std::string, std::vector<ColumnId>> constraint_names;  // of keys, where given
  std::vector<Expr> checks;  // over the columns of source 0; must not be false
  std::vector<std::string> check_names = {};
  ById<ExclusionId, Exclusion> exclusions = {};
  std::vector<ColumnId> partition_key = {};  // what says which partition a row is in
  std::string insert_trigger = {};           // one that fires on INSERT; empty if none does
  Place place = {};

  bool is_key_column(ColumnId column) const {
    for (const ColumnId key : primary_key) {
      if (key == column) return true;
    }
    return false;
  }
};

}  // namespace isoscope::sql
