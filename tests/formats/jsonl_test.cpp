#include "formats/jsonl.h"

#include "formats/bad_text.h"
#include "formats/examples.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;

const std::string kHeader = R"({"format":"isoscope-history/1"})"
                            "\n";

// A transaction with these operations.
std::string txn(const std::string& ops, const std::string& more = "") {
  return R"({"session":"s","id":"T1","status":"committed","ops":)" + ops + more + "}\n";
}

TEST(Jsonl, ReadsTransactionsAndTheirOperations) {
  const History h = expect_read(
      Format::Jsonl,
      kHeader +
          R"({"session":"s1","id":"T1","status":"committed","ops":[["r","x",0],["w","x",1],["r","y",{"from":"T7"}],["d","z"],["r","z",null]]})"
          "\n"
          R"({"session":"s2","id":"T7","status":"committed","ops":[["w","y",2]]})");
  EXPECT_EQ(h.num_txns(), 3U);
  EXPECT_EQ(h.name(TxnId{2}), "T7");
  EXPECT_EQ(h.writer(event_at(h, 1, 0)), kInitialTxn);
  EXPECT_EQ(h.writer(event_at(h, 1, 2)), TxnId{2});
  EXPECT_EQ(h.value(event_at(h, 1, 2)), Value::of(2));
  EXPECT_EQ(h.writer(event_at(h, 1, 4)), TxnId{1});
  EXPECT_EQ(h.place(event_at(h, 1, 1)), (Place{2, 67}));
}

TEST(Jsonl, ReadsEverythingElse) {
  const History h = expect_read(Format::Jsonl, example_of(Format::Jsonl));
  EXPECT_EQ(h.status(TxnId{2}), TxnStatus::Aborted);
  EXPECT_EQ(h.status(TxnId{3}), TxnStatus::Unknown);
  EXPECT_EQ(h.level(TxnId{2}), "si");
  ASSERT_NE(h.note(TxnId{3}), nullptr);
  EXPECT_EQ(h.note(TxnId{3})->sql, "SELECT");
  EXPECT_EQ(h.note(TxnId{3})->at, "12");
  EXPECT_EQ(h.name(h.key(event_at(h, 3, 2))), "é");
  EXPECT_EQ(h.show(h.value(event_at(h, 3, 2))), "é\n");
  EXPECT_THAT(h.list(event_at(h, 3, 1)), ElementsAre(Value::of(1)));
  EXPECT_TRUE(h.has_explicit_initial(KeyId{0}));
  EXPECT_EQ(h.key_name(KeyId{1}), Value::of(7));
}

const std::string kRecorded =
    R"({"format":"isoscope-history/1","source":"a recorder"})"
    "\n"
    R"({"session":"s","id":"T1","status":"committed","ops":[[],[["r","x",0],["w","x",1]]],)"
    R"("isolation":"read committed","start":1,"end":9,"commit":3,)"
    R"("stmts":[{"sql":"SET a TO b","at":2},{"sql":"UPDATE","at":3,"params":[null,"a",{"hex":"00"}]}]})"
    "\n";

TEST(Jsonl, ReadsTheStatementsOfRecordedRuns) {
  const History h = expect_read(Format::Jsonl, kRecorded);
  EXPECT_EQ(h.num_events(), 2U);
  EXPECT_TRUE(h.is_write(event_at(h, 1, 1)));
  LineReader in = LineReader::over(kRecorded);
  RunNotes notes;
  ASSERT_TRUE(read_jsonl(in, &notes));
  EXPECT_TRUE(notes.is_recorded);
  EXPECT_EQ(notes.statements, 2U);
  EXPECT_EQ(notes.limit(), "");
}

TEST(Jsonl, KeepsWhatRecordedRunsSay) {
  const History h = expect_read(Format::Jsonl, kRecorded);
  EXPECT_EQ(h.header().source, "a recorder");
  EXPECT_EQ(h.num_statements(TxnId{1}), 2U);
  EXPECT_EQ(h.statement(event_at(h, 1, 0)), 1U);
  EXPECT_EQ(h.times(TxnId{1}), (TxnTimes{1, 9}));
  EXPECT_EQ(h.commit_number(TxnId{1}), 3);
  const TxnNote* note = h.note(TxnId{1});
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->isolation, "read committed");
  ASSERT_EQ(note->stmts.size(), 2U);
  EXPECT_EQ(note->stmts[1].sql, "UPDATE");
  EXPECT_EQ(note->stmts[1].at, "3");
  ASSERT_TRUE(note->stmts[1].params.has_value());
  EXPECT_EQ(note->stmts[1].params->size(), 3U);
}

TEST(Jsonl, ReadsLocksInsertsAndTimes) {
  const History h = expect_read(
      Format::Jsonl,
      R"({"format":"isoscope-history/1","conflicts":"row"})"
      "\n" +
          txn(R"([["l","a[1]"],[["ls",7],["i","a[1].b",1]],["lk","c"]])", R"(,"start":4)"));
  EXPECT_EQ(h.header().conflicts, "row");
  ASSERT_EQ(h.locks().size(), 3U);
  EXPECT_EQ(h.num_statements(TxnId{1}), 3U);
  EXPECT_EQ(h.locks()[0].row, h.row(KeyId{0}));
  EXPECT_EQ(h.locks()[1].mode, LockMode::Share);
  EXPECT_EQ(h.locks()[2].before.index, 1U);
  EXPECT_TRUE(h.is_insert(event_at(h, 1, 0)));
  EXPECT_EQ(h.times(TxnId{1})->end, TxnTimes::kOpen);
}

TEST(Jsonl, RefusesBadRuns) {
  const std::string second = R"({"session":"s","id":"T2","status":"committed","ops":[],"commit":3})"
                             "\n";
  expect_refused(
      Format::Jsonl,
      {{kHeader + txn("[]", R"(,"end":4)"), {2, 1}, "an end but no start"},
       {kHeader + txn("[]", R"(,"start":5,"end":4)"), {2, 1}, "before it starts"},
       {kHeader + txn("[]", R"(,"commit":3)") + second, {3, 1}, "both are number 3"},
       {kHeader + txn(R"([["l","x",1]])"), {2, 54}, "too many parts"},
       {kHeader + txn(R"([["lx","x"]])"), {2, 54}, "unknown operation 'lx'"},
       {R"({"format":"isoscope-history/1","conflicts":"table"})", {1, 44}, "can conflict"}});
}

TEST(Jsonl, TellsGapsOnlyToThoseWhoAsk) {
  const std::string text =
      kHeader + txn(R"([["w","x",1]])", R"(,"gaps":[{"stmt":1,"why":"a join"},{"why":"a join"}])");
  LineReader in = LineReader::over(text);
  RunNotes notes;
  ASSERT_TRUE(read_jsonl(in, &notes));
  EXPECT_EQ(notes.gaps, 2U);
  EXPECT_EQ(notes.reasons.at("a join"), 2U);
  EXPECT_NE(notes.limit().find("2 gaps"), std::string::npos);
  const auto refused = parse_history(text, Format::Jsonl);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().is_limit);
}

TEST(Jsonl, TakesMembersInAnyOrder) {
  const History h = expect_read(
      Format::Jsonl,
      kHeader + R"( {"ops":[["w","x",1]],"at":"now","status":"unknown","id":"a","session":"b"} )");
  EXPECT_EQ(h.name(TxnId{1}), "a");
  EXPECT_EQ(h.name(SessionId{0}), "b");
  EXPECT_EQ(h.status(TxnId{1}), TxnStatus::Unknown);
}

TEST(Jsonl, TellsKeysThatAreNumbersFromTexts) {
  const History h = expect_read(Format::Jsonl, kHeader + txn(R"([["w",7,1],["w","7",1]])"));
  EXPECT_EQ(h.num_keys(), 2U);
}

TEST(Jsonl, RefusesBadHeaders) {
  expect_refused(
      Format::Jsonl,
      {
          {txn("[]"), {1, 1}, "the first line must be the header"},
          {"{}", {1, 1}, "the first line must be the header"},
          {"7", {1, 1}, "expected the header, a JSON object"},
          {R"({"format":"isoscope-history/2"})", {1, 11}, "unknown format 'isoscope-history/2'"},
          {R"({"format":7})", {1, 11}, "expected the name of the format to be a string"},
          {R"({"format":"isoscope-history/1","inti":{}})", {1, 32}, "unknown member 'inti'"},
          {R"({"format":"isoscope-history/1","init":7})", {1, 39}, "initial values are"},
          {R"({"format":"isoscope-history/1","init":{"x":[]}})", {1, 44}, "expected a value"},
          {R"({"format":"isoscope-history/1","init":[["x"]]})", {1, 40}, "initial values are"},
          {R"({"format":"isoscope-history/1","init":[["x",1,2]]})", {1, 40}, "initial values are"},
          {R"({"format":"isoscope-history/1","init":{"x":1,"x":2}})",
           {1, 46},
           "two initial values"},
          {kHeader + kHeader, {2, 2}, "unknown member 'format'"},
      });
}

TEST(Jsonl, RefusesBadTransactions) {
  const auto on_line_2 = [](const std::string& line, std::uint32_t column, const char* what) {
    return BadText{kHeader + line, {2, column}, what};
  };
  expect_refused(
      Format::Jsonl,
      {
          on_line_2("[]", 1, "expected a transaction, a JSON object"),
          on_line_2(R"({"session":"s","id":"a","status":"committed"})", 1,
                    "lacks the member 'ops'"),
          on_line_2(R"({"id":"a","status":"committed","ops":[]})", 1, "lacks the member 'session'"),
          on_line_2(R"({"session":"s","id":"a","id":"b"})", 25, "the member 'id' comes twice"),
          on_line_2(R"({"session":"s","ids":"a"})", 16, "unknown member 'ids'"),
          on_line_2(R"({"session":7})", 12, "expected session to be a string"),
          on_line_2(R"({"session":""})", 12, "the session has no name"),
          on_line_2(R"({"status":"comitted"})", 11, "unknown status 'comitted'"),
          on_line_2(R"({"level":"a b"})", 10, "cannot be the name of a level"),
          on_line_2(R"({"at":[]})", 7, "expected 'at': a string, or a 64-bit integer"),
          on_line_2(R"({"session":"s","id":"T0","status":"committed","ops":[]})", 1,
                    "T0 is the initial transaction"),
          on_line_2(txn("7"), 53, "expected 'ops', an array"),
          on_line_2(txn("[7]"), 54, "expected an operation, an array"),
          on_line_2(txn(R"([["x","k",1]])"), 54, "unknown operation 'x'"),
          on_line_2(txn(R"([[7,"k",1]])"), 55, "expected the kind of an operation to be a string"),
          on_line_2(txn(R"([["r","k"]])"), 54, "too few parts"),
          on_line_2(txn(R"([[["r"]]])"), 55, "too few parts"),
          on_line_2(txn(R"([["r","k",1,2]])"), 54, "too many parts"),
          on_line_2(txn(R"([["d","k",1]])"), 54, "too many parts"),
          on_line_2(txn(R"([["r",null,1]])"), 59, "expected a key: a string, or a 64-bit integer"),
          on_line_2(txn(R"([["r","k",1.5]])"), 63, "expected a value"),
          on_line_2(txn(R"([["w","k",9223372036854775808]])"), 63, "expected a value"),
          on_line_2(txn(R"([["w","k",true]])"), 63, "expected a value"),
          on_line_2(txn(R"([["w","k",nul]])"), 63, "expected a value"),
          on_line_2(txn(R"([["w","k",{"from":"T1"}]])"), 63, "expected a value"),
          on_line_2(txn(R"([["w","k",[1]]])"), 63, "expected a value"),
          on_line_2(txn(R"([["r","k",{}]])"), 54, "this read names no writer"),
          on_line_2(txn(R"([["r","k",{"form":"T1"}]])"), 64, "unknown member 'form'"),
          on_line_2(txn(R"([["r","k",[null]]])"), 64, "a list cannot hold null"),
          on_line_2(txn(R"([["a","k",null]])"), 63, "null cannot be appended"),
          on_line_2(txn(R"([["r","k",{"from":"T9"}]])"), 54, "which is no transaction"),
          on_line_2(txn(R"([["a","k",1],["w","k",2]])"), 66, "used as a register here"),
          {kHeader + txn("[]") + txn("[]"), {3, 1}, "two transactions are called 'T1'"},
      });
}

TEST(Jsonl, RefusesWhatIsNoJson) {
  expect_refused(
      Format::Jsonl,
      {
          {kHeader + "{\"session\":\"s", {2, 0}, "a string does not end"},
          {kHeader + "{\"session\":\"\xff\"}", {2, 0}, "not UTF-8"},
          {kHeader + "{\"session\" 1}", {2, 12}, "no valid JSON"},
          {kHeader + txn("[]").substr(0, 55) + "} x", {2, 1}, "or other text follows it"},
          {kHeader + "{\"session\":\"\\q\"}", {2, 12}, "escape that JSON does not know"},
      });
}

// As a writer leaves it that is stopped in the middle of a line.
TEST(Jsonl, SaysThatTheLastLineIsCut) {
  const std::string whole = kHeader + txn(R"([["w","x",1]])");
  for (const char* cut :
       {R"({"sess)", R"({"session":"s","id":"T2","status":"committed","ops":[["w")",
        R"({"session":"s","id":"T2","status":"committed","ops":[]])"}) {
    const auto h = parse_history(whole + cut, Format::Jsonl);
    ASSERT_FALSE(h.ok()) << cut;
    EXPECT_EQ(h.error().where.line, 3U);
    EXPECT_EQ(h.error().hint, "the file ends within this line, as if its writer had been stopped");
    const auto ended = parse_history(whole + cut + "\n", Format::Jsonl);
    ASSERT_FALSE(ended.ok()) << cut;
    EXPECT_NE(ended.error().hint, h.error().hint);
  }
}

TEST(Jsonl, PrintsWhatItReads) {
  const std::string text =
      R"({"format":"isoscope-history/1","init":[["x",5],[7,"a"]]})"
      "\n"
      R"({"session":"s1","id":"T1","status":"committed","ops":[["r","x",5],["w","x",1],["d","z"]]})"
      "\n"
      R"({"session":"s2","id":"T2","status":"aborted","ops":[["r","x",1],["r","z",null]],"level":"si"})"
      "\n"
      R"({"session":"s2","id":"b","status":"unknown","ops":[["a",8,1],["r",8,[1]],["w","é","é\n\u0001"]],"sql":"SELECT","at":"12"})"
      "\n";
  EXPECT_EQ(written(expect_read(Format::Jsonl, text), Format::Jsonl), text);
}

TEST(Jsonl, NamesWritersThatValuesDoNotTell) {
  const std::string text =
      written(history_of("s1: [w(x,1)] s2: [w(x,1)] s3: [r(x,@T2)] s4: [w(y,0)] s5: [r(y,@T0)]"),
              Format::Jsonl);
  EXPECT_THAT(text, ::testing::HasSubstr(R"([["r","x",{"from":"T2"}]])"));
  EXPECT_THAT(text, ::testing::HasSubstr(R"([["r","y",{"from":"T0"}]])"));
}

}  // namespace
}  // namespace isoscope
