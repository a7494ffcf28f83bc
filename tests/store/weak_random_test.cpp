// Weak runs of random programs satisfy their level: by check, and by trying every witness.
#include <gtest/gtest.h>

#include "check/check.h"
#include "spec/brute_force.h"
#include "store/policies.h"
#include "store/store_of.h"
#include "support/random_program.h"

namespace isoscope::store {
namespace {

struct Case {
  std::string name;
  std::string level;
  std::vector<std::string> own;  // levels that single transactions may have
  int programs;
  int max_calls = 4;
};

class WeakRuns : public ::testing::TestWithParam<Case> {};

TEST_P(WeakRuns, SatisfyTheirLevel) {
  const Case& c = GetParam();
  Rng rng(20261115);
  for (int i = 0; i < c.programs; ++i) {
    const std::string text =
        random_program(rng, {.sessions = 3, .max_calls = c.max_calls, .levels = c.own});
    const Program program = program_of(text);
    Store store = weak_store(program, c.level);
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const auto end = run_once(store, seed);
      ASSERT_TRUE(end.ok()) << "program " << i << ", seed " << seed << "\n"
                            << render(end.error()) << "\n"
                            << text;
      const History h = to_history(program, store.recording());
      const auto levels = assign_levels(h, level_of(c.level), LevelSet::built_in());
      ASSERT_TRUE(levels.ok()) << render(levels.error());
      Budget budget;
      ASSERT_EQ(Checker(h).check(*levels, budget).verdict.outcome, Outcome::Consistent)
          << "program " << i << ", seed " << seed << "\n"
          << text;
      if (is_small_enough(h, levels->base->framework)) {
        ASSERT_TRUE(BruteForce(h).decide(*levels).has_value())
            << "program " << i << ", seed " << seed << "\n"
            << text;
      }
      const Outcome ser = check(h, level_of("ser"), budget).verdict.outcome;
      ASSERT_EQ(is_serializable(program, store.recording(), budget), ser == Outcome::Consistent)
          << "program " << i << ", seed " << seed << "\n"
          << text;
    }
  }
}

const std::vector<std::string> kWeak = {"true", "rc", "ra", "cc"};

INSTANTIATE_TEST_SUITE_P(
    Levels, WeakRuns,
    ::testing::Values(
        Case{"rc", "rc", {}, 1000}, Case{"ra", "ra", {}, 1000}, Case{"cc", "cc", {}, 1000},
        Case{"pc", "pc", {}, 1000}, Case{"psi", "psi", {}, 500}, Case{"si", "si", {}, 1000},
        Case{"ser", "ser", {}, 1000}, Case{"ua", "ua", {}, 500}, Case{"cc_vis", "cc@vis", {}, 300},
        Case{"weak_mixture", "cc", kWeak, 1000}, Case{"ser_in_rc", "rc", {"ser", "cc"}, 500},
        Case{"si_in_cc_vis", "cc@vis", {"si@vis", "ua", "ra@vis"}, 300},
        Case{"update_ser", "update-ser", {}, 200}, Case{"longer_cc", "cc", {}, 300, 20},
        Case{"longer_si", "si", {}, 200, 12}, Case{"longer_psi", "psi", {}, 100, 12},
        Case{"longer_ser", "ser", {}, 200, 12}, Case{"large_cc", "cc", {}, 20, 250},
        Case{"large_pc", "pc", {}, 10, 120}, Case{"large_si", "si", {}, 10, 120},
        Case{"large_ser", "ser", {}, 10, 120}, Case{"huge_ra", "ra", {}, 10, 900}),
    [](const auto& tested) { return tested.param.name; });

// Asks about every version, compares the answers with check's, and takes any legal one.
class ComparingPolicy final : public ReadPolicy {
 public:
  ComparingPolicy(const Store& store, const Level& level, Rng& rng)
      : store_(store), level_(level), rng_(rng) {}

  void begin(CallId call) { call_ = call; }
  int num_questions() const { return num_questions_; }

  std::optional<std::size_t> choose(ProgramKey x, std::span<const Version> versions,
                                    Oracle* oracle) override {
    std::vector<std::size_t> legal;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const bool is_allowed = oracle->allows(x, versions[i].writer);
      EXPECT_EQ(is_allowed, is_legal(x, versions[i]))
          << name_of(store_.program(), call_) << " reads " << store_.program().keys().name(x)
          << " from " << name_of_writer(store_.program(), versions[i].writer);
      ++num_questions_;
      if (is_allowed) legal.push_back(i);
    }
    EXPECT_FALSE(legal.empty());
    if (legal.empty()) return std::nullopt;
    return legal[rng_.below(legal.size())];
  }

 private:
  // With the pending transaction's reads so far, and nothing that it wrote.
  bool is_legal(ProgramKey x, const Version& version) const {
    Recording recording = store_.recording();
    RecordedTxn pending;
    for (const Access& access : store_.last_txn().accesses) {
      if (access.is_read) pending.accesses.push_back(access);
    }
    pending.accesses.push_back({true, x, version.value, version.writer});
    recording.txns[call_] = pending;
    recording.order.push_back(call_);
    const History h = to_history(store_.program(), recording);
    const auto levels = assign_levels(h, level_, LevelSet::built_in());
    EXPECT_TRUE(levels.ok());
    Budget budget;
    return Checker(h).check(*levels, budget).verdict.outcome == Outcome::Consistent;
  }

  const Store& store_;
  const Level& level_;
  Rng& rng_;
  CallId call_ = {};
  int num_questions_ = 0;
};

TEST_P(WeakRuns, AllowExactlyTheLegalReads) {
  const Case& c = GetParam();
  Rng rng(7);
  int num_questions = 0;
  const int max_calls = std::max(7, std::min(c.max_calls, 90));
  const int programs = max_calls > 20 ? 12 : 300;
  for (int i = 0; i < programs; ++i) {
    const std::string text = random_program(
        rng, {.sessions = 3, .max_calls = max_calls, .aborts = 0.3, .levels = c.own});
    SCOPED_TRACE(testing::Message() << "program " << i << "\n" << text);
    const Program program = program_of(text);
    Store store = weak_store(program, c.level);
    ComparingPolicy comparing(store, level_of(c.level), rng);
    ById<ProgramSession, CallId> next;
    for (const Session& session : program.outline().sessions) next.push_back(session.first);
    for (std::size_t done = 0; done < program.outline().calls.size();) {
      const ProgramSession s{static_cast<std::uint32_t>(rng.below(next.size()))};
      const Session& session = program.outline().sessions[s];
      if (next[s] == session.end()) continue;
      comparing.begin(next[s]);
      auto end = store.execute(next[s], comparing);
      ASSERT_TRUE(end.ok());
      if (*end == TxnEnd::Refused) {
        ExplainedPolicy explained(store.oracle()->explanation(), program.outline().calls.size());
        end = store.execute(next[s], explained);
      }
      ASSERT_TRUE(end.ok() && *end != TxnEnd::Refused);
      ++next[s];
      ++done;
    }
    num_questions += comparing.num_questions();
    if (HasFailure()) return;
  }
  EXPECT_GT(num_questions, 1000);
}

}  // namespace
}  // namespace isoscope::store
