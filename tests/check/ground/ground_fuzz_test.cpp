// The grounded decision against brute force: every level, mixtures, and random formulas.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "check/ground/ground.h"
#include "check/ground/user_levels.h"
#include "history/restrict.h"
#include "spec/brute_force.h"
#include "spec/evaluate.h"
#include "support/random_history.h"

namespace isoscope {
namespace {

// How axioms are grounded must not matter: all at once, or only what a model breaks.
const GroundOptions kStyles[] = {{}, {.eager_instances = 0, .eager_transitivity = 0}};

// What is wrong with the verdict, or nothing.
std::string complaint(const History& h, const Assignment& levels, const Verdict& verdict,
                      BruteForce& oracle) {
  const bool consistent = oracle.decide(levels).has_value();
  if (verdict.outcome == Outcome::Unknown) return "unknown: " + verdict.limit;
  if ((verdict.outcome == Outcome::Consistent) != consistent)
    return consistent ? "brute force finds a witness" : "brute force finds no witness";
  if (consistent) {
    const auto failure = evaluate(levels, {h, *verdict.witness});
    return failure ? describe(*failure, h) : "";
  }
  // The core alone is violated; restrict_to() numbers its transactions in order.
  const History part = restrict_to(h, verdict.violation->core);
  Assignment part_levels{levels.base, {}};
  if (levels.is_mixed()) {
    part_levels.own.push_back(&levels.of(kInitialTxn));
    for (const TxnId t : verdict.violation->core) part_levels.own.push_back(&levels.of(t));
  }
  if (BruteForce(part).decide(part_levels)) return "the core has a witness";
  return "";
}

Assignment own_levels(const History& h, const Level& base, Framework framework) {
  Assignment levels{&base, {}};
  for (const TxnId t : h.txns()) {
    levels.own.push_back(h.level(t).empty() ? nullptr
                                            : LevelSet::built_in().lookup(h.level(t), framework));
  }
  return levels;
}

// Compares on one history; on failure shrinks it and prints what is needed to repeat it.
template <class LevelsOf>
bool agrees(const SmallHistory& small, std::uint64_t seed, const LevelsOf& levels_of,
            const GroundOptions& options) {
  const auto failing = [&](const SmallHistory& candidate) {
    const History h = build(candidate);
    BruteForce oracle(h);
    const Assignment levels = levels_of(h);
    Budget budget;
    return complaint(h, levels, check_ground(h, levels, budget, options), oracle);
  };
  const std::string why = failing(small);
  if (why.empty()) return true;
  const SmallHistory smaller =
      shrink(small, [&](const SmallHistory& candidate) { return !failing(candidate).empty(); });
  ADD_FAILURE() << "seed " << seed << ", level " << levels_of(build(small)).base->full_name()
                << ": " << why << "\n"
                << to_hist(small) << "shrunk:\n"
                << to_hist(smaller) << failing(smaller);
  return false;
}

RandomShape shape_for(Framework framework, std::uint64_t seed) {
  RandomShape shape;
  shape.max_txns = framework == Framework::Co ? 5 : 4;
  shape.keys = seed % 3 == 0 ? 3 : 2;
  shape.max_ops = 2 + static_cast<int>(seed % 3);
  shape.stray = seed % 2 == 0 ? 0.35 : 0.15;
  shape.aborted = 0.1;
  return shape;
}

class EveryLevel : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryLevel, AgreesWithBruteForce) {
  const Level& level = *levels_with_users().all()[GetParam()];
  int disagreements = 0;
  for (std::uint64_t seed = 0; seed < 3000 && disagreements < 3; ++seed) {
    Rng rng(seed * 1000 + GetParam());
    const SmallHistory small = random_small(rng, shape_for(level.framework, seed));
    const auto same = [&](const History&) { return Assignment{&level, {}}; };
    if (!agrees(small, seed, same, kStyles[seed % 2])) ++disagreements;
  }
}

std::string level_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name = levels_with_users().all()[info.param]->full_name();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(GroundFuzz, EveryLevel,
                         testing::Range(std::size_t{0}, levels_with_users().all().size()),
                         level_name);

TEST(GroundFuzz, AgreesOnMixturesOverCo) {
  int disagreements = 0;
  for (std::uint64_t seed = 0; seed < 3000 && disagreements < 3; ++seed) {
    Rng rng(seed);
    RandomShape shape = shape_for(Framework::Co, seed);
    shape.levels = {"true", "rc", "ra", "cc", "pc", "si", "ser", "update-ser"};
    const SmallHistory small = random_small(rng, shape);
    const Level& base =
        *LevelSet::built_in().lookup(shape.levels[seed % shape.levels.size()], Framework::Co);
    const auto own = [&](const History& h) { return own_levels(h, base, Framework::Co); };
    if (!agrees(small, seed, own, kStyles[seed % 2])) ++disagreements;
  }
}

TEST(GroundFuzz, AgreesOnMixturesOverVis) {
  int disagreements = 0;
  for (std::uint64_t seed = 0; seed < 3000 && disagreements < 3; ++seed) {
    Rng rng(seed);
    RandomShape shape = shape_for(Framework::VisAr, seed);
    shape.levels = {"ra", "cc", "pc", "ua", "psi", "si", "ser", "update-ser", "nlu", "ec"};
    const SmallHistory small = random_small(rng, shape);
    const Level& base =
        *LevelSet::built_in().lookup(shape.levels[seed % shape.levels.size()], Framework::VisAr);
    const auto own = [&](const History& h) { return own_levels(h, base, Framework::VisAr); };
    if (!agrees(small, seed, own, kStyles[seed % 2])) ++disagreements;
  }
}

// Lists with known version orders, and transactions of unknown outcome.
History random_lists(Rng& rng) {
  HistoryBuilder b(InitialValues::Nil);
  const KeyId list = b.key("list");
  const KeyId other = b.key("other");
  std::vector<Value> appended;
  const std::size_t txns = 1 + rng.below(4);
  std::int64_t next = 0;
  for (std::uint32_t line = 1; line <= txns; ++line) {
    const double kind = rng.uniform();
    const TxnId t = b.begin(b.session(static_cast<std::int64_t>(rng.below(3))),
                            kind < 0.7   ? TxnStatus::Committed
                            : kind < 0.9 ? TxnStatus::Unknown
                                         : TxnStatus::Aborted,
                            {line, 1});
    bool wrote = false;
    for (std::uint32_t column = 2; column < 2 + 1 + rng.below(3); ++column) {
      switch (rng.below(4)) {
        case 0:
          if (!wrote) appended.push_back(Value::of(++next));
          if (!wrote) b.append(t, list, appended.back(), {line, column});
          wrote = true;
          break;
        case 1:
          b.write(t, other, Value::of(++next), {line, column});
          break;
        case 2:
          if (!wrote) {
            const std::size_t shown = rng.below(appended.size() + 1);
            b.read_list(t, list, std::span(appended).first(shown), {line, column});
          }
          break;
        default:
          b.read(t, other, Value::nil(), {line, column});
      }
    }
  }
  auto h = std::move(b).build();
  ISO_ASSERT(h.ok());
  return *std::move(h);
}

TEST(GroundFuzz, AgreesOnListsAndUnknownOutcomes) {
  int violated = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Rng rng(seed);
    const History h = random_lists(rng);
    BruteForce oracle(h);
    for (const auto& level : levels_with_users().all()) {
      Budget budget;
      const Verdict verdict = check_ground(h, {level.get(), {}}, budget, kStyles[seed % 2]);
      const bool consistent = oracle.decide(*level).has_value();
      ASSERT_EQ(verdict.outcome, consistent ? Outcome::Consistent : Outcome::Violated)
          << "seed " << seed << " level " << level->full_name();
      if (consistent) {
        const auto failure = evaluate({level.get(), {}}, {h, *verdict.witness});
        ASSERT_FALSE(failure.has_value()) << describe(*failure, h);
        continue;
      }
      ++violated;
      if (!h.faults().empty()) continue;
      const History part = restrict_to(h, verdict.violation->core);
      EXPECT_FALSE(BruteForce(part).decide(*level).has_value())
          << "seed " << seed << " level " << level->full_name();
    }
  }
  EXPECT_GT(violated, 1000);
}

// Formulas that nobody would write: any operator anywhere.
class RandomLevel {
 public:
  RandomLevel(Rng& rng, Framework framework) : rng_(rng), framework_(framework) {}

  std::string text() {
    return "level random over " + std::string(framework_ == Framework::Co ? "co" : "vis, ar") +
           "\naxiom Random: " + (rng_.chance(0.5) ? formula(3) : rule()) + "\n";
  }

 private:
  std::size_t pick(std::size_t n) { return rng_.below(n); }

  // Of the shape that most axioms have: many instances, premises that rule out most of them.
  std::string rule() {
    if (rng_.chance(0.2)) return "acyclic(" + relation(3) + " | " + relation(2) + ")";
    txns_ = {"a", "b", "c"};
    keys_ = {"x"};
    std::string text = "forall a, b, c: txn, x: key. ";
    for (std::size_t i = 0; i < 1 + pick(3); ++i)
      text += (i == 0 ? "" : " and ") + std::string(rng_.chance(0.25) ? "not " : "") + "(" +
              (rng_.chance(0.7) ? member(2) : atom()) + ")";
    return text + " implies " + (rng_.chance(0.7) ? member(1) : formula(1));
  }

  std::string member(int depth) {
    return relation(depth) + "(" + txns_[pick(txns_.size())] + ", " + txns_[pick(txns_.size())] +
           ")";
  }

  std::string relation(int depth) {
    if (depth == 0 || rng_.chance(0.3)) {
      const char* co[] = {"so", "wr",        "co",        "co",       "ww",
                          "rw", "[writers]", "[readers]", "[aborted]"};
      const char* vis[] = {"so", "wr", "vis", "vis", "ar", "ww", "rw", "[writers]", "[aborted]"};
      if (!keys_.empty() && rng_.chance(0.4)) {
        const std::string x = keys_[pick(keys_.size())];
        const std::string keyed[] = {"wr[" + x + "]", "ww[" + x + "]", "rw[" + x + "]",
                                     "[writers(" + x + ")]"};
        return keyed[pick(4)];
      }
      return framework_ == Framework::Co ? co[pick(9)] : vis[pick(9)];
    }
    const std::string left = relation(depth - 1);
    switch (pick(7)) {
      case 0:
        return "(" + left + " | " + relation(depth - 1) + ")";
      case 1:
        return "(" + left + " & " + relation(depth - 1) + ")";
      case 2:
        return "(" + left + " \\ " + relation(depth - 1) + ")";
      case 3:
        return "(" + left + " ; " + relation(depth - 1) + ")";
      case 4:
        return "(" + left + ")^-1";
      case 5:
        return "(" + left + ")+";
      default:
        return "(" + left + ")*";
    }
  }

  std::string formula(int depth) {
    if (depth == 0 || rng_.chance(0.15)) return atom();
    switch (pick(8)) {
      case 0:
        return "(not " + formula(depth - 1) + ")";
      case 1:
        return "(" + formula(depth - 1) + " and " + formula(depth - 1) + ")";
      case 2:
        return "(" + formula(depth - 1) + " or " + formula(depth - 1) + ")";
      case 3:
        return "(" + formula(depth - 1) + " implies " + formula(depth - 1) + ")";
      case 4:
        return "(" + formula(depth - 1) + " iff " + formula(depth - 1) + ")";
      default:
        return quantified(depth);
    }
  }

  std::string quantified(int depth) {
    const std::size_t txns = txns_.size();
    const std::size_t keys = keys_.size();
    const bool key = rng_.chance(0.3);
    const std::string name = (key ? "x" : "t") + std::to_string(++names_);
    (key ? keys_ : txns_).push_back(name);
    std::string text =
        std::string(rng_.chance(0.6) ? "(forall " : "(exists ") + name + (key ? ": key" : ": txn");
    if (!key && rng_.chance(0.5)) {
      const std::string other = "u" + std::to_string(++names_);
      txns_.push_back(other);
      text += ", " + other + ": txn";
    }
    text += ". " + formula(depth - 1) + ")";
    txns_.resize(txns);
    keys_.resize(keys);
    return text;
  }

  std::string atom() {
    if (txns_.empty() || rng_.chance(0.25)) {
      const char* statements[] = {"acyclic", "irreflexive", "transitive", "total", "empty"};
      if (rng_.chance(0.2)) return "(" + relation(2) + " subset " + relation(2) + ")";
      return std::string(statements[pick(5)]) + "(" + relation(2) + ")";
    }
    const std::string t = txns_[pick(txns_.size())];
    const std::string u = txns_[pick(txns_.size())];
    if (!keys_.empty() && rng_.chance(0.3))
      return (rng_.chance(0.5) ? "writes(" : "reads(") + t + ", " + keys_[pick(keys_.size())] + ")";
    if (rng_.chance(0.15)) return t + (rng_.chance(0.5) ? " = " : " != ") + u;
    return relation(2) + "(" + t + ", " + u + ")";
  }

  Rng& rng_;
  Framework framework_;
  std::vector<std::string> txns_;
  std::vector<std::string> keys_;
  int names_ = 0;
};

void compare_on_random_levels(Framework framework, std::uint64_t seeds) {
  int disagreements = 0;
  int consistent = 0;
  int violated = 0;
  for (std::uint64_t seed = 0; seed < seeds && disagreements < 3; ++seed) {
    Rng rng(seed);
    LevelSet set;
    const std::string text = RandomLevel(rng, framework).text();
    const auto added = set.add(text, "random.level");
    ASSERT_TRUE(added.ok()) << render(added.error());
    const Level& level = *set.all().front();
    RandomShape shape = shape_for(framework, seed);
    if (framework == Framework::Co) shape.max_txns = 4;
    for (int i = 0; i < 3; ++i) {
      const SmallHistory small = random_small(rng, shape);
      const auto same = [&](const History&) { return Assignment{&level, {}}; };
      if (!agrees(small, seed, same, kStyles[(seed + static_cast<std::uint64_t>(i)) % 2])) {
        ++disagreements;
        ADD_FAILURE() << text;
      }
      const History h = build(small);
      Budget budget;
      const Outcome outcome = check_ground(h, {&level, {}}, budget).outcome;
      consistent += outcome == Outcome::Consistent ? 1 : 0;
      violated += outcome == Outcome::Violated ? 1 : 0;
    }
  }
  // A comparison in which everything comes out the same way would prove little.
  EXPECT_GT(consistent, violated / 4);
  EXPECT_GT(violated, consistent / 4);
}

TEST(GroundFuzz, AgreesOnRandomFormulasOverCo) { compare_on_random_levels(Framework::Co, 6000); }
TEST(GroundFuzz, AgreesOnRandomFormulasOverVis) {
  compare_on_random_levels(Framework::VisAr, 4000);
}

}  // namespace
}  // namespace isoscope
