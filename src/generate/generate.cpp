#include "generate/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "formats/hist.h"
#include "generate/injection.h"
#include "generate/recorder.h"
#include "generate/store.h"
#include "generate/workload.h"
#include "history/builder.h"
#include "support/assert.h"
#include "support/spelling.h"

namespace isoscope {
namespace {

// Keys must leave room for those of an anomaly, and one number means "no key" to the stores. The
// other limits keep the store's memory below some gigabytes.
constexpr std::uint32_t kMaxKeys = 4'000'000'000;
constexpr std::uint32_t kMaxSessions = 1'000'000;
constexpr std::uint32_t kMaxOps = 1'000'000;
constexpr std::uint32_t kMaxReplicas = 1'000;
constexpr double kMaxLag = 100'000;
constexpr std::uint32_t kFewOps = 100;
constexpr double kMaxEventsInMemory = 1U << 30U;  // of a HistoryBuilder

bool is_share(double share) { return share >= 0 && share <= 1; }  // false for not-a-number

Error mistake(std::string what, std::string hint = {}) {
  return Error{.what = std::move(what), .hint = std::move(hint)};
}

std::unique_ptr<simulation::Store> make_store(simulation::Workload& workload,
                                              simulation::Recorder& recorder) {
  switch (workload.plan().level) {
    case Logic::Ser: return simulation::make_serial_store(workload, recorder);
    case Logic::Si:
    case Logic::Pc: return simulation::make_snapshot_store(workload, recorder);
    case Logic::Psi:
    case Logic::Cc:
    case Logic::Ra: return simulation::make_replicated_store(workload, recorder);
    case Logic::Rc: return simulation::make_read_committed_store(workload, recorder);
    case Logic::True:
    case Logic::Ua: break;  // validate() refuses them
  }
  ISO_ASSERT(false);
}

// Acts out the script of an anomaly in the middle of a run: its transactions, in its order, with
// keys that no workload draws, fresh values and neighbouring sessions from a random one on.
// Requires: the store is quiescent.
Result<void> inject(const Injection& injection, simulation::Workload& workload,
                    simulation::Recorder& recorder) {
  const Result<History> script = read_hist(injection.script);
  if (!script) return script.error();
  const std::uint32_t first_session = workload.next_session();
  std::map<std::pair<KeyId, Value>, std::int64_t> values;  // of the script, and what stands for it
  std::vector<PlainOp> ops;
  for (const TxnId t : script->txns()) {
    if (t == kInitialTxn) continue;
    ops.clear();
    for (const EventId e : script->events(t)) {
      const KeyId x = script->key(e);
      std::int64_t& value = values[{x, script->value(e)}];
      const bool is_initial = script->value(e) == script->initial_value(x);
      if (value == 0 && !is_initial) value = workload.fresh_value();
      ops.push_back({script->is_write(e), workload.plan().keys + x.index, value});
    }
    const std::uint32_t session =
        (first_session + script->session(t).index) % workload.plan().sessions;
    recorder.inject(session, script->status(t), ops);
  }
  return {};
}

}  // namespace

std::string_view name_of(KeyDistribution distribution) {
  switch (distribution) {
    case KeyDistribution::Uniform: return "uniform";
    case KeyDistribution::Zipf: return "zipf";
    case KeyDistribution::Hot: return "hot";
  }
  return {};
}

std::string_view name_of(TxnShape shape) {
  switch (shape) {
    case TxnShape::Mixed: return "mixed";
    case TxnShape::Rmw: return "rmw";
    case TxnShape::Split: return "split";
  }
  return {};
}

Result<void> validate(const HistoryPlan& plan) {
  if (std::ranges::find(kStoreLevels, plan.level) == kStoreLevels.end())
    return mistake(fmt::format("no store is simulated at {}", name_of(plan.level)));
  if (plan.sessions == 0) return mistake("a history needs at least 1 session");
  if (plan.sessions > kMaxSessions) {
    return mistake(fmt::format("at most {} sessions are possible", kMaxSessions));
  }
  if (plan.txns == 0) return mistake("a history needs at least 1 transaction");
  if (plan.ops == 0) return mistake("a transaction needs at least 1 operation");
  if (plan.ops > kMaxOps) {
    return mistake(fmt::format("at most {} operations per transaction are possible", kMaxOps));
  }
  if (plan.shape == TxnShape::Rmw && plan.ops < 2) {
    return mistake("read-modify-write transactions need at least 2 operations");
  }
  if (plan.keys == 0) return mistake("a history needs at least 1 key");
  if (plan.keys > kMaxKeys) return mistake(fmt::format("at most {} keys are possible", kMaxKeys));
  if (!is_share(plan.read_share)) {
    return mistake("the share of reads is a number from 0 to 1");
  }
  if (!(plan.theta >= 0 && plan.theta <= 10)) {
    return mistake("the exponent of the zipf distribution is a number from 0 to 10",
                   "0 is uniform; 0.99 is usual");
  }
  if (plan.replicas == 0) return mistake("a store needs at least 1 replica");
  if (plan.replicas > kMaxReplicas) {
    return mistake(fmt::format("at most {} replicas are possible", kMaxReplicas));
  }
  if (!(plan.lag >= 1 && plan.lag <= kMaxLag)) {
    return mistake(
        fmt::format("the lag of replicas is a number of transactions from 1 to {}", kMaxLag));
  }
  if (!is_share(plan.inject_at)) {
    return mistake("the place of an anomaly is a share of the transactions, from 0 to 1");
  }
  if (plan.inject.empty()) return {};
  if (find_injection(plan.inject) == nullptr) {
    std::vector<std::string_view> names;
    for (const Injection& injection : injections()) names.push_back(injection.name);
    return mistake(fmt::format("unknown anomaly '{}'", plan.inject), suggest(plan.inject, names));
  }
  if (plan.sessions < kInjectionSessions) {
    return mistake(fmt::format("an anomaly needs at least {} sessions", kInjectionSessions));
  }
  return {};
}

Result<GeneratedSizes> generate_txns(const HistoryPlan& plan, const TxnSink& sink, Budget budget) {
  if (auto valid = validate(plan); !valid) return valid.error();
  simulation::Workload workload(plan);
  simulation::Recorder recorder(sink, plan.log_aborted);
  const auto store = make_store(workload, recorder);
  // A look at the clock costs no more than a few operations.
  const auto is_over = [&] { return plan.ops < kFewOps ? budget.expired() : budget.expired_now(); };
  const auto run_until = [&](std::uint64_t committed) {
    while (recorder.sizes().committed < committed && !is_over()) store->step();
  };
  std::uint64_t goal = plan.txns;
  if (const Injection* injection = find_injection(plan.inject)) {
    run_until(static_cast<std::uint64_t>(plan.inject_at * static_cast<double>(plan.txns)));
    store->quiesce();
    const std::uint64_t before = recorder.sizes().committed;
    auto injected = inject(*injection, workload, recorder);
    if (!injected) return injected.error();
    goal += recorder.sizes().committed - before;
  }
  run_until(goal);
  GeneratedSizes sizes = recorder.sizes();
  sizes.complete = sizes.committed == goal;
  return sizes;
}

Result<History> generate_history(const HistoryPlan& plan, Budget budget) {
  if (static_cast<double>(plan.txns) * plan.ops > kMaxEventsInMemory) {
    return mistake("this history is too large for memory",
                   "hist, jsonl and plume can be written without keeping it");
  }
  HistoryBuilder builder(InitialValues::Zero);
  const auto add = [&builder](const PlainTxn& txn) {
    const TxnId t = builder.begin(builder.session(txn.session), txn.status, {});
    for (const PlainOp& op : txn.ops) {
      const KeyId x = builder.key(op.key);
      if (op.is_write) {
        builder.write(t, x, Value::of(op.value), {});
      } else {
        builder.read(t, x, Value::of(op.value), {});
      }
    }
  };
  const auto sizes = generate_txns(plan, add, budget);
  if (!sizes) return sizes.error();
  if (!sizes->complete) return limit_error("generating the history");
  return std::move(builder).build(&budget);
}

}  // namespace isoscope
