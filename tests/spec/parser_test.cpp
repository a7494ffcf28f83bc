#include "spec/parser.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/levels.h"
#include "spec/print.h"

namespace isoscope {
namespace {

using ::testing::HasSubstr;

// The only axiom of a level with this body, fully parenthesised by the printer where needed.
Result<Level> parsed_level(std::string_view text) {
  LevelSet levels = LevelSet::built_in();
  if (auto added = levels.add(text, "my.level"); !added) return added.error();
  return *levels.all().back();
}

std::string axiom_of(std::string_view formula, std::string_view over = "co") {
  const auto level = parsed_level(fmt::format("level a over {} axiom A: {}", over, formula));
  if (!level) return render(level.error());
  return print(*level->axioms.at(0).formula);
}

FormulaPtr formula_of(std::string_view formula, std::string_view over = "co") {
  const auto level = parsed_level(fmt::format("level a over {} axiom A: {}", over, formula));
  if (!level) return nullptr;
  return level->axioms.at(0).formula;
}

TEST(Parser, BindsConnectivesFromNotToIff) {
  const auto f =
      formula_of("empty(so) iff empty(wr) implies empty(co) or empty(ww) and not empty(rw)");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->op, FormulaOp::Iff);
  EXPECT_EQ(f->right->op, FormulaOp::Implies);
  EXPECT_EQ(f->right->right->op, FormulaOp::Or);
  EXPECT_EQ(f->right->right->right->op, FormulaOp::And);
  EXPECT_EQ(f->right->right->right->right->op, FormulaOp::Not);
}

TEST(Parser, ReadsImpliesToTheRight) {
  const auto f = formula_of("empty(so) implies empty(wr) implies empty(co)");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->left->op, FormulaOp::Empty);
  EXPECT_EQ(f->right->op, FormulaOp::Implies);
}

TEST(Parser, BindsRelationOperatorsFromPostfixToUnion) {
  const auto f = formula_of("so | wr \\ co & ww ; rw+ subset co*");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->op, FormulaOp::Subset);
  const RelationExpr& r = *f->relation;
  EXPECT_EQ(r.op, RelationOp::Union);
  EXPECT_EQ(r.right->op, RelationOp::Difference);
  EXPECT_EQ(r.right->right->op, RelationOp::Intersection);
  EXPECT_EQ(r.right->right->right->op, RelationOp::Compose);
  EXPECT_EQ(r.right->right->right->right->op, RelationOp::Plus);
  EXPECT_EQ(f->other->op, RelationOp::Star);
}

TEST(Parser, ReadsDifferenceToTheLeft) {
  const auto f = formula_of("empty(so \\ wr \\ co)");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->relation->left->op, RelationOp::Difference);
}

TEST(Parser, TellsParenthesisedFormulasFromRelations) {
  EXPECT_EQ(axiom_of("forall t, u: txn. ((so | wr)+(t, u) and (t != u))"),
            "forall t, u: txn. (so | wr)+(t, u) and t != u");
  EXPECT_EQ(axiom_of("forall t, u: txn. ((((so))))(t, u)"), "forall t, u: txn. so(t, u)");
}

TEST(Parser, LetsAQuantifierReachAsFarAsItCan) {
  const auto f = formula_of("empty(so) and exists t: txn. so(t, t) or co(t, t)");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->op, FormulaOp::And);
  EXPECT_EQ(f->right->op, FormulaOp::Exists);
  EXPECT_EQ(f->right->left->op, FormulaOp::Or);
}

TEST(Parser, NumbersVariablesThroughoutAnAxiom) {
  const auto level = parsed_level(
      "level a over co axiom A: forall x: key, t: txn. (exists u: txn. so(t, u)) and "
      "(exists u: txn. wr[x](u, t))");
  ASSERT_TRUE(level.ok());
  const Axiom& axiom = level->axioms[0];
  EXPECT_EQ(axiom.slots, 4);
  const Formula& body = *axiom.formula->left;
  EXPECT_EQ(body.left->variables[0].slot, 2);
  EXPECT_EQ(body.right->variables[0].slot, 3);
  EXPECT_EQ(body.right->left->relation->key->slot, 0);
}

TEST(Parser, ReadsNewlinesAsBlanksAndSkipsComments) {
  EXPECT_EQ(axiom_of("forall t # a comment ( with signs\n : txn\n.\nso(t\n,t)"),
            "forall t: txn. so(t, t)");
}

TEST(Parser, KeepsTextsAndSummaries) {
  LevelSet levels = LevelSet::built_in();
  ASSERT_TRUE(
      levels.add("# first line\n# second line\nlevel a over co\n  axiom A:  empty(so)\n\n"
                 "# far away\n\nlevel b over co\n"
                 "level c over co # beside\nlet r = so\naxiom B: empty(r)   # tail\n",
                 "my.level"));
  const auto& all = levels.all();
  const Level& a = *all[all.size() - 3];
  EXPECT_EQ(a.summary, "first line second line");
  EXPECT_EQ(a.axioms[0].text, "axiom A:  empty(so)");
  EXPECT_EQ(a.axioms[0].place, (Place{4, 3}));
  EXPECT_EQ(a.text, "level a over co\n  axiom A:  empty(so)");
  EXPECT_EQ(all[all.size() - 2]->summary, "");
  EXPECT_EQ(all.back()->summary, "beside");
}

TEST(Parser, ExpandsLets) {
  const auto level = parsed_level(
      "level a over co let r = so | wr let hb = r+ axiom A: forall t: txn. not hb(t, t)");
  ASSERT_TRUE(level.ok());
  EXPECT_EQ(print(*level->axioms[0].formula), "forall t: txn. not (so | wr)+(t, t)");
}

TEST(Sorts, OfWrFollowTheSecondPlace) {
  const auto to_txn = formula_of("forall t, u: txn. wr(t, u)");
  EXPECT_EQ(to_txn->left->relation->to, Sort::Txn);
  const auto to_read = formula_of("forall x: key, t: txn, r: read. wr[x](t, r)");
  EXPECT_EQ(to_read->left->relation->to, Sort::Read);
}

TEST(Sorts, OfALetAreThoseOfItsUse) {
  const auto level = parsed_level(
      "level a over co let rf = wr axiom A: forall t, u: txn, r: read. rf(t, u) implies rf(t, r)");
  ASSERT_TRUE(level.ok()) << render(level.error());
  const Formula& body = *level->axioms[0].formula->left;
  EXPECT_EQ(body.left->relation->to, Sort::Txn);
  EXPECT_EQ(body.right->relation->to, Sort::Read);
}

TEST(Sorts, RunThroughCompositionInverseAndClosure) {
  const auto f = formula_of("forall t: txn, r: read. (so ; wr ; po+)(t, r)");
  ASSERT_NE(f, nullptr);
  const RelationExpr& r = *f->left->relation;
  EXPECT_EQ(r.to, Sort::Read);
  EXPECT_EQ(r.left->to, Sort::Read);         // so ; wr
  EXPECT_EQ(r.left->right->to, Sort::Read);  // wr
  EXPECT_EQ(r.right->from, Sort::Read);      // po+
  const auto g = formula_of("forall r, s: read. (wr^-1 ; wr)(r, s)");
  ASSERT_NE(g, nullptr);
  EXPECT_EQ(g->left->relation->left->from, Sort::Read);
  EXPECT_EQ(g->left->relation->left->left->to, Sort::Read);
}

TEST(Sorts, PreferTransactions) {
  const auto f = formula_of("empty(wr ; wr^-1)");
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->relation->left->to, Sort::Txn);
  EXPECT_EQ(formula_of("wr subset co")->relation->to, Sort::Txn);
  EXPECT_EQ(formula_of("(wr ; po) subset wr")->relation->to, Sort::Read);
}

// The error for a level with this text; `what` and `hint` must be contained.
struct Bad {
  const char* text;
  Place place;
  const char* what;
  const char* hint;
  friend void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.text; }
};

class ParserErrors : public ::testing::TestWithParam<Bad> {};

TEST_P(ParserErrors, HavePlaceAndHint) {
  const auto level = parsed_level(GetParam().text);
  ASSERT_FALSE(level.ok()) << GetParam().text;
  EXPECT_EQ(level.error().where, GetParam().place) << render(level.error());
  EXPECT_THAT(level.error().what, HasSubstr(GetParam().what));
  EXPECT_THAT(level.error().hint, HasSubstr(GetParam().hint));
}

#define IN_CO(formula) "level a over co\naxiom A: " formula

INSTANTIATE_TEST_SUITE_P(
    OfGrammar, ParserErrors,
    ::testing::Values(
        Bad{"axiom A: empty(so)", {1, 1}, "expected 'level', found 'axiom'", "level NAME over co"},
        Bad{"level over co",
            {1, 7},
            "expected the name of a level, found 'over'",
            "word of the language"},
        Bad{"level a- over co",
            {1, 10},
            "expected the rest of the level's name after '-', found 'over'",
            ""},
        Bad{"level a",
            {1, 8},
            "expected 'over' after the level's name, found the end of the text",
            "over vis, ar"},
        Bad{"level a over ar", {1, 14}, "expected 'co' or 'vis, ar', found 'ar'", "over co"},
        Bad{"level a over vis", {1, 17}, "expected ',' after 'vis'", "'over vis, ar'"},
        Bad{"level a over vis, co", {1, 19}, "expected 'ar' after 'vis,'", "'over vis, ar'"},
        Bad{"level a over vis, ar without wr",
            {1, 30},
            "expected 'so' after 'without'",
            "only session order"},
        Bad{"level a over co extend cc", {1, 17}, "expected 'let', 'axiom' or 'level'", "extends"},
        Bad{"level a over co\nlet so = wr",
            {2, 5},
            "expected a name for the relation, found 'so'",
            "word of the language"},
        Bad{"level a over co\nlet hb (so)",
            {2, 9},
            "expected a parameter of the let, found 'so'",
            "word of the language"},
        Bad{"level a over co\nlet hb so", {2, 8}, "expected '=' after the name", "let NAME ="},
        Bad{"level a over co\naxiom A empty(so)",
            {2, 9},
            "expected ':' after the axiom's name",
            "axiom NAME: formula"},
        Bad{IN_CO("forall t: txn so(t, t)"),
            {2, 24},
            "expected '.' after the variables, found 'so'",
            "forall x: key, t: txn. formula"},
        Bad{IN_CO("exists t: txn"),
            {2, 23},
            "expected '.' after the variables, found the end",
            "exists x: key"},
        Bad{IN_CO("forall t. so(t, t)"),
            {2, 18},
            "expected ':' and a sort after the variable",
            "forall x: key"},
        Bad{IN_CO("forall t: tx. so(t, t)"),
            {2, 20},
            "expected a sort, found 'tx'",
            "did you mean 'txn'?"},
        Bad{IN_CO("forall t: . so(t, t)"),
            {2, 20},
            "expected a sort, found '.'",
            "txn, key and read"},
        Bad{IN_CO("forall so: txn. empty(so)"),
            {2, 17},
            "expected a variable, found 'so'",
            "word of the language"},
        Bad{IN_CO("empty(so"),
            {2, 18},
            "expected ')' after the arguments, found the end",
            "closes the '(' at 2:15"},
        Bad{IN_CO("(empty(so) and"), {2, 24}, "expected a formula or a relation", ""},
        Bad{IN_CO("(empty(so) empty(wr))"),
            {2, 21},
            "expected ')' here, found 'empty'",
            "closes the '(' at 2:10"},
        Bad{IN_CO("empty([writers)"),
            {2, 24},
            "expected ']' here, found ')'",
            "closes the '[' at 2:16"},
        Bad{IN_CO("empty(wr[])"), {2, 19}, "expected a key variable, found ']'", ""},
        Bad{IN_CO("forall x: key. empty(wr[x)"), {2, 35}, "expected ']' after the key", "wr[x]"},
        Bad{IN_CO("empty(so) empty(wr)"),
            {2, 20},
            "expected 'let', 'axiom' or 'level', found 'empty'",
            ""},
        Bad{IN_CO("empty(so - wr)"), {2, 19}, "expected ')' after the arguments, found '-'", ""}));

INSTANTIATE_TEST_SUITE_P(
    OfSigns, ParserErrors,
    ::testing::Values(
        Bad{IN_CO("empty(so) && empty(wr)"), {2, 20}, "'&&' is not a sign", "write 'and'"},
        Bad{IN_CO("empty(so) => empty(wr)"), {2, 20}, "'=>' is not a sign", "write 'implies'"},
        Bad{IN_CO("!empty(so)"), {2, 10}, "'!' is not a sign", "write 'not'"},
        Bad{IN_CO("acyclic(so^+)"), {2, 20}, "'^+' is not a sign", "postfix '+'"},
        Bad{IN_CO("acyclic(so^-2)"), {2, 20}, "'^' is not a sign", "'^-1'"},
        Bad{IN_CO("forall 1: txn. so(1, 1)"),
            {2, 17},
            "a number cannot stand here",
            "begin with a letter"},
        Bad{IN_CO("empty(so) $"), {2, 20}, "unexpected character '$'", ""},
        Bad{"level a over co\n\xc3\xa4", {2, 1}, "unexpected byte 0xc3", "plain ASCII"}));

INSTANTIATE_TEST_SUITE_P(
    OfNames, ParserErrors,
    ::testing::Values(
        Bad{IN_CO("forall x: key, t1, t2: txn. wv[x](t1, t2)"),
            {2, 38},
            "unknown relation 'wv'",
            "did you mean 'wr'?"},
        Bad{IN_CO("acyclic(zzzzzz)"),
            {2, 18},
            "unknown relation 'zzzzzz'",
            "known: so, wr, co, po, rt, ww, rw"},
        Bad{"level a over co let hbx = so+ axiom A: empty(hby)",
            {1, 46},
            "unknown relation 'hby'",
            "did you mean 'hbx'?"},
        Bad{IN_CO("acyclic(vis)"), {2, 18}, "a level over co knows no 'vis'", "'over vis, ar'"},
        Bad{"level a over vis, ar\naxiom A: acyclic(co)",
            {2, 18},
            "a level over vis, ar knows no 'co'",
            "'over co'"},
        Bad{IN_CO("forall t1: txn. so(t1, t2)"),
            {2, 33},
            "no quantifier binds 't2'",
            "did you mean 't1'?"},
        Bad{IN_CO("(forall t: txn. so(t, t)) and so(t, t)"),
            {2, 43},
            "no quantifier binds 't'",
            "bind it first"},
        Bad{IN_CO("forall t: txn. exists t: txn. so(t, t)"),
            {2, 32},
            "'t' already has a meaning here",
            "enclosing quantifier"},
        Bad{"level a over co let hb = so axiom A: forall hb: txn. so(hb, hb)",
            {1, 45},
            "'hb' already has a meaning here",
            "a let defines it"},
        Bad{"level a over co\nlet r = so\nlet r = wr",
            {3, 5},
            "'r' is defined twice",
            "the first let is on line 2"},
        Bad{"level a over co let r = r+", {1, 25}, "unknown relation 'r'", ""},
        Bad{"level a over co let r = wr[x]", {1, 28}, "no quantifier binds 'x'", "bind it"},
        Bad{IN_CO("empty([writer])"), {2, 17}, "unknown set 'writer'", "did you mean 'writers'?"},
        Bad{IN_CO("empty([(so | wr)])"), {2, 18}, "expected the name of a set", "writers(x)"},
        Bad{IN_CO("forall x: key. empty([readers(x)])"),
            {2, 32},
            "'readers' is not per key",
            "only writers(x)"}));

INSTANTIATE_TEST_SUITE_P(
    OfSorts, ParserErrors,
    ::testing::Values(
        Bad{IN_CO("so | wr"), {2, 10}, "expected a formula, found a relation", "r(t1, t2)"},
        Bad{IN_CO("forall t: txn. t"),
            {2, 25},
            "expected a formula, found 't', a txn",
            "say something"},
        Bad{IN_CO("forall t, u: txn. so | wr(t, u)"),
            {2, 31},
            "'|' joins relations, but its right side is a formula",
            "(so | wr)(t1, t2)"},
        Bad{IN_CO("so = wr"),
            {2, 10},
            "'=' compares variables, found the relation 'so'",
            "r subset s and s subset r"},
        Bad{IN_CO("empty(so) = empty(wr)"),
            {2, 10},
            "'=' compares variables, found a formula",
            "'iff'"},
        Bad{IN_CO("forall t: txn, x: key. t = x"),
            {2, 37},
            "'t' is a txn, but 'x' is a key",
            "one sort"},
        Bad{IN_CO("forall t: txn, x: key. so(t, x)"),
            {2, 39},
            "'so' relates txn to txn, but 'x' is a key",
            "brackets"},
        Bad{IN_CO("forall t: txn, r: read. so(t, r)"),
            {2, 40},
            "'so' relates txn to txn, but 'r' is a read",
            ""},
        Bad{IN_CO("forall t: txn, r: read. wr(r, t)"),
            {2, 37},
            "'wr' relates txn to txn or txn to read, but 'r' is a read",
            ""},
        Bad{IN_CO("forall t: txn, x: key. writes(x, t)"),
            {2, 40},
            "'writes' expects a txn here, found 'x', a key",
            "writes(t, x)"},
        Bad{IN_CO("forall t: txn. writes(t)"),
            {2, 25},
            "'writes' takes a transaction and a key, found 1 argument",
            "writes(t, x)"},
        Bad{IN_CO("forall t: txn. so(t)"),
            {2, 25},
            "'so' relates two things, found 1",
            "so(t1, t2)"},
        Bad{IN_CO("forall t: txn. so(t, so)"),
            {2, 31},
            "expected a variable, found the relation 'so'",
            ""},
        Bad{IN_CO("acyclic(so, wr)"),
            {2, 10},
            "'acyclic' is about one relation, found 2",
            "acyclic(so | wr)"},
        Bad{IN_CO("forall t: txn. acyclic(t)"),
            {2, 33},
            "expected a relation, found 't', a txn",
            ""},
        Bad{IN_CO("acyclic(empty(so))"), {2, 18}, "expected a relation, found a formula", ""},
        Bad{IN_CO("acyclic(so | po)"),
            {2, 21},
            "the sides of '|' do not fit: 'so' relates txn to txn, 'po' relates read to read",
            "po relates reads"},
        Bad{IN_CO("empty(so ; po)"), {2, 19}, "the sides of ';' do not fit", "po relates reads"},
        Bad{IN_CO("empty((wr ; po)+)"),
            {2, 17},
            "relates txn to read, so it has no closure",
            "same sort"},
        Bad{IN_CO("acyclic(wr ; po)"), {2, 18}, "'acyclic' needs the same sort on both sides", ""},
        Bad{IN_CO("po subset so"), {2, 13}, "the sides of 'subset' do not fit", ""},
        Bad{IN_CO("empty(so) subset so"), {2, 10}, "expected a relation, found a formula", ""},
        Bad{IN_CO("forall t, u: txn. so[t](t, u)"),
            {2, 30},
            "'so' has no index",
            "only wr, ww and rw"},
        Bad{IN_CO("forall t, u: txn. wr[t](t, u)"),
            {2, 31},
            "expected a key, found 't', a txn",
            "as a key"},
        Bad{IN_CO("forall x: key, t, u: txn. (wr ; so)[x](t, u)"),
            {2, 45},
            "only wr, ww and rw have an index",
            "at the name"}));

TEST(Parser, ShowsTheLineOfAnError) {
  const auto level = parsed_level("level a over co\naxiom A: acyclic(vis)\n");
  ASSERT_FALSE(level.ok());
  EXPECT_EQ(render(level.error()),
            "my.level:2:18: error: a level over co knows no 'vis'\n"
            "  axiom A: acyclic(vis)\n"
            "                   ^ its order is co; to speak of vis and ar declare the level 'over "
            "vis, ar'");
}

std::string repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

TEST(Parser, BoundsNesting) {
  for (const std::string& formula :
       {repeat("(", 100'000), repeat("not ", 100'000) + "empty(so)",
        "empty(" + repeat("so | ", 100'000) + "so)", "empty(so" + repeat("+", 100'000) + ")",
        repeat("empty(so) implies ", 100'000) + "empty(so)", repeat("[", 100'000),
        repeat("forall t: txn. ", 100'000)}) {
    const auto level = parsed_level("level a over co axiom A: " + formula);
    ASSERT_FALSE(level.ok());
    EXPECT_THAT(level.error().what, ::testing::AnyOf(HasSubstr("nests deeper than"),
                                                     HasSubstr("already has a meaning")));
  }
}

TEST(Parser, BoundsWhatLetsExpandTo) {
  std::string doubling = "level a over co let r0 = so ";
  for (int i = 1; i < 100; ++i) doubling += fmt::format("let r{} = r{} | r{} ", i, i - 1, i - 1);
  const auto wide = parsed_level(doubling);
  ASSERT_FALSE(wide.ok());
  EXPECT_THAT(wide.error().what, HasSubstr("more than 10000 parts"));
  EXPECT_THAT(wide.error().hint, HasSubstr("doubles it"));

  std::string deepening = "level a over co let r0 = so ";
  for (int i = 1; i < 1000; ++i) deepening += fmt::format("let r{} = r{}+ ", i, i - 1);
  const auto deep = parsed_level(deepening);
  ASSERT_FALSE(deep.ok());
  EXPECT_THAT(deep.error().what, HasSubstr("nests deeper than 200"));
}

TEST(Parser, BoundsAxiomsAndLevels) {
  std::string axioms = "level a over co ";
  for (int i = 0; i < 300; ++i) axioms += fmt::format("axiom A{}: empty(so) ", i);
  const auto many_axioms = parsed_level(axioms);
  ASSERT_FALSE(many_axioms.ok());
  EXPECT_THAT(many_axioms.error().what, HasSubstr("more than 200 axioms"));

  std::string text;
  for (int i = 0; i < 1'000; ++i) text += fmt::format("# summary\nlevel l{} over co\n", i);
  const auto many_levels = parsed_level(text);
  ASSERT_FALSE(many_levels.ok());
  EXPECT_THAT(many_levels.error().what, HasSubstr("more than 500 levels"));
}

}  // namespace
}  // namespace isoscope
