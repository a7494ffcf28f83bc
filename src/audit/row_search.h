#pragma once
// The rows that a statement looks for, on symbols: which it finds, what it reads of each table
// while it looks, and which rows it locks.
//
// What a statement looks for, and what it then does to the rows that it locks, are two things with
// a snapshot per statement: the search looks at the snapshot; rows that match are locked, looked at
// again as they are, and must still match. So a row that did not match was read in the snapshot,
// one that did was read as it is; what the snapshot had decides nothing then, as the statement
// would do the same at its place in the order of commits.
#include "audit/query_plan.h"
#include "audit/symbolic_call.h"

namespace isoscope::audit {

// How the rows of one table are looked for, by an UPDATE, a DELETE or a SELECT.
struct TableSearch {
  SourcePlan source = {};
  std::optional<Row> row = {};  // the one of a key; else all that match
  SmtTerm guard = {};
  bool locks = false;             // found in the snapshot of the statement, then looked at again
  ConditionId is_candidate = {};  // by what never changes
  ConditionId is_there = {};      // and is there, in the snapshot
  // With `locks`: and meets WHERE there, and is no other row under the same key by now; and is
  // still there.
  ConditionId is_followed = {};
  ConditionId is_left = {};
  ConditionId matches = {};  // and meets WHERE as it is
};

// Rows that an UPDATE or DELETE is about: the one of a key, or all that match.
struct Target {
  TableSearch search = {};
  Frame frame = {};    // the row as it is when it is changed
  Row row = {};        // of the key; else some row
  SmtTerm found = {};  // it is there and matches; else some row does

  bool is_fixed() const { return search.source.is_fixed; }
};

// Rows that a query is about: a few that it finds, and the condition for all.
struct Selection {
  std::vector<Sources> rows = {};   // each a row a source
  std::vector<SmtTerm> found = {};  // by row
  Frame frame = {};                 // of what it returns
  Frame search = {};                // of what ORDER BY looks at
  bool is_fixed = false;            // there is but one candidate
  // Over a single source: the row meets WHERE, and is there.
  std::optional<ConditionId> matches = {};
};

class RowSearch : private SymbolicPart {
 public:
  using SymbolicPart::SymbolicPart;

  // What the statement reads and locks to find so many rows of the query, or the one of a key.
  Selection select(const sql::Query& query, std::size_t num_rows);
  Target target_of(const sql::SearchedWrite& write);
  // What a search reads: whether rows are there, what WHERE asks for, and these columns of rows
  // that match.
  void read_found(const TableSearch& search, bool reads_presence,
                  const std::set<sql::ColumnId>& columns);

 private:
  // What the search shares between the tables of a statement.
  struct Finding {
    QueryPlan plan;
    const std::optional<sql::Expr>& where;
    Frame frame;         // of its snapshot
    Frame now;           // when the call commits
    SmtTerm alive;       // it happens
    bool locks = false;  // the rows that it finds, with a snapshot per statement
    Window window = {};
    // With `locks`, by source: the row is no other one under the same key by now.
    ById<sql::SourceId, ConditionId> still = {};

    bool is_join() const { return plan.sources.size() > 1; }
  };
  Finding finding_of(const ById<sql::SourceId, sql::TableId>& sources,
                     const std::optional<sql::Expr>& where, bool locks);
  // A row for each source: as the key says, or some row where it does not.
  Sources rows_of(const QueryPlan& plan, const Frame& frame);
  // These rows, one a source, are there and meet WHERE as things are in a frame; and so does the
  // statement find them: in its snapshot, and with `locks` at the end too.
  SmtTerm are_met(const Finding& finding, const Sources& rows, const Frame& at);
  SmtTerm are_found(const Finding& finding, const Sources& rows);
  // The rows that it finds. Without a fixed key it finds some, free to be any that match.
  void find_rows(const Finding& finding, std::size_t num_rows, Selection& selection);
  // Every row that matches is found, or there are more than the ones that we look at.
  void find_all(const Finding& finding, std::size_t num_rows, const Selection& selection);
  // What it looks for in one of its tables. In a join, which rows of one table are looked at
  // depends on the others: a free symbol says.
  TableSearch search_of(const Finding& finding, sql::SourceId source,
                        std::optional<SmtFunction> looked_at);
  SmtFunction looked_at(sql::TableId table, sql::SourceId source, const Selection& selection);
  // The locks of FOR UPDATE and its kind on one of the tables.
  void lock_found(const sql::Query& query, const Finding& finding, sql::SourceId source,
                  const std::set<sql::ColumnId>& outputs, const Selection& selection);
  void observe(const TableSearch& search, Attribute attribute, ConditionId condition);
  // The row may be another by now under the same key; then the search has found nothing.
  ConditionId still_there(sql::TableId table);
  // UPDATE … FROM passes over a row that it has changed already.
  ConditionId is_untouched(sql::TableId table);
};

}  // namespace isoscope::audit
