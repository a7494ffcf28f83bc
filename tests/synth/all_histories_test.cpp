// The search against all histories of small scopes, drawn without a solver.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "spec/brute_force.h"
#include "spec/levels.h"
#include "synth/brute_force_histories.h"
#include "synth/synth.h"

namespace isoscope {
namespace {

using Levels = std::vector<const Level*>;
using Separated = std::map<std::pair<const Level*, const Level*>, bool>;

// All built-in levels that speak of transactions only.
Levels abstract_levels() {
  Levels levels;
  for (const auto& each : LevelSet::built_in().all()) {
    if (each->name != "rc") levels.push_back(each.get());
  }
  return levels;
}

// Which levels allow each history; by pair, is there one that separates them?
class Profiles {
 public:
  explicit Profiles(const Levels& levels) : levels_(levels) {}

  void add(const History& h) {
    BruteForce oracle(h);
    std::vector<bool> allowed;
    for (const Level* each : levels_) allowed.push_back(oracle.decide(*each).has_value());
    seen_.insert(std::move(allowed));
  }

  Separated separated() const {
    Separated result;
    for (std::size_t a = 0; a < levels_.size(); ++a) {
      for (std::size_t b = 0; b < levels_.size(); ++b) {
        bool& found = result[{levels_[a], levels_[b]}];
        for (const auto& profile : seen_) found = found || (profile[a] && !profile[b]);
      }
    }
    return result;
  }

 private:
  Levels levels_;
  std::set<std::vector<bool>> seen_;
};

void expect_same(const Separated& all, const Scope& scope, bool generic) {
  for (const auto& [pair, separated] : all) {
    const auto [a, b] = pair;
    Budget budget = Budget::seconds(60);
    const auto answer =
        synthesize({.allow = {a}, .forbid = {b}, .scope = scope, .generic = generic}, budget);
    const std::string what =
        a->full_name() + " without " + b->full_name() + (generic ? ", generic" : "");
    ASSERT_TRUE(answer.ok()) << what << ": " << render(answer.error());
    EXPECT_EQ(answer->outcome, separated ? SynthOutcome::Found : SynthOutcome::None) << what;
    EXPECT_TRUE(!answer->found || answer->found->is_rechecked) << what;
  }
}

void compare_with_brute_force(const Scope& scope, bool generic,
                              const Levels& levels = abstract_levels()) {
  Profiles profiles(levels);
  for_each_history(scope, [&](const DrawnHistory& drawn) { profiles.add(build(drawn)); });
  expect_same(profiles.separated(), scope, generic);
}

TEST(Synthesize, AgreesWithAllHistoriesOfTwoTransactionsAndTwoKeys) {
  compare_with_brute_force({.txns = 2, .keys = 2}, false);
}

TEST(Synthesize, AgreesWithAllHistoriesOfThreeTransactionsAndOneKey) {
  compare_with_brute_force({.txns = 3, .keys = 1}, false);
}

TEST(Synthesize, AgreesWithAllHistoriesOfFewValuesAndOperations) {
  compare_with_brute_force({.txns = 3, .keys = 1, .values = 2}, false);
  compare_with_brute_force({.txns = 2, .keys = 2, .ops = 2}, false);
  compare_with_brute_force({.txns = 2, .keys = 1, .values = 2, .empty_txns = true}, false);
}

TEST(Synthesize, AgreesWithAllHistoriesOfThreeTransactionsAndTwoKeys) {
  compare_with_brute_force({.txns = 3, .keys = 2, .values = 2, .blind_writes = false}, false);
}

TEST(Synthesize, AgreesWithAllHistoriesWithoutBlindWrites) {
  compare_with_brute_force({.txns = 3, .keys = 1, .blind_writes = false}, false);
}

TEST(Synthesize, AgreesWithAllHistoriesWithoutAnalysisOfTheAxioms) {
  compare_with_brute_force({.txns = 2, .keys = 2}, true);
  compare_with_brute_force({.txns = 3, .keys = 1}, true);
}

// Axioms of shapes that no built-in level has: vis denied, equivalences, existence of keys,
// closures of vis, alternatives.
TEST(Synthesize, AgreesWithAllHistoriesForUnusualAxioms) {
  LevelSet levels = LevelSet::built_in();
  const auto added = levels.add(
      "level o1 over co\n"
      "axiom A: forall t, u: txn. co(t, u) and not so(t, u)\n"
      "         implies (exists x: key. writes(t, x) and reads(u, x))\n"
      "level o2 over vis, ar\n"
      "axiom A: forall t, u: txn. ar(t, u) and not vis(t, u)\n"
      "         implies (exists x: key. writes(t, x) and writes(u, x))\n"
      "level o3 over vis, ar\n"
      "axiom A: [writers] ; ar ; [writers] subset vis\n"
      "level o4 over vis, ar\n"
      "axiom A: forall t, u: txn. vis(t, u) iff (so | wr)+(t, u)\n"
      "level o5 over co\n"
      "axiom A: irreflexive(rw ; co)\n"
      "level o6 over co\n"
      "axiom A: empty(rw & co^-1) or acyclic(so | wr | rw)\n"
      "level o7 over vis, ar\n"
      "axiom A: acyclic(vis | rw)\n"
      "axiom B: (vis ; wr) \\ so subset vis\n"
      "level o8 over vis, ar\n"
      "axiom A: vis+ subset vis\n"
      "level o9 over co\n"
      "axiom A: forall x: key. exists t, u: txn. so(t, u) and writes(u, x)\n"
      "level o10 over co\n"
      "axiom A: exists x: key. forall t: txn. writes(t, x) implies not reads(t, x)\n"
      "level o11 over vis, ar\n"
      "axiom A: total(vis)\n"
      "axiom B: forall x: key. transitive(ww[x]) and ww[x] subset ar*\n",
      "odd.level");
  ASSERT_TRUE(added.ok()) << render(added.error());
  Levels odd;
  for (const auto& each : levels.all()) {
    if (!each->built_in) odd.push_back(each.get());
  }
  ASSERT_EQ(odd.size(), 11U);
  for (const char* name : {"ra@vis", "ser@co", "true@co"}) odd.push_back(*levels.find(name));
  compare_with_brute_force({.txns = 2, .keys = 2, .values = 2}, false, odd);
  compare_with_brute_force({.txns = 3, .keys = 1, .values = 3}, false, odd);
  compare_with_brute_force({.txns = 2, .keys = 2, .values = 2}, true, odd);
}

// Two transactions, one key, up to two reads of it each, before a write or without one.
TEST(Synthesize, AgreesWithAllHistoriesOfOrderedReads) {
  Levels levels;
  for (const char* name : {"rc", "true", "ra", "cc@vis", "ser", "ra@vis"})
    levels.push_back(*LevelSet::built_in().find(name));
  for (const int keys : {1, 2}) {
    Profiles profiles(levels);
    // A transaction is two reads, each of a key from a writer or none, and a set of written keys.
    const int reads = 1 + keys * 2;  // none, or key and writer: T0 or the other transaction
    const int programs = reads * reads * (1 << keys);
    for (int code = 0; code < programs * programs * 3; ++code) {
      const int sessions = code % 3;  // T1 before T2, apart, or T2 before T1
      const int program[2] = {code / 3 % programs, code / 3 / programs};
      const auto writes = [&](int t, int x) { return (program[t] / reads / reads >> x & 1) != 0; };
      bool sensible = true;
      HistoryBuilder b(InitialValues::Zero);
      for (const int t : {sessions == 2 ? 1 : 0, sessions == 2 ? 0 : 1}) {
        const TxnId id = b.begin(b.session(sessions == 1 ? t : 0), TxnStatus::Committed, {});
        int operations = 0;
        for (const int read : {program[t] % reads, program[t] / reads % reads}) {
          if (read == 0) continue;
          const int x = (read - 1) / 2;
          const bool from_other = (read - 1) % 2 == 1;
          sensible = sensible && (!from_other || writes(1 - t, x));
          b.read(id, b.key(x), Value::of(from_other ? 2 - t : 0), {});
          ++operations;
        }
        for (int x = 0; x < keys; ++x) {
          if (!writes(t, x)) continue;
          b.write(id, b.key(x), Value::of(t + 1), {});
          ++operations;
        }
        sensible = sensible && operations > 0;
      }
      if (!sensible) continue;
      profiles.add(*std::move(b).build());
    }
    const Scope scope{.txns = 2, .keys = keys, .reads = 2};
    Separated with_rc;
    for (const auto& [pair, separated] : profiles.separated()) {
      if (pair.first->name == "rc" || pair.second->name == "rc") with_rc[pair] = separated;
    }
    expect_same(with_rc, scope, false);
    expect_same(with_rc, scope, true);
  }
}

}  // namespace
}  // namespace isoscope
