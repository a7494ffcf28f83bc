#include "audit/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "audit/anomaly_name.h"
#include "audit/earliest.h"
#include "audit/improve.h"
#include "audit/server_levels.h"

namespace isoscope::audit {

namespace {

// Spurious runs of one cycle and prefix before the search gives up on it, and before it gives up
// on one visibility and arbitration.
constexpr std::size_t kMaxSpurious = 40;
constexpr std::size_t kMaxSpuriousOfShape = 8;
// Runs of one cycle and prefix that show a shorter anomaly again.
constexpr std::size_t kMaxRepeats = 12;

// Is there a write of this kind?
template <class Kind>
bool has_write(std::span<const sql::Statement> body, sql::TableId table) {
  return std::ranges::any_of(body, [&](const sql::Statement& statement) {
    const auto* write = statement.find<Kind>();
    return (write != nullptr && write->table == table) ||
           has_write<Kind>(statement.body(), table) ||
           has_write<Kind>(statement.otherwise(), table);
  });
}

void add(Effort& total, const Effort& part) {
  total.questions += part.questions;
  total.building_seconds += part.building_seconds;
  total.solving_seconds += part.solving_seconds;
}

// Distinct anomalies differ in their functions or in the kinds of their edges.
using Signature = std::pair<std::vector<sql::FunctionId>, std::vector<EdgeKind>>;

Signature signature_of(const FoundAnomaly& anomaly) {
  Signature signature{anomaly.functions, anomaly.kinds};
  std::ranges::sort(signature.first);
  std::ranges::sort(signature.second);
  return signature;
}

// The functions on the shortest cycle of a run, sorted.
std::vector<sql::FunctionId> functions_on_cycle(const FoundAnomaly& anomaly) {
  std::vector<sql::FunctionId> functions;
  for (const ReplayEdge& edge : anomaly.replay.cycle)
    functions.push_back(anomaly.scenario.calls[edge.from].function);
  std::ranges::sort(functions);
  return functions;
}

class Search {
 public:
  Search(const Problem& problem, OpenWorld& open, const SearchOptions& options, Budget& budget)
      : problem_(problem),
        open_(open),
        options_(options),
        budget_(budget),
        paths_(problem, open, budget) {}

  SearchReport run() {
    std::vector<sql::FunctionId> functions = options_.functions;
    if (functions.empty()) {
      for (const sql::FunctionId f : problem_.app.function_ids()) functions.push_back(f);
    }
    for (std::size_t length = 2; length <= options_.max_length && !is_done(); ++length) {
      report_.lengths.push_back({.length = length});
      if (look_at_length(functions, report_.lengths.back()) || is_done()) continue;
      report_.lengths.back().is_cut = true;
      report_.is_stopped = true;
      break;
    }
    add(report_.effort, open_.effort());
    return std::move(report_);
  }

 private:
  // An anomaly is found, and one is enough.
  bool is_done() const { return !options_.all && !report_.anomalies.empty(); }

  // True if it looked at all cycles.
  bool look_at_length(const std::vector<sql::FunctionId>& functions, LengthReport& length) {
    try {
      return look_at_cycles(functions, length);
    } catch (const SmtStopped&) {
      return false;  // in the middle of asking what may be a cycle
    }
  }

  bool look_at_cycles(const std::vector<sql::FunctionId>& functions, LengthReport& length) {
    tell(length, 0);
    // Shorter ones that are in no execution are no part of longer ones.
    const auto cycles = paths_.cycles(functions, length.length, chords_);
    if (!cycles) return false;
    length.cycles = count_cycles(
        functions, length.length,
        [&](sql::FunctionId f, sql::FunctionId g) { return open_.may_depend(f, g, budget_); });
    const std::size_t impossible = length.cycles - cycles->size();
    for (std::size_t i = 0; i < cycles->size(); ++i) {
      tell(length, static_cast<double>(i) / static_cast<double>(cycles->size()));
      if (budget_.expired_now()) return end_early(length);
      look_at((*cycles)[i], length);
      if (is_done()) return end_early(length);
    }
    length.impossible += impossible;
    if (length.impossible != length.cycles) chords_ = Chords::Allowed;
    return true;
  }

  // What was not looked at does not count.
  static bool end_early(LengthReport& length) {
    length.cycles = length.impossible + length.found + length.unrealized + length.unknown;
    return false;
  }

  void tell(const LengthReport& length, double fraction) const {
    if (options_.progress)
      options_.progress(fmt::format("looking at cycles of {} calls", length.length), fraction);
  }

  // What becomes of a cycle that shows no anomaly.
  enum class Fate : std::uint8_t { Impossible, Unrealized, Unknown };

  void look_at(const FunctionCycle& cycle, LengthReport& length) {
    const std::size_t before = report_.anomalies.size();
    Fate fate = Fate::Unknown;
    try {
      if (is_impossible(cycle)) {
        fate = Fate::Impossible;
      } else if (std::string why = why_without_runs(cycle); !why.empty()) {
        note_undecided(std::move(why));
      } else {
        fate = look_for_runs(cycle, length);
      }
    } catch (const SmtStopped&) {
      // The budget is over in the middle of a question: anomalies found so far count.
    }
    if (report_.anomalies.size() > before) {
      ++length.found;
      return;
    }
    switch (fate) {
      case Fate::Impossible: ++length.impossible; break;
      case Fate::Unrealized: ++length.unrealized; break;
      case Fate::Unknown: ++length.unknown; break;
    }
  }

  // In no execution at all.
  bool is_impossible(const FunctionCycle& cycle) {
    if (open_.is_protected(cycle)) return true;
    const std::vector<Member> cast = open_.cast(cycle);
    return open_.ask(cast, cycle_of(open_.world(), cast, chords_), budget_) == SmtResult::Unsat;
  }

  // Whether the server would let such runs commit is not known, so that none is an anomaly. Empty
  // if it is known.
  std::string why_without_runs(const FunctionCycle& cycle) const {
    const bool is_serializable = std::ranges::all_of(
        cycle, [&](sql::FunctionId f) { return &problem_.levels.of(f) == &pg_serializable(); });
    return is_serializable ? unnoticed(problem_.app) : "";
  }
  void note_undecided(std::string why) {
    if (report_.why_undecided.empty()) report_.why_undecided = std::move(why);
  }

  // With ever longer prefixes, until there is an anomaly.
  Fate look_for_runs(const FunctionCycle& cycle, LengthReport& length) {
    const std::size_t before = report_.anomalies.size();
    bool is_unknown = false;
    std::vector<std::vector<sql::FunctionId>> prefixes = {{}};
    for (std::size_t i = 0; i < prefixes.size(); ++i) {
      if (budget_.expired_now()) return Fate::Unknown;
      ClosedWorld closed(problem_, cycle, prefixes[i], budget_);
      is_unknown = !realize(cycle, closed, length) || is_unknown;
      add(report_.effort, closed.effort());
      if (report_.anomalies.size() > before) break;  // longer prefixes tell the same story
      if (prefixes[i].size() < kMaxPrefix) add_longer(prefixes, i, closed.blamed());
    }
    return is_unknown ? Fate::Unknown : Fate::Unrealized;
  }

  // Adds what the i-th prefix becomes with one call more, which gives rows to a table to blame.
  void add_longer(std::vector<std::vector<sql::FunctionId>>& prefixes, std::size_t i,
                  const std::vector<sql::TableId>& blamed) const {
    for (const sql::TableId table : blamed) {
      const auto inserts = [&](sql::FunctionId f) {
        return has_write<sql::Insert>(problem_.app.function(f).body, table);
      };
      const auto updates = [&](sql::FunctionId f) {
        return has_write<sql::Update>(problem_.app.function(f).body, table);
      };
      // Rows that are there by now may still have to be changed.
      const bool has_rows = std::ranges::any_of(prefixes[i], inserts);
      for (const sql::FunctionId f : problem_.app.function_ids()) {
        if (!inserts(f) && !(has_rows && updates(f))) continue;
        std::vector<sql::FunctionId> longer = prefixes[i];
        longer.push_back(f);
        std::ranges::sort(longer);
        if (std::ranges::find(prefixes, longer) == prefixes.end())
          prefixes.push_back(std::move(longer));
      }
    }
  }

  // Adds the anomalies of this cycle and prefix, one for each set of edge kinds that is not known
  // yet; without `all`, one. False if the solver does not know.
  bool realize(const FunctionCycle& cycle, ClosedWorld& closed, LengthReport& length) {
    std::size_t num_spurious = 0;
    std::size_t num_repeats = 0;
    bool is_exhaustive = true;
    for (;;) {
      switch (closed.find(budget_)) {
        case SmtResult::Unknown: return false;
        case SmtResult::Unsat: return is_exhaustive;
        case SmtResult::Sat: break;
      }
      FoundAnomaly anomaly{cycle, closed.kinds(), closed.scenario(), {}, {}};
      auto run = replay(problem_, anomaly.scenario, budget_);
      if (!run) return false;
      anomaly.replay = *std::move(run);
      doubt(anomaly.replay);
      if (anomaly.replay.label == Label::Spurious || anomaly.replay.label == Label::Undecided) {
        if (anomaly.replay.label == Label::Undecided) {
          is_exhaustive = false;
          note_undecided(anomaly.replay.why);
        }
        ++length.spurious;
        ++num_spurious;
        if (num_spurious % kMaxSpuriousOfShape == 0 || num_spurious == kMaxSpurious)
          note_undecided(fmt::format(
              "runs of the model are no anomalies when they are executed, and not "
              "all of them were tried{}{}",
              anomaly.replay.why.empty() ? "" : "; of the last one: ", anomaly.replay.why));
        if (num_spurious == kMaxSpurious) return false;
        if (num_spurious % kMaxSpuriousOfShape == 0) {
          closed.exclude_shape();
          is_exhaustive = false;
        } else {
          closed.exclude_model();
        }
        continue;
      }
      const Kinds kinds = anomaly.kinds;
      // With a passer-by, an anomaly of fewer calls is not a new one.
      const bool is_repeat = anomaly.replay.cycle.size() < cycle.size() &&
                             shown_.contains(functions_on_cycle(anomaly));
      if (!is_repeat) add_anomaly(std::move(anomaly));
      if (is_done() || (is_repeat && ++num_repeats == kMaxRepeats)) return true;
      closed.exclude_model();
      closed.exclude_kinds(kinds);
    }
  }

  // A rule of a table that is not modelled might refuse the run.
  void doubt(Replay& run) const {
    if (run.label != Label::Observable && run.label != Label::ViewOnly) return;
    for (const sql::Note& note : problem_.app.notes) {
      const bool is_met = note.table && std::ranges::any_of(run.traces, [&](const auto& t) {
                            return meets_rule(t, note);
                          });
      if (!is_met) continue;
      run.label = Label::Undecided;
      run.why =
          fmt::format("line {} may forbid the runs that are found: {}", note.where.line, note.what);
      return;
    }
  }
  bool meets_rule(const CallTrace& trace, const sql::Note& note) const {
    const auto is_of_table = [&](const auto& access) { return access.first.table == note.table; };
    const auto is_looked_at = [&](const auto& write) {
      if (!is_of_table(write) || write.first.attribute.is_entry()) return false;
      if (!note.columns) return true;
      if (write.first.attribute == kPresence) return write.second == sql::Value(true);
      return std::ranges::find(*note.columns, write.first.attribute.column()) !=
             note.columns->end();
    };
    return std::ranges::any_of(trace.writes, is_looked_at) ||
           (!note.columns && std::ranges::any_of(trace.reads, is_of_table));
  }

  // A better one to look at, unless it meets a rule that the one that was found does not.
  void improve(FoundAnomaly& anomaly) const {
    Scenario scenario = anomaly.scenario;
    Replay run = anomaly.replay;
    // Where few rows are left, one less may make the difference.
    minimize_calls(problem_, scenario, run, budget_);
    minimize_rows(problem_, scenario, run, budget_);
    make_observable(problem_, scenario, run, budget_);
    minimize_rows(problem_, scenario, run, budget_);
    doubt(run);
    if (run.label == Label::Undecided) return;
    anomaly.scenario = std::move(scenario);
    anomaly.replay = std::move(run);
  }

  void add_anomaly(FoundAnomaly anomaly) {
    improve(anomaly);
    anomaly.name = name_of(anomaly.replay);
    shown_.insert(functions_on_cycle(anomaly));
    if (known_.insert(signature_of(anomaly)).second)
      report_.anomalies.push_back(std::move(anomaly));
  }

  const Problem& problem_;
  OpenWorld& open_;
  const SearchOptions& options_;
  Budget& budget_;
  EarliestPaths paths_;
  Chords chords_ = Chords::None;  // as long as no execution has a shorter cycle
  SearchReport report_;
  std::set<Signature> known_;
  std::set<std::vector<sql::FunctionId>> shown_;  // functions of anomalies so far
};

}  // namespace

bool SearchReport::is_complete() const {
  return !is_stopped &&
         std::ranges::all_of(lengths, [](const LengthReport& l) { return l.unknown == 0; });
}

bool SearchReport::is_proof() const {
  return !is_stopped && std::ranges::all_of(lengths, [](const LengthReport& l) {
    return l.impossible == l.cycles;
  });
}

SearchReport search_anomalies(const Problem& problem, OpenWorld& open, const SearchOptions& options,
                              Budget& budget) {
  return Search(problem, open, options, budget).run();
}

}  // namespace isoscope::audit
