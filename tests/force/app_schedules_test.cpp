#include "force/app_schedules.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace isoscope::force {
namespace {

// Calls that never wait: how many turns each has depends on who had turns before.
using Length = std::function<std::size_t(ActorId call, const Turns& taken)>;

// Plays a beginning and then, as the scheduler does, the rest.
Played play_calls(std::size_t calls, const Length& length, const Turns& beginning) {
  Played played;
  Turns taken;
  ById<ActorId, StatementId> had(calls);
  const auto has_more = [&](ActorId call) { return had[call].index < length(call, taken); };
  for (;;) {
    ActorId next = ActorId::none();
    if (taken.size() < beginning.size()) {
      next = beginning[taken.size()];
    } else if (!taken.empty() && has_more(taken.back())) {
      next = taken.back();
    } else {
      for (const ActorId call : had.ids())
        if (next.is_none() && has_more(call)) next = call;
    }
    if (next.is_none()) return played;
    for (const auto kind : {Moment::Kind::Sent, Moment::Kind::Answered})
      played.moments.push_back({.kind = kind, .actor = next, .statement = had[next]});
    ++had[next];
    taken.push_back(next);
  }
}

std::set<Turns> all_orders(ById<ActorId, AppSessionId> sessions, const Length& length) {
  const std::size_t calls = sessions.size();
  AppSchedules schedules(std::move(sessions));
  std::set<Turns> orders;
  while (const auto beginning = schedules.next()) {
    const Played played = play_calls(calls, length, *beginning);
    EXPECT_TRUE(schedules.note(*beginning, played));
    EXPECT_TRUE(orders.insert(turns_taken(played)).second) << "played twice";
    if (orders.size() > 10'000) break;
  }
  return orders;
}

TEST(AppSchedules, AreAllOrdersOnce) {
  const auto three = [](ActorId, const auto&) { return std::size_t{3}; };
  EXPECT_EQ(all_orders({{0}, {1}}, three).size(), 20U);         // 6 over 3
  EXPECT_EQ(all_orders({{0}, {1}, {2}}, three).size(), 1680U);  // 9! / 3!^3
}

TEST(AppSchedules, KeepTheOrderOfASession) {
  const auto two = [](ActorId, const auto&) { return std::size_t{2}; };
  // Calls 0 and 1 are of one session: 4 turns in their order, among them 2 of the other.
  EXPECT_EQ(all_orders({{0}, {0}, {1}}, two).size(), 15U);
}

// Call 1 has four turns if its first one comes before the last of call 0, else two.
TEST(AppSchedules, GrowWithWhatCallsDo) {
  const auto length = [](ActorId call, const Turns& taken) -> std::size_t {
    if (call.index == 0) return 2;
    std::size_t first = 0;
    for (const ActorId turn : taken) {
      if (turn.index == 1) return first < 2 ? 4 : 2;
      ++first;
    }
    return first < 2 ? 4 : 2;
  };
  // Of the 15 orders of 2 and 4 turns those that begin with both of call 0 have 2 turns instead.
  const auto orders = all_orders({{0}, {1}}, length);
  EXPECT_EQ(orders.size(), 15U);
  EXPECT_TRUE(orders.contains({{0}, {0}, {1}, {1}}));
  EXPECT_TRUE(orders.contains({{1}, {1}, {1}, {0}, {0}, {1}}));
}

TEST(AppSchedules, SayThatARunTookOtherTurns) {
  AppSchedules schedules({{0}, {1}});
  Played played;
  played.moments.push_back({.kind = Moment::Kind::Sent, .actor = {1}});
  EXPECT_FALSE(schedules.note({{0}}, played));
}

}  // namespace
}  // namespace isoscope::force
