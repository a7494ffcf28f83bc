#include "record/wire.h"

#include <gtest/gtest.h>

#include "support/rng.h"

namespace isoscope::record {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out.push_back(static_cast<char>(value));
  return out;
}

TEST(Framer, GathersWhatIsWantedAndPassesTheRest) {
  Framer framer("Q");
  const std::string query = message_of('Q', std::string("SELECT 1") + '\0');
  const std::string row = message_of('D', "0123456789");
  EXPECT_EQ(framer.next(query.substr(0, 7)).kind, Piece::Kind::Incomplete);
  const std::string both = query + row;
  const Piece whole = framer.next(both);
  EXPECT_EQ(whole.kind, Piece::Kind::Message);
  EXPECT_EQ(whole.payload(), std::string("SELECT 1") + '\0');
  const std::string half = row.substr(0, 7);
  const Piece first = framer.next(half);
  EXPECT_EQ(first.kind, Piece::Kind::Part);
  EXPECT_TRUE(first.is_first);
  EXPECT_EQ(first.bytes, half);
  const std::string rest = row.substr(7) + query;
  const Piece second = framer.next(rest);
  EXPECT_FALSE(second.is_first);
  EXPECT_EQ(second.bytes, row.substr(7));
}

TEST(Framer, RefusesLengthsThatCannotBe) {
  EXPECT_EQ(Framer("").next(bytes({'Q', 0, 0, 0, 3})).kind, Piece::Kind::Broken);
  EXPECT_EQ(Framer("").next(bytes({'Q', 0xFF, 0, 0, 0})).kind, Piece::Kind::Broken);
  EXPECT_EQ(Framer::next_start_packet(bytes({0, 0, 0, 7})).kind, Piece::Kind::Broken);
  EXPECT_EQ(Framer::next_start_packet(bytes({0, 1, 0, 0})).kind, Piece::Kind::Broken);
}

// However a stream is cut, the pieces put together are the stream.
TEST(Framer, LosesNoByteOfAnyStream) {
  Rng rng(7);
  for (int round = 0; round < 3000; ++round) {
    std::string stream;
    for (std::uint64_t i = rng.below(6); i > 0; --i) {
      const char type = "QDCE"[rng.below(4)];
      std::string payload;
      for (std::uint64_t n = rng.below(30); n > 0; --n)
        payload.push_back(static_cast<char>(rng.below(256)));
      stream += message_of(type, payload);
    }
    if (rng.below(4) == 0) stream += std::string(rng.below(9), static_cast<char>(rng.below(256)));
    Framer framer("QC");
    std::string unread;
    std::string seen;
    bool is_broken = false;
    for (std::size_t at = 0; at < stream.size() && !is_broken;) {
      const std::size_t size = 1 + rng.below(9);
      unread += stream.substr(at, size);
      at += size;
      for (;;) {
        const Piece piece = framer.next(unread);
        if (piece.kind == Piece::Kind::Incomplete) break;
        is_broken |= piece.kind == Piece::Kind::Broken;
        if (is_broken) break;
        seen += piece.bytes;
        unread.erase(0, piece.bytes.size());
      }
    }
    EXPECT_TRUE(stream.starts_with(seen + unread));
    EXPECT_TRUE(is_broken || seen + unread == stream);
  }
}

TEST(Fields, EndWhereThePayloadEnds) {
  const std::string payload = bytes({0, 2, 'a', 0, 'b'});
  Fields fields(payload);
  EXPECT_EQ(fields.int16(), 2);
  EXPECT_EQ(fields.string(), "a");
  EXPECT_EQ(fields.string(), "");
  EXPECT_TRUE(fields.has_failed());
  EXPECT_EQ(fields.int32(), 0U);
}

TEST(ErrorField, FindsTheSqlstate) {
  const std::string payload = std::string("SERROR") + '\0' + "C40001" + '\0' + '\0';
  EXPECT_EQ(error_field(payload, 'C'), "40001");
  EXPECT_EQ(error_field(payload, 'M'), "");
  EXPECT_EQ(error_field("C40001", 'C'), "");
}

}  // namespace
}  // namespace isoscope::record
