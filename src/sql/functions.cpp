#include "sql/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "sql/digits_limit.h"
#include "support/blanks.h"

namespace isoscope::sql {
namespace {

// A value as it stands in a text: without quotes.
std::string bare(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  return print(value);
}

Error too_long() { return {.what = fmt::format("a value is longer than {}", kMaxLength)}; }

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

// In characters of UTF-8.
std::int64_t length_of(const std::string& text) {
  return std::ranges::count_if(text, begins_character);
}

std::string left(const std::string& text, std::int64_t count) {
  const std::int64_t size = length_of(text);
  std::int64_t kept =
      count < 0 ? std::max<std::int64_t>(0, size + std::max(count, -size)) : std::min(count, size);
  const auto end =
      std::ranges::find_if(text, [&](char c) { return begins_character(c) && kept-- == 0; });
  return {text.begin(), end};
}

std::string right(const std::string& text, std::int64_t count) {
  const std::int64_t size = length_of(text);
  const std::int64_t passed =
      count < 0 ? std::min(-std::max(count, -size), size) : size - std::min(count, size);
  return text.substr(left(text, passed).size());
}

// `start` counts from 1 and may lie before the text; then less of it is left.
Result<Value> part_of(const std::string& text, std::int64_t start,
                      std::optional<std::int64_t> count) {
  if (count && *count < 0) return Error{.what = "negative substring length not allowed"};
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  start = std::clamp(start, -kFar, kFar);
  if (count) count = std::min(*count, 2 * kFar);
  const std::int64_t size = length_of(text);
  const std::int64_t first = std::clamp<std::int64_t>(start, 1, size + 1) - 1;
  std::int64_t last = size;
  if (count && *count < size + 1 - std::min<std::int64_t>(start, size + 1))
    last = std::max<std::int64_t>(start - 1 + *count, first);
  return Value(right(left(text, last), last - first));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (from.empty()) return text;
  std::string result;
  std::size_t at = 0;
  for (std::size_t next = 0; (next = text.find(from, at)) != std::string::npos;
       at = next + from.size()) {
    result.append(text, at, next - at);
    result += to;
    if (result.size() > kMaxLength) return result;
  }
  return result.append(text, at);
}

std::string without_blanks(const std::string& text, bool begin, bool end) {
  const std::size_t first = begin ? text.find_first_not_of(' ') : 0;
  if (first == std::string::npos) return "";
  const std::size_t last = end ? text.find_last_not_of(' ') : text.size() - 1;
  return last == std::string::npos ? "" : text.substr(first, last + 1 - first);
}

// Only the letters of ASCII: which case others have depends on the locale of the database.
std::string in_case(std::string text, bool upper) {
  for (char& c : text) {
    if (upper && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (!upper && c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash ^ (hash >> 32);
}

// Other functions that are NULL wherever an argument is: casts too, by the type that they give.
bool is_strict(std::string_view name) {
  constexpr std::string_view kStrict[] = {
      "integer", "text",  "boolean",     "numeric",  "upper",     "lower",
      "left",    "right", "length",      "substr",   "substring", "trim",
      "btrim",   "ltrim", "rtrim",       "replace",  "md5",       "lpad",
      "rpad",    "sign",  "char_length", "position", "hashtext",  "hashtextextended"};
  return std::ranges::find(kStrict, name) != std::end(kStrict);
}

Error not_of_its_type() { return {.what = "a text is none of its type"}; }

Result<Value> integer_of(std::string_view text) {
  text = trimmed(text, blanks::in_sql);
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed == std::errc::invalid_argument || end != text.data() + text.size())
    return not_of_its_type();
  if (failed != std::errc()) return Error{.what = "bigint out of range"};
  return Value(number);
}

// Any beginning of true, false, yes and no; on, off, of; 1 and 0.
Result<Value> truth_of(std::string_view text) {
  const std::string word = in_case(std::string(trimmed(text, blanks::in_sql)), false);
  if (word.empty()) return not_of_its_type();
  const auto begins = [&](std::string_view whole) { return whole.starts_with(word); };
  if (begins("true") || begins("yes") || word == "on" || word == "1") return Value(true);
  if (begins("false") || begins("no") || word == "off" || word == "of" || word == "0")
    return Value(false);
  return not_of_its_type();
}

// A cast between whole numbers, truth values and texts; nothing if it is another one.
std::optional<Result<Value>> cast_to(std::string_view type, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) {
    if (type == "text") return Value(std::to_string(*number));
    if (type == "boolean") return Value(*number != 0);
  }
  if (const auto* truth = std::get_if<bool>(&value.data)) {
    if (type == "text") return Value(std::string(*truth ? "true" : "false"));
    if (type == "integer") return Value(static_cast<std::int64_t>(*truth ? 1 : 0));
  }
  if (const auto* text = std::get_if<std::string>(&value.data)) {
    if (type == "integer") return integer_of(*text);
    if (type == "boolean") return truth_of(*text);
  }
  return std::nullopt;
}

// round, trunc, ceil, floor and sign of a numeric or NULL.
Result<Value> call_on_decimal(std::string_view name, std::span<const Value> arguments) {
  const auto* number = std::get_if<Decimal>(&arguments[0].data);
  if (number == nullptr) return Value();
  if (name == "sign")
    return Value(Decimal{number->digits < 0 ? -1 : number->digits > 0 ? 1 : 0, 0});
  std::int64_t scale = 0;
  if (arguments.size() > 1) {
    const auto* given = std::get_if<std::int64_t>(&arguments[1].data);
    if (given == nullptr) return Value();
    scale = std::clamp<std::int64_t>(*given, -2000, 2000);  // as the server does
  }
  const Rounding rounding = name == "round"   ? Rounding::HalfAway
                            : name == "trunc" ? Rounding::Down
                            : name == "floor" ? Rounding::Floor
                                              : Rounding::Ceiling;
  const auto result = rounded(*number, static_cast<int>(scale), rounding);
  if (!result) return too_many_digits();
  return Value(*result);
}

// NULL counts as nothing.
Result<Value> concatenation(std::span<const Value> values) {
  std::string all;
  for (const Value& value : values) {
    if (value.is_null()) continue;
    const auto* truth = std::get_if<bool>(&value.data);
    all += truth != nullptr ? (*truth ? "t" : "f") : bare(value);
    if (all.size() > kMaxLength) return too_long();
  }
  return Value(std::move(all));
}

// Of a text and whole numbers or texts, none of them NULL; nothing if it is another function.
std::optional<Result<Value>> call_on_text(std::string_view name, const std::string& text,
                                          std::span<const Value> others) {
  const auto number = [&](std::size_t i) { return std::get_if<std::int64_t>(&others[i].data); };
  const auto word = [&](std::size_t i) { return std::get_if<std::string>(&others[i].data); };
  if (others.empty()) {
    if (name == "length" || name == "char_length") return Value(length_of(text));
    if (name == "btrim" || name == "ltrim" || name == "rtrim")
      return Value(without_blanks(text, name != "rtrim", name != "ltrim"));
  }
  if (others.size() == 1 && number(0) != nullptr) {
    if (name == "left") return Value(left(text, *number(0)));
    if (name == kCut) return Value(cut_text(text, static_cast<std::size_t>(*number(0))));
    if (name == "right") return Value(right(text, *number(0)));
    if (name == "substr" || name == "substring") return part_of(text, *number(0), std::nullopt);
  }
  if (others.size() == 2) {
    const bool is_part = name == "substr" || name == "substring";
    if (is_part && number(0) != nullptr && number(1) != nullptr)
      return part_of(text, *number(0), *number(1));
    if (name == "replace" && word(0) != nullptr && word(1) != nullptr) {
      std::string made = replaced(text, *word(0), *word(1));
      if (made.size() > kMaxLength) return Result<Value>(too_long());
      return Value(std::move(made));
    }
  }
  return std::nullopt;
}

}  // namespace

std::string cut_text(std::string text, std::size_t length) {
  std::int64_t excess = length_of(text) - static_cast<std::int64_t>(length);
  for (; excess > 0 && text.ends_with(' '); --excess) text.pop_back();
  return text;
}

bool is_null_of_null_only(std::string_view name) {
  constexpr std::string_view kTotal[] = {
      "upper", "lower", "left", "length", "md5", "sign", "hashtext", "hashtextextended", kCut};
  return std::ranges::find(kTotal, name) != std::end(kTotal);
}

Result<Value> concatenate(const Value& a, const Value& b) {
  const auto* left_list = std::get_if<std::vector<Value>>(&a.data);
  const auto* right_list = std::get_if<std::vector<Value>>(&b.data);
  if (left_list != nullptr || right_list != nullptr) {
    std::vector<Value> list;
    for (const Value* side : {&a, &b}) {
      if (const auto* elements = std::get_if<std::vector<Value>>(&side->data)) {
        list.insert(list.end(), elements->begin(), elements->end());
      } else {
        list.push_back(*side);
      }
    }
    if (list.size() > kMaxLength) return too_long();
    return Value(std::move(list));
  }
  if (a.is_null() || b.is_null()) return Value();
  std::string text = bare(a) + bare(b);
  if (text.size() > kMaxLength) return too_long();
  return Value(std::move(text));
}

bool is_decimal_function(std::string_view name) {
  for (const std::string_view known : {"round", "trunc", "ceil", "ceiling", "floor", "sign"}) {
    if (name == known) return true;
  }
  return false;
}

Result<Value> call_function(std::string_view name, Type type, std::span<const Value> arguments) {
  if (is_decimal_function(name) && !arguments.empty() &&
      (arguments[0].is_null() || std::holds_alternative<Decimal>(arguments[0].data)))
    return call_on_decimal(name, arguments);
  if (name == kMessageOfError && !arguments.empty()) {
    if (!arguments[0].is_null()) return arguments[0];
    return Error{.what = "what the server says of this error (SQLERRM) is not known",
                 .is_limit = true};
  }
  const auto* text =
      arguments.empty() ? nullptr : std::get_if<std::string>(&arguments.front().data);
  if (is_strict(name) && std::ranges::any_of(arguments, &Value::is_null)) return Value();
  if (arguments.size() == 1) {
    if (auto made = cast_to(name, arguments.front())) return *std::move(made);
    const auto* number = std::get_if<std::int64_t>(&arguments.front().data);
    if (number != nullptr && name == "sign")
      return Value(static_cast<std::int64_t>(*number > 0) - static_cast<std::int64_t>(*number < 0));
  }
  if (text != nullptr && arguments.size() == 1) {
    if (name == "upper" || name == "lower") {
      if (std::ranges::any_of(*text, [](char c) { return static_cast<unsigned char>(c) > 0x7f; }))
        return Error{
            .what = fmt::format("{} of letters beyond ASCII goes by the server's locale", name),
            .is_limit = true};
      return Value(in_case(*text, name == "upper"));
    }
  }
  if (name == "concat") return concatenation(arguments);
  if (text != nullptr) {
    if (auto made = call_on_text(name, *text, arguments.subspan(1))) return *std::move(made);
  }
  std::string called(name);
  called += '(';
  for (const Value& argument : arguments) {
    if (called.back() != '(') called += ", ";
    called += print(argument);
    if (called.size() > kMaxLength) return too_long();
  }
  called += ')';
  switch (type) {
    case Type::Text: return Value(std::move(called));
    case Type::Integer: return Value(static_cast<std::int64_t>(hash_of(called) % 1'000'000'000));
    case Type::Numeric:
      return Value(Decimal{static_cast<std::int64_t>(hash_of(called) % 1'000'000'000), 2});
    case Type::Boolean: return Value(hash_of(called) % 2 == 1);
  }
  return Value();
}

}  // namespace isoscope::sql
