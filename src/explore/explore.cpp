#include "explore/explore.h"

#include "explore/by_txn.h"
#include "explore/collector.h"
#include "explore/explore_ce.h"
#include "explore/schedules.h"
#include "store/txn_set.h"
#include "support/assert.h"

namespace isoscope::explore {
namespace {

// Schedules that are looked at to find out whether many have the same history, and how many times
// as many as there are histories are too many: by_txn.h is about ten times slower a history, at pc
// less than twice. There repetitions become more frequent as one goes on.
constexpr std::uint64_t kSampleSize = 2'000;
constexpr std::uint64_t kSampleSizeAtPc = 8'000;
constexpr std::uint64_t kOftenRepeated = 8;

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
  if (is_pc) return control.repeated * 4 > (sample.count + 1) * 3;
  return control.repeated > (sample.count + 1) * kOftenRepeated;
}

template <class Set>
Exploration explore_with(const Executable& program, const Plan& plan, const ExploreOptions& given) {
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
    if (plan.algorithm == Algorithm::Ce) {
      ExploreCe<Set>(program, plan.rules, collector, control).run(piece);
    } else if (by_schedules) {
      Schedules<Set>(program, *plan.rules.strong, collector, control).run(piece);
    } else {
      const bool reduce = plan.algorithm != Algorithm::Dfs;
      ByTxn<Set>(program, plan.rules, reduce, collector, control).run(piece);
    }
  });
  Exploration all = collector.result();
  if (!ran) all.error = ran.error();
  return all;
}

}  // namespace

Exploration explore(const Executable& program, const Plan& plan, const ExploreOptions& options) {
  const std::size_t num_calls = program.outline().calls.size();
  ISO_ASSERT(num_calls <= kMaxCalls);
  if (num_calls <= TxnSet<1>::kCapacity) return explore_with<TxnSet<1>>(program, plan, options);
  return explore_with<TxnSet<4>>(program, plan, options);
}

}  // namespace isoscope::explore
