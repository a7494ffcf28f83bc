#include "workload/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "support/paths.h"
#include "workload/run_interleaved.h"

namespace isoscope {
namespace {

using testing::HasSubstr;

Program parsed(const WorkloadPlan& plan) {
  const auto text = generate_program(plan);
  EXPECT_TRUE(text) << render(text.error());
  auto program = parse_program(*text);
  EXPECT_TRUE(program) << render(program.error().quoting(*text));
  return std::move(*program);
}

TEST(Workload, IsEveryFileOfTheFolder) {
  std::set<std::string> names;
  for (const WorkloadInfo& info : workloads()) names.emplace(info.name);
  EXPECT_THAT(names, testing::IsSupersetOf({"smallbank", "voter", "tpcc", "wikipedia", "courseware",
                                            "twitter", "shopping-cart"}));
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_dir() + "/workloads"))
    files.insert(entry.path().stem().string());
  EXPECT_EQ(names, files);
}

TEST(Workload, RefusesBadSizes) {
  const auto error_of = [](WorkloadPlan plan) {
    const auto text = generate_program(plan);
    return text ? std::string("none") : render(text.error());
  };
  EXPECT_THAT(error_of({.workload = "smalbank"}), HasSubstr("did you mean 'smallbank'?"));
  EXPECT_THAT(error_of({.sessions = 0}), HasSubstr("--sessions 0: from 1 to 5000 are possible"));
  EXPECT_THAT(error_of({.txns = -1}), HasSubstr("--txns -1"));
  EXPECT_THAT(error_of({.sessions = 100, .txns = 100}), HasSubstr("more than 5000 transactions"));
  EXPECT_THAT(error_of({.sizes = {{"accounts", 1}}}), HasSubstr("--accounts 1: from 2 to 1000"));
  EXPECT_THAT(error_of({.workload = "voter", .sizes = {{"accounts", 5}}}),
              HasSubstr("voter has no --accounts"));
  EXPECT_THAT(error_of({.workload = "voter", .audit = true}), HasSubstr("voter has no audit"));
  EXPECT_THAT(error_of({.workload = "tpcc",
                        .sizes = {{"warehouses", 10}, {"districts", 10}, {"customers", 100}}}),
              HasSubstr("--access point"));
}

TEST(Workload, RunsAtItsLargestSizes) {
  for (const WorkloadInfo& info : workloads()) {
    WorkloadPlan plan{.workload = std::string(info.name),
                      .sessions = 50,
                      .txns = 100,
                      .access = RowAccess::Point};
    const Program program = parsed(plan);
    EXPECT_EQ(program.outline().calls.size(), 5'000U);
    const InterleavedRun run = run_interleaved(program, 1, Snapshots::Latest);
    EXPECT_EQ(run.fault, "") << plan.workload;
    EXPECT_EQ(run.failed, "") << plan.workload;
  }
}

TEST(Workload, ScansAtEverySizeThatItAccepts) {
  for (const WorkloadInfo& info : workloads()) {
    WorkloadPlan plan{.workload = std::string(info.name), .access = RowAccess::Scan};
    for (const TableSize& size : info.sizes)
      plan.sizes[std::string(size.name)] = std::min<std::int64_t>(size.most, 30);
    if (!generate_program(plan)) continue;  // too large to scan, which it says
    const InterleavedRun run = run_interleaved(parsed(plan), 1, Snapshots::Latest);
    EXPECT_EQ(run.fault, "") << plan.workload;
  }
}

// Table 3 of the paper: reads, writes and committed transactions of 3 sessions with 4 or 8
// transactions each.
struct Published {
  std::string workload;
  std::int64_t txns;
  double reads, writes, committed;
};

TEST(Workload, LeavesTracesOfAboutThePublishedSizes) {
  const std::vector<Published> table = {
      {"smallbank", 4, 669.7, 14.7, 11.0},
      {"smallbank", 8, 1271.3, 30.5, 20.3},
      {"voter", 4, 763, 6, 12},
      {"voter", 8, 919, 6, 24},
      {"tpcc", 4, 3297.3, 763.0, 11.9},
      {"tpcc", 8, 7025.6, 1502.4, 23.8},
      {"wikipedia", 4, 1067.7, 55.1, 9.9},
      {"wikipedia", 8, 2677.1, 111.1, 22.8},
  };
  for (const Published& row : table) {
    double reads = 0, writes = 0, committed = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Program program =
          parsed({.workload = row.workload, .sessions = 3, .txns = row.txns, .seed = seed});
      const InterleavedRun run = run_interleaved(program, seed, Snapshots::Latest);
      reads += static_cast<double>(run.reads) / 10;
      writes += static_cast<double>(run.writes) / 10;
      committed += static_cast<double>(run.committed) / 10;
    }
    EXPECT_NEAR(reads / row.reads, 1, 0.25) << row.workload << row.txns;
    EXPECT_NEAR(writes / row.writes, 1, 0.35) << row.workload << row.txns;
    EXPECT_NEAR(committed / row.committed, 1, 0.15) << row.workload << row.txns;
  }
}

}  // namespace
}  // namespace isoscope
