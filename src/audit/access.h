#pragma once
// What a call does to the database, as data: accesses, with their conditions and values.
//
// Symbolic execution (symbolic_run.cpp) records these and keeps no other state; AccessEvaluator,
// their only visitor, makes the formulas of a row out of them. A condition is a formula
// with one row left open. Its leaves speak of that row as it is at a point of the program, a Frame:
// with the values that variables have there, and the call's own writes up to there.
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "audit/attribute.h"
#include "audit/moments.h"
#include "audit/symbols.h"
#include "support/by_id.h"

namespace isoscope::audit {

// A row set whose rows are known: which there may be, in their order, and when each is there.
struct KnownRow {
  SmtTerm is_there;
  std::vector<SymValue> values;
};
struct KnownRows {
  std::size_t origin = 0;  // the statement that emptied it last
  std::vector<KnownRow> rows;
};
struct Variable {
  SymValue value;
  std::optional<SymArray> array;
  std::shared_ptr<const KnownRows> rows = nullptr;  // of a row set; null if nothing is known
};
using Env = std::vector<Variable>;  // by variable

using ColumnValues = ById<sql::ColumnId, SymValue>;

// A row that an expression may name columns of. With `values`, they are given (the row that an
// INSERT … ON CONFLICT proposes).
struct Source {
  sql::TableId table;
  Row row;
  ColumnValues values = {};
};

using Sources = ById<sql::SourceId, Source>;

// Where an expression is evaluated: the variables and own writes at that point of the program.
struct Frame {
  std::shared_ptr<const Env> env = nullptr;
  std::size_t num_accesses = 0;
  MomentId at = {};  // the view: a moment, or kCurrent
  Sources sources = {};
  std::set<std::pair<sql::TableId, Attribute>> disturbed = {};

  Frame with(Sources rows) const {
    Frame frame = *this;
    frame.sources = std::move(rows);
    return frame;
  }
};

// An expression over the columns of a row: that of one of the frame's sources, which has the table
// only. No expression: TRUE.
struct RowExpr {
  const sql::Expr* expr = nullptr;
  Frame frame = {};
  sql::SourceId source = {};

  Frame of(const Row& row) const {
    Frame filled = frame;
    filled.sources[source].row = row;
    return filled;
  }
};

using ConditionId = Id<struct ConditionTag>;

namespace condition {

struct Always {  // the same of all rows
  SmtTerm holds;
};
struct Committed {};  // the call commits, whatever the row
struct Is {           // the row is this one
  Row row;
};
struct KeyIs {  // one column of its key
  std::size_t part = 0;
  SmtTerm number;
};
struct Named {  // what we know nothing else about
  SmtFunction of;
};
struct Meets {  // the expression is true
  RowExpr expr;
};
struct Present {  // the row is there
  sql::TableId table;
  Frame frame;
};
struct Holds {  // a column has this value
  sql::TableId table;
  sql::ColumnId column = {};
  Frame frame;
  SmtTerm number;
};
struct Unwritten {  // by accesses from..to of the call; no attribute: as a row
  sql::TableId table;
  std::optional<Attribute> attribute;
  std::size_t from = 0;
  std::size_t to = 0;
};
struct Locked {  // or written, by one of the first accesses, and so seen as it is
  sql::TableId table;
  std::size_t before = 0;
};
struct NotBefore {  // the row that ORDER BY puts first
  RowExpr value;
  SymValue first;
  bool descending = false;
};
struct NotBeyond {  // a minimum or maximum
  RowExpr value;
  SymValue best;
  bool is_min = false;
};
struct UpTo {  // meets a condition, and is not beyond it
  ConditionId inner;
  RowExpr value;
  SymValue best;
  bool is_min = false;
};
struct All {
  std::vector<ConditionId> parts;
};
struct Any {
  std::vector<ConditionId> parts;
};
struct Not {
  ConditionId part;
};
struct Implies {
  ConditionId premise;
  ConditionId conclusion;
};

}  // namespace condition

using Condition =
    std::variant<condition::Always, condition::Committed, condition::Is, condition::KeyIs,
                 condition::Named, condition::Meets, condition::Present, condition::Holds,
                 condition::Unwritten, condition::Locked, condition::NotBefore,
                 condition::NotBeyond, condition::UpTo, condition::All, condition::Any,
                 condition::Not, condition::Implies>;

// The conditions of one call; parts come before what they are parts of.
class Conditions {
 public:
  ConditionId add(Condition condition) {
    const ConditionId id = nodes_.next_id();
    nodes_.push_back(std::move(condition));
    return id;
  }
  ConditionId all(std::vector<ConditionId> parts) { return add(condition::All{std::move(parts)}); }
  ConditionId negate(ConditionId part) { return add(condition::Not{part}); }
  const Condition& operator[](ConditionId id) const { return nodes_[id]; }

 private:
  ById<ConditionId, Condition> nodes_;
};

enum class AccessKind : std::uint8_t { Read, Write, Lock };

// What a write leaves in a row: one value, an expression over the row as it was, or 0 or 1 as the
// function says.
using WrittenValue = std::variant<SymValue, RowExpr, SmtFunction>;

struct Access {
  AccessKind kind = AccessKind::Read;
  sql::TableId table = {};
  Attribute attribute = {};  // a Lock is of the whole row
  std::uint32_t statement = 0;
  SmtTerm guard = {};           // the statement comes to it
  std::optional<Row> row = {};  // the one row that it is about; else
  ConditionId condition = {};   // every row that meets it
  WrittenValue value = {};      // of a write
  // Of a read by a scan whose WHERE asks only for what an INSERT fixes for good: would the row
  // match, with the values of the INSERT? One that would not is as good as absent.
  std::optional<RowExpr> would_match = {};
  sql::Lock lock = sql::Lock::None;  // of a Lock
  bool is_insert = false;            // of a write
  // With a snapshot per statement: the view of a read, a moment or kCurrent; and the moment of the
  // statement.
  MomentId at = {};
  MomentId step = {};
  // Of a lock: taken some time until `step` ends, as the loop over the rows goes on.
  bool is_late = false;
};

// Something true of every row of a table, in the view of one instance.
struct RowFact {
  sql::TableId table;
  ConditionId holds;
};

// From this access on, no other transaction writes the row until this one ends. False for an
// INSERT: there was no row.
inline bool excludes_writers(const Access& access) {
  if (access.kind == AccessKind::Lock) return access.lock != sql::Lock::KeyShare;
  return access.kind == AccessKind::Write && !access.attribute.is_entry() && !access.is_insert;
}

}  // namespace isoscope::audit
