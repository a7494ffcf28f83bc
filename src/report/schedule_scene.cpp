#include "report/schedule_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/page_layout.h"
#include "support/blanks.h"

namespace isoscope {
namespace {

constexpr std::size_t kMostDrawnSteps = 60;
constexpr std::size_t kCodeLetters = 26;
constexpr std::size_t kMostCodeLines = 6;
constexpr std::size_t kMostStartRows = 12;

// One blank for any white space: a statement may stand on several lines.
std::string on_one_line(std::string_view sql) {
  std::string out;
  for (const char c : sql) {
    const bool is_blank = blanks::in_text(c);
    if (is_blank && (out.empty() || out.back() == ' ')) continue;
    out += is_blank ? ' ' : c;
  }
  while (out.ends_with(' ') || out.ends_with(';')) out.pop_back();
  return out;
}

std::vector<std::string> code_lines(std::string_view sql) {
  std::vector<std::string> lines = wrapped(on_one_line(sql), kCodeLetters);
  if (lines.size() > kMostCodeLines) {
    lines.resize(kMostCodeLines);
    lines.back() += " …";
  }
  return lines;
}

std::string_view end_word(PlayedStep::Kind kind) {
  return kind == PlayedStep::Kind::Commit ? "COMMIT" : "ABORT";
}

// What the box and the player say of the step's answer.
std::string answer_words(const PlayedStep& step) {
  switch (step.kind) {
    case PlayedStep::Kind::Waits: return step.result.empty() ? "waits" : "waits " + step.result;
    case PlayedStep::Kind::Statement:
    case PlayedStep::Kind::GoesOn: return step.result.empty() ? "" : "→ " + step.result;
    case PlayedStep::Kind::Commit:
    case PlayedStep::Kind::Abort: return step.result;
  }
  return "";
}

SceneBox box_of(const PlayedStep& step, std::size_t number) {
  SceneBox box{.name = step_name(number, step.txn),
               .where = step.where,
               .lane = step.lane,
               .is_aborted = step.kind == PlayedStep::Kind::Abort,
               .is_waiting = step.kind == PlayedStep::Kind::Waits};
  if (step.kind == PlayedStep::Kind::GoesOn) {
    box.code = {"goes on"};
  } else if (!step.sql.empty()) {
    box.code = code_lines(step.sql);
  } else {
    box.code = {std::string(end_word(step.kind))};
  }
  box.sql = step.sql;
  box.remark = answer_words(step);
  return box;
}

std::string step_words(const PlayedStep& step) {
  std::string words = step.sql.empty() ? std::string(end_word(step.kind)) : on_one_line(step.sql);
  if (step.kind == PlayedStep::Kind::GoesOn) words += ", goes on";
  std::string text = fmt::format("{}: {}", step.txn, words);
  const std::string answer = answer_words(step);
  if (!answer.empty() && step.kind != PlayedStep::Kind::Waits) text += "  " + answer;
  return text;
}

void add_spans(Scene& scene, const std::vector<PlayedStep>& steps) {
  std::map<std::string, std::size_t> spans;  // by lane and transaction
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string id = fmt::format("{} {}", steps[i].lane, steps[i].txn);
    const auto [at, is_new] = spans.emplace(id, scene.spans.size());
    if (is_new) scene.spans.push_back({.title = steps[i].call, .first = i + 1, .last = i + 1});
    SceneSpan& span = scene.spans[at->second];
    span.last = i + 1;
    span.is_aborted = span.is_aborted || steps[i].kind == PlayedStep::Kind::Abort;
  }
}

void add_start(Scene& scene, const std::vector<KeyState>& rows) {
  SceneBox& start = scene.boxes.emplace_back(SceneBox{.name = "T0"});
  for (const KeyState& row : rows) {
    if (start.ops.size() == kMostStartRows) {
      start.left_out = rows.size() - kMostStartRows;
      break;
    }
    start.ops.push_back(
        {.key = row.key, .value = row.value, .text = fmt::format("{} {}", row.key, row.value)});
  }
}

}  // namespace

std::string step_name(std::size_t number, std::string_view txn) {
  return fmt::format("{}. {}", number, txn);
}

std::string_view name_of(PlayedStep::Kind kind) {
  switch (kind) {
    case PlayedStep::Kind::Statement: return "answered";
    case PlayedStep::Kind::Waits: return "waits";
    case PlayedStep::Kind::GoesOn: return "goes on";
    case PlayedStep::Kind::Commit: return "commits";
    case PlayedStep::Kind::Abort: return "aborts";
  }
  return {};
}

Scene schedule_scene(PlayedRun run) {
  Scene scene{.title = std::move(run.title), .sentence = std::move(run.sentence)};
  scene.is_schedule = true;
  scene.time = "the order in which statements are answered";
  scene.lanes = std::move(run.lanes);
  if (run.steps.size() > kMostDrawnSteps) {
    scene.too_large = fmt::format(
        "The schedule has {} steps, and a picture of more than {} shows nothing. The report as "
        "text has all of them.",
        run.steps.size(), kMostDrawnSteps);
    return scene;
  }
  add_start(scene, run.start);
  scene.run.start = std::move(run.start);
  std::map<std::size_t, std::size_t> waiting;  // by lane: the box of the statement that waits
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    PlayedStep& step = run.steps[i];
    scene.boxes.push_back(box_of(step, i + 1));
    scene.order.push_back(i + 1);
    if (const auto found = waiting.find(step.lane); found != waiting.end()) {
      scene.boxes[found->second].goes_on = i + 1;
      waiting.erase(found);
    }
    if (step.kind == PlayedStep::Kind::Waits) waiting[step.lane] = i + 1;
    scene.run.steps.push_back(
        {.box = i + 1,
         .op = kNoIndex,
         .text = step_words(step),
         .note = step.kind == PlayedStep::Kind::Waits ? answer_words(step) : std::string(),
         .changed = step.changed});
  }
  add_spans(scene, run.steps);
  return scene;
}

std::size_t box_at(const Scene& scene, std::string_view txn, std::string_view where) {
  // Where a statement waits and goes on, what it finds is that of the second.
  for (std::size_t i = scene.boxes.size(); i-- > 1;) {
    const SceneBox& box = scene.boxes[i];
    if (box.where == where && box.name == step_name(i, txn)) return i;
  }
  return kNoIndex;
}

std::vector<KeyState> changed_rows(const std::vector<KeyState>& before,
                                   const std::vector<KeyState>& after) {
  std::vector<KeyState> changed;
  for (const KeyState& row : after) {
    if (std::ranges::find(before, row) == before.end()) changed.push_back(row);
  }
  for (const KeyState& row : before) {
    if (std::ranges::find(after, row.key, &KeyState::key) == after.end())
      changed.push_back({row.key, "no row", ""});
  }
  return changed;
}

}  // namespace isoscope
