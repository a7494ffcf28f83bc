#include "report/header.h"

#include <gtest/gtest.h>

#include <array>

#include "report/force_parts.h"

namespace isoscope {
namespace {

constexpr std::array kLookingForNothing = {"compare", "convert", "demo", "generate",
                                           "levels",  "record",  "stats"};
constexpr std::array kAnswering = {"audit", "check", "explore", "force", "predict",
                                   "probe", "run",   "stress",  "synth"};

TEST(Header, HasTwoWordsOfItsOwnForEveryCommandThatAnswers) {
  for (const char* command : kAnswering) {
    EXPECT_NE(word_of(command, Outcome::Consistent), word_of(command, Outcome::Violated))
        << command;
    EXPECT_EQ(word_of(command, Outcome::Unknown), "unknown") << command;
  }
  EXPECT_EQ(word_of("predict", Outcome::Predicted), "predicted");
  EXPECT_EQ(word_of("synth", Outcome::None), "none");
  EXPECT_EQ(word_of("explore", Outcome::Complete), "complete");
  EXPECT_EQ(word_of("probe", Outcome::Broken), "broken");
}

TEST(Header, HasAWordForEveryOtherCommandToo) {
  for (const char* command : kLookingForNothing) {
    EXPECT_NE(word_of(command, Outcome::Ok), "") << command;
    EXPECT_EQ(word_of(command, Outcome::Unknown), "unknown") << command;
  }
}

TEST(Header, IsThereWhereALimitComesBeforeTheCommandIsKnown) {
  EXPECT_EQ(json_header(header_of("--json", {.limit = "the memory limit"}, 0))["verdict"],
            "unknown");
}

TEST(Header, BeginsAnErrorAsItBeginsAnAnswer) {
  const Json json =
      error_json({.where = {7, 31}, .what = "what", .hint = "hint", .file = "a.hist"});
  EXPECT_EQ(json["tool"], "isoscope");
  EXPECT_EQ(json["version"], json_header(header_of("check", {}, 0))["version"]);
  EXPECT_EQ(json["error"]["where"], "a.hist:7:31");
  EXPECT_EQ(error_json({.what = "what", .file = "a.hist"})["error"]["where"], "a.hist");
}

TEST(Header, CarriesLimitAndNumbersIntoJson) {
  Answer answer{.outcome = Outcome::Found, .limit = "the time limit"};
  answer.stats.set("clauses", 7);
  const Json json = json_header(header_of("synth", answer, 1.5));
  EXPECT_EQ(json["command"], "synth");
  EXPECT_EQ(json["verdict"], "found");
  EXPECT_EQ(json["seconds"], 1.5);
  EXPECT_EQ(json["limit"], "the time limit");
  EXPECT_EQ(json["stats"]["clauses"], 7);
  EXPECT_FALSE(json_header(header_of("synth", {.outcome = Outcome::None}, 0)).contains("limit"));
}

TEST(Header, IsGoodOnAPageOnlyIfTheOutcomeIs) {
  const auto is_good = [](Outcome outcome) {
    return page_of(header_of("synth", {.outcome = outcome}, 0), "in.hist").is_good;
  };
  EXPECT_TRUE(is_good(Outcome::None));
  EXPECT_FALSE(is_good(Outcome::Found));
  EXPECT_FALSE(is_good(Outcome::Unknown));
}

TEST(Header, PaintsAnUndecidedVerdictAsUnsure) {
  const Paint paint(true);
  EXPECT_EQ(painted("word", Outcome::Consistent, paint), paint.good("word"));
  EXPECT_EQ(painted("word", Outcome::Violated, paint), paint.bad("word"));
  EXPECT_EQ(painted("word", Outcome::Unknown, paint), paint.unsure("word"));
}

TEST(Header, TakesADivergedRunForNoAnswer) {
  const Header header = force_header(force::ForceVerdict::Diverged, {}, 0);
  EXPECT_EQ(header.verdict, "diverged");
  EXPECT_EQ(header.outcome, Outcome::Unknown);
}

TEST(Answers, AreViolatedIfOneIsAndUnknownIfOneIs) {
  EXPECT_EQ(worse(Outcome::Consistent, Outcome::Consistent), Outcome::Consistent);
  EXPECT_EQ(worse(Outcome::Consistent, Outcome::Unknown), Outcome::Unknown);
  EXPECT_EQ(worse(Outcome::Unknown, Outcome::Violated), Outcome::Violated);
}

}  // namespace
}  // namespace isoscope
