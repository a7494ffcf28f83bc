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

  std::string of(const std::vector<Statement>& body, int indent = 0) {
    std::string text;
    for (const Statement& statement : body) {
      text += std::string(static_cast<std::size_t>(indent), ' ') + head(statement) + "\n";
      text += of(statement.body, indent + 2);
      if (!statement.otherwise.empty()) {
        text += std::string(static_cast<std::size_t>(indent), ' ') + "else\n";
        text += of(statement.otherwise, indent + 2);
      }
    }
    return text;
  }

  std::string of(const Expr& e) {
    switch (e.op) {
      case ExprOp::Null:
        return "NULL";
      case ExprOp::Integer:
        return std::to_string(e.number);
      case ExprOp::Text:
        return "'" + e.text + "'";
      case ExprOp::Boolean:
        return e.number != 0 ? "true" : "false";
      case ExprOp::Variable:
        return function_.variables[e.var.index].name;
      case ExprOp::Column:
        return fmt::format("#{}.{}", e.source,
                           app_.table(tables_[e.source]).columns[e.column].name);
      case ExprOp::Element:
        return of(e.args[0]) + "[" + of(e.args[1]) + "]";
      case ExprOp::InArray:
        return binary(e, " in ");
      case ExprOp::Add:
        return binary(e, " + ");
      case ExprOp::Subtract:
        return binary(e, " - ");
      case ExprOp::Multiply:
        return binary(e, " * ");
      case ExprOp::Divide:
        return binary(e, " / ");
      case ExprOp::Modulo:
        return binary(e, " % ");
      case ExprOp::Concat:
        return binary(e, " || ");
      case ExprOp::Equal:
        return binary(e, " = ");
      case ExprOp::NotEqual:
        return binary(e, " <> ");
      case ExprOp::Less:
        return binary(e, " < ");
      case ExprOp::LessEqual:
        return binary(e, " <= ");
      case ExprOp::Greater:
        return binary(e, " > ");
      case ExprOp::GreaterEqual:
        return binary(e, " >= ");
      case ExprOp::And:
        return binary(e, " and ");
      case ExprOp::Or:
        return binary(e, " or ");
      case ExprOp::Not:
        return "not " + of(e.args[0]);
      case ExprOp::Negate:
        return "-" + of(e.args[0]);
      case ExprOp::IsNull:
        return "isnull" + binary(e, ", ");
      case ExprOp::If:
        return "if" + binary(e, ", ");
      case ExprOp::Coalesce:
        return "coalesce" + binary(e, ", ");
      case ExprOp::Least:
        return "least" + binary(e, ", ");
      case ExprOp::Greatest:
        return "greatest" + binary(e, ", ");
      case ExprOp::Abs:
        return "abs" + binary(e, ", ");
      case ExprOp::Cardinality:
        return "size" + binary(e, ", ");
      case ExprOp::ArrayOf:
        return "array" + binary(e, ", ");
      case ExprOp::Opaque:
        return "?" + e.text + binary(e, ", ");
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

  std::string names(const std::vector<VarId>& vars) {
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
    switch (s.op) {
      case StatementOp::Select:
        return fmt::format("{}{} {}{}", s.exists ? "exists" : "select", s.strict ? " strict" : "",
                           query(s.query), s.targets.empty() ? "" : " -> " + names(s.targets));
      case StatementOp::Insert:
      case StatementOp::Update:
      case StatementOp::Delete:
        return write(s);
      case StatementOp::Assign:
        return fmt::format("{}{} := {}", names(s.targets), s.index ? "[" + of(*s.index) + "]" : "",
                           of(*s.expr));
      case StatementOp::If:
        return "if " + of(*s.expr);
      case StatementOp::ForQuery:
        return fmt::format("for {} in {}", names(s.targets), query(s.query));
      case StatementOp::ForRange:
        return fmt::format("for {} in {} .. {}{}{}", names(s.targets), of(*s.expr), of(*s.upper),
                           s.step ? " by " + of(*s.step) : "", s.descending ? " down" : "");
      case StatementOp::ForArray:
        return fmt::format("for {} in array {}", names(s.targets), of(*s.expr));
      case StatementOp::While:
        return s.expr ? "while " + of(*s.expr) : "loop";
      case StatementOp::Exit:
        return fmt::format("exit {}{}", s.depth, s.expr ? " if " + of(*s.expr) : "");
      case StatementOp::Continue:
        return fmt::format("continue {}{}", s.depth, s.expr ? " if " + of(*s.expr) : "");
      case StatementOp::Return:
        return s.expr ? "return " + of(*s.expr) : "return";
      case StatementOp::ReturnRow:
        return s.expr ? "row " + of(*s.expr) : "row";
      case StatementOp::Raise:
        return "raise";
      case StatementOp::Append:
        return "append to " + names(s.targets);
      case StatementOp::Block:
        return s.catches ? "try" : "block";
    }
    return "?";
  }

  std::string write(const Statement& s) {
    tables_ = {s.table, s.table};
    std::string text = s.op == StatementOp::Insert   ? "insert "
                       : s.op == StatementOp::Update ? "update "
                                                     : "delete ";
    text += app_.table(s.table).name;
    if (s.where) text += "[" + of(*s.where) + "]";
    text += sets(s.sets, s.table);
    if (s.conflict != OnConflict::Fail) {
      text += " on conflict";
      for (const std::uint32_t column : s.conflict_key)
        text += " " + app_.table(s.table).columns[column].name;
      text += s.conflict == OnConflict::Nothing ? " nothing" : " set";
      text += sets(s.conflict_sets, s.table);
      if (s.conflict_where) text += " where " + of(*s.conflict_where);
    }
    for (const Expr& expr : s.returning) text += " returning " + of(expr);
    if (!s.targets.empty()) text += " -> " + names(s.targets);
    return text;
  }

  const Application& app_;
  const Function& function_;
  std::vector<TableId> tables_;
};

}  // namespace isoscope::sql
