#pragma once
// Every history of a program, by trying everything: transactions in every interleaving of the
// sessions, every read from every transaction that committed a write to its key before. Nothing is
// pruned; duplicates are sorted out at the end. Shares nothing with the engines but the executor
// and the way a run becomes a History.
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "program/executable.h"
#include "spec/brute_force.h"
#include "spec/levels.h"
#include "store/recording.h"
#include "support/read_from_map.h"

namespace isoscope::explore {

class Naive {
 public:
  // Gives up beyond `limit` complete runs, duplicates included.
  Naive(const Executable& program, std::size_t limit)
      : program_(program), executor_(program.executor()), limit_(limit) {
    run_.txns.resize(program.outline().calls.size());
    explore();
  }

  bool is_complete() const { return num_runs_ < limit_; }
  // All histories of the program, whatever the level, by their read-from maps.
  const std::map<std::vector<CallId>, store::Recording>& runs() const { return runs_; }

 private:
  void explore() {
    if (!is_complete()) return;
    if (run_.order.size() == run_.txns.size()) {
      ++num_runs_;
      store::Recording run = run_;
      std::erase_if(run.order, [&](CallId call) { return run.txns[call].is_left_out; });
      runs_.emplace(read_from_map(run), std::move(run));
      return;
    }
    for (const Session& session : program_.outline().sessions) {
      CallId call = session.first;
      while (call < session.end() && is_done(call)) ++call;
      if (call < session.end()) execute(call, {});
    }
  }

  bool is_done(CallId call) const {
    for (const CallId other : run_.order) {
      if (other == call) return true;
    }
    return false;
  }

  // Runs the call from its beginning, its first reads from `writers`, the next from everybody.
  void execute(CallId call, const std::vector<CallId>& writers) {
    store::RecordedTxn txn;
    std::size_t num_reads = 0;
    executor_->start(call);
    // What has not aborted is not run again.
    txn.is_left_out =
        program_.outline().calls[call].attempt > 1 && run_.txns[call_before(call)].is_committed;
    for (;;) {
      const Stop stop = txn.is_left_out ? Stop{.kind = StopKind::Commit} : executor_->run();
      if (stop.kind == StopKind::Commit || stop.kind == StopKind::Abort) {
        txn.is_committed = stop.kind == StopKind::Commit;
        break;
      }
      if (stop.kind == StopKind::Write) {
        txn.accesses.push_back({.is_read = false, .key = stop.key, .value = stop.value});
        continue;
      }
      if (const std::int64_t* own = last_write(txn, stop.key)) {
        executor_->answer(*own);
        continue;
      }
      if (num_reads == writers.size()) {
        std::vector<CallId> more = writers;
        more.push_back(store::kInitialWriter);
        execute(call, more);
        for (const CallId other : std::vector<CallId>(run_.order)) {
          if (!run_.txns[other].is_committed) continue;
          if (last_write(run_.txns[other], stop.key) == nullptr) continue;
          more.back() = other;
          execute(call, more);
        }
        return;
      }
      const CallId writer = writers[num_reads++];
      const std::int64_t value = writer == store::kInitialWriter
                                     ? program_.keys().initial(stop.key)
                                     : *last_write(run_.txns[writer], stop.key);
      txn.accesses.push_back({.is_read = true, .key = stop.key, .value = value, .writer = writer});
      executor_->answer(value);
    }
    run_.txns[call] = std::move(txn);
    run_.order.push_back(call);
    explore();
    run_.order.pop_back();
  }

  static const std::int64_t* last_write(const store::RecordedTxn& txn, ProgramKey x) {
    for (std::size_t i = txn.accesses.size(); i-- > 0;) {
      if (!txn.accesses[i].is_read && txn.accesses[i].key == x) return &txn.accesses[i].value;
    }
    return nullptr;
  }

  const Executable& program_;
  std::unique_ptr<Executor> executor_;
  std::size_t limit_;
  std::size_t num_runs_ = 0;
  store::Recording run_;
  std::map<std::vector<CallId>, store::Recording> runs_;
};

}  // namespace isoscope::explore
