#include "report/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "support/assert.h"
#include "support/printable.h"
#include "support/version.h"

namespace isoscope {
namespace {

struct Words {
  std::string_view command;
  std::string_view good;
  std::string_view interesting = {};  // empty: the command looks for nothing
};
constexpr std::array kCommandWords = {
    Words{"audit", "none", "anomaly"},
    Words{"check", "consistent", "violated"},
    Words{"compare", "ok"},  // of a matrix; of two levels their relation
    Words{"convert", "ok"},
    Words{"demo", "shown"},
    Words{"explore", "complete", "violated"},
    Words{"force", "prevented", "reproduced"},
    Words{"generate", "ok"},
    Words{"levels", "ok"},
    Words{"predict", "none", "predicted"},
    Words{"probe", "kept", "broken"},
    Words{"record", "recorded"},
    Words{"run", "ok", "violated"},
    Words{"stats", "ok"},
    Words{"stress", "consistent", "violated"},
    Words{"synth", "none", "found"},
};

const Words& words_of(std::string_view command) {
  const auto* words = std::ranges::find(kCommandWords, command, &Words::command);
  ISO_ASSERT(words != kCommandWords.end());
  return *words;
}

// What every object begins with, the answers and the errors.
Json tool_json() { return {{"tool", "isoscope"}, {"version", kVersion}}; }

}  // namespace

std::string_view word_of(std::string_view command, Outcome outcome) {
  switch (outcome) {
    case Outcome::Consistent: return words_of(command).good;
    case Outcome::Violated:
      ISO_ASSERT(!words_of(command).interesting.empty());
      return words_of(command).interesting;
    case Outcome::Unknown: break;
  }
  return "unknown";  // of whatever was asked, even before it is known to be a command
}

Header header_of(std::string_view command, const Answer& answer, double seconds,
                 std::optional<std::string_view> word) {
  return {.command = command,
          .verdict = word ? *word : word_of(command, answer.outcome),
          .outcome = answer.outcome,
          .limit = answer.limit,
          .stats = answer.stats,
          .seconds = seconds};
}

Json json_header(const Header& header) {
  Json json = tool_json();
  json["command"] = header.command;
  json["verdict"] = header.verdict;
  json["seconds"] = header.seconds;
  json["stats"] = stats_json(header.stats);
  if (!header.limit.empty()) json["limit"] = header.limit;
  return json;
}

Json error_json(const Error& error) {
  const std::string where =
      error.where.line == 0
          ? error.file
          : fmt::format("{}:{}:{}", error.file, error.where.line, error.where.column);
  Json json = tool_json();
  json["error"] = {{"where", where}, {"what", error.what}, {"hint", error.hint}};
  return json;
}

Json stats_json(const Stats& stats) {
  Json json = Json::object();
  for (const auto& [name, value] : stats.all()) json[name] = value;
  return json;
}

std::string painted(std::string_view text, Outcome outcome, const Paint& paint) {
  switch (outcome) {
    case Outcome::Consistent: return paint.good(text);
    case Outcome::Violated: return paint.bad(text);
    case Outcome::Unknown: break;
  }
  return paint.unsure(text);
}

Page page_of(const Header& header, const std::string& source) {
  return {.command = std::string(header.command),
          .verdict = std::string(header.verdict),
          .is_good = header.outcome == Outcome::Consistent,
          .source = printable(source)};
}

}  // namespace isoscope
