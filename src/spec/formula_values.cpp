#include "spec/formula_values.h"

#include <algorithm>

#include "support/assert.h"

namespace isoscope {

namespace {

std::size_t at(int number) { return static_cast<std::size_t>(number); }

void add_slots(const RelationExpr& r, std::vector<int>& slots) {
  if (r.key) slots.push_back(r.key->slot);
  if (r.left != nullptr) add_slots(*r.left, slots);
  if (r.right != nullptr) add_slots(*r.right, slots);
}

// The slots that occur in a formula.
void add_slots(const Formula& f, std::vector<int>& slots) {
  if (f.a) slots.push_back(f.a->slot);
  if (f.b) slots.push_back(f.b->slot);
  if (f.relation != nullptr) add_slots(*f.relation, slots);
  if (f.other != nullptr) add_slots(*f.other, slots);
  if (f.left != nullptr) add_slots(*f.left, slots);
  if (f.right != nullptr) add_slots(*f.right, slots);
}

// How many of the variables must be bound before the formula has a value.
std::size_t needed(const Formula& f, const std::vector<Variable>& variables) {
  std::vector<int> slots;
  add_slots(f, slots);
  std::size_t count = 0;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (std::find(slots.begin(), slots.end(), variables[i].slot) != slots.end()) count = i + 1;
  }
  return count;
}

}  // namespace

int FormulaValues::add(const Formula& formula, int slots) {
  env_.resize(std::max(env_.size(), at(slots)));
  const Rule rule = rule_of(formula);
  return add_search(rule.variables, rule.premises, rule.conclusion);
}

void FormulaValues::restrict_to(int number, const Variable& subject,
                                std::vector<std::uint8_t> members) {
  Search& search = searches_[at(number)];
  search.members = std::move(members);
  for (std::size_t i = 0; i < search.variables.size(); ++i) {
    if (search.variables[i].slot == subject.slot) search.subject = i + 1;
  }
  ISO_ASSERT(search.subject > 0);
}

int FormulaValues::add_search(const std::vector<Variable>& variables,
                              const std::vector<const Formula*>& guards, const Formula* goal) {
  Search search;
  search.variables = variables;
  search.guards.resize(variables.size() + 1);
  for (const Formula* guard : guards)
    search.guards[needed(*guard, variables)].push_back(add_node(*guard));
  for (std::size_t i = 0; i < variables.size(); ++i)
    search.lists.push_back(listing_guard(search.guards[i + 1], variables[i]));
  search.listed.resize(variables.size());
  if (goal != nullptr) search.goal = add_node(*goal);
  searches_.push_back(std::move(search));
  return static_cast<int>(searches_.size() - 1);
}

int FormulaValues::add_node(const Formula& formula) {
  Node node;
  node.op = formula.op;
  if (formula.op == FormulaOp::Forall) {
    const Rule rule = rule_of(formula);
    node.search = add_search(rule.variables, rule.premises, rule.conclusion);
  } else if (formula.op == FormulaOp::Exists) {
    node.search = add_search(formula.variables, conjuncts(*formula.left), nullptr);
  } else {
    if (formula.a) node.a = formula.a->slot;
    if (formula.b) node.b = formula.b->slot;
    if (formula.relation != nullptr) {
      node.relation = relations_.add(*formula.relation);
      node.from = formula.relation->from;
      node.to = formula.relation->to;
    }
    if (formula.other != nullptr) node.other = relations_.add(*formula.other);
    if (formula.left != nullptr) node.left = add_node(*formula.left);
    if (formula.right != nullptr) node.right = add_node(*formula.right);
  }
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size() - 1);
}

bool FormulaValues::holds(int number) {
  const Node& node = nodes_[at(number)];
  switch (node.op) {
    case FormulaOp::Forall: return !find(searches_[at(node.search)], 0, nullptr);
    case FormulaOp::Exists: return find(searches_[at(node.search)], 0, nullptr);
    case FormulaOp::Not: return !holds(node.left);
    case FormulaOp::And: return holds(node.left) && holds(node.right);
    case FormulaOp::Or: return holds(node.left) || holds(node.right);
    case FormulaOp::Implies: return !holds(node.left) || holds(node.right);
    case FormulaOp::Iff: return holds(node.left) == holds(node.right);
    case FormulaOp::Equal: return env_[at(node.a)] == env_[at(node.b)];
    case FormulaOp::Writes: return facts_.writes(env_[at(node.a)], env_[at(node.b)]);
    case FormulaOp::Reads: return facts_.reads(env_[at(node.a)], env_[at(node.b)]);
    case FormulaOp::Locks: return facts_.locks(env_[at(node.a)], env_[at(node.b)]);
    case FormulaOp::WritesRow: return facts_.writes_row(env_[at(node.a)], env_[at(node.b)]);
    case FormulaOp::Current: return facts_.is_current(env_[at(node.a)]);
    case FormulaOp::Member:
      return relations_.value(node.relation, env_).contains(env_[at(node.a)], env_[at(node.b)]);
    default: return offending_pairs(node).empty();
  }
}

// Where a statement about a whole relation is false.
Relation FormulaValues::offending_pairs(const Node& node) {
  Relation r = relations_.value(node.relation, env_);
  switch (node.op) {
    case FormulaOp::Subset: return r -= relations_.value(node.other, env_);
    case FormulaOp::Empty: return r;
    case FormulaOp::Irreflexive: return r &= facts_.identity_on(node.from);
    case FormulaOp::Acyclic: return transitive_closure(r, budget_) & facts_.identity_on(node.from);
    case FormulaOp::Transitive: return compose(r, r, budget_) - r;
    case FormulaOp::Total: {
      Relation unrelated(facts_.size());
      for (std::uint32_t a : facts_.elements(node.from)) {
        for (std::uint32_t b : facts_.elements(node.from)) {
          if (a != b && !r.contains(a, b) && !r.contains(b, a)) unrelated.insert(a, b);
        }
      }
      return unrelated;
    }
    default: ISO_ASSERT(false);
  }
}

bool FormulaValues::passes(const Search& search, std::size_t bound) {
  if (!search.members.empty() && bound == search.subject) {
    const auto element = env_[at(search.variables[bound - 1].slot)];
    if (search.members[element] == 0) return false;
  }
  return std::all_of(search.guards[bound].begin(), search.guards[bound].end(),
                     [&](int guard) { return holds(guard); });
}

int FormulaValues::listing_guard(const std::vector<int>& guards, const Variable& variable) const {
  for (int guard : guards) {
    const Node& node = nodes_[at(guard)];
    const bool lists_second =
        node.op == FormulaOp::Member && node.b == variable.slot && node.a != variable.slot;
    const bool lists_writers = node.op == FormulaOp::Writes && node.a == variable.slot;
    if (lists_second || lists_writers) return guard;
  }
  return -1;
}

const Environment& FormulaValues::candidates(Search& search, std::size_t bound) {
  const int guard = search.lists[bound];
  if (guard < 0) return facts_.elements(search.variables[bound].sort);
  const Node& node = nodes_[at(guard)];
  Environment& listed = search.listed[bound];
  listed.clear();
  if (node.op == FormulaOp::Writes) {
    for (TxnId t : facts_.history().writers(KeyId{env_[at(node.b)]})) listed.push_back(t.index);
  } else {
    relations_.value(node.relation, env_).for_each_successor(env_[at(node.a)], [&](std::size_t b) {
      listed.push_back(static_cast<std::uint32_t>(b));
    });
  }
  return listed;
}

bool FormulaValues::find(Search& search, std::size_t bound, const std::function<bool()>* accept) {
  if (budget_ != nullptr && budget_->expired()) return true;  // the quickest way out
  if (!passes(search, bound)) return false;
  if (bound == search.variables.size()) {
    if (search.goal >= 0 && holds(search.goal)) return false;
    return accept == nullptr || (*accept)();
  }
  const Variable& variable = search.variables[bound];
  for (std::uint32_t element : candidates(search, bound)) {
    env_[at(variable.slot)] = element;
    if (find(search, bound + 1, accept)) return true;
  }
  return false;
}

bool FormulaValues::find_failure(int number) { return find(searches_[at(number)], 0, nullptr); }

void FormulaValues::for_each_failure(int number, const std::function<void()>& report) {
  const std::function<bool()> go_on = [&] {
    report();
    return false;
  };
  find(searches_[at(number)], 0, &go_on);
}

std::optional<FormulaValues::Pair> FormulaValues::offending_pair(int number) {
  const Search& search = searches_[at(number)];
  if (search.goal < 0) return std::nullopt;
  const Node& goal = nodes_[at(search.goal)];
  if (goal.relation < 0 || goal.op == FormulaOp::Member) return std::nullopt;
  const Relation pairs = offending_pairs(goal);
  std::optional<Pair> first;
  for (std::size_t a = 0; a < pairs.size() && !first; ++a) {
    pairs.for_each_successor(a, [&](std::size_t b) {
      if (!first) first = Pair{goal.from, goal.to, a, b};
    });
  }
  return first;
}

}  // namespace isoscope
