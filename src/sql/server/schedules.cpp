#include "sql/server/schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "sql/server/refusals.h"
#include "sql/server/state_digest.h"
#include "sql/server/step_effect.h"

namespace isoscope::sql::server {
namespace {

using Seen = std::unordered_set<Digest, Digest::Hash>;

// Why the call of the session cannot be run.
Error fault_of(const Machine& machine, State& state, ProgramSession session) {
  const NextStep& next = machine.next(state, session);
  if (next.fault) return *next.fault;
  const Call& call = machine.outline().calls[state.sessions[session].call];
  return {.where = call.place, .what = fmt::format("{}: {}", call.name, next.failure.message)};
}

class Explorer {
 public:
  Explorer(const Machine& machine, const std::vector<RowAssertion>& claims,
           const ScheduleOptions& options)
      : machine_(machine),
        claims_(claims),
        options_(options),
        budget_(options.budget),
        refusals_(machine) {
    for (const CallId call : machine.outline().calls.ids())
      footprints_.push_back(machine.calls().footprint(call));
    is_reduced_ = options.is_reduced && machine.outline().sessions.size() <= 64;
    has_invariants_ = std::ranges::any_of(claims, &RowAssertion::is_invariant);
  }

  Schedules run() {
    State first = machine_.start();
    check_invariants(first);
    push(std::move(first), {}, {});
    while (!stack_.empty() && !is_over_) {
      Node& node = stack_.back();
      if (node.next == node.choices.size()) {
        stack_.pop_back();
        if (!path_.empty()) path_.pop_back();
        continue;
      }
      if (budget_.expired()) {
        all_.is_out_of_time = true;
        break;
      }
      step(node, node.choices[node.next++]);
    }
    finish();
    return std::move(all_);
  }

 private:
  // A step that need not be taken here: the states behind it are reached by its other order.
  struct Sleeping {
    ProgramSession session = {};
    StepEffect effect = {};
  };
  struct Node {
    State state;
    std::vector<Choice> choices;
    std::size_t next = 0;
    std::vector<Sleeping> asleep = {};
  };
  static std::uint64_t mask_of(const std::vector<Sleeping>& asleep) {
    std::uint64_t mask = 0;
    for (const Sleeping& each : asleep) mask |= std::uint64_t{1} << each.session.index;
    return mask;
  }
  static bool is_in(const Choice& choice, std::uint64_t mask) {
    return !choice.is_victim && ((mask >> choice.session.index) & 1) != 0;
  }

  // All steps but those that sleep; of a state that was met before, those that slept then only.
  void push(State state, std::vector<Sleeping> asleep, std::optional<std::uint64_t> slept) {
    std::vector<Choice> choices = machine_.choices(state);
    if (options_.refuses) {
      const auto refused = refusals_.choices(state);
      choices.insert(choices.end(), refused.begin(), refused.end());
    }
    const std::uint64_t mask = mask_of(asleep);
    if (slept) {
      std::erase_if(choices, [&](const Choice& choice) { return !is_in(choice, *slept & ~mask); });
      std::erase_if(
          asleep, [&](const Sleeping& each) { return ((*slept >> each.session.index) & 1) == 0; });
    } else {
      choices = relevant(state, std::move(choices));
      if (std::ranges::any_of(choices, &Choice::is_victim)) ++all_.deadlocks;
      std::erase_if(choices, [&](const Choice& choice) { return is_in(choice, mask); });
    }
    stack_.push_back({std::move(state), std::move(choices), 0, std::move(asleep)});
  }

  // What still sleeps behind a step, which from now on sleeps itself at its node.
  std::vector<Sleeping> asleep_behind(Node& node, const Choice& choice, StepEffect effect) {
    std::vector<Sleeping> behind;
    if (!is_reduced_ || has_invariants_) return behind;
    for (const Sleeping& each : node.asleep) {
      if (commute(each.effect, effect)) behind.push_back(each);
    }
    if (!choice.is_victim) node.asleep.push_back({choice.session, std::move(effect)});
    return behind;
  }

  void step(Node& node, Choice choice) {
    State state = node.state;
    ++all_.steps;
    const StepDone done = machine_.take(state, choice);
    path_.push_back(choice);
    if (done.kind == StepDone::Kind::Limit) {
      stop_at_limit(state, choice.session);
      return;
    }
    if (done.kind == StepDone::Kind::Committed) check_invariants(state);
    std::vector<Sleeping> asleep =
        asleep_behind(node, choice, effect_of(machine_, node.state, state, choice, done));
    const std::uint64_t mask = mask_of(asleep);
    const auto [seen, is_new] = seen_.try_emplace(digest_of(machine_, state), mask);
    const std::uint64_t slept = std::exchange(seen->second, seen->second & mask);
    if (is_new && machine_.choices(state).empty()) {
      end(state);
      path_.pop_back();
    } else if (is_new) {
      push(std::move(state), std::move(asleep), {});
    } else if ((slept & ~mask) != 0) {
      push(std::move(state), std::move(asleep), slept);
    } else {
      path_.pop_back();
    }
  }

  void stop_at_limit(State& state, ProgramSession session) {
    is_over_ = true;
    if (budget_.expired_now()) {
      all_.is_out_of_time = true;
      return;
    }
    all_.fault = fault_of(machine_, state, session);
  }

  void stop_at_claim(const Error& limit) {
    is_over_ = true;
    all_.fault = limit;
  }

  // Sessions that can never meet the others need not be mixed with them: the choices of one group
  // that has any. Claims about every committed state see the order of commits.
  std::vector<Choice> relevant(const State& state, std::vector<Choice> choices) const {
    if (has_invariants_ || choices.size() < 2) return choices;
    const Outline& outline = machine_.outline();
    ById<ProgramSession, Footprint> rest(outline.sessions.size());
    for (const ProgramSession s : rest.ids()) {
      const CallId end = outline.sessions[s].end();
      for (CallId call = state.sessions[s].call; call < end; ++call) rest[s].add(footprints_[call]);
    }
    ById<ProgramSession, bool> in_group(rest.size(), false);
    std::vector<ProgramSession> stack = {choices.front().session};
    in_group[choices.front().session] = true;
    while (!stack.empty()) {
      const ProgramSession at = stack.back();
      stack.pop_back();
      for (const ProgramSession s : rest.ids()) {
        if (in_group[s] || !rest[at].meets(rest[s])) continue;
        in_group[s] = true;
        stack.push_back(s);
      }
    }
    std::erase_if(choices, [&](const Choice& choice) { return !in_group[choice.session]; });
    return choices;
  }

  void check_invariants(State& state) {
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      const std::uint64_t bit = std::uint64_t{1} << std::min<std::size_t>(i, 63);
      if (!claims_[i].is_invariant || (state.broken & bit) != 0) continue;
      ClaimAnswer answer = ask(machine_, state, claims_[i]);
      if (answer.limit) return stop_at_claim(*answer.limit);
      if (answer.holds) continue;
      state.broken |= bit;
      if (all_.violations.size() < options_.max_violations && !is_kept(i)) {
        all_.violations.push_back({path_, {{i, std::move(answer), path_.size()}}});
      }
      if (options_.stop_at_violation) {
        is_over_ = true;
        all_.violating = std::max<std::uint64_t>(all_.violating, 1);
      }
    }
  }

  // Is there an example for this claim already? Others are worth more.
  bool is_kept(std::size_t claim) const {
    return std::ranges::any_of(all_.violations, [&](const ViolatingRun& run) {
      return run.broken.front().claim == claim;
    });
  }

  void end(const State& state) {
    ++all_.end_states;
    if (auto fault = machine_.calls().fault_at_end(state)) {
      all_.fault = std::move(fault);
      is_over_ = true;
      return;
    }
    std::vector<BrokenClaim> broken;
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      if (claims_[i].is_invariant) continue;
      ClaimAnswer answer = ask(machine_, state, claims_[i]);
      if (answer.limit) return stop_at_claim(*answer.limit);
      if (!answer.holds) broken.push_back({i, std::move(answer), path_.size()});
    }
    Digest history = history_of(state);
    history.add(state.broken);
    // Numbers that sequences gave and no call has read are not part of a history, but claims see
    // them.
    for (const BrokenClaim& each : broken) history.add(each.claim + 1);
    // Writes that read nothing end a history in several ways.
    if (options_.wants_outcomes) note_outcome(state, broken, history);
    if (!histories_.insert(history).second) return;
    ++all_.histories;
    const bool is_violating = !broken.empty() || state.broken != 0;
    if (is_violating) ++all_.violating;
    if (!broken.empty() && all_.violations.size() < options_.max_violations)
      all_.violations.push_back({path_, std::move(broken)});
    if (options_.on_history && !options_.on_history(state, path_, is_violating)) {
      is_over_ = true;
      all_.is_out_of_time = true;
    }
    if (is_violating && options_.stop_at_violation) is_over_ = true;
    if (options_.progress && all_.histories % 64 == 1)
      options_.progress(
          fmt::format(
              "exploring: {} histories so far{}", all_.histories,
              all_.violating == 0 ? "" : fmt::format(", {} violate an assertion", all_.violating)),
          -1);
  }

  void note_outcome(const State& state, const std::vector<BrokenClaim>& broken, Digest history) {
    RunEnd run_end = end_of(machine_, state);
    Digest digest = digest_of(run_end);
    digest.add(state.broken);
    // A deadlock is another outcome than a failed serialization, though both end with equal rows.
    for (const CallEnd& call : run_end.calls) {
      if (call.failure.is_by_server()) digest.add_text(call.failure.sqlstate);
    }
    const auto [at, is_new] = outcome_numbers_.try_emplace(digest, all_.outcomes.size());
    if (is_new) {
      all_.outcomes.push_back(
          {.end = std::move(run_end), .is_serial = std::nullopt, .schedule = path_});
      auto& list = all_.outcomes.back().broken;
      for (const BrokenClaim& each : broken) list.push_back(each.claim);
      for (std::size_t i = 0; i < claims_.size(); ++i) {
        if (((state.broken >> std::min<std::size_t>(i, 63)) & 1) != 0 && claims_[i].is_invariant)
          list.push_back(i);
      }
      std::ranges::sort(list);
    }
    history.add(at->second);
    if (ended_.insert(history).second) ++all_.outcomes[at->second].histories;
  }

  void finish() {
    if (!options_.wants_outcomes || all_.is_out_of_time || all_.fault) return;
    SerialEnds serial(machine_, options_.budget);
    for (RunOutcome& outcome : all_.outcomes) outcome.is_serial = serial.contains(outcome.end);
    std::ranges::stable_sort(all_.outcomes, [](const RunOutcome& a, const RunOutcome& b) {
      return a.histories > b.histories;
    });
  }

  const Machine& machine_;
  const std::vector<RowAssertion>& claims_;
  const ScheduleOptions& options_;
  Budget budget_;
  Refusals refusals_;
  ById<CallId, Footprint> footprints_;
  bool has_invariants_ = false;
  bool is_reduced_ = true;
  bool is_over_ = false;
  std::vector<Node> stack_;
  std::vector<Choice> path_;
  // States, and by session which steps slept whenever they were met.
  std::unordered_map<Digest, std::uint64_t, Digest::Hash> seen_;
  Seen histories_;
  Seen ended_;  // histories with the number of an outcome
  std::unordered_map<Digest, std::size_t, Digest::Hash> outcome_numbers_;
  Schedules all_;
};

// All ends of serial runs without the calls that are left out.
class SerialWalk {
 public:
  SerialWalk(const Machine& machine, const ById<CallId, bool>& left_out, Budget& budget)
      : machine_(machine), left_out_(left_out), budget_(budget) {}

  std::optional<std::set<Digest>> run() {
    if (!visit(machine_.start())) return std::nullopt;
    return std::move(ends_);
  }
  // Of run(): a run for each end.
  std::vector<SerialRun> runs() { return std::move(runs_); }

 private:
  // Programs with more serial orders are long runs: a user does not want all ends of those.
  static constexpr std::size_t kMostStates = 20'000;

  // Runs the next call of the session to its end. False: not decided.
  bool run_call(State& state, ProgramSession session) const {
    const CallId call = state.sessions[session].call;
    while (state.sessions[session].call == call) {
      if (budget_.expired_now()) return false;
      const StepDone done = machine_.take(state, {session, false});
      if (done.kind == StepDone::Kind::Limit || done.kind == StepDone::Kind::Waits) return false;
    }
    return true;
  }

  bool visit(State state) {
    for (const ProgramSession s : state.sessions.ids()) {
      const CallId& call = state.sessions[s].call;
      while (left_out_.contains(call) && left_out_[call] && !machine_.is_done(state, s))
        machine_.skip(state, s);
    }
    if (!seen_.insert(digest_of(machine_, state)).second) return true;
    if (seen_.size() > kMostStates) return false;
    bool is_end = true;
    for (const ProgramSession s : state.sessions.ids()) {
      if (machine_.is_done(state, s)) continue;
      is_end = false;
      State next = state;
      order_.push_back(next.sessions[s].call);
      if (!run_call(next, s) || !visit(std::move(next))) return false;
      order_.pop_back();
    }
    if (is_end) {
      RunEnd end = end_of(machine_, state);
      if (ends_.insert(digest_of(end)).second) runs_.push_back({order_, std::move(end)});
    }
    return true;
  }

  const Machine& machine_;
  const ById<CallId, bool>& left_out_;
  Budget& budget_;
  Seen seen_;
  std::set<Digest> ends_;
  std::vector<CallId> order_;  // of the calls that have run
  std::vector<SerialRun> runs_;
};

ById<CallId, bool> aborted_by_server(const RunEnd& end) {
  ById<CallId, bool> aborted;
  for (const CallEnd& call : end.calls) aborted.push_back(call.failure.is_by_server());
  return aborted;
}

}  // namespace

bool RunEnd::has_server_abort() const {
  return std::ranges::any_of(calls,
                             [](const CallEnd& call) { return call.failure.is_by_server(); });
}

RunEnd end_of(const Machine& machine, const State& state) {
  RunEnd end;
  const auto is_part = [&](TxnNo txn) { return machine.outline().calls[call_of(txn)].part > 1; };
  for (const TxnNo txn : state.of_calls()) {
    const TxnState& t = state.txns[txn];
    end.calls.push_back({.is_committed = t.status == TxnStatus::Committed,
                         .failure = t.failure,
                         .locals = t.locals,
                         .is_left_out = t.is_left_out,
                         .is_passed = t.goes_on || (t.is_left_out && is_part(txn))});
  }
  for (const TableId table : state.storage.tables())
    end.rows.push_back(machine.committed_rows(state, table));
  return end;
}

// Calls that the server has aborted count as calls that did not happen.
Digest digest_of(const RunEnd& end) {
  Digest digest;
  for (const CallEnd& call : end.calls) {
    if (call.is_passed) continue;
    const bool is_there = call.is_committed || !call.failure.is_by_server();
    digest.add(is_there ? 1 : 0);
    if (!is_there) continue;
    digest.add(call.is_committed ? 1 : 0);
    digest.add_text(call.failure.sqlstate);
    digest.add_text(call.failure.message);
    digest.add_values(call.locals);
  }
  for (const auto& table : end.rows) {
    digest.add(table.size());
    for (const auto& row : table) digest.add_values(row);
  }
  return digest;
}

Schedules explore(const Machine& machine, const std::vector<RowAssertion>& claims,
                  const ScheduleOptions& options) {
  return Explorer(machine, claims, options).run();
}

RandomRun run_at_random(const Machine& machine, const std::vector<RowAssertion>& claims, Rng& rng) {
  RandomRun run{.state = machine.start()};
  const auto check = [&](bool invariants) {
    for (std::size_t i = 0; i < claims.size(); ++i) {
      if (claims[i].is_invariant != invariants) continue;
      const bool is_known = std::ranges::any_of(
          run.broken, [&](const BrokenClaim& broken) { return broken.claim == i; });
      if (is_known) continue;
      ClaimAnswer answer = ask(machine, run.state, claims[i]);
      if (answer.limit && !run.fault) run.fault = answer.limit;
      if (!answer.holds) run.broken.push_back({i, std::move(answer), run.schedule.size()});
    }
  };
  check(true);
  for (;;) {
    const std::vector<Choice> choices = machine.choices(run.state);
    if (choices.empty()) break;
    const Choice choice = choices[rng.below(choices.size())];
    const StepDone done = machine.take(run.state, choice);
    run.schedule.push_back(choice);
    if (done.kind == StepDone::Kind::Limit) {
      run.fault = fault_of(machine, run.state, choice.session);
      return run;
    }
    if (done.kind == StepDone::Kind::Committed) check(true);
  }
  if (auto fault = machine.calls().fault_at_end(run.state)) run.fault = std::move(fault);
  check(false);
  return run;
}

std::optional<std::vector<SerialRun>> serial_runs(const Machine& machine, const RunEnd& run,
                                                  Budget budget) {
  const ById<CallId, bool> left_out = aborted_by_server(run);
  SerialWalk walk(machine, left_out, budget);
  if (!walk.run()) return std::nullopt;
  return walk.runs();
}

SerialEnds::SerialEnds(const Machine& machine, const Budget& budget)
    : machine_(machine), budget_(budget), has_fresh_(machine.calls().makes_fresh_values()) {}

std::optional<bool> SerialEnds::contains(const RunEnd& end) {
  if (has_fresh_) return std::nullopt;
  const ById<CallId, bool> left_out = aborted_by_server(end);
  const auto [at, is_new] = ends_.try_emplace(left_out.entries());
  if (is_new) at->second = SerialWalk(machine_, left_out, budget_).run();
  if (!at->second) return std::nullopt;
  return at->second->contains(digest_of(end));
}

}  // namespace isoscope::sql::server
