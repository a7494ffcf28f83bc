#include "force/app_schedules.h"

#include <algorithm>

namespace isoscope::force {

AppSchedules::AppSchedules(std::vector<std::size_t> sessions) : sessions_(std::move(sessions)) {
  add({});
}

void AppSchedules::add(std::vector<std::size_t> turns) {
  Node node{.number = found_++};
  for (std::size_t i = 1; i < turns.size(); ++i) node.switches += turns[i] != turns[i - 1] ? 1 : 0;
  node.turns = std::move(turns);
  left_.push(std::move(node));
}

std::optional<std::vector<std::size_t>> AppSchedules::next() {
  if (left_.empty()) return std::nullopt;
  std::vector<std::size_t> turns = left_.top().turns;
  left_.pop();
  return turns;
}

bool AppSchedules::note(const std::vector<std::size_t>& beginning, const Played& played) {
  const std::vector<std::size_t> taken = turns_taken(played);
  if (taken.size() < beginning.size() ||
      !std::equal(beginning.begin(), beginning.end(), taken.begin()))
    return false;
  std::vector<std::size_t> to_come(sessions_.size(), 0);  // turns of each call
  for (const std::size_t call : taken) ++to_come[call];
  std::vector<bool> is_out(sessions_.size(), false);  // its statement waits
  const auto may_go = [&](std::size_t call) {
    if (to_come[call] == 0 || is_out[call]) return false;
    for (std::size_t other = 0; other < call; ++other)
      if (sessions_[other] == sessions_[call] && (to_come[other] > 0 || is_out[other]))
        return false;
    return true;
  };
  std::size_t turn = 0;
  for (const Moment& moment : played.moments) {
    if (moment.kind == Moment::Kind::Answered) is_out[moment.actor] = false;
    if (moment.kind != Moment::Kind::Sent) continue;
    for (std::size_t call = 0; call < sessions_.size() && turn >= beginning.size(); ++call) {
      if (call == moment.actor || !may_go(call)) continue;
      std::vector<std::size_t> turns(taken.begin(),
                                     taken.begin() + static_cast<std::ptrdiff_t>(turn));
      turns.push_back(call);
      add(std::move(turns));
    }
    // From here on it is an order that no client has: its session has not come so far.
    if (!may_go(moment.actor)) return true;
    --to_come[moment.actor];
    is_out[moment.actor] = true;
    ++turn;
  }
  return true;
}

std::vector<std::size_t> turns_taken(const Played& played) {
  std::vector<std::size_t> turns;
  for (const Moment& moment : played.moments)
    if (moment.kind == Moment::Kind::Sent) turns.push_back(moment.actor);
  return turns;
}

}  // namespace isoscope::force
