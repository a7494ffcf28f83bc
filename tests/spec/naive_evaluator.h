#pragma once
// The level language once more, by its definition alone: membership in a relation is asked pair
// by pair, a closure is a search, a quantifier tries everything before anything is tested. Far
// too slow for use; the evaluator in src/spec must agree with it.
#include <algorithm>
#include <vector>

#include "history/execution.h"
#include "spec/ast.h"

namespace isoscope {

class NaiveEvaluator {
 public:
  NaiveEvaluator(const History& h, const std::vector<TxnId>& co) : h_(h), co_(co) {
    for (EventId e : h.all_events()) {
      if (h.is_external_read(e) && h.is_present(h.txn(e))) reads_.push_back(e.index);
    }
    for (TxnId t : h.txns()) {
      if (h.is_present(t)) txns_.push_back(t.index);
    }
    for (KeyId x : h.keys()) keys_.push_back(x.index);
  }

  bool holds(const Formula& f, std::size_t slots) {
    env_.assign(slots, 0);
    return holds(f);
  }

 private:
  using Element = std::uint32_t;

  const std::vector<Element>& elements(Sort sort) const {
    return sort == Sort::Txn ? txns_ : sort == Sort::Key ? keys_ : reads_;
  }
  Element value(const Variable& v) const { return env_[static_cast<std::size_t>(v.slot)]; }

  bool holds(const Formula& f) {
    switch (f.op) {
      case FormulaOp::Forall: return quantify(f, 0, true);
      case FormulaOp::Exists: return quantify(f, 0, false);
      case FormulaOp::Not: return !holds(*f.left);
      case FormulaOp::And: return holds(*f.left) && holds(*f.right);
      case FormulaOp::Or: return holds(*f.left) || holds(*f.right);
      case FormulaOp::Implies: return !holds(*f.left) || holds(*f.right);
      case FormulaOp::Iff: return holds(*f.left) == holds(*f.right);
      case FormulaOp::Equal: return value(*f.a) == value(*f.b);
      case FormulaOp::Member: return in(*f.relation, value(*f.a), value(*f.b));
      case FormulaOp::Writes: return h_.writes(TxnId{value(*f.a)}, KeyId{value(*f.b)});
      case FormulaOp::Reads:
        return std::any_of(reads_.begin(), reads_.end(), [&](Element e) {
          return txn(e) == value(*f.a) && h_.key(EventId{e}).index == value(*f.b);
        });
      default: return holds_of_relation(f, *f.relation);
    }
  }

  // A forall until something is false, an exists until something is true.
  bool quantify(const Formula& f, std::size_t bound, bool forall) {
    if (bound == f.variables.size()) return holds(*f.left);
    for (Element e : elements(f.variables[bound].sort)) {
      env_[static_cast<std::size_t>(f.variables[bound].slot)] = e;
      if (quantify(f, bound + 1, forall) != forall) return !forall;
    }
    return forall;
  }

  bool holds_of_relation(const Formula& f, const RelationExpr& r) {
    for (Element a : elements(r.from)) {
      if (f.op == FormulaOp::Irreflexive && in(r, a, a)) return false;
      if (f.op == FormulaOp::Acyclic && reaches(r, a, a)) return false;
      for (Element b : elements(r.to)) {
        if (f.op == FormulaOp::Empty && in(r, a, b)) return false;
        if (f.op == FormulaOp::Subset && in(r, a, b) && !in(*f.other, a, b)) return false;
        if (f.op == FormulaOp::Total && a != b && !in(r, a, b) && !in(r, b, a)) return false;
        if (f.op != FormulaOp::Transitive || !in(r, a, b)) continue;
        for (Element c : elements(r.to)) {
          if (in(r, b, c) && !in(r, a, c)) return false;
        }
      }
    }
    return true;
  }

  // Is there a path of one or more steps?
  bool reaches(const RelationExpr& r, Element a, Element b) {
    std::vector<Element> seen;
    std::vector<Element> open = {a};
    while (!open.empty()) {
      const Element from = open.back();
      open.pop_back();
      for (Element to : elements(r.to)) {
        if (!in(r, from, to)) continue;
        if (to == b) return true;
        if (std::find(seen.begin(), seen.end(), to) == seen.end()) {
          seen.push_back(to);
          open.push_back(to);
        }
      }
    }
    return false;
  }

  bool in(const RelationExpr& r, Element a, Element b) {
    switch (r.op) {
      case RelationOp::So: return h_.so(TxnId{a}, TxnId{b});
      case RelationOp::Rt: return h_.rt(TxnId{a}, TxnId{b});
      case RelationOp::Co: return position(a) < position(b);
      case RelationOp::Po: return a < b && txn(a) == txn(b);
      case RelationOp::Wr: return reads_from(r, a, b);
      case RelationOp::Ww: return any_key(r, [&](KeyId x) { return ww(x, a, b); });
      case RelationOp::Rw: return any_key(r, [&](KeyId x) { return a != b && rw(x, a, b); });
      case RelationOp::IdentityOn: return a == b && is_member(r, a);
      case RelationOp::Union: return in(*r.left, a, b) || in(*r.right, a, b);
      case RelationOp::Intersection: return in(*r.left, a, b) && in(*r.right, a, b);
      case RelationOp::Difference: return in(*r.left, a, b) && !in(*r.right, a, b);
      case RelationOp::Compose:
        return std::any_of(elements(r.left->to).begin(), elements(r.left->to).end(),
                           [&](Element m) { return in(*r.left, a, m) && in(*r.right, m, b); });
      case RelationOp::Inverse: return in(*r.left, b, a);
      case RelationOp::Plus: return reaches(*r.left, a, b);
      case RelationOp::Star: return a == b || reaches(*r.left, a, b);
      default: return false;
    }
  }

  template <class Test>
  bool any_key(const RelationExpr& r, Test&& test) {
    if (r.key) return test(KeyId{value(*r.key)});
    return std::any_of(keys_.begin(), keys_.end(), [&](Element x) { return test(KeyId{x}); });
  }
  bool reads_from(const RelationExpr& r, Element a, Element b) {
    return std::any_of(reads_.begin(), reads_.end(), [&](Element e) {
      return (r.to == Sort::Read ? e == b : txn(e) == b) && h_.writer(EventId{e}).index == a &&
             (!r.key || h_.key(EventId{e}).index == value(*r.key));
    });
  }
  bool ww(KeyId x, Element a, Element b) {
    return h_.writes(TxnId{a}, x) && h_.writes(TxnId{b}, x) && position(a) < position(b);
  }
  bool rw(KeyId x, Element a, Element b) {
    return std::any_of(reads_.begin(), reads_.end(), [&](Element e) {
      return txn(e) == a && h_.key(EventId{e}) == x && ww(x, h_.writer(EventId{e}).index, b);
    });
  }
  bool is_member(const RelationExpr& r, Element t) {
    if (r.key) return h_.writes(TxnId{t}, KeyId{value(*r.key)});
    if (r.set == SetName::Aborted) return h_.status(TxnId{t}) == TxnStatus::Aborted;
    if (r.set == SetName::Readers)
      return std::any_of(reads_.begin(), reads_.end(), [&](Element e) { return txn(e) == t; });
    return std::any_of(keys_.begin(), keys_.end(),
                       [&](Element x) { return h_.writes(TxnId{t}, KeyId{x}); });
  }
  Element txn(Element read) const { return h_.txn(EventId{read}).index; }
  std::ptrdiff_t position(Element t) const {
    return std::find(co_.begin(), co_.end(), TxnId{t}) - co_.begin();
  }

  const History& h_;
  const std::vector<TxnId>& co_;
  std::vector<Element> txns_;
  std::vector<Element> keys_;
  std::vector<Element> reads_;
  std::vector<Element> env_;
};

}  // namespace isoscope
