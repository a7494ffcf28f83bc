#include "check/strict.h"

#include <algorithm>

namespace isoscope {

namespace {

class Translator {
 public:
  Translator(const RealTimeHistory& timed, const History& h) : timed_(timed), h_(h) {}

  // Requires: the path begins and ends with transactions of the original.
  std::vector<Edge> path(const std::vector<Edge>& edges) const {
    std::vector<Edge> result;
    TxnId from = TxnId::none();  // where the step over auxiliary transactions began
    bool over_points = false;
    for (const Edge& edge : edges) {
      const TxnId to = timed_.stands_for(edge.to);
      if (from.is_none()) from = timed_.stands_for(edge.from);
      over_points = over_points || timed_.is_point(edge.to);
      if (to.is_none()) continue;
      const bool is_auxiliary =
          timed_.original(edge.from).is_none() || timed_.original(edge.to).is_none();
      if (is_auxiliary && from != to) {
        add_step(result, from, to, over_points && from != kInitialTxn);
      } else if (!is_auxiliary) {
        result.push_back(translated(edge));
      }
      from = TxnId::none();
      over_points = false;
    }
    return result;
  }

  std::vector<Edge> cycle(std::vector<Edge> edges) const {
    const auto is_original = [&](const Edge& e) { return !timed_.stands_for(e.from).is_none(); };
    const auto first = std::find_if(edges.begin(), edges.end(), is_original);
    std::rotate(edges.begin(), first, edges.end());
    return path(edges);
  }

 private:
  Edge translated(const Edge& edge) const {
    return {.from = timed_.original(edge.from),
            .to = timed_.original(edge.to),
            .kind = edge.kind,
            .key = edge.key,
            .read = edge.read.is_none() ? edge.read : timed_.original(edge.read),
            .path = path(edge.path)};
  }

  // rt is transitive, so two steps of it are one.
  void add_step(std::vector<Edge>& result, TxnId from, TxnId to, bool is_rt) const {
    if (is_rt && !result.empty() && result.back().kind == EdgeKind::Rt &&
        result.back().from != to && h_.rt(result.back().from, to)) {
      result.back().to = to;
      return;
    }
    result.push_back({.from = from, .to = to, .kind = is_rt ? EdgeKind::Rt : EdgeKind::So});
  }

  const RealTimeHistory& timed_;
  const History& h_;
};

}  // namespace

Violation of_original(const RealTimeHistory& timed, const History& h, Violation violation) {
  violation.cycle = Translator(timed, h).cycle(std::move(violation.cycle));
  std::vector<TxnId> core;
  for (TxnId t : violation.core) {
    if (!timed.original(t).is_none()) core.push_back(timed.original(t));
  }
  violation.core = std::move(core);
  return violation;
}

Witness of_original(const RealTimeHistory& timed, const History& h, const Witness& witness) {
  Witness result{.framework = witness.framework, .order = {}, .vis = {}};
  for (TxnId t : witness.order) {
    if (!timed.original(t).is_none()) result.order.push_back(timed.original(t));
  }
  if (!witness.vis) return result;
  result.vis = Relation(h.num_txns());
  for (TxnId a : timed.history().txns()) {
    const TxnId from = timed.original(a);
    if (from.is_none()) continue;
    witness.vis->for_each_successor(a.index, [&](std::size_t b) {
      const TxnId to = timed.original(TxnId{static_cast<std::uint32_t>(b)});
      if (!to.is_none()) result.vis->insert(from.index, to.index);
    });
  }
  return result;
}

bool rests_on_real_time(std::span<const Edge> edges) {
  return std::any_of(edges.begin(), edges.end(), [](const Edge& e) {
    return e.kind == EdgeKind::Rt || rests_on_real_time(e.path);
  });
}

Anomaly name_real_time(std::span<const Edge> cycle) {
  const auto count = [&](EdgeKind kind) {
    return std::count_if(cycle.begin(), cycle.end(), [&](const Edge& e) { return e.kind == kind; });
  };
  if (cycle.empty()) return Anomaly::Unexplainable;
  if (count(EdgeKind::Rw) + count(EdgeKind::Co) == 1) return Anomaly::StaleRead;
  if (count(EdgeKind::Rw) + count(EdgeKind::Co) > 1) return Anomaly::RealTimeCycle;
  if (count(EdgeKind::Wr) > 0) return Anomaly::ReadBeforeWrite;
  return count(EdgeKind::Ww) > 0 ? Anomaly::RealTimeWrites : Anomaly::Unexplainable;
}

}  // namespace isoscope
