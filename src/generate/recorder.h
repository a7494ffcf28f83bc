#pragma once
// The clients' log: numbers finished transactions, counts them and passes them on.
#include <cstdint>
#include <span>

#include "generate/generate.h"

namespace isoscope::simulation {

class Recorder {
 public:
  Recorder(const TxnSink& sink, bool log_aborted) : sink_(sink), log_aborted_(log_aborted) {}

  void commit(std::uint32_t session, std::span<const PlainOp> ops) {
    ++sizes_.committed;
    log(session, TxnStatus::Committed, ops);
  }
  void abort(std::uint32_t session, std::span<const PlainOp> ops) {
    ++sizes_.aborted;
    if (log_aborted_) log(session, TxnStatus::Aborted, ops);
  }
  // Logs a transaction as it is, also an aborted one.
  void inject(std::uint32_t session, TxnStatus status, std::span<const PlainOp> ops) {
    ++(status == TxnStatus::Committed ? sizes_.committed : sizes_.aborted);
    log(session, status, ops);
  }

  const GeneratedSizes& sizes() const { return sizes_; }

 private:
  void log(std::uint32_t session, TxnStatus status, std::span<const PlainOp> ops) {
    sizes_.events += ops.size();
    sink_({.number = ++last_number_, .session = session, .status = status, .ops = ops});
  }

  const TxnSink& sink_;
  bool log_aborted_;
  std::uint64_t last_number_ = 0;
  GeneratedSizes sizes_;
};

}  // namespace isoscope::simulation
