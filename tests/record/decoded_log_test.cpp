#include "record/decoded_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/rng.h"

namespace isoscope::record {
namespace {

using testing::ElementsAre;
using testing::Pair;

DecodedLog read(const std::vector<std::string>& lines) {
  LogReader reader(700);
  for (std::size_t i = 0; i < lines.size(); ++i)
    reader.line("0/" + std::to_string(10 + i), lines[i]);
  return reader.take_log();
}

TEST(DecodedLog, ReadsChangesInTheOrderOfCommits) {
  const DecodedLog log = read({
      "BEGIN 735",
      "table public.t: INSERT: id[integer]:1 \"Na me\"[character varying]:'it''s' "
      "x[integer[]]:null "
      "b[boolean]:true bits[bit]:B'01'",
      "table public.t: UPDATE: old-key: id[integer]:1 new-tuple: id[integer]:2 "
      "big[text]:unchanged-toast-datum",
      "table public.t: UPDATE: id[integer]:2 big[text]:'a b [c]:''d'''",
      "table \"my schema\".u: DELETE: id[integer]:-5",
      "table public.a, public.b: TRUNCATE: (no-flags)",
      "COMMIT 735",
  });
  EXPECT_EQ(log.trouble, "");
  ASSERT_EQ(log.txns.size(), 1U);
  EXPECT_EQ(log.txns[0].xid, 735U);
  const auto& changes = log.txns[0].changes;
  ASSERT_EQ(changes.size(), 6U);
  EXPECT_THAT(changes[0].values,
              ElementsAre(Pair("id", "1"), Pair("Na me", "it's"), Pair("x", std::nullopt),
                          Pair("b", "true"), Pair("bits", "01")));
  EXPECT_THAT(changes[1].old, ElementsAre(Pair("id", "1")));
  EXPECT_THAT(changes[1].values, ElementsAre(Pair("id", "2")));
  EXPECT_THAT(changes[1].kept, ElementsAre("big"));
  EXPECT_THAT(changes[2].values, ElementsAre(Pair("id", "2"), Pair("big", "a b [c]:'d'")));
  EXPECT_EQ(changes[3].table, "my schema.u");
  EXPECT_THAT(changes[3].values, ElementsAre(Pair("id", "-5")));
  EXPECT_EQ(changes[5].table, "public.b");
  EXPECT_EQ(changes[0].lsn, 0x11U);
}

TEST(DecodedLog, ReadsTheMessagesOfGates) {
  const DecodedLog log = read({
      "message: transactional: 0 prefix: isoscope 12, sz: 33 content:730:736:731,733 735 read "
      "committed",
      "message: transactional: 1 prefix: other, sz: 1 content:x",
      "message: transactional: 0 prefix: isoscope 13, sz: 33 content:730:736:  serializable",
      "message: transactional: 0 prefix: isoscope 14, sz: 33 content:730:737:",
  });
  EXPECT_EQ(log.trouble, "");
  ASSERT_EQ(log.messages.size(), 3U);
  EXPECT_EQ(log.messages[1].xid, 0U);
  EXPECT_EQ(log.messages[1].isolation.text, "serializable");
  EXPECT_EQ(log.messages[2].gate, 14U);
  EXPECT_EQ(log.messages[2].isolation.text, "");
  EXPECT_TRUE(log.messages[2].snapshot.sees(736));
  EXPECT_EQ(log.messages[0].gate, 12U);
  EXPECT_EQ(log.messages[0].xid, 735U);
  EXPECT_EQ(log.messages[0].isolation.text, "read committed");
  const Snapshot& snapshot = log.messages[0].snapshot;
  for (const std::uint64_t xid : {729, 732, 734, 735}) EXPECT_TRUE(snapshot.sees(xid)) << xid;
  for (const std::uint64_t xid : {731, 733, 736}) EXPECT_FALSE(snapshot.sees(xid)) << xid;
}

TEST(DecodedLog, SaysWhichLineItDoesNotUnderstand) {
  EXPECT_EQ(read({"BEGIN 1", "table public.t: INSERT: id[integer]", "COMMIT 1"}).trouble,
            "table public.t: INSERT: id[integer]");
  EXPECT_EQ(read({"something else"}).trouble, "something else");
}

TEST(DecodedLog, SurvivesAnyText) {
  Rng rng(3);
  const std::string pieces[] = {"table ",
                                "public.t",
                                ": ",
                                "INSERT: ",
                                "UPDATE: ",
                                "old-key: ",
                                "id",
                                "[",
                                "]",
                                ":",
                                "'",
                                "\"",
                                "null",
                                "1",
                                "BEGIN ",
                                "COMMIT ",
                                "message: transactional: 0 "
                                "prefix: isoscope 1, sz: 3 content:",
                                " ",
                                ",",
                                "new-tuple: "};
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> lines;
    for (std::uint64_t n = rng.below(4); n > 0; --n) {
      std::string line;
      for (std::uint64_t k = rng.below(14); k > 0; --k)
        line += pieces[rng.below(std::size(pieces))];
      lines.push_back(line);
    }
    const DecodedLog log = read(lines);
    EXPECT_LE(log.txns.size() + log.messages.size(), lines.size());
  }
}

}  // namespace
}  // namespace isoscope::record
