#pragma once
// Cuts the text of a .hist file into tokens. Used by the reader of the format only.
//
// Blanks, newlines and comments (`#` to the end of the line) separate tokens and mean nothing
// else. The token ahead is always at hand; a level's name, whose dashes would otherwise be signs,
// is read on request.
#include <cstdint>
#include <string>
#include <string_view>

#include "support/result.h"
#include "support/text_cursor.h"

namespace isoscope {

struct HistToken {
  enum class Kind : std::uint8_t { Name, Int, String, Sign, End };

  Kind kind = Kind::End;
  std::string_view text = {};  // as it stands in the file
  std::string string = {};     // of a String: without quotes and escapes
  std::int64_t number = 0;     // of an Int
  Place place = {};

  bool is(char sign) const { return kind == Kind::Sign && text[0] == sign; }
  bool is_name() const { return kind == Kind::Name; }
};

class HistLexer {
 public:
  // The caller keeps `text` alive.
  explicit HistLexer(std::string_view text)
      : at_(text), has_bars_(text.find('|') != std::string_view::npos) {}

  // Reads the next token into `token`.
  Result<void> next(HistToken& token);
  // What stands at once behind the last token, read as the name of a level: NAME {(-|+|.)NAME}
  // [+] [@co|@vis|@snap].
  Result<std::string> level();
  // The first sign of the next token, without reading it.
  char peek();
  // Does a '|' come before the ']' that ends the transaction whose '[' was just read?
  bool has_bar();
  Place place() const { return at_.place(); }

 private:
  void skip_blanks();
  std::string_view take_name();
  Result<void> read_int(HistToken& token);
  Result<void> read_string(HistToken& token);

  TextCursor at_;
  bool has_bars_;  // anywhere, so that texts without are not searched again and again
};

// Is it a NAME of the grammar: letters, digits and underscores, not beginning with a digit?
bool is_hist_name(std::string_view text);
// Can it stand as a key without quotes: NAME, NAME[1,2] or NAME[1,2].NAME?
bool is_bare_hist_key(std::string_view text);

// Is it a LEVEL of the grammar, as in update-ser, PL-2+ or cc@vis?
bool is_level_name(std::string_view text);

}  // namespace isoscope
