// Claims about rows in audit: broken by calls side by side, by a call alone, or kept.
#include "audit/claims.h"

#include <gtest/gtest.h>

#include "audit/advise.h"
#include "audit/server_levels.h"
#include "audit_of.h"

namespace isoscope::audit {
namespace {

class AuditClaims : public testing::Test {
 protected:
  ClaimsReport tried(const std::string& text, const Level& level) {
    app_ = app_of(text);
    const Problem problem{app_, {&level, {}}};
    auto claims = sql::parse_assertions(text, app_);
    if (!claims) ADD_FAILURE() << render(claims.error());
    Budget budget;
    const AuditReport report = audit(problem, {.max_length = 2, .prove = true}, budget);
    return try_claims(problem, *claims, report, budget);
  }
  static std::string shop(const std::string& take) {
    return "-- invariant SELECT stock >= 0 FROM item\n"
           "CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);\n"
           "CREATE FUNCTION sell(p integer) RETURNS boolean LANGUAGE plpgsql AS $$\n"
           "DECLARE n integer;\nBEGIN\n" +
           take + "\nRETURN true;\nEND; $$;\n";
  }
  static inline const std::string kLook =
      "SELECT stock INTO n FROM item WHERE id = p;\n"
      "IF n > 0 THEN UPDATE item SET stock = stock - 1 WHERE id = p; END IF;";
  sql::Application app_;
};

TEST_F(AuditClaims, AnOldLookSellsWhatIsNotThere) {
  const ClaimsReport report = tried(shop(kLook), pg_read_committed());
  ASSERT_EQ(report.claims.size(), 1U);
  const ClaimResult& claim = report.claims.front();
  ASSERT_EQ(claim.outcome, ClaimOutcome::Broken);
  ASSERT_EQ(claim.broken.answer.rows.size(), 1U);
  EXPECT_EQ(claim.broken.answer.rows.front().values.back(), sql::Value(std::int64_t{-1}));
  // Only the row that matters is there at the start.
  ASSERT_EQ(claim.run->rows.size(), 1U);
  EXPECT_EQ(claim.run->rows.front().values.back(), sql::Value(std::int64_t{1}));
}

TEST_F(AuditClaims, TheSameIsKeptWhereTheServerAborts) {
  const ClaimsReport report = tried(shop(kLook), pg_repeatable_read());
  EXPECT_EQ(report.claims.front().outcome, ClaimOutcome::Kept);
  EXPECT_GT(report.runs, 100U);
}

TEST_F(AuditClaims, AGuardKeepsIt) {
  const ClaimsReport report = tried(
      shop("UPDATE item SET stock = stock - 1 WHERE id = p AND stock > 0;"), pg_read_committed());
  EXPECT_EQ(report.claims.front().outcome, ClaimOutcome::Kept);
}

TEST_F(AuditClaims, WhatOneCallBreaksIsNoClaim) {
  const ClaimsReport report =
      tried(shop("UPDATE item SET stock = stock - 1 WHERE id = p;"), pg_read_committed());
  ASSERT_EQ(report.claims.front().outcome, ClaimOutcome::BrokenByCall);
  EXPECT_EQ(report.claims.front().run->calls.size(), 1U);
}

TEST_F(AuditClaims, AnAssertionIsAboutTheEnd) {
  const std::string text =
      "-- assert SELECT count(*) <= 1 FROM booking WHERE room = 1\n"
      "CREATE TABLE booking (id serial PRIMARY KEY, room integer NOT NULL);\n"
      "CREATE FUNCTION book(p integer) RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n"
      "IF NOT EXISTS (SELECT 1 FROM booking WHERE room = p) THEN\n"
      "INSERT INTO booking (room) VALUES (p); END IF;\nEND; $$;\n";
  const ClaimsReport report = tried(text, pg_repeatable_read());
  ASSERT_EQ(report.claims.front().outcome, ClaimOutcome::Broken);
  EXPECT_EQ(report.claims.front().broken.answer.rows.size(), 2U);
}

class AuditRepairs : public testing::Test {
 protected:
  // Kinds of repairs, in the order of the advice; each proved.
  static std::vector<std::string> kinds(const std::string& text, const Level& level) {
    const sql::Application app = app_of(text);
    const Problem problem{app, {&level, {}}};
    Budget budget;
    const AuditReport report = audit(problem, {.max_length = 3}, budget);
    EXPECT_EQ(report.outcome, AuditOutcome::Anomaly);
    if (report.search.anomalies.empty()) return {};
    const Advice advice = advise(problem, {&level}, true, {.max_length = 3}, budget,
                                 report.search.anomalies.front().functions);
    std::vector<std::string> kinds;
    for (const Repair& repair : advice.repairs) {
      EXPECT_TRUE(repair.is_proved) << repair.what;
      kinds.emplace_back(name_of(repair.kind));
    }
    return kinds;
  }
};

TEST_F(AuditRepairs, OneGuardedUpdateComesFirst) {
  const auto text = read_whole(source_dir() + "/examples/audit/shop.sql");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(kinds(*text, pg_read_committed()), (std::vector<std::string>{"guarded", "lock"}));
}

// The look is used for something else: the function must not lose it.
TEST_F(AuditRepairs, ALookThatIsReturnedStays) {
  const std::string text =
      "CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);\n"
      "CREATE FUNCTION sell(p integer) RETURNS integer LANGUAGE plpgsql AS $$\n"
      "DECLARE n integer;\nBEGIN\nSELECT stock INTO n FROM item WHERE id = p;\n"
      "IF n > 0 THEN UPDATE item SET stock = n - 1 WHERE id = p; END IF;\nRETURN n;\nEND; $$;\n";
  EXPECT_EQ(kinds(text, pg_read_committed()), std::vector<std::string>{"lock"});
}

TEST_F(AuditRepairs, AUniqueConstraintRefusesNothingThatSerialRunsAllow) {
  const std::string schema =
      "CREATE TABLE booking (id serial PRIMARY KEY, room integer NOT NULL);\n";
  const std::string checked =
      "CREATE FUNCTION book(p integer) RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n"
      "IF NOT EXISTS (SELECT 1 FROM booking WHERE room = p) THEN\n"
      "INSERT INTO booking (room) VALUES (p); END IF;\nEND; $$;\n";
  // Another function may double what this one does not: the constraint would refuse it.
  const std::string doubled =
      "CREATE FUNCTION twice(p integer) RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n"
      "INSERT INTO booking (room) VALUES (p);\nINSERT INTO booking (room) VALUES (p);\nEND; $$;\n";
  const auto is_offered = [](const std::string& text) {
    const sql::Application app = app_of(text);
    Budget budget;
    const Advice advice =
        advise(problem_of(app, "si"), {level_of("si")}, true, {.max_length = 2}, budget);
    return std::ranges::find(advice.repairs, RepairKind::Unique, &Repair::kind) !=
           advice.repairs.end();
  };
  EXPECT_TRUE(is_offered(schema + checked));
  EXPECT_FALSE(is_offered(schema + checked + doubled));
}

TEST_F(AuditRepairs, AWriteSkewOfASumGetsARowToShare) {
  const std::string text =
      "CREATE TABLE doctor (id integer PRIMARY KEY, ward integer NOT NULL, here integer NOT "
      "NULL);\n"
      "CREATE FUNCTION leave(p integer) RETURNS void LANGUAGE plpgsql AS $$\n"
      "DECLARE n integer;\nBEGIN\nSELECT count(*) INTO n FROM doctor WHERE ward = 1 AND here = 1;\n"
      "IF n > 1 THEN UPDATE doctor SET here = 0 WHERE id = p; END IF;\nEND; $$;\n";
  EXPECT_EQ(kinds(text, pg_read_committed()), std::vector<std::string>{"materialize"});
  EXPECT_EQ(kinds(text, pg_repeatable_read()), std::vector<std::string>{"materialize"});
}

}  // namespace
}  // namespace isoscope::audit
