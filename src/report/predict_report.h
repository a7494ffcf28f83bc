#pragma once
// The answer of `predict`, for people, for programs and as a page.
#include <optional>
#include <string>
#include <vector>

#include "predict/predict.h"
#include "predict/validate.h"
#include "report/findings.h"
#include "report/page.h"
#include "report/paint.h"

namespace isoscope {

struct PredictReport {
  const History& observed;
  std::string source;  // the file, for people
  std::string level;   // as the user named it
  predict::PredictOptions options;
  predict::PredictAnswer answer;
  // With --validate: one for each prediction, and the program they ran on.
  const Executable* program = nullptr;
  std::string program_source = {};
  std::vector<predict::Validation> validations = {};
  double seconds = 0;
};

// Per prediction: which reads change, how far each session goes, and why no serial order works.
std::string predict_text(const PredictReport& report, const Paint& paint);

// One JSON object, as docs/design.md fixes it.
std::string predict_json(const PredictReport& report);

// For pictures and pages: each prediction with its cycle, and the reads that change.
Page predict_page(const PredictReport& report);

// For continuous integration: a finding for each prediction.
Findings predict_findings(const PredictReport& report);

}  // namespace isoscope
