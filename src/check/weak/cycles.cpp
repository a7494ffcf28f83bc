#include "check/weak/cycles.h"

#include "support/assert.h"

namespace isoscope {

namespace {

constexpr std::size_t kMaxPairs = 32;

// The part of a graph over transactions that has the cycles: renumbered, without what leads from
// one component to another, and with sessions as chains.
class CyclicPart {
 public:
  CyclicPart(const History& h, const Before& before) : h_(h), component_(before.components().of) {
    std::vector<std::uint32_t> size(before.components().count, 0);
    for (std::uint32_t component : component_) ++size[component];
    number_.assign(h.num_txns(), Digraph::kNone);
    for (TxnId t : h.txns()) {
      if (size[component_[t.index]] == 1) continue;
      number_[t.index] = static_cast<std::uint32_t>(members_.size());
      members_.push_back(t);
      chains_.push_back(h.session(t).index);  // none() is no chain
    }
    for (TxnId u : members_) {
      for (std::uint32_t t : before.graph().successors(u.index)) add(TxnId{t}, u);
    }
    if (is_member(kInitialTxn)) add_session_order_of_initial();
  }

  // Notes that t comes before u. Session order is known.
  void add(TxnId t, TxnId u) {
    if (number_[t.index] == Digraph::kNone || component_[t.index] != component_[u.index]) return;
    if (!h_.so(t, u)) arcs_.push_back({number_[t.index], number_[u.index]});
  }

  std::vector<bool> choice() const {
    std::vector<bool> chosen(number_.size(), false);
    for (TxnId t : members_) chosen[t.index] = true;
    return chosen;
  }

  ChosenCycles shortest(Budget& budget, std::uint64_t limit = kCycleSearchLimit) const {
    const Digraph g(members_.size(), arcs_);
    ChosenCycles chosen;
    for (const auto& [v, w] : cycles_of_two(g, chains_, kMaxPairs))
      chosen.cycles.push_back({members_[v], members_[w]});
    if (!chosen.cycles.empty()) return chosen;
    const auto cycle = shortest_cycle(g, chains_, limit, &budget);
    ISO_ASSERT(cycle.has_value());
    chosen.are_shortest = cycle->is_shortest;
    chosen.cycles.emplace_back();
    for (std::uint32_t number : cycle->nodes) chosen.cycles[0].push_back(members_[number]);
    return chosen;
  }

 private:
  bool is_member(TxnId t) const { return number_[t.index] != Digraph::kNone; }

  void add_session_order_of_initial() {
    for (TxnId t : members_) {
      if (t != kInitialTxn && component_[t.index] == component_[kInitialTxn.index])
        arcs_.push_back({number_[kInitialTxn.index], number_[t.index]});
    }
  }

  const History& h_;
  const std::vector<std::uint32_t>& component_;
  std::vector<std::uint32_t> number_;  // by transaction; kNone if it is on no cycle
  std::vector<TxnId> members_;
  std::vector<std::uint32_t> chains_;  // by member
  std::vector<Digraph::Arc> arcs_;
};

}  // namespace

ChosenCycles choose_cycles(const WeakFacts& facts, const Before& before, Budget& budget) {
  const History& h = facts.h;
  const Before so_wr(h.num_txns(), [&](auto&& add) { add_facts(facts, add); });
  if (!so_wr.is_acyclic()) return CyclicPart(h, so_wr).shortest(budget);

  CyclicPart part(h, before);
  ChosenCycles first = part.shortest(budget, 0);
  if (first.cycles[0].size() == 2) return first;
  const auto forced = all_forced_among(facts, part.choice(), so_wr.order(), budget);
  if (!forced) {
    if (!budget.expired_now()) first = part.shortest(budget);
    first.are_shortest = false;  // an edge that the axioms force may be missing
    return first;
  }
  for (const auto& [t2, t1] : *forced) part.add(TxnId{t2}, TxnId{t1});
  return part.shortest(budget);
}

}  // namespace isoscope
