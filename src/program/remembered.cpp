#include "program/remembered.h"

#include <deque>

#include "support/assert.h"

namespace isoscope {
namespace {

// Keys that a program computes are kept with the tree, so a tree with so many grows no further.
constexpr std::size_t kMostKeys = 400;
constexpr std::uint32_t kNone = 0xffffffff;
// In place of a node, in front of the state of the executor inside.
constexpr std::int64_t kNotInTree = -1;

class Tree final : public Remembering {
 public:
  Tree(const Program& program, std::unique_ptr<Executor> executor, std::size_t most_stops)
      : program_(program),
        executor_(std::move(executor)),
        finder_(program.keys()),
        nodes_(program.outline().calls.size()),
        most_nodes_(nodes_.size() + most_stops) {}

  const Outlook* outlook() override {
    if (!is_in_tree_ || last_.kind != StopKind::Read) return nullptr;
    if (nodes_[at_].outlook == kNone) {
      if (inner_at_ != at_) lead_inner();
      inner_at_ = at_;
      nodes_[at_].outlook = static_cast<std::uint32_t>(outlooks_.size());
      outlooks_.push_back(outlook_of(program_.code(call_), executor_->state(), finder_));
    }
    return &outlooks_[nodes_[at_].outlook];
  }

  void start(CallId call) override {
    call_ = call;
    at_ = call.index;
    answer_ = 0;
    is_in_tree_ = true;
    last_ = {};
    is_new_ = true;
  }

  Stop run() override {
    is_new_ = false;
    if (!is_in_tree_) return last_ = executor_->run();
    const std::uint32_t next = child();
    if (next == kNone) return last_ = learn();
    at_ = next;
    answer_ = 0;
    return last_ = nodes_[next].stop;
  }

  void answer(std::int64_t value) override {
    if (is_in_tree_) {
      answer_ = value;
    } else {
      executor_->answer(value);
    }
  }

  Error fault() const override { return executor_->fault(); }  // a fault is never remembered
  void hold_keys() override {
    executor_->hold_keys();
    finder_.hold();
  }
  std::size_t num_held_keys() const override { return executor_->num_held_keys(); }
  void drop_keys_but(std::span<const ProgramKey> used) override {
    std::vector<ProgramKey> all(used.begin(), used.end());
    for (const Node& node : nodes_) {
      if (node.stop.kind == StopKind::Read || node.stop.kind == StopKind::Write)
        all.push_back(node.stop.key);
    }
    executor_->drop_keys_but(all);
    for (const Outlook& outlook : outlooks_)
      all.insert(all.end(), outlook.writes.begin(), outlook.writes.end());
    finder_.drop_but(all);
  }

  std::span<const std::int64_t> state() const override {
    if (is_new_) return inner_at_start().state();
    if (is_at_end()) return is_in_tree_ ? std::span(end().locals) : executor_->state();
    state_.clear();
    state_.push_back(is_in_tree_ ? std::int64_t{at_} : kNotInTree);
    if (!is_in_tree_) {
      const auto inner = executor_->state();
      state_.insert(state_.end(), inner.begin(), inner.end());
    }
    return state_;
  }

  void restore(CallId call, std::span<const std::int64_t> state) override {
    call_ = call;
    is_in_tree_ = state[0] != kNotInTree;
    if (is_in_tree_) {
      at_ = static_cast<std::uint32_t>(state[0]);
    } else {
      executor_->restore(call, state.subspan(1));
      inner_at_ = kNone;
    }
    last_ = {.kind = StopKind::Read};
    is_new_ = false;
  }

  std::size_t num_locals() const override {
    if (is_new_) return inner_at_start().num_locals();
    return is_at_end() && is_in_tree_ ? end().locals.size() : executor_->num_locals();
  }
  std::optional<std::uint32_t> failed_assertion() const override {
    if (is_new_) return inner_at_start().failed_assertion();
    return is_at_end() && is_in_tree_ ? end().failed_assertion : executor_->failed_assertion();
  }

 private:
  // A stop of a call, or for the first ones its beginning.
  struct Node {
    Stop stop = {.kind = StopKind::Fault};
    std::uint32_t parent = kNone;
    std::int64_t answer = 0;  // to the read that is its parent
    std::uint32_t first_child = kNone;
    std::uint32_t sibling = kNone;
    std::uint32_t end = kNone;
    std::uint32_t outlook = kNone;
  };
  struct End {
    std::vector<std::int64_t> locals;
    std::optional<std::uint32_t> failed_assertion;
  };

  bool is_at_end() const { return last_.kind == StopKind::Commit || last_.kind == StopKind::Abort; }
  const End& end() const { return ends_[nodes_[at_].end]; }

  std::uint32_t child() const {
    std::uint32_t next = nodes_[at_].first_child;
    while (next != kNone && nodes_[next].answer != answer_) next = nodes_[next].sibling;
    return next;
  }

  // Of a call that has not run.
  Executor& inner_at_start() const {
    executor_->start(call_);
    inner_at_ = kNone;
    return *executor_;
  }

  // Executes what follows at_, and adds it to the tree.
  Stop learn() {
    if (inner_at_ != at_) lead_inner();
    inner_at_ = kNone;
    if (nodes_[at_].parent != kNone && nodes_[at_].stop.kind == StopKind::Read)
      executor_->answer(answer_);
    const Stop stop = executor_->run();
    if (stop.kind == StopKind::Fault || nodes_.size() >= most_nodes_ ||
        executor_->num_held_keys() >= kMostKeys) {
      is_in_tree_ = false;
      return stop;
    }
    Node node{.stop = stop, .parent = at_, .answer = answer_, .sibling = nodes_[at_].first_child};
    const auto added = static_cast<std::uint32_t>(nodes_.size());
    if (stop.kind == StopKind::Commit || stop.kind == StopKind::Abort) {
      const auto locals = executor_->state().first(executor_->num_locals());
      node.end = static_cast<std::uint32_t>(ends_.size());
      ends_.push_back({{locals.begin(), locals.end()}, executor_->failed_assertion()});
    }
    nodes_[at_].first_child = added;
    nodes_.push_back(node);
    at_ = added;
    answer_ = 0;
    inner_at_ = added;
    return stop;
  }

  // Runs the executor inside from the beginning of the call to at_.
  void lead_inner() {
    path_.clear();
    for (std::uint32_t node = at_; nodes_[node].parent != kNone; node = nodes_[node].parent)
      path_.push_back(node);
    executor_->start(call_);
    for (std::size_t i = path_.size(); i-- > 0;) {
      const Stop stop = executor_->run();
      ISO_ASSERT(stop.kind == nodes_[path_[i]].stop.kind);
      if (stop.kind == StopKind::Read && i > 0) executor_->answer(nodes_[path_[i - 1]].answer);
    }
  }

  const Program& program_;
  std::unique_ptr<Executor> executor_;
  KeyFinder finder_;  // of outlooks
  std::deque<Outlook> outlooks_;
  std::vector<Node> nodes_;  // the first ones are the beginnings of the calls
  std::size_t most_nodes_;
  std::vector<End> ends_;
  CallId call_ = {};
  std::uint32_t at_ = 0;
  std::int64_t answer_ = 0;
  bool is_in_tree_ = true;
  Stop last_ = {};
  bool is_new_ = false;                     // has the call not run yet?
  mutable std::uint32_t inner_at_ = kNone;  // the node at whose stop the executor inside stands
  std::vector<std::uint32_t> path_;
  mutable std::vector<std::int64_t> state_;
};

}  // namespace

std::unique_ptr<Remembering> remembering(const Program& program, std::unique_ptr<Executor> executor,
                                         std::size_t most_stops) {
  return std::make_unique<Tree>(program, std::move(executor), most_stops);
}

}  // namespace isoscope
