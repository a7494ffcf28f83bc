#pragma once
// Texts inside the file, and the way back from an offset in one of them to a place in the file.
//
// The body of a function is a string of the file, and a statement is parsed out of the body, with
// words in front of it that make it a statement: offsets go through both.
//
//     file   … AS $$ BEGIN v := x + 1; END $$ …
//     body           BEGIN v := x + 1; END
//     parsed                SELECT x + 1
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/read/pg_parse.h"
#include "support/error.h"

namespace isoscope::sql {

// Lines of a text.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  // Of a text that is not in the file: all of it stands at this place.
  explicit LineIndex(Place everywhere) : everywhere_(everywhere) {}
  // Of the byte at `offset`, or of the end of the text if that comes first.
  Place place(std::size_t offset) const;

 private:
  std::vector<std::size_t> starts_;  // of each line
  std::size_t size_ = 0;
  std::optional<Place> everywhere_;
};

// A file of SQL and its words.
struct SourceFile {
  std::string_view text;
  LineIndex lines;
  std::vector<SqlToken> tokens;
};

// The byte at a place of the text.
std::size_t offset_of(std::string_view text, Place place);

// From a location in a parsed text to its place in the file.
struct Locator {
  const LineIndex* lines = nullptr;
  const std::vector<std::uint32_t>* offsets = nullptr;  // body to file; none for the file itself
  std::int64_t shift = 0;  // what to add to a location to get an offset in the body
  Place otherwise = {};    // the answer if `lines` is none

  Place place(std::int64_t location) const;
};

bool is_comment(std::string_view token);

// Tokens first … last of a text on one line, without comments, with single blanks between those
// that are apart.
std::string one_line(std::string_view text, std::span<const SqlToken> tokens);

// For each byte of the string that a token of the file stands for, where in the file it is; and
// the end. `token` is the string with its quotes, `begin` where it starts.
std::vector<std::uint32_t> string_offsets(std::string_view token, std::uint32_t begin);

}  // namespace isoscope::sql
