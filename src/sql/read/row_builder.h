#pragma once
// Queries that are more than a choice among rows of joined tables: loops that put rows into a row
// set, and a query over it.
//
//     SELECT o.id, count(i.id)                 rows R0 := {}
//     FROM orders o                            FOR o IN SELECT … FROM orders WHERE o.id = 7
//     LEFT JOIN item i ON i.order_id = o.id      matched := false
//     WHERE o.id = 7                             FOR i IN SELECT … FROM item WHERE order_id = o.id
//     GROUP BY o.id                                matched := true; R0 += (o.id, i.id)
//                                                IF NOT matched: R0 += (o.id, NULL)
//                                              R1 := SELECT o.id, count(i.id) FROM R0 GROUP BY o.id
//
// Inside of the loops the columns are variables, so a subquery there may use them; they are made as
// they are asked for (BoundRow), which is why the loops are written down at the end. Conditions of
// WHERE go to the first table that knows all their columns. All statements are parts of one SQL
// statement, so they share a snapshot (Statement::continues).
#include <set>
#include <vector>

#include "sql/read/query_parts.h"

namespace isoscope::sql {

// The rows of FROM, as loops.
class RelationLoops {
 public:
  using Body = std::vector<Statement>;

  // Sources are added to `scope`, whose columns are variables from then on. What is asked once goes
  // to `scope.before` as it is now.
  RelationLoops(Scope& scope, Place place);

  // The server may leave the functions of the entries so far uncalled.
  void calls_may_not_run();
  void add_entry(const Tree& entry, int depth = 0);
  // A table beside those of FROM: the target of an UPDATE. Returns its number among the sources.
  std::uint32_t add_table(TableId table, std::string name);
  // The conjuncts of WHERE.
  void add_where(const Tree& where);
  // One that is built already.
  void filter(Expr condition) { add_condition(std::move(condition), false); }
  // An expression for each row; the subqueries that use columns are asked where the body begins.
  Expr value(const Tree& node);
  Expr condition(const Tree& node);
  // Did one of them have such subqueries?
  bool asks_for_each_row() const { return !each_.empty(); }

  // Statements that do this for every row that WHERE lets pass. Call it last.
  Body around(Body body);
  // The columns that were asked for.
  std::vector<VarId> bound_variables() const;
  const std::vector<Expr>& conditions() const { return all_conditions_; }
  // With the columns of a source as columns of source 0 again.
  Expr as_columns(Expr expr, std::uint32_t source) const;

 private:
  enum class Kind : std::uint8_t { Table, Rows, Range, Array };
  struct Input {
    Kind kind = Kind::Table;
    std::uint32_t source = 0;
    bool is_left = false;
    VarId rows = {};
    std::optional<Expr> from = {};  // of Range; the list of Array
    std::optional<Expr> to = {};
    std::optional<Expr> step = {};
    bool descending = false;
    Body ahead = {};  // before the loop, in each round of those around
    std::optional<Expr> where = {};
    std::optional<Expr> guard = {};  // where the loop cannot say it
  };

  void add_join(const Tree& join, int depth);
  void add_range(const Tree& range, Place place);
  void add_subquery(const Tree& node, Place place);
  void add_function(const Tree& node, Place place);
  void set_step(Input& input, Expr step);
  void add_rows(const NamedRows& rows, std::string name, const Tree& alias, Place place);
  void add_source(Source source, Place place);
  void add_condition(Expr condition, bool is_on);
  // Builds with a list of its own for subqueries: once, before all, if they use no column here.
  template <class Build>
  Expr build(const Build& build, Body& each);
  bool uses_rows(const Body& statements) const;
  Statement loop_of(Input& input, Body body);
  Body around(std::size_t count, Body body);
  Statement if_true(Expr condition, Body body) const;
  Statement assign(VarId var, Expr value) const;
  Statement append(VarId rows, const std::vector<VarId>& variables) const;
  std::vector<VarId> variables_of(std::size_t num_inputs) const;

  Scope& scope_;
  Body& once_;
  std::size_t mark_;  // of what was there before
  Body each_;         // at the beginning of the body
  Place place_;
  std::vector<Input> inputs_;
  struct Last {
    Body each;
    Expr condition;
  };
  std::vector<Last> last_;  // conditions that need all rows
  std::vector<Expr> all_conditions_;
};

bool mentions_variable(std::span<const Statement> statements, const std::set<VarId>& variables);
bool mentions_variable(const Expr& expr, const std::set<VarId>& variables);

}  // namespace isoscope::sql
