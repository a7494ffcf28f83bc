// docs/formats.md tells about every format: a row, a section, and an example that can be read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/formats.h"
#include "support/doc_blocks.h"
#include "support/doc_tables.h"
#include "support/input.h"
#include "support/paths.h"

namespace isoscope {
namespace {

using ::testing::HasSubstr;

TEST(FormatsPage, TellsAboutEveryFormat) {
  const auto page = read_whole(source_dir() + "/docs/formats.md");
  ASSERT_TRUE(page);
  std::string names;
  for (const DocRow& row : doc_table(*page, "name")) names += without_ticks(row.at(0)) + "\n";
  for (const Format format : all_formats()) {
    const std::string name(name_of(format));
    EXPECT_THAT(names, HasSubstr("[" + name + "](#" + name + ")\n"));
    EXPECT_THAT(*page, HasSubstr("\n## " + name + "\n"));
  }
}

TEST(FormatsPage, ShowsHistoriesThatCanBeRead) {
  const auto page = read_whole(source_dir() + "/docs/formats.md");
  ASSERT_TRUE(page);
  for (const Format format : all_formats()) {
    if (format == Format::DbcopBincode || format == Format::Cobra) continue;  // bytes, not text
    SCOPED_TRACE(name_of(format));
    const std::size_t section = page->find("\n## " + std::string(name_of(format)) + "\n");
    ASSERT_NE(section, std::string::npos);
    const auto blocks = doc_blocks(std::string_view(*page).substr(section));
    ASSERT_FALSE(blocks.empty());
    const auto history = parse_history(blocks.front().text, format);
    EXPECT_TRUE(history) << (history ? "" : render(history.error()));
    EXPECT_EQ(recognise(blocks.front().text), format);
  }
}

}  // namespace
}  // namespace isoscope
