#include "report/header.h"

#include <algorithm>
#include <array>

#include "audit/audit.h"
#include "explore/explore.h"
#include "force/forcing.h"
#include "predict/predict.h"
#include "support/assert.h"
#include "support/printable.h"
#include "synth/synth.h"

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

Header header_of(std::string_view command, Outcome outcome, std::string limit, double seconds) {
  return {.command = command,
          .verdict = word_of(command, outcome),
          .outcome = outcome,
          .limit = std::move(limit),
          .seconds = seconds};
}

Outcome outcome_of(SynthOutcome outcome) {
  switch (outcome) {
    case SynthOutcome::Found:
      return Outcome::Violated;
    case SynthOutcome::None:
      return Outcome::Consistent;
    case SynthOutcome::Unknown:
      break;
  }
  return Outcome::Unknown;
}

Outcome outcome_of(audit::AuditOutcome outcome) {
  switch (outcome) {
    case audit::AuditOutcome::Anomaly:
      return Outcome::Violated;
    case audit::AuditOutcome::None:
    case audit::AuditOutcome::Serializable:
      return Outcome::Consistent;
    case audit::AuditOutcome::Unknown:
      break;
  }
  return Outcome::Unknown;
}

Outcome outcome_of(explore::ExploreOutcome outcome) {
  switch (outcome) {
    case explore::ExploreOutcome::Complete:
      return Outcome::Consistent;
    case explore::ExploreOutcome::Violated:
      return Outcome::Violated;
    case explore::ExploreOutcome::Unknown:
      break;
  }
  return Outcome::Unknown;
}

Outcome outcome_of(force::ForceVerdict verdict) {
  switch (verdict) {
    case force::ForceVerdict::Reproduced:
      return Outcome::Violated;
    case force::ForceVerdict::Prevented:
      return Outcome::Consistent;
    case force::ForceVerdict::Diverged:
    case force::ForceVerdict::Unknown:
      break;
  }
  return Outcome::Unknown;
}

Outcome outcome_of(predict::PredictOutcome outcome) {
  switch (outcome) {
    case predict::PredictOutcome::Predicted:
      return Outcome::Violated;
    case predict::PredictOutcome::None:
      return Outcome::Consistent;
    case predict::PredictOutcome::Unknown:
      break;
  }
  return Outcome::Unknown;
}

Outcome worse(Outcome a, Outcome b) {
  if (a == Outcome::Violated || b == Outcome::Violated) return Outcome::Violated;
  return a == Outcome::Unknown ? a : b;
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
