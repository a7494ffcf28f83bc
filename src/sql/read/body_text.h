#pragma once
// The text of a function's body, and where in it the parts of its tree stand.
//
// The tree of a PL/pgSQL body knows only lines. It comes in the order of the text, though, and
// holds the SQL as written, with blanks for what belongs to PL/pgSQL (INTO v). So a cursor that
// moves forward through the tokens finds each part again.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/read/source_text.h"

namespace isoscope::sql {

class BodyText {
 public:
  // `offsets` as of string_offsets().
  BodyText(std::string body, std::vector<std::uint32_t> offsets, const LineIndex& file);

  // The token from which the word, or the text, stands at or behind the line and the cursor, and
  // moves the cursor behind its first token.
  std::optional<std::size_t> find_word(std::uint32_t line, std::string_view word);
  std::optional<std::size_t> find_text(std::uint32_t line, std::string_view text);

  std::string_view word(std::size_t token) const;
  std::size_t num_tokens() const { return tokens_.size(); }
  std::size_t cursor() const { return cursor_; }
  const SqlToken& token(std::size_t i) const { return tokens_[i]; }
  std::string_view text() const { return body_; }
  // Where the token starts in the file.
  std::size_t file_offset(std::size_t token) const;
  // Does the name occur, in any case of letters, outside of strings and comments?
  bool mentions(std::string_view name) const;

  Place place_of_token(std::size_t token) const;
  Place place_of_line(std::uint32_t line) const;
  // Where the text stands first, from the line on; the beginning of the line if it does not.
  Place place_from_line(std::uint32_t line, std::string_view text) const;
  // For a text that is parsed from the body at `offset`, behind `prefix` bytes of our own.
  Locator locator(std::size_t offset, std::size_t prefix) const;
  // The text from the token up to a semicolon or the words, exclusively, on one line.
  std::string text_from(std::size_t token, std::string_view stop) const;

 private:
  std::size_t first_token(std::uint32_t line) const;

  std::string body_;
  std::vector<std::uint32_t> offsets_;
  const LineIndex& file_;
  std::vector<std::size_t> line_starts_;
  std::vector<SqlToken> tokens_;  // without comments
  std::size_t cursor_ = 0;
};

// The two are the same but for the case of letters.
bool same_word(std::string_view a, std::string_view b);

}  // namespace isoscope::sql
