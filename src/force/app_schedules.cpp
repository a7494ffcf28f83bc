#include "force/app_schedules.h"

#include <algorithm>

namespace isoscope::force {

AppSchedules::AppSchedules(ById<ActorId, AppSessionId> sessions) : sessions_(std::move(sessions)) {
  add({});
}

void AppSchedules::add(Turns turns) {
  Node node{.number = found_++};
  for (std::size_t i = 1; i < turns.size(); ++i) node.switches += turns[i] != turns[i - 1] ? 1 : 0;
  node.turns = std::move(turns);
  left_.push(std::move(node));
}

std::optional<Turns> AppSchedules::next() {
  if (left_.empty()) return std::nullopt;
  Turns turns = left_.top().turns;
  left_.pop();
  return turns;
}

bool AppSchedules::note(const Turns& beginning, const Played& played) {
  const Turns taken = turns_taken(played);
  if (taken.size() < beginning.size() ||
      !std::equal(beginning.begin(), beginning.end(), taken.begin()))
    return false;
  ById<ActorId, std::size_t> to_come(sessions_.size(), 0);  // turns of each call
  for (const ActorId call : taken) ++to_come[call];
  ById<ActorId, bool> is_out(sessions_.size(), false);  // its statement waits
  const auto may_go = [&](ActorId call) {
    if (to_come[call] == 0 || is_out[call]) return false;
    for (const ActorId other : IdRange<ActorId>(0, call.index))
      if (sessions_[other] == sessions_[call] && (to_come[other] > 0 || is_out[other]))
        return false;
    return true;
  };
  std::size_t turn = 0;
  for (const Moment& moment : played.moments) {
    if (moment.kind == Moment::Kind::Answered) is_out[moment.actor] = false;
    if (moment.kind != Moment::Kind::Sent) continue;
    for (const ActorId call : sessions_.ids()) {
      if (turn < beginning.size() || call == moment.actor || !may_go(call)) continue;
      Turns turns(taken.begin(), taken.begin() + static_cast<std::ptrdiff_t>(turn));
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

Turns turns_taken(const Played& played) {
  Turns turns;
  for (const Moment& moment : played.moments)
    if (moment.kind == Moment::Kind::Sent) turns.push_back(moment.actor);
  return turns;
}

}  // namespace isoscope::force
