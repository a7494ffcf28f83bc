#include "explore/level_rules.h"

#include <algorithm>

#include "relational/normal_form.h"
#include "spec/external_consistency.h"

namespace isoscope::explore {
namespace {

bool has_axiom(const Level& level, const Axiom& axiom) {
  return std::any_of(level.axioms.begin(), level.axioms.end(),
                     [&](const Axiom& own) { return own.formula == axiom.formula; });
}

class Compiler {
 public:
  std::shared_ptr<const LevelRules> run(const Level& base, const std::vector<const Level*>& own) {
    rules_.framework = base.framework;
    if (base.framework == Framework::CoSnap) return nullptr;
    std::vector<const Level*> all = {&base};
    for (const Level* level : own) {
      if (level != nullptr && std::find(all.begin(), all.end(), level) == all.end())
        all.push_back(level);
    }
    std::vector<const Axiom*> axioms;
    for (const Level* level : all) {
      if (!level->uses_session_order || level->uses_real_time || level->is_wr_free) return nullptr;
      for (const Axiom& axiom : level->axioms) {
        const bool is_known = std::any_of(axioms.begin(), axioms.end(), [&](const Axiom* other) {
          return other->formula == axiom.formula;
        });
        if (is_known) continue;
        axioms.push_back(&axiom);
        subject_.reset();
        has_axiom_.clear();
        const bool is_of_all = std::all_of(
            all.begin(), all.end(), [&](const Level* other) { return has_axiom(*other, axiom); });
        if (!is_of_all) {
          if (!axiom.subject || axiom.subject->sort != Sort::Txn) return nullptr;
          subject_ = axiom.subject->slot;
          has_axiom_.push_back(has_axiom(base, axiom));
          for (const Level* level_of_call : own)
            has_axiom_.push_back(
                has_axiom(level_of_call == nullptr ? base : *level_of_call, axiom));
        }
        if (!add(axiom)) return nullptr;
      }
    }
    if (base.framework == Framework::VisAr) {
      subject_.reset();
      has_axiom_.clear();
      if (!add(external_consistency(base.framework).axioms.front())) return nullptr;
    }
    return std::make_shared<const LevelRules>(std::move(rules_));
  }

 private:
  // A conjunction of premises that is being collected.
  struct Premises {
    std::vector<Variable> variables;
    std::vector<const NormalNode*> atoms;
  };

  bool add(const Axiom& axiom) {
    const NormalForm form = normalize(axiom);
    rules_.num_slots = std::max(rules_.num_slots, form.slots + 1);
    return std::all_of(form.parts.begin(), form.parts.end(),
                       [&](const NormalNode& part) { return add(part); });
  }

  bool add(const NormalNode& part) {
    if (part.kind == NormalNode::Kind::Acyclic && !part.negated) return add_acyclic(part);
    if (part.kind != NormalNode::Kind::Exists || !part.negated) return false;
    std::vector<const NormalNode*> children;
    for (const NormalNode& child : part.children) children.push_back(&child);
    return expand({.variables = part.variables, .atoms = {}}, std::move(children));
  }

  // Makes a rule of each way in which all of `left` can be true.
  bool expand(Premises premises, std::vector<const NormalNode*> left) {
    while (!left.empty()) {
      const NormalNode& node = *left.back();
      left.pop_back();
      switch (node.kind) {
        case NormalNode::Kind::Atom: premises.atoms.push_back(&node); break;
        case NormalNode::Kind::And:
          for (const NormalNode& child : node.children) left.push_back(&child);
          break;
        case NormalNode::Kind::Or:
          for (const NormalNode& child : node.children) {
            std::vector<const NormalNode*> more = left;
            more.push_back(&child);
            if (!expand(premises, std::move(more))) return false;
          }
          return true;
        case NormalNode::Kind::Exists:
          if (node.negated) return false;
          premises.variables.insert(premises.variables.end(), node.variables.begin(),
                                    node.variables.end());
          for (const NormalNode& child : node.children) left.push_back(&child);
          break;
        case NormalNode::Kind::Iff:
        case NormalNode::Kind::Acyclic: return false;
      }
    }
    return add_rule(premises);
  }

  bool add_rule(const Premises& premises) {
    ForcingRule rule{.subject = subject_, .has_axiom = has_axiom_};
    std::vector<RuleAtom> atoms;
    for (const NormalNode* node : premises.atoms) {
      if (node->atom == FormulaOp::Member && node->negated) {
        if (rule.then != ForcingRule::Then::Never || !set_conclusion(rule, *node)) return false;
        continue;
      }
      const auto atom = atom_of(*node);
      if (!atom) return false;
      atoms.push_back(*atom);
    }
    for (const Variable& v : premises.variables) {
      if (v.sort == Sort::Read) return false;
      if (v.sort == Sort::Key) rule.keys.push_back(v.slot);
      if (v.sort == Sort::Txn) rule.steps.push_back({.txn = v.slot});
    }
    return place(std::move(rule), atoms);
  }

  static bool set_conclusion(ForcingRule& rule, const NormalNode& node) {
    switch (node.relation->op) {
      case RelationOp::Co:
      case RelationOp::Ar: rule.then = ForcingRule::Then::Order; break;
      case RelationOp::Vis: rule.then = ForcingRule::Then::Sight; break;
      default: return false;
    }
    rule.from = node.a.slot;
    rule.to = node.b.slot;
    return true;
  }

  std::optional<RuleAtom> atom_of(const NormalNode& node) {
    RuleAtom atom{.a = node.a.slot, .b = node.b.slot};
    switch (node.atom) {
      case FormulaOp::Equal:
        if (node.a.sort != Sort::Txn) return std::nullopt;  // keys with the same facts are one
        atom.kind = node.negated ? RuleAtom::Kind::Differ : RuleAtom::Kind::Equal;
        return atom;
      case FormulaOp::Writes:
      case FormulaOp::Reads:
        if (node.negated) return std::nullopt;
        atom.kind = node.atom == FormulaOp::Writes ? RuleAtom::Kind::Writes : RuleAtom::Kind::Reads;
        return atom;
      case FormulaOp::Member:
        atom.relation = relation(*node.relation);
        if (atom.relation < 0) return std::nullopt;
        return atom;
      default: return std::nullopt;
    }
  }

  // Looks at each atom as soon as all its variables are bound; keys are bound first.
  bool place(ForcingRule rule, const std::vector<RuleAtom>& atoms) {
    const auto step_of = [&](int slot) -> std::optional<std::size_t> {
      for (std::size_t i = 0; i < rule.steps.size(); ++i) {
        if (rule.steps[i].txn == slot) return i;
      }
      return std::nullopt;
    };
    for (const RuleAtom& atom : atoms) {
      const bool has_key =
          atom.kind == RuleAtom::Kind::Writes || atom.kind == RuleAtom::Kind::Reads;
      const auto a = step_of(atom.a);
      const auto b = has_key ? a : step_of(atom.b);
      if (!a || !b) return false;
      rule.steps[std::max(*a, *b)].atoms.push_back(atom);
      if (atom.relation >= 0 && mentions_order_[static_cast<std::size_t>(atom.relation)])
        rules_.asks_order = true;
    }
    rules_.rules.push_back(std::move(rule));
    return true;
  }

  bool add_acyclic(const NormalNode& part) {
    const int step = relation(*part.relation);
    if (step < 0 || !rules_.relations[static_cast<std::size_t>(step)].keys.empty()) return false;
    const int closure = add_relation({.op = RelationOp::Plus, .left = step});
    const int slot = rules_.num_slots++;
    ForcingRule rule{.steps = {{.txn = slot}}, .subject = subject_, .has_axiom = has_axiom_};
    return place(std::move(rule), {{.a = slot, .b = slot, .relation = closure}});
  }

  // The number of an expression; negative if its value may shrink while a history grows, or if it
  // speaks of reads.
  int relation(const RelationExpr& r) {
    if (r.from == Sort::Read || r.to == Sort::Read) return -1;
    RuleRelation node{.op = r.op, .set = r.set, .key = r.key ? r.key->slot : -1};
    switch (r.op) {
      case RelationOp::So:
      case RelationOp::Wr:
      case RelationOp::Co:
      case RelationOp::Ar:
      case RelationOp::Vis:
      case RelationOp::Ww:
      case RelationOp::Rw:
      case RelationOp::IdentityOn: break;
      case RelationOp::Union:
      case RelationOp::Intersection:
      case RelationOp::Compose:
        node.left = relation(*r.left);
        node.right = relation(*r.right);
        if (node.left < 0 || node.right < 0) return -1;
        break;
      case RelationOp::Inverse:
      case RelationOp::Plus:
      case RelationOp::Star:
        node.left = relation(*r.left);
        if (node.left < 0) return -1;
        break;
      case RelationOp::Difference:
      case RelationOp::Maybe:
      case RelationOp::Po:
      case RelationOp::Snap:
      case RelationOp::Of:
      case RelationOp::Same:
      case RelationOp::Waited:
      case RelationOp::Rt: return -1;
    }
    return add_relation(std::move(node));
  }

  int add_relation(RuleRelation node) {
    bool asks_order = is_by_order(node.op);
    node.is_fact = !is_by_witness(node.op);
    if (node.key >= 0) node.keys.push_back(node.key);
    for (const int part : {node.left, node.right}) {
      if (part < 0) continue;
      const RuleRelation& other = rules_.relations[static_cast<std::size_t>(part)];
      node.is_fact = node.is_fact && other.is_fact;
      node.keys.insert(node.keys.end(), other.keys.begin(), other.keys.end());
      asks_order = asks_order || mentions_order_[static_cast<std::size_t>(part)];
    }
    std::sort(node.keys.begin(), node.keys.end());
    node.keys.erase(std::unique(node.keys.begin(), node.keys.end()), node.keys.end());
    rules_.relations.push_back(std::move(node));
    mentions_order_.push_back(asks_order);
    return static_cast<int>(rules_.relations.size()) - 1;
  }

  LevelRules rules_;
  std::vector<bool> mentions_order_;  // by relation
  std::optional<int> subject_;        // of the axiom at hand
  ById<TxnId, bool> has_axiom_;
};

}  // namespace

std::shared_ptr<const LevelRules> rules_of(const Level& base,
                                           const std::vector<const Level*>& own) {
  return Compiler().run(base, own);
}

}  // namespace isoscope::explore
