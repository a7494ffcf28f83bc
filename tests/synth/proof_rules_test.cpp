// The rules of proofs against brute force: names of closures, inclusions of closures, linear
// extensions. Random levels speak of dependency graphs; all small histories are the judge.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "spec/brute_force.h"
#include "spec/levels.h"
#include "support/choices.h"
#include "support/random_history.h"
#include "synth/acyclic.h"
#include "synth/brute_force_histories.h"
#include "synth/proof.h"
#include "synth/proof_canonical.h"

namespace isoscope {
namespace {

// Relations of dependency graphs, as text.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : rng_(seed) {}

  std::string relation(int depth) {
    const char* leaves[] = {"so", "wr", "ww", "rw", "so", "wr", "ww", "co"};
    if (depth <= 0 || rng_.chance(0.2)) return leaves[rng_.below(8)];
    switch (rng_.below(8)) {
      case 0:
      case 1: return fmt::format("({})+", relation(depth - 1));
      case 2:
      case 3: return fmt::format("({}) ; ({})", relation(depth - 1), relation(depth - 1));
      case 4: return fmt::format("({}) & ({})", relation(depth - 1), relation(depth - 1));
      default: return fmt::format("({}) | ({})", relation(depth - 1), relation(depth - 1));
    }
  }
  // Mostly what dependency graphs are about.
  std::string level(std::string_view name) {
    const std::string so_wr = rng_.chance(0.6) ? "so | wr | " : "";
    switch (rng_.below(5)) {
      case 4:  // looks like an acyclic relation, but longer cycles are allowed
        return fmt::format("level {} over co\naxiom A: irreflexive(so | wr | ww | rw | {})\n", name,
                           relation(1));
      case 0:
        return fmt::format("level {} over co\naxiom A: irreflexive(({}) ; rw)\n", name,
                           relation(2));
      case 1: return fmt::format("level {} over co\naxiom A: {} subset co\n", name, relation(2));
      default:
        return fmt::format("level {} over co\naxiom A: acyclic({}{})\n", name, so_wr, relation(2));
    }
  }

 private:
  Choices rng_;
};

// Spells a relation in another way.
class Respelled {
 public:
  explicit Respelled(std::uint64_t seed) : rng_(seed) {}

  std::string of(const RelationExpr& r) {
    switch (r.op) {
      case RelationOp::Union:
      case RelationOp::Intersection: {
        const char* sign = r.op == RelationOp::Union ? "|" : "&";
        std::string left = of(*r.left);
        std::string right = of(*r.right);
        if (rng_.chance(0.5)) std::swap(left, right);
        if (rng_.chance(0.2)) left = fmt::format("({}) {} ({})", left, sign, right);
        return fmt::format("({}) {} ({})", left, sign, right);
      }
      case RelationOp::Compose:
        if (r.left->op == RelationOp::Compose && rng_.chance(0.5))
          return fmt::format("({}) ; (({}) ; ({}))", of(*r.left->left), of(*r.left->right),
                             of(*r.right));
        return fmt::format("({}) ; ({})", of(*r.left), of(*r.right));
      case RelationOp::Plus: {
        const std::string body = of(*r.left);
        if (rng_.chance(0.3)) return fmt::format("(({})+)+", body);
        if (rng_.chance(0.3)) return fmt::format("(({})+ | ({}))+", body, body);
        return fmt::format("({})+", body);
      }
      case RelationOp::So: return "so";
      case RelationOp::Wr: return "wr";
      case RelationOp::Ww: return "ww";
      case RelationOp::Rw: return "rw";
      default: return "co";
    }
  }

 private:
  Choices rng_;
};

const Level& level_of(LevelSet& levels, const std::string& text, std::string_view name) {
  const auto added = levels.add(text, "random.level");
  EXPECT_TRUE(added.ok()) << text << (added.ok() ? "" : render(added.error()));
  return **levels.find(name);
}

// The closure of a relation, as the axiom of a level.
const RelationExpr& closed(const Level& level) { return *acyclic_relations(level).at(0); }

std::string name_of(const Level& level, const Visibility& witness) {
  RelationTable table;
  return canonical_name(table, table.instantiate(closed(level), {}), {}, witness);
}

TEST(CanonicalNames, AreEqualForRespelledRelations) {
  const Visibility witness{"vis", {}, "order", {}};
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    LevelSet levels = LevelSet::built_in();
    const std::string relation = RandomGraph(seed).relation(4);
    const Level& a =
        level_of(levels, fmt::format("level a over co axiom A: acyclic({})", relation), "a");
    const std::string other = Respelled(seed).of(closed(a));
    const Level& b =
        level_of(levels, fmt::format("level b over co axiom A: acyclic({})", other), "b");
    EXPECT_EQ(name_of(a, witness), name_of(b, witness))
        << "seed " << seed << ": " << relation << " and " << other;
  }
}

// Of random relations, many of which have one name by chance, the closures are equal in random
// histories by random orders.
TEST(CanonicalNames, AreOfEqualClosures) {
  const Visibility witness{"vis", {}, "order", {}};
  std::vector<std::pair<History, Witness>> executions;
  for (std::uint64_t seed = 1; executions.size() < 60; ++seed) {
    Rng rng(seed);
    History h = build(random_small(rng, {.max_txns = 4}));
    std::optional<Witness> w = BruteForce(h).decide(**LevelSet::built_in().find("true"));
    if (w) executions.emplace_back(std::move(h), *std::move(w));
  }
  std::map<std::string, std::string> first;  // a relation of each name
  int same = 0;
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    LevelSet levels = LevelSet::built_in();
    const std::string relation = RandomGraph(seed).relation(3);
    const Level& a =
        level_of(levels, fmt::format("level a over co axiom A: acyclic({})", relation), "a");
    const auto [entry, is_new] = first.emplace(name_of(a, witness), relation);
    if (is_new || entry->second == relation) continue;
    ++same;
    const Level& equal = level_of(
        levels,
        fmt::format("level equal over co axiom A: ({0})+ subset ({1})+ and ({1})+ subset ({0})+",
                    relation, entry->second),
        "equal");
    for (const auto& [h, w] : executions) {
      EXPECT_TRUE(Evaluator(h, Assignment{&equal, {}}).accepts(w))
          << relation << " and " << entry->second;
    }
  }
  EXPECT_GT(same, 300);
}

// All histories of two transactions and two keys, and of three transactions and one key.
const std::vector<History>& small_histories() {
  static const std::vector<History> all = [] {
    std::vector<History> histories;
    for (const Scope& scope : {Scope{.txns = 2, .keys = 2, .values = 3, .ops = 3},
                               Scope{.txns = 3, .keys = 1, .values = 3}}) {
      for_each_history(scope, [&](const DrawnHistory& d) { histories.push_back(build(d)); });
    }
    return histories;
  }();
  return all;
}

std::vector<bool> allowed_by(const Level& level) {
  std::vector<bool> allowed;
  for (const History& h : small_histories())
    allowed.push_back(BruteForce(h).decide(level).has_value());
  return allowed;
}

// No implication between random dependency graphs, nor between them and built-in levels, is proved
// although a small history refutes it; and many are proved.
TEST(ProofRules, ProveNothingThatASmallHistoryRefutes) {
  LevelSet levels = LevelSet::built_in();
  std::vector<const Level*> pool;
  for (int i = 0; i < 36; ++i) {
    const std::string name = fmt::format("g{}", i);
    ASSERT_TRUE(levels.add(RandomGraph(static_cast<std::uint64_t>(i) + 77).level(name), "").ok());
  }
  for (int i = 0; i < 36; ++i) pool.push_back(*levels.find(fmt::format("g{}", i)));
  for (const char* name : {"ser@co", "si@co", "psi", "cc@vis", "si@vis"})
    pool.push_back(*levels.find(name));
  std::vector<std::vector<bool>> allowed;
  for (const Level* level : pool) allowed.push_back(allowed_by(*level));
  Choices rng(5);
  int proved = 0;
  int refuted = 0;
  const std::size_t graphs = 36;
  for (std::size_t i = 0; i < graphs + 200; ++i) {
    // Each graph against ser, which all of them seem to imply, then pairs at random.
    const std::size_t a = i < graphs ? i : rng.below(pool.size());
    const std::size_t b = i < graphs ? graphs : rng.below(pool.size());
    if (a == b) continue;
    int separating = 0;
    for (std::size_t h = 0; h < allowed[a].size(); ++h)
      separating += allowed[a][h] && !allowed[b][h] ? 1 : 0;
    // A history in twenty is far from a proof.
    if (i >= graphs && separating > static_cast<int>(allowed[a].size() / 20)) continue;
    Budget budget = Budget::seconds(0.7);
    const ProofAnswer answer = prove_implies(*pool[a], *pool[b], budget);
    if (separating > 0) ++refuted;
    if (answer.outcome != ProofOutcome::Proved) continue;
    ++proved;
    EXPECT_EQ(separating, 0) << pool[a]->text << "implies\n"
                             << pool[b]->text << "by " << describe(*answer.construction);
  }
  RecordProperty("proved", proved);
  RecordProperty("refuted", refuted);
  EXPECT_GT(proved, 10);
  EXPECT_GT(refuted, 10);
}

}  // namespace
}  // namespace isoscope
