#include "formats/elle.h"

#include "formats/bad_text.h"
#include "formats/examples.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;

TEST(Elle, ReadsListsAndOutcomes) {
  const History h = expect_read(Format::Elle, example_of(Format::Elle));
  ASSERT_EQ(h.num_txns(), 4U);
  EXPECT_EQ(h.status(TxnId{2}), TxnStatus::Unknown);
  EXPECT_TRUE(h.is_committed(TxnId{2}));  // its append was seen
  EXPECT_EQ(h.name(h.key(event_at(h, 2, 1))), "aAb");
  EXPECT_EQ(h.name(h.session(TxnId{3})), "s2");
  EXPECT_THAT(h.list(event_at(h, 3, 0)), ElementsAre(Value::of(1), Value::of(2)));
  EXPECT_EQ(h.writer(event_at(h, 3, 0)), TxnId{2});
  EXPECT_EQ(h.place(event_at(h, 2, 1)), (Place{6, 3}));
}

TEST(Elle, ReadsTimesFromInvocationToCompletion) {
  const std::string text =
      "{:index 0, :time 90, :type :invoke, :process 0, :f :txn, :value [[:w :x 1]]}\n"
      "{:index 1, :time 91, :type :invoke, :process 1, :f :txn, :value [[:w :x 2]]}\n"
      "{:index 2, :time 91, :type :ok, :process 0, :f :txn, :value [[:w :x 1]]}\n"
      "{:index 3, :time 95, :type :info, :process 1, :f :txn, :value [[:w :x 2]]}\n"
      "{:index 4, :time 96, :type :invoke, :process 2, :f :txn, :value [[:w :x 3]]}\n";
  const History h = expect_read(Format::Elle, text);
  EXPECT_EQ(h.times(TxnId{1}), (TxnTimes{0, 2}));
  EXPECT_EQ(h.times(TxnId{2}), (TxnTimes{1, TxnTimes::kOpen}));
  EXPECT_EQ(h.times(TxnId{3}), (TxnTimes{4, TxnTimes::kOpen}));
  std::string timed = text;
  for (std::size_t at; (at = timed.find(":index")) != std::string::npos;)
    timed.replace(at, 6, ":i");
  EXPECT_EQ(expect_read(Format::Elle, timed).times(TxnId{1}), (TxnTimes{90, 91}));
  for (std::size_t at; (at = timed.find(":time")) != std::string::npos;) timed.replace(at, 5, ":t");
  EXPECT_FALSE(expect_read(Format::Elle, timed).has_times());
}

TEST(Elle, ReadsRegistersThatStartAtNil) {
  const History h = expect_read(Format::Elle,
                                "{:type :ok, :process 0, :value [[:r :x nil] [:w :x 1]]}\n"
                                "{:type :ok, :process 1, :value [[:r :x 1] [:r \"y\" nil]]}\n");
  EXPECT_EQ(h.writer(event_at(h, 1, 0)), kInitialTxn);
  EXPECT_EQ(h.writer(event_at(h, 2, 0)), TxnId{1});
  EXPECT_EQ(h.writer(event_at(h, 2, 1)), kInitialTxn);
  EXPECT_TRUE(h.faults().empty());
}

// Outcomes other than :ok keep the writes of the invocation and forget all reads.
TEST(Elle, TakesWritesOfUnfinishedTransactionsFromTheInvocation) {
  const History h =
      expect_read(Format::Elle,
                  "{:type :invoke, :process 0, :f :txn, :value [[:w :x 1] [:r :y nil]]}\n"
                  "{:type :invoke, :process 1, :f :txn, :value [[:w :x 2] [:r :y nil]]}\n"
                  "{:type :fail, :process 1, :f :txn, :value [[:r :y 7]]}\n"
                  "{:type :invoke, :process 2, :f :txn, :value [[:w :x 3]]}\n"
                  "{:type :info, :process 2, :f :txn, :value [], :error :timeout}\n"
                  "{:type :fail, :process 3, :f :txn, :value [[:w :x 4] [:r :y 7]]}\n");
  ASSERT_EQ(h.num_txns(), 5U);
  for (std::uint32_t t = 1; t < 5; ++t) EXPECT_EQ(h.events(TxnId{t}).size(), 1U);
  EXPECT_EQ(h.status(TxnId{1}), TxnStatus::Aborted);
  EXPECT_EQ(h.value(event_at(h, 1, 0)), Value::of(2));
  EXPECT_EQ(h.status(TxnId{2}), TxnStatus::Unknown);
  EXPECT_EQ(h.status(TxnId{3}), TxnStatus::Aborted);
  EXPECT_EQ(h.status(TxnId{4}), TxnStatus::Unknown);  // never completed
  EXPECT_EQ(h.value(event_at(h, 4, 0)), Value::of(1));
}

TEST(Elle, GivesEachTransactionASessionWhereThereAreNoProcesses) {
  const History h = expect_read(Format::Elle,
                                "{:type :invoke :value [[:w :x 1] [:r :y nil]]}\n"
                                "{:type :invoke :value [[:w :x 2]]}\n"
                                "{:type :ok :value [[:w :x 1] [:r :y nil]]}\n"
                                "{:type :fail :value [[:w :x 2]]}\n"
                                "{:type :invoke :value [[:w :x 3]]}\n");
  EXPECT_EQ(h.num_txns(), 4U);
  EXPECT_EQ(h.num_sessions(), 3U);
  EXPECT_EQ(h.status(TxnId{1}), TxnStatus::Committed);
  EXPECT_EQ(h.status(TxnId{2}), TxnStatus::Aborted);
  EXPECT_EQ(h.status(TxnId{3}), TxnStatus::Unknown);
}

TEST(Elle, IgnoresNemesesButNoTransactions) {
  const History h = expect_read(Format::Elle,
                                "{:type :info :process :nemesis :f :start :value nil}\n"
                                "{:type :ok :process :odd :f :txn :value [[:w :x 1]]}\n"
                                "#_ {:type :ok :process 1 :value 7}\n");
  EXPECT_EQ(h.num_txns(), 2U);
  EXPECT_EQ(h.name(SessionId{0}), "odd");
}

TEST(Elle, ReadsOneVectorOfMaps) {
  const History h = expect_read(Format::Elle,
                                "[{:type :ok :process 0 :value [[:w :x 1]]}\n"
                                " {:type :ok :process 1\n  :value ([:r :x 1])}]\n");
  EXPECT_EQ(h.num_txns(), 3U);
  EXPECT_EQ(h.place(TxnId{2}), (Place{2, 2}));
  EXPECT_EQ(h.place(event_at(h, 2, 0)), (Place{3, 11}));
}

TEST(Elle, ReadsJsonInAnArrayOrLineByLine) {
  const std::string array = elle_json_example();
  std::string lines = array.substr(1, array.size() - 2);
  for (std::size_t i = lines.find("},\n"); i != std::string::npos; i = lines.find("},\n"))
    lines.erase(i + 1, 1);
  for (const std::string& text : {array, lines}) {
    EXPECT_EQ(recognise(text), Format::Elle);
    const History h = expect_read(Format::Elle, text);
    ASSERT_EQ(h.num_txns(), 3U) << text;
    EXPECT_EQ(h.status(TxnId{2}), TxnStatus::Aborted);
    EXPECT_EQ(h.kind(event_at(h, 1, 0)), EventKind::Append);
    ASSERT_EQ(h.faults().size(), 1U);
    EXPECT_EQ(h.faults()[0].kind, FaultKind::AbortedRead);
    EXPECT_EQ(h.place(TxnId{2}).line, 3U);
  }
}

TEST(Elle, RefusesOtherForms) {
  const auto ok = [](const std::string& value) { return "{:type :ok :value " + value + "}"; };
  expect_refused(
      Format::Elle,
      {
          {"7", {1, 1}, "expected an operation, a map, instead of 7"},
          {"[7]", {1, 2}, "expected an operation, a map"},
          {"{:value []}", {1, 1}, "has no :type"},
          {"{:type :okay :value []}", {1, 8}, "unknown :type :okay"},
          {"{:type :ok}", {1, 1}, "expected a :value that is a vector"},
          {"{:type :ok :value nil}", {1, 19}, "expected a :value that is a vector"},
          {"{:type :ok :process 1 :f :read :value []}", {1, 26}, ":read is no transaction"},
          {"{:type :ok :process [1] :value []}", {1, 21}, "a sequence cannot be a process"},
          {ok("[7]"), {1, 20}, "an operation of three parts instead of 7"},
          {ok("[[:r :x]]"), {1, 20}, "an operation of three parts"},
          {ok("[[:x :x 1]]"), {1, 21}, "unknown operation :x"},
          {ok("[[:r [1] 1]]"), {1, 24}, "a sequence cannot be a key"},
          {ok("[[:r 1.5 1]]"), {1, 24}, "1.5 cannot be a key"},
          {ok("[[:r :x #{1}]]"), {1, 28}, "a set cannot be a value"},
          {ok("[[:w :x [1]]]"), {1, 27}, "a sequence cannot be a value"},
          {ok("[[:w :x 9223372036854775808]]"), {1, 27}, "9223372036854775808 cannot be a value"},
          {ok("[[:append :x nil]]"), {1, 32}, "a list cannot hold nil"},
          {ok("[[:r :x [nil]]]"), {1, 28}, "a list cannot hold nil"},
          {ok("[[:append :x 1] [:w :x 2]]"), {1, 35}, "used as a register here"},
          {"{:type :invoke :process 1 :value []}\n{:type :invoke :process 1 :value []}",
           {2, 25},
           "process 1 invokes a transaction while that of line 1 is open"},
          {"{:type :ok", {1, 1}, "'}' is missing"},
          {"{:type}", {1, 1}, "a key without a value"},
          {"{:type :ok]}", {1, 11}, "unexpected ']'"},
          {"{:type \"a\\q\"}", {1, 10}, "unknown escape"},
          {"{:type \"a", {1, 8}, "this string does not end"},
          {"{: 1}", {1, 2}, "a keyword has no name"},
          {"{:type :ok\n:value [[:r 1]]}", {2, 9}, "an operation of three parts"},
          {R"([{"type":"ok","value":[["r",1]]}])", {1, 24}, "an operation of three parts"},
          {R"({"type":"ok","value":[["r",1,tru]]})", {1, 30}, "no valid JSON"},
          {R"({"type":"ok","value":[]} 7)", {1, 26}, "unexpected text"},
      });
}

TEST(Elle, PrintsPairsOfInvocationAndCompletion) {
  const std::string text =
      "{:type :invoke, :process 4, :time 0, :f :txn, :value [[:append :x 1] [:r \"a b\" nil]]}\n"
      "{:type :ok, :process 4, :time 1, :f :txn, :value [[:append :x 1] [:r \"a b\" nil]]}\n"
      "{:type :invoke, :process 5, :time 2, :f :txn, :value [[:w 7 \"t\"]]}\n"
      "{:type :fail, :process 5, :time 3, :f :txn, :value [[:w 7 \"t\"]]}\n"
      "{:type :invoke, :process 4, :time 4, :f :txn, :value [[:append :x 2]]}\n"
      "{:type :info, :process 4, :time 4, :f :txn, :value [[:append :x 2]]}\n"
      "{:type :invoke, :process 4, :time 6, :f :txn, :value [[:r :x nil]]}\n"
      "{:type :ok, :process 4, :time 7, :f :txn, :value [[:r :x [1]]]}\n";
  EXPECT_EQ(written(expect_read(Format::Elle, text), Format::Elle), text);
}

}  // namespace
}  // namespace isoscope
