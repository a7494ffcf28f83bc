#include "sql/run/key_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace isoscope::sql {
namespace {

bool is_word_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool is_word(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_word_char);
}

// Takes the index that `rest` begins with.
std::optional<Value> take_index(std::string_view& rest) {
  if (rest.starts_with('\'')) {
    std::string text;
    for (std::size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] != '\'') {
        text += rest[i];
      } else if (i + 1 < rest.size() && rest[i + 1] == '\'') {
        text += rest[i++];
      } else {
        rest.remove_prefix(i + 1);
        return Value(std::move(text));
      }
    }
    return std::nullopt;
  }
  const std::size_t size = std::min(rest.find_first_of(",]"), rest.size());
  const std::string_view token = rest.substr(0, size);
  rest.remove_prefix(size);
  if (is_word(token)) return Value(std::string(token));
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (error == std::errc() && end == token.data() + token.size()) return Value(number);
  const auto decimal = parse_decimal(token);
  return decimal ? std::optional(Value(*decimal)) : std::nullopt;
}

}  // namespace

std::string index_name(const Value& value) {
  // Equal keys have one name.
  if (const auto* number = std::get_if<Decimal>(&value.data)) return print(shortest(*number));
  const auto* text = std::get_if<std::string>(&value.data);
  return text != nullptr && is_word(*text) ? *text : print(value);
}

std::optional<KeyName> parse_key_name(std::string_view name) {
  const std::size_t bracket = name.find('[');
  if (bracket == std::string_view::npos) return std::nullopt;
  KeyName parsed{std::string(name.substr(0, bracket)), {}};
  std::string_view rest = name.substr(bracket + 1);
  for (;;) {
    auto index = take_index(rest);
    if (!index) return std::nullopt;
    parsed.indices.push_back(*std::move(index));
    if (rest == "]") return parsed;
    if (!rest.starts_with(',')) return std::nullopt;
    rest.remove_prefix(1);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
  }
}

}  // namespace isoscope::sql
