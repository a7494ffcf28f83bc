#include "program/rounds.h"

#include <gtest/gtest.h>

namespace isoscope {
namespace {

// A program of which each of the first so many analyses shows a new row.
class Growing final : public Executable {
 public:
  explicit Growing(int rows) : rows_(rows) { outline_.calls.resize(3); }

  const Outline& outline() const override { return outline_; }
  KeyTable& keys() const override { return keys_; }
  std::unique_ptr<Executor> executor() const override { return nullptr; }
  std::span<const std::string> local_names(CallId) const override { return {}; }
  std::span<const FamilyId> may_read(CallId) const override { return {}; }
  std::span<const FamilyId> may_write(CallId) const override { return {}; }
  FailedAssertion assertion(AssertionId) const override { return {}; }
  bool has_assertions() const override { return false; }
  std::optional<AssertionId> failed_at_end(std::span<const Ending>,
                                           std::span<const std::int64_t>) const override {
    return std::nullopt;
  }
  bool may_have_new_rows() const override { return true; }
  bool has_new_rows() const override { return known_ < rows_; }
  void adopt_rows() const override { ++known_; }

 private:
  Outline outline_;
  mutable KeyTable keys_;
  int rows_;
  mutable int known_ = 0;
};

struct Rounds {
  Result<int> answer;
  int analyses = 0;
};

Rounds rounds_of(int rows, int over_after = 1'000) {
  const Growing program(rows);
  int analyses = 0;
  auto answer = until_rows_are_known(
      program, [&]() -> Result<int> { return ++analyses; },
      [&](int round) { return round >= over_after; });
  return {std::move(answer), analyses};
}

TEST(Rounds, AnswerAtOnceWhereNothingIsNew) {
  const Rounds rounds = rounds_of(0);
  ASSERT_TRUE(rounds.answer.ok());
  EXPECT_EQ(*rounds.answer, 1);
}

TEST(Rounds, GiveTheAnswerOfTheLastOne) {
  const Rounds rounds = rounds_of(7);
  ASSERT_TRUE(rounds.answer.ok());
  EXPECT_EQ(*rounds.answer, 8);
}

TEST(Rounds, StopWhenTheTimeIsOver) {
  const Rounds rounds = rounds_of(7, 3);
  ASSERT_TRUE(rounds.answer.ok());
  EXPECT_EQ(*rounds.answer, 3);
}

TEST(Rounds, AreAnErrorIfTheyHaveNoEnd) {
  const Rounds rounds = rounds_of(1'000);
  ASSERT_FALSE(rounds.answer.ok());
  EXPECT_EQ(rounds.analyses, most_rounds(Growing(0)));
  EXPECT_NE(rounds.answer.error().what.find("20 rounds"), std::string::npos);
}

TEST(Rounds, EndWithTheErrorOfAnAnalysis) {
  const Growing program(5);
  int analyses = 0;
  const auto answer = until_rows_are_known(
      program,
      [&]() -> Result<int> {
        if (++analyses == 2) return Error{.what = "overflow"};
        return analyses;
      },
      [](int) { return false; });
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().what, "overflow");
}

}  // namespace
}  // namespace isoscope
