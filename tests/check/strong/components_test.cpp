// The parts of the pipeline by themselves: clocks, guesses, the residue, paths, known steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "check/strong/clocks.h"
#include "check/strong/paths.h"
#include "check/strong/reference.h"
#include "check/strong/residue.h"
#include "check/strong/saturation.h"
#include "graph/relation.h"
#include "support/history_of.h"
#include "support/random_history.h"

namespace isoscope::strong {
namespace {

using ::testing::ElementsAre;

// Null if saturation finds a cycle.
std::unique_ptr<Knowledge> saturated(const Facts& facts, StrongLevel level) {
  Budget budget;
  auto known = std::make_unique<Knowledge>(facts, level);
  add_version_facts(*known);
  if (saturate(*known, budget) != Saturated::Fixpoint) return {};
  return known;
}

SmallHistory medium(Rng& rng) {
  return random_small(rng, {.sessions = 8, .max_txns = 40, .keys = 6, .max_ops = 4, .stray = 0.02});
}

class Components : public testing::TestWithParam<StrongLevel> {};

// Whoever reaches whom by listed arcs, with one rw edge or without, is what the clocks say.
TEST_P(Components, ClocksTellWhatPathsExist) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const History h = build(medium(rng));
    const Facts facts(h, true);
    const auto known = saturated(facts, GetParam());
    if (!known) continue;
    const KnownGraph& graph = known->graph;
    const Points& points = graph.points();
    Relation steps(graph.num_points());
    graph.for_each_arc([&](PointId p, PointId q) { steps.insert(p.index, q.index); });
    const Relation paths = transitive_closure(steps);
    Relation rw(graph.num_points());
    for (const KnownEdge& e : graph.edges()) {
      if (e.kind == EdgeKind::Rw) rw.insert(points.start(e.from).index, points.commit(e.to).index);
    }
    const Relation first = rw | compose(paths, rw);
    const bool is_psi = GetParam() == StrongLevel::Psi;
    const Relation with_rw = is_psi ? paths | first | compose(first, paths) : paths;
    Budget budget;
    for (const std::size_t numbers : {std::size_t{1}, kMaxClockNumbers}) {
      for (const ChainBlock& block : chain_blocks(graph, numbers)) {
        const Clocks clocks(graph, block, budget);
        const Clocks without(graph, block, budget, RwPaths::None);
        for (const PointId p : graph.order()) {
          if (!block.contains(facts.chain(points.txn(p)))) continue;
          for (const PointId q : graph.order()) {
            ASSERT_EQ(clocks.reaches(p, q), paths.contains(p.index, q.index));
            ASSERT_EQ(without.reaches(p, q), paths.contains(p.index, q.index));
            ASSERT_EQ(clocks.reaches_with_rw(p, q), with_rw.contains(p.index, q.index));
          }
        }
      }
    }
  }
}

TEST_P(Components, GuessesFollowTheKnownGraph) {
  int completed = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const History h = build(medium(rng));
    const Facts facts(h, true);
    const auto known = saturated(facts, GetParam());
    if (!known) continue;
    const Guess guess = make_guess(*known);
    for (const KnownEdge& e : known->graph.edges()) {
      if (e.kind != EdgeKind::Rw) {
        ASSERT_LT(guess.committed[e.from.index], guess.committed[e.to.index]);
      }
    }
    Budget budget;
    const auto graph = complete_by(*known, guess, budget);
    if (!graph) continue;
    ++completed;
    EXPECT_EQ(graph->order().size(), known->graph.order().size());
  }
  // The rest is left to the search; ua is never completed by a guess alone.
  if (GetParam() == StrongLevel::Ua) {
    EXPECT_EQ(completed, 0);
  } else {
    EXPECT_GT(completed, 20);
  }
}

// Both answers of every open pair are choices, and no others.
TEST_P(Components, TheResidueHoldsTheOpenPairs) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const History h = build(medium(rng));
    const Facts facts(h, true);
    const auto known = saturated(facts, GetParam());
    if (!known) continue;
    const Residue residue(*known, true);
    std::vector<Choice> expected;
    for (const KeyId x : h.keys()) {
      for (const VersionId a : facts.versions(x)) {
        for (const VersionId b : facts.versions(x)) {
          if (a < b && !known->order.is_before(a, b) && !known->order.is_before(b, a))
            expected.push_back(Choice::between(facts.writer(a), facts.writer(b)));
        }
      }
    }
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    ASSERT_THAT(residue.choices(), testing::ElementsAreArray(expected));
    EXPECT_TRUE(has_few_open_pairs(known->order));
    EXPECT_EQ(has_few_open_pairs(known->order, 0), expected.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Components, testing::ValuesIn(kStrongLevels),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(PathFinder, TakesARunOfASessionForOneStep) {
  const History h = history_of("s1: [w(x,1)] [w(y,1)] [w(z,1)]  s2: [r(z,1)]");
  const Facts facts(h, true);
  const auto known = saturated(facts, StrongLevel::Ser);
  ASSERT_TRUE(known);
  const PointId goal = known->graph.points().start(TxnId{4});
  PathFinder finder(*known);
  const auto path =
      finder.find({.from = known->graph.points().commit(TxnId{1}), .goals = {&goal, 1}});
  ASSERT_TRUE(path.has_value());
  ASSERT_EQ(path->edges.size(), 2U);
  EXPECT_EQ(path->edges[0].kind, EdgeKind::So);
  EXPECT_EQ(path->edges[0].to, TxnId{3});
  EXPECT_EQ(path->edges[1].kind, EdgeKind::Wr);
  EXPECT_FALSE(finder.find({.from = goal, .goals = {&goal, 1}}).has_value());
}

// The graph lists rw from the last reader of a session only, and to the first overwriter.
TEST(KnownSteps, FindsEdgesThatTheGraphLeavesOut) {
  const History h = history_of("s1: [r(x,0)] [r(x,0)]  s2: [w(x,1)] [w(x,2)]");
  const Facts facts(h, true);
  const auto known = saturated(facts, StrongLevel::Ser);
  ASSERT_TRUE(known);
  ASSERT_EQ(known->graph.edges().size(), 1U);
  const KnownSteps steps(*known);
  for (const TxnId reader : {TxnId{1}, TxnId{2}}) {
    for (const TxnId writer : {TxnId{3}, TxnId{4}}) {
      const auto edge = steps.find({reader}, {writer});
      ASSERT_TRUE(edge.has_value());
      EXPECT_EQ(edge->kind, EdgeKind::Rw);
      EXPECT_FALSE(steps.find({writer}, {reader}).has_value());
    }
  }
  EXPECT_EQ(steps.find({TxnId{3}}, {TxnId{4}})->kind, EdgeKind::So);
}

// At si, whoever was entered at its commit cannot be left by an rw edge; at psi, there is one.
TEST(KnownSteps, KnowWhatMayFollow) {
  const History h = history_of("s1: [r(x,0)]  s2: [w(x,1)]");
  const Facts facts(h, true);
  for (const StrongLevel level : {StrongLevel::Si, StrongLevel::Pc, StrongLevel::Psi}) {
    const auto known = saturated(facts, level);
    ASSERT_TRUE(known);
    const KnownSteps steps(*known);
    EXPECT_EQ(steps.step(EdgeKind::Rw, Entry::Earlier), Entry::Later);
    EXPECT_FALSE(steps.step(EdgeKind::Rw, Entry::Later).has_value());
  }
  const auto ser = saturated(facts, StrongLevel::Ser);
  EXPECT_EQ(KnownSteps(*ser).step(EdgeKind::Rw, Entry::Earlier), Entry::Earlier);
}

TEST(VersionOrder, KnowsPrefixesOfChains) {
  const History h = history_of("s1: [w(x,1)] [w(x,2)] [w(x,3)]  s2: [w(x,4)]");
  const Facts facts(h, true);
  VersionOrder order(facts, true);
  const KeyId x{0};
  const VersionId late = facts.version_of(TxnId{4}, x);
  const GroupId first = facts.group(facts.version_of(TxnId{1}, x));
  order.set_count_before(late, first, 2, 5);
  EXPECT_TRUE(order.is_before(facts.version_of(TxnId{2}, x), late));
  EXPECT_FALSE(order.is_before(facts.version_of(TxnId{3}, x), late));
  EXPECT_EQ(order.known_since(facts.version_of(TxnId{2}, x), late), 5U);
  // Through the session, one step later.
  EXPECT_EQ(order.known_since(facts.version_of(TxnId{1}, x), late), 6U);
  EXPECT_EQ(order.known_since(facts.version_of(TxnId{3}, x), late), std::nullopt);
  std::vector<std::pair<VersionId, VersionId>> open;
  for_each_open_pair(order, [&](KeyId, VersionId a, VersionId b) {
    open.emplace_back(a, b);
    return true;
  });
  EXPECT_THAT(open, ElementsAre(std::pair(facts.version_of(TxnId{3}, x), late)));
}

}  // namespace
}  // namespace isoscope::strong
