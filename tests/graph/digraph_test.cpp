#include "graph/digraph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graph/relation.h"
#include "support/rng.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Node = Digraph::Node;
using Arcs = std::vector<Digraph::Arc>;

TEST(Digraph, GroupsArcsByTheirStart) {
  const Digraph g(4, Arcs{{2, 0}, {0, 3}, {2, 1}, {0, 1}});
  EXPECT_EQ(g.size(), 4U);
  EXPECT_THAT(g.successors(0), ElementsAre(3, 1));
  EXPECT_THAT(g.successors(1), IsEmpty());
  EXPECT_THAT(g.successors(2), ElementsAre(0, 1));
  EXPECT_THAT(g.successors(3), IsEmpty());
  EXPECT_THAT(reverse(g).successors(1), ElementsAre(0, 2));
}

TEST(Digraph, MayBeEmpty) {
  const Digraph g;
  EXPECT_EQ(g.size(), 0U);
  EXPECT_TRUE(strongly_connected_components(g).are_single());
  EXPECT_THAT(*topological_order(g), IsEmpty());
  EXPECT_FALSE(shortest_cycle(g).has_value());
}

TEST(Components, NumbersSuccessorsFirst) {
  // 0 <-> 1 -> 2 -> 3 <-> 4
  const Digraph g(5, Arcs{{0, 1}, {1, 0}, {1, 2}, {2, 3}, {3, 4}, {4, 3}});
  const Components components = strongly_connected_components(g);
  EXPECT_EQ(components.count, 3U);
  EXPECT_THAT(components.of, ElementsAre(2, 2, 1, 0, 0));
  EXPECT_FALSE(components.are_single());
}

TEST(Components, SurvivesAPathOfAMillionNodes) {
  constexpr Node kNodes = 1'000'000;
  const Digraph g = Digraph::of(kNodes, [](auto&& add) {
    for (Node v = 0; v + 1 < kNodes; ++v) add(v, v + 1);
  });
  EXPECT_EQ(strongly_connected_components(g).count, kNodes);
  const Digraph ring = Digraph::of(kNodes, [](auto&& add) {
    for (Node v = 0; v < kNodes; ++v) add(v, (v + 1) % kNodes);
  });
  EXPECT_EQ(strongly_connected_components(ring).count, 1U);
}

TEST(TopologicalOrder, TakesTheSmallestNodeThatMayComeNext) {
  EXPECT_THAT(*topological_order(Digraph(4, Arcs{{3, 1}, {1, 0}})), ElementsAre(2, 3, 1, 0));
  EXPECT_FALSE(topological_order(Digraph(3, Arcs{{0, 1}, {1, 2}, {2, 1}})).has_value());
}

TEST(ShortestCycle, FindsLoopsPairsAndLongerOnes) {
  EXPECT_FALSE(shortest_cycle(Digraph(3, Arcs{{0, 1}, {1, 2}, {0, 2}})).has_value());
  EXPECT_THAT(shortest_cycle(Digraph(3, Arcs{{0, 1}, {1, 0}, {2, 2}}))->nodes, ElementsAre(2));
  EXPECT_THAT(shortest_cycle(Digraph(4, Arcs{{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 2}}))->nodes,
              ElementsAre(2, 3));
  EXPECT_THAT(shortest_cycle(Digraph(4, Arcs{{3, 2}, {2, 1}, {1, 3}, {3, 0}}))->nodes,
              ElementsAre(1, 3, 2));
}

TEST(ShortestCycle, TakesARunAlongAChainForOneStep) {
  // Along the chain 0 1 2 3 4 and back by one arc: two steps, not five.
  const std::vector<std::uint32_t> chain(5, 0);
  EXPECT_THAT(shortest_cycle(Digraph(5, Arcs{{4, 0}}), chain)->nodes, ElementsAre(0, 4));
  // 0 … 2 and 3 … 5: two runs and two arcs beat five single arcs.
  const std::vector<std::uint32_t> two = {0, 0, 0, 1, 1, 1};
  EXPECT_THAT(shortest_cycle(Digraph(6, Arcs{{2, 3}, {5, 0}}), two)->nodes,
              ElementsAre(0, 2, 3, 5));
}

TEST(ShortestCycle, SaysWhenItStoppedEarly) {
  // A ring of nine, then one of four that shares no node with it.
  Arcs arcs;
  for (Node v = 0; v < 9; ++v) arcs.push_back({v, (v + 1) % 9});
  for (Node v = 0; v < 4; ++v) arcs.push_back({9 + v, 9 + (v + 1) % 4});
  const Digraph g(13, arcs);
  const auto hurried = shortest_cycle(g, {}, 5);
  EXPECT_EQ(hurried->nodes.size(), 9U);
  EXPECT_FALSE(hurried->is_shortest);
  EXPECT_THAT(shortest_cycle(g)->nodes, ElementsAre(9, 10, 11, 12));
  EXPECT_TRUE(shortest_cycle(g)->is_shortest);
}

// Steps of a shortest cycle by powers of the relation; 0 if there is none.
std::size_t shortest_by_powers(const Relation& r) {
  Relation power = r;
  for (std::size_t steps = 1; steps <= r.size(); ++steps) {
    if (!power.is_irreflexive()) return steps;
    power = compose(power, r);
  }
  return 0;
}

TEST(Digraph, AgreesWithRelationsOnRandomGraphs) {
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const std::size_t n = 1 + rng.below(12);
    const bool loops = rng.chance(0.1);
    Arcs arcs;
    Relation r(n);
    for (std::uint64_t i = rng.below(2 * n + 1); i > 0; --i) {
      const auto from = static_cast<Node>(rng.below(n));
      const auto to = static_cast<Node>(rng.below(n));
      if (from == to && !loops) continue;
      arcs.push_back({from, to});
      r.insert(from, to);
    }
    std::vector<std::uint32_t> chains;
    if (rng.chance(0.5)) {
      for (std::size_t v = 0; v < n; ++v) {
        chains.push_back(rng.chance(0.2) ? Digraph::kNone
                                         : static_cast<std::uint32_t>(rng.below(3)));
      }
    }
    const Digraph g(n, arcs);

    const Relation closed = transitive_closure(r);
    const Components components = strongly_connected_components(g);
    for (Node a = 0; a < n; ++a) {
      for (Node b = 0; b < n; ++b) {
        const bool together = a == b || (closed.contains(a, b) && closed.contains(b, a));
        ASSERT_EQ(components.of[a] == components.of[b], together);
        if (r.contains(a, b)) {
          ASSERT_GE(components.of[a], components.of[b]);
        }
      }
    }
    ASSERT_EQ(std::set<std::uint32_t>(components.of.begin(), components.of.end()).size(),
              components.count);

    const auto order = topological_order(g);
    ASSERT_EQ(order.has_value(), closed.is_irreflexive());
    if (order) {
      std::vector<std::size_t> position(n);
      for (std::size_t i = 0; i < n; ++i) position[(*order)[i]] = i;
      for (const auto& arc : arcs) ASSERT_LT(position[arc.from], position[arc.to]);
    }

    for (Node a = 0; a < chains.size(); ++a) {
      for (Node b = a + 1; b < chains.size(); ++b) {
        if (chains[a] != Digraph::kNone && chains[a] == chains[b]) r.insert(a, b);
      }
    }
    const auto cycle = shortest_cycle(g, chains);
    ASSERT_EQ(cycle ? cycle->nodes.size() : 0, shortest_by_powers(r));
    std::size_t twos = 0;
    for (Node a = 0; a < n; ++a) {
      for (Node b = a + 1; b < n; ++b) twos += r.contains(a, b) && r.contains(b, a) ? 1 : 0;
    }
    const auto pairs = cycles_of_two(g, chains, 3);
    ASSERT_EQ(pairs.size(), std::min<std::size_t>(twos, 3));
    for (const auto& [a, b] : pairs) ASSERT_TRUE(a < b && r.contains(a, b) && r.contains(b, a));
    if (!cycle) continue;
    const auto& nodes = cycle->nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i)
      ASSERT_TRUE(r.contains(nodes[i], nodes[(i + 1) % nodes.size()]));
    ASSERT_EQ(*std::min_element(nodes.begin(), nodes.end()), nodes.front());
  }
}

}  // namespace
}  // namespace isoscope
