#include "store/runs.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/check.h"
#include "program/rounds.h"
#include "spec/serializable.h"
#include "store/policies.h"
#include "store/strong_oracle.h"
#include "support/rng.h"

namespace isoscope::store {

namespace {

constexpr int kAttempts = 8;  // at random, before a transaction reads the latest values

Result<TxnEnd> execute_weak(Store& store, CallId call, Rng& rng) {
  RandomPolicy random(rng);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto end = store.execute(call, random);
    if (!end || *end != TxnEnd::Refused || store.is_expired()) return end;
  }
  const auto explanation = store.oracle()->explanation();
  if (store.is_expired()) return TxnEnd::Refused;
  ExplainedPolicy explained(explanation, store.program().outline().calls.size());
  return store.execute(call, explained);
}

// Keeps what it has allocated from one run to the next.
class SerializabilityTest {
 public:
  SerializabilityTest(const Executable& program, Budget& budget)
      : program_(program), budget_(budget) {
    if (is_small(program, StrongRule::Ser)) oracle_.emplace(program, StrongRule::Ser, budget);
  }

  // Nothing if the time runs out.
  std::optional<bool> passes(const Recording& recording) {
    if (!oracle_) return passes_check(recording);
    oracle_->reset();
    std::vector<ProgramKey> written;
    for (const CallId call : recording.order) {
      if (budget_.expired_now()) return std::nullopt;
      oracle_->begin(call);
      written.clear();
      for (const Access& access : recording.txns[call].accesses) {
        if (access.is_read) {
          oracle_->take(access.key, access.writer);
        } else {
          written.push_back(access.key);
        }
      }
      std::sort(written.begin(), written.end());
      written.erase(std::unique(written.begin(), written.end()), written.end());
      oracle_->end(recording.txns[call].is_committed, written);
    }
    const bool is_serial = oracle_->satisfies(StrongRule::Ser);
    if (oracle_->is_expired()) return std::nullopt;
    return is_serial;
  }

 private:
  std::optional<bool> passes_check(const Recording& recording) const {
    const History h = to_history(program_, recording);
    const Outcome outcome = check(h, serializable_level(), budget_).verdict.outcome;
    if (outcome == Outcome::Unknown) return std::nullopt;
    return outcome == Outcome::Consistent;
  }

  const Executable& program_;
  Budget& budget_;
  std::optional<StrongOracle> oracle_;
};

}  // namespace

Result<RunEnd> run_once(Store& store, std::uint64_t seed) {
  const Outline& outline = store.program().outline();
  Rng rng(seed);
  store.reset();
  std::vector<ProgramSession> next;  // that have not finished
  ById<ProgramSession, std::uint32_t> done(outline.sessions.size(), 0);
  for (const ProgramSession s : outline.sessions.ids()) {
    if (outline.sessions[s].size > 0) next.push_back(s);
  }
  LatestPolicy latest;
  while (!next.empty()) {
    const std::size_t at = rng.below(next.size());
    const ProgramSession session = next[at];
    const CallId call{outline.sessions[session].first.index + done[session]};
    auto end =
        store.oracle() == nullptr ? store.execute(call, latest) : execute_weak(store, call, rng);
    if (!end) return end.error();
    if (store.is_expired()) return RunEnd::Expired;
    if (*end == TxnEnd::Refused) {
      return Error{.where = outline.calls[call].place,
                   .what = fmt::format("{} can neither commit nor abort: the level allows no way "
                                       "to go on (seed {})",
                                       name_of(store.program(), call), seed)};
    }
    if (++done[session] == outline.sessions[session].size)
      next.erase(next.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (auto finished = store.finish(); !finished) return finished.error();
  return RunEnd::Complete;
}

namespace {

Result<Runs> run_round(const Executable& program, const LevelPlan* plan, const RunsOptions& options,
                       Budget& budget) {
  auto oracle = make_oracle(program, plan, budget);
  if (!oracle) return oracle.error();
  Store store(program, *std::move(oracle), budget);
  SerializabilityTest serializable(program, budget);
  Runs runs;
  for (std::uint64_t i = 0; i < options.runs; ++i) {
    if (budget.expired_now()) runs.is_expired = true;
    if (runs.is_expired) break;
    if (options.progress && i % 256 == 0)
      options.progress(fmt::format("running: {} failed an assertion, {} unserializable",
                                   runs.failed_assertions, runs.unserializable),
                       static_cast<double>(i) / static_cast<double>(options.runs));
    const std::uint64_t seed = options.seed + i;
    auto end = run_once(store, seed);
    if (!end && !budget.expired_now()) return end.error();
    if (!end || *end == RunEnd::Expired) {
      runs.is_expired = true;
      break;
    }
    const Recording& recording = store.recording();
    const auto is_serial = serializable.passes(recording);
    if (!is_serial) {
      runs.is_expired = true;
      break;
    }
    const bool has_failed = recording.has_failed_assertion();
    const bool is_first_failure = has_failed && !runs.first_failed;
    const bool is_first_anomaly = !*is_serial && !runs.first_unserializable && !runs.first_failed;
    if (runs.runs == 0 || is_first_failure || is_first_anomaly) {
      runs.shown = recording;
      runs.shown_seed = seed;
    }
    ++runs.runs;
    if (has_failed) {
      ++runs.failed_assertions;
      if (!runs.first_failed) runs.first_failed = seed;
    }
    if (!*is_serial) {
      ++runs.unserializable;
      if (!runs.first_unserializable) runs.first_unserializable = seed;
    }
  }
  return runs;
}

}  // namespace

Result<Runs> run_many(const Executable& program, const LevelPlan* plan, const RunsOptions& options,
                      Budget& budget) {
  return until_rows_are_known(
      program, [&] { return run_round(program, plan, options, budget); },
      [](const Runs& runs) { return runs.is_expired; });
}

std::optional<bool> is_serializable(const Executable& program, const Recording& recording,
                                    Budget& budget) {
  return SerializabilityTest(program, budget).passes(recording);
}

}  // namespace isoscope::store
