#pragma once
// One JSON document on its way through simdjson, with places for errors.
//
// simdjson wants padding behind the text and keeps no line numbers; this class copies the text
// into a padded buffer that it reuses, and turns positions in that buffer into places. The
// on-demand parser reads each value once and in order, so a caller walks the document forwards.
// It throws nothing: every step gives an error code, which syntax() turns into an Error.
#include <simdjson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "support/result.h"

namespace isoscope {

class JsonText {
 public:
  using Document = simdjson::ondemand::document;
  using Array = simdjson::ondemand::array;
  using Object = simdjson::ondemand::object;
  using Item = simdjson::ondemand::value;

  // Makes `text` the document; it begins on this line. Invalidates the document before it.
  Result<void> open(std::string_view text, std::uint32_t line);
  Document& document() { return document_; }
  // Nothing but blanks must follow the document.
  Result<void> close();

  // Where the parser stands: at the beginning of the value that is to be read next.
  const char* location();
  Place here() { return place_of(location()); }
  // The place of a byte of the document, for instance of a raw key. Cheap if places ascend.
  Place place_of(const char* at);

  // The text is no JSON, or not of the expected type.
  Error syntax(simdjson::error_code code);
  // An integer of 64 bits, with or without a sign as the type has it.
  Result<std::int64_t> integer(Item& item, std::string_view what);
  Result<std::uint64_t> unsigned_integer(Item& item, std::string_view what);
  // A string; valid until the next open().
  Result<std::string_view> string(Item& item, std::string_view what);
  // Any of [ { " t f n or a number's first sign.
  char first_sign(Item& item);

 private:
  simdjson::ondemand::parser parser_;
  std::string buffer_;
  std::size_t size_ = 0;
  Document document_;
  // Where the last place was found.
  std::size_t known_at_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t first_line_ = 1;
  std::uint32_t line_ = 1;
};

}  // namespace isoscope
