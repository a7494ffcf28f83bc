// Certificates of check and synth, verified by a checker that shares no code with the solvers.
#include "report/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check.h"
#include "check/points/random_statements.h"
#include "formats/formats.h"
#include "support/certificate_check.h"
#include "support/certificate_text.h"
#include "support/history_of.h"
#include "support/random_history.h"

namespace isoscope {
namespace {

using testing::HasSubstr;

const Level& level(std::string_view name) { return **LevelSet::built_in().find(name); }

struct Certified {
  CertificateNote note;
  std::string text;
};

Certified certify(const History& h, const Level& at, Engine engine = Engine::Ground) {
  Budget budget;
  const CheckAnswer answer = check(h, at, budget, {.engine = engine});
  CertificateFile file("test.cert");
  Certified result;
  result.note = file.add_check(h, {.base = &at, .own = {}}, at.full_name(), answer.verdict, budget);
  result.text = file.text();
  return result;
}

Certified certify_none(std::string_view allow, std::string_view forbid, Scope scope) {
  Budget budget;
  const SynthQuery query{
      .allow = {&level(allow)}, .forbid = {&level(forbid)}, .scope = scope, .certify = true};
  const auto answer = synthesize(query, budget);
  CertificateFile file("test.cert");
  Certified result;
  if (answer) result.note = file.add_synth(query, *answer);
  result.text = file.text();
  return result;
}

constexpr std::string_view kWriteSkew = "s1: [r(x,0) r(y,0) w(x,1)]\ns2: [r(x,0) r(y,0) w(y,1)]\n";

TEST(CheckCertificate, ProvesWriteSkewUnserializable) {
  const Certified certified = certify(history_of(kWriteSkew), level("ser"));
  EXPECT_EQ(certified.note.kind, CertificateKind::Sat);
  CertificateFacts facts;
  EXPECT_EQ(check_certificate(certified.text, &facts), std::nullopt) << certified.text;
  EXPECT_EQ(facts.sat, 1U);
  EXPECT_GT(facts.refused, 0U);
  EXPECT_THAT(certified.text, HasSubstr("T1 before T2"));
}

TEST(CheckCertificate, IsTheCycleWhereAGraphDecides) {
  const Certified certified = certify(history_of(kWriteSkew), level("ser"), Engine::Best);
  EXPECT_EQ(certified.note.kind, CertificateKind::Cycle);
  EXPECT_THAT(certified.text, HasSubstr("-rw x-> "));
  CertificateFacts facts;
  EXPECT_EQ(check_certificate(certified.text, &facts), std::nullopt);
  EXPECT_EQ(facts.answers, 1U);
}

TEST(CheckCertificate, SaysWhyThereIsNone) {
  const Certified certified = certify(history_of("s1: [w(x,1)]\n"), level("ser"));
  EXPECT_EQ(certified.note.kind, CertificateKind::None);
  EXPECT_THAT(certificate_line(certified.note), HasSubstr("the order that was found"));
}

TEST(CheckCertificate, HoldsForRandomHistoriesAtManyLevels) {
  Rng rng(20);
  CertificateFacts facts;
  std::size_t certified = 0;
  const std::vector<std::string> names = {"rc",    "ra",    "cc",     "pc",      "psi",
                                          "ua",    "si",    "ser",    "cc@vis",  "si@vis",
                                          "pg-rc", "pg-rr", "pg-ser", "si@snap", "strict-ser"};
  for (int round = 0; round < 2400; ++round) {
    const std::string& name = names[static_cast<std::size_t>(round) % names.size()];
    RandomShape shape;
    shape.max_txns = 4;
    shape.stray = 0.6;
    shape.times = name == "strict-ser";
    const History h = build(random_small(rng, shape));
    const Certified result = certify(h, level(name));
    if (result.note.kind == CertificateKind::None) continue;
    ++certified;
    EXPECT_EQ(check_certificate(result.text, &facts), std::nullopt) << name << "\n" << result.text;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(certified, 200U);
  EXPECT_EQ(facts.sat, certified);
  EXPECT_GT(facts.refused, 1000U);
}

TEST(CheckCertificate, HoldsForTheEngineThatPeopleUse) {
  Rng rng(21);
  CertificateFacts facts;
  std::size_t certified = 0;
  for (int round = 0; round < 400; ++round) {
    RandomShape shape;
    shape.max_txns = 6;
    shape.keys = 3;
    const char* names[] = {"pc", "psi", "si", "ser", "pg-rr", "update-ser"};
    const Level& at = level(names[round % 6]);
    const Certified result = certify(build(random_small(rng, shape)), at, Engine::Best);
    if (result.note.kind == CertificateKind::None) continue;
    ++certified;
    EXPECT_EQ(check_certificate(result.text, &facts), std::nullopt) << result.text;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(certified, 100U);
  EXPECT_GT(facts.sat, 10U);  // the others are cycles
}

TEST(CheckCertificate, HoldsForStatementsAndLocks) {
  Rng rng(22);
  CertificateFacts facts;
  for (int round = 0; round < 900; ++round) {
    const char* names[] = {"pg-rc", "pg-rr", "pg-ser", "mysql-rr", "rc@snap", "si@snap"};
    const History h = *parse_history(random_statements(rng), Format::Jsonl);
    const Certified result = certify(h, level(names[round % 6]));
    EXPECT_EQ(check_certificate(result.text, &facts), std::nullopt) << result.text;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(facts.sat, 200U);
}

struct Pinned {
  const char* allow;
  const char* forbid;
  Scope scope;
};

TEST(SynthCertificate, HoldsForPinnedNone) {
  const Pinned pinned[] = {
      {"ser", "si", {.txns = 2, .keys = 2}},    {"si", "pc", {.txns = 2, .keys = 2}},
      {"pc", "cc", {.txns = 3, .keys = 2}},     {"cc", "ra", {.txns = 3, .keys = 2}},
      {"si", "cc@vis", {.txns = 2, .keys = 2}}, {"psi", "cc@vis", {.txns = 3, .keys = 2}},
      {"si", "ser", {.txns = 2, .keys = 1}},    {"cc", "ser", {.txns = 1, .keys = 2}},
      {"ra", "rc", {.txns = 2, .keys = 1}},     {"si@vis", "si", {.txns = 3, .keys = 2}},
      {"si", "si@vis", {.txns = 3, .keys = 2}}, {"pg-rr", "pc@snap", {.txns = 2, .keys = 1}},
  };
  CertificateFacts facts;
  for (const auto& [allow, forbid, scope] : pinned) {
    const Certified result = certify_none(allow, forbid, scope);
    ASSERT_EQ(result.note.kind, CertificateKind::Sat) << allow << " " << forbid << result.text;
    EXPECT_EQ(check_certificate(result.text, &facts), std::nullopt) << allow << " " << forbid;
  }
  EXPECT_GT(facts.histories, 1000U);
  EXPECT_GT(facts.candidates, 0U);
  EXPECT_GT(facts.refused, 1000U);
}

// A file with one thing changed.
std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  std::string result = text;
  const auto at = result.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? result : result.replace(at, what.size(), by);
}

TEST(DamagedCertificate, IsRejected) {
  const std::string text =
      certify(history_of("s1: [w(x,1)]\ns2: [w(y,1)]\ns3: [r(x,1) r(y,0)]\ns4: [r(y,1) r(x,0)]\n"),
              level("ser"))
          .text;
  ASSERT_EQ(check_certificate(text), std::nullopt) << text;
  // The history is another one.
  EXPECT_NE(check_certificate(replaced(text, "r(y,0)", "r(y,1)")), std::nullopt);
  // The level is another one.
  EXPECT_NE(check_certificate(replaced(text, "and co(t2, t3)", "and so(t2, t3)")), std::nullopt);
  // Sections are missing, or come twice.
  EXPECT_NE(check_certificate(replaced(text, "%% end\n", "")), std::nullopt);
  EXPECT_NE(check_certificate(replaced(text, "%% proof 1", "%% cnf 1")), std::nullopt);
  EXPECT_NE(check_certificate(replaced(text, "%% reasons 1", "%% excuses 1")), std::nullopt);
  // A reason of no kind, or of another kind.
  EXPECT_NE(check_certificate(replaced(text, " axiom ", " because ")), std::nullopt);
  EXPECT_NE(check_certificate(replaced(text, " required: axiom ", " order: ")), std::nullopt);
}

// Rewrites the formula of the only answer, with the counts and numbers that belong to it.
std::string with_formula(const std::string& text, const CertificateFormula& formula) {
  std::string cnf = "p cnf " + std::to_string(formula.variables) + " " +
                    std::to_string(formula.clauses.size()) + "\n";
  std::string reasons;
  for (std::size_t i = 0; i < formula.clauses.size(); ++i) {
    for (const int lit : formula.clauses[i]) cnf += std::to_string(lit) + " ";
    cnf += "0\n";
    reasons += std::to_string(i + 1) + " " + formula.reasons[i] + "\n";
  }
  const auto header = text.find("p cnf ");
  const auto proof = text.find("%% proof 1\n");
  return text.substr(0, header) + cnf + "%% reasons 1\n" + reasons + text.substr(proof);
}

CertificateFormula formula_of(const std::string& text) {
  const auto sections = sections_of(text);
  std::map<std::string, std::string> parts;
  for (const CertificateSection& section : *sections) parts[section.name] = section.text;
  CertificateFormula formula;
  EXPECT_EQ(parse_formula(parts["cnf"], parts["reasons"], formula), "");
  return formula;
}

bool can_be_met(const CertificateFormula& formula) {
  SatSolver solver;
  std::vector<Lit> variables;
  for (int i = 0; i < formula.variables; ++i) variables.push_back(solver.new_var());
  for (const DratClause& clause : formula.clauses) {
    std::vector<Lit> lits;
    for (const int lit : clause) {
      const Lit variable = variables[static_cast<std::size_t>(std::abs(lit) - 1)];
      lits.push_back(lit < 0 ? ~variable : variable);
    }
    solver.add_clause(lits);
  }
  Budget budget;
  return solver.solve(budget) == SatResult::Sat;
}

// Whatever clause is left out or changed: if the rest can be met, the proof is wrong, and if the
// clause does not hold in some execution, its reason is.
TEST(DamagedCertificate, IsRejectedClauseByClause) {
  const char* histories[] = {
      "s1: [w(x,1)]\ns2: [w(y,1)]\ns3: [r(x,1) r(y,0)]\ns4: [r(y,1) r(x,0)]\n",
      "s1: [r(x,0) w(x,1)]\ns2: [r(x,0) w(x,2)]\ns3: [r(x,1)] [r(x,2)]\n",
  };
  std::size_t rejected = 0;
  for (const char* hist : histories) {
    const std::string text = certify(history_of(hist), level("ser")).text;
    ASSERT_EQ(check_certificate(text), std::nullopt);
    const CertificateFormula whole = formula_of(text);
    ASSERT_EQ(check_certificate(with_formula(text, whole)), std::nullopt);
    for (std::size_t i = 0; i < whole.clauses.size(); ++i) {
      CertificateFormula dropped = whole;
      dropped.clauses.erase(dropped.clauses.begin() + static_cast<std::ptrdiff_t>(i));
      dropped.reasons.erase(dropped.reasons.begin() + static_cast<std::ptrdiff_t>(i));
      if (can_be_met(dropped)) {
        ++rejected;
        EXPECT_NE(check_certificate(with_formula(text, dropped)), std::nullopt) << i;
      }
      for (std::size_t k = 0; k < whole.clauses[i].size(); ++k) {
        CertificateFormula changed = whole;
        changed.clauses[i][k] = -changed.clauses[i][k];
        const bool accepted = check_certificate(with_formula(text, changed)) == std::nullopt;
        rejected += accepted ? 0 : 1;
        EXPECT_FALSE(accepted && (can_be_met(changed) || !whole.reasons[i].starts_with("axiom ")))
            << "clause " << i + 1 << ", literal " << k;
      }
    }
  }
  EXPECT_GT(rejected, 20U);
}

TEST(DamagedCertificate, OfAScopeIsRejected) {
  const std::string text = certify_none("si", "ser", {.txns = 2, .keys = 1}).text;
  ASSERT_EQ(check_certificate(text), std::nullopt);
  const CertificateFormula whole = formula_of(text);
  std::size_t rejected = 0;
  for (std::size_t i = 0; i < whole.clauses.size(); ++i) {
    CertificateFormula dropped = whole;
    dropped.clauses.erase(dropped.clauses.begin() + static_cast<std::ptrdiff_t>(i));
    dropped.reasons.erase(dropped.reasons.begin() + static_cast<std::ptrdiff_t>(i));
    if (!can_be_met(dropped)) continue;
    ++rejected;
    EXPECT_NE(check_certificate(with_formula(text, dropped)), std::nullopt) << i;
  }
  EXPECT_GT(rejected, 3U);
  EXPECT_NE(check_certificate(replaced(text, "allow si@co:", "forbid si@co:")), std::nullopt);
}

}  // namespace
}  // namespace isoscope
