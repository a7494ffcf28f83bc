#include "report/header.h"

#include <algorithm>
#include <array>

#include "support/assert.h"
#include "support/printable.h"

namespace isoscope {
namespace {

struct Words {
  std::string_view command;
  std::string_view good;
  std::string_view interesting;
};
constexpr std::array kCommandWords = {
    Words{"audit", "none", "anomaly"},        Words{"check", "consistent", "violated"},
    Words{"explore", "complete", "violated"}, Words{"force", "prevented", "reproduced"},
    Words{"predict", "none", "predicted"},    Words{"probe", "kept", "broken"},
    Words{"run", "ok", "violated"},           Words{"stress", "consistent", "violated"},
    Words{"synth", "none", "found"},
};

}  // namespace

std::string_view word_of(std::string_view command, Outcome outcome) {
  const auto* words = std::ranges::find(kCommandWords, command, &Words::command);
  ISO_ASSERT(words != kCommandWords.end());
  switch (outcome) {
    case Outcome::Consistent:
      return words->good;
    case Outcome::Violated:
      return words->interesting;
    case Outcome::Unknown:
      break;
  }
  return "unknown";
}

Header header_of(std::string_view command, const Answer& answer, double seconds) {
  return {.command = command,
          .verdict = word_of(command, answer.outcome),
          .outcome = answer.outcome,
          .limit = answer.limit,
          .stats = answer.stats,
          .seconds = seconds};
}

Json json_header(const Header& header) {
  Json json = json_header(header.command, header.verdict, header.seconds);
  json["stats"] = stats_json(header.stats);
  if (!header.limit.empty()) json["limit"] = header.limit;
  return json;
}

Json stats_json(const Stats& stats) {
  Json json = Json::object();
  for (const auto& [name, value] : stats.all()) json[name] = value;
  return json;
}

std::string painted(std::string_view text, Outcome outcome, const Paint& paint) {
  switch (outcome) {
    case Outcome::Consistent:
      return paint.good(text);
    case Outcome::Violated:
      return paint.bad(text);
    case Outcome::Unknown:
      break;
  }
  return paint.unsure(text);
}

Page page_of(const Header& header, const std::string& source) {
  return {.command = std::string(header.command),
          .verdict = std::string(header.verdict),
          .is_good = header.outcome == Outcome::Consistent,
          .source = printable(source)};
}

FindingCase::Result result_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Consistent:
      return FindingCase::Result::Passed;
    case Outcome::Violated:
      return FindingCase::Result::Failed;
    case Outcome::Unknown:
      break;
  }
  return FindingCase::Result::Undecided;
}

}  // namespace isoscope
