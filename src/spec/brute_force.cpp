#include "spec/brute_force.h"

#include <algorithm>
#include <functional>

#include "spec/statements.h"
#include "support/assert.h"

namespace isoscope {

namespace {

// Lists what a framework allows in a history.
class WitnessList {
 public:
  WitnessList(const History& h, const Assignment& levels)
      : h_(h),
        framework_(levels.base->framework),
        before_(h.num_txns()),
        sees_(levels.base->is_wr_free ? Relation(h.num_txns()) : wr_relation(h)) {
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
    if (framework_ != Framework::CoSnap) return;
    collect_statements();
    for (const auto& [before, after] : facts_.known_order())
      before_.insert(before.index, after.index);
  }

  std::vector<Witness> all() {
    std::vector<Witness> found;
    find([&](const Witness& witness) {
      found.push_back(witness);
      return false;
    });
    return found;
  }

  // Calls `accept` with one witness after the other until it returns true.
  void find(const std::function<bool(const Witness&)>& accept) {
    accept_ = &accept;
    extend_order();
  }

 private:
  // The reads of one statement, all of which have its snapshot.
  struct Statement {
    TxnId txn;
    std::vector<EventId> reads;
  };

  void collect_statements() {
    for (TxnId t : present_) {
      std::optional<std::uint32_t> last;
      for (EventId e : h_.events(t)) {
        if (!h_.is_read(e)) continue;
        if (last != h_.statement(e)) statements_.push_back({t, {}});
        last = h_.statement(e);
        statements_.back().reads.push_back(e);
      }
    }
  }

  bool report(const Witness& witness) { return done_ = (*accept_)(witness); }

  bool is_placed(TxnId t) const {
    return std::find(order_.begin(), order_.end(), t) != order_.end();
  }

  // Appends any transaction whose predecessors are all placed.
  void extend_order() {
    if (order_.size() == present_.size()) {
      switch (framework_) {
        case Framework::Co: report({framework_, order_, std::nullopt}); return;
        case Framework::VisAr: {
          Relation vis(h_.num_txns());
          extend_vis(vis, 0);
          return;
        }
        case Framework::CoSnap: {
          std::vector<std::uint32_t> snap(h_.num_events());
          extend_snap(snap, 0);
          return;
        }
      }
      return;
    }
    for (TxnId t : present_) {
      if (done_) return;
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
    if (done_) return;
    if (position == order_.size()) {
      report({framework_, order_, vis});
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

  // Chooses the snapshots of the statements from `next` on.
  void extend_snap(std::vector<std::uint32_t>& snap, std::size_t next) {
    if (done_) return;
    if (next == statements_.size()) {
      report({framework_, order_, std::nullopt, snap});
      return;
    }
    const Statement& statement = statements_[next];
    const auto own = std::find(order_.begin(), order_.end(), statement.txn) - order_.begin();
    for (std::uint32_t length = 1; length <= static_cast<std::uint32_t>(own); ++length) {
      const bool fits = std::all_of(statement.reads.begin(), statement.reads.end(), [&](EventId e) {
        if (!h_.is_external_read(e)) return true;
        return last_writer(h_.key(e), facts_.is_current(e) ? own : length) == h_.writer(e);
      });
      if (!fits) continue;
      for (EventId e : statement.reads) snap[e.index] = length;
      extend_snap(snap, next + 1);
    }
  }

  // The last writer of x among the first transactions of the order.
  TxnId last_writer(KeyId x, std::ptrdiff_t length) const {
    TxnId last = TxnId::none();
    for (std::ptrdiff_t i = 0; i < length; ++i) {
      if (h_.writes(order_[static_cast<std::size_t>(i)], x))
        last = order_[static_cast<std::size_t>(i)];
    }
    return last;
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
  StatementFacts facts_{h_};
  std::vector<Statement> statements_;
  const std::function<bool(const Witness&)>* accept_ = nullptr;
  bool done_ = false;
};

// Do all levels have so, and wr in co, so that other levels have the same witnesses?
bool is_plain(const History& h, const Assignment& levels) {
  for (TxnId t : h.txns()) {
    if (!levels.of(t).uses_session_order || levels.of(t).is_wr_free) return false;
  }
  return true;
}

}  // namespace

bool is_small_enough(const History& h, Framework framework) {
  std::size_t present = 0;
  std::size_t reading = 0;
  for (TxnId t : h.txns()) {
    if (!h.is_present(t)) continue;
    ++present;
    std::optional<std::uint32_t> last;
    for (EventId e : h.events(t)) {
      if (h.is_read(e) && last != h.statement(e)) ++reading;
      if (h.is_read(e)) last = h.statement(e);
    }
  }
  switch (framework) {
    case Framework::Co: return present <= 1 + kMaxBruteForceCo;
    case Framework::VisAr: return present <= 1 + kMaxBruteForceVis;
    case Framework::CoSnap:
      return present <= 1 + kMaxBruteForceSnap && reading <= kMaxBruteForceStatements;
  }
  return false;
}

const std::vector<Witness>& BruteForce::witnesses(const Assignment& levels) {
  if (!is_plain(h_, levels)) return special_ = WitnessList(h_, levels).all();
  auto& known = levels.base->framework == Framework::Co ? co_ : vis_ar_;
  if (!known) known = WitnessList(h_, levels).all();
  return *known;
}

std::optional<Witness> BruteForce::decide(const Assignment& levels) {
  ISO_ASSERT(is_small_enough(h_, levels.base->framework));
  if (!h_.faults().empty()) return std::nullopt;
  Evaluator evaluator(h_, levels);
  if (levels.base->framework == Framework::CoSnap) {
    std::optional<Witness> found;
    WitnessList(h_, levels).find([&](const Witness& witness) {
      if (evaluator.accepts(witness)) found = witness;
      return found.has_value();
    });
    return found;
  }
  for (const Witness& witness : witnesses(levels)) {
    if (evaluator.accepts(witness)) return witness;
  }
  return std::nullopt;
}

std::optional<Witness> brute_force(const History& h, const Assignment& levels) {
  return BruteForce(h).decide(levels);
}

}  // namespace isoscope
