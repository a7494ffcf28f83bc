#include "verdict/exhaust.h"

#include <algorithm>
#include <vector>

#include "graph/relation.h"
#include "history/execution.h"

namespace isoscope {

namespace {

constexpr double kMostCombinations = 50'000;

class VersionOrders {
 public:
  VersionOrders(const History& h, Logic logic, Budget& budget)
      : h_(h),
        logic_(logic),
        budget_(budget),
        so_(so_relation(h)),
        wr_(wr_relation(h)),
        reads_(h.reads_from()) {
    for (KeyId x : h.keys()) {
      orders_.emplace_back(h.writers(x).begin(), h.writers(x).end());
      for (std::size_t i = 2; i <= orders_.back().size(); ++i)
        combinations_ *= static_cast<double>(i);
    }
  }

  double combinations() const { return combinations_; }

  // Tries all orders of the keys from the k-th on.
  bool some_works(std::size_t k = 0) {
    if (budget_.expired_now()) return false;
    if (k == orders_.size()) return works();
    std::vector<TxnId>& order = orders_[k];
    std::sort(order.begin(), order.end());
    do {
      const bool initial_first =
          !h_.has_initial(KeyId{static_cast<std::uint32_t>(k)}) || order[0] == kInitialTxn;
      if (initial_first && some_works(k + 1)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

 private:
  bool works() const {
    const std::size_t n = h_.num_txns();
    Relation ww(n);
    Relation rw(n);
    for (const auto& order : orders_) {
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = i + 1; j < order.size(); ++j)
          ww.insert(order[i].index, order[j].index);
      }
    }
    for (const VersionEdge& v : h_.version_edges()) {
      if (!ww.contains(v.before.index, v.after.index)) return false;
    }
    for (const auto& [x, t1, t3] : reads_) {
      const auto& order = orders_[x.index];
      for (auto it = std::find(order.begin(), order.end(), t1) + 1; it != order.end(); ++it) {
        if (*it != t3) rw.insert(t3.index, it->index);
      }
    }
    const Relation facts = so_ | wr_;
    const Relation dependencies = facts | ww;
    switch (logic_) {
      case Logic::Ser: return is_acyclic(dependencies | rw);
      case Logic::Si:  // no cycle without two rw in a row
        return is_acyclic(dependencies | compose(dependencies, rw));
      case Logic::Pc:  // an rw only after so or wr
        return is_acyclic(facts | ww | compose(facts, rw));
      case Logic::Psi: {
        const Relation closed = transitive_closure(dependencies);
        return closed.is_irreflexive() && compose(closed, rw).is_irreflexive();
      }
      case Logic::Ua:
      case Logic::True:  // not asked: these leave no order of versions open
      case Logic::Rc:
      case Logic::Ra:
      case Logic::Cc: break;
    }
    return is_acyclic(dependencies) && compose(dependencies, rw).is_irreflexive();
  }

  const History& h_;
  Logic logic_;
  Budget& budget_;
  Relation so_;
  Relation wr_;
  std::vector<ReadFrom> reads_;
  std::vector<std::vector<TxnId>> orders_;  // by key
  double combinations_ = 1;
};

}  // namespace

std::optional<bool> some_version_order_works(const History& h, Logic logic, Budget& budget) {
  VersionOrders all(h, logic, budget);
  if (all.combinations() > kMostCombinations) return {};
  const bool works = all.some_works();
  if (!works && budget.expired_now()) return {};
  return works;
}

}  // namespace isoscope
