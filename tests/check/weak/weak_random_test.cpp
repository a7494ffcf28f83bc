#include <gtest/gtest.h>

#include "check/weak/reference.h"
#include "check/weak/weak.h"
#include "support/random_history.h"
#include "support/rng.h"

namespace isoscope {
namespace {

constexpr WeakLevel kAllLevels[] = {WeakLevel::True, WeakLevel::Rc, WeakLevel::Ra, WeakLevel::Cc};

WeakAssignment mixture(Rng& rng, const History& h) {
  WeakAssignment levels{.base = WeakLevel::Rc};
  for (std::size_t t = 0; t < h.num_txns(); ++t) levels.own.push_back(kAllLevels[rng.below(4)]);
  return levels;
}

void expect_agreement_at_all_levels(Rng& rng, const History& h) {
  for (WeakLevel level : kAllLevels) {
    SCOPED_TRACE(testing::Message() << "level " << static_cast<int>(level));
    expect_agreement(h, {.base = level});
  }
  SCOPED_TRACE("mixture");
  expect_agreement(h, mixture(rng, h));
}

struct Family {
  const char* name;
  int cases;
  double stray;  // at most this share of the reads ignores the hidden order
  RandomShape shape;
  friend void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }
};

class RandomHistories : public testing::TestWithParam<Family> {};

TEST_P(RandomHistories, AreJudgedAsTheDefinitionsSay) {
  for (int i = 1; i <= GetParam().cases; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    Rng rng(seed);
    RandomShape shape = GetParam().shape;
    shape.stray = rng.uniform() * GetParam().stray;
    shape.aborted = rng.chance(0.5) ? 0 : 0.2;
    const SmallHistory small = random_small(rng, shape);
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << to_hist(small));
    expect_agreement_at_all_levels(rng, build(small));
    if (HasFailure()) return;
  }
}

// Besides small histories of all kinds: repeated reads of few keys; reads by the dozen, which take
// the ways for transactions with many reads; writers that are larger than their readers by far;
// many sessions of one transaction. Where there are many reads, few of them stray, lest every
// history be violated for a simple reason.
INSTANTIATE_TEST_SUITE_P(
    Weak, RandomHistories,
    testing::Values(
        Family{"Tiny", 8000, 1, {.sessions = 3, .max_txns = 5, .keys = 2, .max_ops = 4}},
        Family{"Small", 4000, 1, {.sessions = 4, .max_txns = 9, .keys = 4, .max_ops = 4}},
        Family{"Repeating",
               2000,
               0.5,
               {.sessions = 4, .max_txns = 6, .keys = 2, .max_ops = 8, .reads = 0.8}},
        Family{"ManyReads",
               1000,
               0.2,
               {.sessions = 4, .max_txns = 12, .keys = 12, .max_ops = 50, .reads = 0.8}},
        Family{"ManyKeys",
               2000,
               0.05,
               {.sessions = 4, .max_txns = 8, .keys = 60, .max_ops = 60, .reads = 0.6}},
        Family{"ManyWrites",
               300,
               0.02,
               {.sessions = 4, .max_txns = 8, .keys = 200, .max_ops = 400, .reads = 0.3}},
        Family{
            "ManySessions", 100, 0.1, {.sessions = 200, .max_txns = 200, .keys = 30, .max_ops = 3}},
        Family{
            "LongSessions", 200, 0.1, {.sessions = 4, .max_txns = 100, .keys = 5, .max_ops = 3}}),
    [](const auto& test) { return test.param.name; });

// Lists: a hidden order of the appends, of which reads show prefixes.
History random_lists(Rng& rng) {
  HistoryBuilder b(InitialValues::Nil);
  const std::size_t num_keys = 1 + rng.below(3);
  const std::size_t num_txns = 2 + rng.below(6);
  std::vector<std::vector<Value>> versions(num_keys);
  std::vector<TxnId> txns;
  std::vector<std::vector<bool>> appends;
  for (std::size_t t = 0; t < num_txns; ++t) {
    txns.push_back(
        b.begin(b.session(static_cast<std::int64_t>(rng.below(3))), TxnStatus::Committed, {}));
    appends.emplace_back(num_keys);
    for (std::size_t x = 0; x < num_keys; ++x) appends.back()[x] = rng.chance(0.4);
  }
  for (std::size_t x = 0; x < num_keys; ++x) {
    for (std::size_t t = 0; t < num_txns; ++t) {
      if (!appends[t][x]) continue;
      const auto place = rng.chance(0.7) ? versions[x].size() : rng.below(versions[x].size() + 1);
      versions[x].insert(versions[x].begin() + static_cast<std::ptrdiff_t>(place),
                         Value::of(static_cast<std::int64_t>(t) + 1));
    }
  }
  for (std::size_t t = 0; t < num_txns; ++t) {
    for (std::size_t x = 0; x < num_keys; ++x) {
      const KeyId key = b.key(static_cast<std::int64_t>(x));
      if (appends[t][x]) {
        b.append(txns[t], key, Value::of(static_cast<std::int64_t>(t) + 1), {});
      } else if (rng.chance(0.6)) {
        b.read_list(txns[t], key, std::span(versions[x]).first(rng.below(versions[x].size() + 1)),
                    {});
      }
    }
  }
  auto h = std::move(b).build();
  ISO_ASSERT(h.ok());
  return *std::move(h);
}

TEST(RandomLists, AreJudgedAsTheDefinitionsSay) {
  std::size_t with_ww = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    Rng rng(seed);
    const History h = random_lists(rng);
    ASSERT_TRUE(h.faults().empty());
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    expect_agreement_at_all_levels(rng, h);
    if (HasFailure()) return;
    Budget budget;
    const Verdict verdict = check_weak(h, {.base = WeakLevel::Cc}, budget);
    if (!verdict.violation) continue;
    for (const Edge& edge : verdict.violation->cycle) with_ww += edge.kind == EdgeKind::Ww ? 1 : 0;
  }
  EXPECT_GT(with_ww, 100U);
}

}  // namespace
}  // namespace isoscope
