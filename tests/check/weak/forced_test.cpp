#include "check/weak/forced.h"

#include <gtest/gtest.h>

#include "check/weak/before.h"
#include "check/weak/causal.h"
#include "check/weak/cycles.h"
#include "check/weak/lane_writes.h"
#include "check/weak/lanes.h"
#include "check/weak/reference.h"
#include "support/random_history.h"
#include "support/rng.h"

namespace isoscope {
namespace {

Relation relation_of(const ForcedEdges& forced, std::size_t n) {
  Relation r(n);
  forced.for_each([&](TxnId t2, TxnId t1) { r.insert(t2.index, t1.index); });
  return r;
}

// Histories of all sizes; some with many reads or writes a transaction, some with many sessions.
SmallHistory random_case(Rng& rng) {
  RandomShape shape;
  shape.sessions = 1 + static_cast<int>(rng.below(6));
  shape.max_txns = 1 + static_cast<int>(rng.below(30));
  shape.keys = 1 + static_cast<int>(rng.below(10));
  shape.max_ops = 1 + static_cast<int>(rng.below(6));
  shape.stray = rng.uniform() * 0.5;
  if (rng.chance(0.2)) shape.sessions = 40;
  if (rng.chance(0.2)) {
    shape.max_ops = 150;
    shape.keys = 100;
    shape.max_txns = 8;
    shape.stray *= 0.1;
  }
  return random_small(rng, shape);
}

void for_each_case(int cases, void (*test)(Rng&, const History&)) {
  for (int i = 1; i <= cases && !testing::Test::HasFailure(); ++i) {
    Rng rng(static_cast<std::uint64_t>(i));
    const SmallHistory small = random_case(rng);
    SCOPED_TRACE(testing::Message() << "seed " << i << "\n" << to_hist(small));
    test(rng, build(small));
  }
}

// Deciding needs few edges, but what follows from them is what follows from all.
void expect_same_closure(const Reference& reference, const Relation& forced) {
  const Relation facts = reference.so | reference.wr;
  const Relation closed = transitive_closure(facts | forced);
  EXPECT_TRUE(forced.is_subset_of(reference.forced));
  EXPECT_TRUE(closed == transitive_closure(facts | reference.forced));
}

TEST(ForceReadCommitted, HasTheClosureOfTheAxiom) {
  for_each_case(2000, [](Rng&, const History& h) {
    const WeakAssignment levels{.base = WeakLevel::Rc};
    ForcedEdges forced;
    Budget budget;
    ASSERT_TRUE(force_read_committed(WeakFacts(h, levels), forced, budget));
    expect_same_closure(Reference(h, levels), relation_of(forced, h.num_txns()));
  });
}

TEST(ForceReadAtomic, HasTheClosureOfTheAxiomUnlessItIsViolated) {
  for_each_case(2000, [](Rng&, const History& h) {
    const WeakAssignment levels{.base = WeakLevel::Ra};
    ForcedEdges forced;
    Budget budget;
    ASSERT_TRUE(force_read_atomic(WeakFacts(h, levels), forced, budget));
    const Reference reference(h, levels);
    const Relation found = relation_of(forced, h.num_txns());
    if (reference.is_consistent()) {
      expect_same_closure(reference, found);
    } else {
      EXPECT_FALSE(is_acyclic(reference.so | reference.wr | found));
    }
  });
}

TEST(ForceCausal, HasTheClosureOfTheAxiomInBlocksOfAnyWidth) {
  for_each_case(2000, [](Rng& rng, const History& h) {
    const WeakAssignment levels{.base = WeakLevel::Cc};
    const WeakFacts facts(h, levels);
    const Before so_wr(h.num_txns(), [&](auto&& add) { add_facts(facts, add); });
    if (!so_wr.is_acyclic()) return;
    const auto order = so_wr.order();
    ForcedEdges forced;
    Budget budget;
    CausalPass pass(facts, order, nullptr, forced);
    ASSERT_TRUE(pass.run(1 + static_cast<std::uint32_t>(rng.below(12)), budget));
    expect_same_closure(Reference(h, levels), relation_of(forced, h.num_txns()));
  });
}

TEST(AllForcedAmong, CompletesWhatDecidingFound) {
  for_each_case(2000, [](Rng& rng, const History& h) {
    WeakAssignment levels;
    for (std::size_t t = 0; t < h.num_txns(); ++t)
      levels.own.push_back(static_cast<WeakLevel>(rng.below(4)));
    const WeakFacts facts(h, levels);
    const Before so_wr(h.num_txns(), [&](auto&& add) { add_facts(facts, add); });
    if (!so_wr.is_acyclic()) return;
    std::vector<bool> chosen(h.num_txns());
    for (TxnId t : h.txns()) chosen[t.index] = t != kInitialTxn && rng.chance(0.7);
    Budget budget;
    ForcedEdges atomic;
    ASSERT_TRUE(force_read_atomic(facts, atomic, budget));
    Relation found = relation_of(atomic, h.num_txns());
    const auto others = all_forced_among(facts, chosen, so_wr.order(), budget);
    ASSERT_TRUE(others.has_value());
    for (const auto& [t2, t1] : *others) {
      EXPECT_TRUE(chosen[t2] && chosen[t1]);
      found.insert(t2, t1);
    }
    const Relation all = Reference(h, levels).forced;
    EXPECT_TRUE(found.is_subset_of(all));
    for (TxnId t2 : h.txns()) {
      for (TxnId t1 : h.txns()) {
        if (chosen[t2.index] && chosen[t1.index]) {
          EXPECT_EQ(found.contains(t2.index, t1.index), all.contains(t2.index, t1.index));
        }
      }
    }
  });
}

TEST(Lanes, AreChainsOfCausalityThatHoldEveryWriter) {
  for_each_case(1000, [](Rng&, const History& h) {
    const WeakAssignment levels{.base = WeakLevel::Cc};
    const WeakFacts facts(h, levels);
    const Before so_wr(h.num_txns(), [&](auto&& add) { add_facts(facts, add); });
    if (!so_wr.is_acyclic()) return;
    const Lanes lanes(facts, so_wr.order());
    EXPECT_LE(lanes.count(), h.num_sessions());
    const Relation causal = transitive_closure(so_relation(h) | wr_relation(h));
    std::size_t members = 0;
    for (std::uint32_t lane = 0; lane < lanes.count(); ++lane) {
      const auto txns = lanes.txns(lane);
      members += txns.size();
      for (std::size_t i = 0; i < txns.size(); ++i) {
        EXPECT_EQ(lanes.lane(txns[i]), lane);
        EXPECT_EQ(lanes.position(txns[i]), i);
        EXPECT_TRUE(i == 0 || causal.contains(txns[i - 1].index, txns[i].index));
      }
    }
    for (TxnId t : h.txns()) {
      if (lanes.lane(t) != Lanes::kNone) --members;
      EXPECT_TRUE(facts.writes.keys(t).empty() || lanes.lane(t) != Lanes::kNone);
    }
    EXPECT_EQ(members, 0U);
  });
}

TEST(Lanes, GoOnWhereASessionReadsFromTheEndOfAnother) {
  HistoryBuilder b(InitialValues::Zero);
  const KeyId x = b.key("x");
  for (std::int64_t i = 0; i < 50; ++i) {
    const TxnId t = b.begin(b.session(i), TxnStatus::Committed, {});
    b.read(t, x, Value::of(i), {});
    b.write(t, x, Value::of(i + 1), {});
  }
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  const WeakAssignment levels{.base = WeakLevel::Cc};
  const WeakFacts facts(*h, levels);
  const Before so_wr(h->num_txns(), [&](auto&& add) { add_facts(facts, add); });
  EXPECT_EQ(Lanes(facts, so_wr.order()).count(), 1U);
}

// One session; asked near where it was asked before, and far from it.
TEST(LaneWrites, FindsTheLastWriterBetweenTwoPositions) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    HistoryBuilder b(InitialValues::Zero);
    const std::size_t length = 1 + rng.below(300);
    const double density = rng.uniform();
    std::vector<bool> writes(length);
    for (std::size_t i = 0; i < length; ++i) {
      const TxnId t = b.begin(b.session(1), TxnStatus::Committed, {});
      writes[i] = i == 0 || rng.chance(density);
      b.write(t, b.key(writes[i] ? 1 : 2), Value::of(static_cast<std::int64_t>(i) + 1), {});
    }
    const auto h = std::move(b).build();
    ASSERT_TRUE(h.ok());
    const WeakAssignment levels{.base = WeakLevel::Cc};
    const WeakFacts facts(*h, levels);
    std::vector<TxnId> order(h->txns().begin(), h->txns().end());
    const Lanes lanes(facts, order);
    ASSERT_EQ(lanes.count(), 1U);
    LaneWrites table(facts, lanes, 0, 1);
    ASSERT_EQ(table.groups(KeyId{0}).size(), 1U);
    auto place = static_cast<ClockEntry>(rng.below(length + 1));
    for (int query = 0; query < 100; ++query) {
      const auto n = static_cast<ClockEntry>(length);
      const auto step = static_cast<ClockEntry>(rng.below(rng.chance(0.8) ? 8 : length)) - 3;
      place = (place + step % (n + 1) + n + 1) % (n + 1);
      const auto from = static_cast<ClockEntry>(rng.below(length + 1));
      ClockEntry expected = place - 1;
      while (expected >= from && !writes[static_cast<std::size_t>(expected)]) --expected;
      if (expected < from) expected = -1;
      ASSERT_EQ(table.last_between(table.groups(KeyId{0}).front(), from, place), expected);
    }
  }
}

}  // namespace
}  // namespace isoscope
