#include "sql/well_formed.h"

#include <fmt/format.h>

#include <optional>
#include <span>

namespace isoscope::sql {
namespace {

std::size_t fewest_args(ExprOp op) {
  switch (op) {
    case ExprOp::Null:
    case ExprOp::Integer:
    case ExprOp::Text:
    case ExprOp::Boolean:
    case ExprOp::Variable:
    case ExprOp::Column:
    case ExprOp::ArrayOf:
    case ExprOp::Opaque:
      return 0;
    case ExprOp::Cardinality:
    case ExprOp::Not:
    case ExprOp::Negate:
    case ExprOp::IsNull:
    case ExprOp::Coalesce:
    case ExprOp::Least:
    case ExprOp::Greatest:
    case ExprOp::Abs:
      return 1;
    case ExprOp::If:
      return 3;
    default:
      return 2;
  }
}

class Checker {
 public:
  explicit Checker(const Application& app) : app_(app) {}

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

  void check_columns(const Table& table, std::span<const std::uint32_t> columns) {
    for (const std::uint32_t column : columns) {
      if (column >= table.columns.size()) flaw("a key with a column that is not there");
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
    if (expr.op == ExprOp::Column && expr.source != 0) flaw("a row set has one source");
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
        (expr.source >= sources.size() ||
         expr.column >= app_.table(sources[expr.source]).columns.size()))
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
    check_optional(query.where, query.sources);
    for (const Output& output : query.outputs) {
      check_expr(output.expr, query.sources);
      if ((output.aggregate != Aggregate::None) != query.is_aggregate())
        flaw("a query with some aggregates");
    }
    for (const OrderBy& order : query.order_by) check_expr(order.expr, query.sources);
    check_optional(query.limit, {});
    check_optional(query.offset, {});
  }

  void check_sets(const std::vector<SetColumn>& sets, const Table& table,
                  std::span<const TableId> sources) {
    for (const SetColumn& set : sets) {
      if (set.column >= table.columns.size()) flaw("a column that is not there is set");
      check_expr(set.value, sources);
    }
  }

  void check_write(const Statement& statement) {
    if (statement.table.index >= app_.tables.size()) return flaw("a write of no table");
    const Table& table = app_.table(statement.table);
    const TableId both[] = {statement.table, statement.table};
    const std::span<const TableId> one(both, 1);
    const bool is_insert = statement.op == StatementOp::Insert;
    check_optional(statement.where, one);
    check_sets(statement.sets, table, is_insert ? std::span<const TableId>() : one);
    check_sets(statement.conflict_sets, table, both);
    check_optional(statement.conflict_where, both);
    check_columns(table, statement.conflict_key);
    for (const Expr& expr : statement.returning)
      check_expr(expr, statement.op == StatementOp::Update ? std::span<const TableId>(both) : one);
    if (statement.into_rows) return check_var(*statement.into_rows);
    if (statement.returning.size() != statement.targets.size()) flaw("RETURNING does not fit INTO");
  }

  void check_advisory(const Statement& statement) {
    const Query& query = statement.query;
    if (!query.sources.empty() || query.where || query.outputs.empty() || query.outputs.size() > 2)
      flaw("an advisory lock on no number");
    if (statement.targets.size() > 1) flaw("the wrong number of targets");
  }

  void check_targets(const Statement& statement, std::size_t count) {
    if (statement.targets.size() != count) flaw("the wrong number of targets");
  }

  void check_statement(const Statement& statement) {
    for (const VarId var : statement.targets) check_var(var);
    check_optional(statement.expr, {});
    check_optional(statement.index, {});
    check_optional(statement.upper, {});
    check_optional(statement.step, {});
    switch (statement.op) {
      case StatementOp::Select:
        check_query(statement.query);
        if (statement.into_rows) return check_var(*statement.into_rows);
        if (statement.exists) return check_targets(statement, 1);
        if (statement.advisory) return check_advisory(statement);
        if (!statement.targets.empty()) check_targets(statement, statement.query.outputs.size());
        return;
      case StatementOp::ForQuery:
        check_query(statement.query);
        return check_targets(statement, statement.query.outputs.size());
      case StatementOp::Insert:
      case StatementOp::Update:
      case StatementOp::Delete:
        return check_write(statement);
      case StatementOp::Assign:
        if (!statement.expr) flaw("an assignment of nothing");
        return check_targets(statement, 1);
      case StatementOp::ForRange:
        if (!statement.expr || !statement.upper) flaw("a range without ends");
        return check_targets(statement, 1);
      case StatementOp::ForArray:
        if (!statement.expr) flaw("a loop over nothing");
        return check_targets(statement, 1);
      case StatementOp::If:
        if (!statement.expr) flaw("an IF without a condition");
        return;
      case StatementOp::Exit:
      case StatementOp::Continue:
        if (statement.depth >= loops_) flaw("a loop is left that is not there");
        return;
      case StatementOp::Append:
        for (const Expr& expr : statement.returning) check_expr(expr, {});
        return check_targets(statement, 1);
      case StatementOp::Block:
        return check_targets(statement, statement.catches ? 2 : 0);
      case StatementOp::While:
      case StatementOp::Return:
      case StatementOp::ReturnRow:
      case StatementOp::Raise:
        return;
    }
  }

  void check_body(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      if (statement.number != next_++) flaw("a statement with the wrong number");
      check_statement(statement);
      const bool is_block = statement.op == StatementOp::Block;
      const std::uint32_t levels = statement.is_loop() || is_block ? 1U : 0U;
      loops_ += levels;
      check_body(statement.body);
      if (is_block) check_body(statement.otherwise);
      loops_ -= levels;
      if (!is_block) check_body(statement.otherwise);
    }
  }

  const Application& app_;
  const Function* function_ = nullptr;
  std::uint32_t next_ = 0;
  std::uint32_t loops_ = 0;
  std::string flaw_;
};

}  // namespace

std::string find_flaw(const Application& app) { return Checker(app).run(); }

}  // namespace isoscope::sql
