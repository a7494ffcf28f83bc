#include "verdict/verdict.h"

#include <algorithm>

namespace isoscope {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Consistent:
      return "consistent";
    case Outcome::Violated:
      return "violated";
    case Outcome::Unknown:
      return "unknown";
  }
  return {};
}

std::string_view name_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::So:
      return "so";
    case EdgeKind::Wr:
      return "wr";
    case EdgeKind::Ww:
      return "ww";
    case EdgeKind::Rw:
      return "rw";
    case EdgeKind::Co:
      return "co";
    case EdgeKind::Vis:
      return "vis";
    case EdgeKind::Ar:
      return "ar";
    case EdgeKind::Rt:
      return "rt";
  }
  return {};
}

void Stats::set(std::string_view name, double value) {
  const auto found = std::find_if(numbers_.begin(), numbers_.end(),
                                  [&](const auto& entry) { return entry.first == name; });
  if (found != numbers_.end()) {
    found->second = value;
  } else {
    numbers_.emplace_back(name, value);
  }
}

std::optional<double> Stats::get(std::string_view name) const {
  for (const auto& [known, value] : numbers_) {
    if (known == name) return value;
  }
  return {};
}

Verdict Verdict::consistent(Witness witness) {
  Verdict verdict;
  verdict.outcome = Outcome::Consistent;
  verdict.witness = std::move(witness);
  return verdict;
}

Verdict Verdict::violated(Violation violation) {
  Verdict verdict;
  verdict.outcome = Outcome::Violated;
  verdict.violation = std::move(violation);
  return verdict;
}

Verdict Verdict::unknown(std::string limit) {
  Verdict verdict;
  verdict.outcome = Outcome::Unknown;
  verdict.limit = std::move(limit);
  return verdict;
}

}  // namespace isoscope
