#pragma once
// What a program can end with: the distinct final values of its transactions' locals, each with
// the levels that allow it.
//
// Two histories with the same values are one outcome. A level allows an outcome if it allows one
// of its histories, so a level is asked only until one says yes.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "spec/levels.h"
#include "store/recording.h"

namespace isoscope::explore {

struct ProgramOutcome {
  std::vector<store::RecordedTxn> txns;  // by call: committed or not, and locals; no accesses
  std::uint64_t histories = 0;           // with this outcome
  std::vector<std::string> levels;       // of Outcomes::kLevels, those that allow it
  std::vector<std::uint32_t> failed_assertions;  // the same for all its histories
};

class Outcomes {
 public:
  // From weak to strong.
  static constexpr std::string_view kLevels[] = {"rc", "ra", "cc", "pc", "psi", "si", "ser"};

  explicit Outcomes(const Executable& program) : program_(program) {}

  void add(const store::Recording& run);
  // The most frequent first.
  std::vector<ProgramOutcome> sorted() const;

 private:
  struct Entry {
    ProgramOutcome outcome;
    std::uint32_t allowed = 0;  // bit i: kLevels[i]
  };

  const Executable& program_;
  std::map<std::vector<std::int64_t>, Entry> by_values_;
};

}  // namespace isoscope::explore
