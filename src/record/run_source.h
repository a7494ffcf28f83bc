#pragma once
// What resolve() computes reads and writes from: the transactions as they were seen on the wire, in
// the order of their ends, and the server's log.
//
// Both come in parts: everything that a transaction of a part did is in the log up to that part. So
// a long run need not be in memory as a whole: it is read several times, part by part, and what
// belongs to ended transactions leaves memory with their part.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/decoded_log.h"
#include "record/run.h"

namespace isoscope::record {

struct SourceTxn {
  const std::string* session = nullptr;
  RecordedTxn* txn = nullptr;
};

class RunSource {
 public:
  virtual ~RunSource() = default;

  // Back to the beginning.
  virtual Result<void> rewind() = 0;
  // The next part of the log, until the next call; null at its end.
  virtual Result<DecodedLog*> next_part() = 0;
  // The next transaction of that part, until the next call; nothing at its end. After the last
  // part, those of which the log has not been read.
  virtual Result<std::optional<SourceTxn>> next_txn() = 0;
  // Back to the first transaction of the part.
  virtual Result<void> rewind_part() = 0;
};

// A run that is in memory, as one part.
class KeptRun : public RunSource {
 public:
  KeptRun(std::vector<std::pair<std::string, RecordedTxn>>& txns, DecodedLog log)
      : txns_(txns), log_(std::move(log)) {}

  Result<void> rewind() override {
    is_read_ = false;
    return rewind_part();
  }
  Result<DecodedLog*> next_part() override {
    return std::exchange(is_read_, true) ? nullptr : &log_;
  }
  Result<std::optional<SourceTxn>> next_txn() override {
    if (next_ == txns_.size()) return std::optional<SourceTxn>();
    auto& [session, txn] = txns_[next_++];
    return std::optional<SourceTxn>({&session, &txn});
  }
  Result<void> rewind_part() override {
    next_ = 0;
    return {};
  }

 private:
  std::vector<std::pair<std::string, RecordedTxn>>& txns_;
  DecodedLog log_;
  bool is_read_ = false;
  std::size_t next_ = 0;
};

}  // namespace isoscope::record
