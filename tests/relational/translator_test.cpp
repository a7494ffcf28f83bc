// The core over bits is an evaluator. It must agree with the level language by its definition
// (spec/naive_evaluator.h) on random axioms, whose operators it shares with no other code.
#include "relational/translator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "spec/levels.h"
#include "spec/naive_evaluator.h"
#include "spec/random_axiom.h"
#include "spec/relation_values.h"
#include "support/random_history.h"

namespace isoscope {
namespace {

class BitEngine : private OwnRelations, public Translator<BitEngine, Bits> {
 public:
  BitEngine(const History& h, const std::vector<TxnId>& co)
      : Translator({}, relations, 0), facts_(h, FactTables::Reads::External), names_(facts_) {
    names_.set_orders(co, nullptr);
  }

  bool holds(const Axiom& axiom) {
    const NormalForm form = normalize(axiom);
    binding_.assign(static_cast<std::size_t>(form.slots), kUnbound);
    for (const NormalNode& part : form.parts) {
      const bool is_true = truth(part) == Truth::Yes;
      EXPECT_EQ(denial(part) == Truth::No, is_true);
      if (!is_true) return false;
    }
    return true;
  }

 private:
  friend class Translator<BitEngine, Bits>;

  static std::optional<bool> decided(RelationId, Element, Element) { return std::nullopt; }
  static bool keeps(RelationId) { return true; }
  static Truth identity(Sort, Element a, Element b) { return Bits::constant(a == b); }

  Truth leaf(const GroundRelation& r, Element a, Element b) {
    RelationExpr name;
    name.op = r.op;
    name.set = r.set;
    name.from = r.from;
    name.to = r.to;
    if (r.key != GroundRelation::kNone) name.key = Variable{"x", Sort::Key, 0};
    return Bits::constant(names_.value(names_.add(name), {r.key}).contains(a, b));
  }
  Truth atom(const NormalNode& node, Element a, Element b) {
    switch (node.atom) {
      case FormulaOp::Equal: return Bits::constant(a == b);
      case FormulaOp::Writes: return Bits::constant(facts_.writes(a, b));
      default: EXPECT_EQ(node.atom, FormulaOp::Reads); return Bits::constant(facts_.reads(a, b));
    }
  }
  Truth compose(const GroundRelation& r, Element a, Element b) {
    return composed(r, a, b, [&](const auto& f) {
      for (const Element m : facts_.elements(table_[r.left].to)) f(m);
    });
  }
  std::vector<Truth> closed(RelationId r) {
    const std::vector<std::uint32_t>& elements = facts_.elements(table_[r].from);
    std::vector<Truth> m(facts_.size() * facts_.size(), Truth::No);
    for (const Element a : elements) {
      for (const Element b : elements) m[a * facts_.size() + b] = cell(r, a, b);
    }
    close(
        m, facts_.size(), [](std::size_t, std::size_t) { return true; }, [] { return false; });
    return m;
  }
  Truth closure(RelationId plus, Element a, Element b) {
    return closed(table_[plus].left)[a * facts_.size() + b];
  }
  Truth acyclic(RelationId r) {
    const std::vector<Truth> m = closed(r);
    for (std::size_t a = 0; a < facts_.size(); ++a) {
      if (m[a * facts_.size() + a] == Truth::Yes) return Truth::No;
    }
    return Truth::Yes;
  }
  Truth exists(const NormalNode& node) { return Bits::constant(exists(node, 0)); }
  bool exists(const NormalNode& node, std::size_t bound) {
    if (bound == node.variables.size()) {
      return std::ranges::all_of(
          node.children, [&](const NormalNode& child) { return truth(child) == Truth::Yes; });
    }
    for (const Element value : facts_.elements(node.variables[bound].sort)) {
      binding_[static_cast<std::size_t>(node.variables[bound].slot)] = value;
      if (exists(node, bound + 1)) return true;
    }
    return false;
  }

  FactTables facts_;
  RelationValues names_;
};

TEST(Translator, AgreesOverBitsWithTheDefinitionOfTheLanguage) {
  int true_axioms = 0;
  int false_axioms = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Rng rng(seed);
    const History h = random_history(rng, {.sessions = 2, .max_txns = 3, .aborted = 0.2});
    std::vector<TxnId> co;
    for (const TxnId t : h.txns()) co.push_back(t);
    for (std::size_t i = co.size() - 1; i > 1; --i) std::swap(co[i], co[1 + rng.below(i)]);
    const std::string text = RandomAxiom(seed, 3).text();
    LevelSet levels;
    ASSERT_TRUE(levels.add(fmt::format("level a over co axiom A: {}", text), "test").ok());
    const Axiom& axiom = levels.all().back()->axioms.front();
    const bool expected =
        NaiveEvaluator(h, co).holds(*axiom.formula, static_cast<std::size_t>(axiom.slots));
    ++(expected ? true_axioms : false_axioms);
    ASSERT_EQ(BitEngine(h, co).holds(axiom), expected) << "seed " << seed << ": " << text;
  }
  EXPECT_GT(true_axioms, 150);
  EXPECT_GT(false_axioms, 150);
}

TEST(RelationTable, ReplacesKeys) {
  LevelSet levels;
  ASSERT_TRUE(levels
                  .add("level a over co axiom A: forall x, y: key, t, u: txn. "
                       "(wr[x] ; (ww[y] | so)+ ; rw[x]^-1)(t, u) implies (co* ; so)(t, u)",
                       "test")
                  .ok());
  const NormalForm form = normalize(levels.all().back()->axioms.front());
  const RelationExpr& r = *form.parts.front().children.front().relation;
  RelationTable table;
  const RelationId id = table.instantiate(r, {7, 9, kUnbound, kUnbound});
  EXPECT_EQ(table.keys(id), (std::vector<std::uint32_t>{7, 9}));
  const std::uint32_t from[] = {7, 9};
  const std::uint32_t to[] = {3, 4};
  EXPECT_EQ(table.with_keys(id, from, to), table.instantiate(r, {3, 4, kUnbound, kUnbound}));
  EXPECT_EQ(table.with_keys(id, from, from), id);
}

}  // namespace
}  // namespace isoscope
