#pragma once
// The relational core: what a formula, or a pair of a relation, means in a structure, as a truth
// value of an algebra. The only walk over formulas and relation expressions beside the literal
// evaluator of spec, which stays apart as the arbiter.
//
//     level text ── normal_form.h ── NormalNode ──┐                 ┌ Bits: an evaluation
//     expression ── relation_table.h ── Relation ─┴── Translator ── ┤ Signals: circuits for SAT
//                        bounds.h: what must, what may hold         └ Terms: formulas for SMT
//
// An engine is a structure: it derives from Translator<Engine, Algebra> and says what the language
// leaves to it. All of them may be private if Translator is a friend:
//
//   decided(r, a, b)        true or false if the bounds decide it, else nothing
//   leaf(r, a, b)           a pair of a relation that has a name: so, wr[x], co, rw, …
//   atom(node, a, b)        =, writes, reads, locks, writesrow, current (b is a then)
//   identity(sort, a, b)    a pair of the identity on the elements of a sort
//   compose(r, a, b)        (r.left ; r.right)(a, b): composed() with the elements in the middle
//   closure(r, a, b)        r+(a, b)
//   exists(node)            some values of the node's variables make all its children true. How
//                           they are found is the engine's art: by joins on the bounds
//                           (check/ground), by bucket elimination (synth), by a quantifier of the
//                           solver (proofs), one by one (audit)
//   none(node)              its negation, where an engine has something better than `not exists`
//   acyclic(r)              r has no cycle
//   keeps(r)                may cells of this relation be remembered?
//
// Elements are numbers: positions in a history, slots of an unknown one, or handles of terms. A new
// operator of the language is written here, in relation_table.cpp (what is it simplified to?) and
// in bounds.cpp; a new name of a relation in the leaf() of the engines that can know it, which
// `ISO_ASSERT` or a refusal guards.
//
// Papers  [TorlakJackson-TACAS'07] for the way from relations to circuits; there the matrices of a
//         relation are made whole, here a cell when it is asked for, which large histories need.
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "relational/algebra.h"
#include "relational/cell_memo.h"
#include "relational/normal_form.h"
#include "relational/relation_table.h"
#include "support/assert.h"

namespace isoscope {

template <class Engine, Algebra A>
class Translator {
 public:
  using Truth = typename A::Truth;
  using Element = std::uint32_t;

  // Values of the variables in scope, by slot.
  Binding& binding() { return binding_; }

  // Requires: the free variables of the node are bound.
  Truth truth(const NormalNode& node) { return walk(node, false); }
  // That it is false; the negation of an atom is not put around another one.
  Truth denial(const NormalNode& node) { return walk(node, true); }

  // (a, b) ∈ r.
  Truth cell(RelationId id, Element a, Element b) {
    if (const std::optional<bool> known = engine().decided(id, a, b))
      return algebra_.constant(*known);
    const GroundRelation r = table_[id];  // a copy, because the table may grow
    switch (r.op) {
      case RelationOp::Inverse: return cell(r.left, b, a);
      case RelationOp::Star: {
        const Truth same = engine().identity(r.from, a, b);
        return algebra_.known(same) == true ? same : any({same, cell(r.left, a, b)});
      }
      case RelationOp::Plus: return engine().closure(id, a, b);
      default: break;
    }
    if (!engine().keeps(id)) return make(r, a, b);
    if (const Truth* made = memo_.find(id, a, b)) return *made;
    const Truth made = make(r, a, b);
    memo_.insert(id, a, b, made);
    return made;
  }

 protected:
  // Keeps a reference to the table. `elements` as CellMemo has it.
  Translator(A algebra, RelationTable& table, std::size_t elements = 0)
      : algebra_(algebra), table_(table), memo_(elements) {}

  Element value(const Variable& v) const { return binding_[static_cast<std::size_t>(v.slot)]; }
  Truth all(std::initializer_list<Truth> parts) { return algebra_.conj(span_of(parts)); }
  Truth any(std::initializer_list<Truth> parts) { return algebra_.disj(span_of(parts)); }

  // (r ; s)(a, b) over the elements for which `for_each_middle` calls its argument, and over `some`
  // other ways.
  template <class ForEach>
  Truth composed(const GroundRelation& r, Element a, Element b, ForEach&& for_each_middle,
                 std::vector<Truth> some = {}) {
    for_each_middle([&](Element m) {
      const Truth first = cell(r.left, a, m);
      if (algebra_.known(first) != false) some.push_back(all({first, cell(r.right, m, b)}));
    });
    return algebra_.disj(some);
  }

  // Makes a matrix of n rows transitive, by eliminating one element after the other (Warshall's
  // algorithm), those with few neighbours first: they connect few others. Pairs that are not
  // allowed(a, b) are known not to be in the closure.
  template <class Allowed, class Stopped>
  void close(std::vector<Truth>& m, std::size_t n, const Allowed& allowed, const Stopped& stopped);

  // For facts or for witnesses that come and go.
  template <class Test>
  void forget_cells(const Test& test) {
    memo_.erase_if(test);
  }

  A algebra_;
  RelationTable& table_;
  Binding binding_;

 private:
  Truth walk(const NormalNode& node, bool denied) {
    const bool negated = node.negated != denied;
    switch (node.kind) {
      case NormalNode::Kind::Atom: return with_sign(negated, atom_truth(node));
      case NormalNode::Kind::And:
      case NormalNode::Kind::Or: {
        const bool is_and = (node.kind == NormalNode::Kind::And) != denied;
        std::vector<Truth> parts;
        for (const NormalNode& child : node.children) {
          parts.push_back(walk(child, denied));
          if (algebra_.known(parts.back()) == !is_and) return parts.back();
        }
        return is_and ? algebra_.conj(parts) : algebra_.disj(parts);
      }
      case NormalNode::Kind::Iff: {
        const Truth left = walk(node.children[0], false);
        return with_sign(negated, algebra_.iff(left, walk(node.children[1], false)));
      }
      case NormalNode::Kind::Exists:
        if constexpr (requires(Engine & e) { e.none(node); }) {
          if (negated) return engine().none(node);
        }
        return with_sign(negated, engine().exists(node));
      case NormalNode::Kind::Acyclic:
        return with_sign(negated, engine().acyclic(table_.instantiate(*node.relation, binding_)));
    }
    ISO_ASSERT(false);
  }
  Truth with_sign(bool negated, Truth t) { return negated ? algebra_.negation(t) : t; }

  Engine& engine() { return static_cast<Engine&>(*this); }
  static std::span<const Truth> span_of(std::initializer_list<Truth> parts) {
    return {parts.begin(), parts.size()};
  }

  Truth atom_truth(const NormalNode& node) {
    const Element a = value(node.a);
    const Element b = value(node.b);
    if (node.atom == FormulaOp::Member)
      return cell(table_.instantiate(*node.relation, binding_), a, b);
    return engine().atom(node, a, b);
  }

  Truth make(const GroundRelation& r, Element a, Element b) {
    switch (r.op) {
      case RelationOp::Union: return any({cell(r.left, a, b), cell(r.right, a, b)});
      case RelationOp::Intersection: return all({cell(r.left, a, b), cell(r.right, a, b)});
      case RelationOp::Difference:
        return all({cell(r.left, a, b), algebra_.negation(cell(r.right, a, b))});
      case RelationOp::Compose: return engine().compose(r, a, b);
      default: return engine().leaf(r, a, b);
    }
  }

  CellMemo<Truth> memo_;
};

template <class Engine, Algebra A>
template <class Allowed, class Stopped>
void Translator<Engine, A>::close(std::vector<Truth>& m, std::size_t n, const Allowed& allowed,
                                  const Stopped& stopped) {
  const auto is_never = [&](Truth t) { return algebra_.known(t) == false; };
  std::vector<std::size_t> links(n);
  std::vector<std::size_t> pivots(n);
  for (std::size_t a = 0; a < n; ++a) {
    pivots[a] = a;
    for (std::size_t b = 0; b < n; ++b) {
      if (is_never(m[a * n + b])) continue;
      ++links[a];
      ++links[b];
    }
  }
  std::ranges::stable_sort(pivots,
                           [&](std::size_t a, std::size_t b) { return links[a] < links[b]; });
  std::vector<std::size_t> successors;
  for (const std::size_t pivot : pivots) {
    successors.clear();
    for (std::size_t b = 0; b < n; ++b) {
      if (b != pivot && !is_never(m[pivot * n + b])) successors.push_back(b);
    }
    for (std::size_t a = 0; a < n; ++a) {
      const Truth to_pivot = m[a * n + pivot];
      if (a == pivot || is_never(to_pivot)) continue;
      if (stopped()) return;
      for (const std::size_t b : successors) {
        Truth& there = m[a * n + b];
        if (algebra_.known(there) != true && allowed(a, b))
          there = any({there, all({to_pivot, m[pivot * n + b]})});
      }
    }
  }
}

}  // namespace isoscope
