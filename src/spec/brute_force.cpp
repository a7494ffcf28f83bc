#include "spec/brute_force.h"

#include <algorithm>

#include "support/assert.h"

namespace isoscope {

namespace {

// Lists what a framework allows in a history.
class WitnessList {
 public:
  WitnessList(const History& h, const Assignment& levels)
      : h_(h), framework_(levels.base->framework), before_(h.num_txns()), sees_(wr_relation(h)) {
    for (TxnId t : h.txns()) {
      if (h.is_present(t)) present_.push_back(t);
    }
    for (TxnId s : present_) {
      for (TxnId t : present_) {
        if (h.so(s, t) && levels.of(t).uses_session_order) sees_.insert(s.index, t.index);
        if (s == kInitialTxn && t != s) before_.insert(s.index, t.index);
      }
    }
    before_ |= sees_;
    for (const VersionEdge& edge : h.version_edges())
      before_.insert(edge.before.index, edge.after.index);
    for (TxnId t : present_) {
      for (EventId e : h.events(t)) {
        if (h.is_external_read(e)) reads_.push_back(e);
      }
    }
  }

  std::vector<Witness> all() {
    extend_order();
    return std::move(found_);
  }

 private:
  bool is_placed(TxnId t) const {
    return std::find(order_.begin(), order_.end(), t) != order_.end();
  }

  // Appends any transaction whose predecessors are all placed.
  void extend_order() {
    if (order_.size() == present_.size()) {
      if (framework_ == Framework::Co) {
        found_.push_back({framework_, order_, std::nullopt});
      } else {
        Relation vis(h_.num_txns());
        extend_vis(vis, 0);
      }
      return;
    }
    for (TxnId t : present_) {
      if (is_placed(t)) continue;
      const bool is_next = std::all_of(present_.begin(), present_.end(), [&](TxnId s) {
        return !before_.contains(s.index, t.index) || is_placed(s);
      });
      if (!is_next) continue;
      order_.push_back(t);
      extend_order();
      order_.pop_back();
    }
  }

  // Chooses the view of the transaction at `position` in ar among the subsets of those before it.
  void extend_vis(Relation& vis, std::size_t position) {
    if (position == order_.size()) {
      found_.push_back({framework_, order_, vis});
      return;
    }
    const TxnId t = order_[position];
    for (std::uint32_t view = 0; view < (1U << position); ++view) {
      bool sees_enough = true;
      for (std::size_t i = 0; i < position; ++i) {
        const TxnId s = order_[i];
        vis.erase(s.index, t.index);
        if ((view >> i & 1U) != 0) {
          vis.insert(s.index, t.index);
        } else if (sees_.contains(s.index, t.index)) {
          sees_enough = false;
        }
      }
      if (sees_enough && reads_see_their_writers(vis, t)) extend_vis(vis, position + 1);
    }
    for (std::size_t i = 0; i < position; ++i) vis.erase(order_[i].index, t.index);
  }

  // Is the last visible writer of each key that t reads the one it reads from?
  bool reads_see_their_writers(const Relation& vis, TxnId t) const {
    return std::all_of(reads_.begin(), reads_.end(), [&](EventId e) {
      if (h_.txn(e) != t) return true;
      TxnId last = TxnId::none();
      for (TxnId s : order_) {
        if (h_.writes(s, h_.key(e)) && vis.contains(s.index, t.index)) last = s;
      }
      return last == h_.writer(e);
    });
  }

  const History& h_;
  Framework framework_;
  std::vector<TxnId> present_;
  std::vector<EventId> reads_;
  Relation before_;  // in every order
  Relation sees_;    // in every vis
  std::vector<TxnId> order_;
  std::vector<Witness> found_;
};

bool all_have_so(const History& h, const Assignment& levels) {
  for (TxnId t : h.txns()) {
    if (!levels.of(t).uses_session_order) return false;
  }
  return true;
}

}  // namespace

bool is_small_enough(const History& h, Framework framework) {
  std::size_t present = 0;
  for (TxnId t : h.txns()) present += h.is_present(t) ? 1 : 0;
  return present <= 1 + (framework == Framework::Co ? kMaxBruteForceCo : kMaxBruteForceVis);
}

const std::vector<Witness>& BruteForce::witnesses(const Assignment& levels) {
  if (!all_have_so(h_, levels)) return special_ = WitnessList(h_, levels).all();
  auto& known = levels.base->framework == Framework::Co ? co_ : vis_ar_;
  if (!known) known = WitnessList(h_, levels).all();
  return *known;
}

std::optional<Witness> BruteForce::decide(const Assignment& levels) {
  ISO_ASSERT(is_small_enough(h_, levels.base->framework));
  if (!h_.faults().empty()) return std::nullopt;
  Evaluator evaluator(h_, levels);
  for (const Witness& witness : witnesses(levels)) {
    if (evaluator.accepts(witness)) return witness;
  }
  return std::nullopt;
}

std::optional<Witness> brute_force(const History& h, const Assignment& levels) {
  return BruteForce(h).decide(levels);
}

}  // namespace isoscope
