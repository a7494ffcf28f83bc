// A history is judged alike as it was built and as each format that can hold it tells it.
#include <gtest/gtest.h>

#include "check/check.h"
#include "formats/round_trip.h"
#include "formats/wild_history.h"

namespace isoscope {
namespace {

Outcome at_cc(const History& h) {
  Budget budget;
  return check(h, **LevelSet::built_in().find("cc"), budget, {}).verdict.outcome;
}

// Judges `count` histories; returns how many texts of them were judged.
int judge(WildShape shape, std::uint64_t count) {
  int judged = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t seed = i * 104729 + 5;
    const auto h = WildHistory(seed, shape).make();
    if (!h || h->num_txns() == 1) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const Format format : writable()) {
      if (!survives(*h, format)) continue;
      const auto again = parse_history(write(*h, format).text, format);
      if (!again) continue;  // a run with gaps, which only `check` itself is told of
      EXPECT_EQ(at_cc(*again), at_cc(*h)) << name_of(format) << "\n" << write(*h, format).text;
      ++judged;
    }
    if (::testing::Test::HasFailure()) return judged;
  }
  return judged;
}

TEST(CheckFormats, JudgesPlainHistoriesAlike) { EXPECT_GT(judge({.plain = true}, 2000), 4000); }

TEST(CheckFormats, JudgesWildHistoriesAlike) { EXPECT_GT(judge({}, 20000), 2000); }

TEST(CheckFormats, JudgesListsAlike) { EXPECT_GT(judge({.lists = true}, 40000), 2000); }

// T0 wrote the empty list, also where a format states no initial values.
TEST(CheckFormats, FindsAViolationWhereAListIsEmptyAfterAnAppendOfItsSession) {
  HistoryBuilder b(InitialValues::None);
  const SessionId s1 = b.session("s1");
  const KeyId x = b.key("x");
  b.append(b.begin(s1, TxnStatus::Committed, {1, 1}), x, Value::of(1), {1, 2});
  b.read_list(b.begin(s1, TxnStatus::Committed, {2, 1}), x, {}, {2, 2});
  const auto h = std::move(b).build();
  ASSERT_TRUE(h.ok());
  EXPECT_EQ(at_cc(*h), Outcome::Violated);
}

}  // namespace
}  // namespace isoscope
