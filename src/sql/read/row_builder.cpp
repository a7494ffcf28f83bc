#include "sql/read/row_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/read/whole_queries.h"

namespace isoscope::sql {
namespace {

Expr column_of_rows(const Expr& like, std::size_t column, Place place) {
  return {.op = ExprOp::Column,
          .type = like.type,
          .is_array = like.is_array,
          .bits = like.bits,
          .column = {static_cast<std::uint32_t>(column)},
          .place = place};
}

// One query: its rows in a row set, and what is asked of that.
class RowQueryBuilder {
 public:
  RowQueryBuilder(const Scope& given, const Tree& select)
      : scope_(given),
        select_(select),
        place_(place_of_select(given, select)),
        loops_(scope_, place_) {}

  BuiltQuery run() {
    Findings& findings = scope_.findings;
    if (has(select_, "lockingClause"))
      findings.fail(place_, "FOR UPDATE and FOR SHARE are not modelled in such a query",
                    "lock the rows by a query of their table alone");
    for (const Tree& entry : child(select_, "fromClause")) loops_.add_entry(entry);
    if (!asks_all_of_from(scope_, select_)) loops_.calls_may_not_run();
    if (has(select_, "whereClause") && !findings.failed())
      loops_.add_where(child(select_, "whereClause"));
    if (findings.failed()) return {};
    is_grouped_ = has(select_, "groupClause") || has(select_, "havingClause") ||
                  contains_aggregate(child(select_, "targetList"));
    if (is_grouped_) scope_.aggregates = &calls_;
    build_outputs();
    if (has(select_, "havingClause")) having_ = loops_.condition(child(select_, "havingClause"));
    build_order();
    build_distinct();
    scope_.aggregates = nullptr;
    build_groups();
    if (is_grouped_ && loops_.asks_for_each_row())
      findings.fail(place_, "a subquery that uses columns cannot stand beside groups here",
                    "join the table of the subquery");
    if (findings.failed()) return {};
    return is_grouped_ ? grouped() : plain();
  }

 private:
  using Body = std::vector<Statement>;

  void build_outputs() {
    for (const Tree& entry : child(select_, "targetList")) {
      const Tree& target = inside(entry);
      const Tree& value = child(target, "val");
      if (is_star(value)) {
        for (NamedExpr& column : star_columns(scope_, value)) outputs_.push_back(std::move(column));
        continue;
      }
      const std::string name = text_of(target, "name");
      Expr expr = loops_.value(value);
      outputs_.push_back({name.empty() ? column_name(value) : name, std::move(expr)});
    }
  }

  // What a key of ORDER BY, GROUP BY or DISTINCT ON stands for.
  Expr key_value(const Tree& key, bool columns_first) {
    const Tree& targets = child(select_, "targetList");
    const Tree& fields = child(child(key, "ColumnRef"), "fields");
    bool is_column = false;
    for (std::uint32_t s = 0; columns_first && fields.size() == 1 && s < scope_.sources.size(); ++s)
      is_column = is_column || find_source_column(scope_, s, last_name(fields));
    const auto position = is_column ? std::nullopt : output_position(scope_, key, targets);
    // A name in ORDER BY may be that of an output, which comes before columns and variables.
    scope_.names_may_clash = scope_.names_may_clash && columns_first;
    if (!position) return loops_.value(key);
    if (*position < outputs_.size()) return outputs_[*position].expr;
    scope_.findings.fail(scope_.place(inside(key)), "there is no such column");
    return make_null(Type::Integer, place_);
  }

  void build_order() {
    for (const Tree& entry : child(select_, "sortClause")) {
      OrderBy order = order_direction(inside(entry));
      order.expr = key_value(child(inside(entry), "node"), false);
      note_order(scope_, order.expr, order.expr.place);
      order_.push_back(std::move(order));
    }
  }

  void build_distinct() {
    const Tree& distinct = child(select_, "distinctClause");
    is_distinct_ = distinct.is_array() && !distinct.empty();
    if (!is_distinct_) return;
    for (const Tree& key : distinct) {
      if (!key.is_null() && !key.empty()) distinct_on_.push_back(key_value(key, false));
    }
  }

  void build_groups() {
    for (const Tree& key : child(select_, "groupClause")) {
      if (kind_of(key) == "GroupingSet") {
        scope_.findings.fail(place_, "GROUPING SETS, ROLLUP and CUBE are not modelled");
        return;
      }
      groups_.push_back(key_value(key, true));
    }
  }

  Statement append(VarId rows, std::vector<Expr> values) const {
    return model_in(scope_, place_).with(Append{.rows = rows, .values = std::move(values)});
  }

  // The values of a row of the result: outputs, then what it is ordered and told apart by.
  std::vector<Expr> row_values() const {
    std::vector<Expr> values;
    for (const NamedExpr& output : outputs_) values.push_back(output.expr);
    for (const OrderBy& order : order_) values.push_back(order.expr);
    for (const Expr& expr : distinct_on_) values.push_back(expr);
    return values;
  }

  BuiltQuery query_over(VarId rows) {
    BuiltQuery built;
    built.query.rows = rows;
    std::size_t next = 0;
    for (const NamedExpr& output : outputs_) {
      built.query.outputs.push_back({.expr = column_of_rows(output.expr, next++, place_)});
      built.columns.push_back(
          {output.name, output.expr.type, output.expr.is_array, output.expr.bits});
    }
    for (const OrderBy& order : order_) {
      OrderBy by = order;
      by.expr = column_of_rows(order.expr, next++, place_);
      built.query.order_by.push_back(std::move(by));
    }
    for (const Expr& expr : distinct_on_)
      built.query.distinct_on.push_back(column_of_rows(expr, next++, place_));
    built.query.distinct = is_distinct_ && distinct_on_.empty();
    built.query.limit = build_count(scope_, child(select_, "limitCount"), "LIMIT");
    built.query.offset = build_count(scope_, child(select_, "limitOffset"), "OFFSET");
    return built;
  }

  BuiltQuery plain() {
    const VarId rows = add_row_set(scope_, "rows", *scope_.before, place_);
    Body body = loops_.around({append(rows, row_values())});
    std::ranges::move(body, std::back_inserter(*scope_.before));
    return query_over(rows);
  }

  // Rows with what groups and aggregates need; the groups as rows; then HAVING and the outputs.
  BuiltQuery grouped() {
    Body& to = *scope_.before;
    const VarId joined = add_row_set(scope_, "joined", to, place_);
    std::vector<Expr> values;
    Query query;
    query.rows = joined;
    const auto carry = [&](const Expr& expr) {
      values.push_back(expr);
      return column_of_rows(expr, values.size() - 1, place_);
    };
    query.group_by.emplace();
    for (const Expr& group : groups_) query.group_by->push_back(carry(group));
    const std::vector<VarId> columns = loops_.bound_variables();
    std::vector<VarId> targets = columns;
    for (const VarId var : columns)
      query.outputs.push_back({.expr = carry(make_variable(*scope_.frame, var, place_))});
    for (AggregateCall& call : calls_) {
      Output output = call.output;
      // Of a row that FILTER leaves out nothing is computed.
      const auto carry_filtered = [&](const Expr& expr) {
        if (!output.filter) return carry(expr);
        Expr value = make(ExprOp::If, expr.type,
                          {*output.filter, expr, make_null(expr.type, expr.place)}, expr.place);
        value.is_array = expr.is_array;
        return carry(value);
      };
      if (output.expr.op != ExprOp::Null) output.expr = carry_filtered(output.expr);
      std::vector<Expr> keys;
      for (const OrderBy& order : call.order) keys.push_back(carry_filtered(order.expr));
      if (output.filter) output.filter = carry(*output.filter);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        OrderBy by = call.order[i];
        by.expr = std::move(keys[i]);
        query.order_by.push_back(std::move(by));
      }
      query.outputs.push_back(std::move(output));
      targets.push_back(call.var);
    }
    Body body = loops_.around({append(joined, std::move(values))});
    std::ranges::move(body, std::back_inserter(to));

    const VarId rows = add_row_set(scope_, "rows", to, place_);
    Body result;
    result.push_back(append(rows, row_values()));
    if (having_) {
      If test{.condition = *std::move(having_), .body = std::move(result), .otherwise = {}};
      result.clear();
      result.push_back(model_in(scope_, place_).with(std::move(test)));
    }
    to.push_back(model_in(scope_, place_)
                     .with(ForQuery{.query = std::move(query),
                                    .targets = std::move(targets),
                                    .body = std::move(result)}));
    return query_over(rows);
  }

  Scope scope_;
  const Tree& select_;
  Place place_;
  RelationLoops loops_;
  bool is_grouped_ = false;
  bool is_distinct_ = false;
  std::vector<AggregateCall> calls_;
  std::vector<NamedExpr> outputs_;
  std::optional<Expr> having_;
  std::vector<OrderBy> order_;
  std::vector<Expr> distinct_on_;
  std::vector<Expr> groups_;
};

}  // namespace

BuiltQuery build_by_rows(const Scope& scope, const Tree& select) {
  if (scope.before == nullptr || scope.frame == nullptr) {
    scope.findings.fail(place_of_select(scope, select), "this query cannot stand here",
                        "select into a variable first");
    return {};
  }
  return RowQueryBuilder(scope, select).run();
}

}  // namespace isoscope::sql
