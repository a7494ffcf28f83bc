// docs/workloads.md lists every workload with its sizes and their defaults.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/input.h"
#include "support/paths.h"
#include "workload/workload.h"

namespace isoscope {
namespace {

TEST(WorkloadsPage, ListsWorkloadsAndSizes) {
  const auto page = read_whole(source_dir() + "/docs/workloads.md");
  ASSERT_TRUE(page.ok()) << render(page.error());
  for (const WorkloadInfo& info : workloads()) {
    const std::size_t row = page->find(fmt::format("\n| `{}` |", info.name));
    ASSERT_NE(row, std::string::npos) << info.name;
    const std::string line = page->substr(row + 1, page->find('\n', row + 1) - row);
    for (const TableSize& size : info.sizes)
      EXPECT_THAT(line, testing::HasSubstr(fmt::format("`--{} {}`", size.name, size.initially)));
  }
}

}  // namespace
}  // namespace isoscope
