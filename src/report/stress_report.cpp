#include "report/stress_report.h"

#include <fmt/format.h>

#include <utility>

#include "support/printable.h"

namespace isoscope {

double throughput(const force::StressNumbers& numbers) {
  return numbers.seconds > 0 ? static_cast<double>(numbers.committed) / numbers.seconds : 0;
}

Header header_of(const StressReport& report) {
  const Outcome outcome = report.run.lost.empty() ? overall(report.checked) : Outcome::Violated;
  return header_of("stress", {.outcome = outcome}, report.checked.seconds);
}

std::string stress_text(const StressReport& report, const Paint& paint) {
  const force::StressNumbers& numbers = report.run.numbers;
  std::string out = fmt::format("{}: {} committed, {:.0f} per second", report.run.product,
                                numbers.committed, throughput(numbers));
  for (const auto& [error, count] : numbers.aborts)
    out += fmt::format(", {} aborted by {}", count, error);
  if (numbers.unknown > 0) out += fmt::format(", {} of unknown outcome", numbers.unknown);
  if (numbers.killed_clients > 0)
    out += fmt::format(", {} connections killed", numbers.killed_clients);
  if (numbers.killed_servers > 0)
    out += fmt::format(", the server killed {} times", numbers.killed_servers);
  out += '\n';
  if (!report.calls.empty()) {
    std::string calls;
    for (const auto& [function, count] : report.calls)
      calls += fmt::format("{}{} {}", calls.empty() ? "" : ", ", count, printable(function));
    out += fmt::format("calls that committed: {}\n", calls);
  }
  for (const std::string& note : report.notes) out += printable(note) + '\n';
  for (const std::string& commit : report.run.lost) out += "lost: " + printable(commit) + '\n';
  return out + check_text(report.checked, paint);
}

std::string stress_json(const StressReport& report) {
  CheckJson checked;
  checked.add(report.checked);
  Json json = checked.object(header_of(report));
  if (!report.run.lost.empty()) json["lost_commits"] = report.run.lost;
  json["server"] = report.run.product;
  const force::StressNumbers& numbers = report.run.numbers;
  json["committed"] = numbers.committed;
  json["unknown"] = numbers.unknown;
  json["aborts"] = numbers.aborts;
  json["throughput"] = throughput(numbers);
  json["killed_clients"] = numbers.killed_clients;
  json["killed_servers"] = numbers.killed_servers;
  if (!report.calls.empty()) json["calls"] = report.calls;
  if (!report.notes.empty()) json["notes"] = report.notes;
  return dump(json);
}

Page stress_page(const StressReport& report) {
  const force::StressRun& run = report.run;
  const Header header = header_of(report);
  Page page = check_page(report.checked);
  page.command = header.command;
  page.verdict = header.verdict;
  page.is_good = header.outcome == Outcome::Consistent;
  page.source = printable(run.product + ", " + report.checked.source);
  PageTable table{.title = "The run", .columns = {"transactions", "count"}, .rows = {}};
  table.rows.push_back({{"committed"}, {std::to_string(run.numbers.committed)}});
  for (const auto& [function, count] : report.calls)
    table.rows.push_back({{"calls of " + printable(function)}, {std::to_string(count)}});
  for (const auto& [error, count] : run.numbers.aborts)
    table.rows.push_back({{"aborted by " + printable(error)}, {std::to_string(count)}});
  if (run.numbers.unknown > 0)
    table.rows.push_back({{"of unknown outcome"}, {std::to_string(run.numbers.unknown)}});
  page.tables.push_back(std::move(table));
  if (run.numbers.seconds > 0)
    page.notes.push_back(
        fmt::format("{:.0f} transactions per second committed.", throughput(run.numbers)));
  for (const std::string& note : report.notes) page.notes.push_back(printable(note));
  for (const std::string& commit : run.lost) page.notes.push_back("Lost: " + printable(commit));
  if (!run.lost.empty())
    page.sentence = fmt::format("{}: commits that the server had confirmed are lost", page.source);
  if (run.was_cut) page.notes.emplace_back("A limit was reached before all transactions were run.");
  return page;
}

Findings stress_findings(const StressReport& report) {
  Findings findings = check_findings(report.checked);
  findings.command = "stress";
  if (!report.run.lost.empty())
    findings.cases.push_back({.name = "commits are kept",
                              .outcome = Outcome::Violated,
                              .message = report.run.lost.front()});
  return findings;
}

}  // namespace isoscope
