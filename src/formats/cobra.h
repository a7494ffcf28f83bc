#pragma once
// The logs of Cobra's clients: a directory with one file T*.log per session.
//
// A log is a sequence of records, numbers of 64 bits, big endian:
//
//     'S' txn                                   a transaction starts
//     'R' writer_txn write_id key value         reads the version (writer_txn, write_id)
//     'W' write_id key value                    writes the version (txn, write_id)
//     'C' txn                                   it commits
//
// A transaction and a write id identify a version; `value` is redundant. Where each write
// id belongs to one transaction it serves as the value of our history, otherwise "txn:write_id".
// The writer 0xbebeebee (initial) or 0xdeadbeef (null) means the initial state. The writer
// 0xabddefee stands for any: write id and value identify the version, and the read may be from
// any transaction that wrote these to the key, and from the initial state if none did. Write ids
// 0x23332333 and 0x66666666 belong to fences, which carry no data: such operations are skipped,
// and transactions that consist of them. A transaction without a commit record at the end of its
// log is of unknown outcome.
//
// Paper  [Cobra-OSDI'20], the logs of its artifact.
#include <span>
#include <string>

#include "history/history.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope {

struct CobraLog {
  std::string name;  // T7.log
  std::string bytes;
};

// Reads the logs of a directory in the order of their numbers.
Result<History> read_cobra(const std::string& directory, const Budget& budget = {});
// The same from logs that are at hand.
Result<History> read_cobra_logs(std::span<const CobraLog> logs, const Budget& budget = {});

}  // namespace isoscope
