#include "force/command_forcing.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/sqlstates.h"

namespace isoscope::force {
namespace {

class CommandForcing {
 public:
  CommandForcing(const CommandPlan* plan, const CommandForceOptions& options)
      : plan_(plan), options_(options), budget_(options.budget), runner_(plan, options, budget_) {}

  Result<CommandForceAnswer> force() {
    if (runner_.is_repeatable())
      if (auto played = play_serial_orders(); !played) return played.error();
    if (plan_ == nullptr) {
      if (auto all = play_all_orders(); !all) return all.error();
    } else {
      if (auto planned = play_plan(); !planned) return planned.error();
      const bool has_left = answer_.verdict == ForceVerdict::Diverged && answer_.run.departure;
      if (has_left && runner_.is_repeatable())
        if (auto all = play_all_orders(); !all) return all.error();
    }
    describe();
    answer_.witness = witness_of(answer_.run);
    answer_.is_judged_by_history = answer_.run.recorded.kind != RecordedRun::Kind::Unknown;
    return std::move(answer_);
  }

 private:
  ForceVerdict verdict_of(const CommandRun& run, std::string& why) const {
    if (run.recorded.kind == RecordedRun::Kind::Unserializable) return ForceVerdict::Reproduced;
    if (!run.trouble.empty()) {
      why = run.trouble;
      return run.played.end == Played::End::Limit ? ForceVerdict::Unknown : ForceVerdict::Diverged;
    }
    if (run.departure && !run.departure->is_explained) {
      const Departure& left = *run.departure;
      const std::string& name = plan_->sessions[left.session];
      why =
          run.sent[left.session].empty()
              ? fmt::format("session {} never came to the statement that the plan begins with: {}",
                            name, left.planned)
              : fmt::format(
                    "step {} of session {} is not the planned one: planned was {}, there "
                    "came {}",
                    left.step, name, left.planned, left.happened);
      return ForceVerdict::Diverged;
    }
    if (why = flaw_of(run); !why.empty()) return ForceVerdict::Unknown;
    return weighed(run, why);
  }

  // Why a run that went well says nothing: a command that does not do its work cannot go wrong.
  std::string flaw_of(const CommandRun& run) const {
    for (const ActorId s : run.sent.ids()) {
      const std::string& name = options_.commands[s].session;
      if (run.sent[s].empty()) return fmt::format("session {} sent no statement", name);
      for (const SentRequest& request : run.sent[s])
        if (!request.error.empty() && !is_by_concurrency(request.error))
          return fmt::format("a statement of session {} failed with {}: {}", name, request.error,
                             request.text);
    }
    return {};
  }

  // The history is the judge. Where there is none, the serial orders are; and a run that is
  // serializable by its history, but ends as no serial order does, was not recorded whole.
  ForceVerdict weighed(const CommandRun& run, std::string& why) const {
    const Judgement::Kind witness = witness_of(run);
    const bool is_recorded = run.recorded.kind == RecordedRun::Kind::Serializable;
    switch (witness) {
      case Judgement::Kind::Serializable: return ForceVerdict::Prevented;
      case Judgement::Kind::Unserializable:
        if (is_recorded) {
          why = "the recorded history is serializable, but no serial order of the commands ends so";
        } else if (has_several_txns(run)) {
          why =
              "no serial order of the commands ends so, but one of them has several transactions, "
              "between which others may come; and the run could not be recorded: " +
              run.recorded.why;
        } else {
          return ForceVerdict::Reproduced;
        }
        return ForceVerdict::Unknown;
      case Judgement::Kind::Unknown: break;
    }
    if (is_recorded) return ForceVerdict::Prevented;
    why = run.recorded.why;
    return ForceVerdict::Unknown;
  }

  static bool has_several_txns(const CommandRun& run) {
    return std::ranges::any_of(run.sent, [](const auto& requests) {
      std::size_t ends = 0;
      for (const SentRequest& request : requests)
        ends +=
            static_cast<std::size_t>(std::ranges::count(request.steps, true, &RequestStep::ends));
      return ends > 1;
    });
  }

  // What the serial orders of the commands say. A command whose statement failed is none of a
  // serial order's.
  Judgement::Kind witness_of(const CommandRun& run) const {
    if (answer_.serial.empty() || !answer_.no_witness.empty() || !run.trouble.empty())
      return Judgement::Kind::Unknown;
    const bool is_serial = std::ranges::any_of(answer_.serial, [&](const SerialCommands& serial) {
      return same_commands(run, serial.run, has_stable_outputs_);
    });
    if (is_serial) return Judgement::Kind::Serializable;
    const bool has_failed = std::ranges::any_of(run.sent, [](const auto& requests) {
      return std::ranges::any_of(requests, [](const SentRequest& r) { return !r.error.empty(); });
    });
    return has_failed ? Judgement::Kind::Unknown : Judgement::Kind::Unserializable;
  }

  // Keeps the run that tells most: one that went wrong, else one of which that is not known.
  void take(CommandRun run) {
    std::string why;
    const ForceVerdict verdict = verdict_of(run, why);
    if (verdict == ForceVerdict::Reproduced) ++answer_.reproduced;
    const bool is_first = answer_.runs++ == 0;
    if (!is_first && verdict == answer_.verdict) ++answer_.of_verdict;
    if (!is_first && weight_of(verdict) <= weight_of(answer_.verdict)) return;
    answer_.of_verdict = 1;
    answer_.verdict = verdict;
    answer_.why = std::move(why);
    answer_.run = std::move(run);
  }

  Result<void> play_plan() {
    Turns turns;
    for (const CommandPlan::Step& step : plan_->steps) turns.push_back(step.session);
    for (std::size_t i = 0; i < options_.times && !budget_.expired_now(); ++i) {
      if (options_.progress)
        options_.progress("forcing", static_cast<double>(i) / static_cast<double>(options_.times));
      auto run = runner_.run_once(turns, true);
      if (!run) return run.error();
      take(std::move(*run));
      if (i > 0 && !runner_.is_repeatable()) break;
    }
    const bool is_undecided = answer_.runs == 0 || answer_.verdict == ForceVerdict::Prevented;
    if (answer_.runs < options_.times && runner_.is_repeatable() && is_undecided) {
      answer_.verdict = ForceVerdict::Unknown;
      answer_.why = fmt::format("{} was reached after {} of {} runs", limit_reached(), answer_.runs,
                                options_.times);
    }
    return {};
  }

  // Depth first: at the last choice at which another actor could have had the turn, it has it.
  static bool next_order(const std::vector<Choice>& choices, Turns& turns) {
    for (std::size_t i = choices.size(); i-- > 0;) {
      const auto other = std::ranges::upper_bound(choices[i].ready, choices[i].chosen);
      if (other == choices[i].ready.end()) continue;
      turns.clear();
      for (std::size_t j = 0; j < i; ++j) turns.push_back(choices[j].chosen);
      turns.push_back(*other);
      return true;
    }
    return false;
  }

  Result<void> play_all_orders() {
    Turns turns;
    bool is_complete = false;
    ForceVerdict worst = ForceVerdict::Prevented;
    std::string worst_why;
    CommandRun first;
    while (answer_.orders < options_.most_orders && !budget_.expired_now()) {
      if (options_.progress) options_.progress("playing every order", -1);
      auto run = runner_.run_once(turns, false);
      if (!run) return run.error();
      ++answer_.orders;
      ++answer_.runs;
      const std::vector<Choice> choices = run->choices;
      std::string why;
      const ForceVerdict verdict = verdict_of(*run, why);
      if (verdict == ForceVerdict::Reproduced) {
        ++answer_.reproduced;
        return keep(std::move(*run), verdict, {});
      }
      if (verdict != ForceVerdict::Prevented && worst == ForceVerdict::Prevented) {
        worst = verdict;
        worst_why = why;
        first = std::move(*run);
      } else if (answer_.orders == 1 ||
                 (worst == ForceVerdict::Prevented && is_telling(*run) && !is_telling(first))) {
        first = std::move(*run);
      }
      is_complete = !next_order(choices, turns);
      if (is_complete) break;
    }
    if (!is_complete && worst == ForceVerdict::Prevented)
      return keep(std::move(first), ForceVerdict::Unknown,
                  fmt::format("only {} orders of the statements were played", answer_.orders));
    return keep(std::move(first), worst, worst_why);
  }

  // Did something fail or wait in it?
  static bool is_telling(const CommandRun& run) {
    return std::ranges::any_of(run.sent, [](const auto& requests) {
      return std::ranges::any_of(requests, [](const SentRequest& request) {
        return request.has_waited || !request.error.empty();
      });
    });
  }

  Result<void> keep(CommandRun run, ForceVerdict verdict, std::string why) {
    answer_.run = std::move(run);
    answer_.verdict = verdict;
    answer_.why = std::move(why);
    return {};
  }

  void describe() {
    for (const auto& requests : answer_.run.sent) {
      for (const SentRequest& request : requests) {
        if (!request.error.empty() && request.error != sql::kInFailedTransaction)
          answer_.sqlstates.insert(request.error);
        if (!request.has_waited) continue;
        ++answer_.waits;
        if (request.error.empty() && request.tag.ends_with(" 0")) ++answer_.rechecked;
      }
    }
  }

  Result<void> play_serial_orders() {
    std::vector<ActorId> order;
    for (const ActorId s : options_.commands.ids()) order.push_back(s);
    if (order.size() > kMostCommands) {
      answer_.no_witness = fmt::format("there are more than {} commands", kMostCommands);
      return {};
    }
    do {
      if (options_.progress) options_.progress("one command after the other", -1);
      auto serial = runner_.run_serially(order);
      if (!serial) return serial.error();
      const ActorId first = order.front();
      if (serial->run.exit_codes[first] != 0 && !budget_.expired_now())
        return Error{
            .what = fmt::format("the command of session {} fails by itself, with {}",
                                options_.commands[first].session, serial->run.exit_codes[first]),
            .hint = serial->run.outputs[first]};
      answer_.serial.push_back(std::move(*serial));
    } while (!budget_.expired_now() && std::ranges::next_permutation(order).found);
    auto again = runner_.run_serially(answer_.serial.front().order);
    if (!again) return again.error();
    const CommandRun& first = answer_.serial.front().run;
    has_stable_outputs_ = same_commands(again->run, first, true);
    if (budget_.expired_now()) {
      answer_.no_witness = limit_reached() + " was reached";
    } else if (!same_commands(again->run, first, false)) {
      answer_.no_witness = "the same serial order ends differently from run to run";
    } else if (!runner_.table_limit().empty()) {
      answer_.no_witness = runner_.table_limit();
    }
    return {};
  }

  static constexpr std::size_t kMostCommands = 5;

  const CommandPlan* plan_;
  const CommandForceOptions& options_;
  Budget budget_;
  CommandRunner runner_;
  CommandForceAnswer answer_;
  bool has_stable_outputs_ = true;
};

}  // namespace

Result<CommandForceAnswer> force_commands(const CommandPlan* plan,
                                          const CommandForceOptions& options) {
  return CommandForcing(plan, options).force();
}

}  // namespace isoscope::force
