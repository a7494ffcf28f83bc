#pragma once
// The order in which transactions committed, as far as it shows from outside.
//
// The proxy knows of each commit when it was asked for and when it was answered, so commits that do
// not overlap are in order. Of those that do:
//
//   - two that wrote one row: the later one waited for the earlier one's end, so the places of the
//     server's log at which they wrote it are in the order of their commits;
//   - a snapshot that shows one and not the other.
//
// Where neither helps, no recorded transaction has seen a difference: two such transactions that
// have nothing else in common can change places, and every statement reads what it read. They are
// listed, so that what would rest on their order can be left out.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "record/decoded_log.h"
#include "record/run.h"

namespace isoscope::record {

// A transaction that committed and wrote.
struct Commit {
  std::uint64_t xid = 0;
  Microseconds sent = 0;  // asked for, and answered
  Microseconds end = 0;
  // The first and the last place of the log at which it wrote each row, by any name of the row.
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> rows = {};
};

// A snapshot that was taken at some time from `from` to `to`.
struct SnapshotTime {
  Snapshot snapshot = {};
  Microseconds from = 0;
  Microseconds to = 0;
};

struct CommitOrder {
  std::vector<std::size_t> order;                              // positions in the input
  std::vector<std::pair<std::size_t, std::size_t>> unordered;  // likewise
  bool is_contradictory = false;                               // then there is no order
};

// Costs the number of overlapping commits times that of the statements that overlap them.
CommitOrder commit_order(const std::vector<Commit>& commits, std::vector<SnapshotTime> snapshots);

}  // namespace isoscope::record
