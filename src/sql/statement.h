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
//   nextval                 a Select with `draws`, before the statement that uses it
//   GET DIAGNOSTICS         an Assign from Function::row_count
//   LANGUAGE sql            its statements; the last one's first value is returned
//   outer joins, WITH,      loops over simple queries that put rows into a row set, a hidden
//   sub-queries in FROM,    variable, and a query over it (Query::rows), which does not go to the
//   GROUP BY, UNION         database: sql/read/row_builder.h
//   RETURNING of many rows  the same: `into_rows`
//   a function that is      its statements in a Block, with variables of their own:
//   called; triggers        sql/read/inliner.h
//
// A statement has a place and a text, and is of one kind: a struct with the fields that this kind
// has. Who goes through statements asks for a kind (find, as), for what several kinds have (body,
// query, write …), or visits `kind`, where the compiler finds a kind that is forgotten.
#include <array>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "sql/expr.h"
#include "sql/schema.h"
#include "support/assert.h"
#include "support/by_id.h"

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
  ById<SourceId, TableId> sources;
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
  ColumnId column = {};
  Expr value;
};

enum class OnConflict : std::uint8_t { Fail, Nothing, Update };

// What INSERT, UPDATE and DELETE have in common.
struct Write {
  TableId table = {};
  // RETURNING INTO: over the new row (of Delete the old), one row. Source 1 of an Update is the row
  // before.
  std::vector<Expr> returning = {};
  std::vector<VarId> targets = {};
  bool strict = false;  // no row aborts
  // A row set that gets the rows of RETURNING, behind the ones that it has.
  std::optional<VarId> into_rows = {};
};
enum class WriteOp : std::uint8_t { Insert, Update, Delete };

// One that looks for its rows: those of `table` (source 0) that meet `where`.
struct SearchedWrite : Write {
  std::optional<Expr> where = {};
  // Of UPDATE … FROM: a row that this SQL statement has changed already is passed over.
  bool once = false;
  // Of ON DELETE and ON UPDATE: it looks at all that is committed. Where the transaction keeps a
  // snapshot, a row that this does not have ends it.
  bool is_cascade = false;
};

struct Statement;

// --- the kinds. Members that hold statements have no initializers: clang would need to know now
// what a Statement is.

// query INTO targets: the first row, NULLs if there is none. Without targets: PERFORM.
struct Select {
  Query query = {};
  std::vector<VarId> targets = {};
  // Part of an expression of the statement that follows: FOUND stays as it is.
  bool in_expression = false;
  bool is_scalar = false;               // of an expression that is one value: a second row aborts
  bool runs_whole = false;              // of an expression: the server surely asks for all its rows
  bool exists = false;                  // of EXISTS: targets[0] := is there a row?
  bool strict = false;                  // anything but one row aborts
  std::optional<VarId> into_rows = {};  // a row set that gets all rows, and no others
  std::optional<AdvisoryLock> advisory = {};
  // nextval: targets[0] := the next value of this sequence. The query has no sources and outputs.
  std::optional<SequenceId> draws = {};
};

// A row: sets, for columns that are given a value.
struct Insert : Write {
  std::vector<SetColumn> sets = {};
  OnConflict conflict = OnConflict::Fail;
  // The key that ON CONFLICT names, and indexes that are no plain keys (Table::exclusions). Without
  // both it names all; a row that is there by another one aborts.
  std::vector<ColumnId> conflict_key = {};
  std::vector<ExclusionId> conflict_indexes = {};
  // ON CONFLICT DO UPDATE: source 0 is the row that is there, source 1 the row to insert.
  std::vector<SetColumn> conflict_sets = {};
  std::optional<Expr> conflict_where = {};

  // Does ON CONFLICT say what to do if a row is there by this key, or by this index?
  bool names_key(const std::vector<ColumnId>& key) const;
  bool names_index(ExclusionId index) const;
};

struct Update : SearchedWrite {
  std::vector<SetColumn> sets = {};
  // Conditions over the row, as it is before, under which the statement fails: what a trigger
  // raises.
  std::vector<Expr> raises = {};
  std::vector<Expr> raised_states = {};  // the SQLSTATE of each of them, a text over the row
};

struct Delete : SearchedWrite {};

// target := value
struct Assign {
  VarId target = {};
  Expr value = {};
  std::optional<Expr> index = {};  // of the element of an array
};

// NULL counts as false.
struct If {
  Expr condition = {};
  std::vector<Statement> body;
  std::vector<Statement> otherwise;
};

// For each row of the query: targets := its outputs. Without a row, the targets are NULL then.
struct ForQuery {
  Query query = {};
  std::vector<VarId> targets = {};
  std::vector<Statement> body;
};

// FOR … IN from .. to, which fails where a bound is NULL or a step is not positive. Of a function
// in FROM (`of_rows`): NULL gives no rows, and a negative step goes down.
struct ForRange {
  VarId target = {};
  Expr from = {};
  Expr to = {};
  std::optional<Expr> step = {};
  bool descending = false;  // REVERSE
  bool of_rows = false;
  std::vector<Statement> body;
};

// For each element of an array; FOREACH fails over NULL, unnest (`of_rows`) gives no rows.
struct ForArray {
  VarId target = {};
  Expr array = {};
  bool of_rows = false;
  std::vector<Statement> body;
};

struct While {
  std::optional<Expr> condition = {};  // else for ever
  std::vector<Statement> body;
};

struct Jump {
  std::uint32_t depth = 0;
  std::optional<Expr> condition = {};  // else always
};
// Leaves `depth` + 1 loops.
struct Exit : Jump {};
// Leaves `depth` loops, and goes on with the next round of the one around.
struct Continue : Jump {};

struct Return {
  std::optional<Expr> value = {};
};

// RETURN NEXT: adds to the result and goes on.
struct ReturnRow {
  std::optional<Expr> value = {};
};

// Aborts the transaction; what it says is the text of the statement.
struct Raise {
  std::string sqlstate = {};  // empty for P0001
  bool again = false;         // by the error that was caught
  // What SQLERRM is then, if the text alone says it.
  std::optional<std::string> message = {};
};

// COMMIT or ROLLBACK of a procedure: its transaction ends, and the next one begins. Variables keep
// their values.
struct EndTransaction {
  bool commits = true;
};

// The row set gets a row more.
struct Append {
  VarId rows = {};
  std::vector<Expr> values = {};
};

// EXCEPTION: an error in the block undoes what it did to the database.
struct Handler {
  // Get its SQLSTATE, and what the server says (message_of_error), NULL where we do not know that.
  std::array<VarId, 2> targets = {};
  std::vector<Statement> body;  // goes on
};

// Exit leaves it as it leaves a loop.
struct Block {
  std::vector<Statement> body;
  std::optional<Handler> handler;
  // A function that is called inside of a statement; its statements have snapshots of their own.
  bool is_separate = false;
  std::string called = {};  // the function, where the block is a call of one
  // On the server it runs by newer snapshots than the rest of its statement, once for each row, or
  // perhaps not at all: a query of the statement itself comes after it, or it stands behind AND,
  // OR, CASE or the like.
  bool is_rough = false;
};

using StatementKind =
    std::variant<Return, ReturnRow, Select, Insert, Update, Delete, Assign, If, ForQuery, ForRange,
                 ForArray, While, Exit, Continue, Raise, EndTransaction, Append, Block>;

struct Statement {
  Place place = {};          // in the file
  std::string text = {};     // SQL statements as written, for people; on one line
  std::uint32_t number = 0;  // by position in the function, over all nesting, from 0
  // Part of the SQL statement that runs before it: its snapshot is the same, and no other
  // transaction comes between them. Subqueries and what uses them are one, rows of one INSERT too.
  bool continues = false;
  StatementKind kind = {};

  template <class Kind>
  bool is() const {
    return std::holds_alternative<Kind>(kind);
  }
  // Null if it is of another kind.
  template <class Kind>
  const Kind* find() const {
    return std::get_if<Kind>(&kind);
  }
  template <class Kind>
  Kind* find() {
    return std::get_if<Kind>(&kind);
  }
  // Requires: it is of this kind.
  template <class Kind>
  const Kind& as() const {
    ISO_ASSERT(is<Kind>());
    return *find<Kind>();
  }
  template <class Kind>
  Kind& as() {
    ISO_ASSERT(is<Kind>());
    return *find<Kind>();
  }
  // Another one of the same place and text.
  Statement with(StatementKind other) const {
    return {place, text, number, continues, std::move(other)};
  }

  // What several kinds have; null or empty for others.
  const Query* query() const;  // of Select and ForQuery
  Query* query();
  const Write* write() const;  // of Insert, Update and Delete
  Write* write();
  const SearchedWrite* searched() const;  // of Update and Delete
  SearchedWrite* searched();
  // Variables that it sets; of an Append the row set.
  std::span<const VarId> targets() const;
  std::span<VarId> targets();
  std::optional<VarId> into_rows() const;
  // The statements inside: the body of a loop or a block, the branches of an If; of a block that
  // handles errors, these are `otherwise`.
  std::span<const Statement> body() const;
  std::span<Statement> body();
  std::span<const Statement> otherwise() const;
  std::span<Statement> otherwise();
  std::span<const Statement> handler() const;  // of a Block that catches errors: what then runs

  bool is_query() const { return query() != nullptr; }
  bool is_loop() const { return is<ForQuery>() || is<ForRange>() || is<ForArray>() || is<While>(); }
  // Does it go to the database? A loop over a query does, for its query.
  bool is_sql() const { return write() != nullptr || (is_query() && !query()->rows); }
  Lock lock() const { return is_query() ? query()->lock : Lock::None; }
  const AdvisoryLock* advisory() const;     // of a Select, or null
  std::optional<SequenceId> draws() const;  // of a Select
  // A Block that is a function of its own (Block::is_separate), or that handles errors.
  bool is_separate() const;
  bool catches() const;
  // One behind which the call may go on, after an error inside. If every path of the handler ends
  // with RAISE, an error inside ends the call, or whatever block around it catches errors.
  bool may_recover() const;
};

// The first COMMIT or ROLLBACK among them, at any depth, or null.
const Statement* find_end_of_transaction(std::span<const Statement> body);

// Of an If: the If that ends its other branch (an ELSIF is alone there, or behind the queries of
// its condition), or null. Chains of them are long: who can, follows them in a loop.
const Statement* next_branch(const If& branch);

}  // namespace isoscope::sql
