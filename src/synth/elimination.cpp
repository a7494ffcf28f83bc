// The quantifiers of the Grounder: variables are summed out one at a time.
#include <algorithm>

#include "synth/grounder.h"

namespace isoscope::synthesis {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Does the conjunct imply that some transaction other than T0 uses the key in `slot`?
bool shows_use(const NormalNode& node, int slot) {
  return node.kind == NormalNode::Kind::Atom && !node.negated && node.atom == FormulaOp::Member &&
         node.relation->op == RelationOp::Wr && node.relation->key &&
         node.relation->key->slot == slot;
}

constexpr std::size_t kFlatCells = 512;  // below, nothing is gained by another projection

}  // namespace

std::pair<int, int> Grounder::domain(Sort sort) const {
  switch (sort) {
    case Sort::Txn: return {0, facts_.txns()};
    case Sort::Key: return {0, facts_.keys()};
    case Sort::Read: return {facts_.txns(), facts_.carrier() - facts_.txns()};
  }
  return {0, 0};
}

int Grounder::id_of(std::vector<std::int64_t> name) {
  return ids_.emplace(std::move(name), static_cast<int>(ids_.size()) + 1).first->second;
}

// Factors name variables by their position, so that what is kept belongs to one list of variables.
int Grounder::list_id(const std::vector<Variable>& variables) {
  std::vector<std::int64_t> name = {-4, has_own_reads_ ? 1 : 0};  // which decides what is a read
  for (const Variable& v : variables) name.push_back(v.slot);
  return id_of(std::move(name));
}

Grounder::Factor Grounder::base_factor(const std::vector<Variable>& variables,
                                       const NormalNode& conjunct) {
  Factor factor;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (std::binary_search(conjunct.free.begin(), conjunct.free.end(), variables[i].slot))
      factor.scope.push_back(static_cast<int>(i));
  }
  factor.is_fact = conjunct.free.size() == factor.scope.size() && conjunct.is_fact;
  if (factor.is_fact) {
    factor.id = id_of({list_id(variables), reinterpret_cast<std::intptr_t>(&conjunct)});
    const auto known = fact_factors_.find(factor.id);
    if (known != fact_factors_.end()) return known->second;
  }
  const auto fill = [&](const auto& self, std::size_t depth) -> void {
    if (depth == factor.scope.size()) {
      factor.table.push_back(truth(conjunct));
      return;
    }
    const Variable& v = variables[at(factor.scope[depth])];
    const auto [first, count] = domain(v.sort);
    for (int element = first; element < first + count; ++element) {
      bind(v, element);
      self(self, depth + 1);
    }
  };
  fill(fill, 0);
  if (factor.is_fact) fact_factors_.emplace(factor.id, factor);
  return factor;
}

Grounder::Factor Grounder::guard_factor(const std::vector<Variable>& variables, int position) {
  const Sort sort = variables[at(position)].sort;
  Factor guard{{position}, {}, true, id_of({-1, list_id(variables), position})};
  const auto [first, count] = domain(sort);
  for (int element = first; element < first + count; ++element)
    guard.table.push_back(is_element(sort, element));
  return guard;
}

// Walks over all values of `scope` and collects the product of the factors.
std::vector<Signal> Grounder::multiply(const std::vector<Variable>& variables,
                                       const std::vector<Factor>& factors,
                                       const std::vector<int>& keep) {
  // The kept variables come first; the disjunction runs over the others.
  std::vector<int> scope = keep;
  for (const Factor& factor : factors) {
    for (const int position : factor.scope) {
      if (std::find(scope.begin(), scope.end(), position) == scope.end()) scope.push_back(position);
    }
  }
  // Of each factor: how far a step of each variable moves in its table, and the depth at which all
  // its variables have values.
  std::vector<std::vector<std::size_t>> strides(factors.size());
  std::vector<std::vector<std::size_t>> complete(scope.size() + 1);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    strides[i].assign(scope.size(), 0);
    std::size_t stride = 1;
    std::size_t depth = 0;
    for (std::size_t j = factors[i].scope.size(); j-- > 0;) {
      const int position = factors[i].scope[j];
      const auto where =
          static_cast<std::size_t>(std::find(scope.begin(), scope.end(), position) - scope.begin());
      strides[i][where] = stride;
      depth = std::max(depth, where + 1);
      stride *= at(domain(variables[at(position)].sort).second);
    }
    complete[depth].push_back(i);
  }
  std::vector<Signal> result;
  std::vector<Signal> ways;
  std::vector<Signal> product;
  std::vector<std::size_t> offsets(factors.size(), 0);
  const auto walk = [&](const auto& self, std::size_t depth, bool possible) -> void {
    const std::size_t before = product.size();
    for (const std::size_t i : complete[depth]) {
      if (!possible) break;
      const Signal s = factors[i].table[offsets[i]];
      if (s.is_false()) possible = false;
      if (!s.is_constant()) product.push_back(s);
    }
    if (possible || depth < keep.size()) {
      if (depth == scope.size()) {
        ways.push_back(product.size() == 1 ? product.front() : algebra_.conj(product));
      } else {
        const int count = domain(variables[at(scope[depth])].sort).second;
        for (int value = 0; value < count; ++value) {
          self(self, depth + 1, possible);
          for (std::size_t i = 0; i < factors.size(); ++i) offsets[i] += strides[i][depth];
        }
        for (std::size_t i = 0; i < factors.size(); ++i)
          offsets[i] -= strides[i][depth] * at(count);
      }
    }
    product.resize(before);
    if (depth == keep.size()) {
      result.push_back(ways.size() == 1 ? ways.front() : algebra_.disj(ways));
      ways.clear();
    }
  };
  walk(walk, 0, true);
  return result;
}

Grounder::Factor Grounder::eliminate(const std::vector<Variable>& variables,
                                     const std::vector<Factor*>& parts, int position) {
  Factor result;
  result.is_fact = true;
  std::vector<std::int64_t> name = {-2, list_id(variables), position};
  for (const Factor* part : parts) {
    result.is_fact = result.is_fact && part->is_fact;
    name.push_back(part->id);
    for (const int other : part->scope) {
      if (other != position) result.scope.push_back(other);
    }
  }
  std::sort(result.scope.begin(), result.scope.end());
  result.scope.erase(std::unique(result.scope.begin(), result.scope.end()), result.scope.end());
  if (result.is_fact) {
    result.id = id_of(std::move(name));
    const auto known = fact_factors_.find(result.id);
    if (known != fact_factors_.end()) return known->second;
  }
  std::vector<Factor> moved;
  for (Factor* part : parts) moved.push_back(std::move(*part));
  result.table = multiply(variables, moved, result.scope);
  if (result.is_fact) fact_factors_.emplace(result.id, result);
  return result;
}

std::vector<Signal> Grounder::project(const std::vector<Variable>& variables,
                                      const std::vector<NormalNode>& conjuncts,
                                      const std::vector<int>& keep) {
  std::vector<Factor> factors;
  for (const NormalNode& conjunct : conjuncts) factors.push_back(base_factor(variables, conjunct));
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].sort == Sort::Txn) continue;
    const bool shown =
        variables[i].sort == Sort::Key &&
        std::any_of(conjuncts.begin(), conjuncts.end(), [&](const NormalNode& conjunct) {
          return shows_use(conjunct, variables[i].slot);
        });
    if (!shown) factors.push_back(guard_factor(variables, static_cast<int>(i)));
  }
  std::vector<int> open;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (std::find(keep.begin(), keep.end(), static_cast<int>(i)) == keep.end())
      open.push_back(static_cast<int>(i));
  }

  const auto uses = [](const Factor& factor, int position) {
    return std::find(factor.scope.begin(), factor.scope.end(), position) != factor.scope.end();
  };
  struct Choice {
    int position;
    std::size_t cells;
    bool is_fact;
  };
  const auto cost = [&](int position) {
    Choice choice{position, 1, true};
    std::vector<int> scope = {position};
    for (const Factor& factor : factors) {
      if (!uses(factor, position)) continue;
      choice.is_fact = choice.is_fact && factor.is_fact;
      scope.insert(scope.end(), factor.scope.begin(), factor.scope.end());
    }
    std::sort(scope.begin(), scope.end());
    scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
    for (const int other : scope)
      choice.cells *= at(std::max(1, domain(variables[at(other)].sort).second));
    return choice;
  };
  while (!open.empty()) {
    std::vector<Choice> choices;
    std::size_t all_cells = 1;
    for (const int position : open) {
      choices.push_back(cost(position));
      all_cells *= at(std::max(1, domain(variables[at(position)].sort).second));
    }
    // Facts first, because they are projected once for all witnesses; then the cheapest.
    const Choice best =
        *std::min_element(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
          return std::pair(!a.is_fact, a.cells) < std::pair(!b.is_fact, b.cells);
        });
    const bool few = open.size() <= 3 && keep.empty();
    if (!best.is_fact && (few || all_cells <= kFlatCells)) break;
    std::vector<Factor*> parts;
    for (Factor& factor : factors) {
      if (uses(factor, best.position)) parts.push_back(&factor);
    }
    std::erase(open, best.position);
    Factor projected = eliminate(variables, parts, best.position);
    const int gone = best.position;
    std::vector<Factor> rest;
    for (Factor& factor : factors) {
      if (std::find(parts.begin(), parts.end(), &factor) == parts.end())
        rest.push_back(std::move(factor));
    }
    if (parts.empty()) {
      // No conjunct mentions the variable: it only has to have a value.
      projected = Factor{{},
                         {domain(variables[at(gone)].sort).second > 0 ? kTrue : kFalse},
                         true,
                         id_of({-3, list_id(variables), gone})};
    }
    rest.push_back(std::move(projected));
    factors = std::move(rest);
  }
  return multiply(variables, factors, keep);
}

}  // namespace isoscope::synthesis
