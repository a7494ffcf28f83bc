#pragma once
// Does an application keep what its types promise? A check on the front end, for its tests.
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sql/application.h"

namespace isoscope::sql {

inline std::size_t fewest_args(ExprOp op) {
  switch (op) {
    case ExprOp::Null:
    case ExprOp::Integer:
    case ExprOp::Text:
    case ExprOp::Boolean:
    case ExprOp::Decimal:
    case ExprOp::Variable:
    case ExprOp::Column:
    case ExprOp::ArrayOf:
    case ExprOp::Opaque: return 0;
    case ExprOp::Cardinality:
    case ExprOp::Not:
    case ExprOp::Negate:
    case ExprOp::IsNull:
    case ExprOp::Coalesce:
    case ExprOp::Least:
    case ExprOp::Greatest:
    case ExprOp::Abs:
    case ExprOp::ToNumeric:
    case ExprOp::ToInteger:
    case ExprOp::Round: return 1;
    case ExprOp::If: return 3;
    default: return 2;
  }
}

class FlawSearch {
 public:
  explicit FlawSearch(const Application& app) : app_(app) {}

  std::string run() {
    for (const Table& table : app_.tables) check_table(table);
    for (const Function& function : app_.functions) {
      function_ = &function;
      if (function.num_parameters > function.variables.size()) flaw("parameters without variables");
      for (const auto& var : {function.found, function.row_count}) {
        if (var) check_var(*var);
      }
      next_ = 0;
      loops_ = 0;
      check_body(function.body);
      if (next_ != function.num_statements) flaw("statements are counted wrongly");
    }
    for (const InitialRow& row : app_.initial_rows) {
      if (row.table.index >= app_.tables.size() ||
          row.values.size() != app_.table(row.table).columns.size())
        flaw("an initial row of the wrong shape");
    }
    for (const SqlSession& session : app_.sessions) {
      for (const SessionCall& call : session.calls) {
        if (call.function.index >= app_.functions.size() ||
            call.arguments.size() != app_.function(call.function).num_parameters)
          flaw("a call of the wrong shape");
      }
    }
    return flaw_;
  }

 private:
  void flaw(std::string what) {
    if (flaw_.empty()) flaw_ = std::move(what);
  }

  void check_columns(const Table& table, std::span<const ColumnId> columns) {
    for (const ColumnId column : columns) {
      if (!table.columns.contains(column)) flaw("a key with a column that is not there");
    }
  }

  void check_table(const Table& table) {
    function_ = nullptr;
    if (table.primary_key.empty()) flaw("a table without a key");
    check_columns(table, table.primary_key);
    for (const auto& key : table.unique) check_columns(table, key);
    for (const ForeignKey& key : table.foreign_keys) {
      if (key.target.index >= app_.tables.size() || key.columns.size() != key.target_columns.size())
        return flaw("a foreign key of the wrong shape");
      check_columns(table, key.columns);
      check_columns(app_.table(key.target), key.target_columns);
    }
    const TableId id{static_cast<std::uint32_t>(&table - app_.tables.data())};
    for (const Expr& check : table.checks) check_expr(check, {&id, 1});
    for (const Exclusion& exclusion : table.exclusions) {
      for (const ExclusionPart& part : exclusion.parts) {
        check_expr(part.value, {&id, 1});
        check_optional(part.high, {&id, 1});
      }
    }
    for (const Column& column : table.columns) check_optional(column.default_value, {});
  }

  void check_var(VarId var) {
    if (function_ == nullptr || var.index >= function_->variables.size())
      flaw("a variable that is not there");
  }

  // The expression is over rows of a row set, whose columns nobody declares.
  void check_row_expr(const Expr& expr) {
    if (expr.op == ExprOp::Variable) check_var(expr.var);
    if (expr.op == ExprOp::Column && expr.source != SourceId{0}) flaw("a row set has one source");
    for (const Expr& arg : expr.args) check_row_expr(arg);
  }

  void check_row_query(const Query& query) {
    check_var(*query.rows);
    if (!query.sources.empty()) flaw("a query of rows and tables");
    if (query.lock != Lock::None) flaw("a lock on rows of a row set");
    if (query.where) check_row_expr(*query.where);
    for (const Output& output : query.outputs) {
      check_row_expr(output.expr);
      if (output.filter) check_row_expr(*output.filter);
    }
    for (const OrderBy& order : query.order_by) check_row_expr(order.expr);
    for (const Expr& expr : query.distinct_on) check_row_expr(expr);
    if (query.group_by) {
      for (const Expr& expr : *query.group_by) check_row_expr(expr);
    }
    check_optional(query.limit, {});
    check_optional(query.offset, {});
  }

  void check_expr(const Expr& expr, std::span<const TableId> sources) {
    if (expr.args.size() < fewest_args(expr.op))
      flaw(fmt::format("operator {} with {} arguments", static_cast<int>(expr.op),
                       expr.args.size()));
    if (expr.op == ExprOp::Variable) check_var(expr.var);
    if (expr.op == ExprOp::Column &&
        (expr.source.index >= sources.size() ||
         !app_.table(sources[expr.source.index]).columns.contains(expr.column)))
      flaw("a column that is not there");
    for (const Expr& arg : expr.args) check_expr(arg, sources);
  }

  void check_optional(const std::optional<Expr>& expr, std::span<const TableId> sources) {
    if (expr) check_expr(*expr, sources);
  }

  void check_query(const Query& query) {
    if (query.rows) return check_row_query(query);
    if (query.group_by || !query.distinct_on.empty()) flaw("groups without a row set");
    for (const TableId table : query.sources) {
      if (table.index >= app_.tables.size()) return flaw("a query of no table");
    }
    check_optional(query.where, query.sources.entries());
    for (const Output& output : query.outputs) {
      check_expr(output.expr, query.sources.entries());
      if ((output.aggregate != Aggregate::None) != query.is_aggregate())
        flaw("a query with some aggregates");
    }
    for (const OrderBy& order : query.order_by) check_expr(order.expr, query.sources.entries());
    check_optional(query.limit, {});
    check_optional(query.offset, {});
  }

  void check_sets(const std::vector<SetColumn>& sets, const Write& write, std::size_t num_sources) {
    const TableId both[] = {write.table, write.table};
    for (const SetColumn& set : sets) {
      if (!app_.table(write.table).columns.contains(set.column))
        flaw("a column that is not there is set");
      check_expr(set.value, std::span<const TableId>(both, num_sources));
    }
  }

  // `num_rows` is how many rows RETURNING can name.
  bool check_write(const Write& write, std::size_t num_rows) {
    if (write.table.index >= app_.tables.size()) {
      flaw("a write of no table");
      return false;
    }
    const TableId both[] = {write.table, write.table};
    for (const Expr& expr : write.returning)
      check_expr(expr, std::span<const TableId>(both, num_rows));
    if (write.into_rows) {
      check_var(*write.into_rows);
    } else if (write.returning.size() != write.targets.size()) {
      flaw("RETURNING does not fit INTO");
    }
    return true;
  }

  void check_targets(const std::vector<VarId>& targets, std::size_t count) {
    if (targets.size() != count) flaw("the wrong number of targets");
  }

  void check(const Select& select) {
    check_query(select.query);
    if (select.into_rows) return check_var(*select.into_rows);
    if (select.exists || select.draws) return check_targets(select.targets, 1);
    if (select.advisory) return check_advisory(select);
    if (!select.targets.empty()) check_targets(select.targets, select.query.outputs.size());
  }

  void check_advisory(const Select& select) {
    const Query& query = select.query;
    if (!query.sources.empty() || query.where || query.outputs.empty() || query.outputs.size() > 2)
      flaw("an advisory lock on no number");
    if (select.targets.size() > 1) flaw("the wrong number of targets");
  }

  void check(const ForQuery& loop) {
    check_query(loop.query);
    check_targets(loop.targets, loop.query.outputs.size());
  }

  void check(const Insert& insert) {
    if (!check_write(insert, 1)) return;
    const TableId both[] = {insert.table, insert.table};
    check_sets(insert.sets, insert, 0);
    check_sets(insert.conflict_sets, insert, 2);
    check_optional(insert.conflict_where, both);
    check_columns(app_.table(insert.table), insert.conflict_key);
  }

  void check(const Update& update) {
    if (!check_write(update, 2)) return;
    check_optional(update.where, {&update.table, 1});
    check_sets(update.sets, update, 1);
  }

  void check(const Delete& remove) {
    if (check_write(remove, 1)) check_optional(remove.where, {&remove.table, 1});
  }

  void check(const Jump& jump) {
    check_optional(jump.condition, {});
    if (jump.depth >= loops_) flaw("a loop is left that is not there");
  }

  void check(const Assign& assign) {
    check_expr(assign.value, {});
    check_optional(assign.index, {});
  }

  void check(const ForRange& loop) {
    check_expr(loop.from, {});
    check_expr(loop.to, {});
    check_optional(loop.step, {});
  }

  void check(const Append& append) {
    for (const Expr& expr : append.values) check_expr(expr, {});
  }

  void check(const ForArray& loop) { check_expr(loop.array, {}); }
  void check(const If& branch) { check_expr(branch.condition, {}); }
  void check(const While& loop) { check_optional(loop.condition, {}); }
  void check(const Return& returned) { check_optional(returned.value, {}); }
  void check(const ReturnRow& returned) { check_optional(returned.value, {}); }
  void check(const Raise&) {}
  void check(const EndTransaction&) {}
  void check(const Block&) {}

  void check_body(std::span<const Statement> body) {
    for (const Statement& statement : body) {
      if (statement.number != next_++) flaw("a statement with the wrong number");
      for (const VarId var : statement.targets()) check_var(var);
      std::visit([&](const auto& kind) { check(kind); }, statement.kind);
      const bool is_block = statement.is<Block>();
      const std::uint32_t levels = statement.is_loop() || is_block ? 1U : 0U;
      loops_ += levels;
      check_body(statement.body());
      if (is_block) check_body(statement.otherwise());
      loops_ -= levels;
      if (!is_block) check_body(statement.otherwise());
    }
  }

  const Application& app_;
  const Function* function_ = nullptr;
  std::uint32_t next_ = 0;
  std::uint32_t loops_ = 0;
  std::string flaw_;
};

// What is wrong: a variable, column, table or function that does not exist, an operator with too
// few arguments, loops that are left and are not there. Empty if nothing is.
inline std::string find_flaw(const Application& app) { return FlawSearch(app).run(); }

}  // namespace isoscope::sql
