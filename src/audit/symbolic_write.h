#pragma once
// INSERT, UPDATE and DELETE on symbols: the rows that they write, with what the constraints look at
// (symbolic_constraints.h), and what RETURNING gives back.
#include "audit/row_search.h"
#include "audit/symbolic_constraints.h"
#include "audit/symbolic_variables.h"

namespace isoscope::audit {

class SymbolicWrite : private SymbolicPart {
 public:
  explicit SymbolicWrite(SymbolicCall& call)
      : SymbolicPart(call), search_(call), constraints_(call), variables_(call) {}

  void run(const sql::Update& update);
  void run(const sql::Delete& remove);
  void run(const sql::Insert& insert);

 private:
  // Sets columns of one row, with all that the constraints look at.
  void change_row(sql::TableId table, const std::vector<sql::SetColumn>& sets, const Row& row,
                  SmtTerm guard, const Frame& at);
  // What the constraints look at when an UPDATE changes many rows. Comes before the changes.
  void change_many(const sql::Update& update, const Target& target, SmtTerm alive);
  // RETURNING, and FOUND. `is_only`: no other row can be returned.
  void return_row(const sql::Write& write, SmtTerm alive, SmtTerm found, const Frame& row,
                  bool is_only);

  // An INSERT on its way: the row that it proposes, and what comes of it.
  struct Insertion {
    const sql::Insert& insert;
    const sql::Table& declared;
    Frame frame;  // as things are when it looks
    ColumnValues values = {};
    Row row = {};                // its primary key
    bool has_fresh_key = false;  // which no other row can have
    SmtTerm inserts = {};        // it inserts
    SmtTerm is_handled = {};     // a row is there, and ON CONFLICT says what to do
    Row there = {};              // that row
    std::vector<SymbolicConstraints::Entry> entries = {};  // of UNIQUE constraints

    // The row as a source.
    Frame proposed() const { return frame.with({Source{insert.table, row, values}}); }
  };
  // The values of the row: given, fresh or by default. Aborts where NOT NULL or CHECK forbid them.
  void propose_row(Insertion& insertion);
  // Looks whether the primary key is taken. `named`: ON CONFLICT says what to do then.
  void look_for_key(bool named, Insertion& insertion);
  // The same for the keys of UNIQUE constraints.
  void look_for_entries(bool named, Insertion& insertion);
  // DO UPDATE of the row that is there; returns whether it happens.
  SmtTerm update_there(const Insertion& insertion);
  bool looks_once(bool named) const;

  RowSearch search_;
  SymbolicConstraints constraints_;
  SymbolicVariables variables_;
};

}  // namespace isoscope::audit
