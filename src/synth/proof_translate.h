#pragma once
// The relational core over a theory: axioms as formulas about every history, with quantifiers of
// the solver, which has no bounds to look at.
//
// Every word means what spec/formula_values.cpp and spec/relation_values.cpp compute, so a
// translated axiom is true in the structure of a history and a witness iff the evaluator says so.
// One word is beyond first-order logic: the closure r+. It gets a symbol C of its own, which stands
// for the closure, and of which only consequences are asserted, all of them true of it:
//
//     r ⊆ C        C ; C ⊆ C        C(a,b) implies r(a,b) or, for some m, C(a,m) and r(m,b)
//
// and, one by one as synth/proof_search.cpp proves them, inclusions C ⊆ P by induction. The third,
// the unrolling, is kept apart, because it makes new elements without end. That this does not
// pin C down loses proofs but makes no wrong ones.
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "relational/translator.h"
#include "synth/proof_theory.h"

namespace isoscope {

// What `vis`, `co` or `ar`, and `snap` stand for in a translation. Equal names mean equal
// relations.
struct Visibility {
  std::string name;
  TxnRelation relation;
  std::string order_name;
  TxnRelation order;
  std::string snap_name = {};
  SnapRelation snap = {};
  // Are reads of own writes among the reads, as they are over co, snap?
  bool has_own_reads = false;
};

// r+ for the values of the key variables in r. Relations that are spelled in different ways but
// equal by the laws of unions, intersections, compositions and closures have one Closure.
struct Closure {
  std::string name;           // canonical, for people too
  Sort sort = Sort::Txn;      // of what it relates
  std::vector<SmtSort> keys;  // sorts of the key variables
  SmtFunction symbol;         // of the keys and two elements
  std::function<SmtTerm(std::span<const SmtTerm> keys, SmtTerm, SmtTerm)> step;  // r

  SmtTerm holds(std::span<const SmtTerm> values, SmtTerm a, SmtTerm b) const;
};

class ProofTranslator : private OwnRelations, public Translator<ProofTranslator, Terms> {
 public:
  explicit ProofTranslator(ProofTheory& theory)
      : Translator({theory.smt()}, relations), theory_(theory) {}

  using Environment = std::vector<SmtTerm>;  // by slot

  // Requires: the environment has the formula's slots, and values for its free variables.
  SmtTerm translate(const Formula& f, const Environment& env, const Visibility& vis);
  // Quantifiers over the elements that levels with such a witness have.
  SmtTerm forall(std::span<const Sort> sorts, const Visibility& vis, const SmtSolver::Body& body);
  SmtTerm exists(std::span<const Sort> sorts, const Visibility& vis, const SmtSolver::Body& body);
  // (a, b) ∈ r.
  SmtTerm member(const RelationExpr& r, SmtTerm a, SmtTerm b, const Environment& env,
                 const Visibility& vis);

  // r ⊆ upper, as clauses: one for each way in which steps of simple relations make a pair of r,
  // with what is in the middle quantified in front. Says the same as a formula with quantifiers in
  // its premise, but a solver sees what to instantiate. Requires: r mentions no key variable.
  std::vector<SmtTerm> included(const RelationExpr& r, const Visibility& vis,
                                const TxnRelation& upper);

  // Those that translations have mentioned so far.
  const std::vector<Closure>& closures() const { return closures_; }
  // Of these closures; facts that not every proof needs.
  const std::vector<SmtTerm>& unrollings() const { return unrollings_; }

 private:
  friend class Translator<ProofTranslator, Terms>;
  using Keys = std::vector<Element>;
  // Of the closure's keys and two elements.
  using Upper = std::function<SmtTerm(std::span<const SmtTerm> keys, SmtTerm, SmtTerm)>;

  // The structure of the core. Elements are handles of terms.
  static std::optional<bool> decided(RelationId, Element, Element) { return std::nullopt; }
  SmtTerm leaf(const GroundRelation& r, Element a, Element b);
  SmtTerm atom(const NormalNode& node, Element a, Element b);
  SmtTerm identity(Sort, Element a, Element b) { return equals(term(a), term(b)); }
  SmtTerm compose(const GroundRelation& r, Element a, Element b);
  SmtTerm closure(RelationId plus, Element a, Element b);
  SmtTerm exists(const NormalNode& node);
  SmtTerm none(const NormalNode& node);
  SmtTerm acyclic(RelationId r);
  static bool keeps(RelationId) { return false; }

  SmtTerm term(Element handle) { return {&theory_.smt(), handle}; }
  void bind(const NormalNode& node, std::span<const SmtTerm> values);
  SmtTerm by_key(const GroundRelation& r, SmtTerm x, SmtTerm a, SmtTerm b);
  SmtTerm member_of_set(const GroundRelation& r, SmtTerm a);
  // That the reads among the values are elements.
  SmtTerm are_elements(std::span<const Sort> sorts, std::span<const SmtTerm> values,
                       const Visibility& vis) const;
  std::vector<SmtTerm> included(RelationId r, const Keys& keys, const Upper& upper);
  const Closure& closure_of(RelationId r, const Keys& keys);

  ProofTheory& theory_;
  const Visibility* vis_ = nullptr;  // what names of the witness stand for
  std::vector<Closure> closures_;
  std::vector<SmtTerm> unrollings_;
};

}  // namespace isoscope
