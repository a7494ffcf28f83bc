#pragma once
// INSERT, UPDATE and DELETE. Only the sources of these include this; others use query_builder.h.
//
// One that names its rows by a condition on the table alone is one statement. Others are several:
//
//   INSERT of rows, of a SELECT      an Insert for each row
//   UPDATE … FROM, DELETE … USING    for each row of FROM: the Update of the rows that it matches,
//                                    each once
//   a subquery that uses a column    for each row that matches: the Update of that row, if the
//   of the table                     condition still holds
//   row triggers, ON DELETE and ON   BEFORE: what they do to the new row; AFTER: for each row that
//   UPDATE of foreign keys           RETURNING gives (trigger_builder.cpp)
//
// Then RETURNING goes to a row set first, which also says how many rows there were.
//
// A view that is a choice of rows and columns of one table is changed as its table is: names mean
// the columns that they stand for, and the view's condition is part of WHERE (view_target.cpp).
#include <set>
#include <string>
#include <vector>

#include "sql/read/cascades.h"
#include "sql/read/query_parts.h"
#include "sql/read/row_builder.h"

namespace isoscope::sql {

// The table that a view stands for where it is changed.
struct ViewTarget {
  TableId table = TableId::none();
  Source::Columns columns;  // with their values, over the table as source 0
  std::optional<Expr> where = {};

  // The column of the table that a name means; nothing if it is none, or computed.
  std::optional<ColumnId> find(std::string_view name) const;
};
// Nothing, and a failure, if the server or we cannot change it.
std::optional<ViewTarget> view_target(const Scope& scope, const std::string& view, Place place,
                                      int depth = 0);

class WriteBuilder {
 public:
  using Body = std::vector<Statement>;

  WriteBuilder(Body& to, const Scope& given, const std::string& kind, const Tree& node,
               const Statement& model);

  // Where RETURNING goes: to these variables, or to a row set.
  void into_variables(std::vector<std::size_t> named, bool strict);
  void into_rows(VarId rows) { wanted_rows_ = rows; }
  void run();
  // Of RETURNING.
  const std::vector<ResultColumn>& columns() const { return columns_; }

 private:
  bool find_target();
  // The table, or the view that stands for it, under the name that the statement gives it.
  Source target() const;
  // The column that is given a value.
  std::optional<ColumnId> target_column(const std::string& name, Place place) const;
  void build_returning(const Scope& scope);
  // Allocates the row set for RETURNING, if it is to be one.
  void choose_rows(bool is_composite);
  // Adds one write: with RETURNING, and what triggers do before it.
  void put(Body& to, StatementKind kind);
  // Notes an UPDATE that may move rows to other partitions.
  void note_move(const std::vector<SetColumn>& sets);
  // UPDATE and DELETE with other tables: notes that a row may meet several rows of those, where it
  // matters which.
  void note_partners(const Scope& scope, std::span<const Expr> conditions,
                     const std::vector<SetColumn>& sets);  // partners.cpp
  // What follows the writes: triggers, targets, FOUND and ROW_COUNT.
  void finish();
  void finish_targets();

  // insert_builder.cpp
  void insert();
  void insert_rows(const Tree& rows, bool has_values, const std::vector<ColumnId>& columns);
  void note_rows_of_a_tree();
  void insert_select(const Tree& given, std::vector<ColumnId> columns);
  Tree without_fresh(const Tree& select, std::vector<ColumnId>& columns,
                     ById<ColumnId, bool>& is_given);
  std::vector<ColumnId> insert_columns();
  bool fills(const Tree& value, ColumnId column);
  void order_draws(const Tree& rows, const std::vector<ColumnId>& columns);
  void leave_out_others(const ById<ColumnId, bool>& is_given);
  Insert insert_row(Scope& scope, const Tree& values, const std::vector<ColumnId>& columns,
                    bool names_columns);
  void build_conflict(Insert& insert);
  void infer_arbiters(Scope& scope, const Tree& infer, Insert& insert);

  // An Update or Delete of `where`.
  StatementKind searched_write(std::optional<Expr> where, std::vector<SetColumn> sets,
                               bool once) const;
  void modify();
  bool modify_natively();
  void modify_for_each_row();
  using Value = std::function<Expr(const Tree&)>;
  void refuse_always(ColumnId column);
  std::vector<SetColumn> build_sets(Scope& scope, const Tree& targets, const Value& value);
  std::optional<Expr> part_of_row(Scope& scope, const Tree& reference, const Value& value,
                                  Place place);

  // trigger_builder.cpp
  bool has_triggers(bool before) const;
  bool fires(const Trigger& trigger, WriteOp op) const;
  std::vector<const Trigger*> before_triggers() const;
  std::set<ColumnId> set_columns(const Tree& list) const;
  std::set<ColumnId> columns_set_before(TableId of, const std::set<ColumnId>& set) const;
  RowChange row_change() const;
  void refuse_triggers();
  void note_cascades();
  void add_trigger_columns();
  void put_before_insert(Body& to, Insert insert);
  void apply_before_update(Update& update);
  void run_after_triggers();
  void run_statement_triggers();  // statement_triggers.cpp
  // delete_triggers.cpp
  bool runs_before_delete() const;
  void put_before_delete(Body& to, Delete remove);
  std::vector<std::shared_ptr<const Function>> functions_before_delete();
  Body with_delete_trigger(const Function& function, const ById<ColumnId, Expr>& old, VarId skips,
                           Body rest);

  const Table& table() const { return scope_.catalog.table(id_); }

  Body& to_;
  Scope scope_;
  std::string kind_;
  const Tree& node_;
  Statement model_;
  TableId id_ = TableId::none();
  std::string name_;
  std::optional<ViewTarget> view_;
  WriteOp op_ = WriteOp::Insert;
  bool leaves_draws_ = true;  // INSERT: nextval as the value of a column is drawn by it
  std::vector<std::size_t> named_;
  bool strict_ = false;
  std::optional<VarId> wanted_rows_;
  std::vector<ResultColumn> columns_;
  std::vector<Expr> returning_;        // what the program asks for
  std::vector<Expr> trigger_columns_;  // and what triggers need: the new row, the old row
  std::optional<VarId> rows_;          // where it goes, if it is a row set
  std::vector<VarId> row_parts_;       // SET (a, b) = (SELECT …)
};

// Values for generated columns: what their expressions are of the others.
void add_generated(const Table& table, std::vector<SetColumn>& sets, bool is_insert);
// The value as one of the column.
Expr value_for(Scope& scope, const Table& table, ColumnId column, Expr value);
std::optional<ColumnId> expect_column(const Scope& scope, const Table& table,
                                      const std::string& name, Place place);
inline bool is_default(const Tree& value) { return kind_of(value) == "SetToDefault"; }
// The expression with columns of source 0 replaced by what `value` gives for them, if it does.
using ColumnValue = std::function<std::optional<Expr>(ColumnId)>;
Expr with_columns(Expr expr, const ColumnValue& value);

}  // namespace isoscope::sql
