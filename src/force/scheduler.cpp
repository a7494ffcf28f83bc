#include "force/scheduler.h"

#include <algorithm>
#include <optional>

namespace isoscope::force {
namespace {

// How long one look for answers may take. It is no time-out: who has neither answered nor waits is
// looked at again.
constexpr int kFirstLookMilliseconds = 4;
constexpr int kLongestLookMilliseconds = 20;

class Player {
 public:
  Player(Stage& stage, const Schedule& schedule, Budget& budget)
      : stage_(stage),
        schedule_(schedule),
        budget_(budget),
        next_(stage.size()),
        sent_at_(stage.size(), 0),
        is_out_(stage.size(), false),
        is_parked_(stage.size(), false),
        is_used_(schedule.turns.size(), false) {}

  Result<Played> play() {
    if (auto calm = settle(); !calm) return calm.error();
    while (!is_over_) {
      bool was_put_off = false;
      const std::optional<ActorId> actor = next_actor(was_put_off);
      if (!actor) break;
      if (auto turn = take_turn(*actor, was_put_off); !turn) return turn.error();
    }
    if (!is_over_ && std::ranges::find(is_out_, true) != is_out_.end())
      played_.end = Played::End::Stuck;
    return std::move(played_);
  }

 private:
  // Whose turn it is: the first turn that is left, of an actor that does not wait.
  std::optional<ActorId> next_actor(bool& was_put_off) {
    ById<ActorId, bool> is_passed(stage_.size());
    for (std::size_t i = first_left_; i < schedule_.turns.size(); ++i) {
      const ActorId actor = schedule_.turns[i];
      if (is_used_[i] || is_passed[actor]) continue;
      if (is_out_[actor]) {
        is_passed[actor] = true;
        continue;
      }
      is_used_[i] = true;
      while (first_left_ < is_used_.size() && is_used_[first_left_]) ++first_left_;
      was_put_off = has_been_passed(i);
      mark_passed(i);
      return actor;
    }
    if (!schedule_.plays_rest) return std::nullopt;
    const auto has_more = [&](ActorId actor) {
      const ActorState state = stage_.state(actor);
      return state == ActorState::Ready || state == ActorState::Thinking;
    };
    if (schedule_.rest_goes_on && last_.index < stage_.size() && has_more(last_)) return last_;
    for (const ActorId actor : stage_.actors())
      if (has_more(actor)) return actor;
    return std::nullopt;
  }
  // A turn was put off if one behind it in the plan came before it.
  bool has_been_passed(std::size_t turn) const { return turn < latest_; }
  void mark_passed(std::size_t turn) { latest_ = std::max(latest_, turn); }

  Result<void> take_turn(ActorId actor, bool was_put_off) {
    while (stage_.state(actor) == ActorState::Thinking) {
      if (auto pumped = stage_.pump(kLongestLookMilliseconds); !pumped) return pumped.error();
      note_answers();
      tell_answers();
      if (stop_at_limit()) return {};
    }
    if (stage_.state(actor) == ActorState::Done) {
      played_.moments.push_back(
          {.kind = Moment::Kind::Forfeited, .actor = actor, .statement = next_[actor]});
      return {};
    }
    played_.moments.push_back({.kind = Moment::Kind::Sent,
                               .actor = actor,
                               .statement = next_[actor],
                               .was_put_off = was_put_off});
    ++next_[actor];
    last_ = actor;
    sent_at_[actor] = ++turns_taken_;
    is_out_[actor] = true;
    order_.push_back(actor);
    if (auto released = stage_.release(actor); !released) return released.error();
    return settle();
  }

  // Until every statement that is out has answered, or waits for a lock.
  Result<void> settle() {
    int look = kFirstLookMilliseconds;
    while (true) {
      if (auto pumped = stage_.pump(look); !pumped) return pumped.error();
      look = std::min(look * 2, kLongestLookMilliseconds);
      note_answers();
      if (order_.empty()) break;
      auto waits = stage_.waits();
      if (!waits) return waits.error();
      // What came while the server was asked makes its answer an old one.
      if (auto pumped = stage_.pump(0); !pumped) return pumped.error();
      if (note_answers()) continue;
      if (is_at_rest(*waits)) {
        tell_answers();
        park(*waits);
        return {};
      }
      if (stop_at_limit()) break;
    }
    tell_answers();
    return {};
  }

  bool stop_at_limit() {
    if (!budget_.expired_now()) return false;
    played_.end = Played::End::Limit;
    return is_over_ = true;
  }

  // Takes note of who has answered. Returns whether one has.
  bool note_answers() {
    bool has_news = false;
    std::erase_if(order_, [&](ActorId actor) {
      if (stage_.state(actor) == ActorState::Busy) return false;
      is_out_[actor] = false;
      is_parked_[actor] = false;
      answered_.push_back(actor);
      return has_news = true;
    });
    return has_news;
  }

  // Answers that came between two turns are told in an order that does not depend on chance: that
  // of the turn first, then those it let go, in the order in which they were sent.
  void tell_answers() {
    std::ranges::sort(answered_, {}, [&](ActorId actor) {
      return actor == last_ ? std::size_t{0} : sent_at_[actor];
    });
    for (const ActorId actor : answered_)
      played_.moments.push_back(
          {.kind = Moment::Kind::Answered, .actor = actor, .statement = last_sent(actor)});
    answered_.clear();
  }

  StatementId last_sent(ActorId actor) const { return {next_[actor].index - 1}; }

  void park(std::vector<Wait>& waits) {
    std::ranges::sort(waits, {}, &Wait::actor);
    for (Wait& wait : waits) {
      if (!is_out_[wait.actor] || is_parked_[wait.actor]) continue;
      is_parked_[wait.actor] = true;
      std::ranges::sort(wait.holders);
      played_.moments.push_back({.kind = Moment::Kind::Parked,
                                 .actor = wait.actor,
                                 .statement = last_sent(wait.actor),
                                 .holders = wait.holders});
    }
  }

  // Does every actor whose statement is out wait, and not for what will move by itself: a session
  // outside, or each other, which the server will end?
  bool is_at_rest(const std::vector<Wait>& waits) const {
    ById<ActorId, const Wait*> of(stage_.size(), nullptr);
    for (const Wait& wait : waits) of[wait.actor] = &wait;
    for (const ActorId actor : order_)
      if (of[actor] == nullptr || of[actor]->is_outside) return false;
    // Remove those that wait for no waiting actor, again and again; a cycle stays.
    ById<ActorId, bool> is_free(stage_.size());
    for (const ActorId actor : stage_.actors()) is_free[actor] = !is_out_[actor];
    bool has_changed = true;
    while (has_changed) {
      has_changed = false;
      for (const ActorId actor : order_) {
        if (is_free[actor]) continue;
        if (!std::ranges::all_of(of[actor]->holders, [&](ActorId h) { return is_free[h]; }))
          continue;
        is_free[actor] = has_changed = true;
      }
    }
    return std::ranges::find(is_free, false) == is_free.end();
  }

  Stage& stage_;
  const Schedule& schedule_;
  Budget& budget_;
  ById<ActorId, StatementId> next_;     // the next one of each actor
  ById<ActorId, std::size_t> sent_at_;  // when the last of them was sent: the number of the turn
  std::size_t turns_taken_ = 0;
  ActorId last_ = {};              // whose turn it was
  ById<ActorId, bool> is_out_;     // has a statement that is not answered
  ById<ActorId, bool> is_parked_;  // and that is known to wait
  std::vector<bool> is_used_;      // by turn
  std::size_t first_left_ = 0;     // turns before it are used
  std::size_t latest_ = 0;         // the turn furthest in the plan that was taken
  std::vector<ActorId> order_;     // who has a statement out, in the order of sending
  std::vector<ActorId> answered_;  // to be reported
  bool is_over_ = false;
  Played played_;
};

}  // namespace

Result<Played> play(Stage& stage, const Schedule& schedule, Budget& budget) {
  return Player(stage, schedule, budget).play();
}

}  // namespace isoscope::force
