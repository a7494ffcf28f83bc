#include "check/points/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>

#include "check/points/constraints.h"
#include "check/points/cycle_teller.h"
#include "graph/digraph.h"
#include "history/restrict.h"
#include "sat/solver.h"
#include "verdict/logic.h"
#include "verdict/naming.h"

namespace isoscope {
namespace {

constexpr std::size_t kMaxCyclesPerRound = 500;
// A core of more transactions is not made small: each try is a search of its own.
constexpr std::size_t kMostTxnsShrunk = 2'000;
// Ways to choose open orders that are told, and open orders among which they are looked for.
constexpr std::size_t kMostTried = 8;
constexpr std::size_t kMostOpenTold = 40;

// The rules of each transaction, kept once for each level.
class RuleTable {
 public:
  RuleTable(const History& h, const Assignment& levels) {
    for (TxnId t : h.txns()) {
      const Level* level = &levels.of(t);
      auto found = known_.find(level);
      if (found == known_.end())
        found = known_.emplace(level, std::make_unique<SnapRules>(*snap_rules_of(*level))).first;
      by_txn_.push_back(found->second.get());
    }
  }
  const std::vector<const SnapRules*>& by_txn() const { return by_txn_; }

 private:
  std::map<const Level*, std::unique_ptr<SnapRules>> known_;
  std::vector<const SnapRules*> by_txn_;
};

class PointSearch {
 public:
  PointSearch(const History& h, const Assignment& levels, Budget& budget,
              const PointOptions& options)
      : h_(h),
        levels_(levels),
        budget_(budget),
        options_(options),
        rules_(h, levels),
        layout_(h, rules_.by_txn()),
        rows_(layout_),
        constraints_(layout_, rows_, options.max_pairs, budget),
        teller_(h, levels, layout_) {}

  Verdict run();
  // See tried_orders(). Requires: run() has found a core.
  std::optional<std::vector<TriedOrder>> tried();

 private:
  // An open pair in a chosen order, as a literal.
  struct ChosenEdge {
    PointEdge edge;
    Lit lit;
  };

  Digraph graph_of(std::size_t n, const std::vector<PointEdge>& fixed,
                   const std::vector<ChosenEdge>& chosen) const;
  std::optional<Verdict> cycle_of(std::size_t n, const std::vector<PointEdge>& fixed);
  Verdict violated(const std::vector<PointEdge>& fixed, const std::vector<std::uint32_t>& nodes);
  Verdict consistent(const Digraph& points) const;
  Verdict search();
  // The choice of an open pair: by its number, is the first one before?
  using Choices = std::map<std::size_t, bool>;
  std::optional<std::vector<Edge>> cycle_of_choices(const Choices& choices);
  bool refute(Choices& choices, std::vector<TriedOrder>& tried);
  ChosenOrder told_choice(std::size_t pair, bool is_before) const;
  // Adds a clause for each cycle that it finds; false if there is none.
  bool forbid_cycles(const Digraph& graph, const std::vector<ChosenEdge>& chosen,
                     SatSolver& solver);

  const History& h_;
  const Assignment& levels_;
  Budget& budget_;
  const PointOptions& options_;
  RuleTable rules_;
  PointLayout layout_;
  RowOrder rows_;
  Constraints constraints_;
  CycleTeller teller_;
  std::size_t rounds_ = 0;
};

Digraph PointSearch::graph_of(std::size_t n, const std::vector<PointEdge>& fixed,
                              const std::vector<ChosenEdge>& chosen) const {
  return Digraph::of(n, [&](const auto& add) {
    for (const PointEdge& e : fixed) add(e.from, e.to);
    for (const ChosenEdge& e : chosen) add(e.edge.from, e.edge.to);
  });
}

Verdict PointSearch::run() {
  if (!constraints_.is_complete())
    return Verdict::unknown(
        budget_.expired_now()
            ? limit_reached()
            : fmt::format("the limit of {} pairs of transactions whose order is open",
                          options_.max_pairs));
  if (auto cycle = cycle_of(layout_.size(), constraints_.edges())) return *std::move(cycle);
  if (auto cycle = cycle_of(h_.num_txns(), constraints_.dependencies())) return *std::move(cycle);
  Verdict verdict = constraints_.open().empty()
                        ? consistent(graph_of(layout_.size(), constraints_.edges(), {}))
                        : search();
  verdict.stats.set("points", static_cast<double>(layout_.size()));
  verdict.stats.set("edges", static_cast<double>(constraints_.edges().size()));
  verdict.stats.set("open pairs", static_cast<double>(constraints_.open().size()));
  verdict.stats.set("rounds", static_cast<double>(rounds_));
  return verdict;
}

std::optional<Verdict> PointSearch::cycle_of(std::size_t n, const std::vector<PointEdge>& fixed) {
  if (fixed.empty()) return std::nullopt;
  const Digraph graph = graph_of(n, fixed, {});
  if (strongly_connected_components(graph).are_single()) return std::nullopt;
  const auto cycle = shortest_cycle(graph, {}, kCycleSearchLimit, &budget_);
  if (!cycle) return Verdict::unknown(limit_reached());
  return violated(fixed, cycle->nodes);
}

Verdict PointSearch::consistent(const Digraph& points) const {
  const auto line = topological_order(points);
  Witness witness{.framework = Framework::CoSnap};
  for (const std::uint32_t point : *line) {
    if (layout_.is_commit(point) && h_.is_present(TxnId{point}))
      witness.order.push_back(TxnId{point});
  }
  witness.snap = layout_.snapshot_lengths(*line);
  return Verdict::consistent(std::move(witness));
}

Verdict PointSearch::violated(const std::vector<PointEdge>& fixed,
                              const std::vector<std::uint32_t>& nodes) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, PointEdge> by_ends;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    by_ends[{nodes[i], nodes[(i + 1) % nodes.size()]}].reason = PointReason::Own;
  for (const PointEdge& e : fixed) {
    const auto wanted = by_ends.find({e.from, e.to});
    if (wanted == by_ends.end()) continue;
    // What a read shows tells more than that some lock was held.
    const bool known = wanted->second.from != wanted->second.to;
    if (!known || e.reason < wanted->second.reason) wanted->second = e;
  }
  Violation violation;
  std::vector<PointEdge> steps;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const PointEdge& e = by_ends[{nodes[i], nodes[(i + 1) % nodes.size()]}];
    steps.push_back(e);
    if (layout_.txn(e.from) != layout_.txn(e.to)) violation.cycle.push_back(teller_.edge(e));
  }
  const bool of_dependencies = &fixed == &constraints_.dependencies();
  violation.axiom =
      of_dependencies ? axiom_with(*levels_.base, &SnapRules::serial) : teller_.axiom(steps);
  violation.anomaly =
      of_dependencies ? name_cycle(h_, Logic::Ser, violation.cycle) : teller_.name(violation.cycle);
  return Verdict::violated(std::move(violation));
}

Verdict PointSearch::search() {
  SatSolver solver;
  std::vector<Lit> lits;
  for (std::size_t i = 0; i < constraints_.open().size(); ++i) {
    lits.push_back(solver.new_var());
    solver.set_phase(lits.back());  // as in the file
  }
  while (!budget_.expired_now()) {
    ++rounds_;
    if (options_.progress) options_.progress("searching for an order", -1);
    switch (solver.solve(budget_)) {
      case SatResult::Unknown: return Verdict::unknown(limit_reached());
      case SatResult::Unsat: {
        Violation violation;
        violation.anomaly = Anomaly::Unexplainable;
        for (TxnId t : h_.txns()) {
          if (h_.is_present(t) && t != kInitialTxn) violation.core.push_back(t);
        }
        return Verdict::violated(std::move(violation));
      }
      case SatResult::Sat: break;
    }
    std::vector<ChosenEdge> points;
    std::vector<ChosenEdge> dependencies;
    for (std::size_t i = 0; i < lits.size(); ++i) {
      const OpenPair& pair = constraints_.open()[i];
      const bool before = solver.value(lits[i]);
      const Lit lit = before ? lits[i] : ~lits[i];
      for (const PointEdge& e : before ? pair.if_before : pair.if_after) points.push_back({e, lit});
      for (const PointEdge& e : before ? pair.dependencies_if_before : pair.dependencies_if_after)
        dependencies.push_back({e, lit});
    }
    const Digraph graph = graph_of(layout_.size(), constraints_.edges(), points);
    const Digraph serial = graph_of(h_.num_txns(), constraints_.dependencies(), dependencies);
    const bool points_cycle = forbid_cycles(graph, points, solver);
    const bool serial_cycle = forbid_cycles(serial, dependencies, solver);
    if (budget_.expired_now()) break;
    if (!points_cycle && !serial_cycle) return consistent(graph);
  }
  return Verdict::unknown(limit_reached());
}

bool PointSearch::forbid_cycles(const Digraph& graph, const std::vector<ChosenEdge>& chosen,
                                SatSolver& solver) {
  const Components components = strongly_connected_components(graph);
  if (components.are_single()) return false;
  std::multimap<std::pair<std::uint32_t, std::uint32_t>, Lit> by_ends;
  for (const ChosenEdge& e : chosen) by_ends.emplace(std::pair(e.edge.from, e.edge.to), e.lit);
  std::size_t found = 0;
  for (const ChosenEdge& e : chosen) {
    if (found == kMaxCyclesPerRound || budget_.expired()) break;
    if (components.of[e.edge.from] != components.of[e.edge.to]) continue;
    // Back from its end to its start, within the component, in the fewest steps.
    std::map<std::uint32_t, std::uint32_t> previous = {{e.edge.to, e.edge.to}};
    std::deque<std::uint32_t> queue = {e.edge.to};
    while (!queue.empty() && !previous.contains(e.edge.from)) {
      const std::uint32_t at = queue.front();
      queue.pop_front();
      for (const std::uint32_t next : graph.successors(at)) {
        if (components.of[next] != components.of[at]) continue;
        if (previous.emplace(next, at).second) queue.push_back(next);
      }
    }
    std::vector<Lit> clause = {~e.lit};
    for (std::uint32_t at = e.edge.from; at != e.edge.to; at = previous.at(at)) {
      const auto [first, last] = by_ends.equal_range({previous.at(at), at});
      if (first != last) clause.push_back(~first->second);
    }
    std::sort(clause.begin(), clause.end());
    clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
    solver.add_clause(clause);
    ++found;
  }
  return true;
}

// The cycle that these choices close, if they do.
std::optional<std::vector<Edge>> PointSearch::cycle_of_choices(const Choices& choices) {
  std::vector<PointEdge> points = constraints_.edges();
  std::vector<PointEdge> dependencies = constraints_.dependencies();
  for (const auto& [number, is_before] : choices) {
    const OpenPair& pair = constraints_.open()[number];
    const auto& added = is_before ? pair.if_before : pair.if_after;
    const auto& depends = is_before ? pair.dependencies_if_before : pair.dependencies_if_after;
    points.insert(points.end(), added.begin(), added.end());
    dependencies.insert(dependencies.end(), depends.begin(), depends.end());
  }
  auto found = cycle_of(layout_.size(), points);
  if (!found) found = cycle_of(h_.num_txns(), dependencies);
  if (!found || !found->violation) return std::nullopt;
  return found->violation->cycle;
}

// Tells a cycle for each way to go on from these choices. A pair of which one order closes a cycle
// at once is chosen first, so that there are few ways. False if there are too many, or one that
// closes none within the budget.
bool PointSearch::refute(Choices& choices, std::vector<TriedOrder>& tried) {
  if (budget_.expired_now() || tried.size() > kMostTried) return false;
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < constraints_.open().size(); ++i) {
    if (choices.contains(i)) continue;
    int num_closed = 0;
    for (const bool is_before : {true, false}) {
      choices[i] = is_before;
      num_closed += cycle_of_choices(choices) ? 1 : 0;
    }
    choices.erase(i);
    if (!next || num_closed > 0) next = i;
    if (num_closed > 0) break;
  }
  if (!next) return false;
  for (const bool is_before : {true, false}) {
    choices[*next] = is_before;
    const auto cycle = cycle_of_choices(choices);
    if (cycle) {
      TriedOrder order{.chosen = {}, .cycle = *cycle};
      for (const auto& [pair, before] : choices) order.chosen.push_back(told_choice(pair, before));
      tried.push_back(std::move(order));
    }
    const bool is_refuted = cycle || refute(choices, tried);
    choices.erase(*next);
    if (!is_refuted) return false;
  }
  return tried.size() <= kMostTried;
}

ChosenOrder PointSearch::told_choice(std::size_t pair, bool is_before) const {
  const OpenPair& open = constraints_.open()[pair];
  ChosenOrder order{.first = is_before ? open.a : open.b, .second = is_before ? open.b : open.a};
  for (std::uint32_t row = 0; row < rows_.num_rows(); ++row) {
    const RowClaim* first = nullptr;
    const RowClaim* second = nullptr;
    for (const RowClaim& claim : rows_.claims(row)) {
      if (claim.txn == order.first) first = &claim;
      if (claim.txn == order.second) second = &claim;
    }
    if (first == nullptr || second == nullptr) continue;
    if ((first->writes && second->writes) || second->waits_for(*first) != RowClaim::kNever)
      order.rows.push_back(h_.name(RowId{row}));
  }
  return order;
}

std::optional<std::vector<TriedOrder>> PointSearch::tried() {
  if (!constraints_.is_complete() || constraints_.open().size() > kMostOpenTold)
    return std::nullopt;
  std::vector<TriedOrder> all;
  Choices choices;
  if (!refute(choices, all)) return std::nullopt;
  return all;
}

// The levels of a part of a history.
Assignment levels_of_part(const Assignment& levels, std::span<const TxnId> keep) {
  Assignment own{.base = levels.base, .own = {}};
  if (levels.is_mixed()) {
    own.own.push_back(nullptr);
    for (TxnId t : keep) own.own.push_back(&levels.of(t));
  }
  return own;
}

// Leaves out transactions as long as the rest is still violated.
void shrink_core(const History& h, const Assignment& levels, Verdict& verdict, Budget& budget,
                 const PointOptions& options) {
  std::vector<TxnId> core = verdict.violation->core;
  PointOptions quiet = options;
  quiet.progress = {};
  const auto decide = [&](const std::vector<TxnId>& keep) {
    const History part = restrict_to(h, keep);
    return PointSearch(part, levels_of_part(levels, keep), budget, quiet).run();
  };
  for (std::size_t chunk = (core.size() + 1) / 2; chunk > 0;
       chunk = chunk == 1 ? 0 : (chunk + 1) / 2) {
    for (std::size_t begin = 0; begin < core.size();) {
      if (budget.expired_now()) break;
      std::vector<TxnId> rest = core;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(begin),
                 rest.begin() + static_cast<std::ptrdiff_t>(std::min(begin + chunk, core.size())));
      if (!rest.empty() && decide(rest).outcome == Outcome::Violated) {
        core = std::move(rest);
      } else {
        begin += chunk;
      }
    }
  }
  verdict.violation->core = std::move(core);
}

}  // namespace

bool has_points(const Assignment& levels) {
  if (!snap_rules_of(*levels.base)) return false;
  std::vector<const Level*> own = levels.own;
  std::sort(own.begin(), own.end());
  own.erase(std::unique(own.begin(), own.end()), own.end());
  return std::all_of(own.begin(), own.end(), [](const Level* level) {
    return level == nullptr || snap_rules_of(*level).has_value();
  });
}

Verdict check_points(const History& h, const Assignment& levels, Budget& budget,
                     const PointOptions& options) {
  if (options.progress) options.progress("ordering commits and snapshots", -1);
  Verdict verdict = PointSearch(h, levels, budget, options).run();
  if (verdict.violation && !verdict.violation->core.empty() && h.num_txns() <= kMostTxnsShrunk) {
    Budget part = budget.within(options.core_seconds);
    shrink_core(h, levels, verdict, part, options);
  }
  return verdict;
}

std::optional<TriedOrders> tried_orders(const History& h, const Assignment& levels,
                                        std::span<const TxnId> core, Budget& budget) {
  TriedOrders all{.part = restrict_to(h, core), .tried = {}};
  const PointOptions options;
  auto tried = PointSearch(all.part, levels_of_part(levels, core), budget, options).tried();
  if (!tried) return std::nullopt;
  all.tried = *std::move(tried);
  return all;
}

}  // namespace isoscope
