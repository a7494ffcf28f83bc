// isoscope stats HISTORY
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/history_input.h"
#include "history/statistics.h"
#include "report/header.h"
#include "support/printable.h"
#include "verdict/anomaly.h"

namespace isoscope {

namespace {

struct StatsArguments {
  CommonOptions common;
  HistoryInput history;
};

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0 %";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string row(std::string_view name, const Distribution& d) {
  return fmt::format("{:<24}{:>9.1f}{:>9}{:>9}{:>9}{:>9}{:>9}\n", name, d.mean(), d.min, d.median,
                     d.p90, d.p99, d.max);
}

std::string stats_text(const HistoryStatistics& s, const RunNotes& notes, const Paint& paint) {
  const std::uint64_t reads = s.external_reads + s.internal_reads;
  std::string out;
  out += fmt::format("{:<24}{:>9}  in {} sessions\n", "transactions",
                     s.committed + s.aborted + s.unknown, s.sessions);
  out +=
      fmt::format("  {:<22}{:>9}  of them read-only {}\n", "committed", s.committed, s.read_only);
  if (s.aborted > 0) out += fmt::format("  {:<22}{:>9}\n", "aborted", s.aborted);
  if (s.unknown > 0)
    out += fmt::format("  {:<22}{:>9}  of them read by no other {}\n", "of unknown outcome",
                       s.unknown, s.unknown_absent);
  out += fmt::format("{:<24}{:>9}\n", "events", s.events);
  out += fmt::format("  {:<22}{:>9}  external {}, own writes {}\n", "reads", reads,
                     s.external_reads, s.internal_reads);
  out += fmt::format("  {:<22}{:>9}  {} of the external reads\n", "from the start", s.initial_reads,
                     percent(s.initial_reads, s.external_reads));
  out += fmt::format("  {:<22}{:>9}  {} of the external reads\n", "with a choice",
                     s.reads_with_choice, percent(s.reads_with_choice, s.external_reads));
  out += fmt::format("  {:<22}{:>9}  overwritten by their own transaction {}\n", "writes",
                     s.final_writes + s.overwritten_writes, s.overwritten_writes);
  out += fmt::format("{:<24}{:>9}  written by more than one {}{}\n", "keys", s.keys,
                     s.keys_with_many_writers,
                     s.list_keys > 0 ? fmt::format(", lists {}", s.list_keys) : "");
  if (notes.is_recorded)
    out += fmt::format("{:<24}{:>9}  gaps {}\n", "statements", notes.statements, notes.gaps);
  for (const auto& [why, count] : notes.reasons)
    out += fmt::format("  {:<22}{:>9}  {}\n", "gap", count, printable(why));
  out += paint.strong(fmt::format("\n{:<24}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}\n", "", "mean", "min",
                                  "median", "90 %", "99 %", "max"));
  out += row("events per transaction", s.txn_events) +
         row("transactions per session", s.session_txns) + row("writers per key", s.key_writers) +
         row("reads per key", s.key_reads);
  for (std::size_t i = 0; i < s.faults.size(); ++i) {
    if (s.faults[i] == 0) continue;
    const auto name = common_name(anomaly_of(static_cast<FaultKind>(i)));
    out +=
        fmt::format("{}{}: {}\n", out.ends_with("\n\n") ? "" : "\n", paint.bad(name), s.faults[i]);
  }
  return out;
}

Json distribution_json(const Distribution& d) {
  return {{"mean", d.mean()}, {"min", d.min}, {"median", d.median},
          {"p90", d.p90},     {"p99", d.p99}, {"max", d.max}};
}

std::string stats_json(const HistoryStatistics& s, const RunNotes& notes, double seconds) {
  Json json = json_header(header_of("stats", {.outcome = Outcome::Ok}, seconds));
  json["stats"] = {{"sessions", s.sessions},
                   {"committed", s.committed},
                   {"aborted", s.aborted},
                   {"unknown", s.unknown},
                   {"read_only", s.read_only},
                   {"events", s.events},
                   {"external_reads", s.external_reads},
                   {"internal_reads", s.internal_reads},
                   {"initial_reads", s.initial_reads},
                   {"reads_with_choice", s.reads_with_choice},
                   {"final_writes", s.final_writes},
                   {"overwritten_writes", s.overwritten_writes},
                   {"keys", s.keys},
                   {"keys_with_many_writers", s.keys_with_many_writers},
                   {"list_keys", s.list_keys}};
  if (notes.is_recorded) {
    json["stats"]["statements"] = notes.statements;
    json["stats"]["gaps"] = notes.gaps;
    json["gaps"] = notes.reasons;
  }
  json["txn_events"] = distribution_json(s.txn_events);
  json["session_txns"] = distribution_json(s.session_txns);
  json["key_writers"] = distribution_json(s.key_writers);
  json["key_reads"] = distribution_json(s.key_reads);
  json["faults"] = Json::object();
  for (std::size_t i = 0; i < s.faults.size(); ++i)
    json["faults"][std::string(common_name(anomaly_of(static_cast<FaultKind>(i))))] = s.faults[i];
  return dump(json);
}

int run_stats(const StatsArguments& args) {
  const Budget budget = args.common.start();
  RunNotes notes;
  auto history = args.history.read(progress_line(args.common), budget, Ambiguity::Refuse, &notes);
  if (!history) return fail(history.error());
  const HistoryStatistics s = statistics(*history);
  return deliver(args.common,
                 args.common.json ? stats_json(s, notes, seconds_running())
                                  : stats_text(s, notes, args.common.paint()),
                 kGood);
}

}  // namespace

Run add_stats(CLI::App& app) {
  auto args = std::make_shared<StatsArguments>();
  args->history.add_to(app);
  add_common(app, args->common);
  app.footer(
      "Examples:\n"
      "  isoscope stats examples/lost-update.hist\n"
      "  isoscope generate history --txns 1000 | isoscope stats - --json");
  return [args] { return run_stats(*args); };
}

}  // namespace isoscope
