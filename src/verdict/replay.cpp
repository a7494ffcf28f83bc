// Confirms witnesses by replaying their order.
//
// With positions in the given order, every rule of the co framework says: of the writers of x
// that t3 sees, the one it reads from is the last. What t3 sees is a few transactions for rc and
// ra, a causal past for cc, and a prefix of the order for pc, si and ser.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "support/assert.h"
#include "verdict/confirm.h"

namespace isoscope {

namespace {

using Complaint = std::optional<std::string>;

// What the replay of cc may cost: 256 MB of clocks, a few seconds.
constexpr std::size_t kMostClockEntries = std::size_t{1} << 26U;
constexpr double kMostSteps = 1e9;

class Replay {
 public:
  Replay(const History& h, const std::vector<TxnId>& order, Budget& budget)
      : h_(h), budget_(budget), position_(h.num_txns(), kAbsent) {
    for (std::size_t i = 0; i < order.size(); ++i)
      position_[order[i].index] = static_cast<std::uint32_t>(i);
  }

  // Is it a total order of the present transactions with T0 first, so, wr and known versions?
  Complaint facts(const std::vector<TxnId>& order) const {
    std::size_t present = 0;
    for (TxnId t : h_.txns()) {
      if (h_.is_present(t)) ++present;
      if (h_.is_present(t) != (position_[t.index] != kAbsent))
        return fmt::format("the order has {} where it should not, or lacks it", h_.name(t));
    }
    if (order.size() != present || order.empty() || order[0] != kInitialTxn)
      return "the order is not one of all transactions, T0 first";
    for (SessionId s : h_.sessions()) {
      std::uint32_t last = 0;
      for (TxnId t : h_.session_txns(s)) {
        if (!h_.is_present(t)) continue;
        if (position_[t.index] <= last)
          return fmt::format("{} is not in session order", h_.name(t));
        last = position_[t.index];
      }
    }
    for (TxnId t : h_.txns()) {
      if (!h_.is_present(t)) continue;
      for (EventId e : h_.events(t)) {
        if (h_.is_external_read(e) && before(t, h_.writer(e)))
          return fmt::format("{} is ordered before its writer {}", h_.name(t),
                             h_.name(h_.writer(e)));
        for (TxnId shown : h_.also_shown(e)) {
          if (before(t, shown))
            return fmt::format("{} is ordered before {}, which it sees", h_.name(t),
                               h_.name(shown));
        }
      }
    }
    for (const VersionEdge& v : h_.version_edges()) {
      if (position_[v.before.index] == kAbsent || position_[v.after.index] == kAbsent) continue;
      if (before(v.after, v.before))
        return fmt::format("{} is ordered before {}", h_.name(v.after), h_.name(v.before));
    }
    return {};
  }

  // rc: what the transaction has read from so far.
  Complaint read_committed() const {
    Newest newest(h_.num_keys());
    std::vector<TxnId> seen_by(h_.num_txns(), TxnId::none());  // the last reader of each
    for (TxnId t : h_.txns()) {
      if (!h_.is_present(t)) continue;
      newest.clear();
      for (EventId e : h_.events(t)) {
        if (!h_.is_external_read(e)) continue;
        if (newest.of(h_.key(e)) > position(h_.writer(e))) return stale(e);
        if (std::exchange(seen_by[h_.writer(e).index], t) != t) see(newest, h_.writer(e));
        for (TxnId shown : h_.also_shown(e)) {
          if (std::exchange(seen_by[shown.index], t) != t) see(newest, shown);
        }
        if (budget_.expired()) return {};
      }
    }
    return {};
  }

  // ra: its session before it, and whom it reads from at all.
  Complaint read_atomic() const {
    Newest of_session(h_.num_keys());
    Newest of_reads(h_.num_keys());
    std::vector<TxnId> seen_by(h_.num_txns(), TxnId::none());  // the last reader of each
    for (SessionId s : h_.sessions()) {
      of_session.clear();
      for (TxnId t : h_.session_txns(s)) {
        if (!h_.is_present(t)) continue;
        of_reads.clear();
        for (EventId e : h_.events(t)) {
          if (!h_.is_external_read(e)) continue;
          if (std::exchange(seen_by[h_.writer(e).index], t) != t) see(of_reads, h_.writer(e));
          for (TxnId shown : h_.also_shown(e)) {
            if (std::exchange(seen_by[shown.index], t) != t) see(of_reads, shown);
          }
          if (budget_.expired()) return {};
        }
        for (EventId e : h_.events(t)) {
          if (!h_.is_external_read(e)) continue;
          const std::uint32_t newest = std::max(of_session.of(h_.key(e)), of_reads.of(h_.key(e)));
          if (newest > position(h_.writer(e))) return stale(e);
        }
        see(of_session, t);
      }
    }
    return {};
  }

  // cc: its causal past, by one clock a transaction. Only writers between the one that is read and
  // the reader could have been overlooked, and in the given order those are few.
  Complaint causal(const std::vector<TxnId>& order) const {
    const std::size_t k = h_.num_sessions();
    std::vector<std::uint32_t> clocks(h_.num_txns() * k,
                                      0);               // how many of each session it has seen
    std::vector<std::uint32_t> rank(h_.num_txns(), 0);  // its own place in its session, from 1
    std::vector<TxnId> session_last(k, kInitialTxn);
    const auto writers = writers_in_order();
    for (TxnId t : order) {
      if (t == kInitialTxn) continue;
      std::uint32_t* past = &clocks[t.index * k];
      const auto include = [&](TxnId u) {
        if (u == kInitialTxn || past[h_.session(u).index] >= rank[u.index]) return;
        const std::uint32_t* other = &clocks[u.index * k];
        for (std::size_t s = 0; s < k; ++s) past[s] = std::max(past[s], other[s]);
      };
      TxnId& previous = session_last[h_.session(t).index];
      include(previous);
      for (EventId e : h_.events(t)) {
        if (!h_.is_external_read(e)) continue;
        include(h_.writer(e));
        for (TxnId shown : h_.also_shown(e)) include(shown);
      }
      for (EventId e : h_.events(t)) {
        if (!h_.is_external_read(e)) continue;
        const auto& all = writers[h_.key(e).index];
        if (budget_.expired()) return {};
        for (auto it = after(all, position(h_.writer(e))); it != all.end() && *it < position(t);
             ++it) {
          const TxnId t2 = order[*it];
          if (past[h_.session(t2).index] >= rank[t2.index]) return stale(e);
        }
      }
      rank[t.index] = rank[previous.index] + 1;
      past[h_.session(t).index] = rank[t.index];
      previous = t;
    }
    return {};
  }

  // How many writers causal() would look at.
  double causal_steps() const {
    double steps = 0;
    const auto writers = writers_in_order();
    for (TxnId t : h_.txns()) {
      if (budget_.expired()) return steps;
      for (EventId e : h_.events(t)) {
        if (!h_.is_external_read(e)) continue;
        const auto& all = writers[h_.key(e).index];
        const auto begin = after(all, position(h_.writer(e)));
        steps += static_cast<double>(std::max<std::ptrdiff_t>(0, after(all, position(t)) - begin));
      }
    }
    return steps;
  }

  // pc, si, ser: t sees the order up to some position, its horizon.
  Complaint prefix(Logic logic) const {
    const auto by_key = writers_in_order();
    // The last position of a writer of x below `limit`, or 0.
    const auto last_writer_below = [&](KeyId x, std::uint32_t limit) {
      const auto& all = by_key[x.index];
      const auto it = std::lower_bound(all.begin(), all.end(), limit);
      return it == all.begin() ? 0U : *(it - 1);
    };
    for (SessionId s : h_.sessions()) {
      TxnId previous = kInitialTxn;
      for (TxnId t : h_.session_txns(s)) {
        if (budget_.expired()) return {};
        if (!h_.is_present(t)) continue;
        std::uint32_t horizon = position(previous);
        previous = t;
        for (EventId e : h_.events(t)) {
          if (h_.is_external_read(e)) horizon = std::max(horizon, position(h_.writer(e)));
          if (logic == Logic::Si && h_.is_final_write(e))
            horizon = std::max(horizon, last_writer_below(h_.key(e), position(t)));
        }
        if (logic == Logic::Ser) horizon = position(t) - 1;
        for (EventId e : h_.events(t)) {
          if (!h_.is_external_read(e)) continue;
          if (last_writer_below(h_.key(e), horizon + 1) > position(h_.writer(e))) return stale(e);
        }
      }
    }
    return {};
  }

 private:
  static constexpr std::uint32_t kAbsent = 0xffffffffU;

  // Per key the last position of a seen writer; clearing costs only what was touched.
  class Newest {
   public:
    explicit Newest(std::size_t keys) : position_(keys, 0) {}
    void clear() {
      for (KeyId x : touched_) position_[x.index] = 0;
      touched_.clear();
    }
    void raise(KeyId x, std::uint32_t position) {
      if (position_[x.index] == 0) touched_.push_back(x);
      position_[x.index] = std::max(position_[x.index], position);
    }
    std::uint32_t of(KeyId x) const { return position_[x.index]; }

   private:
    std::vector<std::uint32_t> position_;
    std::vector<KeyId> touched_;
  };

  using Positions = std::vector<std::uint32_t>;

  // By key, where its writers stand in the order, ascending.
  std::vector<Positions> writers_in_order() const {
    std::vector<Positions> by_key(h_.num_keys());
    for (KeyId x : h_.keys()) {
      for (TxnId t : h_.writers(x)) by_key[x.index].push_back(position(t));
      std::sort(by_key[x.index].begin(), by_key[x.index].end());
    }
    return by_key;
  }
  static Positions::const_iterator after(const Positions& all, std::uint32_t position) {
    return std::upper_bound(all.begin(), all.end(), position);
  }

  std::uint32_t position(TxnId t) const { return position_[t.index]; }
  bool before(TxnId a, TxnId b) const { return position(a) < position(b); }
  void see(Newest& newest, TxnId t) const {
    for (EventId e : h_.events(t)) {
      if (h_.is_final_write(e)) newest.raise(h_.key(e), position(t));
    }
  }
  std::string stale(EventId e) const {
    return fmt::format("{} reads '{}' from {}, but sees a later writer", h_.name(h_.txn(e)),
                       h_.name(h_.key(e)), h_.name(h_.writer(e)));
  }

  const History& h_;
  Budget& budget_;
  std::vector<std::uint32_t> position_;
};

}  // namespace

bool is_replayable(const History& h, Logic logic, const Witness& witness, Budget budget) {
  if (logic == Logic::Ua || logic == Logic::Psi) return false;
  if (logic != Logic::Cc) return true;
  return h.num_txns() * h.num_sessions() <= kMostClockEntries &&
         Replay(h, witness.order, budget).causal_steps() <= kMostSteps;
}

std::optional<std::string> replay(const History& h, Logic logic, const Witness& witness,
                                  Budget budget) {
  const Replay replay(h, witness.order, budget);
  if (auto wrong = replay.facts(witness.order)) return wrong;
  switch (logic) {
    case Logic::True: return {};
    case Logic::Rc: return replay.read_committed();
    case Logic::Ra: return replay.read_atomic();
    case Logic::Cc: return replay.causal(witness.order);
    case Logic::Pc:
    case Logic::Si:
    case Logic::Ser: return replay.prefix(logic);
    case Logic::Ua:
    case Logic::Psi: return "this level has no commit order to replay";
  }
  return {};
}

std::optional<std::string> check_visibility(const History& h, Logic logic, const Witness& witness) {
  Budget unlimited;
  const Replay replay(h, witness.order, unlimited);
  if (auto wrong = replay.facts(witness.order)) return wrong;
  ISO_ASSERT(witness.vis.has_value());
  const Relation& vis = *witness.vis;
  const Relation ar = order_relation(witness.order, h.num_txns());
  if (!vis.is_subset_of(ar)) return "vis is not part of ar";
  if (!so_relation(h).is_subset_of(vis)) return "so is not part of vis";
  for (TxnId t : h.txns()) {
    for (EventId e : h.events(t)) {
      if (!h.is_external_read(e)) continue;
      const TxnId t1 = h.writer(e);
      if (!vis.contains(t1.index, t.index))
        return fmt::format("{} does not see its writer", h.name(t));
      for (TxnId shown : h.also_shown(e)) {
        if (!vis.contains(shown.index, t.index))
          return fmt::format("{} does not see {}, which its list shows", h.name(t), h.name(shown));
      }
      for (TxnId t2 : h.writers(h.key(e))) {
        if (vis.contains(t2.index, t.index) && ar.contains(t1.index, t2.index))
          return fmt::format("{} reads '{}' from {}, but sees the later {}", h.name(t),
                             h.name(h.key(e)), h.name(t1), h.name(t2));
      }
    }
  }
  const bool conflicts = logic == Logic::Ua || logic == Logic::Psi || logic == Logic::Si;
  for (KeyId x : h.keys()) {
    if (!conflicts) break;
    for (TxnId a : h.writers(x)) {
      for (TxnId b : h.writers(x)) {
        if (a != b && !vis.contains(a.index, b.index) && !vis.contains(b.index, a.index))
          return fmt::format("{} and {} both write '{}' unseen", h.name(a), h.name(b), h.name(x));
      }
    }
  }
  if ((logic == Logic::Cc || logic == Logic::Psi) && !vis.is_transitive())
    return "vis is not transitive";
  if ((logic == Logic::Pc || logic == Logic::Si) && !compose(ar, vis).is_subset_of(vis))
    return "vis is not closed under earlier commits";
  if (logic == Logic::Ser && !(vis == ar)) return "vis is not all of ar";
  return {};
}

}  // namespace isoscope
