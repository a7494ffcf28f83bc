#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "formats/hist.h"
#include "spec/brute_force.h"
#include "spec/levels.h"
#include "synth/brute_force_histories.h"
#include "synth/synth.h"

namespace isoscope {
namespace {

const Level* built_in_level(std::string_view name) { return *LevelSet::built_in().find(name); }

std::string hist_text(const History& h) {
  std::string text;
  EXPECT_TRUE(write_hist(h, [&](std::string_view part) { text += part; }).ok());
  return text;
}

// As the paper's tool searches.
Scope isolde_scope() { return {.blind_writes = false, .sessions = SessionShape::PartialOrder}; }

struct Separation {
  std::vector<const Level*> allow;
  const Level* forbid;
  int txns, keys, values;
  std::size_t irreducible;
};

TEST(SynthesizeMinimal, FindsTheSmallestScopesAndAllIrreducibleHistories) {
  const Separation table[] = {
      {{built_in_level("plume-ra")}, built_in_level("ra"), 2, 1, 2, 1},
      {{built_in_level("pc")}, built_in_level("si"), 2, 1, 3, 1},
      {{built_in_level("si")}, built_in_level("ser"), 2, 2, 2, 1},
      {{built_in_level("ra")}, built_in_level("cc"), 3, 1, 2, 1},
      {{built_in_level("si"), built_in_level("update-ser")}, built_in_level("ser"), 3, 2, 2, 2},
      {{built_in_level("cc")}, built_in_level("pc"), 4, 2, 2, 3},
      {{built_in_level("nlu")}, built_in_level("ua"), 3, 2, 4, 1},
      {{built_in_level("pc@vis")}, built_in_level("si@vis"), 2, 1, 3, 1},
      {{built_in_level("si@co"), built_in_level("update-ser@vis")},
       built_in_level("ser@vis"),
       3,
       2,
       2,
       2},
      {{built_in_level("cc@vis")}, built_in_level("pc@co"), 4, 2, 2, 3},
  };
  for (const Separation& row : table) {
    Budget budget;
    const auto list = synthesize_all_minimal(
        {.allow = row.allow, .forbid = {row.forbid}, .scope = isolde_scope()},
        Minimality::Irreducible, 6, budget);
    ASSERT_TRUE(list.ok()) << render(list.error());
    EXPECT_EQ(list->outcome, SynthOutcome::Found);
    EXPECT_EQ(list->scope.txns, row.txns) << row.forbid->full_name();
    EXPECT_EQ(list->scope.keys, row.keys) << row.forbid->full_name();
    EXPECT_EQ(list->scope.values, row.values) << row.forbid->full_name();
    EXPECT_EQ(list->found.size(), row.irreducible) << row.forbid->full_name();
  }
}

TEST(SynthesizeMinimal, PrefersFewTransactionsThenKeysThenValuesThenOperations) {
  Budget budget;
  const auto fork = synthesize_minimal(
      {.allow = {built_in_level("cc")}, .forbid = {built_in_level("pc")}}, 6, budget);
  ASSERT_TRUE(fork.ok());
  ASSERT_TRUE(fork->found.has_value());
  EXPECT_EQ(fork->scope.txns, 4);
  EXPECT_EQ(fork->found->operations, 4);
  EXPECT_EQ(fork->found->session_edges, 2);
  const auto lost = synthesize_minimal(
      {.allow = {built_in_level("pc")}, .forbid = {built_in_level("si")}}, 6, budget);
  ASSERT_TRUE(lost.ok());
  EXPECT_EQ(hist_text(lost->found->history), "s1: [r(x,0) w(x,1)]\ns2: [r(x,0) w(x,2)]\n");
}

TEST(SynthesizeMinimal, KeepsToStatedSizes) {
  Budget budget;
  SynthQuery query{
      .allow = {built_in_level("ra")}, .forbid = {built_in_level("ser")}, .scope = isolde_scope()};
  query.scope.values = 2;
  auto answer = synthesize_minimal(query, 6, budget);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->scope.txns, 2);
  EXPECT_EQ(answer->scope.keys, 2);
  query.scope.keys = 1;
  answer = synthesize_minimal(query, 6, budget);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->scope.txns, 3);
  query.scope.txns = 2;
  answer = synthesize_minimal(query, 6, budget);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->outcome, SynthOutcome::None);
}

TEST(SynthesizeMinimal, SaysHowFarItLooked) {
  Budget budget;
  const auto none = synthesize_minimal(
      {.allow = {built_in_level("ser")}, .forbid = {built_in_level("si")}}, 4, budget);
  ASSERT_TRUE(none.ok());
  EXPECT_EQ(none->outcome, SynthOutcome::None);
  EXPECT_EQ(none->scope.txns, 4);
  EXPECT_EQ(none->scope.keys, 5);
  EXPECT_EQ(none->excluded_txns, 4);
}

TEST(SynthesizeMinimal, SaysHowFarItCameWhenTheTimeIsOver) {
  Budget spent = Budget::seconds(1e-9);
  spent.expired_now();
  const SynthQuery query{.allow = {built_in_level("ser")}, .forbid = {built_in_level("si")}};
  const auto nothing = synthesize_minimal(query, 4, spent);
  ASSERT_TRUE(nothing.ok());
  EXPECT_EQ(nothing->outcome, SynthOutcome::Unknown);
  EXPECT_EQ(nothing->excluded_txns, 0);
  EXPECT_EQ(nothing->scope.txns, 1);  // being searched
  Budget short_time = Budget::seconds(0.5);
  const auto some = synthesize_minimal(query, kMaxSynthTxns, short_time);
  ASSERT_TRUE(some.ok());
  EXPECT_EQ(some->outcome, SynthOutcome::Unknown);
  EXPECT_GE(some->excluded_txns, 1);
  EXPECT_EQ(some->scope.txns, some->excluded_txns + 1);
  EXPECT_FALSE(some->limit.empty());
}

TEST(SynthesizeMinimal, KeepsAHistoryWhoseMinimisationIsCutShort) {
  // The budget expires somewhere: before the first history, between, or after the last one.
  for (const double milliseconds : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0}) {
    Budget budget = Budget::seconds(milliseconds / 1000);
    const auto answer = synthesize_minimal(
        {.allow = {built_in_level("cc")}, .forbid = {built_in_level("pc")}}, 6, budget);
    ASSERT_TRUE(answer.ok()) << render(answer.error());
    EXPECT_NE(answer->outcome, SynthOutcome::None);
    if (answer->found) {
      EXPECT_TRUE(answer->found->is_rechecked) << milliseconds;
      EXPECT_EQ(answer->scope.txns, 4);
    }
    EXPECT_TRUE(answer->found || answer->outcome == SynthOutcome::Unknown);
  }
}

TEST(SynthesizeMinimal, TellsWhichScopeItSearches) {
  Budget budget;
  std::vector<std::string> told;
  SynthQuery query{.allow = {built_in_level("ser")}, .forbid = {built_in_level("si")}};
  query.progress = [&](std::string_view phase, double) { told.emplace_back(phase); };
  ASSERT_TRUE(synthesize_minimal(query, 3, budget).ok());
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told.back(), "searching histories of 3 transactions");
}

TEST(SynthesizeMinimal, ListsHistoriesOfFewestOperations) {
  Budget budget;
  const auto list =
      synthesize_all_minimal({.allow = {built_in_level("pc@vis"), built_in_level("ua")},
                              .forbid = {built_in_level("si@vis")}},
                             Minimality::Fewest, 6, budget);
  ASSERT_TRUE(list.ok());
  std::set<std::string> texts;
  for (const SynthFound& found : list->found) {
    EXPECT_EQ(found.operations, 5);
    EXPECT_EQ(found.session_edges, 1);
    EXPECT_TRUE(found.is_rechecked);
    texts.insert(hist_text(found.history));
  }
  EXPECT_EQ(texts.size(), 2U);
}

TEST(SynthesizeMinimal, ShowsSessionEdgesThatAreNoSessions) {
  Budget budget;
  // With one key of one value, only so orders transactions: of three, one before two others.
  SynthQuery query{.allow = {built_in_level("ser")}, .scope = {.txns = 3, .keys = 1, .values = 1}};
  query.scope.sessions = SessionShape::PartialOrder;
  const auto partial = count_histories(query, budget);
  query.scope.sessions = SessionShape::Chains;
  const auto chains = count_histories(query, budget);
  ASSERT_TRUE(partial.ok() && chains.ok());
  EXPECT_EQ(partial->count, 5U);  // partial orders of three elements
  EXPECT_EQ(chains->count, 3U);   // partitions of three
}

TEST(CountHistories, CountsThemUpToRenaming) {
  const std::tuple<int, int, std::uint64_t> table[] = {
      {2, 2, 97}, {3, 1, 120}, {2, 3, 470}, {3, 2, 5342}};
  for (const auto& [txns, keys, expected] : table) {
    SynthQuery query{.allow = {built_in_level("true")}, .scope = isolde_scope()};
    query.scope.txns = txns;
    query.scope.keys = keys;
    Budget budget;
    const auto count = count_histories(query, budget);
    ASSERT_TRUE(count.ok());
    EXPECT_EQ(count->outcome, SynthOutcome::Found);
    EXPECT_EQ(count->count, expected) << txns << " transactions, " << keys << " keys";
  }
}

TEST(CountHistories, AgreesWithDrawingThemAll) {
  // Names are broken by brute force: the smallest text of all renamings.
  const Scope scope{.txns = 2, .keys = 2, .values = 2};
  std::set<std::vector<int>> classes;
  for_each_history(scope, [&](const DrawnHistory& d) {
    const History h = build(d);
    BruteForce oracle(h);
    if (!oracle.decide(*built_in_level("si")) || oracle.decide(*built_in_level("ser"))) return;
    std::vector<int> smallest;
    for (const bool swap_txns : {false, true}) {
      for (const bool swap_keys : {false, true}) {
        // Within a session the names say who comes first; keep that.
        std::vector<int> code = {d.session[0] == d.session[1] ? (swap_txns ? 2 : 1) : 0};
        for (int t = 0; t < 2; ++t) {
          for (int x = 0; x < 2; ++x) {
            const auto from_t = static_cast<std::size_t>(swap_txns ? 1 - t : t);
            const auto from_x = static_cast<std::size_t>(swap_keys ? 1 - x : x);
            const int from = d.reads[from_t][from_x];
            code.push_back(d.writes[from_t][from_x]);
            code.push_back(swap_txns && from > 0 ? 3 - from : from);
          }
        }
        if (smallest.empty() || code < smallest) smallest = code;
      }
    }
    classes.insert(smallest);
  });
  ASSERT_FALSE(classes.empty());
  Budget budget;
  const auto count = count_histories(
      {.allow = {built_in_level("si")}, .forbid = {built_in_level("ser")}, .scope = scope}, budget);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(count->count, classes.size());
}

TEST(CountHistories, RefusesScopesWithTooManyNames) {
  Budget budget;
  EXPECT_FALSE(
      count_histories({.allow = {built_in_level("si")}, .scope = {.txns = 10, .keys = 5}}, budget)
          .ok());
}

}  // namespace
}  // namespace isoscope
