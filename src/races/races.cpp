#include "races/races.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "history/builder.h"
#include "races/run_locks.h"
#include "races/triangles.h"
#include "spec/serializable.h"
#include "verdict/verdict.h"

namespace isoscope::races {
namespace {

using Shapes = std::pair<std::size_t, std::size_t>;  // of transactions

// Which transactions touch a key, or lock a row.
struct Touches {
  std::vector<RunTxn> readers;
  std::vector<RunTxn> writers;
};

ById<KeyId, Touches> touches_of(const Run& run) {
  ById<KeyId, Touches> touched(run.keys.size());
  for (const RunTxn t : run.txns.ids()) {
    for (const Statement& statement : run.txns[t].statements) {
      for (const Read& read : statement.reads) {
        auto& readers = touched[read.key].readers;
        if (readers.empty() || readers.back() != t) readers.push_back(t);
      }
      for (const Write& write : statement.writes) {
        auto& writers = touched[write.key].writers;
        if (writers.empty() || writers.back() != t) writers.push_back(t);
      }
    }
  }
  return touched;
}

// Pairs that meet, of each pair of shapes the nearest first.
class Candidates {
 public:
  Candidates(const Run& run, std::size_t most_pairs) : run_(run), most_pairs_(most_pairs) {
    const auto touched = touches_of(run);
    for (const Touches& key : touched) {
      if (!key.writers.empty()) add_touching(key);
    }
    add_recreated();
  }

  // By pair of shapes: distance, first, second.
  std::map<Shapes, std::set<std::tuple<std::size_t, RunTxn, RunTxn>>> pairs;
  bool is_cut = false;  // pairs were left out

 private:
  void add_touching(const Touches& key) {
    std::vector<RunTxn> all = key.readers;
    all.insert(all.end(), key.writers.begin(), key.writers.end());
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    add_neighbours(key, all);
  }

  // A row that is made anew may have the old cells; those who lock it meet its maker all the same.
  void add_recreated() {
    std::map<RowId, Touches> rows;
    for (const Txn& txn : run_.txns) {
      for (const RowId row : txn.recreated) rows.try_emplace(row);
    }
    if (rows.empty()) return;
    for (const RunTxn t : run_.txns.ids()) {
      for (const Statement& statement : run_.txns[t].statements) {
        for (const Lock& lock : statement.locks) {
          if (const auto found = rows.find(lock.row); found != rows.end())
            found->second.readers.push_back(t);
        }
      }
      for (const RowId row : run_.txns[t].recreated) rows[row].writers.push_back(t);
    }
    for (const auto& [row, touches] : rows) add_touching(touches);
  }

  // A writer meets all that touch the key. Where there are too many of one shape, those that
  // are near.
  void add_neighbours(const Touches& key, const std::vector<RunTxn>& all) {
    for (const RunTxn writer : key.writers) {
      std::map<std::size_t, std::size_t> taken;
      const auto place = std::ranges::lower_bound(all, writer);
      const auto consider = [&](RunTxn other) {
        std::size_t& count = taken[run_.txns[other].shape];
        if (++count > kNear) {
          is_cut = true;
          return;
        }
        const auto [a, b] = std::minmax(writer, other);
        auto& found = pairs[std::minmax(run_.txns[a].shape, run_.txns[b].shape)];
        found.emplace(b.index - a.index, a, b);
        if (found.size() > most_pairs_) {
          is_cut = true;
          found.erase(std::prev(found.end()));
        }
      };
      auto before = place;
      auto after = place + 1;
      for (std::size_t steps = 0; steps < kWindow; ++steps) {
        if (before != all.begin()) consider(*--before);
        if (after != all.end()) consider(*after++);
      }
      if (before != all.begin() || after != all.end()) is_cut = true;
    }
  }

  static constexpr std::size_t kNear = 8;
  static constexpr std::size_t kWindow = 64;

  const Run& run_;
  std::size_t most_pairs_;
};

Value value_of(HistoryBuilder& builder, const std::string& text) {
  return text.empty() ? Value{} : builder.text(text);
}

::isoscope::LockMode mode_of(LockMode mode) {
  if (mode == LockMode::KeyShare) return ::isoscope::LockMode::KeyShare;
  return mode == LockMode::Share ? ::isoscope::LockMode::Share : ::isoscope::LockMode::Exclusive;
}

class RaceFinder {
 public:
  RaceFinder(const Run& run, const RaceOptions& options, const Level* level, Budget& budget)
      : run_(run), options_(options), level_(level), budget_(budget) {}

  RaceAnswer find() {
    answer_.transactions = run_.txns.size() - 1;
    answer_.shapes = run_.shapes;
    const Candidates candidates(run_, options_.most_pairs);
    bool is_cut = candidates.is_cut;
    for (const auto& [shapes, pairs] : candidates.pairs) {
      if (budget_.expired_now()) {
        answer_.limit = std::string(limit_reached());
        break;
      }
      try_shapes(pairs);
    }
    const auto limit = [&](bool holds, std::string why) {
      if (holds && answer_.limit.empty()) answer_.limit = std::move(why);
    };
    limit(answer_.pairs_with_gaps > 0,
          fmt::format("{} pairs of transactions meet where the recording has gaps",
                      answer_.pairs_with_gaps));
    limit(run_.gaps > 0, fmt::format("the recording has {} gaps", run_.gaps));
    limit(!open_.empty(), open_);
    limit(run_.rolled_back > 0 && options_.level != PgLevel::Serializable,
          fmt::format("{} transaction{} rolled back, and could have gone on had {} read something "
                      "else",
                      run_.rolled_back, run_.rolled_back == 1 ? " was" : "s were",
                      run_.rolled_back == 1 ? "it" : "they"));
    limit(is_disputed_, "the level's text does not allow what was found by the server's rules");
    limit(is_cut || is_cut_, "not all pairs of transactions were tried");
    if (answer_.limit.empty())
      limit(may_have_longer_cycle(run_, options_.level),
            "only two transactions at once were tried, and three could close a cycle");
    std::ranges::stable_sort(answer_.races, [](const Race& a, const Race& b) {
      return a.interleaving.changed.size() < b.interleaving.changed.size();
    });
    if (!answer_.races.empty())
      answer_.outcome = Outcome::Predicted;
    else if (answer_.limit.empty())
      answer_.outcome = Outcome::None;
    return std::move(answer_);
  }

 private:
  void try_shapes(const std::set<std::tuple<std::size_t, RunTxn, RunTxn>>& pairs) {
    SafePair safe;
    std::map<Guard, std::size_t> guards;
    std::map<Guard, Step> guarded_at;
    bool races = false;
    bool is_open = false;
    for (const auto& [distance, a, b] : pairs) {
      if (budget_.expired()) return;
      if (!run_.txns[a].gap.empty() || !run_.txns[b].gap.empty()) {
        ++answer_.pairs_with_gaps;
        continue;
      }
      Pair pair(
          run_, a, b,
          {.level = options_.level, .sessions_are_connections = options_.sessions_are_connections});
      if (!pair.may_overlap()) continue;
      ++answer_.pairs;
      PairAnswer tried = pair.explore();
      const bool tries = run_.txns[a].tries_locks || run_.txns[b].tries_locks;
      if ((tried.race || tries) && may_exclude_otherwise(run_, a, b)) {
        tried.race.reset();
        tried.is_open = true;
        ++tried.guards[Guard::OtherLocks];
        tried.guarded_at[Guard::OtherLocks] = {b, run_.txns[b].statements.size()};
      }
      if (tried.is_open) note_open(tried.guards);
      answer_.interleavings += tried.interleavings;
      is_cut_ |= tried.is_cut;
      if (tried.race && tell(pair, a, b, *tried.race)) {
        races = true;
        continue;
      }
      is_open |= tried.is_open;
      // A race that the level's text disputes is no proof that there is none.
      safe.is_decided &= !tried.is_open && !tried.is_cut && !tried.race;
      for (const auto& [guard, count] : tried.guards) guards[guard] += count;
      guarded_at.insert(tried.guarded_at.begin(), tried.guarded_at.end());
      if (safe.pairs++ == 0) std::tie(safe.first, safe.second) = std::pair(a, b);
    }
    if (races || safe.pairs == 0) return;
    safe.why = reasons(guards, guarded_at, safe, is_open);
    answer_.safe.push_back(std::move(safe));
  }

  void note_open(const std::map<Guard, std::size_t>& guards) {
    if (!open_.empty()) return;
    if (guards.contains(Guard::FurtherRows)) {
      open_ = "conditions would match rows that they did not match in the recording";
    } else if (guards.contains(Guard::FewerRows) || guards.contains(Guard::OtherWay)) {
      open_ = "statements would find fewer or other rows than in the recording";
    } else if (guards.contains(Guard::OtherAnswer)) {
      open_ = "applications would read something else than in the recording, and may act on it";
    } else if (guards.contains(Guard::Caught)) {
      open_ = "statements would fail behind a SAVEPOINT, and applications may go on from there";
    } else if (guards.contains(Guard::CoarseRead)) {
      open_ = "queries of several tables may depend on fewer rows than are recorded";
    } else {
      open_ = "advisory locks and locks of tables are not followed";
    }
  }

  std::vector<std::string> reasons(const std::map<Guard, std::size_t>& guards,
                                   const std::map<Guard, Step>& guarded_at, const SafePair& safe,
                                   bool is_open) const {
    std::vector<std::string> why;
    for (const auto& [guard, count] : guards) {
      const Step& step = guarded_at.at(guard);
      const auto& statements = run_.txns[step.txn].statements;
      const std::string shape =
          step.statement < statements.size() ? statements[step.statement].shape : "COMMIT";
      const bool both_lock =
          run_.txns[safe.first].holds_other_locks && run_.txns[safe.second].holds_other_locks;
      if (is_open || !is_about_rows(guard)) why.push_back(guard_text(guard, shape, both_lock));
    }
    const bool is_single = run_.txns[safe.first].statements.size() == 1 &&
                           run_.txns[safe.second].statements.size() == 1;
    if (why.empty())
      why.emplace_back(is_single ? "each is one statement, which takes rows as they are"
                                 : "they meet only so that one order explains what both see");
    return why;
  }

  // Reports the race, unless one with the same statements is known. False: it is not a race.
  bool tell(const Pair& pair, RunTxn a, RunTxn b, Interleaving& found) {
    std::set<std::string> sides = {side_text(found.forth.from, found.forth.from_statement) + "\n" +
                                       side_text(found.back.to, found.back.to_statement),
                                   side_text(found.forth.to, found.forth.to_statement) + "\n" +
                                       side_text(found.back.from, found.back.from_statement)};
    const auto known = groups_.find(sides);
    if (known != groups_.end()) {
      ++answer_.races[known->second].pairs;
      return true;
    }
    if (answer_.races.size() >= options_.most) {
      is_cut_ = true;
      return true;
    }
    auto race = confirmed(pair, a, b, found);
    if (!race) return false;
    groups_.emplace(std::move(sides), answer_.races.size());
    answer_.races.push_back(std::move(*race));
    return true;
  }

  std::string side_text(RunTxn t, std::size_t statement) const {
    return run_.txns[t].statements[statement].shape;
  }

  // The predicted history: what is kept of the run, and the two as they would be.
  std::optional<Race> confirmed(const Pair& pair, RunTxn a, RunTxn b, Interleaving& found) {
    HistoryBuilder builder(InitialValues::Nil);
    std::vector<RunTxn> members;
    for (RunTxn t{1}; t < a; ++t) members.push_back(t);
    members.insert(members.end(), pair.before().begin(), pair.before().end());
    members.push_back(a);
    members.insert(members.end(), pair.after().begin(), pair.after().end());
    members.push_back(b);
    keep_needed(members, a, b, found);
    const std::vector<RunTxn> commits = commit_order(members, a, b, found.first_commits_last);
    std::vector<RunTxn> observed = {kT0};
    for (const Key& key : run_.keys) {
      if (!key.initial.empty())
        builder.set_initial(builder.key(key.name), builder.text(key.initial), {});
    }
    for (const RunTxn t : members) {
      const Txn& txn = run_.txns[t];
      const auto id = builder.begin(session(builder, t), TxnStatus::Committed, {});
      builder.set_name(id, txn.name);
      builder.set_commit_number(id, 1 + (std::ranges::find(commits, t) - commits.begin()));
      observed.push_back(t);
      const auto changed = found.reads.find(t);
      for (std::size_t i = 0; i < txn.statements.size(); ++i) {
        const Statement& statement = txn.statements[i];
        builder.begin_statement(id);
        for (std::size_t j = 0; j < statement.reads.size(); ++j) {
          const RunTxn from =
              changed == found.reads.end() ? statement.reads[j].writer : changed->second[i][j];
          builder.read_from(id, builder.key(run_.keys[statement.reads[j].key].name),
                            run_.txns[from].name, {});
        }
        for (const Write& write : statement.writes) {
          const KeyId x = builder.key(run_.keys[write.key].name);
          const Value value = value_of(builder, run_.value(write.key, t));
          if (write.inserts) {
            builder.insert(id, x, value, {});
          } else {
            builder.write(id, x, value, {});
          }
        }
        for (const Lock& lock : statement.locks) {
          if (lock.is_explicit && lock.until == kNothing)
            builder.lock(id, builder.text(run_.rows[lock.row]), mode_of(lock.mode), {});
        }
      }
      builder.end_statement(id);
    }
    auto history = std::move(builder).build(&budget_);
    if (!history) return std::nullopt;
    CheckAnswer unserializable = check(*history, serializable_level(), budget_);
    is_cut_ |= unserializable.verdict.outcome != Outcome::Violated;
    if (unserializable.verdict.outcome != Outcome::Violated) return std::nullopt;
    std::optional<CheckAnswer> allowed;
    if (level_ != nullptr) {
      allowed = check(*history, *level_, budget_);
      if (allowed->verdict.outcome == Outcome::Violated) {
        is_disputed_ = true;
        return std::nullopt;
      }
    }
    Race race{.first = a,
              .second = b,
              .interleaving = found,
              .pairs = 1,
              .history = *std::move(history),
              .observed = std::move(observed),
              .unserializable = std::move(unserializable),
              .allowed = std::move(allowed),
              .assumes = assumptions(found)};
    return race;
  }

  // Those before A as they committed, then A, those after it, and B, or B first. Requires: B is the
  // last of `members`.
  std::vector<RunTxn> commit_order(std::vector<RunTxn> members, RunTxn a, RunTxn b,
                                   bool second_first) const {
    const auto first = std::ranges::find(members, a);
    std::stable_sort(members.begin(), first, [this](RunTxn t, RunTxn u) {
      return run_.txns[t].commit < run_.txns[u].commit;
    });
    if (!second_first) return members;
    members.pop_back();
    members.insert(std::ranges::find(members, a), b);
    return members;
  }

  // Leaves out transactions that no one of the prediction read from: they explain nothing.
  void keep_needed(std::vector<RunTxn>& members, RunTxn a, RunTxn b,
                   const Interleaving& found) const {
    std::set<RunTxn> needed = {a, b};
    std::vector<RunTxn> open = {a, b};
    const auto need = [&](RunTxn t) {
      if (t != kT0 && needed.insert(t).second) open.push_back(t);
    };
    while (!open.empty()) {
      const RunTxn t = open.back();
      open.pop_back();
      const auto changed = found.reads.find(t);
      const auto& statements = run_.txns[t].statements;
      for (std::size_t i = 0; i < statements.size(); ++i) {
        for (std::size_t j = 0; j < statements[i].reads.size(); ++j)
          need(changed == found.reads.end() ? statements[i].reads[j].writer
                                            : changed->second[i][j]);
      }
    }
    std::erase_if(members, [&](RunTxn t) { return !needed.contains(t); });
  }

  SessionId session(HistoryBuilder& builder, RunTxn t) const {
    const Txn& txn = run_.txns[t];
    if (options_.sessions_are_connections) return builder.session(txn.session);
    std::size_t number = 1;
    for (RunTxn u{1}; u < t; ++u) number += run_.txns[u].session == txn.session ? 1 : 0;
    return builder.session(number == 1 ? txn.session : fmt::format("{}.{}", txn.session, number));
  }

  // What is written after a read that changes may be computed from it.
  std::vector<std::string> assumptions(const Interleaving& found) const {
    std::set<std::string> told;
    for (const ChangedVersion& changed : found.changed) {
      const auto& statements = run_.txns[changed.txn].statements;
      const Key& key = run_.keys[changed.key];
      const auto& writes = statements[changed.statement].writes;
      const bool computes = std::ranges::any_of(writes, [&](const Write& write) {
        return key.kind == KeyKind::Cell && run_.keys[write.key].row == key.row;
      });
      if (computes)
        told.insert(
            fmt::format("no constraint of the table refuses what {}.{} computes from {} of {}",
                        run_.txns[changed.txn].name, changed.statement + 1, key.name,
                        run_.txns[changed.predicted].name));
      for (std::size_t i = changed.statement + 1; i < statements.size(); ++i) {
        if (statements[i].writes.empty()) continue;
        told.insert(fmt::format(
            "{} goes on as it did after it has read {} from {}: what it writes then is computed by "
            "the application, which may also decide otherwise",
            run_.txns[changed.txn].name, run_.keys[changed.key].name,
            run_.txns[changed.predicted].name));
        break;
      }
    }
    return {told.begin(), told.end()};
  }

  const Run& run_;
  const RaceOptions& options_;
  const Level* level_;
  Budget& budget_;
  RaceAnswer answer_;
  std::map<std::set<std::string>, std::size_t> groups_;
  bool is_cut_ = false;
  std::string open_;          // why some pairs have no known end; empty if all have
  bool is_disputed_ = false;  // the level's text forbids what the rules of the server allow
};

}  // namespace

RaceAnswer find_races(const Run& run, const RaceOptions& options, const Level* level,
                      Budget& budget) {
  return RaceFinder(run, options, level, budget).find();
}

std::optional<PgLevel> server_level(std::string_view name) {
  const auto level = sql::server::find_pg_level(name);
  return level && name_of(*level) == name ? level : std::nullopt;
}

}  // namespace isoscope::races
