#pragma once
// What the constraints of a table look at when a statement changes rows of it, and when they end
// the call. CHECK and NOT NULL look at the row alone (symbolic_write.cpp).
//
// Entries of UNIQUE constraints are locations of their own, taken or free. A new or an old row is
// given as the one source of a frame. Only constraints that mention one of `columns` are looked at.
#include "audit/query_plan.h"
#include "audit/symbolic_call.h"

namespace isoscope::audit {

class SymbolicConstraints : private SymbolicPart {
 public:
  using SymbolicPart::SymbolicPart;
  using Columns = std::set<sql::ColumnId>;

  // A foreign key needs its target: the row is looked at and kept from going away unseen. Of many
  // rows there is no single new one.
  void check_parents(sql::TableId table, SmtTerm guard, const Frame* new_row,
                     const Columns& columns);
  // Whoever deletes a row, or changes what is referred to, looks at the rows that refer to it. With
  // no row: to some of many.
  void check_children(sql::TableId table, SmtTerm guard, const Row* row, const Columns& columns,
                      const Frame& before);
  // The columns by which rows of the table are referred to: all, or only of keys that mention one
  // of `columns`.
  Columns referred_columns(sql::TableId table, const Columns* columns) const;

  struct Entry {
    sql::UniqueId unique = {};
    Row values;
    SmtTerm looks;  // nothing of it is NULL
    SmtTerm taken;
  };
  Entry look_up(sql::TableId table, sql::UniqueId unique, SmtTerm guard, const Frame& new_row,
                bool looks_once = false);
  // Returns whether one was taken already.
  SmtTerm take_entries(sql::TableId table, SmtTerm guard, const Frame& new_row,
                       const Columns& columns);
  void free_entries(sql::TableId table, SmtTerm guard, const Frame& old_row,
                    const Columns& columns);
  // A statement that changes many rows: any entries.
  void change_any_entries(sql::TableId table, SmtTerm guard, const Columns& columns);

  // Whether an INSERT finds its key taken.
  SmtTerm key_is_taken(sql::TableId table, const Row& row, const Frame& frame);
  // DO NOTHING: a key that is found free stays free until the call commits, one that is taken need
  // not stay so.
  void look_once(sql::TableId table, Attribute attribute, const Row& row, SmtTerm looks,
                 SmtTerm is_taken, SmtTerm is_taken_at_end);
  // A row that is there and has these values, if the condition holds.
  Row some_row(sql::TableId table, const std::vector<sql::ColumnId>& columns, const Row& values,
               SmtTerm condition, const Frame& frame);

 private:
  ConditionId refers_by_key(sql::TableId child, const sql::ForeignKey& key, const Row& lost,
                            const Row* parent);
  SmtTerm taken_now(sql::TableId table, sql::UniqueId unique, const Row& entry, MomentId at);
};

}  // namespace isoscope::audit
