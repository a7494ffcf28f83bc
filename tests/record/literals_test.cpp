#include "record/literals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/gatekeeper.h"
#include "support/rng.h"

namespace isoscope::record {
namespace {

std::string key(std::string_view text) {
  std::string out = key_of(text).key;
  for (char& c : out) {
    if (c >= '\x01' && c <= '\x03') c = static_cast<char>("?is#"[static_cast<int>(c)]);
  }
  return out;
}

TEST(TextKey, LeavesOutWhatIsALiteralBeyondDoubt) {
  EXPECT_EQ(key("SELECT v FROM t1 WHERE id = 17 AND c='it''s' /* a */ -- b\nLIMIT 3"),
            "SELECT v FROM t1 WHERE id = i AND c=s # #\nLIMIT i");
  EXPECT_EQ(key("a[1:2] + f(-5) || 'x' \"1 'a\" $1"), "a[i:i] + f(-i) || s \"1 'a\" $1");
  EXPECT_EQ(key("1.5 1e5 .5 0x1F 1234567890 007 a1 1a 5.x"),
            "1.5 1e5 .5 0x1F 1234567890 007 a1 1a 5.x");
}

TEST(TextKey, IsTheTextWhereAScannerMustKnowMore) {
  for (const char* text :
       {"SELECT E'a', 1", "SELECT 'a\\'', 1", "SELECT U&\"a\", 1", "SELECT $$1$$", "SELECT B'1'",
        "SELECT 1 /* a /* b */ c */", "SELECT 'open", "SELECT \x01 1", "SELECT a$1, 1"}) {
    EXPECT_EQ(key_of(text).key, text);
    EXPECT_TRUE(key_of(text).literals.empty()) << text;
  }
}

// What is known about one text and told of another of its key is what the parser says of that.
TEST(Gatekeeper, SaysOfEveryTextWhatTheParserSays) {
  const char* patterns[] = {
      "SELECT v FROM t WHERE id = #",
      "SELECT v FROM t WHERE id = -# AND c = $ LIMIT #",
      "/* $ */ UPDATE t SET v = #, c = $ WHERE id = # -- $\n AND v < #",
      "INSERT INTO t (a, b) VALUES /* # */ (#, $) RETURNING a",
      "DELETE FROM t WHERE a BETWEEN # AND #; SELECT # ; INSERT INTO t VALUES (#, #), (#, #)",
      "SET x = #; SELECT v FROM t WHERE c = $",
      "DECLARE c CURSOR FOR SELECT v FROM t WHERE id = #",
      "SELECT a.v FROM t a JOIN u ON u.id = a.v WHERE u.w = $",
      "BEGIN; SELECT v FROM t WHERE id = # -- # \n; COMMIT",
      "SELECT v FROM t WHERE id = # --  #   \n ",
  };
  Rng rng(7);
  Gatekeeper gates;
  std::size_t statements = 0;
  for (int round = 0; round < 400; ++round) {
    std::string text;
    for (const char* c = patterns[rng.below(std::size(patterns))]; *c != '\0'; ++c) {
      if (*c == '#') {
        text += std::to_string(rng.below(rng.below(2) == 0 ? 10 : 2'000'000'000));
      } else if (*c == '$') {
        text += "'" + std::string(rng.below(4), rng.below(2) == 0 ? 'x' : ' ') + "'";
      } else {
        text += *c;
      }
    }
    const auto known = gates.statements(text);
    const auto parsed = split_statements(text);
    ASSERT_EQ(known.size(), parsed.size()) << text;
    for (std::size_t i = 0; i < known.size(); ++i) {
      ++statements;
      EXPECT_EQ(known[i].text.text, parsed[i].text) << text;
      EXPECT_EQ(known[i].text.kind, parsed[i].kind) << text;
      if (!has_shape(parsed[i].kind)) continue;
      const Shape exact = shape_of(parsed[i].text, parsed[i].kind);
      const Shape& shared = *known[i].shape;
      EXPECT_EQ(gated(parsed[i].text, shared, 1, GateKind::OwnId),
                gated(parsed[i].text, exact, 1, GateKind::OwnId));
      const Constants a(shared, parsed[i].text);
      const Constants b(exact, parsed[i].text);
      EXPECT_EQ(a.text(shared.condition), b.text(exact.condition)) << text;
      EXPECT_EQ(a.text(shared.values), b.text(exact.values)) << text;
      EXPECT_EQ(shared.gap, exact.gap);
      ASSERT_EQ(shared.limit.has_value(), exact.limit.has_value());
      if (shared.limit) {
        EXPECT_EQ(a.integer(*shared.limit), b.integer(*exact.limit)) << text;
      }
      ASSERT_EQ(shared.equated_integers.size(), exact.equated_integers.size()) << text;
      for (const auto& [column, place] : shared.equated_integers)
        EXPECT_EQ(a.integer(place), b.integer(exact.equated_integers.at(column))) << text;
    }
  }
  EXPECT_GT(statements, 400U);
}

}  // namespace
}  // namespace isoscope::record
