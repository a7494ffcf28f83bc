// Transactions that are written one at a time are those of the whole history.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/formats.h"
#include "generate/generate.h"

namespace isoscope {
namespace {

const PlainOp kOps[] = {{false, 7, 0}, {true, 8, 12}, {false, 8, 12}};

std::string print(TxnStatus status, Format format) {
  std::string out;
  append_txn({.number = 3, .session = 2, .status = status, .ops = kOps}, format, out);
  return out;
}

TEST(AppendTxn, WritesPlumeALineAnOperation) {
  EXPECT_EQ(print(TxnStatus::Committed, Format::Plume),
            "r(7,0,2,3)\n"
            "w(8,12,2,3)\n"
            "r(8,12,2,3)\n");
  EXPECT_EQ(print(TxnStatus::Aborted, Format::Plume), "w(8,12,2,-1)\n");
}

TEST(AppendTxn, WritesJsonlALineATransaction) {
  EXPECT_EQ(stream_header(Format::Jsonl), "{\"format\":\"isoscope-history/1\"}\n");
  EXPECT_EQ(print(TxnStatus::Committed, Format::Jsonl),
            "{\"session\":\"s2\",\"id\":\"T3\",\"status\":\"committed\","
            "\"ops\":[[\"r\",7,0],[\"w\",8,12],[\"r\",8,12]]}\n");
  EXPECT_THAT(print(TxnStatus::Aborted, Format::Jsonl),
              ::testing::HasSubstr("\"status\":\"aborted\""));
}

TEST(AppendTxn, WritesHistALineATransaction) {
  EXPECT_EQ(print(TxnStatus::Committed, Format::Hist),
            "s2: [r(\"7\",0) w(\"8\",12) r(\"8\",12)]\n");
  EXPECT_EQ(print(TxnStatus::Aborted, Format::Hist), "s2: [r(\"7\",0) w(\"8\",12) r(\"8\",12)]!\n");
}

// What is printed is what generate_history() builds, transaction by transaction.
TEST(AppendTxn, ReadsBackAsTheSameHistory) {
  for (const Format format : all_formats()) {
    if (!can_stream(format)) continue;
    SCOPED_TRACE(name_of(format));
    // Plume cannot hold the reads of an aborted transaction.
    const HistoryPlan plan{.level = Logic::Si,
                           .sessions = 6,
                           .txns = 200,
                           .ops = 5,
                           .keys = 15,
                           .log_aborted = format != Format::Plume,
                           .inject = "fractured-read"};
    std::string text(stream_header(format));
    const auto sizes =
        generate_txns(plan, [&](const PlainTxn& txn) { append_txn(txn, format, text); });
    ASSERT_TRUE(sizes.ok());
    const auto expected = generate_history(plan);
    const auto h = parse_history(text, format);
    ASSERT_TRUE(expected.ok());
    ASSERT_TRUE(h.ok()) << render(h.error());
    ASSERT_EQ(h->num_txns(), expected->num_txns());
    ASSERT_EQ(h->num_events(), expected->num_events());
    for (const TxnId t : h->txns()) {
      EXPECT_EQ(h->status(t), expected->status(t));
      EXPECT_EQ(h->name(h->session(t)), expected->name(expected->session(t)));
      if (format != Format::Plume) {  // which says t3 for T3
        EXPECT_EQ(h->name(t), expected->name(t));
      }
    }
    for (const EventId e : h->all_events()) {
      EXPECT_EQ(h->kind(e), expected->kind(e));
      EXPECT_EQ(h->name(h->key(e)), expected->name(expected->key(e)));
      EXPECT_EQ(h->value(e), expected->value(e));
    }
  }
}

// The two roads to a file lead to the same bytes, where the format has only one way to say it.
TEST(AppendTxn, AgreesWithTheWriterOfWholeHistories) {
  for (const Format format : {Format::Jsonl, Format::Plume}) {
    const HistoryPlan plan{.level = Logic::Cc, .txns = 300, .inject = "causality-violation"};
    std::string text(stream_header(format));
    const auto sizes =
        generate_txns(plan, [&](const PlainTxn& txn) { append_txn(txn, format, text); });
    const auto h = generate_history(plan);
    ASSERT_TRUE(sizes.ok() && h.ok());
    std::string whole;
    const auto written = write_history(*h, format, [&](std::string_view piece) { whole += piece; });
    ASSERT_TRUE(written.ok()) << render(written.error());
    EXPECT_EQ(text, whole) << name_of(format);
  }
}

// FNV-1a, which fits in a line.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// A seed that somebody quotes keeps its meaning: these numbers change only on purpose. Uniform
// keys, so that no C library has a say.
TEST(AppendTxn, PrintsTheSameBytesOnEveryMachine) {
  const std::vector<std::pair<Logic, std::uint64_t>> expected = {
      {Logic::Ser, 0xc77c90020910115a}, {Logic::Si, 0x5f0af62a50b69800},
      {Logic::Psi, 0x51d16488e293eaa0}, {Logic::Pc, 0x3081abb3dcc2c7ef},
      {Logic::Cc, 0xc6d588c50352e57a},  {Logic::Ra, 0xeff967d16f941de8},
      {Logic::Rc, 0x905a30bf77c004d6}};
  for (const auto& [level, hash] : expected) {
    const HistoryPlan plan{.level = level,
                           .sessions = 10,
                           .txns = 500,
                           .keys = 50,
                           .log_aborted = true,
                           .inject = "long-fork",
                           .seed = 42};
    std::string text;
    const auto sizes =
        generate_txns(plan, [&](const PlainTxn& txn) { append_txn(txn, Format::Plume, text); });
    ASSERT_TRUE(sizes.ok());
    EXPECT_EQ(hash_of(text), hash) << name_of(level);
  }
}

TEST(AppendTxn, LeavesOtherFormatsToTheirWriters) {
  EXPECT_FALSE(can_stream(Format::Elle));
  EXPECT_FALSE(can_stream(Format::Dbcop));
}

}  // namespace
}  // namespace isoscope
