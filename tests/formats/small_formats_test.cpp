// awdit-test, dbcop in both forms, cobra and isopredict.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "formats/bad_text.h"
#include "formats/cobra.h"
#include "formats/examples.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::HasSubstr;

TEST(AwditTest, ReadsSessionsAndTransactions) {
  const History h =
      expect_read(Format::AwditTest, "w 0 1\n  r 1\t0\n-\n-----\nw 0 2\n=====\n=\nr 0 2\n---\n");
  EXPECT_EQ(h.num_txns(), 4U);
  EXPECT_EQ(h.num_sessions(), 2U);
  EXPECT_EQ(h.name(h.session(TxnId{3})), "s2");
  EXPECT_EQ(h.writer(event_at(h, 3, 0)), TxnId{2});
  EXPECT_FALSE(h.has_initial(KeyId{0}));
  EXPECT_EQ(h.faults().size(), 1U);  // nobody wrote the 0
}

TEST(AwditTest, RefusesOtherLines) {
  expect_refused(Format::AwditTest, {
                                        {"w 0 1\nx 0 1", {2, 1}, "expected 'r' or 'w'"},
                                        {"w0 1", {1, 2}, "expected a blank"},
                                        {"w a 1", {1, 3}, "expected an unsigned 64-bit key"},
                                        {"w 0", {1, 4}, "expected a blank behind the key"},
                                        {"w 0 ", {1, 5}, "expected an unsigned 64-bit value"},
                                        {"w 0 -1", {1, 5}, "expected an unsigned 64-bit value"},
                                        {"w 0 1 2", {1, 7}, "expected the end of the line"},
                                        {"w 0 1\n-=-", {2, 1}, "expected 'r' or 'w'"},
                                    });
}

TEST(AwditTest, PrintsWhatItReads) {
  const std::string text = "w 0 1\nw 1 1\n-----\nr 0 2\n=====\nw 0 2\n";
  EXPECT_EQ(written(expect_read(Format::AwditTest, text), Format::AwditTest), text);
}

TEST(Dbcop, ReadsBothShapesAndBothSpellings) {
  const std::string bare =
      R"([[{"events":[{"Write":{"variable":0,"version":1}},["r",1,0]],"committed":true}],
          [{"committed":false,"events":[{"Read":{"version":null,"variable":0}},["w",0,2]]}]])";
  for (const std::string& text :
       {bare, R"({"params":{"data":[7]},"info":"","data":)" + bare + "}"}) {
    const History h = expect_read(Format::Dbcop, text);
    EXPECT_EQ(h.num_txns(), 3U);
    EXPECT_EQ(h.name(h.session(TxnId{2})), "s2");
    EXPECT_EQ(h.status(TxnId{2}), TxnStatus::Aborted);
    EXPECT_EQ(h.writer(event_at(h, 1, 1)), kInitialTxn);
    EXPECT_EQ(h.writer(event_at(h, 2, 0)), kInitialTxn);  // null is the initial state
    EXPECT_EQ(h.place(event_at(h, 2, 1)).line, 2U);
  }
}

TEST(Dbcop, RefusesOtherJson) {
  expect_refused(
      Format::Dbcop,
      {
          {"7", {1, 1}, "expected an array of sessions or an object"},
          {"{}", {1, 1}, "expected an object with the member 'data'"},
          {R"({"data":7})", {1, 9}, "'data' to be an array"},
          {R"({"data":[],"data":[]})", {1, 19}, "comes twice"},
          {"[7]", {1, 2}, "expected a session"},
          {"[[7]]", {1, 3}, "expected a transaction"},
          {R"([[{"events":[]}]])", {1, 3}, "with the members 'events' and 'committed'"},
          {R"([[{"events":7}]])", {1, 13}, "'events' to be an array"},
          {R"([[{"committed":7}]])", {1, 16}, "true or false"},
          {R"([[{"commited":true}]])", {1, 15}, "only the members"},
          {"[[{\"events\":[7]}]]", {1, 14}, "expected an event"},
          {R"([[{"events":[{"Rad":{}}]}]])", {1, 14}, "one \"Read\" or one \"Write\""},
          {R"([[{"events":[{"Read":{}}]}]])", {1, 14}, "a variable and a version"},
          {R"([[{"events":[{"Read":{"variable":-1}}]}]])", {1, 34}, "expected a variable"},
          {R"([[{"events":[{"Read":{"variable":1,"version":"x"}}]}]])",
           {1, 46},
           "expected a version"},
          {R"([[{"events":[{"Read":{"variable":1,"value":1}}]}]])", {1, 14}, "only the members"},
          {R"([[{"events":[{"Write":{"variable":1,"version":null}}]}]])",
           {1, 14},
           "a write to have"},
          {R"([[{"events":[["x",1,2]]}]])", {1, 15}, "\"r\" or \"w\""},
          {R"([[{"events":[["w",1,2,3]]}]])", {1, 23}, "only three parts"},
          {"[]\n]", {2, 1}, "unexpected text behind"},
          {"[[\n{\"events\"", {1, 1}, "a bracket of this JSON is not closed"},
      });
}

TEST(Dbcop, PrintsWhatItReads) {
  const std::string text =
      R"([[{"events":[{"Write":{"variable":0,"version":0}},{"Read":{"variable":1,"version":0}}],"committed":true},
  {"events":[],"committed":false}],
 [{"events":[{"Read":{"variable":0,"version":null}}],"committed":true}]]
)";
  EXPECT_EQ(written(expect_read(Format::Dbcop, text), Format::Dbcop), text);
}

TEST(DbcopBincode, CountsWhatFailedAsAborted) {
  const History h = expect_read(Format::DbcopBincode, bincode_example());
  // The first transaction, its failed write, and the second, failed one.
  ASSERT_EQ(h.num_txns(), 4U);
  EXPECT_EQ(h.status(TxnId{1}), TxnStatus::Committed);
  EXPECT_EQ(h.events(TxnId{1}).size(), 2U);
  EXPECT_EQ(h.status(TxnId{2}), TxnStatus::Aborted);
  EXPECT_EQ(h.value(event_at(h, 2, 0)), Value::of(2));
  EXPECT_EQ(h.session(TxnId{1}), h.session(TxnId{2}));
  EXPECT_EQ(h.status(TxnId{3}), TxnStatus::Aborted);
  EXPECT_EQ(h.events(TxnId{3}).size(), 1U);  // a failed read saw nothing
  EXPECT_TRUE(h.faults().empty());
}

TEST(DbcopBincode, ChecksEveryLength) {
  const std::string good = bincode_example();
  const auto with = [&](std::size_t at, const std::string& bytes) {
    return std::string(good).replace(at, bytes.size(), bytes);
  };
  const std::string huge = little_endian(UINT64_MAX);
  expect_refused(
      Format::DbcopBincode,
      {
          {good.substr(0, 39), {}, "the header is cut off"},
          {with(40, huge), {}, "a string of the header is longer than the file"},
          {with(74, huge), {}, "18446744073709551615 sessions do not fit"},
          {with(82, huge), {}, "transactions do not fit"},
          {with(90, huge), {}, "events do not fit"},
          {with(98, "\2"), {}, "the kind of an event is neither 0 nor 1 (at byte 99 of 206)"},
          {with(115, "\2"), {}, "the success of an event is neither 0 nor 1"},
          {good.substr(0, good.size() - 1), {}, "the success of a transaction is cut off"},
          {good + "x", {}, "unexpected bytes behind the history"},
      });
}

TEST(Cobra, ReadsALog) {
  const History h = expect_read(Format::Cobra, cobra_example());
  ASSERT_EQ(h.num_txns(), 3U);  // the fence is left out
  EXPECT_EQ(h.name(TxnId{1}), "t6");
  EXPECT_EQ(h.name(SessionId{0}), "s1");
  EXPECT_EQ(h.writer(event_at(h, 1, 0)), kInitialTxn);
  EXPECT_EQ(h.value(event_at(h, 1, 1)), Value::of(100));
  EXPECT_EQ(h.writer(event_at(h, 2, 0)), TxnId{1});
}

std::string cobra_txn(std::uint64_t id, const std::string& records) {
  return "S" + big_endian(id) + records + "C" + big_endian(id);
}
std::string cobra_write(std::uint64_t write_id, std::uint64_t key) {
  return "W" + big_endian(write_id) + big_endian(key) + big_endian(0);
}
std::string cobra_read(std::uint64_t writer, std::uint64_t write_id, std::uint64_t key) {
  return "R" + big_endian(writer) + big_endian(write_id) + big_endian(key) + big_endian(0);
}

TEST(Cobra, TellsVersionsByTransactionAndWriteId) {
  const CobraLog logs[] = {
      {"T1.log", cobra_txn(1, cobra_write(100, 5)) + cobra_txn(2, cobra_write(100, 5))},
      {"T2.log", cobra_txn(3, cobra_read(2, 100, 5) + cobra_read(9, 100, 5))}};
  const auto h = read_cobra_logs(logs);
  ASSERT_TRUE(h.ok()) << render(h.error());
  EXPECT_EQ(h->writer(event_at(*h, 3, 0)), TxnId{2});
  EXPECT_EQ(h->show(h->value(event_at(*h, 3, 0))), "2:100");
  ASSERT_EQ(h->faults().size(), 1U);  // transaction 9 wrote nothing
  EXPECT_EQ(h->faults()[0].kind, FaultKind::ThinAirRead);
}

TEST(Cobra, LeavesTheOutcomeOfACutTransactionOpen) {
  const History h = expect_read(Format::Cobra, "S" + big_endian(1) + cobra_write(100, 5));
  EXPECT_EQ(h.status(TxnId{1}), TxnStatus::Unknown);
}

TEST(Cobra, RefusesOtherRecords) {
  const std::string open = "S" + big_endian(1);
  expect_refused(Format::Cobra,
                 {
                     {"X", {}, "unknown record 'X', instead of S, R, W or C (at byte 0 of 1)"},
                     {open + "A", {}, "unknown record 'A'"},
                     {open + open, {}, "a transaction starts inside another"},
                     {cobra_write(1, 1), {}, "a record stands outside of a transaction"},
                     {open + "C" + big_endian(2), {}, "transaction 2 commits inside transaction 1"},
                     {open + "W" + big_endian(2), {}, "this record is cut off (at byte 9 of 18)"},
                     {cobra_txn(1, "") + open, {}, "transaction 1 starts here and in T1.log"},
                     {open + cobra_read(0xbebeebee, 7, 7), {}, "write id of another writer"},
                 });
}

TEST(Cobra, ReadsADirectoryInTheOrderOfItsNumbers) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("isoscope-cobra-" + std::to_string(::getpid()));
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto put = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  const auto empty = read_history(folder.string());
  ASSERT_FALSE(empty.ok());
  EXPECT_THAT(render(empty.error()), HasSubstr(": error: this directory holds no"));
  put("T10.log", cobra_txn(10, cobra_write(1, 5)));
  put("T2.log", cobra_txn(20, cobra_read(10, 1, 5)));
  put("readme.txt", "no log");
  const auto h = read_history(folder.string());
  ASSERT_TRUE(h.ok()) << render(h.error());
  EXPECT_EQ(h->name(SessionId{0}), "s2");
  EXPECT_EQ(h->name(SessionId{1}), "s10");
  EXPECT_EQ(h->writer(event_at(*h, 1, 0)), TxnId{2});
  EXPECT_FALSE(read_history(folder.string(), Format::Plume).ok());
  put("T3.log", "S");
  EXPECT_THAT(render(read_history(folder.string()).error()),
              HasSubstr("T3.log: error: this record"));
  fs::remove_all(folder);
}

TEST(IsoPredict, ReadsEveryLineOfItsGrammar) {
  const History h = expect_read(Format::IsoPredict, example_of(Format::IsoPredict));
  ASSERT_EQ(h.num_txns(), 4U);
  EXPECT_EQ(h.name(TxnId{2}), "t2_0");
  EXPECT_EQ(h.name(h.session(TxnId{2})), "s2");
  EXPECT_EQ(h.writer(event_at(h, 2, 0)), TxnId{1});
  EXPECT_EQ(h.name(h.key(event_at(h, 2, 1))), "Set(cart:7)");
  EXPECT_EQ(h.name(h.key(event_at(h, 3, 0))), "y[1]");
  EXPECT_EQ(h.writer(event_at(h, 3, 0)), kInitialTxn);
  EXPECT_EQ(h.writer(event_at(h, 3, 1)), TxnId{2});
  EXPECT_TRUE(h.value(event_at(h, 3, 2)).is_nil());
  EXPECT_TRUE(h.faults().empty());
}

TEST(IsoPredict, TakesTheLastWriteAndKeepsLocalReadsLocal) {
  const History h = expect_read(Format::IsoPredict,
                                "WRITE KEY[x] Txn(0, 0)\n"
                                "WRITE KEY[x] Txn(1, 5)\n"
                                "READ KEY[x] Txn(1, 5) From(0, 0)\n"
                                "READ KEY[x] Txn(2, 0) From(1, 5)\n"
                                "WRITE KEY[x] Txn(1, 5)\n");
  EXPECT_EQ(h.num_txns(), 3U);
  EXPECT_TRUE(h.faults().empty());
  EXPECT_EQ(h.writer(event_at(h, 1, 1)), TxnId{1});
  EXPECT_EQ(h.writer(event_at(h, 2, 0)), TxnId{1});
}

TEST(IsoPredict, ReportsWhatTheOriginalSkips) {
  const std::string good = "WRITE KEY[x] Txn(1, 0)\n";
  const auto on_line_2 = [&](const std::string& line, std::uint32_t column, const char* what) {
    return BadText{good + line, {2, column}, what};
  };
  expect_refused(
      Format::IsoPredict,
      {
          on_line_2("COMMIT Txn(1, 0)", 1, "expected READ, WRITE, INSERT, DELETE or CONTAINS"),
          on_line_2("READ KEY[x] Txn(2, 0)", 22, "expected ' From('"),
          on_line_2("READ KEY[x Txn(2, 0)", 10, "expected KEY[…] Txn(…)"),
          on_line_2("WRITE KEY[x] Txn(2,0)", 19, "expected ', '"),
          on_line_2("WRITE KEY[x] Txn(a, 0)", 18, "expected the number of a session"),
          on_line_2("WRITE KEY[x] Txn(2, b)", 21, "expected the number of a transaction"),
          on_line_2("WRITE KEY[x] Txn(2, 0", 22, "expected ')'"),
          on_line_2("WRITE KEY[x] Txn(2, 0) x", 24, "expected the end of the line"),
          on_line_2("INSERT[1] in Set[2] Txn(2, 0)", 8, "INSERT[…] to Set[…] Txn(…)"),
          on_line_2("CONTAINS[1] in Set[2] Txn(2, 0) From(1, 0)", 20, "expected CONTAINS"),
          on_line_2("READ KEY[x] Txn(2, 0) From(3, 0)", 28,
                    "reads from (3, 0), which has not appeared"),
          on_line_2("READ KEY[y] Txn(2, 0) From(1, 0)", 28,
                    "from (1, 0), which has not written it"),
          on_line_2("READ KEY[x] Txn(2, 0) From(2, 0)", 28,
                    "from (2, 0), which has not written it"),
          on_line_2("WRITE KEY[x] Txn(0, 1)", 18, "session 0, which is reserved"),
          on_line_2("READ KEY[x] Txn(0, 0) From(1, 0)", 17, "session 0, which is reserved"),
          on_line_2("READ KEY[x] Txn(2, 0) From(0, 3)", 28, "session 0, which is reserved"),
      });
}

TEST(IsoPredict, PrintsWhatItReads) {
  const std::string text = example_of(Format::IsoPredict);
  EXPECT_EQ(written(expect_read(Format::IsoPredict, text), Format::IsoPredict), text);
}

// The file's order where it will do, else one that puts writers before their readers.
TEST(IsoPredict, FollowsACommitOrder) {
  EXPECT_EQ(written(history_of("s1: [r(x,1)] s2: [w(x,1)]"), Format::IsoPredict),
            "WRITE KEY[x] Txn(2, 2)\n"
            "READ KEY[x] Txn(1, 1) From(2, 2)\n");
  EXPECT_THAT(written(history_of("s1: [r(x,1) w(y,1)] s2: [r(y,1) w(x,1)]"), Format::IsoPredict),
              HasSubstr("so and wr have a cycle"));
}

}  // namespace
}  // namespace isoscope
