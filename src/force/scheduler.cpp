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
        sent_(stage.size(), 0),
        sent_at_(stage.size(), 0),
        is_out_(stage.size(), false),
        is_parked_(stage.size(), false),
        is_used_(schedule.turns.size(), false) {}

  Result<Played> play() {
    if (auto calm = settle(); !calm) return calm.error();
    while (!is_over_) {
      bool was_put_off = false;
      const std::optional<std::size_t> actor = next_actor(was_put_off);
      if (!actor) break;
      if (auto turn = take_turn(*actor, was_put_off); !turn) return turn.error();
    }
    if (!is_over_ && std::ranges::find(is_out_, true) != is_out_.end())
      played_.end = Played::End::Stuck;
    return std::move(played_);
  }

 private:
  // Whose turn it is: the first turn that is left, of an actor that does not wait.
  std::optional<std::size_t> next_actor(bool& was_put_off) {
    std::vector<bool> is_passed(stage_.size());
    for (std::size_t i = first_left_; i < schedule_.turns.size(); ++i) {
      const std::size_t actor = schedule_.turns[i];
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
    const auto has_more = [&](std::size_t actor) {
      const ActorState state = stage_.state(actor);
      return state == ActorState::Ready || state == ActorState::Thinking;
    };
    if (schedule_.rest_goes_on && last_ < stage_.size() && has_more(last_)) return last_;
    for (std::size_t actor = 0; actor < stage_.size(); ++actor)
      if (has_more(actor)) return actor;
    return std::nullopt;
  }
  // A turn was put off if one behind it in the plan came before it.
  bool has_been_passed(std::size_t turn) const { return turn < latest_; }
  void mark_passed(std::size_t turn) { latest_ = std::max(latest_, turn); }

  Result<void> take_turn(std::size_t actor, bool was_put_off) {
    while (stage_.state(actor) == ActorState::Thinking) {
      if (auto pumped = stage_.pump(kLongestLookMilliseconds); !pumped) return pumped.error();
      note_answers();
      tell_answers();
      if (stop_at_limit()) return {};
    }
    if (stage_.state(actor) == ActorState::Done) {
      played_.moments.push_back(
          {.kind = Moment::Kind::Forfeited, .actor = actor, .statement = sent_[actor]});
      return {};
    }
    played_.moments.push_back({.kind = Moment::Kind::Sent,
                               .actor = actor,
                               .statement = sent_[actor],
                               .was_put_off = was_put_off});
    ++sent_[actor];
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

  // Takes note of who has answered. Returns whether somebody has.
  bool note_answers() {
    bool has_news = false;
    std::erase_if(order_, [&](std::size_t actor) {
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
    std::ranges::sort(answered_, {}, [&](std::size_t actor) {
      return actor == last_ ? std::size_t{0} : sent_at_[actor];
    });
    for (const std::size_t actor : answered_)
      played_.moments.push_back(
          {.kind = Moment::Kind::Answered, .actor = actor, .statement = sent_[actor] - 1});
    answered_.clear();
  }

  void park(std::vector<Wait>& waits) {
    std::ranges::sort(waits, {}, &Wait::actor);
    for (Wait& wait : waits) {
      if (!is_out_[wait.actor] || is_parked_[wait.actor]) continue;
      is_parked_[wait.actor] = true;
      std::ranges::sort(wait.holders);
      played_.moments.push_back({.kind = Moment::Kind::Parked,
                                 .actor = wait.actor,
                                 .statement = sent_[wait.actor] - 1,
                                 .holders = wait.holders});
    }
  }

  // Does everybody whose statement is out wait, and not for what will move by itself: somebody
  // outside, or each other, which the server will end?
  bool is_at_rest(const std::vector<Wait>& waits) const {
    std::vector<const Wait*> of(stage_.size(), nullptr);
    for (const Wait& wait : waits) of[wait.actor] = &wait;
    for (const std::size_t actor : order_)
      if (of[actor] == nullptr || of[actor]->is_outside) return false;
    // Remove those who wait for nobody that waits, again and again; a cycle stays.
    std::vector<bool> is_free(stage_.size());
    for (std::size_t actor = 0; actor < stage_.size(); ++actor) is_free[actor] = !is_out_[actor];
    bool has_changed = true;
    while (has_changed) {
      has_changed = false;
      for (const std::size_t actor : order_) {
        if (is_free[actor]) continue;
        if (!std::ranges::all_of(of[actor]->holders, [&](std::size_t h) { return is_free[h]; }))
          continue;
        is_free[actor] = has_changed = true;
      }
    }
    return std::ranges::find(is_free, false) == is_free.end();
  }

  Stage& stage_;
  const Schedule& schedule_;
  Budget& budget_;
  std::vector<std::size_t> sent_;     // statements of each actor
  std::vector<std::size_t> sent_at_;  // when the last of them was sent: the number of the turn
  std::size_t turns_taken_ = 0;
  std::size_t last_ = 0;               // whose turn it was
  std::vector<bool> is_out_;           // has a statement that is not answered
  std::vector<bool> is_parked_;        // and that is known to wait
  std::vector<bool> is_used_;          // by turn
  std::size_t first_left_ = 0;         // turns before it are used
  std::size_t latest_ = 0;             // the turn furthest in the plan that was taken
  std::vector<std::size_t> order_;     // who has a statement out, in the order of sending
  std::vector<std::size_t> answered_;  // to be told
  bool is_over_ = false;
  Played played_;
};

}  // namespace

Result<Played> play(Stage& stage, const Schedule& schedule, Budget& budget) {
  return Player(stage, schedule, budget).play();
}

}  // namespace isoscope::force
