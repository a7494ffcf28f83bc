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
Result<StatementParameter> parameter(JsonText& json, Item& item) {
  switch (json.first_sign(item)) {
    case 'n': {
      const Place place = json.here();
      bool is_null = false;
      if (item.is_null().get(is_null) == SUCCESS && is_null) return StatementParameter{};
      return Error{.where = place, .what = "expected a parameter"};
    }
    case '{': {
      constexpr std::array<std::string_view, 1> kHex = {"hex"};
      JsonText::Object object;
      if (auto error = item.get_object().get(object); error != SUCCESS) return json.syntax(error);
      StatementParameter bytes{.kind = StatementParameter::Kind::Hex};
      auto done = for_each_member(json, object, kHex, [&](std::size_t, Item& hex) -> Result<void> {
        auto text = json.string(hex, "the bytes of a parameter");
        if (!text) return text.error();
        bytes.text = *text;
        return {};
      });
      if (!done) return done.error();
      return bytes;
    }
    default: {
      auto text = json.string(item, "a parameter: null, an object, or");
      if (!text) return text.error();
      return StatementParameter{.kind = StatementParameter::Kind::Text, .text = std::string(*text)};
    }
  }
}

Result<void> parameters(JsonText& json, Item& item, StatementNote& statement) {
  JsonText::Array array;
  const Place place = json.here();
  if (item.get_array().get(array) != SUCCESS)
    return Error{.where = place, .what = "expected 'params', an array"};
  statement.params.emplace();
  for (auto element : array) {
    Item value;
    if (auto error = std::move(element).get(value); error != SUCCESS) return json.syntax(error);
    auto read = parameter(json, value);
    if (!read) return read.error();
    statement.params->push_back(*std::move(read));
  }
  return {};
}

Result<void> statement_member(JsonText& json, std::string_view name, Item& item,
                              StatementNote& statement) {
  if (name == "params") return parameters(json, item, statement);
  if (name == "at" && json.first_sign(item) != '"') {
    auto at = json.integer(item, "'at': a string, or");
    if (!at) return at.error();
    statement.at = std::to_string(*at);
    return {};
  }
  auto text = json.string(item, name);
  if (!text) return text.error();
  (name == "sql" ? statement.sql : name == "at" ? statement.at : statement.error) = *text;
  return {};
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

Result<void> read_run_statements(JsonText& json, Item& item, TxnNote& txn, RunNotes& notes) {
  return each_object(json, item, "stmts", [&](JsonText::Object& object) -> Result<void> {
    ++notes.statements;
    StatementNote& statement = txn.stmts.emplace_back();
    return for_each_member(json, object, kStatementMembers, [&](std::size_t i, Item& member) {
      return statement_member(json, kStatementMembers[i], member, statement);
    });
  });
}

Result<void> read_run_gaps(JsonText& json, Item& item, TxnNote& txn, RunNotes& notes) {
  return each_object(json, item, "gaps", [&](JsonText::Object& object) -> Result<void> {
    ++notes.gaps;
    GapNote& gap = txn.gaps.emplace_back();
    auto done = for_each_member(
        json, object, kGapMembers, [&](std::size_t i, Item& member) -> Result<void> {
          if (kGapMembers[i] == "stmt") {
            auto number = json.unsigned_integer(member, "the number of a statement");
            if (!number) return number.error();
            gap.stmt = *number;
            return {};
          }
          auto text = json.string(member, "the reason of a gap");
          if (!text) return text.error();
          gap.why = *text;
          return {};
        });
    ++notes.reasons[gap.why.empty() ? "no reason given" : gap.why];
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
