#pragma once
// Columns that sequences fill.
//
// A column counts as fresh, filled with a value never used before, if all its values come from one
// sequence: its default, or nextval in every INSERT. Where two sequences fill it, or some INSERT
// leaves out a column that only nextval fills, that is not so.
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "sql/read/findings.h"
#include "sql/read/tree.h"
#include "sql/schema.h"

namespace isoscope::sql {

// The sequence of nextval('public.orders_id_seq'::regclass): "orders_id_seq"; empty if it is
// computed.
std::string sequence_of(const Tree& nextval);
// Of its argument, a constant.
std::string sequence_named(const Tree& constant);
// The one that PostgreSQL makes for a serial or IDENTITY column.
std::string own_sequence(const Table& table, const Column& column);

// The sequence of that name; a new one if there is none.
SequenceId sequence_id(std::vector<Sequence>& sequences, const std::string& name);
// What CREATE and ALTER SEQUENCE, and IDENTITY, say about a sequence. Notes one that begins again
// after its last value (CYCLE), that ends (MAXVALUE), or whose values are out of order (CACHE).
// Where one that exists goes on is said by InitialRowReader.
void set_options(Sequence& sequence, const Tree& options, bool is_new, Findings& findings,
                 Place place);
// The number in START, INCREMENT and the like; nothing for NO MAXVALUE.
std::optional<std::int64_t> number_in(const Tree& element);

// How the INSERTs of a program fill columns.
class SequenceUses {
 public:
  // An INSERT takes the value of the column from this sequence.
  void draw(TableId table, ColumnId column, std::string sequence, Place place);
  // An INSERT leaves the column to its default.
  void leave_out(TableId table, ColumnId column) { left_out_.emplace(table, column); }
  // Notes every column that is taken for fresh and is not.
  void note_gaps(std::span<const Table> tables, Findings& findings) const;
  // Sets for each column the sequence of its fresh values.
  void settle(std::vector<Table>& tables, std::vector<Sequence>& sequences) const;

 private:
  using Key = std::pair<TableId, ColumnId>;
  struct Draws {
    std::set<std::string> sequences;
    Place place;  // of the first
  };
  std::map<Key, Draws> draws_;
  std::set<Key> left_out_;
};

}  // namespace isoscope::sql
