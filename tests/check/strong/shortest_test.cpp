// The cycle of an explanation against all closed walks over all known edges.
#include "check/strong/shortest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "check/strong/explain.h"
#include "check/strong/reference.h"
#include "check/strong/saturation.h"
#include "graph/relation.h"
#include "support/history_of.h"
#include "support/random_history.h"

namespace isoscope::strong {
namespace {

// All known edges, pair by pair.
struct AllKnown {
  Relation so_wr;
  Relation ww;
  Relation rw;

  explicit AllKnown(const Knowledge& known)
      : so_wr(known.graph.facts().num_txns()), ww(so_wr.size()), rw(so_wr.size()) {
    const Facts& facts = known.graph.facts();
    const History& h = facts.history();
    for (const TxnId t : facts.txns()) {
      for (const TxnId u : facts.txns()) {
        if (t != u && h.session(t) == h.session(u) && t < u) so_wr.insert(t.index, u.index);
      }
    }
    for (const KnownEdge& e : known.graph.edges())
      (e.kind == EdgeKind::Wr   ? so_wr
       : e.kind == EdgeKind::Ww ? ww
                                : rw)
          .insert(e.from.index, e.to.index);
    for (const KeyId x : h.keys()) {
      for (const VersionId w : facts.versions(x)) {
        const auto overwrites = [&](TxnId reader) {
          if (reader != facts.writer(w)) rw.insert(reader.index, facts.writer(w).index);
        };
        for (const TxnId r : facts.initial_readers(x)) overwrites(r);
        for (const VersionId v : facts.versions(x)) {
          if (!is_known(known, v, w)) continue;
          ww.insert(facts.writer(v).index, facts.writer(w).index);
          for (const TxnId r : facts.readers(v)) overwrites(r);
        }
      }
    }
  }

  // Before w, or before a version that w follows on its chain.
  static bool is_known(const Knowledge& known, VersionId v, VersionId w) {
    const Facts& facts = known.graph.facts();
    const IdRange<VersionId> chain = facts.versions(facts.group(w));
    return std::any_of(chain.begin(), chain.end(), [&](VersionId earlier) {
      return earlier <= w && earlier != v && known.order.is_before(v, earlier);
    });
  }
};

// How few edges a forbidden cycle has; walks of all lengths are built up by composition, by the
// kinds of their first and last edges, which say what may come next.
std::size_t shortest_length(StrongLevel level, const AllKnown& known) {
  const std::array<const Relation*, 3> kinds = {&known.so_wr, &known.ww, &known.rw};
  constexpr std::size_t kRw = 2;
  const std::size_t n = known.ww.size();
  const auto may_follow = [&](std::size_t last, std::size_t next) {
    if (next != kRw || level == StrongLevel::Ser || level == StrongLevel::Psi) return true;
    if (level == StrongLevel::Ua) return false;
    return level == StrongLevel::Si ? last != kRw : last == 0;
  };
  if (level == StrongLevel::Ua && !compose(known.so_wr | known.ww, known.rw).is_irreflexive())
    return 2;
  if (level == StrongLevel::Psi) {
    const Relation dependencies = known.so_wr | known.ww;
    Relation without = dependencies;
    Relation with = known.rw;
    for (std::size_t length = 1; length <= n; ++length) {
      if (!without.is_irreflexive() || !with.is_irreflexive()) return length;
      with = compose(with, dependencies) | compose(without, known.rw);
      without = compose(without, dependencies);
    }
    return 0;
  }
  std::array<std::array<Relation, 3>, 3> walks;  // by first and last kind
  for (std::size_t first = 0; first < 3; ++first) {
    for (std::size_t last = 0; last < 3; ++last)
      walks[first][last] =
          first == last && (first != kRw || level != StrongLevel::Ua) ? *kinds[first] : Relation(n);
  }
  for (std::size_t length = 1; length <= n; ++length) {
    std::array<std::array<Relation, 3>, 3> longer;
    for (std::size_t first = 0; first < 3; ++first) {
      for (std::size_t last = 0; last < 3; ++last) {
        if (may_follow(last, first) && !walks[first][last].is_irreflexive()) return length;
        longer[first][last] = Relation(n);
        for (std::size_t before = 0; before < 3; ++before) {
          if (may_follow(before, last))
            longer[first][last] = longer[first][last] | compose(walks[first][before], *kinds[last]);
        }
      }
    }
    walks = std::move(longer);
  }
  return 0;
}

class ShortestCycles : public testing::TestWithParam<StrongLevel> {};

TEST_P(ShortestCycles, HaveAsFewEdgesAsAnyClosedWalk) {
  std::array<int, 6> found = {};  // by length
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const SmallHistory small =
        random_small(rng, {.sessions = 4 + static_cast<int>(seed % 30),
                           .max_txns = 60,
                           .keys = 12,
                           .max_ops = 3,
                           .reads = seed % 2 == 0 ? 0.6 : 0.4,
                           .stray = 0.01 * static_cast<double>(1 + seed % 7)});
    if (small.txns.size() < 20) continue;
    SCOPED_TRACE(to_hist(small));
    const History h = build(small);
    const Facts facts(h, GetParam() != StrongLevel::Ua);
    Knowledge known(facts, GetParam());
    add_version_facts(known);
    Budget budget;
    if (saturate(known, budget) != Saturated::Cycle) continue;
    const Explanation explanation = explain_cycle(known, budget);
    ASSERT_EQ(check_cycle(h, logic_of(GetParam()), explanation.cycle), std::nullopt);
    const std::size_t expected = shortest_length(GetParam(), AllKnown(known));
    ASSERT_EQ(explanation.cycle.size(), expected);
    ASSERT_TRUE(explanation.is_shortest);
    ++found[std::min<std::size_t>(expected, 5)];
  }
  EXPECT_GT(found[2], 50);
  if (GetParam() != StrongLevel::Ua) {
    EXPECT_GT(found[3], 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, ShortestCycles, testing::ValuesIn(kStrongLevels),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST(FindShorterCycle, SaysThatItStoppedAtItsLimit) {
  const History h = history_of("s1: [w(x,1)] s2: [w(y,1)] s3: [r(x,1) r(y,0)] s4: [r(y,1) r(x,0)]");
  const Facts facts(h, true);
  Knowledge known(facts, StrongLevel::Ser);
  add_version_facts(known);
  Budget budget;
  ASSERT_EQ(saturate(known, budget), Saturated::Cycle);
  EXPECT_EQ(find_shorter_cycle(known, 5, budget).edges.size(), 4U);
  EXPECT_TRUE(find_shorter_cycle(known, 5, budget).is_shortest);
  EXPECT_TRUE(find_shorter_cycle(known, 4, budget).edges.empty());
  EXPECT_TRUE(find_shorter_cycle(known, 4, budget).is_shortest);
  EXPECT_FALSE(find_shorter_cycle(known, 5, budget, 0).is_shortest);
}

}  // namespace
}  // namespace isoscope::strong
