#include "check/strong/search.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "check/strong/direct.h"
#include "check/strong/propagation.h"
#include "check/strong/residue.h"
#include "support/assert.h"

namespace isoscope::strong {

namespace {

// Arcs that the searches of one pass may look at: some milliseconds. More would find more
// conflicts, of answers that the next call of the solver changes anyway.
constexpr std::uint64_t kMaxConflictWork = 1'000'000;

void normalise(Conflict& conflict) {
  std::sort(conflict.begin(), conflict.end());
  conflict.erase(std::unique(conflict.begin(), conflict.end()), conflict.end());
}

}  // namespace

KnownGraph complete(const Residue& residue, const Answers& answers) {
  KnownGraph graph = residue.known().graph;
  for (const auto edges : {residue.edges(), residue.loose_edges()}) {
    for (const ChoiceEdge& e : edges) {
      if (Residue::is_chosen(answers, e.lit)) graph.add(e.edge);
    }
  }
  const bool is_sorted = graph.sort();
  ISO_ASSERT(is_sorted);
  return graph;
}

ConflictFinder::ConflictFinder(const Residue& residue)
    : residue_(residue), arrivals_(residue.num_nodes()) {
  const KnownGraph& graph = residue.known().graph;
  const Points& points = graph.points();
  const auto edges = residue.edges();
  const auto for_each = [&](auto&& f) {
    for (std::uint32_t i = 0; i < edges.size(); ++i) {
      const KnownEdge& e = edges[i].edge;
      if (graph.is_on_paths(e.kind)) f(residue.node(points.source(e.kind, e.from)), i);
    }
  };
  out_begin_.assign(residue.num_nodes() + 1, 0);
  for_each([&](Node from, std::uint32_t) { ++out_begin_[from + 1]; });
  for (std::size_t i = 1; i < out_begin_.size(); ++i) out_begin_[i] += out_begin_[i - 1];
  out_.resize(out_begin_.back());
  std::vector<std::uint32_t> free(out_begin_.begin(), out_begin_.end() - 1);
  for_each([&](Node from, std::uint32_t i) { out_[free[from]++] = i; });
}

std::vector<Conflict> ConflictFinder::find(const Answers& answers, Budget& budget) {
  conflicts_.clear();
  work_ = 0;
  const StrongLevel level = residue_.known().graph.level();
  const bool cyclic = find_cycles(answers, budget);
  if (level == StrongLevel::Ua) find_opposed(answers, budget);
  if (level == StrongLevel::Psi && !cyclic) find_returns(answers, budget);
  std::sort(conflicts_.begin(), conflicts_.end());
  conflicts_.erase(std::unique(conflicts_.begin(), conflicts_.end()), conflicts_.end());
  return conflicts_;
}

bool ConflictFinder::find_cycles(const Answers& answers, Budget& budget) {
  const KnownGraph& graph = residue_.known().graph;
  const Points& points = graph.points();
  const auto edges = residue_.edges();
  const auto source = [&](const KnownEdge& e) {
    return residue_.node(points.source(e.kind, e.from));
  };
  const auto target = [&](const KnownEdge& e) {
    return residue_.node(points.target(e.kind, e.to));
  };
  const auto is_active = [&](const ChoiceEdge& e) {
    return graph.is_on_paths(e.edge.kind) && Residue::is_chosen(answers, e.lit);
  };
  const Digraph chosen = Digraph::of(residue_.num_nodes(), [&](auto&& add) {
    const Digraph& known = residue_.known_arcs();
    for (Node v = 0; v < known.size(); ++v) {
      for (const Node w : known.successors(v)) add(v, w);
    }
    for (const ChoiceEdge& e : edges) {
      if (is_active(e)) add(source(e.edge), target(e.edge));
    }
  });
  const Components components = strongly_connected_components(chosen);
  if (components.are_single()) return false;
  const std::vector<std::uint32_t>& component = components.of;
  // A component gets a search for one of its edges even when the work is used up.
  std::vector<char> has_conflict(components.count, 0);
  for (const ChoiceEdge& e : edges) {
    if (!is_active(e)) continue;
    const Node u = source(e.edge);
    const Node v = target(e.edge);
    if (component[u] != component[v]) continue;
    char& done = has_conflict[component[u]];
    if (done != 0 && work_ > kMaxConflictWork) continue;
    if (budget.expired()) break;
    done = 1;
    const auto is_inside = [&](Node w) { return component[w] == component[u]; };
    conflicts_.push_back(search(answers, v, u, {e.lit}, is_inside));
  }
  return true;
}

template <class IsOnWay>
Conflict ConflictFinder::search(const Answers& answers, Node from, Node to, Conflict with,
                                const IsOnWay& is_on_way) {
  const Points& points = residue_.known().graph.points();
  const auto edges = residue_.edges();
  ++searches_;
  queue_.clear();
  arrivals_[from] = {searches_, 0, from, kKnown};
  queue_.push_back(from);
  // Known arcs cost nothing, chosen ones one: of two costs that are in the queue at a time, the
  // smaller stands in front.
  const auto arrive = [&](Node v, Node w, std::uint32_t cost, std::uint32_t edge) {
    Arrival& there = arrivals_[w];
    if ((there.search == searches_ && there.cost <= cost) || !is_on_way(w)) return;
    there = {searches_, cost, v, edge};
    if (edge == kKnown) {
      queue_.push_front(w);
    } else {
      queue_.push_back(w);
    }
  };
  while (!queue_.empty()) {
    const Node v = queue_.front();
    queue_.pop_front();
    if (v == to) break;
    const std::uint32_t cost = arrivals_[v].cost;
    const auto known = residue_.known_arcs().successors(v);
    work_ += known.size() + (out_begin_[v + 1] - out_begin_[v]) + 1;
    for (const Node w : known) arrive(v, w, cost, kKnown);
    for (std::uint32_t i = out_begin_[v]; i < out_begin_[v + 1]; ++i) {
      const ChoiceEdge& e = edges[out_[i]];
      if (!Residue::is_chosen(answers, e.lit)) continue;
      arrive(v, residue_.node(points.target(e.edge.kind, e.edge.to)), cost + 1, out_[i]);
    }
  }
  ISO_ASSERT(arrivals_[to].search == searches_);
  for (Node v = to; v != from; v = arrivals_[v].from) {
    if (arrivals_[v].edge != kKnown) with.push_back(edges[arrivals_[v].edge].lit);
  }
  normalise(with);
  return with;
}

void ConflictFinder::find_returns(const Answers& answers, Budget& budget) {
  const KnownGraph completed = complete(residue_, answers);
  const Points& points = completed.points();
  const Facts& facts = completed.facts();
  const std::size_t first_chosen = residue_.known().graph.edges().size();
  std::vector<ChoiceLit> lits;  // of the chosen edges, in the order in which complete() adds them
  for (const ChoiceEdge& e : residue_.edges()) {
    if (Residue::is_chosen(answers, e.lit)) lits.push_back(e.lit);
  }
  for (const ChainBlock& block : chain_blocks(completed)) {
    const Clocks clocks(completed, block, budget, RwPaths::None);
    const auto edges = completed.edges();
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (budget.expired()) return;
      const KnownEdge& e = edges[i];
      if (e.kind != EdgeKind::Rw || !block.contains(facts.chain(e.to))) continue;
      if (!clocks.reaches(points.commit(e.to), points.start(e.from))) continue;
      if (work_ > kMaxConflictWork && !conflicts_.empty()) return;
      const Node from = residue_.node(points.commit(e.to));
      const Node to = residue_.node(points.start(e.from));
      Conflict with;
      if (i >= first_chosen) with.push_back(lits[i - first_chosen]);
      // What does not reach the reader is on no way back to it. Few points lie between the two,
      // and many do not: this makes a search short, so that a pass finds many conflicts.
      const auto leads_back = [&](Node v) {
        const PointId p = residue_.point(v);
        return v == to || !block.contains(facts.chain(points.txn(p))) ||
               clocks.reaches(p, residue_.point(to));
      };
      conflicts_.push_back(search(answers, from, to, std::move(with), leads_back));
    }
  }
}

void ConflictFinder::find_opposed(const Answers& answers, Budget& budget) {
  const Knowledge& known = residue_.known();
  for (const ChoiceEdge& e : residue_.edges()) {
    if (budget.expired()) return;
    if (!Residue::is_chosen(answers, e.lit)) continue;
    const TxnId from = e.edge.from;
    const TxnId to = e.edge.to;
    if (e.edge.kind == EdgeKind::Rw) {
      if (find_dependency(known, to, from)) conflicts_.push_back({e.lit});
      if (const auto ww = residue_.find(to, from); ww && Residue::is_chosen(answers, *ww)) {
        conflicts_.push_back({e.lit, *ww});
        normalise(conflicts_.back());
      }
    } else if (find_rw(known, to, from)) {
      conflicts_.push_back({e.lit});
    }
  }
}

namespace {

// Calls of the solver before following implications is worth its cost.
constexpr std::uint32_t kPatience = 16;

bool can_speculate(const Residue& residue) {
  return residue.known().is_saturated && Propagation::fits(residue.known().graph);
}

// The choices as variables of a solver, which prefers the answers it is given.
class Encoding {
 public:
  explicit Encoding(const Answers& preferred) {
    for (std::size_t i = 0; i < preferred.size(); ++i) variables_.push_back(solver_.new_var());
    prefer(preferred);
  }

  void prefer(const Answers& answers) {
    for (std::size_t i = 0; i < answers.size(); ++i)
      solver_.set_phase(answers[i] ? variables_[i] : ~variables_[i]);
  }

  void forbid(const Conflict& conflict) {
    clause_.clear();
    for (const ChoiceLit lit : conflict) {
      const Lit a_first = variables_[lit.choice()];
      clause_.push_back(lit.is_a_first() ? ~a_first : a_first);
    }
    solver_.add_clause(clause_);
  }

  SatResult solve(Answers& answers, Budget& budget) {
    const SatResult result = solver_.solve(budget);
    if (result != SatResult::Sat) return result;
    for (std::size_t i = 0; i < answers.size(); ++i) answers[i] = solver_.value(variables_[i]);
    return result;
  }

 private:
  SatSolver solver_;
  std::vector<Lit> variables_;
  std::vector<Lit> clause_;
};

}  // namespace

Search search_answers(const Residue& residue, const Guess& guess, Budget& budget,
                      const Progress& progress) {
  Search search;
  search.answers = answers_of(residue, guess);
  ConflictFinder finder(residue);
  std::vector<Conflict> conflicts = finder.find(search.answers, budget);
  std::optional<Encoding> encoding;
  while (!conflicts.empty()) {
    if (progress) progress("searching for an order", -1);
    if (!encoding) encoding.emplace(search.answers);
    for (const Conflict& conflict : conflicts) encoding->forbid(conflict);
    search.clauses += conflicts.size();
    ++search.solver_calls;
    search.result = encoding->solve(search.answers, budget);
    if (search.result != SatResult::Sat) return search;
    conflicts = finder.find(search.answers, budget);
    if (conflicts.empty() || search.solver_calls != kPatience || !can_speculate(residue)) continue;
    Speculation speculation = speculate(residue, guess, budget);
    search.restarts = speculation.restarts;
    if (speculation.result == Speculated::Refuted) {
      search.result = SatResult::Unsat;
      return search;
    }
    // Whatever it found, others judge; if it found nothing, it got further than the guess.
    search.answers = std::move(speculation.answers);
    encoding->prefer(search.answers);
    conflicts = finder.find(search.answers, budget);
  }
  // Out of time, the finder may have missed conflicts.
  search.result = budget.expired_now() ? SatResult::Unknown : SatResult::Sat;
  return search;
}

}  // namespace isoscope::strong
