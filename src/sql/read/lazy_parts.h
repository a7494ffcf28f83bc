#pragma once
// Parts of an expression that the server may pass over. AND stops at false and OR at true, CASE at
// its branch and COALESCE at a value. What a part needs, subqueries and calls, are statements
// before the one that the expression stands in; they run only if the part is asked for, where
// variables alone say whether it is.
//
// The planner drops more: an operator beside a written NULL is NULL, AND beside a written false is
// false, OR beside a written true is true, and nothing else of it is computed. What cannot fail and
// does nothing has the same value anyhow; the rest is refused.
#include <concepts>

#include "sql/read/expr_builder.h"

namespace isoscope::sql {

class LazyParts {
 public:
  LazyParts(Scope& scope, Place place);
  // Marks the calls that ran though they may be passed over, so that the answer says so.
  ~LazyParts();
  LazyParts(const LazyParts&) = delete;
  LazyParts& operator=(const LazyParts&) = delete;

  // A part ends that is always asked for.
  void end_first();
  // The planner may drop all parts before this one, which it can compute: their calls may not
  // happen.
  void note_known(const Expr& part);
  // A part ends that is asked for if `asked()`, an expression of the parts before, is true.
  void end(std::invocable auto asked) {
    if (has_grown()) guard(asked());
    mark();
  }
  // Has any part so far needed a statement?
  bool has_statements() const;

 private:
  bool has_grown() const;
  void guard(Expr asked);
  void mark();

  Scope& scope_;
  Place place_;
  std::size_t begin_ = 0;  // the statements that were there before all parts
  std::size_t mark_ = 0;   // … before this part
  std::size_t first_ = 0;  // … with those of the first part
  bool may_drop_first_ = false;
};

// True for `part` unless it is false (of AND), or true (of OR); NULL counts as neither.
Expr goes_on_after(ExprOp op, Expr part);
// True unless `test` is.
Expr is_not_true(Expr test);

// Does the planner know its value before the parts that come before it are computed? Of AND and OR:
// then nothing before it is.
bool decides(ExprOp op, const Expr& part);
// Can computing it fail?
bool may_fail(const Expr& expr);
// Can it fail by what is in a row: a division, or a text that is no number? Sums that leave their
// range are not counted; see docs/sql.md.
bool may_be_refused(const Expr& expr);
// Notes a condition of a query of which one part may fail where the server may ask another one
// first: it sorts them by cost, and reads rows by an index.
void note_order_of_parts(Scope& scope, const Expr& condition);
// What the planner computes, and what may fail then, though perhaps no row asks for it: in a
// variable that is set before the statement. Parts that it may pass over get a note.
Expr computed_early(Scope& scope, Expr made);
// Refuses an operator beside a written NULL whose other argument can fail or needs a statement.
void refuse_dropped_operand(Scope& scope, const Expr& made, bool has_statements);
void refuse_dropped(Scope& scope, Place place);

}  // namespace isoscope::sql
