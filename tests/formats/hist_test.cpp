#include "formats/hist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

EventId event(const History& h, std::uint32_t t, std::uint32_t i) {
  return EventId{h.events(TxnId{t}).front().index + i};
}

// The example of the design, word for word.
constexpr std::string_view kExample = R"(
# long-fork.hist: two readers disagree on the order of two independent writes.
# expect  cc: consistent   pc: violated   si: violated   ser: violated
init x=0 y=0
s1: [w(x,1)]
s2: [w(y,1)]
s3: [r(x,1) r(y,0)]
s4: [r(y,1) r(x,0)]  [w(x,2)]!            # two transactions in session order, the second aborted
s5: t9=[w("cart 7",7) d(z)]  s6: [r("cart 7",@t9) r(z,nil)]@si
)";

TEST(Hist, ReadsTheExampleOfTheDesign) {
  const History h = history_of(kExample);
  EXPECT_EQ(h.num_txns(), 8U);
  EXPECT_EQ(h.num_sessions(), 6U);
  EXPECT_EQ(h.num_keys(), 4U);
  EXPECT_EQ(h.name(TxnId{6}), "t9");
  EXPECT_EQ(h.name(TxnId{7}), "T7");
  EXPECT_EQ(h.status(TxnId{5}), TxnStatus::Aborted);
  EXPECT_EQ(h.level(TxnId{7}), "si");
  EXPECT_EQ(h.writer(event(h, 7, 0)), TxnId{6});
  EXPECT_EQ(h.writer(event(h, 7, 1)), TxnId{6});
  EXPECT_TRUE(h.has_explicit_initial(h.key(event(h, 1, 0))));
  EXPECT_EQ(h.place(event(h, 4, 1)), (Place{8, 13}));
  EXPECT_TRUE(h.faults().empty());
}

TEST(Hist, CollectsExpectations) {
  const auto found = expectations(kExample);
  ASSERT_TRUE(found.ok()) << render(found.error());
  std::vector<std::string> shown;
  for (const Expectation& e : *found) shown.push_back(e.level + "=" + e.verdict);
  EXPECT_THAT(shown, ElementsAre("cc=consistent", "pc=violated", "si=violated", "ser=violated"));
}

TEST(Hist, ContinuesASessionThatComesAgain) {
  const History h = history_of("s1: [w(x,1)] s2: [] s1: [w(x,2)]?");
  EXPECT_EQ(h.num_sessions(), 2U);
  EXPECT_THAT(h.session_txns(SessionId{0}), ElementsAre(TxnId{1}, TxnId{3}));
}

}  // namespace
}  // namespace isoscope
