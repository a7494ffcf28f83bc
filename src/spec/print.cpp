#include "spec/print.h"

#include <fmt/format.h>

#include "spec/words.h"
#include "support/assert.h"

namespace isoscope {

namespace {

// How tightly a tree's outermost sign binds; an operand that binds less gets parentheses.
int power_of(const RelationExpr& r) {
  switch (r.op) {
    case RelationOp::Union: return 1;
    case RelationOp::Difference: return 2;
    case RelationOp::Intersection: return 3;
    case RelationOp::Compose: return 4;
    case RelationOp::So:
    case RelationOp::Wr:
    case RelationOp::Co:
    case RelationOp::Vis:
    case RelationOp::Ar:
    case RelationOp::Po:
    case RelationOp::Snap:
    case RelationOp::Of:
    case RelationOp::Same:
    case RelationOp::Waited:
    case RelationOp::Rt:
    case RelationOp::Ww:
    case RelationOp::Rw:
    case RelationOp::IdentityOn:
    case RelationOp::Inverse:
    case RelationOp::Plus:
    case RelationOp::Star:
    case RelationOp::Maybe: return 5;
  }
  ISO_ASSERT(false);
}

int power_of(const Formula& f) {
  switch (f.op) {
    case FormulaOp::Forall:
    case FormulaOp::Exists: return 0;
    case FormulaOp::Iff: return 1;
    case FormulaOp::Implies: return 2;
    case FormulaOp::Or: return 3;
    case FormulaOp::And: return 4;
    case FormulaOp::Not: return f.left->op == FormulaOp::Equal ? 6 : 5;
    case FormulaOp::Equal:
    case FormulaOp::Member:
    case FormulaOp::Writes:
    case FormulaOp::Reads:
    case FormulaOp::Locks:
    case FormulaOp::WritesRow:
    case FormulaOp::Current:
    case FormulaOp::Subset:
    case FormulaOp::Acyclic:
    case FormulaOp::Irreflexive:
    case FormulaOp::Transitive:
    case FormulaOp::Total:
    case FormulaOp::Empty: return 6;
  }
  ISO_ASSERT(false);
}

std::string within(const RelationExpr& r, int power) {
  return power_of(r) < power ? fmt::format("({})", print(r)) : print(r);
}

std::string within(const Formula& f, int power) {
  return power_of(f) < power ? fmt::format("({})", print(f)) : print(f);
}

std::string print_set(const RelationExpr& r) {
  const std::string_view set = text_of(kSetWords, r.set);
  return r.key ? fmt::format("[{}({})]", set, r.key->name) : fmt::format("[{}]", set);
}

// x: key, t1, t2: txn
std::string print_variables(const std::vector<Variable>& variables) {
  std::string out;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    out += variables[i].name;
    const bool last = i + 1 == variables.size();
    if (last || variables[i + 1].sort != variables[i].sort)
      out += fmt::format(": {}", name_of(variables[i].sort));
    if (!last) out += ", ";
  }
  return out;
}

// Binary operators associate to the left, `implies` to the right.
std::string print_connective(const Formula& f) {
  const int power = power_of(f);
  const bool to_the_right = f.op == FormulaOp::Implies;
  return fmt::format("{} {} {}", within(*f.left, to_the_right ? power + 1 : power),
                     text_of(kConnectives, f.op),
                     within(*f.right, to_the_right ? power : power + 1));
}

}  // namespace

std::string_view name_of(Sort sort) { return text_of(kSortWords, sort); }

std::string print(const RelationExpr& r) {
  switch (r.op) {
    case RelationOp::IdentityOn: return print_set(r);
    case RelationOp::Inverse:
    case RelationOp::Plus:
    case RelationOp::Star:
    case RelationOp::Maybe: return within(*r.left, 5) + std::string(text_of(kRelationSigns, r.op));
    case RelationOp::Union:
    case RelationOp::Difference:
    case RelationOp::Intersection:
    case RelationOp::Compose:
      return fmt::format("{} {} {}", within(*r.left, power_of(r)), text_of(kRelationSigns, r.op),
                         within(*r.right, power_of(r) + 1));
    case RelationOp::So:
    case RelationOp::Wr:
    case RelationOp::Co:
    case RelationOp::Vis:
    case RelationOp::Ar:
    case RelationOp::Po:
    case RelationOp::Snap:
    case RelationOp::Of:
    case RelationOp::Same:
    case RelationOp::Waited:
    case RelationOp::Rt:
    case RelationOp::Ww:
    case RelationOp::Rw: {
      const std::string_view word = text_of(kRelationWords, r.op);
      return r.key ? fmt::format("{}[{}]", word, r.key->name) : std::string(word);
    }
  }
  ISO_ASSERT(false);
}

std::string print(const Formula& f) {
  switch (f.op) {
    case FormulaOp::Forall:
    case FormulaOp::Exists:
      return fmt::format("{} {}. {}", text_of(kConnectives, f.op), print_variables(f.variables),
                         print(*f.left));
    case FormulaOp::Not:
      if (f.left->op == FormulaOp::Equal)
        return fmt::format("{} != {}", f.left->a->name, f.left->b->name);
      return fmt::format("not {}", within(*f.left, 5));
    case FormulaOp::And:
    case FormulaOp::Or:
    case FormulaOp::Implies:
    case FormulaOp::Iff: return print_connective(f);
    case FormulaOp::Equal: return fmt::format("{} = {}", f.a->name, f.b->name);
    case FormulaOp::Member:
      return fmt::format("{}({}, {})", within(*f.relation, 5), f.a->name, f.b->name);
    case FormulaOp::Current: return fmt::format("current({})", f.a->name);
    case FormulaOp::Writes:
    case FormulaOp::Reads:
    case FormulaOp::Locks:
    case FormulaOp::WritesRow:
      return fmt::format("{}({}, {})", text_of(kAccessWords, f.op), f.a->name, f.b->name);
    case FormulaOp::Subset: return fmt::format("{} subset {}", print(*f.relation), print(*f.other));
    case FormulaOp::Acyclic:
    case FormulaOp::Irreflexive:
    case FormulaOp::Transitive:
    case FormulaOp::Total:
    case FormulaOp::Empty:
      return fmt::format("{}({})", text_of(kStatementWords, f.op), print(*f.relation));
  }
  ISO_ASSERT(false);
}

std::string print(const Axiom& axiom) {
  return fmt::format("axiom {}: {}", axiom.name, print(*axiom.formula));
}

std::string print(const Level& level) {
  std::string out = fmt::format("level {} over {}{}", level.name,
                                level.is_wr_free ? "co, wr free" : orders_of(level.framework),
                                level.uses_session_order ? "" : " without so");
  for (const Axiom& axiom : level.axioms) out += "\n" + print(axiom);
  return out + "\n";
}

}  // namespace isoscope
