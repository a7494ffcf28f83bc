#pragma once
// A text without its constants: what stays the same when a client writes other numbers and strings
// into the same statement.
//
//     SELECT v FROM t WHERE id = 17 AND c = 'x' /* page 3 */
//     SELECT v FROM t WHERE id = #  AND c = #   #
//
// Two texts with the same key differ in integers, strings and comments only, so PostgreSQL's parser
// sees the same tokens in both, and what was found about one holds of the other, with places moved
// by what the constants grew. A literal is taken out only where no doubt is possible: an integer of
// at most nine digits that stands alone, a string in plain quotes without a backslash, a comment
// that contains no other. A text with anything else that a scanner must know (E'…', U&"…", $$…$$)
// is its own key.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace isoscope::record {

// A place of a text, [begin, end) in bytes.
struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool empty() const { return begin == end; }
};

struct TextKey {
  std::string key;
  std::vector<Range> literals;  // in the order of the text; none of a text that is its own key
};

TextKey key_of(std::string_view text);

// Where a place of one text is in another of the same key. Requires: the place is not inside of a
// literal.
std::size_t moved(std::size_t place, const std::vector<Range>& from, const std::vector<Range>& to);

}  // namespace isoscope::record
