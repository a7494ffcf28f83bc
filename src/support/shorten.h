#pragma once
// Messages that quote what users wrote, or list what a program did, stay short however long that
// is.
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace isoscope {

// The text if it has at most `most` bytes, else its beginning and "…". No character is cut in two.
std::string shortened(std::string_view text, std::size_t most);

// A window of at most `most` bytes of the text around the byte at `offset`, and the offset of that
// byte in it. "…" stands for what is left out.
struct Excerpt {
  std::string text;
  std::size_t offset = 0;
};
Excerpt excerpt_around(std::string_view text, std::size_t offset, std::size_t most);

// Items in a row. Of many, the first and the last few, and how many are left out between them.
std::string short_list(std::size_t count, std::string_view separator,
                       const std::function<std::string(std::size_t)>& item);

}  // namespace isoscope
