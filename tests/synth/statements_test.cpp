// The search for histories with statements, locks and times, against all histories of small scopes
// that are drawn without a solver.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "formats/formats.h"
#include "synth/brute_force_histories.h"
#include "synth/drawn_statements.h"
#include "synth/level_profiles.h"
#include "synth/search.h"

namespace isoscope {
namespace {

Levels named(const LevelSet& levels, std::initializer_list<const char*> names) {
  Levels found;
  for (const char* name : names) found.push_back(*levels.find(name));
  return found;
}

Levels snapshot_levels() {
  return named(LevelSet::built_in(), {"rc@snap", "pc@snap", "si@snap", "ser@snap", "pg-rc", "pg-rr",
                                      "pg-ser", "mysql-rr", "rc@co", "pc@co", "si@co", "ser@vis"});
}

// The search has aborted transactions and inserts where a level of the pair can tell. Levels that
// cannot see the difference, so all pairs are held against the histories with inserts; aborted ones
// separate nothing that locks do not.
void compare_statements(const Scope& scope, bool generic, const Levels& levels) {
  Profiles profiles(levels);
  std::size_t histories = 0;
  for_each_statement_history(scope, true, [&](const History& h) {
    ++histories;
    profiles.add(h);
  });
  EXPECT_GT(histories, 100U);
  expect_same(profiles.separated(), scope, generic, false);
}

TEST(SynthesizeStatements, AgreesWithAllHistoriesOfTwoOperationsAndTwoKeys) {
  compare_statements({.txns = 2, .keys = 2, .ops = 2}, false, snapshot_levels());
}

TEST(SynthesizeStatements, AgreesWithAllHistoriesOfThreeOperationsOnOneKey) {
  Scope scope{.txns = 2, .keys = 1, .ops = 3};
  scope.statements = StatementShape::NoInserts;
  compare_statements(scope, false,
                     named(LevelSet::built_in(), {"pg-rc", "pg-rr", "mysql-rr", "rc@co"}));
}

TEST(SynthesizeStatements, AgreesWithAllHistoriesOfSingleStatements) {
  Scope scope{.txns = 2, .keys = 2, .ops = 3};
  scope.statements = StatementShape::Single;
  compare_statements(scope, false, snapshot_levels());
}

TEST(SynthesizeStatements, AgreesWithAllHistoriesWithoutAnalysisOfTheAxioms) {
  compare_statements({.txns = 2, .keys = 2, .ops = 2}, true,
                     named(LevelSet::built_in(), {"pc@snap", "pg-rc", "mysql-rr", "si@co"}));
}

// Axioms of shapes that no built-in level has: snap denied, equivalences, same, waited and locks
// outside of rules, and statements in levels over other orders.
TEST(SynthesizeStatements, AgreesWithAllHistoriesForUnusualAxioms) {
  LevelSet levels = LevelSet::built_in();
  const auto added = levels.add(
      "level s1 over co, snap\n"
      "axiom A: forall t: txn, r, s: read. same(r, s) implies (snap(t, r) iff snap(t, s))\n"
      "axiom B: forall t: txn, r, s: read. po(r, s) and snap(t, s) implies not snap(t, r)\n"
      "         or so(t, t) or wr(t, r)\n"
      "level s2 over co, snap\n"
      "axiom A: forall t, u: txn, r: read. snap(t, r) and of(r, u) implies\n"
      "         (exists s: read. wr(t, s)) or so(t, u)\n"
      "level s3 over co, snap axiom A: acyclic((snap ; of) | (waited ; of))\n"
      "level s4 over co, snap\n"
      "axiom A: forall r: read. current(r) or (exists s: read. po(r, s) or po(s, r))\n"
      "level s5 over co\n"
      "axiom A: forall r: read, t: txn. of(r, t) and current(r) implies (exists x: key. writes(t, "
      "x))\n"
      "level s6 over vis, ar\n"
      "axiom A: forall t, u: txn, x: key. locks(t, x) and locks(u, x) and ar(t, u) implies vis(t, "
      "u)\n",
      "odd.level");
  ASSERT_TRUE(added.ok()) << render(added.error());
  Levels odd = named(levels, {"s1", "s2", "s3", "s4", "s5", "s6", "pg-rc", "rc@snap"});
  compare_statements({.txns = 2, .keys = 1, .ops = 2}, false, odd);
  compare_statements({.txns = 2, .keys = 2, .ops = 2}, false, odd);
}

// A session cannot run a transaction that had ended before the last one began.
bool sessions_run_in_time(const History& h) {
  for (TxnId a : h.txns()) {
    for (TxnId b : h.txns()) {
      if (h.so(a, b) && h.rt(b, a)) return false;
    }
  }
  return true;
}

// Real time: every way in which few intervals can lie.
void for_each_timed_history(const Scope& scope, const std::function<void(const History&)>& visit) {
  const int n = scope.txns;
  for_each_history(scope, [&](const DrawnHistory& drawn) {
    std::vector<TxnTimes> times(static_cast<std::size_t>(n));
    const std::function<void(int)> draw = [&](int t) {
      if (t == n) {
        visit(build(drawn, times));
        return;
      }
      for (int start = 1; start <= n; ++start) {
        for (int end = start; end <= n; ++end) {
          times[static_cast<std::size_t>(t)] = {2 * start, 2 * end + 1};
          draw(t + 1);
        }
      }
    };
    draw(0);
  });
}

TEST(SynthesizeTimes, AgreesWithAllIntervals) {
  const Levels levels =
      named(LevelSet::built_in(), {"strict-ra@co", "strict-ra@vis", "strict-cc@vis", "strict-pc@co",
                                   "strong-si@co", "strong-si@vis", "strict-ser@co",
                                   "strict-ser@vis", "strict-ua", "ra@co", "ser@co", "si@vis"});
  for (const Scope& scope :
       {Scope{.txns = 2, .keys = 2, .ops = 2}, Scope{.txns = 3, .keys = 1, .values = 2}}) {
    Profiles profiles(levels);
    for_each_timed_history(scope, [&](const History& h) {
      if (sessions_run_in_time(h)) profiles.add(h);
    });
    expect_same(profiles.separated(), scope, false);
  }
}

// Levels whose order need not contain wr, or so.
TEST(SynthesizeFree, AgreesWithAllHistories) {
  LevelSet levels = LevelSet::built_in();
  const auto added = levels.add(
      "level f1 over co, wr free without so axiom G0: acyclic(ww)\n"
      "level f2 over co, wr free without so axiom G1c: acyclic(ww | wr)\n"
      "level f3 over co, wr free axiom A: acyclic(so | wr)\n"
      "level f4 over co without so axiom A: acyclic(wr | ww | rw)\n"
      "level f5 over co without so\n"
      "axiom A: forall x: key, t1, t2, t3: txn. wr[x](t1, t3) and writes(t2, x) and t1 != t2 and\n"
      "         co(t2, t3) implies co(t2, t1)\n"
      "level f6 over vis, ar without so axiom A: transitive(vis)\n",
      "free.level");
  ASSERT_TRUE(added.ok()) << render(added.error());
  const Levels free = named(levels, {"f1", "f2", "f3", "f4", "f5", "f6", "ec", "ra@co", "ser@co"});
  for (const bool generic : {false, true}) {
    for (const Scope& scope : {Scope{.txns = 2, .keys = 2}, Scope{.txns = 3, .keys = 1}}) {
      Profiles profiles(free);
      for_each_history(scope, [&](const DrawnHistory& drawn) { profiles.add(build(drawn)); });
      expect_same(profiles.separated(), scope, generic);
    }
  }
}

std::string smallest(const char* allow, const char* forbid,
                     StatementShape statements = StatementShape::Any) {
  const LevelSet& levels = LevelSet::built_in();
  Budget budget = Budget::seconds(120);
  SynthQuery query{.allow = {*levels.find(allow)}, .forbid = {*levels.find(forbid)}};
  query.scope.statements = statements;
  const auto answer = synthesize_minimal(query, 3, budget);
  EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : render(answer.error()));
  if (!answer.ok() || !answer->found) return "";
  EXPECT_TRUE(answer->found->is_rechecked);
  std::string text;
  EXPECT_TRUE(write_history(answer->found->history, Format::Hist, [&](std::string_view piece) {
                text += piece;
              }).ok());
  return text;
}

TEST(SynthesizeStatements, FindsWhatAWaitShowsAndASnapshotDoesNot) {
  // Any of the smallest: which lock it is does not matter.
  const std::string locked = smallest("pc@snap", "pg-rc");
  EXPECT_TRUE(locked == "s1: [w(x,1)]\ns2: [r(x,1) l(x) | r(x,0)]\n" ||
              locked == "s1: [w(x,1)]\ns2: [r(x,1) ls(x) | r(x,0)]\n")
      << locked;
  // A transaction cannot read the old value of what it has written.
  const std::string updates = smallest("pc@snap", "pg-rc", StatementShape::NoLocks);
  EXPECT_TRUE(updates.find("w(x,2) | r(y,0)") != std::string::npos ||
              updates.find("[w(x,2) r(y,0)]") != std::string::npos)
      << updates;
  // The write of another transaction is enough, if nothing shows which one came first.
  const std::string single = smallest("pc@snap", "pg-rc", StatementShape::Single);
  EXPECT_NE(single, "");
  EXPECT_EQ(single.find('|'), std::string::npos) << single;
}

TEST(SynthesizeTimes, FindsAStaleReadThatOnlyRealTimeForbids) {
  const std::string history = smallest("ser", "strict-ser");
  EXPECT_EQ(history, "s1: [r(x,0)]<3,6>\ns2: [w(x,1)]<1,2>\n");
}

// The same history under other names of transactions and keys is counted once.
TEST(SynthesizeStatements, CountsHistoriesUpToRenaming) {
  const LevelSet& levels = LevelSet::built_in();
  Scope scope{.txns = 1, .keys = 2, .ops = 2};
  std::set<std::string> all;
  for (const DrawnTxn& txn : drawn_transactions(scope, true, 0)) {
    bool from_others = false;
    for (const DrawnOperation& op : txn)
      from_others |= op.kind == DrawnOperation::Kind::Read && op.writer != 0;
    if (from_others) continue;
    // What one statement claims is a set; reads keep their order, and own reads come last.
    std::string least;
    for (const bool swapped : {false, true}) {
      std::vector<std::string> statements;
      std::vector<std::tuple<int, int, int>> claims;
      std::string reads;
      std::string own;
      std::string text;
      const auto flush = [&] {
        std::sort(claims.begin(), claims.end());
        for (const auto& [key, kind, unused] : claims) reads += fmt::format("{}{} ", kind, key);
        text += reads + own + "|";
        claims.clear();
        reads.clear();
        own.clear();
      };
      bool twice = false;
      for (std::size_t i = 0; i < txn.size(); ++i) {
        if (i > 0 && !txn[i].joined) flush();
        const int key = swapped ? 1 - txn[i].key : txn[i].key;
        if (txn[i].kind == DrawnOperation::Kind::Read) {
          twice |= !claims.empty() || !own.empty();  // another order of the same
          reads += fmt::format("r{} ", key);
        } else if (txn[i].kind == DrawnOperation::Kind::OwnRead) {
          own += fmt::format("o{} ", key);
        } else {
          for (const auto& claim : claims) twice |= std::get<0>(claim) == key;
          claims.emplace_back(key, static_cast<int>(txn[i].kind), 0);
        }
      }
      flush();
      if (twice) text.clear();
      if (least.empty() || text < least) least = text;
    }
    if (!least.empty()) all.insert(least);
  }
  Budget budget = Budget::seconds(60);
  const auto count = count_histories(
      {.allow = {*levels.find("rc@snap")}, .forbid = {*levels.find("pg-rc")}, .scope = scope},
      budget);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(count->count, 0U);  // one transaction has nobody to wait for
  const auto any = count_histories({.allow = {*levels.find("pg-rc")}, .scope = scope}, budget);
  ASSERT_TRUE(any.ok());
  EXPECT_EQ(any->count, all.size());
}

}  // namespace
}  // namespace isoscope
