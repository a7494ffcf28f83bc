#pragma once
// What final(x) can be in a complete history: the last write of x in a commit order of the level.
//
// A history may have several commit orders. Every combination of last writers, one a final key,
// that some commit order of the level has is looked at: the others who write x come before the last
// one, and what is forced then has to be possible.
//
//   true, rc, ra, cc   every order that contains the forced one (store/weak_rules.h) is one
//   pc, si, ser        the linearizer finds one in which those pairs commit in this order
//   mixtures           the linearizer gets what is forced, too
//   psi, ua            the last writer of x sees the others
#include <functional>
#include <span>
#include <vector>

#include "explore/end_facts.h"
#include "explore/sight.h"

namespace isoscope::explore {

template <class Set>
class LastWriters {
 public:
  // `exact` are the rules that say just what the level says. All outlive this.
  LastWriters(const Executable& program, const Rules& exact, const EndState<Set>& end,
              Budget& budget);

  // Tells the final values by final key; goes on while it gets a yes. False if the budget expires.
  using Look = std::function<bool(std::span<const store::FinalValue>)>;
  bool for_each(const Look& look);

 private:
  // What is known of the commit order, given the last writers of some keys.
  struct Known {
    SightRows<Set> rows;
    LinearFacts<Set> facts;
  };
  struct Key {
    std::size_t number = 0;  // among the final keys
    Set writers;
    bool has_one_value = true;  // then whoever may come last will do
  };

  Known start() const;
  bool is_last(Known& known, const Key& key, CallId w);
  bool choose(std::size_t next, const Known& known, const Look& look);
  std::int64_t value(CallId writer, ProgramKey x) const;

  const Executable& program_;
  const Rules& rules_;
  const EndState<Set>& end_;
  Budget& budget_;
  std::map<ProgramKey, Set> writers_;
  ById<CallId, BlockId> block_of_;
  std::vector<Key> keys_;  // those with several values first
  std::vector<store::FinalValue> values_;
  Linearizer<Set> linearizer_;
};

}  // namespace isoscope::explore
