#include "cli/exit_code.h"

#include <algorithm>
#include <array>

#include "audit/audit.h"
#include "explore/explore.h"
#include "force/forcing.h"
#include "predict/predict.h"
#include "support/assert.h"
#include "synth/synth.h"
#include "verdict/verdict.h"

namespace isoscope {

namespace {

struct VerdictWord {
  std::string_view word;
  ExitCode code;
};
constexpr std::array kVerdictWords = {
    VerdictWord{"ok", kGood},
    VerdictWord{"complete", kGood},
    VerdictWord{"kept", kGood},
    VerdictWord{"broken", kInteresting},
    VerdictWord{"violated", kInteresting},
    VerdictWord{"diverged", kInteresting},
    VerdictWord{"unknown", kUnknown},
};

}  // namespace

int exit_code(Outcome outcome) {
  switch (outcome) {
    case Outcome::Consistent:
      return kGood;
    case Outcome::Violated:
      return kInteresting;
    case Outcome::Unknown:
      break;
  }
  return kUnknown;
}

int exit_code(SynthOutcome outcome) {
  switch (outcome) {
    case SynthOutcome::Found:
      return kInteresting;
    case SynthOutcome::None:
      return kGood;
    case SynthOutcome::Unknown:
      break;
  }
  return kUnknown;
}

int exit_code(audit::AuditOutcome outcome) {
  switch (outcome) {
    case audit::AuditOutcome::Anomaly:
      return kInteresting;
    case audit::AuditOutcome::None:
    case audit::AuditOutcome::Serializable:
      return kGood;
    case audit::AuditOutcome::Unknown:
      break;
  }
  return kUnknown;
}

int exit_code(explore::ExploreOutcome outcome) {
  switch (outcome) {
    case explore::ExploreOutcome::Complete:
      return kGood;
    case explore::ExploreOutcome::Violated:
      return kInteresting;
    case explore::ExploreOutcome::Unknown:
      break;
  }
  return kUnknown;
}

int exit_code(force::ForceVerdict verdict) {
  switch (verdict) {
    case force::ForceVerdict::Reproduced:
      return kInteresting;
    case force::ForceVerdict::Prevented:
      return kGood;
    case force::ForceVerdict::Diverged:
    case force::ForceVerdict::Unknown:
      break;
  }
  return kUnknown;
}

int exit_code(predict::PredictOutcome outcome) {
  switch (outcome) {
    case predict::PredictOutcome::Predicted:
      return kInteresting;
    case predict::PredictOutcome::None:
      return kGood;
    case predict::PredictOutcome::Unknown:
      break;
  }
  return kUnknown;
}

int exit_code(std::string_view verdict) {
  const auto* known = std::ranges::find(kVerdictWords, verdict, &VerdictWord::word);
  ISO_ASSERT(known != kVerdictWords.end());
  return known->code;
}

}  // namespace isoscope
