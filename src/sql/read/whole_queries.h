#pragma once
// Which subqueries run to their end?
//
// The server asks a subquery for a row when it needs one. An InitPlan runs when an expression asks
// for its value, which the planner may drop altogether: it knows the values of variables, so that
// `(SELECT …) > 0 OR p` is true before anything runs. A subquery in FROM, a view or WITH gives as
// many rows as the query around fetches, and conditions of that query move into it. For what is
// only read this makes no difference; for locks, and for a second row of a scalar subquery, which
// is an error, it does. Such a subquery is a gap, unless it is one of these:
//
//     v := (SELECT … FOR UPDATE)              the whole expression, or compared with a constant
//     IF NOT EXISTS (SELECT … WHERE id = p FOR UPDATE)      the same, of a row by its key
//     UPDATE t … WHERE id = (SELECT … FROM t FOR UPDATE SKIP LOCKED LIMIT 1)
//     WITH q AS (SELECT … FROM t FOR UPDATE …) UPDATE t … FROM q WHERE t.id = q.id
//
// The last two take jobs from a queue: without a row in t both have nothing to do.
#include "sql/read/query_builder.h"

namespace isoscope::sql {

// The SelectStmt that an expression of PL/pgSQL surely asks for its rows; null if there is none.
const Tree* asked_by_expression(const Tree& expr);
// The one that an UPDATE or DELETE asks to find its rows.
const Tree* asked_by_write(const Scope& scope, const Tree& write);
// The one of WITH, called `name`, whose rows an UPDATE or DELETE joins with its own.
const Tree* asked_of_with(const Scope& scope, const Tree& write, const Tree& with_query,
                          const std::string& name);

// Does a unique key, of which all columns are given, find the row?
bool names_one_row(const Scope& scope, const Query& query);
// Does it surely run what stands in FROM, a function for example? Not where a condition may be
// false from the beginning, or no row be wanted.
bool asks_all_of_from(const Scope& scope, const Tree& select);
// Notes the locks of a query that may not run to its end.
void note_partial_locks(Scope& scope, const Tree& select);
// Notes the locks of EXISTS, which stops at the first row, unless there is only one.
void note_first_row(Scope& scope, const Tree& select, const Query& query);
// Notes outputs of a subquery in FROM that may fail, though perhaps nothing asks for them.
void note_unused_failures(Scope& scope, const BuiltQuery& built);
// Notes a scalar subquery of which a second row may stay unnoticed.
void note_second_row(Scope& scope, const Tree& select, const Query& query, Place place);

}  // namespace isoscope::sql
