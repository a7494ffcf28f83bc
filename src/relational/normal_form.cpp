#include "relational/normal_form.h"

#include <algorithm>
#include <utility>

#include "support/assert.h"

namespace isoscope {
namespace {

using Kind = NormalNode::Kind;

// How a node is used by what stands above it: may its truth be underestimated, its falsehood?
enum class Use : std::uint8_t { OfTruth, OfFalsehood, OfBoth };

Use opposite(Use use) {
  switch (use) {
    case Use::OfTruth: return Use::OfFalsehood;
    case Use::OfFalsehood: return Use::OfTruth;
    case Use::OfBoth: return Use::OfBoth;
  }
  return use;
}

void add_slots(const RelationExpr& r, std::vector<int>& slots) {
  if (r.key) slots.push_back(r.key->slot);
  if (r.left) add_slots(*r.left, slots);
  if (r.right) add_slots(*r.right, slots);
}

void sort_unique(std::vector<int>& slots) {
  std::sort(slots.begin(), slots.end());
  slots.erase(std::unique(slots.begin(), slots.end()), slots.end());
}

class Normalizer {
 public:
  explicit Normalizer(int slots) : slots_(slots) {}

  // A node equivalent to f, or to its negation.
  NormalNode convert(const Formula& f, bool negated, Use use) {
    switch (f.op) {
      case FormulaOp::Not: return convert(*f.left, !negated, use);
      case FormulaOp::And:
        return group(negated ? Kind::Or : Kind::And, convert(*f.left, negated, use),
                     convert(*f.right, negated, use));
      case FormulaOp::Or:
        return group(negated ? Kind::And : Kind::Or, convert(*f.left, negated, use),
                     convert(*f.right, negated, use));
      case FormulaOp::Implies:
        return group(negated ? Kind::And : Kind::Or, convert(*f.left, !negated, use),
                     convert(*f.right, negated, use));
      case FormulaOp::Iff: {
        NormalNode node = group(Kind::Iff, convert(*f.left, false, Use::OfBoth),
                                convert(*f.right, false, Use::OfBoth));
        node.negated = negated;
        return node;
      }
      case FormulaOp::Exists: return exists(f.variables, *f.left, false, negated, use);
      case FormulaOp::Forall: return exists(f.variables, *f.left, true, !negated, use);
      case FormulaOp::Equal:
      case FormulaOp::Member:
      case FormulaOp::Writes:
      case FormulaOp::Reads:
      case FormulaOp::Locks:
      case FormulaOp::WritesRow: return atom(f.op, *f.a, *f.b, f.relation, negated);
      case FormulaOp::Current: return atom(f.op, *f.a, *f.a, nullptr, negated);
      case FormulaOp::Acyclic: return acyclic(f.relation, negated, use);
      case FormulaOp::Subset:
      case FormulaOp::Irreflexive:
      case FormulaOp::Transitive:
      case FormulaOp::Total:
      case FormulaOp::Empty: return statement(f, negated, use);
    }
    ISO_ASSERT(false);
  }

  NormalNode join_of(const std::vector<Variable>& variables, std::span<const FormulaPtr> premises) {
    std::vector<NormalNode> conjuncts;
    for (const FormulaPtr& premise : premises)
      conjuncts.push_back(convert(*premise, false, Use::OfBoth));
    return join(variables, std::move(conjuncts), false);
  }

  int slots() const { return slots_; }

 private:
  Variable fresh(Sort sort) { return {"", sort, slots_++}; }

  NormalNode finish(NormalNode node) {
    node.id = next_id_++;
    for (const NormalNode& child : node.children)
      node.free.insert(node.free.end(), child.free.begin(), child.free.end());
    for (const NormalNode& child : node.children) node.is_fact = node.is_fact && child.is_fact;
    if (node.relation != nullptr) node.is_fact = !depends_on_witness(*node.relation);
    sort_unique(node.free);
    for (const Variable& v : node.variables) std::erase(node.free, v.slot);
    return node;
  }

  NormalNode atom(FormulaOp op, const Variable& a, const Variable& b, RelationPtr relation,
                  bool negated) {
    NormalNode node;
    node.kind = Kind::Atom;
    node.negated = negated;
    node.atom = op;
    node.a = a;
    node.b = b;
    node.free = {a.slot, b.slot};
    if (relation) add_slots(*relation, node.free);
    node.relation = std::move(relation);
    return finish(std::move(node));
  }

  NormalNode member(const RelationPtr& r, const Variable& a, const Variable& b,
                    bool negated = false) {
    return atom(FormulaOp::Member, a, b, r, negated);
  }

  NormalNode group(Kind kind, NormalNode left, NormalNode right) {
    NormalNode node;
    node.kind = kind;
    add_child(node, std::move(left));
    add_child(node, std::move(right));
    return finish(std::move(node));
  }

  // Conjunctions within conjunctions dissolve, as do disjunctions within disjunctions and
  // quantifiers right within a quantifier.
  static void add_child(NormalNode& node, NormalNode child) {
    const bool dissolves =
        child.kind == Kind::And      ? node.kind == Kind::And || node.kind == Kind::Exists
        : child.kind == Kind::Or     ? node.kind == Kind::Or
        : child.kind == Kind::Exists ? node.kind == Kind::Exists && !child.negated
                                     : false;
    if (!dissolves) {
      node.children.push_back(std::move(child));
      return;
    }
    for (Variable& v : child.variables) node.variables.push_back(std::move(v));
    for (NormalNode& part : child.children) node.children.push_back(std::move(part));
  }

  NormalNode join(std::vector<Variable> variables, std::vector<NormalNode> conjuncts,
                  bool negated) {
    NormalNode node;
    node.kind = Kind::Exists;
    node.negated = negated;
    node.variables = std::move(variables);
    for (NormalNode& conjunct : conjuncts) add_child(node, std::move(conjunct));
    return finish(std::move(node));
  }

  NormalNode exists(const std::vector<Variable>& variables, const Formula& body, bool body_negated,
                    bool negated, Use use) {
    std::vector<NormalNode> conjuncts;
    conjuncts.push_back(convert(body, body_negated, negated ? opposite(use) : use));
    return join(variables, std::move(conjuncts), negated);
  }

  NormalNode acyclic(const RelationPtr& r, bool negated, Use use) {
    if (use == (negated ? Use::OfFalsehood : Use::OfTruth)) {
      NormalNode node;
      node.kind = Kind::Acyclic;
      node.negated = negated;
      node.relation = r;
      add_slots(*r, node.free);
      return finish(std::move(node));
    }
    RelationExpr closure;
    closure.op = RelationOp::Plus;
    closure.from = r->from;
    closure.to = r->to;
    closure.left = r;
    closure.place = r->place;
    const Variable a = fresh(r->from);
    std::vector<NormalNode> cycle;
    cycle.push_back(member(std::make_shared<const RelationExpr>(std::move(closure)), a, a));
    return join({a}, std::move(cycle), !negated);
  }

  // Each of these says that there is no counterexample.
  NormalNode statement(const Formula& f, bool negated, Use use) {
    const RelationPtr& r = f.relation;
    // irreflexive(s+) says acyclic(s).
    if (f.op == FormulaOp::Irreflexive && r->op == RelationOp::Plus)
      return acyclic(r->left, negated, use);
    const Variable a = fresh(r->from);
    std::vector<NormalNode> counterexample;
    if (f.op == FormulaOp::Irreflexive) {
      counterexample.push_back(member(r, a, a));
      return join({a}, std::move(counterexample), !negated);
    }
    const Variable b = fresh(r->to);
    switch (f.op) {
      case FormulaOp::Empty: counterexample.push_back(member(r, a, b)); break;
      case FormulaOp::Subset:
        counterexample.push_back(member(r, a, b));
        counterexample.push_back(member(f.other, a, b, true));
        break;
      case FormulaOp::Total:
        counterexample.push_back(atom(FormulaOp::Equal, a, b, nullptr, true));
        counterexample.push_back(member(r, a, b, true));
        counterexample.push_back(member(r, b, a, true));
        break;
      case FormulaOp::Transitive: {
        const Variable c = fresh(r->to);
        counterexample.push_back(member(r, a, b));
        counterexample.push_back(member(r, b, c));
        counterexample.push_back(member(r, a, c, true));
        return join({a, b, c}, std::move(counterexample), !negated);
      }
      default: ISO_ASSERT(false);  // no statement about a relation, or one that was handled above
    }
    return join({a, b}, std::move(counterexample), !negated);
  }

  int slots_;
  int next_id_ = 0;
};

// Does membership survive taking transactions away (as long as the pair itself stays)?
bool is_hereditary(const RelationExpr& r);
// Can membership only vanish, never appear?
bool is_antihereditary(const RelationExpr& r) {
  if (r.op == RelationOp::Difference) return is_antihereditary(*r.left) && is_hereditary(*r.right);
  return (!r.left || is_antihereditary(*r.left)) && (!r.right || is_antihereditary(*r.right));
}

bool is_hereditary(const RelationExpr& r) {
  switch (r.op) {
    case RelationOp::Rw:
    case RelationOp::Compose:
    case RelationOp::Plus:
    case RelationOp::Star:
      // co and ar stay transitive.
      return (r.op == RelationOp::Plus || r.op == RelationOp::Star) &&
             (r.left->op == RelationOp::Co || r.left->op == RelationOp::Ar);
    case RelationOp::IdentityOn: return r.set != SetName::Readers;
    case RelationOp::Difference: return is_hereditary(*r.left) && is_antihereditary(*r.right);
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
    case RelationOp::Union:
    case RelationOp::Intersection:
    case RelationOp::Inverse:
    case RelationOp::Maybe:
      return (!r.left || is_hereditary(*r.left)) && (!r.right || is_hereditary(*r.right));
  }
  return false;
}

// Can the node, if false, become true when a part of the history is taken away, and the reverse?
// `wanted` is the truth value that must survive.
bool survives(const NormalNode& node, bool wanted) {
  switch (node.kind) {
    case Kind::Atom: {
      const bool holds = wanted != node.negated;
      if (node.atom == FormulaOp::Member)
        return holds ? is_hereditary(*node.relation) : is_antihereditary(*node.relation);
      // A read goes with its writer, so reading does not survive; not reading does.
      return node.atom != FormulaOp::Reads || !holds;
    }
    case Kind::Acyclic: return wanted != node.negated ? is_antihereditary(*node.relation) : false;
    case Kind::Iff:
      return std::all_of(node.children.begin(), node.children.end(), [](const NormalNode& child) {
        return survives(child, true) && survives(child, false);
      });
    case Kind::Exists:
      if (wanted != node.negated) return false;
      return std::all_of(node.children.begin(), node.children.end(),
                         [](const NormalNode& child) { return survives(child, false); });
    case Kind::And:
    case Kind::Or:
      return std::all_of(node.children.begin(), node.children.end(),
                         [&](const NormalNode& child) { return survives(child, wanted); });
  }
  return false;
}

Trend operator|(Trend a, Trend b) { return {a.may_rise || b.may_rise, a.may_fall || b.may_fall}; }
Trend opposite(Trend a) { return {a.may_fall, a.may_rise}; }

Trend trend_of(const NormalNode& node) {
  Trend trend;
  if (node.relation != nullptr) trend = trend_of(*node.relation);
  if (node.kind == Kind::Acyclic) trend = opposite(trend);
  for (const NormalNode& child : node.children) trend = trend | trend_of(child);
  if (node.kind == Kind::Iff) trend = trend | opposite(trend);
  return node.negated ? opposite(trend) : trend;
}

}  // namespace

NormalNode normalize(const Formula& f, int slots) {
  return Normalizer(slots).convert(f, false, Use::OfBoth);
}

NormalNode normalize_join(const std::vector<Variable>& variables,
                          std::span<const FormulaPtr> premises, int slots) {
  return Normalizer(slots).join_of(variables, premises);
}

int num_slots(const NormalNode& node) {
  int number = 0;
  for (const Variable& v : node.variables) number = std::max(number, v.slot + 1);
  for (const NormalNode& child : node.children) number = std::max(number, num_slots(child));
  return number;
}

Trend trend_of(const RelationExpr& r) {
  if (r.op == RelationOp::Vis || r.op == RelationOp::Snap) return {.may_rise = true};
  Trend trend;
  if (r.left != nullptr) trend = trend_of(*r.left);
  if (r.right != nullptr) {
    const Trend right = trend_of(*r.right);
    trend = trend | (r.op == RelationOp::Difference ? opposite(right) : right);
  }
  return trend;
}

Trend trend_of(const Formula& f) {
  // Slots make no difference to it.
  return trend_of(normalize(f, 0));
}

NormalForm normalize(const Axiom& axiom) {
  Normalizer normalizer(axiom.slots);
  NormalNode root = normalizer.convert(*axiom.formula, false, Use::OfTruth);
  NormalForm form;
  if (root.kind == Kind::And) {
    form.parts = std::move(root.children);
  } else {
    form.parts.push_back(std::move(root));
  }
  form.slots = normalizer.slots();
  return form;
}

bool is_monotone(const NormalForm& form) {
  return std::all_of(form.parts.begin(), form.parts.end(),
                     [](const NormalNode& part) { return survives(part, true); });
}

}  // namespace isoscope
