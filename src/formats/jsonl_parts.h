#pragma once
// What the header and the transactions of a jsonl file have in common: members, keys and values.
#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/json_text.h"
#include "formats/run_notes.h"
#include "history/builder.h"
#include "support/spelling.h"

namespace isoscope {

// The first line: {"format":"isoscope-history/1","init":{"x":5}}. Requires: json is open on it.
Result<void> read_jsonl_header(JsonText& json, HistoryBuilder& b, std::uint32_t line);

// "stmts" and "gaps" of a transaction; counted in `notes`, too.
Result<void> read_run_statements(JsonText& json, JsonText::Item& item, TxnNote& txn,
                                 RunNotes& notes);
Result<void> read_run_gaps(JsonText& json, JsonText::Item& item, TxnNote& txn, RunNotes& notes);

// The document, which must be an object.
Result<JsonText::Object> root_object(JsonText& json, std::string_view what);

// A string or an integer.
Result<KeyId> jsonl_key(JsonText& json, HistoryBuilder& b, JsonText::Item& item);
// The same or null.
Result<Value> jsonl_value(JsonText& json, HistoryBuilder& b, JsonText::Item& item);

// Calls `read` with each member of the object and its position among the known ones. Each may
// come once; others are errors.
template <class ReadMember>
Result<void> for_each_member(JsonText& json, JsonText::Object& object,
                             std::span<const std::string_view> known, const ReadMember& read) {
  using simdjson::SUCCESS;
  std::uint32_t seen = 0;
  for (auto member : object) {
    simdjson::ondemand::field field;
    if (auto error = std::move(member).get(field); error != SUCCESS) return json.syntax(error);
    const char* at = field.key().raw() - 1;
    std::string_view name;
    if (auto error = field.unescaped_key().get(name); error != SUCCESS) return json.syntax(error);
    std::size_t i = 0;
    while (i < known.size() && known[i] != name) ++i;
    if (i == known.size())
      return Error{.where = json.place_of(at),
                   .what = fmt::format("unknown member '{}'", name),
                   .hint = suggest(name, known)};
    if ((seen >> i & 1U) != 0)
      return Error{.where = json.place_of(at),
                   .what = fmt::format("the member '{}' comes twice", name)};
    seen |= 1U << i;
    if (auto done = read(i, field.value()); !done) return done;
  }
  return {};
}

}  // namespace isoscope
