#pragma once
// Programs in a few signs, for tests: a line a statement, indented by nesting.
//
//     select account[#0.acc_id = p_id] balance -> v_bal
//     if (v_bal > p_amount)
//       update account[#0.acc_id = p_id] balance = (v_bal - p_amount)
//
// A column is #source.name, in a table of its own.
#include <fmt/format.h>

#include <string>

#include "sql/application.h"

namespace isoscope::sql {

class Outline {
 public:
  Outline(const Application& app, const Function& function) : app_(app), function_(function) {}

  std::string of(std::span<const Statement> body, int indent = 0) {
    std::string text;
    for (const Statement& statement : body) {
      text += std::string(static_cast<std::size_t>(indent), ' ') + head(statement) + "\n";
      text += of(statement.body(), indent + 2);
      if (!statement.otherwise().empty()) {
        text += std::string(static_cast<std::size_t>(indent), ' ') + "else\n";
        text += of(statement.otherwise(), indent + 2);
      }
    }
    return text;
  }

  std::string of(const Expr& e) {
    switch (e.op) {
      case ExprOp::Null: return "NULL";
      case ExprOp::Integer: return std::to_string(e.number);
      case ExprOp::Text: return "'" + e.text + "'";
      case ExprOp::Boolean: return e.number != 0 ? "true" : "false";
      case ExprOp::Variable: return function_.variables[e.var.index].name;
      case ExprOp::Column:
        return fmt::format("#{}.{}", e.source.index,
                           app_.table(tables_[e.source]).columns[e.column].name);
      case ExprOp::Element: return of(e.args[0]) + "[" + of(e.args[1]) + "]";
      case ExprOp::InArray: return binary(e, " in ");
      case ExprOp::Add: return binary(e, " + ");
      case ExprOp::Subtract: return binary(e, " - ");
      case ExprOp::Multiply: return binary(e, " * ");
      case ExprOp::Divide: return binary(e, " / ");
      case ExprOp::Modulo: return binary(e, " % ");
      case ExprOp::Concat: return binary(e, " || ");
      case ExprOp::Equal: return binary(e, " = ");
      case ExprOp::NotEqual: return binary(e, " <> ");
      case ExprOp::Less: return binary(e, " < ");
      case ExprOp::LessEqual: return binary(e, " <= ");
      case ExprOp::Greater: return binary(e, " > ");
      case ExprOp::GreaterEqual: return binary(e, " >= ");
      case ExprOp::And: return binary(e, " and ");
      case ExprOp::Or: return binary(e, " or ");
      case ExprOp::Not: return "not " + of(e.args[0]);
      case ExprOp::Negate: return "-" + of(e.args[0]);
      case ExprOp::IsNull: return "isnull" + binary(e, ", ");
      case ExprOp::If: return "if" + binary(e, ", ");
      case ExprOp::Coalesce: return "coalesce" + binary(e, ", ");
      case ExprOp::Least: return "least" + binary(e, ", ");
      case ExprOp::Greatest: return "greatest" + binary(e, ", ");
      case ExprOp::Abs: return "abs" + binary(e, ", ");
      case ExprOp::Decimal: return e.text;
      case ExprOp::ToNumeric: return "numeric" + binary(e, ", ");
      case ExprOp::ToInteger: return "integer" + binary(e, ", ");
      case ExprOp::Round: return fmt::format("round {} ", e.number) + binary(e, ", ");
      case ExprOp::Cardinality: return "size" + binary(e, ", ");
      case ExprOp::ArrayOf: return "array" + binary(e, ", ");
      case ExprOp::Opaque: return "?" + e.text + binary(e, ", ");
    }
    return "?";
  }

  // Of a CHECK or DEFAULT of the table.
  std::string in_table(const Expr& e, TableId table) {
    tables_ = {table};
    return of(e);
  }

 private:
  std::string binary(const Expr& e, std::string_view sign) {
    std::string text = "(";
    for (const Expr& arg : e.args) {
      if (text.size() > 1) text += sign;
      text += of(arg);
    }
    return text + ")";
  }

  std::string names(std::span<const VarId> vars) {
    std::string text;
    for (const VarId var : vars)
      text += (text.empty() ? "" : ", ") + function_.variables[var.index].name;
    return text;
  }

  std::string sets(const std::vector<SetColumn>& list, TableId table) {
    std::string text;
    for (const SetColumn& set : list)
      text += fmt::format(" {} = {}", app_.table(table).columns[set.column].name, of(set.value));
    return text;
  }

  std::string query(const Query& q) {
    static constexpr const char* kAggregates[] = {"", "min", "max", "count", "sum", "avg"};
    tables_ = q.sources;
    std::string text;
    for (const TableId table : q.sources)
      text += (text.empty() ? "" : ", ") + app_.table(table).name;
    if (q.where) text += "[" + of(*q.where) + "]";
    if (q.distinct) text += " distinct";
    for (const Output& output : q.outputs) {
      text += fmt::format(" {}{}{}", kAggregates[static_cast<int>(output.aggregate)],
                          output.distinct ? " distinct " : "", of(output.expr));
    }
    for (const OrderBy& order : q.order_by)
      text += fmt::format(" order {}{}", of(order.expr), order.descending ? " desc" : "");
    if (q.limit) text += " limit " + of(*q.limit);
    if (q.offset) text += " offset " + of(*q.offset);
    if (q.lock != Lock::None) text += q.lock == Lock::Share ? " for share" : " for update";
    return text;
  }

  std::string head(const Statement& s) {
    tables_.clear();
    if (const Write* write = s.write()) tables_ = {write->table, write->table};
    return std::visit([&](const auto& kind) { return head(kind, names(s.targets())); }, s.kind);
  }

  std::string head(const Select& s, const std::string& targets) {
    if (s.draws) return fmt::format("draw {} -> {}", app_.sequences[s.draws->index].name, targets);
    return fmt::format("{}{} {}{}", s.exists ? "exists" : "select", s.strict ? " strict" : "",
                       query(s.query), targets.empty() ? "" : " -> " + targets);
  }
  std::string head(const Assign& s, const std::string& target) {
    return fmt::format("{}{} := {}", target, s.index ? "[" + of(*s.index) + "]" : "", of(s.value));
  }
  std::string head(const If& s, const std::string&) { return "if " + of(s.condition); }
  std::string head(const ForQuery& s, const std::string& targets) {
    return fmt::format("for {} in {}", targets, query(s.query));
  }
  std::string head(const ForRange& s, const std::string& target) {
    return fmt::format("for {} in {} .. {}{}{}", target, of(s.from), of(s.to),
                       s.step ? " by " + of(*s.step) : "", s.descending ? " down" : "");
  }
  std::string head(const ForArray& s, const std::string& target) {
    return fmt::format("for {} in array {}", target, of(s.array));
  }
  std::string head(const While& s, const std::string&) {
    return s.condition ? "while " + of(*s.condition) : "loop";
  }
  std::string head(const Exit& s, const std::string&) { return "exit " + jump(s); }
  std::string head(const Continue& s, const std::string&) { return "continue " + jump(s); }
  std::string head(const Return& s, const std::string&) {
    return s.value ? "return " + of(*s.value) : "return";
  }
  std::string head(const ReturnRow& s, const std::string&) {
    return s.value ? "row " + of(*s.value) : "row";
  }
  std::string head(const Raise&, const std::string&) { return "raise"; }
  std::string head(const EndTransaction& s, const std::string&) {
    return s.commits ? "commit" : "rollback";
  }
  std::string head(const Append&, const std::string& rows) { return "append to " + rows; }
  std::string head(const Block& s, const std::string&) { return s.handler ? "try" : "block"; }

  std::string jump(const Jump& s) {
    return fmt::format("{}{}", s.depth, s.condition ? " if " + of(*s.condition) : "");
  }

  std::string head(const Insert& s, const std::string& targets) {
    std::string text = "insert " + app_.table(s.table).name + sets(s.sets, s.table);
    if (s.conflict != OnConflict::Fail) {
      text += " on conflict";
      for (const ColumnId column : s.conflict_key)
        text += " " + app_.table(s.table).columns[column].name;
      for (const ExclusionId index : s.conflict_indexes)
        text += " " + app_.table(s.table).exclusions[index].name;
      text += s.conflict == OnConflict::Nothing ? " nothing" : " set";
      text += sets(s.conflict_sets, s.table);
      if (s.conflict_where) text += " where " + of(*s.conflict_where);
    }
    return text + returning(s, targets);
  }
  std::string head(const Update& s, const std::string& targets) {
    return "update " + app_.table(s.table).name + where(s) + sets(s.sets, s.table) +
           returning(s, targets);
  }
  std::string head(const Delete& s, const std::string& targets) {
    return "delete " + app_.table(s.table).name + where(s) + returning(s, targets);
  }

  std::string where(const SearchedWrite& s) { return s.where ? "[" + of(*s.where) + "]" : ""; }
  std::string returning(const Write& s, const std::string& targets) {
    std::string text;
    for (const Expr& expr : s.returning) text += " returning " + of(expr);
    return targets.empty() ? text : text + " -> " + targets;
  }

  const Application& app_;
  const Function& function_;
  ById<SourceId, TableId> tables_;
};

}  // namespace isoscope::sql
