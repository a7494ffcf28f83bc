#include "synth/shape.h"

#include <algorithm>

#include "relational/mentions.h"
#include "spec/levels.h"

namespace isoscope::synthesis {

namespace {

bool is_leaf(const RelationPtr& r, RelationOp op) { return r != nullptr && r->op == op; }

FormulaPtr member(const RelationPtr& r, const Variable& a, const Variable& b) {
  auto f = std::make_shared<Formula>();
  f->op = FormulaOp::Member;
  f->relation = r;
  f->a = a;
  f->b = b;
  return f;
}

RelationPtr leaf(RelationOp op) {
  auto r = std::make_shared<RelationExpr>();
  r->op = op;
  return r;
}

// A rule that is being read.
struct Draft {
  std::vector<Variable> variables;
  std::vector<FormulaPtr> premises = {};
  Variable from = {};
  Variable to = {};

  HeadRule finish(const Axiom& axiom) const {
    constexpr int kOwnSlots = 3;  // of vis_rule_of()
    return {std::make_shared<const NormalNode>(
                normalize_join(variables, premises, axiom.slots + kOwnSlots)),
            from, to};
  }
};

FormulaPtr alias(const Axiom& axiom, const Formula* part) { return {axiom.formula, part}; }

// The axiom as a rule that concludes vis, if it is one.
std::optional<HeadRule> vis_rule_of(const Axiom& axiom) {
  const Rule rule = rule_of(*axiom.formula);
  const Formula* conclusion = rule.conclusion;
  if (conclusion == nullptr) return std::nullopt;
  Draft head{rule.variables};
  for (const Formula* premise : rule.premises) head.premises.push_back(alias(axiom, premise));
  const Variable a{"s", Sort::Txn, axiom.slots};
  const Variable b{"t", Sort::Txn, axiom.slots + 1};
  const Variable m{"m", Sort::Txn, axiom.slots + 2};
  const auto conclude_pair = [&] {
    head.variables.push_back(a);
    head.variables.push_back(b);
    head.from = a;
    head.to = b;
  };
  if (conclusion->op == FormulaOp::Member && is_leaf(conclusion->relation, RelationOp::Vis)) {
    head.from = *conclusion->a;
    head.to = *conclusion->b;
  } else if (conclusion->op == FormulaOp::Subset && is_leaf(conclusion->other, RelationOp::Vis)) {
    conclude_pair();
    head.premises.push_back(member(conclusion->relation, a, b));
  } else if (conclusion->op == FormulaOp::Total && is_leaf(conclusion->relation, RelationOp::Vis)) {
    // vis is part of ar, so that of two transactions only the ar-earlier can be the seen one.
    conclude_pair();
    head.premises.push_back(member(leaf(RelationOp::Ar), a, b));
  } else if (conclusion->op == FormulaOp::Transitive &&
             is_leaf(conclusion->relation, RelationOp::Vis)) {
    conclude_pair();
    head.variables.push_back(m);
    head.premises.push_back(member(conclusion->relation, a, m));
    head.premises.push_back(member(conclusion->relation, m, b));
  } else {
    return std::nullopt;
  }
  for (const FormulaPtr& premise : head.premises) {
    if (trend_of(*premise).may_fall) return std::nullopt;
  }
  return head.finish(axiom);
}

// The axiom as a rule that concludes snap, if it is one.
std::optional<HeadRule> snap_rule_of(const Axiom& axiom) {
  const Rule rule = rule_of(*axiom.formula);
  const Formula* conclusion = rule.conclusion;
  if (conclusion == nullptr || conclusion->op != FormulaOp::Member ||
      !is_leaf(conclusion->relation, RelationOp::Snap))
    return std::nullopt;
  Draft head{rule.variables, {}, *conclusion->a, *conclusion->b};
  for (const Formula* premise : rule.premises) {
    if (trend_of(*premise).may_fall) return std::nullopt;
    head.premises.push_back(alias(axiom, premise));
  }
  return head.finish(axiom);
}

// The axiom as a rule that forces co, if co is nothing but concluded.
std::optional<HeadRule> order_rule_of(const Axiom& axiom) {
  const Rule rule = rule_of(*axiom.formula);
  Draft head{rule.variables};
  const Formula* denied = nullptr;  // the premise co(b, a), which forces co(a, b) instead
  for (const Formula* premise : rule.premises) {
    if (!mentions_order(*premise)) {
      head.premises.push_back(alias(axiom, premise));
    } else if (denied == nullptr && premise->op == FormulaOp::Member &&
               is_leaf(premise->relation, RelationOp::Co)) {
      denied = premise;
    } else {
      return std::nullopt;
    }
  }
  const Formula* concluded = rule.conclusion;
  if (denied != nullptr && concluded == nullptr) {
    head.from = *denied->b;
    head.to = *denied->a;
    // Nothing is before itself, so that the premise holds for different transactions only.
    auto equal = std::make_shared<Formula>();
    equal->op = FormulaOp::Equal;
    equal->a = denied->a;
    equal->b = denied->b;
    auto different = std::make_shared<Formula>();
    different->op = FormulaOp::Not;
    different->left = equal;
    head.premises.push_back(different);
    return head.finish(axiom);
  }
  if (denied == nullptr && concluded != nullptr && concluded->op == FormulaOp::Member &&
      is_leaf(concluded->relation, RelationOp::Co)) {
    head.from = *concluded->a;
    head.to = *concluded->b;
    return head.finish(axiom);
  }
  return std::nullopt;
}

// A place where an axiom speaks of reads of one key: the key, and the transactions if it is a plain
// wr[x](s, t).
struct KeyedRead {
  int key = 0;
  std::optional<std::pair<int, int>> pair;
  friend bool operator==(const KeyedRead&, const KeyedRead&) = default;
};

void add_keyed_reads(const RelationExpr& r, std::vector<KeyedRead>& out) {
  if ((r.op == RelationOp::Wr || r.op == RelationOp::Rw) && r.key)
    out.push_back({r.key->slot, std::nullopt});
  if (r.left != nullptr) add_keyed_reads(*r.left, out);
  if (r.right != nullptr) add_keyed_reads(*r.right, out);
}

void add_keyed_reads(const Formula& f, std::vector<KeyedRead>& out) {
  if (f.op == FormulaOp::Member && f.relation->op == RelationOp::Wr && f.relation->key) {
    const KeyedRead read{f.relation->key->slot, std::pair(f.a->slot, f.b->slot)};
    // The same atom twice is one read.
    if (std::find(out.begin(), out.end(), read) == out.end()) out.push_back(read);
  } else {
    if (f.relation != nullptr) add_keyed_reads(*f.relation, out);
    if (f.other != nullptr) add_keyed_reads(*f.other, out);
  }
  if (f.left != nullptr) add_keyed_reads(*f.left, out);
  if (f.right != nullptr) add_keyed_reads(*f.right, out);
}

bool tells_repeated_reads(const Axiom& axiom) {
  std::vector<KeyedRead> reads;
  add_keyed_reads(*axiom.formula, reads);
  const Rule rule = rule_of(*axiom.formula);
  const auto must_differ = [&](int x, int y) {
    return std::any_of(rule.premises.begin(), rule.premises.end(), [&](const Formula* premise) {
      if (premise->op != FormulaOp::Not || premise->left->op != FormulaOp::Equal) return false;
      const int a = premise->left->a->slot;
      const int b = premise->left->b->slot;
      return (a == x && b == y) || (a == y && b == x);
    });
  };
  for (std::size_t i = 0; i < reads.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!must_differ(reads[i].key, reads[j].key)) return true;
    }
  }
  return false;
}

int num_key_variables(const Formula& f) {
  int number =
      static_cast<int>(std::count_if(f.variables.begin(), f.variables.end(),
                                     [](const Variable& v) { return v.sort == Sort::Key; }));
  if (f.left != nullptr) number += num_key_variables(*f.left);
  if (f.right != nullptr) number += num_key_variables(*f.right);
  return number;
}

bool mentions_locks(const Formula& f) {
  return mentions(f, RelationOp::Waited) ||
         any_formula(f, [](const Formula& part) { return part.op == FormulaOp::Locks; });
}

}  // namespace

Distinctions distinctions_of(const std::vector<const Level*>& allow,
                             const std::vector<const Level*>& forbid) {
  Distinctions all;
  for (const auto* side : {&allow, &forbid}) {
    int keys = 0;
    for (const Level* level : *side) {
      all.statements = all.statements || speaks_of_statements(*level);
      all.read_order = all.read_order || all.statements || mentions_reads(*level);
      all.real_time = all.real_time || level->uses_real_time;
      for (const Axiom& axiom : level->axioms) {
        keys = std::max(keys, num_key_variables(*axiom.formula));
        all.repeated_reads = all.repeated_reads || tells_repeated_reads(axiom);
        all.inserts = all.inserts || mentions_locks(*axiom.formula);
        all.aborted_txns =
            all.aborted_txns || any_relation(*axiom.formula, [](const RelationExpr& r) {
              return r.op == RelationOp::IdentityOn && r.set == SetName::Aborted;
            });
      }
    }
    all.keys += keys;
  }
  return all;
}

LevelShape shape_of(const Level& level) {
  LevelShape shape;
  shape.level = &level;
  shape.needs_read_order = mentions_reads(level);
  if (level.framework == Framework::Co) {
    shape.only_forces_order = true;
    for (const Axiom& axiom : level.axioms) {
      if (auto rule = order_rule_of(axiom)) {
        shape.order_rules.push_back(*std::move(rule));
        continue;
      }
      if (mentions_order(*axiom.formula)) shape.only_forces_order = false;
      shape.others.push_back(&axiom);
    }
    return shape;
  }
  if (level.framework == Framework::CoSnap) {
    shape.has_least_snap = true;
    for (const Axiom& axiom : level.axioms) {
      if (auto rule = snap_rule_of(axiom)) {
        shape.snap_rules.push_back(*std::move(rule));
        continue;
      }
      if (trend_of(*axiom.formula).may_rise) shape.has_least_snap = false;
      shape.others.push_back(&axiom);
    }
    return shape;
  }
  shape.has_least_vis = true;
  shape.vis_ignores_order = true;
  for (const Axiom& axiom : level.axioms) {
    if (mentions_order(*axiom.formula)) shape.vis_ignores_order = false;
    if (auto rule = vis_rule_of(axiom)) {
      if (mentions_order(*rule->join)) shape.vis_ignores_order = false;
      shape.vis_rules.push_back(*std::move(rule));
      continue;
    }
    if (trend_of(*axiom.formula).may_rise) shape.has_least_vis = false;
    shape.others.push_back(&axiom);
  }
  return shape;
}

}  // namespace isoscope::synthesis
