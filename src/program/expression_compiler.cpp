#include "program/arithmetic.h"
#include "program/compiler.h"
#include "support/assert.h"

namespace isoscope::txn {

void ExpressionCompiler::assign(Operand to, const Expr& expr) {
  const std::int64_t mark = code_.temporaries();
  const Operand result = compute(expr, to);
  code_.release(mark);
  if (result.is_constant()) {
    code_.set(to, result.number, expr.place);
  } else if (result.kind != to.kind || result.number != to.number) {
    code_.emit(Op::Copy, expr.place, to, result);
  }
}

Operand ExpressionCompiler::compute(const Expr& expr, Operand wanted) {
  if (expr.kind == ExprKind::Number) return Operand::constant(expr.number);
  if (expr.kind == ExprKind::And || expr.kind == ExprKind::Or) return compute_logic(expr, wanted);
  if (expr.kind != ExprKind::Unary && expr.kind != ExprKind::Binary) return leaf_(expr);
  const std::int64_t mark = code_.temporaries();
  Operand result = value(*expr.parts[0]);
  const bool is_unary = expr.kind == ExprKind::Unary;
  // min and max have as many parts as the author likes; one alone is itself.
  for (std::size_t i = 1; i < expr.parts.size() || (is_unary && i == 1); ++i) {
    const Operand right = is_unary ? Operand::constant(0) : value(*expr.parts[i]);
    if (result.is_constant() && right.is_constant()) {
      if (const auto known = isoscope::compute(expr.op, result.number, right.number)) {
        result = Operand::constant(*known);
        continue;
      }
    }
    code_.release(mark);
    const bool is_last = i + 1 >= expr.parts.size();
    const Operand to = is_last ? place_for(wanted) : code_.temporary();
    code_.emit(expr.op, expr.place, to, result, is_unary ? Operand{} : right);
    result = to;
  }
  return result;
}

Operand ExpressionCompiler::compute_logic(const Expr& expr, Operand wanted) {
  const Label otherwise = code_.new_label();
  const Jumps jumps = jump(expr, false, otherwise);
  if (jumps != Jumps::Sometimes) {
    code_.put(otherwise);
    return Operand::constant(jumps == Jumps::Never ? 1 : 0);
  }
  const Operand to = place_for(wanted);
  const Label end = code_.new_label();
  code_.set(to, 1, expr.place);
  code_.jump(Op::Jump, end, expr.place);
  code_.put(otherwise);
  code_.set(to, 0, expr.place);
  code_.put(end);
  return to;
}

ExpressionCompiler::Jumps ExpressionCompiler::jump(const Expr& expr, bool when, Label target) {
  if (expr.kind == ExprKind::And || expr.kind == ExprKind::Or)
    return jump_joined(expr, when, target);
  if (expr.kind == ExprKind::Unary && expr.op == Op::Not)
    return jump(*expr.parts[0], !when, target);
  const std::int64_t mark = code_.temporaries();
  const Operand condition = value(expr);
  code_.release(mark);
  if (condition.is_constant())
    return (condition.number != 0) == when ? Jumps::Always : Jumps::Never;
  code_.jump(when ? Op::JumpIfTrue : Op::JumpIfZero, target, expr.place, condition);
  return Jumps::Sometimes;
}

// The left part decides if it is false (&&) or true (||); else the right one does.
ExpressionCompiler::Jumps ExpressionCompiler::jump_joined(const Expr& expr, bool when,
                                                          Label target) {
  const bool deciding = expr.kind == ExprKind::Or;
  const Expr& left = *expr.parts[0];
  const Expr& right = *expr.parts[1];
  if (when == deciding) {
    const Jumps first = jump(left, deciding, target);
    if (first == Jumps::Always) return first;
    const Jumps second = jump(right, when, target);
    return first == Jumps::Never || second == Jumps::Always ? second : Jumps::Sometimes;
  }
  const Label skip = code_.new_label();
  const Jumps first = jump(left, deciding, skip);
  Jumps result = Jumps::Never;
  if (first != Jumps::Always) {
    result = jump(right, when, target);
    if (first == Jumps::Sometimes && result == Jumps::Always) {
      code_.jump(Op::Jump, target, expr.place);
      result = Jumps::Sometimes;
    }
  }
  code_.put(skip);
  return result;
}

Result<std::int64_t> constant_value(const Expr& expr) {
  CodeBuilder code;
  const Operand result = ExpressionCompiler(code, [](const Expr&) -> Operand {
                           ISO_ASSERT(false);  // the parser admits no names here
                           return {};
                         }).value(expr);
  // Only what overflows is left to be computed.
  if (code.size() > 0)
    return Error{.where = code.place_of(0),
                 .what = "this constant overflows",
                 .hint = "numbers have 64 bits"};
  return result.number;
}

}  // namespace isoscope::txn
