#include <algorithm>
#include <array>
#include <optional>

#include "formats/jsonl.h"
#include "formats/jsonl_parts.h"

namespace isoscope {

namespace {

using simdjson::SUCCESS;
using Item = JsonText::Item;

constexpr std::array<std::string_view, 4> kHeaderMembers = {"format", "init", "source",
                                                            "conflicts"};
constexpr std::array<std::string_view, 2> kConflicts = {"row", "column"};

Error malformed_initial(Place place) {
  return Error{.where = place,
               .what = "initial values are an object or a list of pairs",
               .hint = R"({"x":5} or [["x",5],[7,5]])"};
}

// ["x",5]
Result<void> initial_pair(JsonText& json, HistoryBuilder& b, JsonText::Array& pair, Place place) {
  std::optional<KeyId> x;
  std::optional<Value> value;
  for (auto part : pair) {
    Item item;
    if (auto error = std::move(part).get(item); error != SUCCESS) return json.syntax(error);
    if (!x) {
      auto k = jsonl_key(json, b, item);
      if (!k) return k.error();
      x = *k;
    } else if (!value) {
      auto v = jsonl_value(json, b, item);
      if (!v) return v.error();
      value = *v;
    } else {
      return malformed_initial(place);
    }
  }
  if (!value) return malformed_initial(place);
  b.set_initial(*x, *value, place);
  return {};
}

// {"x":5} or, as names of members are strings, [[7,5]] for keys that are numbers.
Result<void> initial_values(JsonText& json, HistoryBuilder& b, Item& item) {
  if (json.first_sign(item) == '[') {
    JsonText::Array pairs;
    if (auto error = item.get_array().get(pairs); error != SUCCESS) return json.syntax(error);
    for (auto element : pairs) {
      JsonText::Array pair;
      const Place place = json.here();
      if (element.get_array().get(pair) != SUCCESS) return malformed_initial(place);
      if (auto done = initial_pair(json, b, pair, place); !done) return done;
    }
    return {};
  }
  JsonText::Object object;
  const Place place = json.here();
  if (item.get_object().get(object) != SUCCESS) return malformed_initial(place);
  for (auto member : object) {
    simdjson::ondemand::field field;
    if (auto error = std::move(member).get(field); error != SUCCESS) return json.syntax(error);
    const Place member_place = json.place_of(field.key().raw() - 1);
    std::string_view name;
    if (auto error = field.unescaped_key().get(name); error != SUCCESS) return json.syntax(error);
    const KeyId x = b.key(name);
    auto value = jsonl_value(json, b, field.value());
    if (!value) return value.error();
    b.set_initial(x, *value, member_place);
  }
  return {};
}

}  // namespace

Result<JsonText::Object> root_object(JsonText& json, std::string_view what) {
  JsonText::Object object;
  const Place place = json.here();
  const auto error = json.document().get_object().get(object);
  if (error == SUCCESS) return object;
  if (error != simdjson::INCORRECT_TYPE) return json.syntax(error);
  return Error{.where = place, .what = fmt::format("expected {}, a JSON object", what)};
}

Result<void> read_jsonl_header(JsonText& json, HistoryBuilder& b, std::uint32_t line) {
  auto object = root_object(json, "the header");
  if (!object) return object.error();
  bool format_seen = false;
  RunHeader header;
  const auto read_member = [&](std::size_t i, Item& item) -> Result<void> {
    if (kHeaderMembers[i] == "init") return initial_values(json, b, item);
    if (kHeaderMembers[i] == "source") {
      auto source = json.string(item, "the source");
      if (!source) return source.error();
      header.source = *source;
      return {};
    }
    const Place place = json.here();
    if (kHeaderMembers[i] == "conflicts") {
      auto conflicts = json.string(item, "what conflicts");
      if (!conflicts) return conflicts.error();
      header.conflicts = *conflicts;
      if (std::find(kConflicts.begin(), kConflicts.end(), *conflicts) != kConflicts.end())
        return {};
      return Error{.where = place,
                   .what = fmt::format("'{}' is nothing that can conflict", *conflicts),
                   .hint = R"("conflicts" is "row" or "column")"};
    }
    const auto format = json.string(item, "the name of the format");
    if (!format) return format.error();
    if (*format != kJsonlFormat)
      return Error{.where = place,
                   .what = fmt::format("unknown format '{}'", *format),
                   .hint = fmt::format("this program reads {}", kJsonlFormat)};
    format_seen = true;
    return {};
  };
  auto done = for_each_member(json, *object, kHeaderMembers, read_member);
  b.set_header(std::move(header));
  if (format_seen || (!done && !done.error().what.starts_with("unknown member"))) return done;
  // A first line that is a transaction is best told what is missing.
  return Error{.where = {line, 1},
               .what = "the first line must be the header",
               .hint = fmt::format(R"({{"format":"{}"}})", kJsonlFormat)};
}

Result<KeyId> jsonl_key(JsonText& json, HistoryBuilder& b, Item& item) {
  if (json.first_sign(item) == '"') {
    auto name = json.string(item, "a key");
    if (!name) return name.error();
    return b.key(*name);
  }
  auto number = json.integer(item, "a key: a string, or");
  if (!number) return number.error();
  return b.key(*number);
}

Result<Value> jsonl_value(JsonText& json, HistoryBuilder& b, Item& item) {
  switch (json.first_sign(item)) {
    case '"': {
      auto text = json.string(item, "a value");
      if (!text) return text.error();
      return b.text(*text);
    }
    case 'n': {
      const Place place = json.here();
      bool is_null = false;
      if (item.is_null().get(is_null) != SUCCESS || !is_null)
        return Error{.where = place, .what = "expected a value"};
      return Value::nil();
    }
    default: {
      auto number = json.integer(item, "a value: null, a string, or");
      if (!number) return number.error();
      return Value::of(*number);
    }
  }
}

}  // namespace isoscope
