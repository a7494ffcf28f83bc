// Pictures and pages: what is drawn, what is played, and that no text becomes markup.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "check/check.h"
#include "report/history_scene.h"
#include "report/page_layout.h"
#include "report/page_steps.h"
#include "report/page_writers.h"
#include "spec/levels.h"
#include "support/history_of.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Scene scene_at(const History& h, const char* level) {
  Budget budget;
  const auto found = LevelSet::built_in().find(level);
  const CheckAnswer answer = check(h, **found, budget);
  const auto& violation = answer.verdict.violation;
  EXPECT_TRUE(violation.has_value());
  return history_scene(h, violation ? &*violation : nullptr, {.title = level});
}

std::vector<std::string> texts(const SceneRun& run) {
  std::vector<std::string> result;
  for (const SceneStep& step : run.steps) result.push_back(step.text);
  return result;
}

constexpr const char* kLostUpdate = "init x=0\ns1: [r(x,0) w(x,1)]\ns2: [r(x,0) w(x,2)]\n";

TEST(PageSteps, ReadBeforeTheVersionTheySeeIsOverwritten) {
  const Scene scene = scene_at(history_of(kLostUpdate), "ser");
  const SceneRun run = steps_of(scene);
  EXPECT_THAT(texts(run),
              ElementsAre("T1 reads x = 0 from T0", "T1 writes x = 1", "T2 reads x = 0 from T0",
                          "T2 writes x = 2", "T1 commits", "T2 commits"));
  for (const SceneStep& step : run.steps) EXPECT_EQ(step.note, "") << step.text;
  ASSERT_EQ(run.start.size(), 1U);
  EXPECT_EQ(run.start[0].value, "0");
  ASSERT_EQ(run.steps.back().changed.size(), 1U);
  EXPECT_EQ(run.steps.back().changed[0].value, "2");
  EXPECT_EQ(run.steps.back().changed[0].writer, "T2");
}

TEST(PageSteps, SayWhenAReadSeesAnOldVersion) {
  const Scene scene = scene_at(history_of("init x=0\ns1: [w(x,1)] [r(x,0)]\n"), "ser");
  const SceneRun run = steps_of(scene);
  ASSERT_EQ(run.steps.size(), 4U);
  EXPECT_EQ(run.steps[2].text, "T2 reads x = 0 from T0");
  EXPECT_EQ(run.steps[2].note, "an old version: x is 1 since T1 committed");
}

TEST(PageSteps, EndEveryTransactionEvenWhereNoOrderFits) {
  const Scene scene =
      scene_at(history_of("init x=0 y=0\ns1: [r(x,1) w(y,1)]\ns2: [r(y,1) w(x,1)]\n"), "cc");
  std::size_t ends = 0;
  for (const SceneStep& step : steps_of(scene).steps) ends += step.op == kNoIndex ? 1 : 0;
  EXPECT_EQ(ends, 2U);
}

TEST(PageSteps, CompareWithASerialRun) {
  const SerialComparison serial = compare_with_serial(scene_at(history_of(kLostUpdate), "ser"));
  EXPECT_THAT(serial.order, ElementsAre("T1", "T2"));
  ASSERT_EQ(serial.differences.size(), 1U);
  EXPECT_EQ(serial.differences[0].txn, "T2");
  EXPECT_EQ(serial.differences[0].seen, "0 from T0");
  EXPECT_EQ(serial.differences[0].serial, "1 from T1");
}

TEST(PageLayout, KeepsBoxesApartAndInsideThePicture) {
  const Scene scene = scene_at(
      history_of("init x=0 y=0\ns1: [w(x,1)]\ns2: [w(y,1)]\ns3: [r(x,1) r(y,0)]\ns4: [r(y,1) "
                 "r(x,0)]\n"),
      "ser");
  const SceneLayout layout = layout_of(scene, 30);
  ASSERT_EQ(layout.boxes.size(), 5U);
  ASSERT_EQ(layout.lanes.size(), 4U);
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(layout.boxes[i].meets(layout.boxes[j])) << i << " and " << j;
    EXPECT_LE(layout.boxes[i].right(), layout.width);
    EXPECT_LE(layout.boxes[i].bottom(), layout.height);
  }
  for (std::size_t i = 0; i < layout.edges.size(); ++i) {
    if (layout.edges[i].label.width == 0) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (layout.edges[j].label.width == 0) continue;
      EXPECT_FALSE(layout.edges[i].label.meets(layout.edges[j].label)) << i << " and " << j;
    }
  }
  // A reader stands to the right of whom it reads from.
  EXPECT_GT(layout.boxes[3].x, layout.boxes[1].right());
}

TEST(Page, DrawsLanesTheInitialStateAndALegendInEveryFormat) {
  Page page{.command = "check", .verdict = "violated", .sentence = "lost update"};
  page.scenes.push_back(scene_at(history_of(kLostUpdate), "ser"));
  for (const std::string& file : {page_svg(page), page_html(page), page_dot(page)}) {
    EXPECT_THAT(file, HasSubstr("T0"));
    EXPECT_THAT(file, HasSubstr("s2"));
    EXPECT_THAT(file, HasSubstr("rw x"));
    EXPECT_THAT(file, HasSubstr("it reads a version that the other overwrites"));
  }
}

TEST(Page, ListsTheEdgesOfACycleInTheirOrder) {
  const Scene scene = scene_at(
      history_of("s1: [w(x,1)]\ns2: [w(y,1)]\ns3: [r(x,1) r(y,0)]\ns4: [r(y,1) r(x,0)]\n"), "pc");
  Page page{.command = "check", .verdict = "violated", .sentence = "long fork"};
  page.scenes.push_back(scene);
  const std::string html = page_html(page);
  std::vector<std::string> from;
  std::vector<std::string> to;
  static const std::regex edge(R"(<li data-edge="[^"]*">(T\d) <b>[^<]*</b> (T\d))");
  for (std::sregex_iterator found(html.begin(), html.end(), edge), end; found != end; ++found) {
    from.push_back((*found)[1]);
    to.push_back((*found)[2]);
  }
  ASSERT_EQ(from.size(), 4U);
  std::ranges::rotate(from, from.begin() + 1);
  EXPECT_EQ(from, to);
}

TEST(Page, SaysThatItIsTooLargeInsteadOfDrawing) {
  std::string text = "init";
  for (int i = 0; i < 50; ++i) text += fmt::format(" k{}=0", i);
  text += "\n";
  // A cycle of fifty anti-dependencies, with no shorter one in it.
  for (int i = 0; i < 50; ++i)
    text += fmt::format("s{}: [r(k{},0) w(k{},1)]\n", i + 1, i, (i + 1) % 50);
  Page page{.command = "check", .verdict = "violated", .sentence = "s"};
  page.scenes.push_back(scene_at(history_of(text), "ser"));
  EXPECT_THAT(page.scenes[0].too_large, HasSubstr("50 transactions"));
  EXPECT_THAT(page.scenes[0].boxes, IsEmpty());
  for (const std::string& file : {page_svg(page), page_html(page), page_dot(page)}) {
    EXPECT_THAT(file, HasSubstr("--minimize"));
    EXPECT_LT(file.size(), 40'000U);
  }
}

TEST(Page, DrawsTheCoreOfALargeHistory) {
  std::string text = "init x=0\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("s{}: [r(other{},0) w(other{},1)]\n", i, i, i);
  text += "a: [r(x,0) w(x,1)]\nb: [r(x,0) w(x,2)]\n";
  const Scene scene = scene_at(history_of(text), "si");
  EXPECT_EQ(scene.boxes.size(), 3U);
  EXPECT_EQ(scene.left_out, 300U);
}

// Whatever a name is, it stays a text.
TEST(Page, NeverTurnsTextIntoMarkup) {
  const std::string evil =
      "</script></title></pre>\"'><script>bad()</script><img src=x onerror=bad()>&@BODY@";
  Scene scene{.title = evil, .sentence = evil, .lanes = {evil}};
  scene.boxes.push_back({.name = "T0", .ops = {{.key = evil, .value = evil, .text = evil}}});
  scene.boxes.push_back({.name = evil,
                         .title = evil,
                         .remark = evil,
                         .sql = evil,
                         .where = evil,
                         .ops = {{.is_read = true,
                                  .key = evil,
                                  .value = evil,
                                  .text = evil,
                                  .writer = 0,
                                  .writer_name = evil,
                                  .remark = evil}}});
  scene.boxes.push_back(scene.boxes.back());
  scene.edges.push_back(
      {.from = 1, .to = 2, .kind = EdgeKind::Rw, .key = evil, .why = evil, .in_cycle = true});
  scene.notes.push_back(evil);
  scene.history = evil;
  Page page{
      .command = evil, .verdict = evil, .sentence = evil, .source = evil, .command_line = evil};
  page.tables.push_back({.title = evil, .columns = {evil}, .rows = {{{evil, 0}}}});
  page.scenes.push_back(scene);
  page.repairs.push_back({evil, evil, evil, evil});
  page.notes.push_back(evil);
  const std::string html = page_html(page);
  EXPECT_THAT(html, Not(HasSubstr("<script>bad")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("'><script")));
  // The template has one script of its own, and each scene one with data.
  std::size_t scripts = 0;
  for (std::size_t at = html.find("<script"); at != std::string::npos;
       at = html.find("<script", at + 1))
    ++scripts;
  EXPECT_EQ(scripts, 2U);
  const std::string svg = page_svg(page);
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, Not(HasSubstr("<img")));
  page.lattice = Lattice{.nodes = {evil, evil},
                         .arrows = {{.weaker = 0, .stronger = 1, .label = evil, .why = evil}}};
  EXPECT_THAT(page_svg(page), Not(HasSubstr("<img")));
}

// By the formula of WCAG 2.
double luminance(const std::string& colour) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    sum += weights[i] * (c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return sum;
}

TEST(Page, HasColoursThatCanBeReadOnEveryGround) {
  const auto find = [](std::string_view name) {
    for (const Colour& colour : palette()) {
      if (colour.name == name) return colour;
    }
    ADD_FAILURE() << name;
    return palette().front();
  };
  const auto contrast = [](const char* a, const char* b) {
    const double x = luminance(a);
    const double y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
  };
  for (const char* ground : {"paper", "lane", "box", "mark"}) {
    for (const char* text : {"ink", "faint", "so", "wr", "ww", "rw", "co", "good", "bad", "link"}) {
      if (std::string_view(ground) == "mark" && std::string_view(text) != "ink") continue;
      EXPECT_GE(contrast(find(text).light, find(ground).light), 4.5) << text << " on " << ground;
      EXPECT_GE(contrast(find(text).dark, find(ground).dark), 4.5) << text << " on " << ground;
    }
  }
}

}  // namespace
}  // namespace isoscope
