#include "verdict/answer.h"

#include <algorithm>

namespace isoscope {

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Consistent: return "consistent";
    case Outcome::Violated: return "violated";
    case Outcome::Unknown: return "unknown";
  }
  return {};
}

Outcome worse(Outcome a, Outcome b) {
  if (a == Outcome::Violated || b == Outcome::Violated) return Outcome::Violated;
  return a == Outcome::Unknown ? a : b;
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

}  // namespace isoscope
