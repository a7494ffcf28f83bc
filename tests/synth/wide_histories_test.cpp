// Aborted transactions, repeated reads and further keys, which a search has where an axiom can tell
// the difference: against all such histories of small scopes, drawn without a solver.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/choices.h"
#include "synth/brute_force_histories.h"
#include "synth/level_profiles.h"
#include "synth/search.h"

namespace isoscope {
namespace {

using synthesis::Distinctions;
using synthesis::distinctions_of;

constexpr const char* kItemCut =
    "level item-cut over co\n"
    "axiom ItemCut: forall x: key, t1, t2, t: txn.\n"
    "    wr[x](t1, t) and wr[x](t2, t)  implies  t1 = t2\n";

// Levels that can tell: two writers of one read key, aborted transactions, both.
const std::string kTelling =
    std::string(kItemCut) +
    "level same-key over co\n"
    "axiom A: forall x, y: key, t1, t2, t: txn.\n"
    "    wr[x](t1, t) and wr[y](t2, t) and x = y and co(t1, t2)  implies  so(t1, t)\n"
    "level twice over vis, ar\n"
    "axiom A: forall x: key. wr[x] ; wr[x]^-1 subset vis | vis^-1 | [writers] | [readers]\n"
    "level no-reader over co\n"
    "axiom A: empty(wr ; [aborted])\n"
    "level stale-reader over co\n"
    "axiom A: forall t, u: txn. (wr ; [aborted])(t, u)  implies  (so ; so)(t, u)\n"
    "level last over vis, ar\n"
    "axiom A: [aborted] ; ar subset vis\n"
    "level both over co\n"
    "axiom A: forall x: key, t1, t2, t: txn.\n"
    "    wr[x](t1, t) and (wr[x] ; [aborted])(t2, t)  implies  t1 = t2\n";

LevelSet with(const std::string& text) {
  LevelSet levels = LevelSet::built_in();
  const auto added = levels.add(text, "wide.level");
  EXPECT_TRUE(added.ok()) << (added.ok() ? "" : render(added.error()));
  return levels;
}

bool fits(const DrawnHistory& d, const Distinctions& told) {
  return (told.repeated_reads || !d.is_wide()) && (told.aborted_txns || !d.has_aborted());
}

// All histories of a scope, with what is wide about them.
struct Drawn {
  explicit Drawn(const Scope& plain) : scope(plain) {
    Scope wide = plain;
    wide.aborted_txns = true;
    wide.repeated_reads = true;
    for_each_history(wide, [&](const DrawnHistory& d) {
      shapes.push_back(d);
      histories.push_back(build(d));
    });
  }
  Scope scope;
  std::vector<DrawnHistory> shapes;
  std::vector<History> histories;
};

// Every pair of levels has the answer of all histories that its axioms can tell apart.
void expect_agreement(const Drawn& drawn, const Levels& levels) {
  std::vector<std::vector<bool>> allowed(drawn.histories.size());
  for (std::size_t i = 0; i < drawn.histories.size(); ++i) {
    BruteForce oracle(drawn.histories[i]);
    for (const Level* level : levels) allowed[i].push_back(oracle.decide(*level).has_value());
  }
  Separated separated;
  for (std::size_t a = 0; a < levels.size(); ++a) {
    for (std::size_t b = 0; b < levels.size(); ++b) {
      const SynthQuery query{.allow = {levels[a]}, .forbid = {levels[b]}};
      Distinctions told = distinctions_of(query.allow, query.forbid);
      Budget budget;
      if (synthesis::may_repeat_reads(query, budget)) told.repeated_reads = true;
      bool& found = separated[{levels[a], levels[b]}];
      for (std::size_t i = 0; i < drawn.histories.size() && !found; ++i)
        found = allowed[i][a] && !allowed[i][b] && fits(drawn.shapes[i], told);
    }
  }
  expect_same(separated, drawn.scope, false, false);
}

Levels telling_and_plain(const LevelSet& levels) {
  Levels all;
  for (const auto& each : levels.all()) {
    if (!each->built_in) all.push_back(each.get());
  }
  for (const char* name : {"true", "plume-ra", "ec", "ra@co", "ra@vis", "ser@co"})
    all.push_back(*levels.find(name));
  return all;
}

TEST(WideHistories, AreSearchedWhereAnAxiomCanTell) {
  const LevelSet levels = with(kTelling);
  const auto told = [&](const char* name) { return distinctions_of({*levels.find(name)}, {}); };
  for (const char* name : {"item-cut", "same-key", "twice", "both"})
    EXPECT_TRUE(told(name).repeated_reads) << name;
  for (const char* name : {"no-reader", "stale-reader", "last", "both"})
    EXPECT_TRUE(told(name).aborted_txns) << name;
  for (const auto& each : LevelSet::built_in().all()) {
    if (!require_plain(*each, "the search")) continue;
    const Distinctions plain = distinctions_of({each.get()}, {});
    EXPECT_FALSE(plain.repeated_reads) << each->full_name();
    EXPECT_FALSE(plain.aborted_txns) << each->full_name();
  }
}

// No axiom of plume-ra names two reads of a key, but it allows them, and ec does not.
TEST(WideHistories, AreSearchedWhereThereAreNoOthers) {
  const LevelSet& levels = LevelSet::built_in();
  Budget budget = Budget::seconds(60);
  const auto repeats = [&](const char* a, const char* b) {
    return synthesis::may_repeat_reads({.allow = {*levels.find(a)}, .forbid = {*levels.find(b)}},
                                       budget);
  };
  EXPECT_TRUE(repeats("plume-ra", "ec"));
  EXPECT_TRUE(repeats("true", "ser"));
  EXPECT_FALSE(repeats("ra@co", "ec"));
  EXPECT_FALSE(repeats("ra@vis", "ser"));
  EXPECT_FALSE(repeats("rc", "ser"));  // reads in order repeat anyway
  const auto answer = synthesize_minimal(
      {.allow = {*levels.find("plume-ra")}, .forbid = {*levels.find("ec")}}, 5, budget);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->outcome, SynthOutcome::Found);
  EXPECT_EQ(answer->scope.txns, 2);
  EXPECT_TRUE(answer->scope.repeated_reads);
  EXPECT_TRUE(answer->found->is_rechecked);
}

TEST(WideHistories, AgreeWithAllOfTwoTransactions) {
  const LevelSet levels = with(kTelling);
  expect_agreement(Drawn({.txns = 2, .keys = 1}), telling_and_plain(levels));
  expect_agreement(Drawn({.txns = 2, .keys = 2, .ops = 3}), telling_and_plain(levels));
  expect_agreement(Drawn({.txns = 2, .keys = 1, .empty_txns = true}), telling_and_plain(levels));
}

TEST(WideHistories, AgreeWithAllOfThreeTransactions) {
  const LevelSet levels = with(kTelling);
  expect_agreement(Drawn({.txns = 3, .keys = 1, .values = 3, .ops = 2}), telling_and_plain(levels));
}

// Axioms about who reads a key from whom, and who aborted.
class RandomReads {
 public:
  explicit RandomReads(std::uint64_t seed) : rng_(seed) {}

  std::string text() {
    return fmt::format("level random over co\naxiom A: forall x, y: key, t, u, v: txn. {}",
                       clause());
  }

 private:
  std::string clause() {
    std::string premises = atom();
    for (std::uint64_t i = rng_.below(3); i > 0; --i) premises += " and " + atom();
    return premises + "  implies  " + atom();
  }
  std::string atom() {
    const char* atoms[] = {"wr[x](t, v)",
                           "wr[x](u, v)",
                           "wr[y](u, v)",
                           "x = y",
                           "t = u",
                           "t != u",
                           "co(t, u)",
                           "so(t, v)",
                           "writes(v, x)",
                           "[aborted](v, v)",
                           "(wr ; [aborted])(t, v)",
                           "(wr[x] ; wr[y]^-1)(t, u)",
                           "([aborted] ; so)(t, u)",
                           "reads(v, y)"};
    return atoms[rng_.below(std::size(atoms))];
  }

  Choices rng_;
};

TEST(WideHistories, AgreeForRandomLevels) {
  const Drawn drawn({.txns = 2, .keys = 1});
  int wide = 0;
  for (std::uint64_t seed = 1; seed <= 700; ++seed) {
    SCOPED_TRACE(seed);
    RandomReads random(seed);
    const LevelSet levels = with(random.text());
    const Level& level = **levels.find("random");
    const Distinctions told = distinctions_of({&level}, {});
    if (told.repeated_reads || told.aborted_txns) ++wide;
    expect_agreement(drawn, {&level, *levels.find("true"), *levels.find("ra@co")});
    if (testing::Test::HasFailure()) FAIL() << random.text();
  }
  EXPECT_GT(wide, 300);
}

TEST(WideHistories, AreCountedUpToRenaming) {
  const LevelSet levels = with(kTelling);
  const Level& both = **levels.find("both");
  const Drawn drawn({.txns = 2, .keys = 1});
  std::set<std::string> seen;
  for (std::size_t i = 0; i < drawn.histories.size(); ++i) {
    if (!BruteForce(drawn.histories[i]).decide(both)) continue;
    const DrawnHistory& d = drawn.shapes[i];
    std::string least;
    for (const bool swapped : {false, true}) {
      const auto name = [&](int writer) { return writer == 0 || !swapped ? writer : 3 - writer; };
      // T1 before T2 in a session, or T2 before T1 under the other names.
      std::string text = d.session[0] != d.session[1] ? "0" : swapped ? "2" : "1";
      for (const std::size_t t :
           swapped ? std::vector<std::size_t>{1, 0} : std::vector<std::size_t>{0, 1}) {
        std::string reads = "...";
        for_each_writer(d, t, 0,
                        [&](int from) { reads[static_cast<std::size_t>(name(from))] = 'r'; });
        text += fmt::format(" {}{}{}", int{d.aborted[t]}, int{d.writes[t][0]}, reads);
      }
      if (least.empty() || text < least) least = text;
    }
    seen.insert(least);
  }
  Budget budget = Budget::seconds(60);
  const auto counted = count_histories({.allow = {&both}, .scope = {.txns = 2, .keys = 1}}, budget);
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->count, seen.size());
}

TEST(WideHistories, ShowAReadThatIsNotRepeatable) {
  const LevelSet levels = with(kItemCut);
  Budget budget = Budget::seconds(60);
  const auto answer = synthesize_minimal(
      {.allow = {*levels.find("true")}, .forbid = {*levels.find("item-cut")}}, 3, budget);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->outcome, SynthOutcome::Found);
  EXPECT_EQ(answer->scope.txns, 2);
  EXPECT_TRUE(answer->scope.repeated_reads);
  EXPECT_FALSE(answer->scope.aborted_txns);
  EXPECT_EQ(answer->found->operations, 3);
}

// A blind write, a read and an update: three keys of one transaction, where two were searched.
TEST(WideHistories, HaveAsManyKeysAsTheAxiomsName) {
  const LevelSet levels = with(
      "level three over co\n"
      "axiom A: not (exists t: txn, x, y, z: key. writes(t, x) and not reads(t, x) and\n"
      "    reads(t, y) and not writes(t, y) and reads(t, z) and writes(t, z))\n");
  Budget budget = Budget::seconds(60);
  const SynthQuery query{.allow = {*levels.find("true")}, .forbid = {*levels.find("three")}};
  const auto answer = synthesize_minimal(query, 3, budget);
  ASSERT_TRUE(answer.ok());
  ASSERT_EQ(answer->outcome, SynthOutcome::Found);
  EXPECT_EQ(answer->scope.txns, 1);
  EXPECT_EQ(answer->scope.keys, 3);
}

TEST(WideHistories, LeaveTheCountsOfPlainLevelsAlone) {
  Budget budget = Budget::seconds(60);
  const Level& any = **LevelSet::built_in().find("true");
  Scope scope{.txns = 2, .keys = 2, .blind_writes = false, .sessions = SessionShape::PartialOrder};
  const auto counted = count_histories({.allow = {&any}, .scope = scope}, budget);
  ASSERT_TRUE(counted.ok());
  EXPECT_EQ(counted->count, 97U);
}

}  // namespace
}  // namespace isoscope
