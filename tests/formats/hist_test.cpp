#include "formats/hist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/bad_text.h"
#include "support/expectations.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The example of docs/formats.md, word for word.
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

TEST(Hist, ReadsTheExampleOfTheDocumentation) {
  const History h = history_of(kExample);
  EXPECT_EQ(h.num_txns(), 8U);
  EXPECT_EQ(h.num_sessions(), 6U);
  EXPECT_EQ(h.num_keys(), 4U);
  EXPECT_EQ(h.name(TxnId{6}), "t9");
  EXPECT_EQ(h.name(TxnId{7}), "T7");
  EXPECT_EQ(h.status(TxnId{5}), TxnStatus::Aborted);
  EXPECT_EQ(h.level(TxnId{7}), "si");
  EXPECT_EQ(h.writer(event_at(h, 7, 0)), TxnId{6});
  EXPECT_EQ(h.writer(event_at(h, 7, 1)), TxnId{6});
  EXPECT_TRUE(h.has_explicit_initial(h.key(event_at(h, 1, 0))));
  EXPECT_EQ(h.place(event_at(h, 4, 1)), (Place{8, 13}));
  EXPECT_EQ(h.place(TxnId{6}), (Place{9, 5}));
  EXPECT_TRUE(h.faults().empty());
}

TEST(Hist, ReadsStatementsLocksAndTimes) {
  const History h = history_of(
      "s1: [r(stock[7].qty,1) | l(stock[7]) w(stock[7].qty,0)]<3,9>\n"
      "s2: [ls(stock[8].qty) i(x,1) | | lk(x) |]!<4,>@pg-rc\n"
      "s3: [r(x,0) r(x,0)]  [r(x,0) r(x,0) |]  [|]\n");
  EXPECT_TRUE(h.has_statements());
  EXPECT_EQ(h.num_statements(TxnId{1}), 2U);
  EXPECT_EQ(h.statement(event_at(h, 1, 0)), 0U);
  EXPECT_EQ(h.statement(event_at(h, 1, 1)), 1U);
  ASSERT_EQ(h.locks(TxnId{1}).size(), 1U);
  const RowLock& lock = h.locks(TxnId{1})[0];
  EXPECT_EQ(h.name(lock.row), "stock[7]");
  EXPECT_EQ(lock.row, h.row(h.key(event_at(h, 1, 0))));
  EXPECT_EQ(lock.statement, 1U);
  EXPECT_EQ(lock.mode, LockMode::Exclusive);
  EXPECT_EQ(lock.before, event_at(h, 1, 1));
  EXPECT_EQ(h.times(TxnId{1}), (TxnTimes{3, 9}));

  EXPECT_EQ(h.num_statements(TxnId{2}), 3U);
  EXPECT_TRUE(h.is_insert(event_at(h, 2, 0)));
  ASSERT_EQ(h.locks(TxnId{2}).size(), 2U);
  EXPECT_EQ(h.locks(TxnId{2})[0].mode, LockMode::Share);
  EXPECT_EQ(h.name(h.locks(TxnId{2})[0].row), "stock[8]");
  EXPECT_EQ(h.locks(TxnId{2})[1].statement, 2U);
  EXPECT_EQ(h.locks(TxnId{2})[1].mode, LockMode::KeyShare);
  EXPECT_EQ(h.times(TxnId{2})->end, TxnTimes::kOpen);
  EXPECT_EQ(h.level(TxnId{2}), "pg-rc");
  EXPECT_EQ(h.num_keys(), 2U) << "the row that is only locked is no key";
  EXPECT_EQ(h.num_rows(), 3U);

  EXPECT_EQ(h.num_statements(TxnId{3}), 2U);
  EXPECT_EQ(h.num_statements(TxnId{4}), 1U);
  EXPECT_EQ(h.num_statements(TxnId{5}), 1U);
  EXPECT_FALSE(h.times(TxnId{3}).has_value());
  EXPECT_TRUE(history_of("s: [w(x,1) | w(y,1)]").num_statements(TxnId{1}) == 2 &&
              !history_of("s: [w(x,1) | w(y,1)]").has_statements())
      << "statements of one event each say nothing";
}

TEST(Hist, RefusesBadStatementsAndTimes) {
  expect_refused(Format::Hist, {{"s: [w(x,1)]<3 4>", {1, 15}, "expected ','"},
                                {"s: [w(x,1)]<a,4>", {1, 13}, "the time of the start"},
                                {"s: [w(x,1)]<3,4", {1, 16}, "the time of the end or '>'"},
                                {"s: [w(x,1)]<5,4>", {1, 4}, "ends at 4, before it starts at 5"},
                                {"s: [l(x,1)]", {1, 8}, "expected ')'"},
                                {"s: [lx(x)]", {1, 5}, "expected an operation"},
                                {"s: [i(x,@T1)]", {1, 9}, "cannot name a writer"},
                                {"s: [w(x[1].2,3)]", {1, 12}, "the name of a column"}});
}

TEST(Hist, ContinuesASessionThatComesAgain) {
  const History h = history_of("s1: [w(x,1)] s2: [] s1: [w(x,2)]?");
  EXPECT_EQ(h.num_sessions(), 2U);
  EXPECT_THAT(h.session_txns(SessionId{0}), ElementsAre(TxnId{1}, TxnId{3}));
}

TEST(Hist, ReadsKeysOfEveryKind) {
  const History h =
      history_of(R"(s: [w(stock[ 1 ,-2],1) w("stock[1,-2]",2) w("a \"\\\n\t\r\x41",3) w("-7",4)])");
  EXPECT_EQ(h.num_keys(), 3U);  // the first two are one key
  EXPECT_EQ(h.name(KeyId{0}), "stock[1,-2]");
  EXPECT_EQ(h.name(KeyId{1}), "a \"\\\n\t\rA");
  EXPECT_EQ(h.key_name(KeyId{2}), Value::of(-7));
}

TEST(Hist, ReadsValuesOfEveryKind) {
  const History h = history_of(R"(s: [w(x,-9223372036854775808) w(y,"7") w(z,nil) d(nil)])");
  EXPECT_EQ(h.value(EventId{0}), Value::of(INT64_MIN));
  EXPECT_TRUE(h.value(EventId{1}).is_text());
  EXPECT_TRUE(h.value(EventId{2}).is_nil());
  EXPECT_EQ(h.name(h.key(EventId{3})), "nil");
}

TEST(Hist, ReadsLevelsInAnyCase) {
  const History h = history_of("s: []@SI []!@Update-Ser []?@CC@Vis init: []");
  EXPECT_EQ(h.level(TxnId{1}), "si");
  EXPECT_EQ(h.level(TxnId{2}), "update-ser");
  EXPECT_EQ(h.level(TxnId{3}), "cc@vis");
  EXPECT_EQ(h.name(h.session(TxnId{4})), "init");
}

TEST(Hist, InfersInitialValues) {
  const History h = history_of("init z=3 init init=4  init s: [r(x,0) r(y,nil) r(z,3) r(init,4)]");
  for (EventId e : h.all_events()) EXPECT_EQ(h.writer(e), kInitialTxn);
  EXPECT_EQ(h.initial_value(KeyId{0}), Value::of(3));
}

TEST(Hist, TakesBlanksAndNewlinesForTheSame) {
  const History h = history_of("s1\n:\n[\nr\n(\nx\n,\n0\n)\n]\n!\n# end");
  EXPECT_EQ(h.status(TxnId{1}), TxnStatus::Aborted);
  EXPECT_EQ(h.place(EventId{0}), (Place{4, 1}));
}

TEST(Hist, RefusesWhatIsNotInTheGrammar) {
  expect_refused(
      Format::Hist,
      {
          {"s1 [w(x,1)]", {1, 4}, "expected ':' behind the session's name 's1'"},
          {"s1: w(x,1)", {1, 6}, "expected ':'"},
          {"s1: (x)", {1, 5}, "expected a transaction or a session instead of '('"},
          {"[w(x,1)]", {1, 1}, "expected a session instead of '['"},
          {"s1: [w(x,1)", {1, 12}, "expected an operation or ']' before the end of the text"},
          {"s1: [x(x,1)]", {1, 6}, "expected an operation or ']' instead of 'x'"},
          {"s1: [w x,1)]", {1, 8}, "expected '(' instead of 'x'"},
          {"s1: [w(7,1)]", {1, 8}, "expected a key instead of '7'"},
          {"s1: [w(x 1)]", {1, 10}, "expected ',' instead of '1'"},
          {"s1: [w(x,y)]", {1, 10}, "expected a value instead of 'y'"},
          {"s1: [w(x,1]", {1, 11}, "expected ')' instead of ']'"},
          {"s1: [d(x,1)]", {1, 9}, "expected ')' instead of ','"},
          {"s1: [w(x,@T1)]", {1, 10}, "a write cannot name a writer"},
          {"s1: [r(x,@7)]", {1, 11}, "expected the name of a transaction behind '@'"},
          {"s1: [w(x[],1)]", {1, 10}, "expected an integer as an index"},
          {"s1: [w(x[1,1)]", {1, 13}, "expected ']' instead of ')'"},
          {"s1: a=(x)", {1, 7}, "expected '[' instead of '('"},
          {"s1: []!?", {1, 8}, "expected a transaction or a session instead of '?'"},
          {"s1: []@", {1, 8}, "expected the name of a level"},
          {"s1: []@si@xy", {1, 10}, "'xy' is no framework"},
          {"s1: []@si-", {1, 8}, "expected the name of a level"},
          {"init x 0", {1, 8}, "expected '=' behind the key instead of '0'"},
          {"init x=y", {1, 8}, "expected a value"},
          {"init x=0\n  x=1 s1: []", {2, 3}, "two initial values, 0 and 1"},
          {"s1: [w(x,9223372036854775808)]", {1, 10}, "does not fit in 64 bits"},
          {"s1: [w(x,12ab)]", {1, 10}, "'12ab' is no integer"},
          {"s1: [w(x,-)]", {1, 10}, "'-' is no integer"},
          {"s1: [w(\"x,1)]", {1, 8}, "does not end on its line"},
          {"s1: [w(\"x\\q\",1)]", {1, 10}, "unknown escape"},
          {"s1: [w(\"x\\xg0\",1)]", {1, 10}, "unknown escape"},
          {"s1: [w(\"x\\", {1, 8}, "does not end on its line"},
          {"s1: [w(x,1);]", {1, 12}, "unexpected ';'"},
          {"s1: [w(x,1)\x01]", {1, 12}, "unexpected byte 0x01"},
          {"s1: []\ns2: [r(x,@T9)]", {2, 6}, "'T9', which is no transaction"},
          {"s1: []\ns2: [r(x,@T1)]", {2, 6}, "'T1', which never writes"},
          {"s1: a=[]\ns2: a=[]", {2, 5}, "two transactions are called 'a'"},
          {"s1: [w(x,1)]\ns2: [w(x,1)]\ns3: [r(x,1)]", {3, 6}, "both write it"},
      });
}

TEST(Hist, CollectsExpectations) {
  const auto found = expectations(std::string(kExample) + "  # expect SER@vis: unknown\n");
  ASSERT_TRUE(found.ok()) << render(found.error());
  std::vector<std::string> shown;
  for (const Expectation& e : *found) shown.push_back(e.level + "=" + e.verdict);
  EXPECT_THAT(shown, ElementsAre("cc=consistent", "pc=violated", "si=violated", "ser=violated",
                                 "ser@vis=unknown"));
  EXPECT_EQ((*found)[1].where, (Place{3, 28}));
}

TEST(Hist, RefusesExpectationsThatPromiseNothing) {
  const auto verdict = expectations("\n# expect cc: consistant");
  ASSERT_FALSE(verdict.ok());
  EXPECT_EQ(verdict.error().where, (Place{2, 14}));
  EXPECT_THAT(verdict.error().hint, HasSubstr("did you mean 'consistent'?"));
  EXPECT_FALSE(expectations("# expect cc consistent").ok());
  EXPECT_FALSE(expectations("# expect cc:").ok());
  EXPECT_TRUE(expectations("# expected: nothing\n#expect")->empty());
}

TEST(Hist, PrintsNamesAndQuotesOnlyWhereNeeded) {
  const History h = history_of(
      "init y=5 \"cart 7\"=nil\n"
      "alice: [w(x,1) d(y)] bob: go=[r(x,@T1) w(stock[1,-2],\"a\\n\")]! alice: []@si\n"
      "bob: [w(x,1)]?");
  EXPECT_EQ(written(h, Format::Hist),
            "init y=5 \"cart 7\"=nil\n"
            "alice: [w(x,1) d(y)]  T3=[]@si\n"
            "bob:   go=[r(x,@T1) w(stock[1,-2],\"a\\n\")]!  [w(x,1)]?\n");
}

TEST(Hist, BreaksLongSessions) {
  std::string text = "s1:";
  for (int i = 1; i < 40; ++i) text += " [w(x," + std::to_string(i) + ")]";
  const std::string printed = written(history_of(text), Format::Hist);
  std::size_t longest = 0;
  std::size_t line = 0;
  for (char c : printed) longest = std::max(longest, line = c == '\n' ? 0 : line + 1);
  EXPECT_LE(longest, 100U);
  EXPECT_EQ(std::count(printed.begin(), printed.end(), '\n'), 5);
  EXPECT_EQ(written(history_of(printed), Format::Hist), printed);
}

TEST(Hist, PrintsAnEmptyHistory) {
  EXPECT_EQ(written(history_of("# nothing"), Format::Hist), "# no transactions\n");
  EXPECT_TRUE(parse_history("# no transactions\n", Format::Hist).ok());
}

}  // namespace
}  // namespace isoscope
