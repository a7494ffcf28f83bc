// The applications that are shared with us parse, without anything left out.
#include <gmock/gmock.h>

#include <filesystem>

#include "sql/application.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope::sql {
namespace {

namespace fs = std::filesystem;

TEST(SharedApplications, AreUnderstoodWhole) {
  const fs::path folder = fs::path(source_dir()) / ".." / "shared" / "apps";
  ASSERT_TRUE(fs::exists(folder)) << folder;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".sql") continue;
    ++files;
    const auto text = read_whole(entry.path().string());
    ASSERT_TRUE(text.ok());
    const auto app = parse_application(*text);
    ASSERT_TRUE(app.ok()) << render(app.error().in(entry.path().string()));
    EXPECT_THAT(app->left_out, testing::IsEmpty());
    for (const Error& problem : app->problems)
      ADD_FAILURE() << render(problem.in(entry.path().string()));
    for (const Note& note : app->notes) ADD_FAILURE() << entry.path() << ": " << note.what;
    EXPECT_FALSE(app->functions.empty());
  }
  EXPECT_GE(files, 8);
}

}  // namespace
}  // namespace isoscope::sql
