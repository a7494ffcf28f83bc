#pragma once
// The relational core over facts and a witness that may be unknown, partly known, or constant:
// formulas of the level language as signals.
//
// A quantifier is a disjunction over the elements of its sort, but not in the order of the text.
// In   exists x, t1, t2, t3. wr[x](t1, t3) and writes(t2, x) and co(t2, t3) and not co(t2, t1)
// the conjuncts that mention x are joined first, and x is summed out of them:
//
//     P(t1, t2, t3) = some x: wr[x](t1, t3) and writes(t2, x)
//
// which leaves 3 variables instead of 4, and P, in which no witness occurs, is made once for all
// witnesses. With a constant co, what remains is one clause over the P's.
//
// The bounds of a relation are in its signals: a pair that it must have is the constant true.
//
// Names   Conjuncts are factors, P is a projected factor, as in bucket elimination.
// Cost    A factor of k transactions has (n+1)^k cells.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "relational/translator.h"
#include "synth/facts.h"
#include "synth/shape.h"

namespace isoscope::synthesis {

class Grounder : private OwnRelations, public Translator<Grounder, Signals> {
 public:
  explicit Grounder(const Facts& facts);

  // The orders of what is grounded from now on: co, or ar with vis, or co with snap. Over the
  // carrier of the facts. With snap, reads of own writes are elements, too.
  void set_witness(Matrix order, std::optional<Matrix> vis, std::optional<Matrix> snap = {});
  const Matrix& order() const { return order_; }
  Matrix& vis() { return vis_; }

  using Translator::truth;
  Signal truth(const Axiom& axiom);
  // Of an expression without key variables.
  Matrix relation(const RelationExpr& r);
  // For each pair of elements that the rule concludes something of: do some values of its other
  // variables make all premises true?
  Matrix pairs(const HeadRule& rule);
  // The same for one pair.
  Signal pair(const HeadRule& rule, int a, int b);

  // While vis is being computed, some of its cells are not known yet. Asking for one of them is
  // noted instead of answered.
  void begin_vis() {
    asked_too_early_ = false;
    asked_for_all_ = false;
    pending_.assign(static_cast<std::size_t>(facts_.txns() * facts_.txns()), 1);
  }
  void define_vis(int a, int b, Signal s);
  void end_vis() { pending_.clear(); }
  bool asked_too_early() const { return asked_too_early_ || asked_for_all_; }

 private:
  friend class Translator<Grounder, Signals>;

  // A function of some variables (positions in the list that is being eliminated, ascending).
  struct Factor {
    std::vector<int> scope;
    std::vector<Signal> table;
    bool is_fact = false;  // no witness and no outer variable occurs in it
    int id = 0;            // names it among the facts that are kept
  };

  // The structure of the core.
  static std::optional<bool> decided(RelationId, Element, Element) { return std::nullopt; }
  Signal leaf(const GroundRelation& r, Element a, Element b);
  Signal atom(const NormalNode& node, Element a, Element b);
  Signal identity(Sort sort, Element a, Element b) const;
  Signal compose(const GroundRelation& r, Element a, Element b);
  Signal closure(RelationId plus, Element a, Element b);
  Signal exists(const NormalNode& node) { return exists(node.variables, node.children); }
  Signal acyclic(RelationId r);
  bool keeps(RelationId id) const;

  Signal exists(const std::vector<Variable>& variables, const std::vector<NormalNode>& conjuncts);
  void add_instances(const std::vector<Variable>& variables, std::size_t bound,
                     const std::vector<NormalNode>& conjuncts, std::vector<Signal>& ways);
  Signal version_order(const GroundRelation& r, int x, int a, int b);
  Signal is_member(const GroundRelation& r, int t);
  std::vector<Signal> closed(RelationId plus);
  Signal is_element(Sort sort, int element) const;
  bool is_pending(RelationId id) const;
  void bind(const Variable& v, int element) {
    binding_[static_cast<std::size_t>(v.slot)] = static_cast<Element>(element);
  }
  // Keeps the nodes of a rule, and makes room for its variables.
  const NormalNode& enter(const HeadRule& rule);

  // elimination.cpp
  std::vector<Signal> project(const std::vector<Variable>& variables,
                              const std::vector<NormalNode>& conjuncts,
                              const std::vector<int>& keep);
  Factor base_factor(const std::vector<Variable>& variables, const NormalNode& conjunct);
  Factor guard_factor(const std::vector<Variable>& variables, int position);
  Factor eliminate(const std::vector<Variable>& variables, const std::vector<Factor*>& parts,
                   int position);
  std::vector<Signal> multiply(const std::vector<Variable>& variables,
                               const std::vector<Factor>& factors, const std::vector<int>& keep);
  std::pair<int, int> domain(Sort sort) const;  // first element, number of elements
  int id_of(std::vector<std::int64_t> name);
  int list_id(const std::vector<Variable>& variables);

  const Facts& facts_;
  Matrix order_;
  Matrix vis_;
  Matrix snap_;
  bool has_own_reads_ = false;  // are they elements?
  std::vector<char> pending_;
  bool asked_too_early_ = false;  // for a cell
  bool asked_for_all_ = false;    // for all cells, as a closure does; nothing excuses that

  // Nodes name facts that are kept by their address, so that they exist as long as the grounder.
  std::map<FormulaPtr, NormalForm> forms_;
  std::set<std::shared_ptr<const NormalNode>> joins_;
  std::map<RelationId, std::vector<Signal>> closures_;
  std::map<std::vector<std::int64_t>, int> ids_;
  std::map<int, Factor> fact_factors_;
};

}  // namespace isoscope::synthesis
