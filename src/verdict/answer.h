#pragma once
// What every engine answers: an outcome, the limit that ended it early, and numbers.
//
// Whatever the question is, there are three outcomes: nothing is wrong, what users look for was
// found, or it is not known. Engines have words of their own for the first two (a history is
// consistent, a search finds none, an exploration is complete), so each has a name for every word,
// and a type remains one of three. The reason for an outcome is what an engine adds to its Answer:
// a witness, a cycle, a run.
//
//     struct Verdict : Answer { … witness, violation … };
//
// What people and programs see of an Answer is made in one place (report/header.h), and so is the
// exit code (cli/exit_code.h).
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isoscope {

enum class Outcome : std::uint8_t {
  Consistent,
  Violated,
  Unknown,
  // The good one of others:
  None = Consistent,      // of a search
  Complete = Consistent,  // of an exploration
  Ok = Consistent,        // of runs
  Kept = Consistent,      // of promises
  Prevented = Consistent,
  // What was looked for:
  Found = Violated,
  Predicted = Violated,
  Broken = Violated,
  Reproduced = Violated,
};
std::string_view name_of(Outcome outcome);  // consistent, violated, unknown

// Of several questions: violated if one is, else unknown if one is.
Outcome worse(Outcome a, Outcome b);

// Numbers that say what the engine did, by name, in the order in which they are shown.
class Stats {
 public:
  void set(std::string_view name, double value);
  std::optional<double> get(std::string_view name) const;
  const std::vector<std::pair<std::string, double>>& all() const { return numbers_; }

 private:
  std::vector<std::pair<std::string, double>> numbers_;
};

struct Answer {
  Outcome outcome = Outcome::Unknown;
  // What ended the work, for people: of Unknown, and of what was found where there may be more.
  std::string limit = {};
  Stats stats = {};
};

}  // namespace isoscope
