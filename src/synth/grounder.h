#pragma once
// Turns formulas of the level language into signals, over facts and a witness that may be unknown,
// partly known, or constant.
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
// Names   Conjuncts are factors, P is a projected factor, as in bucket elimination.
// Cost    A factor of k transactions has (n+1)^k cells.
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "spec/ast.h"
#include "synth/facts.h"

namespace isoscope::synthesis {

class Grounder {
 public:
  explicit Grounder(const Facts& facts);

  // The orders of what is grounded from now on: co, or ar with vis, or co with snap. Over the
  // carrier of the facts. With snap, reads of own writes are elements, too.
  void set_witness(Matrix order, std::optional<Matrix> vis, std::optional<Matrix> snap = {});
  const Matrix& order() const { return order_; }
  Matrix& vis() { return vis_; }

  // Of a closed formula that binds so many slots.
  Signal truth(const Formula& formula, int slots);
  // Of an expression without key variables.
  Matrix relation(const RelationExpr& r) {
    Env env;
    return value(r, env);
  }
  // For each pair of elements of (from, to): do some values of the other variables make all
  // premises true?
  Matrix pairs(const std::vector<Variable>& variables, const std::vector<FormulaPtr>& premises,
               const Variable& from, const Variable& to);
  // The same for one pair.
  Signal pair(const std::vector<Variable>& variables, const std::vector<FormulaPtr>& premises,
              const Variable& from, const Variable& to, int a, int b);

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
  using Env = std::vector<int>;  // by slot
  // Variables of inner quantifiers have higher slots than those that an Env begins with.
  static void bind(Env& env, const Variable& v, int element) {
    const auto slot = static_cast<std::size_t>(v.slot);
    if (slot >= env.size()) env.resize(slot + 1, 0);
    env[slot] = element;
  }

  struct Conjunct {
    const Formula* formula = nullptr;
    bool negated = false;
  };
  // A function of some variables (positions in the list that is being eliminated, ascending).
  struct Factor {
    std::vector<int> scope;
    std::vector<Signal> table;
    bool is_fact = false;  // no witness and no outer variable occurs in it
    int id = 0;            // names it among the facts that are kept
  };

  Signal eval(const Formula& f, Env& env);
  Signal exists(const std::vector<Variable>& variables, const std::vector<Conjunct>& conjuncts,
                Env& env);
  void add_instances(const std::vector<Variable>& variables, std::size_t bound,
                     const std::vector<Conjunct>& conjuncts, Env& env, std::vector<Signal>& ways);
  Signal statement(const Formula& f, Env& env);
  Signal member(const RelationExpr& r, int a, int b, Env& env);
  const Matrix& value(const RelationExpr& r, Env& env);
  Matrix compute(const RelationExpr& r, Env& env);
  Matrix closure(Matrix r);
  Matrix version_order(int x, bool anti);
  Signal is_element(Sort sort, int element) const;

  // elimination.cpp
  std::vector<Signal> project(const std::vector<Variable>& variables,
                              const std::vector<Conjunct>& conjuncts, const std::vector<int>& keep,
                              Env& env);
  Factor base_factor(const std::vector<Variable>& variables, const Conjunct& conjunct, Env& env);
  Factor guard_factor(const std::vector<Variable>& variables, int position);
  Factor eliminate(const std::vector<Variable>& variables, const std::vector<Factor*>& parts,
                   int position);
  std::vector<Signal> multiply(const std::vector<Variable>& variables,
                               const std::vector<Factor>& factors, const std::vector<int>& keep);
  std::pair<int, int> domain(Sort sort) const;  // first element, number of elements
  int id_of(std::vector<std::int64_t> name);
  int list_id(const std::vector<Variable>& variables);

  const Facts& facts_;
  Circuit& c_;
  Matrix order_;
  Matrix vis_;
  Matrix snap_;
  bool has_own_reads_ = false;  // are they elements?
  std::vector<char> pending_;
  bool asked_too_early_ = false;  // for a cell
  bool asked_for_all_ = false;    // for all cells, as a closure does; nothing excuses that

  using RelationKey = std::pair<const RelationExpr*, std::vector<int>>;  // and its keys' values
  std::map<RelationKey, Matrix> fact_relations_;
  std::map<RelationKey, Matrix> witness_relations_;
  std::map<std::vector<std::int64_t>, int> ids_;
  std::map<int, Factor> fact_factors_;
};

}  // namespace isoscope::synthesis
