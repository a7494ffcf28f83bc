#pragma once
// rc, ra and cc straight from their definitions, by closing relations: the reference for the
// checker that is quick. Shares no code with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "check/weak/weak.h"
#include "graph/relation.h"
#include "history/execution.h"
#include "history/history.h"
#include "verdict/verdict.h"

namespace isoscope {

// Does t3 see t2 when it does this read?
inline bool sees(const History& h, WeakLevel level, const Relation& causal, TxnId t2, TxnId t3,
                 EventId read) {
  switch (level) {
    case WeakLevel::True: return false;
    case WeakLevel::Rc:
      for (EventId s : h.events(t3)) {
        if (s < read && h.is_external_read(s) && h.shows(s, t2)) return true;
      }
      return false;
    case WeakLevel::Ra:
      if (h.so(t2, t3)) return true;
      for (EventId s : h.events(t3)) {
        if (h.is_external_read(s) && h.shows(s, t2)) return true;
      }
      return false;
    case WeakLevel::Cc: return causal.contains(t2.index, t3.index);
  }
  return false;
}

struct Reference {
  Reference(const History& h, const WeakAssignment& levels)
      : so(so_relation(h)), wr(wr_relation(h)), version(h.num_txns()), forced(h.num_txns()) {
    causal = transitive_closure(so | wr);
    for (const VersionEdge& edge : h.version_edges())
      version.insert(edge.before.index, edge.after.index);
    for (TxnId t3 : h.txns()) {
      if (!h.is_present(t3)) continue;
      for (EventId r : h.events(t3)) {
        if (!h.is_external_read(r)) continue;
        for (TxnId t2 : h.writers(h.key(r))) {
          if (t2 != h.writer(r) && sees(h, levels.of(t3), causal, t2, t3, r))
            forced.insert(t2.index, h.writer(r).index);
        }
      }
    }
  }

  Relation all() const { return so | wr | version | forced; }
  bool is_consistent() const { return is_acyclic(all()); }

  Relation so;
  Relation wr;
  Relation causal;
  Relation version;
  Relation forced;
};

// Steps of a shortest cycle; 0 if there is none.
inline std::size_t shortest_cycle_length(const Relation& r) {
  Relation power = r;
  for (std::size_t steps = 1; steps <= r.size(); ++steps) {
    if (!power.is_irreflexive()) return steps;
    power = compose(power, r);
  }
  return 0;
}

inline void expect_witness(const History& h, const Reference& reference, const Witness& witness) {
  ASSERT_EQ(witness.framework, Framework::Co);
  std::vector<TxnId> present;
  for (TxnId t : h.txns()) {
    if (h.is_present(t)) present.push_back(t);
  }
  std::vector<TxnId> sorted = witness.order;
  std::sort(sorted.begin(), sorted.end());
  ASSERT_EQ(sorted, present);
  ASSERT_EQ(witness.order.front(), kInitialTxn);
  EXPECT_TRUE(reference.all().is_subset_of(order_relation(witness.order, h.num_txns())));
}

// In how many steps of so and wr does a reader see t2 that reads from t1 what t2 writes too? The
// fewest, over all readers whose level forces t2 before t1.
inline std::size_t steps_of_shortest_reason(const History& h, const WeakAssignment& levels,
                                            const Reference& reference, TxnId t2, TxnId t1) {
  std::vector<std::size_t> distance(h.num_txns(), 0);  // from t2; 0 if there is no way
  const Relation facts = reference.so | reference.wr;
  Relation power = facts;
  for (std::size_t steps = 1; steps <= h.num_txns(); ++steps) {
    power.for_each_successor(t2.index, [&](std::size_t t) {
      if (distance[t] == 0) distance[t] = steps;
    });
    power = compose(power, facts);
  }
  std::size_t fewest = 0;
  for (EventId r : h.all_events()) {
    if (!h.is_external_read(r) || h.writer(r) != t1 || !h.writes(t2, h.key(r))) continue;
    const TxnId t3 = h.txn(r);
    if (!sees(h, levels.of(t3), reference.causal, t2, t3, r)) continue;
    if (fewest == 0 || distance[t3.index] < fewest) fewest = distance[t3.index];
  }
  return fewest;
}

inline void expect_fact(const History& h, const Edge& edge) {
  EXPECT_TRUE(edge.path.empty());
  if (edge.kind == EdgeKind::So) {
    EXPECT_TRUE(h.so(edge.from, edge.to));
    return;
  }
  ASSERT_EQ(edge.kind, EdgeKind::Wr);
  ASSERT_FALSE(edge.read.is_none());
  EXPECT_TRUE(h.is_external_read(edge.read));
  EXPECT_EQ(h.txn(edge.read), edge.to);
  // Of a list, every writer of an element that it shows is read from, not only the last.
  EXPECT_TRUE(h.shows(edge.read, edge.from));
  EXPECT_EQ(h.key(edge.read), edge.key);
}

inline void expect_connected(const std::vector<Edge>& edges, TxnId from, TxnId to) {
  ASSERT_FALSE(edges.empty());
  EXPECT_EQ(edges.front().from, from);
  EXPECT_EQ(edges.back().to, to);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    EXPECT_EQ(edges[i].to, edges[i + 1].from);
    EXPECT_FALSE(edges[i].kind == EdgeKind::So && edges[i + 1].kind == EdgeKind::So);
  }
}

// Does the edge say what verdict/verdict.h wants said, and is it true?
inline void expect_edge(const History& h, const WeakAssignment& levels, const Reference& reference,
                        const Edge& edge) {
  SCOPED_TRACE(h.name(edge.from) + " " + std::string(name_of(edge.kind)) + " " + h.name(edge.to));
  EXPECT_TRUE(h.is_present(edge.from));
  EXPECT_TRUE(h.is_present(edge.to));
  if (edge.kind == EdgeKind::So || edge.kind == EdgeKind::Wr) return expect_fact(h, edge);
  if (edge.kind == EdgeKind::Ww) {
    EXPECT_TRUE(edge.path.empty());
    EXPECT_TRUE(edge.read.is_none());
    const auto known = h.version_edges();
    EXPECT_NE(std::find(known.begin(), known.end(), VersionEdge{edge.from, edge.to, edge.key}),
              known.end());
    return;
  }
  ASSERT_EQ(edge.kind, EdgeKind::Co);
  ASSERT_FALSE(edge.read.is_none());
  const TxnId t3 = h.txn(edge.read);
  EXPECT_TRUE(h.is_external_read(edge.read));
  EXPECT_EQ(h.key(edge.read), edge.key);
  EXPECT_EQ(h.writer(edge.read), edge.to);
  EXPECT_TRUE(h.writes(edge.from, edge.key));
  EXPECT_NE(edge.from, edge.to);
  expect_connected(edge.path, edge.from, t3);
  for (const Edge& step : edge.path) expect_fact(h, step);
  const WeakLevel level = levels.of(t3);
  EXPECT_NE(level, WeakLevel::True);
  EXPECT_EQ(edge.path.size(), steps_of_shortest_reason(h, levels, reference, edge.from, edge.to));
  if (level == WeakLevel::Rc) {
    EXPECT_EQ(edge.path.front().kind, EdgeKind::Wr);
    EXPECT_LT(edge.path.front().read, edge.read);
  }
}

inline void expect_violation(const History& h, const WeakAssignment& levels,
                             const Reference& reference, const Violation& violation) {
  EXPECT_EQ(violation.anomaly, Anomaly::None);
  EXPECT_TRUE(violation.axiom.empty());
  EXPECT_FALSE(violation.fault.has_value());
  EXPECT_TRUE(violation.core.empty());
  ASSERT_FALSE(violation.cycle.empty());
  expect_connected(violation.cycle, violation.cycle.front().from, violation.cycle.front().from);
  for (const Edge& edge : violation.cycle) expect_edge(h, levels, reference, edge);
  const Relation facts = reference.so | reference.wr;
  EXPECT_EQ(violation.cycle.size(),
            shortest_cycle_length(is_acyclic(facts) ? reference.all() : facts));
}

// The checker's answer, its witness or its cycle agree with the definitions.
inline void expect_agreement(const History& h, const WeakAssignment& levels) {
  Budget budget;
  const Verdict verdict = check_weak(h, levels, budget);
  const Reference reference(h, levels);
  ASSERT_EQ(name_of(verdict.outcome),
            name_of(reference.is_consistent() ? Outcome::Consistent : Outcome::Violated));
  if (verdict.outcome == Outcome::Consistent) {
    ASSERT_TRUE(verdict.witness.has_value());
    expect_witness(h, reference, *verdict.witness);
  } else {
    ASSERT_TRUE(verdict.violation.has_value());
    expect_violation(h, levels, reference, *verdict.violation);
    EXPECT_EQ(verdict.stats.get("shortest"), 1.0);
  }
}

}  // namespace isoscope
