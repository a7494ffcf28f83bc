#pragma once
// Resolves the formulas and relations of one level; the work horse of spec/resolver.h.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/ast.h"
#include "spec/syntax.h"

namespace isoscope {

class AxiomResolver {
 public:
  explicit AxiomResolver(Framework framework) : framework_(framework) {}

  // Makes a name known to the axioms and lets that follow. Keeps a view of the declaration.
  Result<void> add_let(const Declaration& declaration);
  // The formula of an axiom, closed and sorted.
  Result<FormulaPtr> resolve_axiom(const Phrase& phrase);
  // How many variables that formula binds.
  int slots() const { return slots_; }

 private:
  Result<FormulaPtr> resolve_formula(const Phrase& phrase);
  Result<FormulaPtr> resolve_formula_of_kind(const Phrase& phrase);
  Result<FormulaPtr> resolve_quantified(const Phrase& phrase);
  Result<FormulaPtr> resolve_binary_formula(const Phrase& phrase);
  Result<FormulaPtr> resolve_equality(const Phrase& phrase);
  Result<FormulaPtr> resolve_subset(const Phrase& phrase);
  Result<FormulaPtr> resolve_application(const Phrase& phrase);
  Result<FormulaPtr> resolve_statement(const Phrase& phrase, FormulaOp op);
  Result<FormulaPtr> resolve_access(const Phrase& phrase, FormulaOp op);
  Result<FormulaPtr> resolve_current(const Phrase& phrase);
  Result<FormulaPtr> resolve_membership(const Phrase& phrase);

  // Relations without sorts yet; `depth` is that of the phrase in its axiom, lets expanded.
  Result<RelationPtr> resolve_outermost_relation(const Phrase& phrase) {
    return resolve_relation(phrase, depth_ + 1);
  }
  Result<RelationPtr> resolve_relation(const Phrase& phrase, int depth);
  Result<RelationPtr> resolve_relation_name(const Phrase& phrase, int depth);
  Result<RelationPtr> resolve_let(const Phrase& use, const Declaration& let, int depth);
  Result<RelationPtr> resolve_parameter(const Token& name, int depth);
  Result<RelationPtr> resolve_index(const Phrase& phrase);
  Result<RelationPtr> resolve_set(const Phrase& phrase);
  Result<RelationPtr> resolve_binary_relation(const Phrase& phrase, int depth);
  Result<RelationPtr> make(RelationExpr relation);

  Result<Variable> resolve_variable(const Phrase& phrase) const;
  Result<Variable> resolve_key(const Phrase& phrase) const;
  const Variable* find_variable(std::string_view name) const;

  // What a phrase looks like to a reader: "the relation 'so'", "a formula".
  std::string kind_of(const Phrase& phrase) const;
  bool is_formula(const Phrase& phrase) const;
  // The let whose parameters `phrase` gives, as in f(so | wr); or null.
  const Declaration* called_let(const Phrase& phrase) const;
  // Of `so | wr(t1, t2)`, which wants to be (so | wr)(t1, t2).
  std::optional<Error> misplaced_application(const Phrase& phrase) const;
  Error not_a_formula(const Phrase& phrase) const;
  Error not_a_relation(const Phrase& phrase) const;
  Error unknown_relation(const Token& name) const;
  Error wrong_witness(const Token& name) const;

  // What a use of a let gives for a parameter, and how much it adds wherever it stands.
  struct Argument {
    RelationPtr relation;
    int nodes = 0;
    int depth = 0;
  };
  static Argument measured(const RelationPtr& relation);

  Framework framework_;
  std::map<std::string_view, const Declaration*> lets_;
  std::map<std::string_view, Argument> arguments_;  // of the let that is being expanded
  std::vector<Variable> scope_;
  int slots_ = 0;
  int nodes_ = 0;  // of the level's relations so far
  int depth_ = 0;  // of the formula that is being resolved, in its axiom
};

}  // namespace isoscope
