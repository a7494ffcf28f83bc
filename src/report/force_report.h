#pragma once
// The answer of `force`: what became of each order of steps, and the first one that went wrong.
#include <string>

#include "force/forcing.h"
#include "report/force_parts.h"
#include "report/page.h"
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
// The orders of steps that were played, and the first ones that went wrong as schedules.
Page force_page(const ForceReport& report);

// Pieces of both: "by SQLSTATE 40001", a statement's answer, a serial order, and what differs in
// it.
std::string prevented_by(const force::Forced& forced);
std::string shown_answer(const force::Answer& answer);
std::string serial_name(const force::Spec& spec, const force::SerialRun& serial);
std::string serial_difference(const force::Spec& spec, const force::Run& run,
                              const force::SerialRun& serial);
std::string steps_text(const force::Spec& spec, const force::Permutation& permutation);

}  // namespace isoscope
