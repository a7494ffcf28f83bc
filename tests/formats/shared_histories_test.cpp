// The histories that lie beside the project: real ones, from five tools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "formats/formats.h"
#include "support/paths.h"

namespace isoscope {
namespace {

const std::string kFolder = source_dir() + "/../shared/histories";

// The format of each file, as expected.tsv states it; empty where the folder is absent.
std::map<std::string, std::string> stated_formats() {
  std::map<std::string, std::string> formats;
  std::ifstream table(kFolder + "/expected.tsv");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream row(line);
    std::string file;
    std::string format;
    std::getline(row, file, '\t');
    std::getline(row, format, '\t');
    formats[file] = format;
  }
  if (formats.empty()) std::printf("skipped: %s is absent\n", kFolder.c_str());
  return formats;
}

TEST(SharedHistories, AreRecognisedByContent) {
  for (const auto& [file, format] : stated_formats()) {
    std::ifstream in(kFolder + "/" + file, std::ios::binary);
    std::ostringstream bytes;
    bytes << in.rdbuf();
    const auto found = recognise(bytes.str().substr(0, kRecognisedBytes));
    ASSERT_TRUE(found.has_value()) << file;
    EXPECT_EQ(name_of(*found), format) << file;
  }
}

TEST(SharedHistories, AreReadWithoutAFormatAndWithTheirs) {
  for (const auto& [file, format] : stated_formats()) {
    const auto recognised = read_history(kFolder + "/" + file);
    ASSERT_TRUE(recognised.ok()) << render(recognised.error());
    const auto named = read_history(kFolder + "/" + file, *find_format(format));
    ASSERT_TRUE(named.ok()) << render(named.error());
    EXPECT_GT(named->num_events(), 0U) << file;
    EXPECT_EQ(named->num_events(), recognised->num_events()) << file;
  }
}

}  // namespace
}  // namespace isoscope
