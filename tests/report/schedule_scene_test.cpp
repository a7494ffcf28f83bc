#include "report/schedule_scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/page_layout.h"
#include "report/page_steps.h"
#include "report/page_writers.h"

namespace isoscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Two transfers of one account: bob waits for alice.
PlayedRun waiting_run() {
  using Kind = PlayedStep::Kind;
  PlayedRun run{
      .title = "a run", .lanes = {"alice", "bob"}, .start = {{"account[1]", "balance 100", "T0"}}};
  const std::string update = "UPDATE account SET balance = balance - 60\n  WHERE id = 1;";
  run.steps = {
      {.kind = Kind::Statement,
       .lane = 0,
       .txn = "alice[1]",
       .call = "pay(60)",
       .sql = update,
       .where = "line 4",
       .result = "1 row",
       .changed = {{"account[1]", "balance 40", "alice[1], not committed yet"}}},
      {.kind = Kind::Waits,
       .lane = 1,
       .txn = "bob[1]",
       .sql = update,
       .where = "line 4",
       .result = "for alice[1]"},
      {.kind = Kind::Commit,
       .lane = 0,
       .txn = "alice[1]",
       .changed = {{"account[1]", "balance 40", "alice[1]"}}},
      {.kind = Kind::GoesOn,
       .lane = 1,
       .txn = "bob[1]",
       .sql = update,
       .where = "line 4",
       .result = "1 row"},
      {.kind = Kind::Abort, .lane = 1, .txn = "bob[1]", .result = "23514 check"},
  };
  return run;
}

TEST(ScheduleScene, ShowsStatementsWaitsAndEnds) {
  const Scene scene = schedule_scene(waiting_run());
  ASSERT_EQ(scene.boxes.size(), 6U);
  EXPECT_EQ(scene.boxes[1].name, "1. alice[1]");
  EXPECT_THAT(scene.boxes[1].code,
              ElementsAre("UPDATE account SET balance", "= balance - 60 WHERE id =", "1"));
  EXPECT_TRUE(scene.boxes[2].is_waiting);
  EXPECT_EQ(scene.boxes[2].goes_on, 4U);
  EXPECT_EQ(scene.boxes[2].remark, "waits for alice[1]");
  EXPECT_THAT(scene.boxes[3].code, ElementsAre("COMMIT"));
  EXPECT_TRUE(scene.boxes[5].is_aborted);
  ASSERT_EQ(scene.spans.size(), 2U);
  EXPECT_EQ(scene.spans[0].title, "pay(60)");
  EXPECT_EQ(scene.spans[0].last, 3U);
  EXPECT_TRUE(scene.spans[1].is_aborted);
}

TEST(ScheduleScene, FindsTheStatementOfATransactionByItsPlace) {
  const Scene scene = schedule_scene(waiting_run());
  EXPECT_EQ(box_at(scene, "alice[1]", "line 4"), 1U);
  // What it found, it found when it went on.
  EXPECT_EQ(box_at(scene, "bob[1]", "line 4"), 4U);
  EXPECT_EQ(box_at(scene, "bob[1]", "line 5"), kNoIndex);
}

TEST(ScheduleScene, PlaysItsOwnSteps) {
  const SceneRun run = steps_of(schedule_scene(waiting_run()));
  ASSERT_EQ(run.steps.size(), 5U);
  EXPECT_EQ(run.start.front().value, "balance 100");
  EXPECT_EQ(run.steps[0].text,
            "alice[1]: UPDATE account SET balance = balance - 60 WHERE id = 1  → 1 row");
  EXPECT_EQ(run.steps[1].note, "waits for alice[1]");
  EXPECT_EQ(run.steps[2].changed.front().writer, "alice[1]");
}

TEST(ScheduleScene, IsDrawnFromLeftToRightWithoutOverlap) {
  Scene scene = schedule_scene(waiting_run());
  scene.edges.push_back({.from = 1, .to = 4, .kind = EdgeKind::Ww, .key = "account[1]"});
  const SceneLayout layout = layout_of(scene, 40);
  ASSERT_EQ(layout.boxes.size(), 6U);
  for (std::size_t i = 2; i < layout.boxes.size(); ++i)
    EXPECT_LT(layout.boxes[i - 1].x, layout.boxes[i].x);
  for (std::size_t i = 0; i < layout.boxes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(layout.boxes[i].meets(layout.boxes[j]));
    EXPECT_LE(layout.boxes[i].right(), layout.width);
    EXPECT_LE(layout.boxes[i].bottom(), layout.height);
  }
}

TEST(ScheduleScene, TooManyStepsAreNoPicture) {
  PlayedRun run = waiting_run();
  while (run.steps.size() < 100) run.steps.push_back(run.steps.front());
  const Scene scene = schedule_scene(std::move(run));
  EXPECT_THAT(scene.too_large, HasSubstr("100 steps"));
  EXPECT_THAT(page_svg({.command = "run", .scenes = {scene}}), HasSubstr("100 steps"));
}

TEST(ScheduleScene, NamesFromOutsideStayText) {
  PlayedRun run = waiting_run();
  run.steps[0].sql = "SELECT '</script><svg onload=x>'";
  run.steps[0].changed[0].value = "<b>&";
  run.lanes[0] = "<i>";
  Page page{.command = "run", .scenes = {schedule_scene(std::move(run))}};
  page.scenes[0].serial = {
      .title = "<u>", .columns = {"<td>"}, .rows = {{{"<script>alert(1)</script>"}}}};
  const std::string html = page_html(page);
  for (const char* markup : {"<svg onload", "<b>&", "<i>", "<u>", "<td><script"})
    EXPECT_THAT(html, Not(HasSubstr(markup))) << markup;
}

TEST(ChangedRows, AreThoseWithAnotherValueOrWriter) {
  const std::vector<KeyState> before = {{"a", "1", "T0"}, {"b", "1", "T0"}, {"c", "1", "T0"}};
  const std::vector<KeyState> after = {{"a", "1", "T0"}, {"b", "2", "T1"}};
  const auto changed = changed_rows(before, after);
  ASSERT_EQ(changed.size(), 2U);
  EXPECT_EQ(changed[0].key, "b");
  EXPECT_EQ(changed[1].value, "no row");
}

}  // namespace
}  // namespace isoscope
