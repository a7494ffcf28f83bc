#include "synth/encode.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "support/assert.h"

namespace isoscope::synthesis {

namespace {

// What every vis contains.
Signal seen_at_once(const Facts& facts, const Level& level, int a, int b) {
  Circuit& c = facts.circuit();
  return level.uses_session_order ? c.disj({facts.so()(a, b), facts.wr()(a, b)}) : facts.wr()(a, b);
}

// What every co contains.
Signal before_at_once(const Facts& facts, const Level& level, int a, int b) {
  return facts.circuit().disj({level.uses_session_order ? facts.so()(a, b) : kFalse,
                               level.is_wr_free ? kFalse : facts.wr()(a, b)});
}

// Some read shows t1 although t2, which its transaction sees, comes after t1.
void add_stale_reads(const Facts& facts, const Matrix& vis, const Matrix& ar,
                     std::vector<Signal>& wrong) {
  Circuit& c = facts.circuit();
  for (int t1 = 0; t1 < facts.txns(); ++t1) {
    for (int t2 = 0; t2 < facts.txns(); ++t2) {
      if (ar(t1, t2).is_false()) continue;
      for (int t3 = 1; t3 < facts.txns(); ++t3) {
        if (t3 == t1 || vis(t2, t3).is_false() || facts.wr()(t1, t3).is_false()) continue;
        wrong.push_back(c.conj({facts.overtakes(t1, t2, t3), vis(t2, t3), ar(t1, t2)}));
      }
    }
  }
}

// Some snapshot is none, or shows another writer than the one that is read.
void add_wrong_snapshots(const Facts& facts, const Matrix& snap, const Matrix& order,
                         std::vector<Signal>& wrong) {
  Circuit& c = facts.circuit();
  const int n = facts.txns();
  for (int slot = n; slot < facts.carrier(); ++slot) {
    const int own = facts.txn_of(slot);
    const Signal is_read = facts.is_read(slot, true);
    const Signal is_current = facts.is_current(slot);
    for (int a = 0; a < n; ++a) {
      wrong.push_back(c.conj({is_read, snap(a, slot), !order(a, own)}));
      wrong.push_back(c.conj({facts.wr()(a, slot), !is_current, !snap(a, slot)}));
      for (int b = 0; b < n; ++b)
        wrong.push_back(c.conj({is_read, snap(b, slot), order(a, b), !snap(a, slot)}));
      // The read shows a, and b, another writer of its key, comes after it.
      for (int b = 0; b < n; ++b) {
        if (a == b || b == own || facts.wr()(a, slot).is_false()) continue;
        const Signal overtaken = c.conj({facts.overtakes(a, b, slot), order(a, b)});
        wrong.push_back(c.conj({overtaken, !is_current, snap(b, slot)}));
        wrong.push_back(c.conj({overtaken, is_current, order(b, own)}));
      }
    }
    wrong.push_back(c.conj({is_read, !snap(0, slot)}));
    for (int other = n; other < slot; ++other) {
      if (facts.txn_of(other) != own) continue;
      for (int a = 0; a < n; ++a)
        wrong.push_back(
            c.conj({is_read, facts.is_read(other, true), facts.same_statement(slot, other),
                    !c.iff(snap(a, slot), snap(a, other))}));
    }
  }
}

// Fresh beginnings of the order for all slots.
Matrix unknown_snapshots(Circuit& c, const Facts& facts, const Matrix& order,
                         std::string_view label) {
  const int n = facts.txns();
  Matrix snap(facts.carrier());
  for (int slot = n; slot < facts.carrier(); ++slot) {
    const int own = facts.txn_of(slot);
    for (int a = 0; a < n; ++a) {
      if (a == own) continue;
      snap(a, slot) = a == 0 ? kTrue : c.input(false);
      if (a == 0) continue;
      const int first = n + (own - 1) * facts.frame().slots;
      c.name(snap(a, slot), [&] {
        return fmt::format("in {}: T{} in the snapshot of T{} operation {}", label, a, own,
                           slot - first + 1);
      });
    }
    for (int a = 0; a < n; ++a) {
      c.require(c.implies(snap(a, slot), order(a, own)));
      for (int b = 0; b < n; ++b) c.require_any({!snap(b, slot), !order(a, b), snap(a, slot)});
    }
  }
  return snap;
}

// The cells of vis in the order in which the distance between the two grows.
template <class F>
void for_each_by_distance(int n, const F& f) {
  for (int distance = 1; distance < n; ++distance) {
    for (int i = 0; i + distance < n; ++i) f(i, i + distance);
  }
}

// Makes the least vis along `sequence` the Grounder's. Returns what vis demands against the
// sequence, cell by cell, or nothing if some cell depends on one that is farther apart.
std::optional<Matrix> compute_least_vis(Grounder& g, const Facts& facts, const LevelShape& shape,
                                        const std::vector<int>& sequence, const Matrix& order) {
  Circuit& c = facts.circuit();
  const int n = facts.txns();
  g.set_witness(order, Matrix(facts.carrier()));
  g.begin_vis();
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      if (order(a, b).is_false()) g.define_vis(a, b, kFalse);
    }
  }
  std::vector<const HeadRule*> recursive;
  std::vector<Matrix> direct;
  for (const HeadRule& rule : shape.vis_rules) {
    if (mentions(*rule.join, RelationOp::Vis)) {
      recursive.push_back(&rule);
    } else {
      direct.push_back(g.pairs(rule));
    }
  }
  const auto demanded = [&](int a, int b) {
    std::vector<Signal> reasons = {seen_at_once(facts, *shape.level, a, b)};
    for (const Matrix& of_rule : direct) reasons.push_back(of_rule(a, b));
    for (const HeadRule* rule : recursive) reasons.push_back(g.pair(*rule, a, b));
    return c.disj(reasons);
  };
  for_each_by_distance(n, [&](int i, int j) {
    const int a = sequence[static_cast<std::size_t>(i)];
    const int b = sequence[static_cast<std::size_t>(j)];
    const Signal s = demanded(a, b);
    g.define_vis(a, b, s);
  });
  Matrix against(facts.carrier());
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      if (order(a, b).is_false()) against(a, b) = demanded(a, b);
    }
  }
  const Matrix vis = g.vis();
  g.end_vis();
  if (g.asked_too_early()) return std::nullopt;
  g.set_witness(order, vis);  // forgets relations that were made from half of it
  return against;
}

Signal failing_axioms(Grounder& g, const Facts& facts, const std::vector<const Axiom*>& axioms) {
  std::vector<Signal> wrong;
  for (const Axiom* axiom : axioms) wrong.push_back(!g.truth(*axiom));
  return facts.circuit().disj(wrong);
}

// Some transactions each have a successor among them.
Signal chosen_cycle(const Facts& facts, const Matrix& edges) {
  Circuit& c = facts.circuit();
  std::vector<Signal> on_cycle;
  for (int t = 0; t < facts.txns(); ++t) {
    on_cycle.push_back(c.input(false));
    c.name(on_cycle.back(), [&] { return fmt::format("T{} on the chosen cycle", t); });
  }
  std::vector<Signal> all = {c.disj(on_cycle)};
  for (int a = 0; a < facts.txns(); ++a) {
    std::vector<Signal> ways = {!on_cycle[static_cast<std::size_t>(a)]};
    for (int b = 0; b < facts.txns(); ++b)
      ways.push_back(c.conj({edges(a, b), on_cycle[static_cast<std::size_t>(b)]}));
    all.push_back(c.disj(ways));
  }
  return c.conj(all);
}

}  // namespace

std::vector<int> numbering(const Facts& facts) {
  std::vector<int> sequence(static_cast<std::size_t>(facts.txns()));
  std::iota(sequence.begin(), sequence.end(), 0);
  return sequence;
}

Matrix order_matrix(const Facts& facts, const std::vector<int>& sequence) {
  Matrix order(facts.carrier());
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    for (std::size_t j = i + 1; j < sequence.size(); ++j) order(sequence[i], sequence[j]) = kTrue;
  }
  return order;
}

SymbolicWitness unknown_witness(Circuit& c, const Facts& facts, Framework framework,
                                std::optional<Matrix> order, std::string_view label) {
  const int n = facts.txns();
  c.because([&] { return fmt::format("witness: {} is an order, with what belongs to it", label); });
  SymbolicWitness w;
  if (order) {
    w.order = *std::move(order);
  } else {
    w.order = Matrix(facts.carrier());
    for (int a = 0; a < n; ++a) {
      for (int b = a + 1; b < n; ++b) {
        w.order(a, b) = a == 0 ? kTrue : c.input(true);
        if (a != 0)
          c.name(w.order(a, b), [&] { return fmt::format("in {}: T{} before T{}", label, a, b); });
        w.order(b, a) = !w.order(a, b);
      }
    }
    for (int a = 1; a < n; ++a) {
      for (int b = a + 1; b < n; ++b) {
        for (int d = b + 1; d < n; ++d) {
          c.require_any({!w.order(a, b), !w.order(b, d), w.order(a, d)});
          c.require_any({w.order(a, b), w.order(b, d), !w.order(a, d)});
        }
      }
    }
  }
  if (framework == Framework::Co) return w;
  if (framework == Framework::CoSnap) {
    w.snap = unknown_snapshots(c, facts, w.order, label);
    return w;
  }
  w.vis = Matrix(facts.carrier());
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) {
      if (w.order(a, b).is_false()) continue;
      (*w.vis)(a, b) = c.input(false);
      c.name((*w.vis)(a, b), [&] { return fmt::format("in {}: T{} visible to T{}", label, a, b); });
      c.require(c.implies((*w.vis)(a, b), w.order(a, b)));
    }
  }
  return w;
}

SymbolicWitness constant_witness(const Facts& facts, const FoundWitness& found) {
  SymbolicWitness w{order_matrix(facts, found.order)};
  if (found.vis) {
    w.vis = Matrix(facts.carrier());
    for (int a = 0; a < facts.txns(); ++a) {
      found.vis->for_each_successor(static_cast<std::size_t>(a), [&](std::size_t b) {
        (*w.vis)(a, static_cast<int>(b)) = kTrue;
      });
    }
  }
  if (!found.snap.empty()) {
    w.snap = Matrix(facts.carrier());
    for (int slot = facts.txns(); slot < facts.carrier(); ++slot) {
      const int length = found.snap[static_cast<std::size_t>(slot - facts.txns())];
      for (int i = 0; i < length; ++i)
        (*w.snap)(found.order[static_cast<std::size_t>(i)], slot) = kTrue;
    }
  }
  return w;
}

Signal failure(Grounder& g, const Facts& facts, const Level& level, const SymbolicWitness& w) {
  Circuit& c = facts.circuit();
  std::vector<Signal> wrong;
  const Matrix& base = w.vis ? *w.vis : w.order;
  for (int a = 0; a < facts.txns(); ++a) {
    for (int b = 0; b < facts.txns(); ++b) {
      const Signal demanded = level.framework == Framework::VisAr
                                  ? seen_at_once(facts, level, a, b)
                                  : before_at_once(facts, level, a, b);
      wrong.push_back(c.conj({demanded, !base(a, b)}));
      if (w.vis) wrong.push_back(c.conj({(*w.vis)(a, b), !w.order(a, b)}));
    }
  }
  if (w.vis) add_stale_reads(facts, *w.vis, w.order, wrong);
  if (w.snap) add_wrong_snapshots(facts, *w.snap, w.order, wrong);
  g.set_witness(w.order, w.vis, w.snap);
  for (const Axiom& axiom : level.axioms) wrong.push_back(!g.truth(axiom));
  return c.disj(wrong);
}

std::optional<Signal> failure_at(Grounder& g, const Facts& facts, const LevelShape& shape,
                                 const std::vector<int>& sequence) {
  ISO_ASSERT(shape.has_least_vis);
  Circuit& c = facts.circuit();
  const Matrix order = order_matrix(facts, sequence);
  const auto against = compute_least_vis(g, facts, shape, sequence, order);
  if (!against) return std::nullopt;
  std::vector<Signal> wrong = {failing_axioms(g, facts, shape.others)};
  for (int a = 0; a < facts.txns(); ++a) {
    for (int b = 0; b < facts.txns(); ++b) wrong.push_back((*against)(a, b));
  }
  add_stale_reads(facts, g.vis(), order, wrong);
  return c.disj(wrong);
}

Signal iterate_vis(Grounder& g, const Facts& facts, const LevelShape& shape, SymbolicWitness& w) {
  Circuit& c = facts.circuit();
  const int n = facts.txns();
  Matrix vis(facts.carrier());
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) vis(a, b) = seen_at_once(facts, *shape.level, a, b);
  }
  std::vector<Signal> stable;
  // Each round doubles the length of the paths that vis, if it is transitive, has closed.
  int rounds = 3;
  for (int length = 1; length < n; length *= 2) ++rounds;
  for (; rounds > 0; --rounds) {
    g.set_witness(w.order, vis);
    std::vector<Matrix> concluded;
    for (const HeadRule& rule : shape.vis_rules) concluded.push_back(g.pairs(rule));
    stable.clear();
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < n; ++b) {
        std::vector<Signal> ways = {vis(a, b)};
        for (const Matrix& by_rule : concluded) ways.push_back(by_rule(a, b));
        const Signal next = c.disj(ways);
        stable.push_back(c.implies(next, vis(a, b)));
        vis(a, b) = next;
      }
    }
  }
  w.vis = std::move(vis);
  return c.conj(stable);
}

Signal iterate_snap(Grounder& g, const Facts& facts, const LevelShape& shape, SymbolicWitness& w) {
  ISO_ASSERT(shape.has_least_snap);
  Circuit& c = facts.circuit();
  const int n = facts.txns();
  Matrix snap(facts.carrier());
  for (int slot = n; slot < facts.carrier(); ++slot) {
    const Signal is_plain = !facts.is_current(slot);
    for (int a = 0; a < n; ++a)
      snap(a, slot) = a == 0 ? kTrue : c.conj({facts.wr()(a, slot), is_plain});
  }
  // What is in a snapshot moves from read to read of a transaction by one rule, and to what comes
  // before it in co in the same round; axioms of unusual shapes may need more rounds.
  constexpr int kRounds = 4;
  const int most = facts.carrier() * n;
  Signal stable = kFalse;
  for (int round = 0; round < most && !stable.is_true(); ++round) {
    if (round >= kRounds && !stable.is_constant()) break;
    g.set_witness(w.order, std::nullopt, snap);
    std::vector<Matrix> concluded;
    for (const HeadRule& rule : shape.snap_rules) concluded.push_back(g.pairs(rule));
    Matrix next(facts.carrier());
    std::vector<Signal> unchanged;
    for (int slot = n; slot < facts.carrier(); ++slot) {
      const int own = facts.txn_of(slot);
      std::vector<Signal> shown;  // directly
      for (int a = 0; a < n; ++a) {
        std::vector<Signal> ways = {snap(a, slot)};
        for (const Matrix& by_rule : concluded) ways.push_back(by_rule(a, slot));
        for (int other = n; other < facts.carrier(); ++other) {
          if (other != slot && facts.txn_of(other) == own)
            ways.push_back(c.conj(
                {facts.is_read(other, true), facts.same_statement(slot, other), snap(a, other)}));
        }
        shown.push_back(c.disj(ways));
      }
      for (int a = 0; a < n; ++a) {
        std::vector<Signal> ways = {shown[static_cast<std::size_t>(a)]};
        for (int b = 0; b < n; ++b)
          ways.push_back(c.conj({w.order(a, b), shown[static_cast<std::size_t>(b)]}));
        next(a, slot) = c.disj(ways);
        unchanged.push_back(c.implies(next(a, slot), snap(a, slot)));
      }
    }
    snap = std::move(next);
    stable = c.conj(unchanged);
  }
  w.snap = std::move(snap);
  return stable;
}

std::optional<bool> fails_with_all_orders(const Facts& facts, const LevelShape& shape) {
  constexpr int kMaxTxns = 7;  // with T0: 720 orders
  if (facts.txns() > kMaxTxns) return std::nullopt;
  Grounder g(facts);
  std::vector<int> sequence = numbering(facts);
  do {
    std::optional<Signal> failed;
    SymbolicWitness w{order_matrix(facts, sequence)};
    const bool is_whole =
        shape.level->framework == Framework::Co || (!shape.has_least_vis && shape.has_least_snap &&
                                                    iterate_snap(g, facts, shape, w).is_true());
    if (is_whole) {
      failed = failure(g, facts, *shape.level, w);
    } else if (shape.has_least_vis) {
      failed = failure_at(g, facts, shape, sequence);
    }
    if (!failed) return std::nullopt;
    ISO_ASSERT(failed->is_constant());
    if (failed->is_false()) return false;
  } while (std::next_permutation(sequence.begin() + 1, sequence.end()));
  return true;
}

std::optional<Signal> forced_failure(Grounder& g, const Facts& facts, const LevelShape& shape) {
  Circuit& c = facts.circuit();
  const int n = facts.txns();
  Matrix edges(facts.carrier());
  if (shape.level->framework == Framework::CoSnap) return std::nullopt;
  if (shape.level->framework == Framework::Co) {
    if (!shape.only_forces_order) return std::nullopt;
    g.set_witness(Matrix(facts.carrier()), std::nullopt);
    std::vector<Matrix> forced;
    for (const HeadRule& rule : shape.order_rules) forced.push_back(g.pairs(rule));
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < n; ++b) {
        std::vector<Signal> reasons = {before_at_once(facts, *shape.level, a, b)};
        for (const Matrix& by_rule : forced) reasons.push_back(by_rule(a, b));
        edges(a, b) = a == 0 && b != 0 ? kTrue : c.disj(reasons);
      }
    }
  } else {
    // The least vis does not depend on ar, so it can be made along any order that it keeps to; the
    // numbering is one if so and wr lead forward.
    if (!shape.has_least_vis || !shape.vis_ignores_order) return std::nullopt;
    const std::vector<int> sequence = numbering(facts);
    const auto against =
        compute_least_vis(g, facts, shape, sequence, order_matrix(facts, sequence));
    if (!against) return std::nullopt;
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < n; ++b) {
        if (!(*against)(a, b).is_false()) return std::nullopt;
        edges(a, b) = g.vis()(a, b);
        if (a == 0 && b != 0) edges(a, b) = kTrue;
      }
    }
    for (int t1 = 0; t1 < n; ++t1) {
      for (int t2 = 0; t2 < n; ++t2) {
        std::vector<Signal> reasons = {edges(t2, t1)};
        for (int t3 = 1; t3 < n && t1 != t2; ++t3)
          reasons.push_back(c.conj({facts.overtakes(t1, t2, t3), g.vis()(t2, t3)}));
        edges(t2, t1) = c.disj(reasons);
      }
    }
  }
  return c.disj({failing_axioms(g, facts, shape.others), chosen_cycle(facts, edges)});
}

}  // namespace isoscope::synthesis
