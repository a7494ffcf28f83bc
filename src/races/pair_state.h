#pragma once
// How far the two transactions of a pair are (pair.h), for the files that run them.
#include <vector>

#include "races/pair.h"

namespace isoscope::races {

inline constexpr std::size_t kFirst = 0;
inline constexpr std::size_t kSecond = 1;

struct Pair::Side {
  std::size_t next = 0;
  bool is_committed = false;
  bool is_waiting = false;
  bool has_snapshot = false;   // of the transaction, from REPEATABLE READ on
  bool snapshot_sees = false;  // does the snapshot see the other one?
  std::vector<std::vector<RunTxn>> reads;
  std::vector<std::size_t> done_at;  // by statement: when it was answered, counted in steps
  std::size_t committed_at = 0;
};

struct Pair::State {
  Side sides[2];
  std::vector<Step> steps;
  std::size_t last = kNothing;  // who took the last step
  std::size_t switches = 0;
  std::size_t now = 0;
  bool second_first = false;  // B committed before A
};

}  // namespace isoscope::races
