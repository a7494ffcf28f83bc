// The expressions of the program, as terms.
#include <fmt/format.h>

#include "audit/access_evaluator.h"
#include "sql/functions.h"

namespace isoscope::audit {

using sql::ExprOp;

AccessEvaluator::Truth AccessEvaluator::compare(ExprOp op, const SymValue& a,
                                                const SymValue& b) const {
  const SmtTerm holds = op == ExprOp::Equal       ? equals(a.number, b.number)
                        : op == ExprOp::NotEqual  ? !equals(a.number, b.number)
                        : op == ExprOp::Less      ? a.number < b.number
                        : op == ExprOp::LessEqual ? a.number <= b.number
                        : op == ExprOp::Greater   ? b.number < a.number
                                                  : b.number <= a.number;
  const SmtTerm known = !a.null && !b.null;
  return {known && holds, known && !holds};
}

AccessEvaluator::Truth AccessEvaluator::truth(const sql::Expr& expr, const Frame& frame) {
  switch (expr.op) {
    case ExprOp::Null: return {symbols_.no(), symbols_.no()};
    case ExprOp::Boolean:
      return expr.number != 0 ? Truth{symbols_.yes(), symbols_.no()}
                              : Truth{symbols_.no(), symbols_.yes()};
    case ExprOp::Not: {
      const Truth inner = truth(expr.args[0], frame);
      return {inner.no, inner.yes};
    }
    case ExprOp::IsNull: {
      const SymValue value = eval(expr.args[0], frame);
      return {value.null, !value.null};
    }
    case ExprOp::And:
    case ExprOp::Or: {
      std::vector<SmtTerm> yes;
      std::vector<SmtTerm> no;
      for (const sql::Expr& arg : expr.args) {
        const Truth part = truth(arg, frame);
        yes.push_back(part.yes);
        no.push_back(part.no);
      }
      return expr.op == ExprOp::And ? Truth{symbols_.all(yes), symbols_.any(no)}
                                    : Truth{symbols_.any(yes), symbols_.all(no)};
    }
    case ExprOp::Equal:
    case ExprOp::NotEqual:
    case ExprOp::Less:
    case ExprOp::LessEqual:
    case ExprOp::Greater:
    case ExprOp::GreaterEqual:
      return compare(expr.op, eval(expr.args[0], frame), eval(expr.args[1], frame));
    case ExprOp::InArray: {
      const SymValue value = eval(expr.args[0], frame);
      const SymArray list = array(expr.args[1], frame);
      const auto is_element = [&](SmtTerm index) {
        return symbols_.smt().number(1) <= index && index <= list.size && !value.null &&
               equals(list.element(index), value.number);
      };
      if (loops_ == Loops::AtMostTwo) {
        const SmtTerm holds =
            is_element(symbols_.smt().number(1)) || is_element(symbols_.smt().number(2));
        // Nothing is in an empty array, not even NULL.
        return {holds, !holds && (!value.null || list.size < symbols_.smt().number(1))};
      }
      // Some element, if it holds; that it does not hold says nothing about single elements.
      const SmtTerm holds = symbols_.fresh_truth("in_array");
      instance_.facts.push_back(implies(holds, is_element(symbols_.fresh_number("position"))));
      // An element or the array may be NULL.
      return {holds, !holds && symbols_.fresh_truth("not_in_array")};
    }
    default: {
      const SymValue value = eval(expr, frame);
      const SmtTerm holds = !equals(value.number, symbols_.smt().number(0));
      return {!value.null && holds, !value.null && !holds};
    }
  }
}

SymArray AccessEvaluator::array(const sql::Expr& expr, const Frame& frame) {
  if (expr.op == ExprOp::Variable && (*frame.env)[expr.var.index].array)
    return *(*frame.env)[expr.var.index].array;
  SymArray result = symbols_.fresh_array("array");
  instance_.facts.push_back(symbols_.smt().number(0) <= result.size);
  if (loops_ == Loops::AtMostTwo)
    instance_.facts.push_back(result.size <= symbols_.smt().number(2));
  if (expr.op == ExprOp::ArrayOf) {
    instance_.facts.push_back(
        equals(result.size, symbols_.smt().number(static_cast<std::int64_t>(expr.args.size()))));
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      const SmtTerm index = symbols_.smt().number(static_cast<std::int64_t>(i + 1));
      const SymValue value = eval(expr.args[i], frame);
      instance_.facts.push_back(equals(result.element(index), value.number));
      if (loops_ == Loops::AnyTwo)
        instance_.facts.push_back(iff(element_of(result, index).null, value.null));
    }
  }
  return result;
}

// Elements are not NULL in a witness; elsewhere they may be.
SymValue AccessEvaluator::element_of(const SymArray& list, SmtTerm index) {
  if (loops_ == Loops::AtMostTwo) return {symbols_.no(), list.element(index)};
  const SymValue at[] = {{symbols_.no(), index}};
  const std::string name = fmt::format("element.{}", list.element.index);
  return {symbols_.opaque(name, at).null, list.element(index)};
}

// A numeric may be NaN or an infinity, for which x - 1 < x does not hold. To proofs these are
// numbers like others, since the server orders them, too: the infinities at the ends, NaN behind,
// equal to itself. Some predicate tells which numbers they are, and sums with them are some
// function of their operands. Every execution has such numbers: above and below all that occur in
// it. Runs that are searched for have none.
SmtTerm AccessEvaluator::is_finite(const sql::Expr& expr, const SymValue& value) {
  if (expr.type != sql::Type::Numeric || expr.op == ExprOp::Decimal || expr.op == ExprOp::ToNumeric)
    return symbols_.yes();
  return symbols_.opaque("is finite", {&value, 1}).null;
}

SmtTerm AccessEvaluator::if_finite(const sql::Expr& expr, std::span<const SymValue> operands,
                                   const char* name, SmtTerm exact) {
  if (expr.type != sql::Type::Numeric || loops_ != Loops::AnyTwo) return exact;
  SmtTerm are_finite = symbols_.yes();
  for (std::size_t i = 0; i < operands.size(); ++i)
    are_finite = are_finite && is_finite(expr.args[i], operands[i]);
  const SmtTerm result = choose(are_finite, exact, symbols_.opaque(name, operands).number);
  instance_.facts.push_back(implies(are_finite, is_finite(expr, {symbols_.no(), result})));
  return result;
}

SymValue AccessEvaluator::arithmetic(const sql::Expr& expr, const Frame& frame) {
  const SymValue a = eval(expr.args[0], frame);
  const SymValue b = eval(expr.args[1], frame);
  const SmtTerm null = a.null || b.null;
  const SymValue arguments[] = {a, b};
  switch (expr.op) {
    case ExprOp::Add: return {null, if_finite(expr, arguments, "add", a.number + b.number)};
    case ExprOp::Subtract:
      return {null, if_finite(expr, arguments, "subtract", a.number - b.number)};
    case ExprOp::Multiply:
      if (const auto product = symbols_.smt().product(a.number, b.number))
        return {null, if_finite(expr, arguments, "multiply", *product)};
      break;
    default: break;
  }
  const char* name = expr.op == ExprOp::Multiply ? "multiply"
                     : expr.op == ExprOp::Divide ? "divide"
                     : expr.op == ExprOp::Modulo ? "modulo"
                                                 : "concat";
  return {null, symbols_.opaque(name, arguments).number};
}

// - and abs
SymValue AccessEvaluator::turned(const sql::Expr& expr, const Frame& frame) {
  const SymValue value = eval(expr.args[0], frame);
  const SmtTerm zero = symbols_.smt().number(0);
  const bool is_abs = expr.op == ExprOp::Abs;
  const SmtTerm negative = zero - value.number;
  const SmtTerm exact = is_abs ? choose(value.number < zero, negative, value.number) : negative;
  return {value.null, if_finite(expr, {&value, 1}, is_abs ? "abs" : "negate", exact)};
}

// A value that has no more digits than are kept stays what it is: the reader knows it of columns
// and of what is computed of them. In the formulas such a column may hold any real number; they
// have more executions then, and lose none. Any other value is rounded by some function of it:
// equal numbers are rounded to equal ones, whatever digits they show.
SymValue AccessEvaluator::rounded(const sql::Expr& expr, const Frame& frame) {
  const SymValue value = eval(expr.args[0], frame);
  const std::int64_t scale = expr.op == ExprOp::Round ? expr.number : 0;
  if (sql::keeps_value(expr)) return value;
  const SymValue arguments[] = {value};
  const SymValue result{value.null,
                        symbols_.opaque(fmt::format("round.{}", scale), arguments).number};
  // A number moves by half a unit at most.
  constexpr std::int64_t kFits = 17;  // 2 * 10^17 has 64 bits
  if (scale <= kFits) {
    std::int64_t halves = 2;
    for (std::int64_t i = 0; i < scale; ++i) halves *= 10;
    SmtSolver& smt = symbols_.smt();
    const SmtTerm distance = halves * (result.number - value.number);
    const SmtTerm is_special = loops_ == Loops::AnyTwo && expr.args[0].type == sql::Type::Numeric
                                   ? !is_finite(expr.args[0], value)
                                   : symbols_.no();
    instance_.facts.push_back(value.null || is_special ||
                              (smt.number(-1) <= distance && distance <= smt.number(1)));
  }
  return result;
}

SymValue AccessEvaluator::column_of(const Frame& frame, sql::SourceId source,
                                    sql::ColumnId column) {
  const auto& [table, row, values] = frame.sources[source];
  return values.empty() ? value(table, column, row, frame) : values[column];
}

SymValue AccessEvaluator::eval(const sql::Expr& expr, const Frame& frame) {
  SmtSolver& smt = symbols_.smt();
  switch (expr.op) {
    case ExprOp::Null: return symbols_.null();
    case ExprOp::Integer: return symbols_.number(expr.number);
    case ExprOp::Text: return symbols_.text(expr.text);
    case ExprOp::Decimal: return {symbols_.no(), smt.decimal(expr.text)};
    case ExprOp::ToNumeric: return eval(expr.args[0], frame);
    case ExprOp::ToInteger:
    case ExprOp::Round: return rounded(expr, frame);
    case ExprOp::Variable: return (*frame.env)[expr.var.index].value;
    case ExprOp::Column: return column_of(frame, expr.source, expr.column);
    case ExprOp::Element: {
      const SymArray list = array(expr.args[0], frame);
      const SymValue index = eval(expr.args[1], frame);
      const SmtTerm outside = index.number < smt.number(1) || list.size < index.number;
      const SymValue element = element_of(list, index.number);
      return {eval(expr.args[0], frame).null || index.null || outside || element.null,
              element.number};
    }
    case ExprOp::Cardinality:
      return {eval(expr.args[0], frame).null, array(expr.args[0], frame).size};
    case ExprOp::Negate:
    case ExprOp::Abs: return turned(expr, frame);
    case ExprOp::Add:
    case ExprOp::Subtract:
    case ExprOp::Multiply:
    case ExprOp::Divide:
    case ExprOp::Modulo:
    case ExprOp::Concat: return arithmetic(expr, frame);
    case ExprOp::If:
      return symbols_.choose_value(truth(expr.args[0], frame).yes, eval(expr.args[1], frame),
                                   eval(expr.args[2], frame));
    case ExprOp::Coalesce:
    case ExprOp::Least:
    case ExprOp::Greatest: {
      SymValue result = eval(expr.args.back(), frame);
      for (std::size_t i = expr.args.size() - 1; i-- > 0;) {
        const SymValue next = eval(expr.args[i], frame);
        if (expr.op == ExprOp::Coalesce) {
          result = symbols_.choose_value(next.null, result, next);
          continue;
        }
        // NULLs do not count.
        const SmtTerm is_better =
            expr.op == ExprOp::Least ? next.number <= result.number : result.number <= next.number;
        result = symbols_.choose_value(!next.null && (result.null || is_better), next, result);
      }
      return result;
    }
    case ExprOp::Opaque: {
      if (expr.text == sql::kCut && !symbols_.may_cut_texts()) return eval(expr.args[0], frame);
      std::vector<SymValue> arguments;
      // true and 1 are one number here, but true::text is not 1::text.
      std::string name = expr.text + " of";
      for (const sql::Expr& arg : expr.args) {
        arguments.push_back(eval(arg, frame));
        name += fmt::format(" {}", static_cast<int>(arg.type));
      }
      if (expr.is_volatile) return symbols_.fresh_value(expr.text, false);
      SymValue result = symbols_.opaque(name, arguments);
      if (sql::is_null_of_null_only(expr.text)) {
        result.null = symbols_.no();
        for (const SymValue& argument : arguments) result.null = result.null || argument.null;
      }
      return result;
    }
    case ExprOp::ArrayOf: return symbols_.fresh_value("array", false);
    default: {  // what is true or false
      const Truth result = truth(expr, frame);
      return {!result.yes && !result.no, symbols_.truth(result.yes).number};
    }
  }
}

}  // namespace isoscope::audit
