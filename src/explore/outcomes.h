#pragma once
// What a program can end with: the distinct final values of its transactions' locals, each with
// the levels that allow it.
//
// Two histories with the same values and the same failed assertions are one outcome. A level allows
// an outcome if it allows one of its histories, so a level is asked only until one says yes.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "explore/packing.h"
#include "spec/levels.h"
#include "store/recording.h"
#include "support/budget.h"

namespace isoscope::explore {

// The built-in levels at which a program may be run, from weak to strong: those with engines but
// ua, which no store gives.
const std::vector<const Level*>& ladder();

struct ProgramOutcome {
  ById<CallId, store::RecordedTxn> txns;  // committed or not, and locals; no accesses
  std::uint64_t histories = 0;            // with this outcome
  std::vector<std::string> levels;        // of ladder(), those that allow it
  bool is_decided = true;                 // else the time was over before all levels were asked
  std::vector<AssertionId> failed_assertions;
  std::optional<store::Recording> example = {};  // one of its histories, if asked for
};

class Outcomes {
 public:
  // With `keeps_examples`, a history of each outcome is kept: the one that comes first as bytes, so
  // that it is the same whoever finds which history first.
  explicit Outcomes(const Executable& program, const Budget& budget = {},
                    bool keeps_examples = false)
      : program_(program), budget_(budget), keeps_examples_(keeps_examples) {}

  void add(const store::Recording& run);
  // For other processes and for files: what was added so far, and adding what others have.
  void pack(Packer& out) const;
  void merge(Unpacker& in);
  // The most frequent first.
  std::vector<ProgramOutcome> sorted() const;

 private:
  struct Entry {
    ProgramOutcome outcome;
    std::uint32_t allowed = 0;    // bit i: ladder()[i]
    std::uint32_t undecided = 0;  // the same: not known for some history
    std::string example = {};     // as bytes
  };

  void keep_example(Entry& entry, std::string bytes, store::Recording run) const;

  const Executable& program_;
  Budget budget_;
  bool keeps_examples_;
  std::map<std::vector<std::int64_t>, Entry> by_values_;
};

}  // namespace isoscope::explore
