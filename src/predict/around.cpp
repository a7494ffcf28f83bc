// Leads the cycle of an explanation through a transaction that stands only behind its edges.
//
// Behind a forced edge stands a read or a path. If the rest of the cycle, P, leads back to where
// the edge starts, the same contradiction can be told the other way round:
//
//   a --ww[x]--> b  because t reads x from b, and a leads to t:   a … t --rw[x]--> a, for P puts b
//                                                                 before a
//   a --ww[x]--> b  because a leads to b:                         a … b P
//   a --rw[x]--> b  because w, whose x it reads, is before b:     the same for w and b, for P puts
//                                                                 b before a, which reads from w
//
// Each turn brings what stands behind an edge one level up, so a few turns reach the transaction.
#include <algorithm>

#include "predict/observed.h"
#include "verdict/confirm.h"
#include "verdict/naming.h"

namespace isoscope::predict {
namespace {

using Cycle = std::vector<Edge>;

class Turner {
 public:
  Turner(const History& h, std::span<const TxnId> wanted) : h_(h), wanted_(wanted) {}

  bool is_on(const Cycle& cycle) const {
    return std::ranges::any_of(cycle, [&](const Edge& e) { return is_wanted(e.from); });
  }

  // A shortest cycle with a wanted transaction, of those that turning can reach; or nothing.
  std::optional<Cycle> turned(const Cycle& cycle, int turns) const {
    if (is_on(cycle)) return simple(cycle);
    std::optional<Cycle> best;
    if (turns == 0) return best;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      if (!is_behind(cycle[i])) continue;
      Cycle rest(cycle.begin() + static_cast<std::ptrdiff_t>(i) + 1, cycle.end());
      rest.insert(rest.end(), cycle.begin(), cycle.begin() + static_cast<std::ptrdiff_t>(i));
      const auto other = turn(cycle[i], std::move(rest));
      if (!other) continue;
      auto found = turned(*other, turns - 1);
      if (found && (!best || found->size() < best->size())) best = std::move(found);
    }
    return best;
  }

 private:
  bool is_wanted(TxnId t) const { return std::ranges::find(wanted_, t) != wanted_.end(); }

  bool is_behind(const Edge& edge) const {
    return (!edge.read.is_none() && is_wanted(h_.txn(edge.read))) ||
           std::ranges::any_of(edge.path, [&](const Edge& step) {
             return is_wanted(step.from) || is_wanted(step.to) || is_behind(step);
           });
  }

  // The cycle that a version order `from` before `to` stands on, given that `back` says the
  // opposite: an edge from `to` to `from`.
  std::optional<Cycle> against(const Edge& order, const Edge& back) const {
    Cycle cycle = order.path;
    if (order.read.is_none()) {
      cycle.push_back(back);
    } else {
      const TxnId reader = h_.txn(order.read);
      if (reader == order.from) return std::nullopt;
      cycle.push_back({.from = reader,
                       .to = order.from,
                       .kind = EdgeKind::Rw,
                       .key = order.key,
                       .read = order.read,
                       .path = back.from == kInitialTxn ? Cycle() : Cycle{back}});
    }
    return cycle;
  }

  // `rest` leads from the end of the edge to its start.
  std::optional<Cycle> turn(const Edge& edge, Cycle rest) const {
    if (edge.kind == EdgeKind::Ww || edge.kind == EdgeKind::Co) {
      if (edge.path.empty()) return std::nullopt;
      if (edge.read.is_none()) {
        Cycle cycle = edge.path;
        cycle.insert(cycle.end(), rest.begin(), rest.end());
        return cycle;
      }
      return against(edge, {.from = edge.to,
                            .to = edge.from,
                            .kind = EdgeKind::Ww,
                            .key = edge.key,
                            .path = std::move(rest)});
    }
    if (edge.kind != EdgeKind::Rw || edge.path.empty() || edge.path.front().path.empty())
      return std::nullopt;
    const Edge& order = edge.path.front();
    return against(order, {.from = order.to,
                           .to = order.from,
                           .kind = EdgeKind::Ww,
                           .key = edge.key,
                           .read = edge.read,
                           .path = std::move(rest)});
  }

  // Without the loops that do not contain the first wanted transaction.
  Cycle simple(Cycle cycle) const {
    const auto first =
        std::ranges::find_if(cycle, [&](const Edge& e) { return is_wanted(e.from); });
    std::rotate(cycle.begin(), first, cycle.end());
    Cycle path;
    for (Edge& edge : cycle) {
      const auto again =
          std::ranges::find_if(path, [&](const Edge& e) { return e.from == edge.from; });
      path.erase(again, path.end());
      path.push_back(std::move(edge));
    }
    return path;
  }

  const History& h_;
  std::span<const TxnId> wanted_;
};

// One read, and a causal path to its transaction from what overwrites it.
bool is_overlooking(const Cycle& cycle) {
  const auto num_rw = std::ranges::count(cycle, EdgeKind::Rw, &Edge::kind);
  return num_rw == 1 && std::ranges::all_of(cycle, [](const Edge& edge) {
           return edge.kind == EdgeKind::Rw || edge.kind == EdgeKind::So ||
                  edge.kind == EdgeKind::Wr;
         });
}

}  // namespace

void lead_through_changes(const History& observed, Prediction& prediction) {
  std::vector<TxnId> changed;
  for (const TxnId t : prediction.history.txns()) {
    const bool is_changed = std::ranges::any_of(prediction.changed, [&](const ChangedRead& read) {
      return observed.txn(read.read) == prediction.observed_txn[t.index];
    });
    if (is_changed) changed.push_back(t);
  }
  lead_through(prediction.history, changed, *prediction.unserializable.verdict.violation);
}

void lead_through(const History& h, std::span<const TxnId> changed, Violation& violation) {
  // Explanations are seldom more than two deep, and each turn tries every edge.
  constexpr int kMaxTurns = 4;
  if (violation.cycle.empty()) return;
  const Turner turner(h, changed);
  if (turner.is_on(violation.cycle)) return;
  auto cycle = turner.turned(violation.cycle, kMaxTurns);
  if (!cycle || check_cycle(h, Logic::Ser, *cycle)) return;
  const bool is_weak = std::ranges::any_of(
      violation.cycle, [](const Edge& edge) { return edge.kind == EdgeKind::Co; });
  violation.cycle = *std::move(cycle);
  // A read that overlooks a writer which its transaction sees: the name of that says more.
  if (is_weak && is_overlooking(violation.cycle)) return;
  violation.anomaly =
      name_cycle(h, weakest_forbidding(h, Logic::Ser, violation.cycle), violation.cycle);
}

}  // namespace isoscope::predict
