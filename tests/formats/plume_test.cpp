#include "formats/plume.h"

#include "formats/bad_text.h"
#include "formats/examples.h"

namespace isoscope {
namespace {

TEST(Plume, ReadsTransactionsThatInterleave) {
  const History h = expect_read(Format::Plume,
                                "w(1,5,3,0)\n"
                                "r(1,5,4,1)\n"
                                "w(1,6,3,0)\n"
                                "w(2,7,3,2)\n"
                                "r(1,6,4,1)\n");
  EXPECT_EQ(h.num_txns(), 4U);
  EXPECT_EQ(h.name(TxnId{1}), "t0");
  EXPECT_EQ(h.name(h.session(TxnId{1})), "s3");
  EXPECT_EQ(h.events(TxnId{1}).size(), 2U);
  EXPECT_EQ(h.place(event_at(h, 1, 1)), (Place{3, 1}));
  EXPECT_EQ(h.session_txns(h.session(TxnId{1})).size(), 2U);
  EXPECT_EQ(h.writer(event_at(h, 2, 1)), TxnId{1});
  ASSERT_EQ(h.faults().size(), 1U);  // the first read saw a value that was overwritten
}

TEST(Plume, TakesEachAbortedLineForATransaction) {
  const History h = expect_read(Format::Plume, "w(1,5,0,-1)\nw(1,6,0,-1)\nr(1,0,0,-1)\n");
  EXPECT_EQ(h.num_txns(), 4U);
  for (std::uint32_t t = 1; t < 4; ++t) EXPECT_EQ(h.status(TxnId{t}), TxnStatus::Aborted);
}

TEST(Plume, NamesSharedNumbersBySession) {
  const History h =
      expect_read(Format::Plume, "w(1,1,3,7)\nw(1,2,4,7)\nw(1,3,3,7)\nw(1,4,4,8)\nr(1,2,4,7)\n");
  EXPECT_EQ(h.num_txns(), 4U);
  EXPECT_EQ(h.name(TxnId{1}), "t3_7");
  EXPECT_EQ(h.name(TxnId{2}), "t4_7");
  EXPECT_EQ(h.name(TxnId{3}), "t8");
  EXPECT_EQ(h.events(TxnId{1}).size(), 2U);
  EXPECT_EQ(h.events(TxnId{2}).size(), 2U);
}

TEST(Plume, FindsHugeAndScatteredNumbers) {
  std::string text;
  for (std::int64_t n : {INT64_MAX, std::int64_t{1'000'000}, std::int64_t{70'000}}) {
    for (const char* session : {"9223372036854775807", "65536", "2"})
      text += "w(1," + std::to_string(text.size() + 1) + "," + session + "," + std::to_string(n) +
              ")\n";
  }
  const History h = expect_read(Format::Plume, text + text.substr(0, text.find('\n')));
  EXPECT_EQ(h.num_txns(), 10U);
  EXPECT_EQ(h.num_sessions(), 3U);
  EXPECT_EQ(h.events(TxnId{1}).size(), 2U);
  EXPECT_EQ(h.name(TxnId{1}), "t9223372036854775807_9223372036854775807");
}

TEST(Plume, KeepsNumbersBeyondTheSignedOnes) {
  const History h = expect_read(Format::Plume, "w(18446744073709551615,9223372036854775808,0,0)\n");
  EXPECT_EQ(h.name(KeyId{0}), "18446744073709551615");
  EXPECT_EQ(h.show(h.value(EventId{0})), "9223372036854775808");
}

TEST(Plume, StartsEveryKeyWithZeroUnlessTheFileWritesIt) {
  const History h = expect_read(Format::Plume, "r(1,0,0,0)\nr(2,0,0,0)\nw(2,0,1,1)\n");
  EXPECT_EQ(h.writer(event_at(h, 1, 0)), kInitialTxn);
  EXPECT_EQ(h.writer(event_at(h, 1, 1)), TxnId{2});
}

TEST(Plume, RefusesOtherLines) {
  const std::string good = "w(1,5,0,0)\n\n";
  const auto on_line_3 = [&](const std::string& line, std::uint32_t column, const char* what) {
    return BadText{good + line, {3, column}, what};
  };
  expect_refused(
      Format::Plume,
      {
          on_line_3("x(1,5,0,0)", 1, "expected 'r' or 'w' instead of 'x'"),
          on_line_3(" w(1,5,0,0)", 1, "expected 'r' or 'w' instead of ' '"),
          on_line_3("w", 2, "expected '(' instead of the end of the line"),
          on_line_3("w[1,5,0,0)", 2, "expected '('"),
          on_line_3("w(,5,0,0)", 3, "expected an unsigned 64-bit key instead of ','"),
          on_line_3("w(-1,5,0,0)", 3, "expected an unsigned 64-bit key instead of '-'"),
          on_line_3("w(18446744073709551616,5,0,0)", 3, "which exceeds 64 bits"),
          on_line_3("w(1;5,0,0)", 4, "expected ',' behind the key"),
          on_line_3("w(1,x,0,0)", 5, "expected an unsigned 64-bit value instead of 'x'"),
          on_line_3("w(1, 5,0,0)", 5, "expected an unsigned 64-bit value instead of ' '"),
          on_line_3("w(1,5)", 6, "expected ',' behind the value"),
          on_line_3("w(1,5,-1,0)", 7, "expected the number of a session"),
          on_line_3("w(1,5,9223372036854775808,0)", 7, "expected the number of a session"),
          on_line_3("w(1,5,0)", 8, "expected ',' behind the session"),
          on_line_3("w(1,5,0,-2)", 9, "expected the number of a transaction, or -1"),
          on_line_3("w(1,5,0,0", 10, "expected ')'"),
          on_line_3("w(1,5,0,0) x", 11, "expected the end of the line"),
          {good + "w(1,5,1,1)\nr(1,5,2,2)", {4, 1}, "t0 (line 1) and t1 (line 3) both write it"},
      });
}

TEST(Plume, PrintsWhatItReads) {
  const std::string text =
      "w(1,5,7,4)\nw(1,18446744073709551615,7,4)\nr(1,18446744073709551615,3,9)\n"
      "w(2,6,3,-1)\nr(2,0,3,4)\n";
  EXPECT_EQ(written(expect_read(Format::Plume, text), Format::Plume), text);
}

}  // namespace
}  // namespace isoscope
