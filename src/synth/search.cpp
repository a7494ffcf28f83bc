#include "synth/search.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/assert.h"
#include "synth/acyclic.h"
#include "synth/reasons.h"

namespace isoscope::synthesis {

namespace {

// The transactions in the order of a model.
std::vector<int> sequence_in_model(const Circuit& c, const Facts& facts, const Matrix& order) {
  std::vector<std::pair<int, int>> by_past;
  for (int t = 0; t < facts.txns(); ++t) {
    int past = 0;
    for (int s = 0; s < facts.txns(); ++s) past += c.value(order(s, t)) ? 1 : 0;
    by_past.emplace_back(past, t);
  }
  std::sort(by_past.begin(), by_past.end());
  std::vector<int> sequence;
  for (const auto& [past, t] : by_past) sequence.push_back(t);
  return sequence;
}

FoundWitness witness_in_model(const Circuit& c, const Facts& facts, const SymbolicWitness& w) {
  FoundWitness found{sequence_in_model(c, facts, w.order)};
  for (int slot = facts.txns(); slot < facts.carrier() && w.snap; ++slot) {
    int length = 0;
    for (int a = 0; a < facts.txns(); ++a) length += c.value((*w.snap)(a, slot)) ? 1 : 0;
    found.snap.push_back(length);
  }
  if (!w.vis) return found;
  found.vis = Relation(static_cast<std::size_t>(facts.txns()));
  for (int a = 0; a < facts.txns(); ++a) {
    for (int b = 0; b < facts.txns(); ++b) {
      if (c.value((*w.vis)(a, b)))
        found.vis->insert(static_cast<std::size_t>(a), static_cast<std::size_t>(b));
    }
  }
  return found;
}

// The first of the allowed levels whose order contains so and wr, or else wr; or else the first
// one. Transactions are numbered along its order.
const Level* numbered_level(const SynthQuery& query) {
  if (!query.fixed_order || query.allow.empty()) return nullptr;
  const auto find = [&](const auto& demand) -> const Level* {
    const auto found = std::find_if(query.allow.begin(), query.allow.end(), demand);
    return found == query.allow.end() ? nullptr : *found;
  };
  if (const Level* both =
          find([](const Level* l) { return l->uses_session_order && !l->is_wr_free; }))
    return both;
  if (const Level* has_wr = find([](const Level* l) { return !l->is_wr_free; })) return has_wr;
  return query.allow.front();
}

bool is_numbering(const Matrix& order) {
  for (int a = 0; a + 1 < order.size(); ++a) {
    if (!order(a, a + 1).is_true()) return false;
  }
  return true;
}

// Places of wr that a search can hold, about a gigabyte of them; far more than reads without an
// order ever need.
constexpr double kMaxReadsFrom = 1e6;

}  // namespace

Result<void> check_scope(const SynthQuery& query) {
  const Scope& s = query.scope;
  const auto wrong = [](std::string what, std::string hint) {
    return Error{.what = std::move(what), .hint = std::move(hint)};
  };
  if (s.txns < 1 || s.keys < 1)
    return wrong("a scope has at least one transaction and one key", "raise --txns or --keys");
  if (s.values < 0 || s.ops < 0 || s.reads < 0)
    return wrong("a scope has no negative sizes", "0 stands for no limit");
  if (s.txns > kMaxSynthTxns || s.keys > kMaxSynthKeys)
    return wrong(fmt::format("a scope of {} transactions and {} keys is too large", s.txns, s.keys),
                 fmt::format("at most {} transactions and {} keys", kMaxSynthTxns, kMaxSynthKeys));
  const Frame frame = frame_of(query);
  const double places = s.txns + 1 + static_cast<double>(s.txns) * frame.slots;
  if (places * places * s.keys > kMaxReadsFrom)
    return wrong(
        fmt::format("{} ordered {} in each of {} transactions on {} keys are too many", frame.slots,
                    frame.statements ? "operations" : "reads", s.txns, s.keys),
        "a level that speaks of single reads or of statements needs them; lower --txns, --keys or "
        "--ops");
  return {};
}

Frame frame_of(const SynthQuery& query) {
  Frame frame;
  frame.scope = query.scope;
  const Level* numbered = numbered_level(query);
  frame.wr_forward = numbered != nullptr && !numbered->is_wr_free;
  frame.so_forward = numbered != nullptr && numbered->uses_session_order;
  const Distinctions told = distinctions_of(query.allow, query.forbid);
  if (told.read_order) {
    const Scope& s = query.scope;
    const int enough = told.statements ? s.txns + 2 : s.keys + 1;
    frame.slots = s.reads > 0 ? s.reads : s.ops > 0 ? s.ops : enough;
  }
  frame.statements = told.statements;
  if (told.statements) {
    const StatementShape shape = query.scope.statements;
    frame.joins = shape != StatementShape::Single;
    frame.locks = shape == StatementShape::Any || shape == StatementShape::NoInserts;
    frame.inserts = told.inserts && shape == StatementShape::Any;
  }
  frame.real_time = told.real_time;
  frame.repeated_reads = (told.repeated_reads || query.repeated_reads) && !told.read_order;
  frame.aborted_txns = told.aborted_txns;
  return frame;
}

int open_keys(const SynthQuery& query, int txns) {
  const int by_txns = query.scope.txns > 0 ? txns : txns + 1;
  return std::min(std::max(by_txns, distinctions_of(query.allow, query.forbid).keys),
                  kMaxSynthKeys);
}

Scope told_scope(const SynthQuery& query) {
  const Frame frame = frame_of(query);
  Scope scope = query.scope;
  scope.reads = frame.slots;
  scope.repeated_reads = frame.repeated_reads || frame.slots > 0;
  scope.aborted_txns = frame.aborted_txns;
  scope.has_statements = frame.statements;
  scope.has_inserts = frame.inserts;
  scope.has_times = frame.real_time;
  return scope;
}

// A circuit of its own, in which facts are inputs: a candidate is a set of assumptions, so that
// what one candidate teaches the solver serves the next.
class Search::Refuter {
 public:
  Refuter(const Level& level, const Frame& frame, Budget& budget)
      : facts_(circuit_, frame), grounder_(facts_) {
    circuit_.watch_gates(budget);
    witness_ = unknown_witness(circuit_, facts_, level.framework, std::nullopt);
    circuit_.require(!failure(grounder_, facts_, level, witness_));
  }

  SatResult solve(const Candidate& candidate, Budget& budget) {
    std::vector<Signal> assumptions;
    for (std::size_t i = 0; i < candidate.size(); ++i)
      assumptions.push_back(candidate[i] ? facts_.inputs()[i] : !facts_.inputs()[i]);
    return circuit_.solve(assumptions, budget);
  }
  FoundWitness counterexample() const { return witness_in_model(circuit_, facts_, witness_); }

 private:
  Circuit circuit_;
  Facts facts_;
  Grounder grounder_;
  SymbolicWitness witness_;
};

namespace {

Circuit recorded_circuit(ClauseLog* log) {
  Circuit circuit;
  if (log != nullptr) circuit.record(*log);
  return circuit;
}

}  // namespace

Search::Search(const SynthQuery& query, Budget& budget, bool all_names)
    : query_(query),
      log_(query.certify ? std::make_unique<ClauseLog>() : nullptr),
      circuit_(recorded_circuit(log_.get())),
      facts_(circuit_, frame_of(query)),
      grounder_(facts_) {
  circuit_.watch_gates(budget);
  facts_.require_scope(all_names);
  allow(query);
  forbidden_.reserve(query.forbid.size());  // learnt factors point into the shapes
  for (const Level* level : query.forbid) forbid(*level, budget);
}

Search::~Search() = default;

bool may_repeat_reads(const SynthQuery& query, Budget& budget) {
  const Distinctions told = distinctions_of(query.allow, query.forbid);
  if (told.read_order || told.repeated_reads || query.forbid.empty()) return false;
  for (const Level* level : query.allow) {
    if (level->framework != Framework::Co) return false;  // reads show the last visible writer
  }
  const SynthQuery two{
      .allow = query.allow, .scope = {.txns = 2, .keys = 1}, .repeated_reads = true};
  Search search(two, budget);
  std::vector<Signal> repeated;
  for (int t = 1; t <= 2; ++t) {
    const Matrix& wr = search.facts().wr(0);
    repeated.push_back(search.circuit().conj({wr(0, t), wr(3 - t, t)}));
  }
  search.circuit().require_any(repeated);
  return search.next({}, budget) == SynthOutcome::Found;
}

void Search::allow(const SynthQuery& query) {
  const Level* numbered = numbered_level(query);
  for (const Level* level : query.allow) {
    std::optional<Matrix> order;
    if (level == numbered) {
      order = order_matrix(facts_, numbering(facts_));
      numbered = nullptr;  // once, if the level is named twice
    }
    const bool is_fixed = order.has_value();
    const std::string label = fmt::format("the order of {}", level->full_name());
    allowed_.push_back(
        unknown_witness(circuit_, facts_, level->framework, std::move(order), label));
    const Signal failed = failure(grounder_, facts_, *level, allowed_.back());
    circuit_.because([&] {
      return fmt::format("allow {}: {} serves it", level->full_name(),
                         is_fixed ? "the order of the numbers" : label);
    });
    circuit_.require(!failed);
  }
}

void Search::because_forbidden(const LevelShape& shape, std::string_view witness) {
  circuit_.because([&] { return fmt::format("forbid {}: {}", shape.level->full_name(), witness); });
}

void Search::forbid(const Level& level, Budget& budget) {
  forbidden_.push_back({shape_of(level), nullptr});
  const LevelShape& shape = forbidden_.back().shape;
  std::optional<Signal> failed;
  if (!query_.generic && query_.learning) failed = forced_failure(grounder_, facts_, shape);
  if (failed) {
    deferred_.push_back(*failed);
  } else {
    forbidden_.back().refuter = std::make_unique<Refuter>(level, frame(), budget);
  }
  if (query_.smart_search) {
    seed(shape);
    seed_extensions(shape);
  }
}

// The first counterexample is the witness of an allowed level: whoever is to be forbidden fails
// with that, too.
void Search::seed(const LevelShape& shape) {
  const bool over_co = shape.level->framework == Framework::Co;
  if (shape.level->framework == Framework::CoSnap) {
    for (const SymbolicWitness& w : allowed_) require_failure_along(shape, w.order);
    return;
  }
  if (!query_.generic && shape.has_least_vis && frame().wr_forward) {
    if (const auto failed = failure_at(grounder_, facts_, shape, numbering(facts_))) {
      because_forbidden(shape, "along the order of the numbers");
      circuit_.require(*failed);
      return;
    }
  }
  for (const SymbolicWitness& w : allowed_) {
    if (!over_co && !w.vis) continue;
    const Signal failed =
        failure(grounder_, facts_, *shape.level, over_co ? SymbolicWitness{w.order} : w);
    because_forbidden(shape, over_co && is_numbering(w.order)
                                 ? "along the order of the numbers"
                                 : "with the witness of an allowed level");
    circuit_.require(failed);
    return;
  }
}

// Over co, snap: the level fails with the least snapshots along the order, if these are known.
void Search::require_failure_along(const LevelShape& shape, const Matrix& order) {
  if (query_.generic || !shape.has_least_snap) return;
  SymbolicWitness w{order};
  const Signal is_least = iterate_snap(grounder_, facts_, shape, w);
  const Signal failed = failure(grounder_, facts_, *shape.level, w);
  because_forbidden(shape, "with the least snapshots along an order");
  circuit_.require_any({!is_least, failed});
}

// A history that `shape` is to forbid is one that it forbids with each linear extension of what an
// allowed level wants acyclic; there is one, so that such an order may be demanded. Dependency
// graphs leave the order of most transactions open: without this, the counterexamples that sort out
// one order each grow as fast as the orders do.
void Search::seed_extensions(const LevelShape& shape) {
  const bool over_co = shape.level->framework == Framework::Co;
  if (query_.generic || !(over_co || shape.has_least_vis || shape.has_least_snap)) return;
  for (std::size_t i = 0; i < allowed_.size(); ++i) {
    for (const RelationExpr* acyclic : acyclic_relations(*query_.allow[i])) {
      grounder_.set_witness(allowed_[i].order, allowed_[i].vis, allowed_[i].snap);
      const Matrix edges = grounder_.relation(*acyclic);
      SymbolicWitness extension = unknown_witness(circuit_, facts_, Framework::Co, std::nullopt,
                                                  "an order of what is acyclic");
      // Orders have T0 first; where the relation does not, nothing is demanded.
      std::vector<Signal> to_t0;
      for (int a = 0; a < facts_.txns(); ++a) to_t0.push_back(edges(a, 0));
      Signal is_exempt = circuit_.disj(to_t0);
      circuit_.because([&] {
        return fmt::format("witness: an order extends what {} wants acyclic",
                           query_.allow[i]->full_name());
      });
      for (int a = 0; a < facts_.txns(); ++a) {
        for (int b = 0; b < facts_.txns(); ++b)
          circuit_.require_any({is_exempt, !edges(a, b), extension.order(a, b)});
      }
      if (!over_co) {
        const Signal is_least = shape.has_least_snap
                                    ? iterate_snap(grounder_, facts_, shape, extension)
                                    : iterate_vis(grounder_, facts_, shape, extension);
        is_exempt = circuit_.disj({is_exempt, !is_least});
      }
      const Signal failed = failure(grounder_, facts_, *shape.level, extension);
      because_forbidden(shape, "along an order of what is acyclic");
      circuit_.require_any({is_exempt, failed});
    }
  }
}

void Search::learn(const LevelShape& shape, const FoundWitness& counterexample) {
  ++counterexamples_;
  const auto because = [&] {
    if (log_ == nullptr) return;
    because_forbidden(shape, fmt::format("along {}; {}", words_of(counterexample),
                                         words_of_refuted(circuit_, facts_, candidate_,
                                                          *shape.level, counterexample)));
  };
  if (!query_.learning) {
    std::vector<Signal> differs;
    for (std::size_t i = 0; i < candidate_.size(); ++i)
      differs.push_back(candidate_[i] ? !facts_.inputs()[i] : facts_.inputs()[i]);
    because();
    circuit_.require_any(differs);
    return;
  }
  if (!query_.generic && shape.has_least_vis) {
    if (const auto failed = failure_at(grounder_, facts_, shape, counterexample.order)) {
      because();
      circuit_.require(*failed);
      return;
    }
  }
  // The least snapshots rule out all that go with the order, if they are known; that the very ones
  // of the counterexample are ruled out, too, makes the search end.
  const SymbolicWitness w = constant_witness(facts_, counterexample);
  if (w.snap) require_failure_along(shape, w.order);
  const Signal failed = failure(grounder_, facts_, *shape.level, w);
  because();
  circuit_.require(failed);
}

Result<ScopeRefutation> Search::refutation(Budget& budget) const {
  ISO_ASSERT(log_ != nullptr);
  auto proof = drat_proof(*log_, budget);
  if (!proof) return limit_error("proving that there is none");
  return ScopeRefutation{told_scope(query_), *log_, *std::move(proof)};
}

SynthOutcome Search::next(std::span<const Signal> assumptions, Budget& budget) {
  for (;;) {
    switch (circuit_.solve(assumptions, budget)) {
      case SatResult::Unsat: return SynthOutcome::None;
      case SatResult::Unknown: return SynthOutcome::Unknown;
      case SatResult::Sat: break;
    }
    ++candidates_;
    circuit_.next_round();
    if (!deferred_.empty()) {
      circuit_.because([&] {
        return std::string("forbid: what a forbidden level forces has a cycle, as it must");
      });
      for (const Signal failed : deferred_) circuit_.require(failed);
      deferred_.clear();
      continue;
    }
    candidate_.clear();
    for (const Signal input : facts_.inputs()) candidate_.push_back(circuit_.value(input));
    bool refuted = false;
    for (Forbidden& forbidden : forbidden_) {
      if (forbidden.refuter == nullptr) continue;
      const SatResult result = forbidden.refuter->solve(candidate_, budget);
      if (result == SatResult::Unknown) return SynthOutcome::Unknown;
      if (result == SatResult::Unsat) continue;
      learn(forbidden.shape, forbidden.refuter->counterexample());
      refuted = true;
    }
    if (!refuted) return SynthOutcome::Found;
  }
}

Proposal Search::proposal() const {
  Proposal proposal{candidate_, {}};
  for (const SymbolicWitness& w : allowed_)
    proposal.witnesses.push_back(witness_in_model(circuit_, facts_, w));
  return proposal;
}

void Search::add_stats(Stats& stats) const {
  const auto add = [&](std::string_view name, std::size_t value) {
    stats.set(name, stats.get(name).value_or(0) + static_cast<double>(value));
  };
  add("candidates", candidates_);
  add("counterexamples", counterexamples_);
  add("clauses", circuit_.num_clauses());
  add("variables", circuit_.num_vars());
}

}  // namespace isoscope::synthesis
