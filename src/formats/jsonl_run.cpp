#include <fmt/format.h>

#include <array>

#include "formats/jsonl_parts.h"
#include "formats/run_notes.h"

namespace isoscope {

namespace {

using simdjson::SUCCESS;
using Item = JsonText::Item;

constexpr std::array<std::string_view, 4> kStatementMembers = {"sql", "at", "params", "error"};
constexpr std::array<std::string_view, 2> kGapMembers = {"stmt", "why"};

// null, a text, or {"hex":"00ff"}.
Result<void> parameter(JsonText& json, Item& item) {
  switch (json.first_sign(item)) {
    case 'n': {
      const Place place = json.here();
      bool is_null = false;
      if (item.is_null().get(is_null) == SUCCESS && is_null) return {};
      return Error{.where = place, .what = "expected a parameter"};
    }
    case '{': {
      constexpr std::array<std::string_view, 1> kHex = {"hex"};
      JsonText::Object object;
      if (auto error = item.get_object().get(object); error != SUCCESS) return json.syntax(error);
      return for_each_member(json, object, kHex, [&](std::size_t, Item& hex) -> Result<void> {
        auto text = json.string(hex, "the bytes of a parameter");
        return text ? Result<void>() : text.error();
      });
    }
    default: {
      auto text = json.string(item, "a parameter: null, an object, or");
      return text ? Result<void>() : text.error();
    }
  }
}

Result<void> parameters(JsonText& json, Item& item) {
  JsonText::Array array;
  const Place place = json.here();
  if (item.get_array().get(array) != SUCCESS)
    return Error{.where = place, .what = "expected 'params', an array"};
  for (auto element : array) {
    Item value;
    if (auto error = std::move(element).get(value); error != SUCCESS) return json.syntax(error);
    if (auto done = parameter(json, value); !done) return done;
  }
  return {};
}

Result<void> statement_member(JsonText& json, std::size_t i, Item& item) {
  if (kStatementMembers[i] == "params") return parameters(json, item);
  if (kStatementMembers[i] == "at" && json.first_sign(item) != '"') {
    auto at = json.integer(item, "'at': a string, or");
    return at ? Result<void>() : at.error();
  }
  auto text = json.string(item, kStatementMembers[i]);
  return text ? Result<void>() : text.error();
}

// Calls `read` with each object of an array.
template <class ReadObject>
Result<void> each_object(JsonText& json, Item& item, std::string_view what,
                         const ReadObject& read) {
  JsonText::Array array;
  const Place place = json.here();
  if (item.get_array().get(array) != SUCCESS)
    return Error{.where = place, .what = fmt::format("expected '{}', an array", what)};
  for (auto element : array) {
    JsonText::Object object;
    const Place object_place = json.here();
    if (element.get_object().get(object) != SUCCESS)
      return Error{.where = object_place, .what = fmt::format("expected an object in '{}'", what)};
    if (auto done = read(object); !done) return done;
  }
  return {};
}

}  // namespace

Result<void> read_run_statements(JsonText& json, Item& item, RunNotes& notes) {
  return each_object(json, item, "stmts", [&](JsonText::Object& object) -> Result<void> {
    ++notes.statements;
    return for_each_member(json, object, kStatementMembers, [&](std::size_t i, Item& member) {
      return statement_member(json, i, member);
    });
  });
}

Result<void> read_run_gaps(JsonText& json, Item& item, RunNotes& notes) {
  return each_object(json, item, "gaps", [&](JsonText::Object& object) -> Result<void> {
    ++notes.gaps;
    std::string why = "no reason given";
    auto done = for_each_member(
        json, object, kGapMembers, [&](std::size_t i, Item& member) -> Result<void> {
          if (kGapMembers[i] == "stmt") {
            auto number = json.unsigned_integer(member, "the number of a statement");
            return number ? Result<void>() : number.error();
          }
          auto text = json.string(member, "the reason of a gap");
          if (!text) return text.error();
          why = *text;
          return {};
        });
    ++notes.reasons[why];
    return done;
  });
}

std::string RunNotes::limit() const {
  if (gaps == 0) return {};
  const auto* most = &*reasons.begin();
  for (const auto& reason : reasons) {
    if (reason.second > most->second) most = &reason;
  }
  return fmt::format(
      "this recorded run has {} gap{}: statements that were not understood (most "
      "often: {})",
      gaps, gaps == 1 ? "" : "s", most->first);
}

}  // namespace isoscope
