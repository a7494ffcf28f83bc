#pragma once
// The answer of `synth`: histories with the reasons why each level allows or forbids them.
#include <string>
#include <vector>

#include "check/check.h"
#include "report/paint.h"
#include "synth/synth.h"

namespace isoscope {

// A history that was found, with what check() says about it.
struct SeparatingHistory {
  SynthFound found;
  std::vector<CheckAnswer> refutations;  // one for each forbidden level, in the order of the query
};

struct SynthReport {
  std::vector<std::string> allow;  // levels as the user named them
  std::vector<std::string> forbid;
  SynthOutcome outcome = SynthOutcome::Unknown;
  std::vector<SeparatingHistory> histories;
  Scope scope;
  std::string limit;
  Stats stats;
  std::optional<std::uint64_t> count;  // of --count
  double seconds = 0;
};

// Histories in the text format, with their reasons as comments: the output is a .hist file.
Result<std::string> synth_text(const SynthReport& report, const Paint& paint);
Result<std::string> synth_json(const SynthReport& report);

// "2 transactions, at most 2 keys, blind writes allowed, sessions as chains".
std::string describe(const Scope& scope);

}  // namespace isoscope
