#pragma once
// Numbers for sessions and transactions, for formats that have no names.
//
// A history that came from such a format keeps its numbers: sessions that are all called s<n> are
// n, transactions that are all called t<n>, T<n> or t<s>_<n> (s their session) are n. If any name
// is of another kind, or two would get the same number, all are counted by position from 1.
#include <cstdint>
#include <vector>

#include "history/history.h"

namespace isoscope {

struct Numbering {
  std::vector<std::int64_t> sessions;  // by session
  std::vector<std::int64_t> txns;      // by transaction, unique within a session; 0 for T0
};

// `least_session` is the smallest number that a session may have.
Numbering number(const History& h, std::int64_t least_session);

}  // namespace isoscope
