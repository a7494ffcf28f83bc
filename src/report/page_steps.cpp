#include "report/page_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace isoscope {

namespace {

constexpr std::size_t kMostSteps = 400;

struct Version {
  std::string value = {};
  std::size_t writer = 0;  // a box
};
using Versions = std::map<std::string, Version>;

Versions initial_versions(const Scene& scene) {
  Versions versions;
  if (scene.boxes.empty()) return versions;
  for (const SceneOp& op : scene.boxes[0].ops) versions[op.key] = {op.value, 0};
  return versions;
}

class Player {
 public:
  explicit Player(const Scene& scene)
      : scene_(scene), current_(initial_versions(scene)), lanes_(scene.lanes.size()) {
    std::vector<std::size_t> boxes = scene.order;
    if (boxes.empty()) {
      for (std::size_t box = 1; box < scene.boxes.size(); ++box) boxes.push_back(box);
    }
    for (const std::size_t box : boxes) lanes_[scene.boxes[box].lane].boxes.push_back(box);
    for (const auto& [key, version] : current_) run_.start.push_back(state(key, version));
  }

  // Every round makes one step, so there are as many as operations and ends of transactions.
  SceneRun play() {
    while (!run_.is_cut) {
      if (try_each([this](Lane& lane) { return step_that_fits(lane); })) continue;
      if (try_each([this](Lane& lane) { return commit(lane, true); })) continue;
      if (try_each([this](Lane& lane) { return commit(lane, false); })) continue;
      if (try_each([this](Lane& lane) { return old_read(lane); })) continue;
      break;
    }
    return std::move(run_);
  }

 private:
  struct Lane {
    std::vector<std::size_t> boxes = {};
    std::size_t next_box = 0;
    std::size_t next_op = 0;
  };

  template <class Step>
  bool try_each(Step step) {
    for (Lane& lane : lanes_) {
      if (lane.next_box < lane.boxes.size() && step(lane)) {
        run_.is_cut = run_.steps.size() >= kMostSteps;
        return true;
      }
    }
    return false;
  }

  const SceneBox& box_of(const Lane& lane) const { return scene_.boxes[lane.boxes[lane.next_box]]; }
  const SceneOp* next_op(const Lane& lane) const {
    if (lane.next_box >= lane.boxes.size()) return nullptr;
    const SceneBox& box = box_of(lane);
    return lane.next_op < box.ops.size() ? &box.ops[lane.next_op] : nullptr;
  }
  KeyState state(const std::string& key, const Version& version) const {
    return {key, version.value, scene_.boxes[version.writer].name};
  }

  // Does the read see what is current? What is not drawn is not known to be wrong.
  bool is_current(std::size_t reader, const SceneOp& op) const {
    if (op.writer == kNoIndex || op.writer == reader) return true;
    const auto found = current_.find(op.key);
    return found == current_.end() ? op.writer == 0 : found->second.writer == op.writer;
  }

  bool step_that_fits(Lane& lane) {
    const SceneOp* op = next_op(lane);
    if (op == nullptr) return false;
    if (op->is_read && !is_current(lane.boxes[lane.next_box], *op)) return false;
    // A read that must come first goes first: a write can wait.
    take(lane, *op, "");
    return true;
  }

  bool old_read(Lane& lane) {
    const SceneOp* op = next_op(lane);
    if (op == nullptr) return false;
    const auto found = current_.find(op->key);
    std::string note;
    if (found != current_.end())
      note = fmt::format("an old version: {} is {} since {} committed", op->key,
                         found->second.value, scene_.boxes[found->second.writer].name);
    if (op->writer != kNoIndex && !is_committed(op->writer))
      note = fmt::format("{} has not committed yet", op->writer_name);
    take(lane, *op, std::move(note));
    return true;
  }

  bool is_committed(std::size_t box) const {
    return box == 0 || std::ranges::count(committed_, box) > 0;
  }

  void take(Lane& lane, const SceneOp& op, std::string note) {
    const SceneBox& box = box_of(lane);
    std::string text = op.is_read
                           ? fmt::format("{} reads {} = {}{}{}", box.name, op.key, op.value,
                                         op.writer_name.empty() ? "" : " from ", op.writer_name)
                           : fmt::format("{} writes {} = {}", box.name, op.key, op.value);
    if (!op.remark.empty()) text += ", " + op.remark;
    run_.steps.push_back(
        {lane.boxes[lane.next_box], lane.next_op, std::move(text), std::move(note), {}});
    ++lane.next_op;
  }

  // Would the commit take away what another session is about to read?
  bool spoils_a_read(const Lane& lane) const {
    const std::size_t mine = lane.boxes[lane.next_box];
    for (const Lane& other : lanes_) {
      if (&other == &lane || other.next_box >= other.boxes.size()) continue;
      const std::size_t reader = other.boxes[other.next_box];
      const SceneBox& box = scene_.boxes[reader];
      for (std::size_t i = other.next_op; i < box.ops.size(); ++i) {
        const SceneOp& read = box.ops[i];
        if (!read.is_read || !is_current(reader, read) || read.writer == kNoIndex) continue;
        for (const SceneOp& op : scene_.boxes[mine].ops) {
          if (!op.is_read && op.key == read.key && read.writer != mine) return true;
        }
      }
    }
    return false;
  }

  // Is a transaction still to read what this one writes, and another about to overwrite it?
  bool is_overwritten_too_soon(const Lane& lane) const {
    const std::size_t mine = lane.boxes[lane.next_box];
    for (const Lane& other : lanes_) {
      for (std::size_t b = other.next_box; b < other.boxes.size(); ++b) {
        for (const SceneOp& read : scene_.boxes[other.boxes[b]].ops) {
          if (read.is_read && read.writer == mine && has_other_writer(lane, read.key)) return true;
        }
      }
    }
    return false;
  }

  // Is a transaction of another lane about to commit a write of the key?
  bool has_other_writer(const Lane& lane, const std::string& key) const {
    return std::ranges::any_of(lanes_, [&](const Lane& other) {
      if (&other == &lane || other.next_box >= other.boxes.size() || next_op(other) != nullptr)
        return false;
      return std::ranges::any_of(box_of(other).ops,
                                 [&](const SceneOp& op) { return !op.is_read && op.key == key; });
    });
  }

  bool commit(Lane& lane, bool gently) {
    if (next_op(lane) != nullptr) return false;
    if (gently && (spoils_a_read(lane) || is_overwritten_too_soon(lane))) return false;
    const std::size_t index = lane.boxes[lane.next_box];
    const SceneBox& box = scene_.boxes[index];
    SceneStep step{index,
                   kNoIndex,
                   fmt::format("{} {}", box.name, box.is_aborted ? "aborts" : "commits"),
                   "",
                   {}};
    if (!box.is_aborted) {
      committed_.push_back(index);
      std::map<std::string, Version> written;
      for (const SceneOp& op : box.ops) {
        if (!op.is_read) written[op.key] = {op.value, index};
      }
      for (const auto& [key, version] : written) {
        current_[key] = version;
        step.changed.push_back(state(key, version));
      }
    }
    run_.steps.push_back(std::move(step));
    ++lane.next_box;
    lane.next_op = 0;
    return true;
  }

  const Scene& scene_;
  Versions current_;
  std::vector<Lane> lanes_;
  std::vector<std::size_t> committed_;
  SceneRun run_;
};

}  // namespace

SceneRun steps_of(const Scene& scene) {
  if (scene.is_schedule) return scene.run;
  if (scene.boxes.size() < 2) return {};
  return Player(scene).play();
}

SerialComparison compare_with_serial(const Scene& scene) {
  SerialComparison result;
  if (scene.is_schedule) return result;
  std::vector<std::size_t> order = scene.order;
  if (order.empty()) {
    for (const SceneStep& step : steps_of(scene).steps) {
      if (step.op == kNoIndex) order.push_back(step.box);
    }
  }
  Versions current = initial_versions(scene);
  for (const std::size_t index : order) {
    const SceneBox& box = scene.boxes[index];
    result.order.push_back(box.name);
    std::map<std::string, std::string> own;
    for (const SceneOp& op : box.ops) {
      if (!op.is_read) {
        own[op.key] = op.value;
        continue;
      }
      if (op.writer == kNoIndex || own.contains(op.key)) continue;
      const auto found = current.find(op.key);
      const std::size_t latest = found == current.end() ? 0 : found->second.writer;
      if (latest == op.writer) continue;
      result.differences.push_back(
          {box.name, op.key, fmt::format("{} from {}", op.value, op.writer_name),
           fmt::format("{} from {}", found == current.end() ? "nothing" : found->second.value,
                       scene.boxes[latest].name)});
    }
    if (box.is_aborted) continue;
    for (const auto& [key, value] : own) current[key] = {value, index};
  }
  return result;
}

}  // namespace isoscope
