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
//   pg_advisory_xact_lock   a Select with `advisory`, before the statement that uses it
//   GET DIAGNOSTICS         an Assign from Function::row_count
//   LANGUAGE sql            its statements; the last one's first value is returned
//   outer joins, WITH,      loops over simple queries that put rows into a row set, a hidden
//   sub-queries in FROM,    variable, and a query over it (Query::rows), which does not go to the
//   GROUP BY, UNION         database: relation_builder.h
//   RETURNING of many rows  the same: `into_rows`
//   a function that is      its statements in a Block, with variables of their own: inliner.h
//   called; triggers
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
  Avg,
  Array,  // array_agg: the values in the order of the rows
  Other,  // one that we do not know: some function of its name and the values
};        // Count(*) has a Null expr

struct Output {
  Aggregate aggregate = Aggregate::None;
  Expr expr;
  bool distinct = false;
  std::string name = {};  // of Other
  // FILTER (WHERE …): rows that do not meet it do not count. Over a row set only.
  std::optional<Expr> filter = {};
};

struct OrderBy {
  Expr expr;
  bool descending = false;
  std::optional<bool> nulls_first = {};  // else NULL is greater than everything
};

// What a locking query does about a row that another transaction has locked.
enum class LockWait : std::uint8_t { Wait, Skip, Fail };

// By strength. A KEY SHARE (of foreign keys, too) keeps only the row and its key; NO KEY UPDATE is
// what an UPDATE takes that changes no key, and lets KEY SHARE pass.
enum class Lock : std::uint8_t { None, KeyShare, Share, NoKeyUpdate, Update };

// SELECT outputs FROM sources WHERE where …; inner joins only, their conditions are in `where`.
// Either all outputs are aggregates or none is. No sources: one row of the outputs, if `where`
// holds.
//
// With `rows` it goes over a row set: source 0 has the values of its rows, and the database is not
// asked. Then the outputs may be of both kinds, with `group_by`: one row a group, and the outputs
// that are no aggregates are those of its first row.
struct Query {
  std::vector<TableId> sources;
  std::optional<Expr> where = {};
  std::vector<Output> outputs = {};
  std::vector<OrderBy> order_by = {};
  std::optional<Expr> limit = {};
  std::optional<Expr> offset = {};
  bool distinct = false;
  Lock lock = Lock::None;
  LockWait wait = LockWait::Wait;
  std::optional<VarId> rows = {};
  std::optional<std::vector<Expr>> group_by = {};
  std::vector<Expr> distinct_on = {};  // over a row set: the first row of each of these values

  bool is_aggregate() const {
    return !outputs.empty() && outputs.front().aggregate != Aggregate::None && !group_by;
  }
};

// A Select that takes a lock on a number, or on a pair of numbers: the outputs of its query, which
// has no sources. It gives NULL; one that is only tried gives whether it has the lock now.
struct AdvisoryLock {
  bool is_shared = false;
  bool is_tried = false;
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
  Raise,      // aborts the transaction; with `again`, by the error that was caught
  Append,     // the row set targets[0] gets a row more: `returning`
  Block,      // body; Exit leaves it as it leaves a loop. With `catches`: an error in the body
              // undoes what it did to the database, its SQLSTATE goes to targets[0], what it says
              // to targets[1], and `otherwise` goes on
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
  // Source 1 of an Update is the row before.
  std::vector<Expr> returning = {};
  std::vector<VarId> targets = {};
  // A row set that gets all rows: of RETURNING those behind the ones that it has, of a Select only
  // these.
  std::optional<VarId> into_rows = {};
  // Conditions over the row, as it is before an Update, under which the statement fails: what a
  // trigger raises.
  std::vector<Expr> raises = {};
  // Update, Delete of UPDATE … FROM: a row that this SQL statement has changed already is passed
  // over.
  bool once = false;
  bool exists = false;
  bool strict = false;
  // Of a Block: a function that is called inside of a statement; its statements have snapshots of
  // their own.
  bool is_separate = false;
  std::optional<AdvisoryLock> advisory = {};
  // Of a Block: on the server it runs by newer snapshots than the rest of its statement, once for
  // each row, or perhaps not at all: a query of the statement itself comes after it, or it stands
  // behind AND, OR, CASE or the like.
  bool is_rough = false;
  bool again = false;
  bool catches = false;
  std::string sqlstate = {};  // of Raise; empty for P0001

  std::optional<Expr> expr = {};
  std::optional<Expr> index = {};
  std::optional<Expr> upper = {};
  std::optional<Expr> step = {};
  bool descending = false;
  std::uint32_t depth = 0;
  std::vector<Statement> body = {};
  std::vector<Statement> otherwise = {};

  bool is_query() const { return op == StatementOp::Select || op == StatementOp::ForQuery; }
  bool is_loop() const {
    return op == StatementOp::ForQuery || op == StatementOp::ForRange ||
           op == StatementOp::ForArray || op == StatementOp::While;
  }
  // Does it go to the database? A loop over a query does, for its query.
  bool is_sql() const {
    return op == StatementOp::Insert || op == StatementOp::Update || op == StatementOp::Delete ||
           (is_query() && !query.rows);
  }

  // Of an If: the If that ends its other branch (an ELSIF is alone there, or behind the queries of
  // its condition), or null. Chains of them are long: who can, follows them in a loop.
  const Statement* next_branch() const {
    const bool is_chain = !otherwise.empty() && otherwise.back().op == StatementOp::If;
    return is_chain ? &otherwise.back() : nullptr;
  }
};

}  // namespace isoscope::sql
