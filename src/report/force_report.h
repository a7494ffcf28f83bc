#pragma once
// The answer of `force`: what became of each order of steps, and the first one that went wrong.
#include <string>

#include "force/forcing.h"
#include "report/paint.h"

namespace isoscope {

struct ForceReport {
  const force::Spec& spec;
  std::string source;  // the file, for people
  const force::ForceAnswer& answer;
  double seconds = 0;
};

std::string force_text(const ForceReport& report, const Paint& paint);
std::string force_json(const ForceReport& report);

}  // namespace isoscope
