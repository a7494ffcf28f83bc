#include "program/remembered.h"

#include <algorithm>
#include <deque>

namespace isoscope {
namespace {

// Keys that a program computes are kept with the tree, so a tree with so many grows no further.
constexpr std::size_t kMostKeys = 2000;
constexpr std::uint32_t kNone = 0xffffffff;
// In place of a node, in front of the state of the executor inside.
constexpr std::int64_t kNotInTree = -1;

// A part of a vector that only grows.
struct Range {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

template <class T>
Range append(std::vector<T>& all, std::span<const T> added) {
  const Range range{static_cast<std::uint32_t>(all.size()),
                    static_cast<std::uint32_t>(added.size())};
  all.insert(all.end(), added.begin(), added.end());
  return range;
}

template <class T>
std::span<const T> part(const std::vector<T>& all, Range range) {
  return std::span(all).subspan(range.begin, range.size);
}

class Tree final : public Remembering {
 public:
  Tree(const Program& program, std::unique_ptr<Executor> executor, std::size_t most_bytes)
      : program_(program),
        executor_(std::move(executor)),
        finder_(program.keys()),
        nodes_(program.outline().calls.size()),
        most_bytes_(most_bytes) {}

  std::optional<Segment> known() override {
    is_new_ = false;
    if (!is_in_tree_) return std::nullopt;
    std::uint32_t next = nodes_[at_].first_child;
    while (next != kNone && nodes_[next].answer != answer_) next = nodes_[next].sibling;
    if (next == kNone) {
      lead_inner();
      return std::nullopt;
    }
    at_ = next;
    const Node& node = nodes_[next];
    last_ = node.stop;
    return Segment{part(writes_, node.writes), part(fixed_, node.fixed), node.stop};
  }

  Stop run() override { return last_ = executor_->run(); }

  void answer(std::int64_t value) override {
    if (is_in_tree_ && !is_learning_) {
      answer_ = value;
    } else {
      executor_->answer(value);
    }
  }

  void learn(const Segment& segment) override {
    if (!is_in_tree_) return;
    is_learning_ = false;
    is_in_tree_ = segment.stop.kind != StopKind::Fault && executor_->num_held_keys() < kMostKeys;
    if (!is_in_tree_) return;
    const auto state = executor_->state();
    const std::size_t bytes = sizeof(Node) + segment.writes.size_bytes() +
                              segment.fixed.size_bytes() + state.size_bytes();
    is_in_tree_ = num_bytes_ + bytes <= most_bytes_;
    if (!is_in_tree_) return;
    num_bytes_ += bytes;
    Node node{.stop = segment.stop, .answer = answer_, .sibling = nodes_[at_].first_child};
    node.writes = append(writes_, segment.writes);
    node.fixed = append(fixed_, segment.fixed);
    node.has_large = nodes_[at_].has_large ||
                     std::any_of(segment.writes.begin(), segment.writes.end(),
                                 [](const WriteEvent& w) { return !is_small_number(w.value); });
    if (is_at_end()) {
      node.state = append(states_, state.first(executor_->num_locals()));
      node.failed_assertion = executor_->failed_assertion();
    } else {
      node.state = append(states_, state);
    }
    const auto added = static_cast<std::uint32_t>(nodes_.size());
    nodes_[at_].first_child = added;
    nodes_.push_back(node);
    at_ = added;
    inner_at_ = added;
  }

  const Outlook* outlook() override {
    if (!is_in_tree_ || last_.kind != StopKind::Read || nodes_[at_].has_large) return nullptr;
    if (nodes_[at_].outlook == kNone) {
      nodes_[at_].outlook = static_cast<std::uint32_t>(outlooks_.size());
      outlooks_.push_back(
          outlook_of(program_.code(call_), part(states_, nodes_[at_].state), finder_));
    }
    return &outlooks_[nodes_[at_].outlook];
  }

  void start(CallId call) override {
    call_ = call;
    at_ = call.index;
    answer_ = 0;
    is_in_tree_ = true;
    is_learning_ = false;
    last_ = {};
    is_new_ = true;
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
      if (node.stop.kind == StopKind::Read) all.push_back(node.stop.key);
    }
    for (const WriteEvent& write : writes_) all.push_back(write.key);
    for (const FixedRead& read : fixed_) all.push_back(read.key);
    executor_->drop_keys_but(all);
    for (const Outlook& outlook : outlooks_)
      all.insert(all.end(), outlook.writes.begin(), outlook.writes.end());
    finder_.drop_but(all);
  }

  std::span<const std::int64_t> state() const override {
    if (is_new_) return inner_at_start().state();
    if (is_at_end()) return is_in_tree_ ? part(states_, nodes_[at_].state) : executor_->state();
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
    is_learning_ = false;
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
    return is_at_end() && is_in_tree_ ? nodes_[at_].state.size : executor_->num_locals();
  }
  std::optional<AssertionId> failed_assertion() const override {
    if (is_new_) return inner_at_start().failed_assertion();
    return is_at_end() && is_in_tree_ ? nodes_[at_].failed_assertion
                                      : executor_->failed_assertion();
  }

 private:
  // A choice of a call or its end, and the segment that leads to it; or, for the first ones, the
  // beginning of a call.
  struct Node {
    Stop stop = {.kind = StopKind::Fault};
    std::int64_t answer = 0;  // to the choice that is its parent
    std::uint32_t first_child = kNone;
    std::uint32_t sibling = kNone;
    std::uint32_t outlook = kNone;
    Range writes = {};
    Range fixed = {};
    Range state = {};  // of the executor inside; at an end its locals
    std::optional<AssertionId> failed_assertion = {};
    bool has_large = false;  // was a number written, on the way to it, that is not small?
  };

  bool is_at_end() const { return last_.kind == StopKind::Commit || last_.kind == StopKind::Abort; }

  // Of a call that has not run.
  Executor& inner_at_start() const {
    executor_->start(call_);
    inner_at_ = kNone;
    return *executor_;
  }

  // Takes the executor inside to where the call stands.
  void lead_inner() {
    if (at_ == call_.index) {
      executor_->start(call_);
    } else {
      if (inner_at_ != at_) executor_->restore(call_, part(states_, nodes_[at_].state));
      executor_->answer(answer_);
    }
    inner_at_ = kNone;
    is_learning_ = true;
  }

  const Program& program_;
  std::unique_ptr<Executor> executor_;
  KeyFinder finder_;  // of outlooks
  std::deque<Outlook> outlooks_;
  std::vector<Node> nodes_;  // the first ones are the beginnings of the calls
  std::vector<WriteEvent> writes_;
  std::vector<FixedRead> fixed_;
  std::vector<std::int64_t> states_;
  std::size_t num_bytes_ = 0;
  std::size_t most_bytes_;
  CallId call_ = {};
  std::uint32_t at_ = 0;
  std::int64_t answer_ = 0;
  bool is_in_tree_ = true;
  bool is_learning_ = false;  // does the executor inside run a segment that is not in the tree?
  Stop last_ = {};
  bool is_new_ = false;                     // has the call not run yet?
  mutable std::uint32_t inner_at_ = kNone;  // the node at whose stop the executor inside stands
  mutable std::vector<std::int64_t> state_;
};

}  // namespace

std::unique_ptr<Remembering> remembering(const Program& program, std::unique_ptr<Executor> executor,
                                         std::size_t most_bytes) {
  return std::make_unique<Tree>(program, std::move(executor), most_bytes);
}

}  // namespace isoscope
