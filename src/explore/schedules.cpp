#include "explore/schedules.h"

#include <algorithm>

#include "store/txn_set.h"

namespace isoscope::explore {
namespace {

// With at least so many transactions to come, a node tries all sessions at once, so that there is
// something to share from the start.
constexpr std::uint32_t kCallsWorthLooking = 4;

}  // namespace

template <class Set>
Schedules<Set>::Schedules(const Executable& program, StrongRule rule, EndStates<Set>& end_states,
                          Control& control)
    : Base(program, rule, end_states, control) {
  may_conflict_.resize(program.outline().calls.size());
  for (const CallId c : may_conflict_.ids()) {
    for (const CallId d : may_conflict_.ids()) {
      const Footprint written = program.may_write_keys(c);
      const Footprint written_too = program.may_write_keys(d);
      if (program.keys().may_meet(written, written_too) ||
          program.keys().may_meet(written, program.may_read_keys(d)) ||
          program.keys().may_meet(program.may_read_keys(c), written_too))
        may_conflict_[c].insert(d);
    }
  }
}

template <class Set>
void Schedules<Set>::run(const Piece& piece) {
  piece_ = piece;
  const Frames frames = unpack_frames(piece.words);
  base_ = frames.base;
  new_node();
  if (frames.frames.empty()) {
    explore();
  } else {
    is_replaying_ = true;
    replay(frames, 0);
  }
  finish();
}

// The piece is done, or was put back: those who wait for it hear what was added above it.
template <class Set>
void Schedules<Set>::finish() {
  if (is_put_back_ || piece_.join == 0 || control_.is_stopped()) return;
  Added added(base_);
  for (std::uint32_t depth = 0; depth < std::min<std::size_t>(base_, nodes_.size()); ++depth) {
    nodes_[depth]->added.for_each([&](LiveSession s) { added[depth].push_back(s.index); });
  }
  control_.pool()->arrive({.join = piece_.join, .added = std::move(added), .rest = {}});
}

// What is left to do of the piece, as a piece.
template <class Set>
Piece Schedules<Set>::rest(std::size_t num_frames, bool is_round_over) const {
  Piece rest{.join = piece_.join, .added = Added(num_frames)};
  Frames frames{.base = base_, .is_round_over = is_round_over};
  for (std::size_t depth = 0; depth < num_frames; ++depth) {
    const Node& node = *nodes_[depth];
    Frame& frame = frames.frames.emplace_back();
    for (const Step& step : node.tried) frame.tried.push_back(step.session);
    node.known.for_each([&](LiveSession s) { frame.known.push_back(s); });
    node.added.for_each([&](LiveSession s) { rest.added[depth].push_back(s.index); });
    frame.current = narrow(node.current);
    frame.limit = narrow(node.limit);
    frame.join = node.join;
  }
  rest.words = pack_frames(frames);
  return rest;
}

// Gives away what has not begun of the round that is closest to the root.
template <class Set>
void Schedules<Set>::split() {
  for (std::size_t depth = base_; depth < steps_.size(); ++depth) {
    Node& node = *nodes_[depth];
    std::vector<std::uint32_t> others;
    for (std::size_t i = node.current + 1; i < node.limit; ++i) {
      if (node.tried[i].can_run) others.push_back(narrow(i));
    }
    if (others.empty()) continue;
    const JoinId join = control_.pool()->open_join(narrow(others.size() + 1));
    Frames frames = unpack_frames(rest(depth + 1, false).words);
    frames.base = narrow(depth + 1);
    for (const std::uint32_t other : others) {
      frames.frames.back().current = other;
      control_.pool()->give({.join = join, .added = {}, .words = pack_frames(frames)});
    }
    node.limit = node.current + 1;
    node.join = join;
    return;
  }
}

// The node behind the path, whose sleeping sessions its parent has to fill in.
template <class Set>
auto Schedules<Set>::new_node() -> Node& {
  const std::size_t depth = steps_.size();
  if (depth == nodes_.size()) nodes_.push_back(std::make_unique<Node>());
  Node& node = *nodes_[depth];
  node.asleep = {};
  node.sleeping.clear();
  node.open = {};
  for (const LiveSession s : sessions_.ids()) {
    if (has_next(s)) node.open.insert(s);
  }
  node.known = {};
  node.tried.clear();
  node.looked_at.clear();
  node.added = {};
  node.join = 0;
  return node;
}

template <class Set>
void Schedules<Set>::explore() {
  if (control_.is_draining()) {
    control_.pool()->give(rest(steps_.size(), false));
    is_put_back_ = true;
    return;
  }
  Node& node = *nodes_[steps_.size()];
  control_.calls.fetch_add(1, std::memory_order_relaxed);
  if (control_.is_over(budget_, path_)) return;
  if (num_left() == 0) return this->report_end();
  this->drop_keys();
  if (control_.is_hungry() && num_left() >= 2) split();
  const typename Trail<Set>::Mark mark = trail_.mark();
  const std::size_t num_clocks = clocks_.size();
  const std::size_t num_keys = keys_.size();
  path_.push_back(0);
  if (try_first_round(node)) {
    if (std::none_of(node.tried.begin(), node.tried.end(),
                     [](const Step& step) { return step.can_run; }))
      control_.blocked.fetch_add(1, std::memory_order_relaxed);
    node.limit = node.tried.size();
    explore_rounds(node, 0);
  }
  path_.pop_back();
  trail_.cut(mark);
  clocks_.resize(num_clocks);
  keys_.resize(num_keys);
}

// Explores the round whose next child is `first`, and those that follow.
template <class Set>
void Schedules<Set>::explore_rounds(Node& node, std::size_t first) {
  for (;;) {
    explore_round(node, first);
    if (is_put_back_ || control_.is_stopped()) return;
    if (node.join != 0) {
      // Another worker has children of this round.
      const JoinId join = node.join;
      node.join = 0;
      control_.pool()->arrive({.join = join, .added = {}, .rest = rest(steps_.size() + 1, true)});
      is_put_back_ = true;
      return;
    }
    first = node.tried.size();
    if (!try_next_round(node)) return;
    node.limit = node.tried.size();
  }
}

// Comes to where the frames lead, and goes on there and above.
template <class Set>
void Schedules<Set>::replay(const Frames& frames, std::size_t depth) {
  const Frame& frame = frames.frames[depth];
  Node& node = *nodes_[depth];
  for (const LiveSession session : frame.tried) {
    if (!try_session(node, session)) return;  // the time is over
  }
  node.known = {};
  for (const LiveSession session : frame.known) node.known.insert(session);
  if (depth < piece_.added.size()) {
    for (const std::uint32_t session : piece_.added[depth]) node.added.insert({session});
  }
  node.current = frame.current;
  node.limit = frame.limit;
  node.join = frame.join;
  const auto is_able = [](const Step& step) { return step.can_run; };
  const auto begin = node.tried.begin();
  path_.push_back(narrow(static_cast<std::size_t>(
      std::count_if(begin, begin + static_cast<std::ptrdiff_t>(node.current), is_able))));
  std::size_t next = node.current + 1;
  if (depth + 1 == frames.frames.size() && frames.is_round_over) {
    is_replaying_ = false;
    next = node.tried.size();
    path_.back() =
        narrow(static_cast<std::size_t>(std::count_if(begin, node.tried.end(), is_able)));
  } else {
    const Step step = node.tried[node.current];
    const std::size_t num_overwritten = this->overwritten_.size();
    enter_child(node, step);
    if (depth + 1 < frames.frames.size()) {
      replay(frames, depth + 1);
    } else {
      is_replaying_ = false;
      explore();
    }
    if (is_put_back_ || control_.is_stopped() || is_replaying_) return;
    this->take_back(step, num_overwritten);
    ++path_.back();
  }
  if (depth >= base_) explore_rounds(node, next);
  path_.pop_back();
}

// The next step of a session, as a node of the path has found it, if that still is what it does.
template <class Set>
std::optional<Step> Schedules<Set>::step_of(LiveSession session) {
  if (sessions_[session].is_under_way) return next_step(session);
  for (std::size_t depth = steps_.size();; --depth) {
    const Node& node = *nodes_[depth];
    for (const std::vector<Step>* steps : {&node.tried, &node.looked_at, &node.sleeping}) {
      for (const Step& step : *steps) {
        if (step.session != session) continue;
        const bool is_current =
            std::none_of(steps_.begin() + static_cast<std::ptrdiff_t>(depth), steps_.end(),
                         [&](const Step& taken) { return this->reads_from(step, taken); });
        if (!is_current) return next_step(session);
        Step same = step;
        same.can_run = this->can_run(same);
        return same;
      }
    }
    if (depth == 0 || steps_[depth - 1].session == session) return next_step(session);
  }
}

// Tries the step of a session at a node. False if that was the end: a fault.
template <class Set>
bool Schedules<Set>::try_session(Node& node, LiveSession session) {
  node.known.insert(session);
  if (node.asleep.contains(session)) return true;
  auto step = step_of(session);
  if (!step) return false;
  find_races(*step);
  node.tried.push_back(*step);
  return true;
}

// The first session that can go on, and where much is to come those that are in a race with it.
template <class Set>
bool Schedules<Set>::try_first_round(Node& node) {
  Sessions awake = node.open - node.asleep;
  bool has_first = false;
  while (!has_first && !awake.empty()) {
    const LiveSession session = awake.front();
    awake.erase(session);
    if (!try_session(node, session)) return false;
    has_first = node.tried.back().can_run;
  }
  if (awake.empty() || num_left() < kCallsWorthLooking) return true;
  const Step first = node.tried.back();
  for (; !awake.empty(); awake.erase(awake.front())) {
    const LiveSession session = awake.front();
    auto step = step_of(session);
    if (!step) return false;
    if (are_dependent(first, *step)) {
      node.known.insert(session);
      find_races(*step);
      node.tried.push_back(*step);
    } else {
      node.looked_at.push_back(*step);
    }
  }
  return true;
}

// What races have added since the last round. False if there is nothing.
template <class Set>
bool Schedules<Set>::try_next_round(Node& node) {
  if (control_.is_over(budget_, path_)) return false;
  const std::size_t before = node.tried.size();
  // A step that is tried may itself add to this node: not while nothing was taken here.
  const Sessions added = node.added - node.known;
  node.added = {};
  bool has_fault = false;
  added.for_each(
      [&](LiveSession session) { has_fault = has_fault || !try_session(node, session); });
  return !has_fault && node.tried.size() > before;
}

template <class Set>
void Schedules<Set>::explore_round(Node& node, std::size_t first) {
  for (std::size_t i = first; i < node.limit; ++i) {
    if (!node.tried[i].can_run) continue;
    if (control_.is_over(budget_, path_)) return;
    explore_child(node, i);
    if (is_put_back_) return;
    ++path_.back();
  }
}

template <class Set>
void Schedules<Set>::explore_child(Node& node, std::size_t number) {
  node.current = number;
  const Step step = node.tried[number];
  const std::size_t num_overwritten = this->overwritten_.size();
  enter_child(node, step);
  explore();
  this->take_back(step, num_overwritten);
}

// Takes the step. What was tried before it at the node, or sleeps there, sleeps below unless the
// step wakes it.
template <class Set>
void Schedules<Set>::enter_child(const Node& node, const Step& step) {
  this->take(step);
  Node& child = new_node();
  const auto put_to_sleep = [&](const Step& other) {
    if (are_dependent(other, step)) return;
    child.asleep.insert(other.session);
    child.sleeping.push_back(other);
  };
  for (const Step& other : node.sleeping) {
    if (other.session != step.session) put_to_sleep(other);
  }
  for (std::size_t i = 0; i < node.current; ++i) put_to_sleep(node.tried[i]);
}

// Finds the steps of the path that are in a race with this one: dependent, and with nothing between
// them in happens-before. Fills in its clock.
template <class Set>
void Schedules<Set>::find_races(Step& step) {
  const std::size_t k = sessions_.size();
  const auto& session = sessions_[step.session];
  step.clock = narrow(clocks_.size());
  clocks_.resize(clocks_.size() + k, 0);
  const auto join = [&](const Step& other) {
    for (std::size_t s = 0; s < k; ++s)
      clocks_[step.clock + s] = std::max(clocks_[step.clock + s], clocks_[other.clock + s]);
  };
  if (session.num_steps > 0) join(steps_[session.last]);
  for (std::size_t i = steps_.size(); i-- > 0;) {
    const Step& other = steps_[i];
    if (is_before(other, step) || !are_dependent(other, step)) continue;
    if (!is_replaying_) add_race(narrow(i), step);  // else it was added before
    join(other);
  }
  clocks_[step.clock + step.session.index] = step.index + 1;
}

// The step is in a race with the one at `position`. Before that one was taken, something that leads
// to the reverse order has to be tried.
template <class Set>
void Schedules<Set>::add_race(std::uint32_t position, const Step& step) {
  Node& node = *nodes_[position];
  if ((node.open - node.asleep).is_subset_of(node.known)) return;
  const std::optional<Sessions> added = this->reads_from(step, steps_[position])
                                            ? sessions_before(position, step)
                                            : first_of_independent(position, step);
  if (!added || added->is_subset_of(node.known)) return;
  node.added |= *added;
}

// Without the step at `position` this one does the same: whoever comes first among the steps that
// do not depend on that one, or the step itself if there are none. Nothing if one of those who come
// first is known.
template <class Set>
auto Schedules<Set>::first_of_independent(std::uint32_t position, const Step& step) const
    -> std::optional<Sessions> {
  const Step& reversed = steps_[position];
  const Sessions& known = nodes_[position]->known;
  std::optional<LiveSession> first;
  Sessions seen;  // with a step among them
  for (std::size_t i = position + 1; i < steps_.size(); ++i) {
    const Step& other = steps_[i];
    if (is_before(reversed, other) || seen.contains(other.session)) continue;
    // Does it depend on one before it among them?
    bool is_initial = true;
    for (std::size_t j = position + 1; j < i && is_initial; ++j)
      is_initial = is_before(reversed, steps_[j]) || !is_before(steps_[j], other);
    seen.insert(other.session);
    if (!is_initial) continue;
    if (known.contains(other.session)) return std::nullopt;
    if (!first) first = other.session;
  }
  return Sessions::of(first ? *first : step.session);
}

// The step reads what the one at `position` wrote. Without that it may read and write other keys,
// and what it then depends on cannot be seen here: all sessions that may come before it.
template <class Set>
auto Schedules<Set>::sessions_before(std::uint32_t position, const Step& step) -> Sessions {
  // By session, its calls that are not over at the node; of its own, those up to the step.
  left_.resize(sessions_.size());
  for (const LiveSession s : left_.ids())
    left_[s] = Set::between(sessions_[s].next, sessions_[s].end);
  for (std::size_t i = steps_.size(); i-- > position;)
    left_[steps_[i].session].insert(trail_.blocks[steps_[i].block].call);
  left_[step.session] &= Set::first(trail_.blocks[step.block].call.index + 1);
  Sessions sessions = Sessions::of(step.session);
  Set work = left_[step.session];  // calls
  while (!work.empty()) {
    const CallId call = work.front();
    work.erase(call);
    for (const LiveSession s : sessions_.ids()) {
      if (sessions.contains(s) || !left_[s].intersects(may_conflict_[call])) continue;
      // It may be any of its calls, and those before it in the session come first.
      sessions.insert(s);
      work |= left_[s];
    }
  }
  return sessions;
}

template class Schedules<TxnSet<1>>;
template class Schedules<TxnSet<4>>;

}  // namespace isoscope::explore
