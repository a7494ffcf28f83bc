// Proofs about statements, locks and real time: what must be proved, and that neither a fact nor a
// proof is refuted by a history.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "check/points/random_statements.h"
#include "spec/brute_force.h"
#include "spec/levels.h"
#include "support/random_history.h"
#include "synth/pinned_structure.h"
#include "synth/proof.h"
#include "synth/proof_search.h"

namespace isoscope {
namespace {

const Level& built_in(std::string_view name) { return **LevelSet::built_in().find(name); }

// Does the history belong to the shape, as synth/statement_shape.h says?
bool has_shape(const History& h, StatementShape shape) {
  if (shape == StatementShape::Any) return true;
  std::set<std::string> rows;
  for (KeyId x : h.keys()) rows.insert(h.name(h.row(x)));
  for (TxnId t : h.txns()) {
    std::set<std::uint32_t> statements;
    for (EventId e : h.events(t)) {
      if (h.is_insert(e)) return false;
      if (shape == StatementShape::NoInserts) continue;
      if (h.is_write(e) && h.status(t) == TxnStatus::Aborted) return false;
      if (!statements.insert(h.statement(e)).second && shape == StatementShape::Single)
        return false;
    }
    if (shape != StatementShape::NoInserts && !h.locks(t).empty()) return false;
  }
  return shape == StatementShape::NoInserts || rows.size() == h.num_keys();
}

struct Expected {
  const char* a;
  const char* b;
  StatementShape shape = StatementShape::Any;
  bool without_numbers = false;
};
void PrintTo(const Expected& e, std::ostream* out) { *out << e.a << " => " << e.b; }

class StatementProof : public testing::TestWithParam<Expected> {};

TEST_P(StatementProof, HoldsForEveryHistoryOfTheShape) {
  const auto [a, b, shape, without_numbers] = GetParam();
  Budget budget = Budget::seconds(120);
  const ProofAnswer answer = prove_implies(built_in(a), built_in(b), budget, shape);
  EXPECT_EQ(answer.outcome, ProofOutcome::Proved);
  EXPECT_EQ(answer.without_numbers, without_numbers);
  EXPECT_FALSE(answer.vacuous);
}

constexpr StatementShape kNoInserts = StatementShape::NoInserts;
constexpr StatementShape kNoLocks = StatementShape::NoLocks;
constexpr StatementShape kSingle = StatementShape::Single;

INSTANTIATE_TEST_SUITE_P(
    Snapshots, StatementProof,
    testing::Values(Expected{"pg-ser", "pg-rr"}, Expected{"pg-rr", "pc@snap"},
                    Expected{"si@snap", "pc@snap"}, Expected{"ser@snap", "si@snap"},
                    Expected{"ser@snap", "pg-ser"}, Expected{"ser@snap", "pg-rc"},
                    Expected{"pg-rc", "rc@snap"}, Expected{"pc@snap", "rc@snap"},
                    Expected{"pg-rr", "pg-rc", kNoLocks}, Expected{"mysql-rc", "pg-rc"}));
INSTANTIATE_TEST_SUITE_P(
    OtherOrders, StatementProof,
    testing::Values(Expected{"ser@snap", "ser@co"}, Expected{"pc@snap", "pc@co", kSingle},
                    Expected{"pc@snap", "pc@vis", kSingle}, Expected{"si@snap", "si@co", kNoLocks},
                    Expected{"si@snap", "psi", kSingle}, Expected{"pg-rr", "si@co", kNoInserts},
                    Expected{"pg-rr", "pc@co", kNoInserts}, Expected{"pg-rc", "rc@co", kSingle}));
INSTANTIATE_TEST_SUITE_P(LeastSnapshots, StatementProof,
                         testing::Values(Expected{"ser@co", "ser@snap", StatementShape::Any, true},
                                         Expected{"ser@vis", "ser@snap", StatementShape::Any, true},
                                         Expected{"pc@co", "pc@snap", kSingle, true},
                                         Expected{"pc@vis", "pc@snap", kSingle, true},
                                         Expected{"si@co", "si@snap", kNoLocks, true},
                                         Expected{"si@co", "pg-rr", kNoLocks, true}));
INSTANTIATE_TEST_SUITE_P(RealTime, StatementProof,
                         testing::Values(Expected{"strict-ser@co", "ser@co"},
                                         Expected{"strong-si@co", "si@co"},
                                         Expected{"strict-ser@co", "strict-ser@vis"},
                                         Expected{"strict-ser@vis", "strict-ser@co"},
                                         Expected{"strong-si@co", "strong-si@vis"},
                                         Expected{"strong-si@vis", "strong-si@co"},
                                         Expected{"strict-ser@co", "strong-si@co"},
                                         Expected{"strict-pc@co", "strict-pc@vis"},
                                         Expected{"strict-cc@co", "strict-cc@vis"}));

constexpr SmtLimits kLimits{.steps = 60'000};

bool is_refuted_by(ProofSearch& search, const History& h, const Witness& w) {
  ProofTheory& theory = search.theory();
  std::vector<SmtTerm> formulas = theory.facts();
  for (const auto& more : {search.unrollings(), pin(theory, h, w)})
    formulas.insert(formulas.end(), more.begin(), more.end());
  Budget budget = Budget::seconds(20);
  return search.smt().check(formulas, kLimits, budget) == SmtResult::Unsat;
}

// What is assumed of a level and a shape, and the lemmas that were found, are true of the histories
// that satisfy the level.
TEST(ProofFacts, AreTrueOfHistoriesWithStatements) {
  const Expected questions[] = {
      {"pc@snap", "pc@co"},
      {"pg-rr", "pg-rc"},
      {"ser@co", "pg-rc"},
      {"rc@co", "pg-rc"},
      {"pg-rc", "ua"},
      {"pc@co", "pg-rr", kNoInserts},
      {"si@snap", "psi", kNoLocks},
      {"pc@vis", "pc@snap", kSingle},
      {"pg-rr", "si@co", kSingle},
      {"mysql-rr", "rc@co"},
  };
  int pinned = 0;
  for (const Expected& question : questions) {
    const Level& a = built_in(question.a);
    const Level& b = built_in(question.b);
    const Construction construction =
        b.framework == Framework::CoSnap  ? Construction::LeastSnapshots
        : b.framework == Framework::VisAr ? Construction::LeastVisibility
        : a.framework == Framework::VisAr ? Construction::ArbitrationAsCo
                                          : Construction::SameOrders;
    Budget budget = Budget::seconds(10);  // whatever is believed when it is over must be true
    ProofSearch search(a, b, construction, budget, nullptr, question.shape);
    search.run(0);
    int found = 0;
    for (std::uint64_t seed = 1; seed <= 400 && found < 4; ++seed) {
      Rng rng(seed);
      const History h = jsonl_of(random_statements(
          rng, {.max_txns = 3, .max_statements = 2, .max_reading = 4, .numbered = 0}));
      if (!has_shape(h, question.shape) || !is_small_enough(h, a.framework)) continue;
      const std::optional<Witness> w = BruteForce(h).decide(a);
      if (!w) continue;
      ++found;
      EXPECT_FALSE(is_refuted_by(search, h, *w))
          << question.a << " => " << question.b << ", seed " << seed;
    }
    EXPECT_GT(found, 1) << question.a << " => " << question.b;
    pinned += found;
  }
  EXPECT_GT(pinned, 30);
}

TEST(ProofFacts, AreTrueOfHistoriesWithTimes) {
  int pinned = 0;
  for (const auto& [first, second] :
       {std::pair("strict-ser@co", "strong-si@vis"), std::pair("strict-cc@co", "strict-pc@co"),
        std::pair("ser@co", "strict-ser@co")}) {
    const Level& a = built_in(first);
    const Level& b = built_in(second);
    Budget budget = Budget::seconds(10);
    ProofSearch search(
        a, b,
        b.framework == Framework::VisAr ? Construction::LeastVisibility : Construction::SameOrders,
        budget);
    search.run(0);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Rng rng(seed);
      const History h = build(random_small(rng, {.max_txns = 3, .aborted = 0, .times = true}));
      const std::optional<Witness> w = BruteForce(h).decide(a);
      if (!w) continue;
      ++pinned;
      EXPECT_FALSE(is_refuted_by(search, h, *w)) << first << " => " << second << ", seed " << seed;
    }
  }
  EXPECT_GT(pinned, 15);
}

// A history that a allows and b forbids, for as many pairs and shapes as random histories show. No
// such implication may be proved for the shape, nor for any wider one; one with commit numbers says
// nothing against proofs that leave numbers out.
TEST(Proof, IsNeverGivenForAnImplicationThatAHistoryWithStatementsRefutes) {
  constexpr const char* kNames[] = {"pc@snap", "si@snap", "ser@snap", "pg-rc", "pg-rr",
                                    "pg-ser",  "rc@co",   "si@vis",   "ser@co"};
  constexpr StatementShape kShapes[] = {StatementShape::Any, kNoInserts, kNoLocks, kSingle};
  struct Question {
    std::string a;
    std::string b;
    StatementShape shape;
    auto operator<=>(const Question&) const = default;
  };
  std::map<Question, std::string> refuted;  // by any, and by histories without numbers
  std::map<Question, std::string> refuted_without;
  for (std::uint64_t seed = 1; seed <= 2500; ++seed) {
    Rng rng(seed);
    const std::string text = random_statements(rng, {.max_txns = 3, .max_reading = 5});
    const History h = jsonl_of(text);
    if (!is_small_enough(h, Framework::VisAr)) continue;
    BruteForce oracle(h);
    std::vector<const char*> allow;
    std::vector<const char*> forbid;
    for (const char* name : kNames)
      (oracle.decide(built_in(name)) ? allow : forbid).push_back(name);
    for (const StatementShape shape : kShapes) {
      if (!has_shape(h, shape)) break;
      for (const char* a : allow) {
        for (const char* b : forbid) {
          refuted.try_emplace({a, b, shape}, fmt::format("seed {}\n{}", seed, text));
          if (!h.has_commit_numbers())
            refuted_without.try_emplace({a, b, shape}, fmt::format("seed {}\n{}", seed, text));
        }
      }
    }
  }
  EXPECT_GT(refuted.size(), 80U);
  for (const auto& [question, reason] : refuted) {
    // What holds is proved within a second.
    Budget budget = Budget::seconds(0.5);
    const ProofAnswer answer =
        prove_implies(built_in(question.a), built_in(question.b), budget, question.shape);
    if (answer.outcome != ProofOutcome::Proved) continue;
    const bool is_excused = answer.without_numbers && !refuted_without.contains(question);
    EXPECT_TRUE(is_excused) << question.a << " => " << question.b << ", but " << reason;
  }
}

}  // namespace
}  // namespace isoscope
