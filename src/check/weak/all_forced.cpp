#include <algorithm>

#include "check/weak/causal.h"
#include "check/weak/cycles.h"
#include "check/weak/overlap.h"

namespace isoscope {

namespace {

constexpr std::uint64_t kMaxWork = std::uint64_t{1} << 26U;

using KeyWriter = std::pair<KeyId, TxnId>;

// The axioms of rc and ra, literally, for readers of the two levels.
class AllForced {
 public:
  AllForced(const WeakFacts& facts, const std::vector<bool>& chosen)
      : facts_(facts), h_(facts.h), chosen_(chosen) {
    for (TxnId t : h_.txns()) {
      if (!chosen[t.index]) continue;
      for (KeyId x : facts.writes.keys(t)) writers_.emplace_back(x, t);
    }
    std::sort(writers_.begin(), writers_.end());
  }

  // An upper bound of the pairs that all three levels look at.
  std::uint64_t work() {
    std::uint64_t pairs = 0;
    for (TxnId t3 : h_.txns()) {
      const WeakLevel level = facts_.levels.of(t3);
      if (!h_.is_present(t3) || level == WeakLevel::True || level == WeakLevel::Cc) continue;
      collect_external_reads(h_, t3, reads_);
      for (const auto& [x, t1] : reads_) {
        if (!chosen_[t1.index]) continue;
        pairs += level == WeakLevel::Ra ? writers(x).size() : reads_.size();
      }
    }
    if (!facts_.levels.uses(WeakLevel::Cc)) return pairs;
    for (std::size_t i = 0; i < writers_.size();) {
      const std::uint64_t of_key = writers(writers_[i].first).size();
      pairs += of_key * of_key;
      i += of_key;
    }
    return pairs;
  }

  void add_reader(TxnId t3, std::vector<Digraph::Arc>& arcs) {
    const bool is_atomic = facts_.levels.of(t3) == WeakLevel::Ra;
    collect_external_reads(h_, t3, reads_);
    for (std::size_t r = 0; r < reads_.size(); ++r) {
      const auto [x, t1] = reads_[r];
      if (!chosen_[t1.index]) continue;
      const auto force = [&, x = x, t1 = t1](TxnId t2) {
        if (t2 != t1 && chosen_[t2.index] && facts_.writes.writes(t2, x))
          arcs.push_back({t2.index, t1.index});
      };
      if (is_atomic) {  // of what it sees by wr, the decision took everything
        for (const auto& [key, t2] : writers(x)) {
          if (h_.so(t2, t3)) force(t2);
        }
      } else {
        for (std::size_t s = 0; s < r; ++s) force(reads_[s].t1);
      }
    }
    if (h_.has_lists() && !is_atomic) add_list_reader(t3, arcs);
  }

 private:
  // rc: what earlier lists show besides the writers that were read from.
  void add_list_reader(TxnId t3, std::vector<Digraph::Arc>& arcs) {
    for (EventId r : h_.events(t3)) {
      if (!h_.is_external_read(r) || !chosen_[h_.writer(r).index]) continue;
      for (EventId s : h_.events(t3)) {
        if (s >= r) break;
        for (TxnId t2 : h_.also_shown(s)) {
          if (t2 != h_.writer(r) && chosen_[t2.index] && facts_.writes.writes(t2, h_.key(r)))
            arcs.push_back({t2.index, h_.writer(r).index});
        }
      }
    }
  }

  std::span<const KeyWriter> writers(KeyId x) const {
    const auto first = std::lower_bound(writers_.begin(), writers_.end(), KeyWriter{x, {}});
    const auto last = std::upper_bound(first, writers_.end(), KeyWriter{x, TxnId::none()});
    return {first, last};
  }

  const WeakFacts& facts_;
  const History& h_;
  const std::vector<bool>& chosen_;
  std::vector<KeyWriter> writers_;  // chosen ones, sorted
  std::vector<ExternalRead> reads_;
};

}  // namespace

std::optional<std::vector<Digraph::Arc>> all_forced_among(const WeakFacts& facts,
                                                          const std::vector<bool>& chosen,
                                                          std::span<const TxnId> order,
                                                          Budget& budget) {
  AllForced all(facts, chosen);
  if (all.work() > kMaxWork) return {};
  std::vector<Digraph::Arc> arcs;
  for (TxnId t3 : facts.h.txns()) {
    if (facts.reads_at(t3, WeakLevel::Rc) || facts.reads_at(t3, WeakLevel::Ra))
      all.add_reader(t3, arcs);
  }
  if (facts.levels.uses(WeakLevel::Cc)) {
    ForcedEdges forced;
    if (!CausalPass(facts, order, &chosen, forced).run(budget)) return {};
    forced.for_each([&](TxnId t2, TxnId t1) { arcs.push_back({t2.index, t1.index}); });
  }
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  return arcs;
}

}  // namespace isoscope
