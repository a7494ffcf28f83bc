// The applications of the corpus and of the examples parse, without anything left out.
#include <gmock/gmock.h>

#include <filesystem>

#include "sql/application.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope::sql {
namespace {

namespace fs = std::filesystem;

void expect_understood(const fs::path& path) {
  SCOPED_TRACE(path.string());
  const auto text = read_whole(path.string());
  ASSERT_TRUE(text.ok());
  const auto app = parse_application(*text);
  ASSERT_TRUE(app.ok()) << render(app.error().in(path.string()));
  EXPECT_THAT(app->left_out, testing::IsEmpty());
  for (const Error& problem : app->problems) ADD_FAILURE() << render(problem.in(path.string()));
  for (const Note& note : app->notes) ADD_FAILURE() << note.what;
  EXPECT_FALSE(app->functions.empty());
}

TEST(CorpusApplications, AreUnderstoodWhole) {
  std::size_t files = 0;
  for (const char* folder : {"tests/corpus/apps", "examples/audit"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(source_dir()) / folder)) {
      if (entry.path().extension() != ".sql") continue;
      expect_understood(entry.path());
      ++files;
    }
  }
  EXPECT_EQ(files, 17U);  // as many as the two folders hold
}

}  // namespace
}  // namespace isoscope::sql
