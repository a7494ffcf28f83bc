#pragma once
// The embedded store: keeps every committed version of every key, runs the transactions of a
// program one at a time, and records what they do.
//
// A read sees committed transactions only, so running transactions one after the other loses
// nothing: whatever a level allows, some order of whole transactions reaches it. Which version a
// read gets is a ReadPolicy's choice among those that the level's oracle allows.
//
//     Store store(program, std::move(oracle));
//     auto end = store.execute(call, policy);
//     if (end && *end == TxnEnd::Refused) …          // run it again with other choices
//     History h = to_history(program, store.recording());
//
// Paper  [BiswasKakwaniVedurada-OOPSLA'21]: a store that answers reads with whatever is legal.
// Cost   An access is O(1) besides the oracle's questions.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "program/executable.h"
#include "store/oracle.h"
#include "store/recording.h"
#include "support/budget.h"
#include "support/result.h"

namespace isoscope::store {

struct Version {
  CallId writer = kInitialWriter;
  std::int64_t value = 0;
};

class ReadPolicy {
 public:
  virtual ~ReadPolicy() = default;
  // The version that a read of x gets, by its place in `versions`: the initial one first, the
  // others as they were committed. Nothing if none is legal. Without an oracle all are.
  virtual std::optional<std::size_t> choose(ProgramKey x, std::span<const Version> versions,
                                            Oracle* oracle) = 0;
};

enum class TxnEnd : std::uint8_t {
  Committed,
  Aborted,
  Refused,  // it could not read, or not commit, at the level; or was not meant to; or the time is
            // over. Nothing happened.
};

class Store {
 public:
  // Without an oracle every committed version is legal. `program` outlives the store.
  explicit Store(const Executable& program, std::unique_ptr<Oracle> oracle = nullptr,
                 const Budget& budget = {});

  // Back to the initial state.
  void reset();
  // Runs the call to its end. Calls of a session run in order, each once. With `only`, any other
  // end is refused (and with TxnEnd::Refused each: then last_txn() tells what would have happened).
  // An error if the transaction cannot go on (an overflow, a loop without end): its place, and what
  // it had read.
  Result<TxnEnd> execute(CallId call, ReadPolicy& policy, std::optional<TxnEnd> only = {});
  // Is the call a repetition of what has not aborted? Then it does nothing and commits.
  bool is_left_out(CallId call) const;
  // Have all calls run, or been left out?
  bool is_complete() const { return num_ended_ == recording_.txns.size(); }
  // Checks the claims about the finished run. The last write of a key is that of the order in which
  // the oracle explains the run, else of the order of the run. An error if a claim cannot be
  // evaluated (an overflow). Requires: every call has run.
  Result<void> finish();

  // What the call that ran last did, also if it was refused.
  const RecordedTxn& last_txn() const { return pending_; }
  const Recording& recording() const { return recording_; }
  const Executable& program() const { return program_; }
  Oracle* oracle() const { return oracle_.get(); }
  // Is the time over, here or at the oracle? Then a refusal says nothing about the level.
  bool is_expired() const { return is_expired_ || (oracle_ && oracle_->is_expired()); }

 private:
  const std::vector<Version>& versions(ProgramKey x);
  // What the pending transaction wrote to x last, or null.
  const std::int64_t* own_write(ProgramKey x) const;
  void note_write(ProgramKey x, std::int64_t value);
  Error describe_fault(CallId call) const;
  void commit(CallId call);
  void find_finals();

  const Executable& program_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Oracle> oracle_;
  ById<ProgramKey, std::vector<Version>> versions_;
  Recording recording_;
  std::size_t num_ended_ = 0;
  RecordedTxn pending_;
  std::vector<ProgramKey> written_;  // by the pending transaction, each key once
  // One more than the place of a key's last value among pending_.accesses, 0 if it has none.
  ById<ProgramKey, std::uint32_t> own_writes_;
  Budget budget_;
  bool is_expired_ = false;
};

}  // namespace isoscope::store
