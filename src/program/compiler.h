#pragma once
// Turns the syntax tree into code.
//
// What is constant is computed here: parameters that are never assigned, keys, conditions, and
// with them the branches that cannot be taken. A constant that overflows is left to the machine,
// which faults at its place if it gets there. `&&`, `||` and `!` in conditions become jumps.
#include <functional>

#include "program/code_builder.h"
#include "program/names.h"

namespace isoscope::txn {

class ExpressionCompiler {
 public:
  // What a local, a parameter or a part of the finished run is in this code.
  using Leaf = std::function<Operand(const Expr&)>;
  enum class Jumps : std::uint8_t { Never, Sometimes, Always };

  ExpressionCompiler(CodeBuilder& code, Leaf leaf) : code_(code), leaf_(std::move(leaf)) {}

  // Where the value is: a constant, a local, or a new intermediate result.
  Operand value(const Expr& expr) { return compute(expr, {}); }
  // to := expr
  void assign(Operand to, const Expr& expr);
  // Goes to `target` if expr is true (`when`) or false, else on. If that is certain, no jump is
  // written: the caller knows what to leave out.
  Jumps jump(const Expr& expr, bool when, Label target);

 private:
  // The value, in `wanted` if that is some register and the value is neither constant nor local.
  Operand compute(const Expr& expr, Operand wanted);
  Operand compute_logic(const Expr& expr, Operand wanted);
  Jumps jump_joined(const Expr& expr, bool when, Label target);
  Operand place_for(Operand wanted) {
    return wanted.kind == OperandKind::None ? code_.temporary() : wanted;
  }

  CodeBuilder& code_;
  Leaf leaf_;
};

// The code of a call. Requires: as many arguments as parameters; `scope` is the definition's.
Result<Code> compile(const Definition& definition, const Scope& scope,
                     const std::vector<std::int64_t>& arguments, KeyTable& keys);

// The value of an expression without names. The only error is an overflow.
Result<std::int64_t> constant_value(const Expr& expr);

}  // namespace isoscope::txn
