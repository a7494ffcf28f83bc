#pragma once
// What makes two runs of a program the same.
#include <vector>

#include "store/recording.h"

namespace isoscope::store {

// By call, in program order, whom each external read reads from.
inline std::vector<CallId> read_from_map(const Recording& recording) {
  std::vector<CallId> map;
  for (const RecordedTxn& txn : recording.txns) {
    for (const Access& access : txn.accesses) {
      if (access.is_read) map.push_back(access.writer);
    }
    map.push_back(call_before(kInitialWriter));  // the next call
  }
  return map;
}

}  // namespace isoscope::store
