#pragma once
// Executes whole transactions on the latest state, step by step, and takes steps back: where a
// schedule stands, what the next step of a session does, which steps depend on each other.
//
//     ser       a step is a transaction: it reads the latest values and writes
//     pc, si    a transaction with writes has two steps: it begins (runs on the latest state, its
//               writes are put aside) and commits (its writes become the latest); at si it cannot
//               begin while another that writes one of its keys is under way
//
// What runs so needs no check: each schedule is a history of the level, and each history of the
// level has a schedule [BiswasEnea-OOPSLA'19, section 4].
#include <memory>
#include <optional>
#include <vector>

#include "explore/engine.h"
#include "explore/known_runs.h"
#include "explore/schedule_piece.h"
#include "store/linearizer.h"

namespace isoscope::explore {

// A sorted set of keys in a table; `mask` has a bit for each, several keys may share one.
struct KeyRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t mask = 0;
};

enum class StepKind : std::uint8_t { Whole, Begin, Commit };

struct Step {
  LiveSession session = {};
  std::uint32_t index = 0;  // its number among the steps of its session
  BlockId block = {};       // of the trail: its transaction
  std::uint32_t clock = 0;  // where its clock begins: by session, how many steps it depends on
  StepKind kind = StepKind::Whole;
  bool can_run = true;
  KeyRange reads = {};
  KeyRange writes = {};
};

template <class Set>
class ScheduleState {
 protected:
  ScheduleState(const Executable& program, StrongRule rule, EndStates<Set>& end_states,
                Control& control);
  ScheduleState(const ScheduleState&) = delete;
  ScheduleState& operator=(const ScheduleState&) = delete;
  ~ScheduleState() = default;

  struct SessionState {
    CallId next = {};
    CallId end = {};              // one behind its last call
    std::uint32_t num_steps = 0;  // taken
    std::uint32_t last = 0;       // of steps_, if there is one
    bool is_under_way = false;
  };

  bool has_next(LiveSession session) const {
    return sessions_[session].next < sessions_[session].end;
  }
  std::uint32_t num_left() const;  // transactions that have not ended
  // The next step of a session in the state at hand; its transaction is put on the trail. Nothing
  // if it has a fault, or the time is over.
  std::optional<Step> next_step(LiveSession session);
  void take(const Step& step);
  // Takes back the last step; `num_overwritten` is overwritten_.size() before it.
  void take_back(const Step& step, std::size_t num_overwritten);

  // Would one of two neighbouring steps do something else, or leave something else behind, if they
  // were swapped?
  bool are_dependent(const Step& a, const Step& b) const;
  // Does the step read a key that an earlier one has written?
  bool reads_from(const Step& step, const Step& earlier) const {
    return earlier.kind != StepKind::Begin && intersect(step.reads, earlier.writes);
  }

  // May the next step of a session, which is not under way, be taken now?
  bool can_run(const Step& step) const;

  // To be called where all keys in use are on the trail.
  void drop_keys() {
    if (keys_on_path_.drop_if_many(trail_) && known_runs_) known_runs_->clear();
  }

  // All sessions have ended: reports the history, unless it counts with another schedule.
  void report_end();

  const Executable& program_;
  const StrongRule rule_;
  EndStates<Set>& end_states_;
  Control& control_;
  Budget budget_;
  Path path_;
  Trail<Set> trail_;
  std::vector<Step> steps_;       // that were taken
  std::vector<ProgramKey> keys_;  // of steps
  ById<LiveSession, SessionState> sessions_;

  struct Version {
    CallId writer = kInitialWriter;
    std::int64_t value = 0;
  };
  struct Overwritten {
    ProgramKey key;
    Version version;
  };
  std::vector<Overwritten> overwritten_;

 private:
  const KnownRun* execute(CallId call);
  Block<Set> begin_block(CallId call) const;
  const KnownRun& end_block(Block<Set> block, bool is_committed, bool is_repeatable);
  void repeat(const KnownRun& run, Block<Set> block);
  // Of a call whose block so far is not on the trail.
  void report_fault(const Block<Set>& last);
  std::int64_t value(CallId writer, ProgramKey x) const;
  std::int64_t read(ProgramKey x, Block<Set>& block, std::uint64_t written);
  const std::int64_t* own_write(const Block<Set>& block, ProgramKey x) const;
  std::vector<ProgramKey> sorted_keys();
  KeyRange add_keys(const std::vector<ProgramKey>& sorted);
  bool intersect(const KeyRange& a, const KeyRange& b) const;
  void install(const Block<Set>& block);
  Version& latest(ProgramKey x);

  template <class Holds>
  bool all_replaced(const Holds& holds) const;
  bool is_version_order_known() const;
  bool is_first_version_order();
  void fill_facts();

  std::unique_ptr<Executor> executor_;
  KeysOnPath keys_on_path_;
  std::uint32_t num_calls_;
  ById<ProgramKey, Version> latest_;
  ById<CallId, BlockId> block_of_;
  ById<ProgramKey, bool> is_fixed_;  // does no call ever write it?
  ById<ProgramKey, bool> is_noted_;  // in end_block(); false outside
  FixedKeys fixed_;
  std::vector<ProgramKey> scratch_;
  std::optional<KnownRuns> known_runs_;  // of texts: others may want to see that they repeat
  KnownRun last_run_;                    // that is not kept
  LinearFacts<Set> facts_;
  ById<ProgramKey, Set> writers_;  // in fill_facts(); empty outside
  Linearizer<Set> linearizer_;
};

}  // namespace isoscope::explore
