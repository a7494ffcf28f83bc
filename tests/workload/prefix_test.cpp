// Smaller programs are prefixes of larger ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/program.h"
#include "workload/workload.h"

namespace isoscope {
namespace {

std::string text_of(const WorkloadPlan& plan) {
  const auto text = generate_program(plan);
  EXPECT_TRUE(text) << render(text.error());
  return *text;
}

// Rows and transactions: what stands between the comment at the top and the sessions.
std::string definitions_of(const std::string& text) {
  const std::size_t first = text.find("\n\n");
  return text.substr(first, text.find("\nsession ") - first);
}

TEST(Prefix, OfALargerProgramIsTheSmallerOne) {
  for (const WorkloadInfo& info : workloads()) {
    WorkloadPlan plan{.workload = std::string(info.name), .sessions = 5, .txns = 9, .seed = 7};
    const std::string large_text = text_of(plan);
    const auto large = parse_program(large_text);
    ASSERT_TRUE(large) << render(large.error());
    for (const std::int64_t sessions : {1, 2, 3, 5}) {
      for (const std::int64_t txns : {1, 4, 8, 9}) {
        SCOPED_TRACE(plan.workload);
        plan.sessions = sessions;
        plan.txns = txns;
        const std::string small_text = text_of(plan);
        EXPECT_EQ(definitions_of(small_text), definitions_of(large_text));
        const auto small = parse_program(small_text);
        ASSERT_TRUE(small) << render(small.error());
        ASSERT_EQ(static_cast<std::int64_t>(small->outline().sessions.size()), sessions);
        for (const ProgramSession s : small->outline().sessions.ids()) {
          const Session& mine = small->outline().sessions[s];
          const Session& other = large->outline().sessions[s];
          EXPECT_EQ(mine.name, other.name);
          ASSERT_EQ(mine.size, txns);
          for (std::uint32_t n = 0; n < mine.size; ++n)
            EXPECT_EQ(small->outline().calls[CallId{mine.first.index + n}].name,
                      large->outline().calls[CallId{other.first.index + n}].name);
        }
      }
    }
  }
}

TEST(Prefix, IsTheSameForTheSameSeedAndNotForAnother) {
  for (const WorkloadInfo& info : workloads()) {
    WorkloadPlan plan{.workload = std::string(info.name), .seed = 3};
    const std::string text = text_of(plan);
    EXPECT_EQ(text, text_of(plan));
    plan.seed = 4;
    EXPECT_NE(text.substr(text.find("\nsession ")),
              text_of(plan).substr(text_of(plan).find("\nsession ")))
        << plan.workload;
  }
}

}  // namespace
}  // namespace isoscope
