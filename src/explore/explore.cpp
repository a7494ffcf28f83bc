#include "explore/explore.h"

#include "explore/by_txn.h"
#include "explore/collector.h"
#include "explore/explore_ce.h"
#include "explore/merged.h"
#include "explore/releveled.h"
#include "explore/schedules.h"
#include "program/rounds.h"
#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {
namespace {

// Schedules that are looked at to find out whether many have the same history, and how many times
// as many as there are histories are too many: by_txn.h is about ten times slower a history, at pc
// three to six times. There repetitions become more frequent as one goes on.
constexpr std::uint64_t kSampleSize = 2'000;
constexpr std::uint64_t kSampleSizeAtPc = 8'000;
constexpr std::uint64_t kOftenRepeated = 8;
constexpr std::uint64_t kOftenRepeatedAtPc = 3;

// Counts complete histories, up to a limit.
template <class Set>
class Sample final : public EndStates<Set> {
 public:
  Sample(Control& control, std::uint64_t size) : control_(control), size_(size) {}
  void on_end_state(const EndState<Set>&) override {
    if (++count >= size_) control_.stop();
  }
  std::uint64_t count = 0;

 private:
  Control& control_;
  std::uint64_t size_;
};

// Have many schedules the same history? That takes transactions that overwrite what they have not
// read; how many there are, the first schedules tell.
template <class Set>
bool repeats_often(const Executable& program, const Plan& plan, const Budget& budget) {
  const bool is_pc = plan.rules.strong == StrongRule::Pc;
  const std::uint64_t size = is_pc ? kSampleSizeAtPc : kSampleSize;
  Control control(budget);
  control.max_repeated = size;
  Sample<Set> sample(control, size);
  Schedules<Set>(program, *plan.rules.strong, sample, control).run(Schedules<Set>::root());
  return control.repeated > (sample.count + 1) * (is_pc ? kOftenRepeatedAtPc : kOftenRepeated);
}

// Histories that are looked at before equal states are merged: where few transactions depend on
// each other, there are fewer histories than states.
constexpr std::uint64_t kLookedAtFirst = 1'000;

// Passes complete histories on, up to a limit.
template <class Set>
class Limited final : public EndStates<Set> {
 public:
  Limited(EndStates<Set>& to, Control& control, std::uint64_t limit)
      : to_(to), control_(control), limit_(limit) {}
  void on_end_state(const EndState<Set>& end) override {
    to_.on_end_state(end);
    if (control_.is_stopped() || ++count_ < limit_) return;
    is_reached = true;
    control_.stop();
  }
  bool is_reached = false;

 private:
  EndStates<Set>& to_;
  Control& control_;
  std::uint64_t count_ = 0;
  std::uint64_t limit_;
};

// Runs the engine of the plan on one thread.
template <class Set>
void run_engine(const Executable& program, const Plan& plan, bool by_schedules,
                EndStates<Set>& end_states, Control& control, const Piece& piece) {
  if (plan.algorithm == Algorithm::Ce) {
    ExploreCe<Set>(program, plan.rules, end_states, control).run(piece);
  } else if (by_schedules) {
    Schedules<Set>(program, *plan.rules.strong, end_states, control).run(piece);
  } else {
    const bool reduce = plan.algorithm != Algorithm::Dfs;
    ByTxn<Set>(program, plan.rules, reduce, end_states, control).run(piece);
  }
}

// Only assertions matter: does one fail? First some histories are looked at as usual, then states.
// Nothing if this is not for the plan; if there was no room for all states, `merging` tells.
template <class Set>
std::optional<Exploration> look_for_violation(const Executable& program, const Plan& plan,
                                              const ExploreOptions& options,
                                              std::optional<Exploration::Merging>& merging) {
  const bool only_assertions = options.stop_at_violation && !options.on_history &&
                               options.transport == nullptr && options.checkpoint.path.empty();
  const bool is_for_it = plan.may_change && plan.exact && plan.exact->sight != SightRule::Ua;
  if (!only_assertions || !is_for_it || !program.has_assertions()) return std::nullopt;
  if (text_of(program) == nullptr) return std::nullopt;  // it does not say what its claims look at
  const Releveled shorter(program, {}, false);
  {
    const Executable& looked_at = options.only_asks ? shorter : program;
    Control control(options.budget);
    Collector<Set> collector(looked_at, plan, options, control);
    Limited<Set> limited(collector, control, kLookedAtFirst);
    control.max_repeated = kLookedAtFirst;
    const bool by_schedules = plan.algorithm == Algorithm::Schedules;
    run_engine<Set>(looked_at, plan, by_schedules, limited, control,
                    by_schedules ? Schedules<Set>::root() : Walk<Set>::root());
    const bool is_done = !limited.is_reached && control.repeated < kLookedAtFirst;
    Exploration all = collector.result();
    all.has_left_out_reads = shorter.has_left_out_reads();
    if (is_done || all.violating > 0 || all.fault || all.is_out_of_time) return all;
  }
  // Without reads on which nothing depends; with them only if an example must have them.
  for (const Executable* each : {static_cast<const Executable*>(&shorter), &program}) {
    Control control(options.budget);
    Collector<Set> collector(*each, plan, options, control);
    Merged<Set> merged(*each, *plan.exact, collector, control);
    merged.run();
    Exploration all = collector.result();
    const bool is_shown = all.violating > 0 && !options.only_asks;
    if (is_shown && each == &shorter) continue;
    merging = {.states = merged.num_states(),
               .met_again = merged.num_again(),
               .is_complete = merged.is_complete()};
    if (!merged.is_complete() && all.violating == 0 && !all.fault) return std::nullopt;
    all.merging = merging;
    all.has_left_out_reads = shorter.has_left_out_reads();
    return all;
  }
  return std::nullopt;
}

template <class Set>
Exploration explore_with(const Executable& program, const Plan& plan, const ExploreOptions& given) {
  std::optional<Exploration::Merging> merging;
  if (auto found = look_for_violation<Set>(program, plan, given, merging)) return *std::move(found);
  ExploreOptions options = given;
  // The leader looks at the time, and leaves a checkpoint then.
  if (!options.checkpoint.path.empty()) options.budget = {};
  Control control(options.budget);
  Collector<Set> collector(program, plan, options, control);
  const bool by_schedules = plan.algorithm == Algorithm::Schedules &&
                            !(plan.may_change && repeats_often<Set>(program, plan, options.budget));
  const TeamOptions team{.threads = options.threads,
                         .transport = options.transport,
                         .checkpoint = options.checkpoint,
                         .budget = given.budget};
  Piece root = by_schedules ? Schedules<Set>::root() : Walk<Set>::root();
  const auto ran = run_team(team, control, collector, std::move(root), [&](const Piece& piece) {
    run_engine<Set>(program, plan, by_schedules, collector, control, piece);
  });
  Exploration all = collector.result();
  all.merging = merging;  // given up
  if (!ran) all.error = ran.error();
  return all;
}

}  // namespace

Exploration explore(const Executable& program, const Plan& plan, const ExploreOptions& options) {
  const std::size_t num_calls = program.outline().calls.size();
  ISO_ASSERT(num_calls <= kMaxCalls);
  const auto explore_once = [&](const ExploreOptions& with) {
    if (num_calls <= TxnSet<1>::kCapacity) return explore_with<TxnSet<1>>(program, plan, with);
    return explore_with<TxnSet<4>>(program, plan, with);
  };
  if (!program.may_have_new_rows()) return explore_once(options);
  // The listener gets the final histories only.
  ExploreOptions silent = options;
  silent.on_history = {};
  silent.gives_up = {};
  auto known = until_rows_are_known(
      program, [&] { return Result<Exploration>(explore_once(silent)); },
      [](const Exploration& all) { return all.fault || all.outcome == Outcome::Unknown; });
  if (!known) {
    Exploration none;
    none.error = known.error();
    return none;
  }
  return options.on_history ? explore_once(options) : *std::move(known);
}

}  // namespace isoscope::explore
