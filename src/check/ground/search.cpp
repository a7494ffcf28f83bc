#include "check/ground/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "check/ground/reasons.h"
#include "check/ground/short_cycles.h"
#include "spec/external_consistency.h"
#include "support/assert.h"

namespace isoscope {
namespace {

// Of one axiom in one round. More instances cost more clauses, fewer cost more rounds.
constexpr std::size_t kInstancesPerRound = 5'000;
constexpr std::size_t kCyclesPerRound = 200;

bool has_axiom(const Level& level, const Axiom& axiom) {
  return std::any_of(level.axioms.begin(), level.axioms.end(),
                     [&](const Axiom& own) { return own.formula == axiom.formula; });
}

// A conjunction of instances.
bool is_family(const NormalNode& part) {
  return part.kind == NormalNode::Kind::Exists && part.negated;
}

}  // namespace

Search::Search(const History& h, const Assignment& levels, Budget& budget,
               const GroundOptions& options, const std::vector<TxnId>* about)
    : options_(options),
      universe_(h, levels.base->framework == Framework::CoSnap),
      meter_(budget, circuit_, options.max_gates),
      encoding_(universe_, levels.base->framework, levels, circuit_),
      known_(universe_, encoding_.bounds()),
      bounds_(known_, table_, budget),
      grounder_(universe_, table_, bounds_, circuit_, meter_, &encoding_,
                [this](RelationId r) { return acyclic(r); }) {
  circuit_.watch(budget);
  if (options.log != nullptr) circuit_.record(*options.log);
  collect_axioms(levels);
  if (about != nullptr) limit_to(*about);
}

void Search::collect_axioms(const Assignment& levels) {
  std::vector<const Level*> all = {levels.base};
  for (const Level* own : levels.own) {
    if (own != nullptr && std::find(all.begin(), all.end(), own) == all.end()) all.push_back(own);
  }
  for (const Level* level : all) {
    for (const Axiom& axiom : level->axioms) {
      const bool known = std::any_of(axioms_.begin(), axioms_.end(), [&](const GroundAxiom& other) {
        return other.axiom->formula == axiom.formula;
      });
      if (!known) add_axiom(axiom, all, levels);
    }
  }
  if (encoding_.framework() != Framework::Co) {
    for (const Axiom& axiom : external_consistency(encoding_.framework()).axioms)
      add_axiom(axiom, {}, levels);
  }
  for (std::size_t i = 0; i < axioms_.size(); ++i) guards_.push_back(circuit_.input());
  for (std::size_t i = 0; i < axioms_.size(); ++i)
    circuit_.name(guards_[i],
                  [&] { return fmt::format("axiom {} holds", axioms_[i].axiom->name); });
}

void Search::add_axiom(const Axiom& axiom, const std::vector<const Level*>& all,
                       const Assignment& levels) {
  GroundAxiom ground{&axiom, normalize(axiom), {}};
  const bool of_all_levels = std::all_of(
      all.begin(), all.end(), [&](const Level* level) { return has_axiom(*level, axiom); });
  if (!of_all_levels) {
    ISO_ASSERT(axiom.subject.has_value());
    const Sort sort = axiom.subject->sort;
    BitSet subjects(universe_.size(sort));
    for (std::size_t i = 0; i < universe_.size(sort); ++i) {
      const std::size_t t = sort == Sort::Read ? universe_.reads()[i].reader : i;
      if (has_axiom(levels.of(universe_.txn(t)), axiom)) subjects.insert(i);
    }
    ground.domains.emplace(axiom.subject->slot, std::move(subjects));
  }
  axioms_.push_back(std::move(ground));
}

void Search::limit_to(const std::vector<TxnId>& about) {
  BitSet txns(universe_.num_txns());
  for (std::size_t t = 0; t < universe_.num_txns(); ++t) {
    if (t == 0 || std::binary_search(about.begin(), about.end(), universe_.txn(t))) txns.insert(t);
  }
  BitSet reads(universe_.size(Sort::Read));
  for (std::size_t r = 0; r < universe_.size(Sort::Read); ++r) {
    if (txns.contains(universe_.reads()[r].reader)) reads.insert(r);
  }
  for (GroundAxiom& axiom : axioms_) {
    for (const NormalNode& part : axiom.form.parts) {
      if (!is_family(part)) continue;
      for (const Variable& v : part.variables) {
        if (v.sort == Sort::Key) continue;
        const BitSet& allowed = v.sort == Sort::Txn ? txns : reads;
        const auto [domain, fresh] = axiom.domains.try_emplace(v.slot, allowed);
        if (!fresh) domain->second.intersect(allowed.row());
      }
    }
  }
}

void Search::ground_axioms() {
  grounded_ = true;
  if (encoding_.num_points() <= options_.eager_transitivity) encoding_.require_transitivity();
  for (std::size_t i = 0; i < axioms_.size(); ++i) {
    enter(i);
    for (const NormalNode& part : axioms_[i].form.parts) {
      if (meter_.stopped()) return;
      const Part whole{i, &part};
      if (grounder_.is_costly(part) || !ground_part(whole)) on_demand_.push_back(whole);
    }
  }
}

bool Search::ground_part(const Part& part) {
  if (!is_family(*part.node)) {
    const Signal whole = grounder_.truth(*part.node);
    circuit_.because([&] { return fmt::format("axiom {}", axioms_[part.axiom].axiom->name); });
    circuit_.require_any({!guards_[part.axiom], whole});
    return true;
  }
  std::size_t left = options_.eager_instances;
  bool complete = true;
  grounder_.enumerate(*part.node, [&](std::span<const Signal> open) {
    complete = left-- > 0;
    if (complete) require_instance(part, open);
    return complete;
  });
  return complete;
}

void Search::require_instance(const Part& part, std::span<const Signal> open) {
  ++instances_;
  std::vector<Signal> clause = {!guards_[part.axiom]};
  for (const Signal s : open) clause.push_back(!s);
  circuit_.because([&] {
    return fmt::format("axiom {}: {}", axioms_[part.axiom].axiom->name,
                       words_of_binding(universe_, part.node->variables, grounder_.binding()));
  });
  circuit_.require_any(clause);
}

void Search::enter(std::size_t axiom) {
  entered_ = axiom;
  grounder_.enter(axioms_[axiom]);
}

Signal Search::acyclic(RelationId relation) {
  for (const Acyclicity& known : acyclicities_) {
    if (known.relation == relation) return known.signal;
  }
  acyclicities_.push_back({circuit_.input(), relation});
  circuit_.name(acyclicities_.back().signal, [&] {
    return fmt::format("relation {}, which axiom {} speaks of, has no cycle", acyclicities_.size(),
                       axioms_[entered_].axiom->name);
  });
  return acyclicities_.back().signal;
}

Outcome Search::decide(const std::vector<bool>& required) {
  required_ = required;
  decoded_.reset();
  if (encoding_.is_contradictory()) return Outcome::Violated;
  if (!grounded_ && options_.progress) options_.progress("writing out the level", -1);
  if (!grounded_) ground_axioms();
  std::vector<Signal> assumptions;
  for (std::size_t i = 0; i < axioms_.size(); ++i) {
    if (required[i]) assumptions.push_back(guards_[i]);
  }
  while (!meter_.stopped()) {
    ++rounds_;
    if (options_.progress) options_.progress("searching for an order", -1);
    const std::size_t known_acyclicities = acyclicities_.size();
    const std::size_t clauses = circuit_.num_clauses();
    switch (circuit_.solve(assumptions, meter_.budget())) {
      case SatResult::Unsat: return Outcome::Violated;
      case SatResult::Unknown: meter_.stop_solving(); return Outcome::Unknown;
      case SatResult::Sat: break;
    }
    circuit_.next_round();
    decoded_ = decode(encoding_, circuit_, meter_.budget());
    if (meter_.budget().expired_now()) continue;
    if (forbid_order_cycles()) continue;
    const WitnessBounds witness = exact_bounds(*decoded_, encoding_.framework());
    const HistoryBounds decided(universe_, witness);
    Bounds exact(decided, table_, meter_.budget(), &bounds_);
    Support support(table_, bounds_, exact, grounder_);
    const bool cycles = forbid_relation_cycles(exact, support, known_acyclicities);
    const bool broken = ground_broken_parts(exact, support, required);
    if (meter_.stopped()) break;
    if (!cycles && !broken) return Outcome::Consistent;
    // What the model breaks cannot have been required before; else this would never end.
    ISO_ASSERT(circuit_.num_clauses() > clauses);
  }
  return Outcome::Unknown;
}

bool Search::forbid_order_cycles() {
  for (const std::vector<Signal>& cycle : decoded_->cycles) {
    std::vector<Signal> clause;
    for (const Signal edge : cycle) clause.push_back(!edge);
    circuit_.because([] { return std::string(kOrderReason); });
    circuit_.require_any(clause);
  }
  return !decoded_->cycles.empty();
}

bool Search::forbid_relation_cycles(Bounds& exact, Support& support, std::size_t known) {
  bool found = false;
  for (std::size_t i = 0; i < known; ++i) {
    const auto [signal, relation] = acyclicities_[i];
    if (!circuit_.value(signal)) continue;
    for (const auto& cycle :
         short_cycles(exact.of(relation).must(), kCyclesPerRound, meter_.budget())) {
      if (meter_.stopped()) break;
      std::vector<Signal> clause = {!signal};
      for (std::size_t j = 0; j < cycle.size(); ++j) {
        for (const Signal s : support.of(relation, cycle[j], cycle[(j + 1) % cycle.size()]))
          clause.push_back(!s);
      }
      circuit_.because([&] {
        std::string words = fmt::format("cycle of relation {}:", i + 1);
        for (const std::size_t a : cycle) words += " " + words_of_txn(universe_, a);
        return words;
      });
      circuit_.require_any(clause);
      found = true;
    }
  }
  return found;
}

bool Search::ground_broken_parts(Bounds& exact, Support& support,
                                 const std::vector<bool>& required) {
  bool found = false;
  Grounder evaluator(universe_, table_, exact, circuit_, meter_, nullptr, {});
  for (const Part& part : on_demand_) {
    if (!required[part.axiom] || meter_.stopped()) continue;
    evaluator.enter(axioms_[part.axiom]);
    enter(part.axiom);
    if (!is_family(*part.node)) {
      // A part without instances is grounded whole; from then on no model breaks it.
      if (evaluator.truth(*part.node).is_true()) continue;
      ground_part(part);
      found = true;
      continue;
    }
    std::vector<Binding> broken;
    evaluator.enumerate(*part.node, [&](std::span<const Signal>) {
      broken.push_back(evaluator.binding());
      return broken.size() < kInstancesPerRound;
    });
    for (const Binding& binding : broken) {
      if (meter_.stopped()) break;
      grounder_.binding() = binding;
      require_instance(part, grounder_.conjuncts(*part.node, support));
      found = true;
    }
  }
  return found;
}

void Search::close_log() {
  if (options_.log == nullptr) return;
  if (encoding_.is_contradictory()) {
    options_.log->because(std::string(kOrderReason));
    options_.log->add({});
    return;
  }
  for (std::size_t i = 0; i < axioms_.size(); ++i) {
    if (!required_[i]) continue;
    circuit_.because([&] { return fmt::format("required: axiom {}", axioms_[i].axiom->name); });
    circuit_.require(guards_[i]);
  }
}

std::vector<bool> Search::blamed() const {
  std::vector<bool> blamed(axioms_.size(), false);
  if (encoding_.is_contradictory()) return blamed;
  for (std::size_t i = 0; i < axioms_.size(); ++i)
    blamed[i] = required_[i] && circuit_.failed(guards_[i]);
  return blamed;
}

std::string Search::first_blamed() const {
  const std::vector<bool> all = blamed();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i]) return axioms_[i].axiom->name;
  }
  return {};
}

void Search::report(Stats& stats) const {
  stats.set("variables", static_cast<double>(circuit_.num_vars()));
  stats.set("gates", static_cast<double>(circuit_.num_gates()));
  stats.set("clauses", static_cast<double>(circuit_.num_clauses()));
  stats.set("instances", static_cast<double>(instances_));
  stats.set("rounds", static_cast<double>(rounds_));
}

}  // namespace isoscope
