#pragma once
// pc, psi, ua, si and ser by trying every order of every key's versions: the reference for the
// checker that is quick. Works on bit matrices and unsplit transactions, and shares no code with
// it. Witnesses and cycles are judged by definition, too.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "check/strong/strong.h"
#include "graph/relation.h"
#include "history/execution.h"
#include "history/history.h"
#include "verdict/confirm.h"
#include "verdict/verdict.h"

namespace isoscope {

inline constexpr std::array kStrongLevels = {StrongLevel::Pc, StrongLevel::Psi, StrongLevel::Ua,
                                             StrongLevel::Si, StrongLevel::Ser};

inline std::string_view name_of(StrongLevel level) {
  constexpr std::array<std::string_view, 5> kNames = {"pc", "psi", "ua", "si", "ser"};
  return kNames[static_cast<std::size_t>(level)];
}

inline Logic logic_of(StrongLevel level) {
  constexpr std::array kLogics = {Logic::Pc, Logic::Psi, Logic::Ua, Logic::Si, Logic::Ser};
  return kLogics[static_cast<std::size_t>(level)];
}

// One choice of version orders against the definitions, in terms of transactions only:
//   si    (so | wr | ww) ; rw? has no cycle
//   pc    ((so | wr) ; rw?) | ww has no cycle
inline bool admits(StrongLevel level, const Relation& so_wr, const Relation& ww,
                   const Relation& rw) {
  const Relation all = so_wr | ww;
  switch (level) {
    case StrongLevel::Ser: return is_acyclic(all | rw);
    case StrongLevel::Si: return is_acyclic(all | compose(all, rw));
    case StrongLevel::Pc: return is_acyclic(so_wr | compose(so_wr, rw) | ww);
    case StrongLevel::Psi: {
      const Relation closed = transitive_closure(all);
      return closed.is_irreflexive() && compose(closed, rw).is_irreflexive();
    }
    case StrongLevel::Ua: return is_acyclic(all) && compose(all, rw).is_irreflexive();
  }
  return false;
}

// Tries all version orders. Nothing if there are more than `limit` of them.
class AllVersionOrders {
 public:
  explicit AllVersionOrders(const History& h, std::size_t limit = 20'000)
      : h_(h), so_wr_(so_relation(h) | wr_relation(h)), reads_(h.reads_from()) {
    std::size_t count = 1;
    for (const KeyId x : h.keys()) {
      std::vector<TxnId> writers(h.writers(x).begin(), h.writers(x).end());
      std::erase(writers, kInitialTxn);
      for (std::size_t i = 2; i <= writers.size() && count <= limit; ++i) count *= i;
      orders_.push_back(std::move(writers));  // ascending: the first permutation
    }
    is_feasible_ = count <= limit;
  }

  bool is_feasible() const { return is_feasible_; }
  bool is_consistent(StrongLevel level) { return try_from(level, 0); }

 private:
  bool try_from(StrongLevel level, std::size_t key) {
    if (key == orders_.size()) return is_admitted(level);
    std::vector<TxnId>& order = orders_[key];
    std::sort(order.begin(), order.end());
    do {
      if (try_from(level, key + 1)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

  bool is_admitted(StrongLevel level) const {
    Relation ww(h_.num_txns());
    Relation rw(h_.num_txns());
    for (const KeyId x : h_.keys()) {
      std::vector<TxnId> order = orders_[x.index];
      order.insert(order.begin(), kInitialTxn);  // so that what was read from it is overwritten
      for (std::size_t i = 0; i < order.size(); ++i) {
        for (std::size_t j = i + 1; j < order.size(); ++j) {
          ww.insert(order[i].index, order[j].index);
          for (const ReadFrom& r : reads_) {
            if (r.x == x && r.t1 == order[i] && r.t3 != order[j])
              rw.insert(r.t3.index, order[j].index);
          }
        }
      }
      for (const VersionEdge& e : h_.version_edges()) {
        if (e.key != x) continue;
        const auto before = std::find(order.begin(), order.end(), e.before);
        const auto after = std::find(order.begin(), order.end(), e.after);
        if (before != order.end() && after != order.end() && after < before) return false;
      }
    }
    return admits(level, so_wr_, ww, rw);
  }

  const History& h_;
  Relation so_wr_;
  std::vector<ReadFrom> reads_;
  std::vector<std::vector<TxnId>> orders_;  // by key
  bool is_feasible_ = false;
};

// What is wrong with a witness, or nothing. By the texts of the levels: over co each read is
// compared with every other writer; over vis, ar each read with all that it sees.
inline std::optional<std::string> complain_about(const History& h, StrongLevel level,
                                                 const Witness& w) {
  const std::size_t n = h.num_txns();
  std::vector<std::size_t> at(n, n);
  for (std::size_t i = 0; i < w.order.size(); ++i) at[w.order[i].index] = i;
  std::size_t present = 0;
  for (const TxnId t : h.txns()) present += h.is_present(t) ? 1 : 0;
  if (w.order.size() != present || w.order.front() != kInitialTxn) return "not an order of all";
  for (const TxnId t : w.order) {
    if (!h.is_present(t) || at[t.index] == n) return "orders an absent transaction";
  }
  const Relation order = order_relation(w.order, n);
  const Relation so_wr = so_relation(h) | wr_relation(h);
  if (!so_wr.is_subset_of(order)) return "does not contain so and wr";
  for (const VersionEdge& e : h.version_edges()) {
    if (at[e.before.index] < n && at[e.after.index] < n && at[e.after.index] < at[e.before.index])
      return "contradicts a list";
  }
  const bool over_co = w.framework == Framework::Co;
  Relation sees = order;  // what t3 sees of other writers
  if (over_co && level != StrongLevel::Ser) {
    Relation last = so_wr;
    if (level == StrongLevel::Si) {
      for (const KeyId x : h.keys()) {
        for (const TxnId a : h.writers(x)) {
          for (const TxnId b : h.writers(x)) {
            if (at[a.index] < at[b.index]) last.insert(a.index, b.index);
          }
        }
      }
    }
    sees = last | compose(order, last);
  }
  if (!over_co) {
    if (!w.vis) return "has no vis";
    sees = *w.vis;
    if (!sees.is_subset_of(order)) return "vis is not in ar";
    if (!so_relation(h).is_subset_of(sees)) return "so is not in vis";
    if (level != StrongLevel::Ua && !sees.is_transitive()) return "vis is not transitive";
    if (level == StrongLevel::Ser && sees != order) return "vis is not ar";
    if ((level == StrongLevel::Pc || level == StrongLevel::Si) &&
        !compose(order, sees).is_subset_of(sees))
      return "vis is no prefix";
    if (level != StrongLevel::Pc) {
      for (const KeyId x : h.keys()) {
        for (const TxnId a : h.writers(x)) {
          for (const TxnId b : h.writers(x)) {
            if (a != b && !sees.contains(a.index, b.index) && !sees.contains(b.index, a.index))
              return "two writers do not see each other";
          }
        }
      }
    }
  }
  for (const auto& [x, t1, t3] : h.reads_from()) {
    if (!sees.contains(t1.index, t3.index)) return "a read does not see its writer";
    for (const TxnId t2 : h.writers(x)) {
      if (t2 != t1 && sees.contains(t2.index, t3.index) && at[t2.index] > at[t1.index])
        return "a read sees a later writer";
    }
  }
  return {};
}

// What is wrong with the reason of a verdict, or nothing: witnesses by the definitions above,
// cycles by verdict/confirm.h, cores by leaving them to the caller.
inline std::optional<std::string> complain_about(const History& h, StrongLevel level,
                                                 const Verdict& v) {
  if (v.outcome == Outcome::Consistent) {
    if (!v.witness) return "no witness";
    if (auto wrong = complain_about(h, level, *v.witness)) return wrong;
    if (v.witness->framework == Framework::VisAr) return {};
    return complain_about(h, level, as_vis_witness(h, level, *v.witness));
  }
  if (v.outcome == Outcome::Violated) {
    if (!v.violation) return "no violation";
    if (v.violation->cycle.empty()) {
      if (v.violation->core.empty()) return "neither cycle nor core";
      return {};
    }
    return check_cycle(h, logic_of(level), v.violation->cycle);
  }
  return "unknown";
}

}  // namespace isoscope
