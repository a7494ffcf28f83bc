#pragma once
// The whole prediction space of a small history, one history after the other: every cut, every set
// of boundary transactions, every choice of writers. Shares nothing with the engine but the words
// of predict.h.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "history/builder.h"
#include "predict/pco.h"
#include "predict/predict.h"
#include "spec/brute_force.h"

namespace isoscope::predict {

struct BruteAnswer {
  bool is_predicted = false;
  std::size_t fewest_events = 0;  // changed reads
  std::size_t fewest_keys = 0;    // changed (transaction, key)
  bool is_pco_cyclic = false;     // one of them is so by the paper's condition
};

class BrutePredictor {
 public:
  BrutePredictor(const History& h, const Level& level, Boundary boundary, bool later_writes_count)
      : h_(h), level_(level), boundary_(boundary), later_writes_count_(later_writes_count) {
    for (const SessionId s : h.sessions()) {
      const auto txns = h.session_txns(s);
      sessions_.emplace_back(txns.begin(), txns.end());
    }
    ends_.resize(sessions_.size());
  }

  BruteAnswer run() {
    choose_session(0);
    return answer_;
  }

 private:
  struct End {
    std::size_t kept = 0;
    bool is_bound = false;
    EventId stop = EventId::none();
  };

  bool is_kept(TxnId t) const {
    if (t == kInitialTxn) return true;
    for (std::size_t s = 0; s < sessions_.size(); ++s) {
      for (std::size_t i = 0; i < ends_[s].kept; ++i) {
        if (sessions_[s][i] == t) return true;
      }
    }
    return false;
  }

  // May others read x from w: is it kept, or, under strict+, does it stop after its last write?
  bool shows(TxnId w, KeyId x) const {
    if (is_kept(w)) return true;
    if (boundary_ != Boundary::StrictPlus) return false;
    for (std::size_t s = 0; s < sessions_.size(); ++s) {
      if (!ends_[s].is_bound || sessions_[s][ends_[s].kept] != w) continue;
      for (const EventId e : h_.events(w)) {
        if (h_.is_write(e) && h_.key(e) == x && ends_[s].stop < e) return false;
      }
      return true;
    }
    return false;
  }

  void choose_session(std::size_t s) {
    if (s == sessions_.size()) {
      for (std::size_t i = 0; i < s; ++i) {
        for (std::size_t j = 0; j < ends_[i].kept; ++j) {
          for (const EventId e : h_.events(sessions_[i][j])) {
            if (h_.is_read(e) && h_.is_external_read(e) && !shows(h_.writer(e), h_.key(e))) return;
          }
        }
      }
      std::vector<EventId> free;
      for (std::size_t i = 0; i < s; ++i) {
        if (!ends_[i].is_bound) continue;
        for (const EventId e : h_.events(sessions_[i][ends_[i].kept])) {
          if (!h_.is_read(e) || !h_.is_external_read(e)) continue;
          if (boundary_ == Boundary::Relaxed || e == ends_[i].stop) {
            free.push_back(e);
          } else if (e < ends_[i].stop && !shows(h_.writer(e), h_.key(e))) {
            return;
          }
        }
      }
      choose_writer(free, 0);
      return;
    }
    for (std::size_t kept = 0; kept <= sessions_[s].size(); ++kept) {
      ends_[s] = {.kept = kept};
      choose_session(s + 1);
      if (kept == sessions_[s].size()) continue;
      if (boundary_ == Boundary::Relaxed) {
        ends_[s] = {.kept = kept, .is_bound = true};
        choose_session(s + 1);
        continue;
      }
      for (const EventId e : h_.events(sessions_[s][kept])) {
        if (!h_.is_read(e) || !h_.is_external_read(e)) continue;
        ends_[s] = {.kept = kept, .is_bound = true, .stop = e};
        choose_session(s + 1);
      }
    }
    ends_[s] = {};
  }

  void choose_writer(const std::vector<EventId>& free, std::size_t i) {
    if (i == free.size()) return judge(free);
    for (const TxnId w : h_.writers(h_.key(free[i]))) {
      if (!shows(w, h_.key(free[i])) || w == h_.txn(free[i])) continue;
      if (boundary_ != Boundary::Relaxed && w == h_.writer(free[i])) continue;
      chosen_.push_back(w);
      choose_writer(free, i + 1);
      chosen_.pop_back();
    }
  }

  // With statements and locks, as the observed run has them. `for_level`: what the level is asked
  // about; it may count more than serial orders do.
  std::optional<History> build(const std::vector<EventId>& free, bool for_level) const {
    const bool with_later_writes = for_level && later_writes_count_;
    const bool with_own_reads = for_level && level_.framework == Framework::CoSnap;
    HistoryBuilder builder(InitialValues::None);
    for (std::size_t s = 0; s < sessions_.size(); ++s) {
      const SessionId session = builder.session(h_.name(SessionId{static_cast<std::uint32_t>(s)}));
      const std::size_t size = ends_[s].kept + (ends_[s].is_bound ? 1 : 0);
      for (std::size_t i = 0; i < size; ++i) {
        const TxnId t = sessions_[s][i];
        const TxnId copy = builder.begin(session, TxnStatus::Committed, {});
        builder.set_name(copy, h_.name(t));
        const bool stops = i == ends_[s].kept && !ends_[s].stop.is_none();
        std::uint32_t begun = 0;
        const auto reach = [&](std::uint32_t statement) {
          for (; h_.has_statements() && begun <= statement; ++begun) builder.begin_statement(copy);
        };
        std::vector<RowLock> locks(h_.locks(t).begin(), h_.locks(t).end());
        const auto lock_before = [&](EventId e) {
          while (!locks.empty() && (e.is_none() || locks.front().before <= e)) {
            reach(locks.front().statement);
            builder.lock(copy, builder.text(h_.name(locks.front().row)), locks.front().mode, {});
            locks.erase(locks.begin());
          }
        };
        for (const EventId e : h_.events(t)) {
          const KeyId x = builder.key(h_.name(h_.key(e)));
          const bool is_later = stops && ends_[s].stop < e;
          if (is_later && !with_later_writes) break;
          lock_before(e);
          reach(h_.has_statements() ? h_.statement(e) : 0);
          if (h_.is_write(e)) {
            if (h_.is_insert(e)) {
              builder.insert(copy, x, h_.value(e), {});
            } else {
              builder.write(copy, x, h_.value(e), {});
            }
          } else if (!is_later && with_own_reads && !h_.is_external_read(e)) {
            builder.read_from(copy, x, h_.name(t), {});
          } else if (!is_later && h_.is_external_read(e)) {
            const auto found = std::find(free.begin(), free.end(), e);
            const TxnId w = found == free.end()
                                ? h_.writer(e)
                                : chosen_[static_cast<std::size_t>(found - free.begin())];
            builder.read_from(copy, x, h_.name(w), {});
          }
        }
        if (!stops || with_later_writes) lock_before(EventId::none());
      }
    }
    for (const KeyId x : h_.keys())
      builder.set_initial(builder.key(h_.name(x)), h_.initial_value(x), {});
    Result<History> built = std::move(builder).build();
    if (!built) return std::nullopt;
    return std::move(*built);
  }

  void judge(const std::vector<EventId>& free) {
    std::size_t events = 0;
    std::set<std::pair<TxnId, KeyId>> keys;
    for (std::size_t i = 0; i < free.size(); ++i) {
      if (chosen_[i] == h_.writer(free[i])) continue;
      ++events;
      keys.insert({h_.txn(free[i]), h_.key(free[i])});
    }
    if (events == 0) return;
    if (answer_.is_pco_cyclic && events >= answer_.fewest_events &&
        keys.size() >= answer_.fewest_keys)
      return;
    const auto serial = build(free, false);
    const auto longer = build(free, true);
    if (!serial || !longer) return;
    if (BruteForce(*serial).decide(**LevelSet::built_in().find("ser"))) return;
    if (!BruteForce(*longer).decide(level_)) return;
    answer_.fewest_events = answer_.is_predicted ? std::min(answer_.fewest_events, events) : events;
    answer_.fewest_keys =
        answer_.is_predicted ? std::min(answer_.fewest_keys, keys.size()) : keys.size();
    answer_.is_predicted = true;
    answer_.is_pco_cyclic = answer_.is_pco_cyclic || is_pco_cyclic(*serial);
  }

  const History& h_;
  const Level& level_;
  Boundary boundary_;
  bool later_writes_count_;
  std::vector<std::vector<TxnId>> sessions_;
  std::vector<End> ends_;
  std::vector<TxnId> chosen_;
  BruteAnswer answer_;
};

}  // namespace isoscope::predict
