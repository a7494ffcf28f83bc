// isoscope synth --allow L … --forbid L …
#include "synth/synth.h"

#include <chrono>
#include <memory>

#include "check/check.h"
#include "cli/command.h"
#include "cli/history_input.h"
#include "cli/scope_input.h"
#include "report/check_report.h"
#include "report/synth_report.h"
#include "support/output.h"

namespace isoscope {

namespace {

using Clock = std::chrono::steady_clock;

struct SynthArguments {
  CommonOptions common;
  LevelInput specs;
  ScopeInput scope;
  std::vector<std::string> allow;
  std::vector<std::string> forbid;
  std::string dot;
  bool minimal = false;
  bool all = false;
  bool count = false;
  bool generic = false;
};

Result<std::vector<const Level*>> find_all(const LevelSet& levels,
                                           const std::vector<std::string>& names) {
  std::vector<const Level*> found;
  for (const std::string& name : names) {
    auto level = levels.find(name);
    if (!level) return level.error();
    found.push_back(*level);
  }
  return found;
}

// What check() says against the history at each forbidden level.
SeparatingHistory explain(SynthFound found, const SynthQuery& query, Budget& budget) {
  SeparatingHistory result{std::move(found), {}};
  for (const Level* level : query.forbid) {
    if (result.found.is_rechecked) {
      result.refutations.push_back(check(result.found.history, *level, budget));
    } else {
      result.refutations.emplace_back();
    }
  }
  return result;
}

// Fills the report by the kind of question that the options ask.
Result<void> answer(const SynthArguments& args, const SynthQuery& query, SynthReport& report,
                    Budget& budget) {
  const auto take = [&](auto& from) {
    report.outcome = from.outcome;
    report.limit = from.limit;
    report.stats = from.stats;
  };
  if (args.count) {
    auto counted = count_histories(query, budget);
    if (!counted) return counted.error();
    take(*counted);
    report.count = counted->count;
    report.scope = query.scope;
    return {};
  }
  if (args.all) {
    auto listed = synthesize_all_minimal(query, Minimality::Fewest, args.scope.most_txns, budget);
    if (!listed) return listed.error();
    take(*listed);
    report.scope = listed->scope;
    for (SynthFound& found : listed->found)
      report.histories.push_back(explain(std::move(found), query, budget));
    return {};
  }
  const bool grow = args.minimal || args.scope.scope.txns == 0;
  auto found =
      grow ? synthesize_minimal(query, args.scope.most_txns, budget) : synthesize(query, budget);
  if (!found) return found.error();
  take(*found);
  report.scope = found->scope;
  if (found->found) report.histories.push_back(explain(std::move(*found->found), query, budget));
  return {};
}

int run_synth(const SynthArguments& args) {
  const auto start = Clock::now();
  Budget budget = args.common.budget();
  auto levels = args.specs.load();
  if (!levels) return fail(levels.error());
  // A history that nothing else restricts is still one in which nobody reads from the future.
  auto allow =
      find_all(*levels, args.allow.empty() ? std::vector<std::string>{"true"} : args.allow);
  if (!allow) return fail(allow.error());
  auto forbid = find_all(*levels, args.forbid);
  if (!forbid) return fail(forbid.error());
  auto scope = args.scope.complete(args.count);
  if (!scope) return fail(scope.error());
  const SynthQuery query{
      .allow = *allow, .forbid = *forbid, .scope = *scope, .generic = args.generic};

  SynthReport report;
  report.allow = args.allow.empty() ? std::vector<std::string>{"true"} : args.allow;
  report.forbid = args.forbid;
  if (auto done = answer(args, query, report, budget); !done) return fail(done.error());
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();

  if (!args.dot.empty() && !report.histories.empty() && !report.forbid.empty()) {
    const SeparatingHistory& first = report.histories.front();
    const LevelAnswer refuted{report.forbid[0], first.refutations[0]};
    if (auto written = write_whole(args.dot, check_dot(first.found.history, refuted)); !written)
      return fail(written.error());
  }
  auto text = args.common.json ? synth_json(report) : synth_text(report, args.common.paint());
  if (!text) return fail(text.error());
  const int code = !report.histories.empty()                 ? kInteresting
                   : report.outcome == SynthOutcome::Unknown ? kUnknown
                                                             : kGood;
  return deliver(args.common, *text, code);
}

}  // namespace

Run add_synth(CLI::App& app) {
  auto args = std::make_shared<SynthArguments>();
  const auto level_list = [&](const char* name, std::vector<std::string>& into, const char* help) {
    app.add_option(name, into, help)->delimiter(',')->allow_extra_args(false)->type_name("LEVEL");
  };
  level_list("--allow", args->allow, "a level that allows the history; repeat it for more");
  level_list("--forbid", args->forbid, "a level that forbids it; repeat it for more");
  args->scope.add_to(app);
  app.add_flag("--minimal", args->minimal,
               "no smaller history does: transactions, keys, values, operations, session edges");
  app.add_flag("--all", args->all, "every minimal history, up to renaming");
  app.add_flag("--count", args->count, "how many histories the scope has, up to renaming");
  app.add_flag("--generic", args->generic, "plain search without analysis of the axioms");
  args->specs.add_to(app);
  app.add_option("--dot", args->dot, "draw the first history and what forbids it")
      ->type_name("FILE");
  add_common(app, args->common);
  app.footer(
      "Without --txns it tries 1, 2, 3, … transactions and prints a smallest history.\n"
      "Examples:\n"
      "  isoscope synth --allow si --forbid ser\n"
      "  isoscope synth --allow si,update-ser --forbid ser --all\n"
      "  isoscope synth --allow cc@vis --forbid pc@co --txns 4 --keys 2\n"
      "Exit codes: 0 there is none in the scope, 1 found, 2 bad input, 3 unknown.");
  return [args] { return run_synth(*args); };
}

}  // namespace isoscope
