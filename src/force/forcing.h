#pragma once
// Forces the permutations of a specification, some times each, and says what came of it.
#include <functional>
#include <set>

#include "force/experiment.h"

namespace isoscope::force {

enum class ForceVerdict : std::uint8_t {
  Reproduced,  // the recorded history is not serializable; where there is none: no serial order
               // gives what this run gave
  Prevented,   // it is; some serial order does
  Diverged,    // a session did not take the steps of the plan, or the run got stuck
  Unknown,
};
std::string_view name_of(ForceVerdict verdict);  // "reproduced"

// Which of two runs of one order is told, the higher one: one that went wrong, else one that is not
// known to have gone well.
int weight_of(ForceVerdict verdict);

struct Forced {
  Permutation permutation;
  // Reproduced if some run is, else the worst of all runs.
  ForceVerdict verdict = ForceVerdict::Unknown;
  std::string why = {};  // of Diverged and Unknown
  Run run = {};          // the first that has this verdict
  Judgement judgement = {};
  bool is_judged_by_history = false;  // else by the serial orders
  std::size_t runs = 0;
  std::size_t reproduced = 0;       // of them
  std::size_t prevented = 0;        // of them
  std::set<std::string> sqlstates;  // that ended a statement of `run`
  std::size_t waits = 0;            // statements of `run` that waited for a lock
  std::size_t rechecked = 0;        // of them, those that then touched no row
};

// What came of a run that came to its end and has both witnesses: the recorded history is the
// judge, the serial orders where there is none; where they contradict each other, the run was not
// recorded whole.
ForceVerdict weigh(const Run& run, const Judgement& judgement, std::string& why);

struct ForceOptions {
  std::string dsn;
  std::size_t times = 1;
  std::size_t most = 10'000;    // permutations
  bool stops_at_first = false;  // when one is reproduced
  Budget budget = {};
  Progress progress = {};
};

struct ForceAnswer {
  ForceVerdict verdict = ForceVerdict::Unknown;  // Reproduced if one is, else the worst
  std::vector<Forced> forced = {};
  std::string limit = {};  // why not all were played
};

Result<ForceAnswer> force_spec(const Spec& spec, const ForceOptions& options);

}  // namespace isoscope::force
