#pragma once
// Statements of SQL programs: the body of a function as a tree.
//
// What libpg_query hands us is translated to this once (application.h); the interpreter and the
// static analysis see nothing else. Things that only abbreviate are spelled out by the front end:
//
//   DECLARE v t := e        an Assign at the start
//   r.f of a record         a hidden variable "r.f" for each field
//   CASE, ELSIF             If
//   (SELECT …), EXISTS      a Select into a hidden variable before the statement that uses it
//   INSERT of several rows  one Insert a row
//   PERFORM                 a Select without targets
//   GET DIAGNOSTICS         an Assign from Function::row_count
//   LANGUAGE sql            its statements; the last one's first value is returned
#include <optional>
#include <string>
#include <vector>

#include "sql/expr.h"

namespace isoscope::sql {

enum class Aggregate : std::uint8_t {
  None,
  Min,
  Max,
  Count,
  Sum,
  Avg
};  // Count(*) has a Null expr

struct Output {
  Aggregate aggregate = Aggregate::None;
  Expr expr;
  bool distinct = false;
};

struct OrderBy {
  Expr expr;
  bool descending = false;
};

// By strength. A KEY SHARE (of foreign keys, too) keeps only the row and its key; NO KEY UPDATE is
// what an UPDATE takes that changes no key, and lets KEY SHARE pass.
enum class Lock : std::uint8_t { None, KeyShare, Share, NoKeyUpdate, Update };

// SELECT outputs FROM sources WHERE where …; inner joins only, their conditions are in `where`.
// Either all outputs are aggregates or none is. No sources: one row of the outputs, if `where`
// holds.
struct Query {
  std::vector<TableId> sources;
  std::optional<Expr> where = {};
  std::vector<Output> outputs = {};
  std::vector<OrderBy> order_by = {};
  std::optional<Expr> limit = {};
  std::optional<Expr> offset = {};
  bool distinct = false;
  Lock lock = Lock::None;

  bool is_aggregate() const {
    return !outputs.empty() && outputs.front().aggregate != Aggregate::None;
  }
};

struct SetColumn {
  std::uint32_t column = 0;
  Expr value;
};

enum class OnConflict : std::uint8_t { Fail, Nothing, Update };

// clang-format off
enum class StatementOp : std::uint8_t {
  Select,     // query INTO targets: the first row, NULLs if there is none. With `exists`:
              // targets[0] := is there a row?  With `strict`: anything but one row aborts.
  Insert,     // a row of `table`: sets, for columns that are given a value; conflict
  Update,     // rows of `table` (source 0) that meet `where`: sets
  Delete,     // rows of `table` (source 0) that meet `where`
  Assign,     // targets[0] := expr; with `index`, the element of an array
  If,         // expr ? body : otherwise; NULL counts as false
  ForQuery,   // for each row of query: targets := its outputs; body
  ForRange,   // for targets[0] in expr .. upper [by step]: body; `descending` for REVERSE
  ForArray,   // for targets[0] in the array expr: body
  While,      // while expr: body; without expr: for ever
  Exit,       // leaves `depth` + 1 loops if expr (or always)
  Continue,   // leaves `depth` loops, and goes on with the next round of the one around
  Return,     // expr, if there is one
  ReturnRow,  // RETURN NEXT expr: adds to the result and goes on
  Raise,      // aborts the transaction
};
// clang-format on

struct Statement {
  StatementOp op = StatementOp::Return;
  Place place = {};          // in the file
  std::string text = {};     // SQL statements as written, for people; on one line
  std::uint32_t number = 0;  // by position in the function, over all nesting, from 0
  // Part of the SQL statement that runs before it: its snapshot is the same, and no other
  // transaction comes between them. Subqueries and what uses them are one, rows of one INSERT too.
  bool continues = false;

  Query query = {};
  TableId table = {};
  std::optional<Expr> where = {};
  std::vector<SetColumn> sets = {};
  OnConflict conflict = OnConflict::Fail;
  // The key that ON CONFLICT names; empty for any. A row that is there by another key aborts.
  std::vector<std::uint32_t> conflict_key = {};
  // ON CONFLICT DO UPDATE: source 0 is the row that is there, source 1 the row to insert.
  std::vector<SetColumn> conflict_sets = {};
  std::optional<Expr> conflict_where = {};
  // RETURNING INTO of Insert, Update, Delete: over the new row (of Delete the old), one row.
  std::vector<Expr> returning = {};
  std::vector<VarId> targets = {};
  bool exists = false;
  bool strict = false;

  std::optional<Expr> expr = {};
  std::optional<Expr> index = {};
  std::optional<Expr> upper = {};
  std::optional<Expr> step = {};
  bool descending = false;
  std::uint32_t depth = 0;
  std::vector<Statement> body = {};
  std::vector<Statement> otherwise = {};

  // Does it go to the database? A loop over a query does, for its query.
  bool is_sql() const {
    return op == StatementOp::Select || op == StatementOp::Insert || op == StatementOp::Update ||
           op == StatementOp::Delete || op == StatementOp::ForQuery;
  }

  // Of an If: the If that ends its other branch (an ELSIF is alone there, or behind the queries of
  // its condition), or null. Chains of them are long: who can, follows them in a loop.
  const Statement* next_branch() const {
    const bool is_chain = !otherwise.empty() && otherwise.back().op == StatementOp::If;
    return is_chain ? &otherwise.back() : nullptr;
  }
};

}  // namespace isoscope::sql
