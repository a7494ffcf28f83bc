// Races of a recorded run as findings. A place is one in the application's code, where a comment of
// the statement tells it; else the recording as a whole.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "report/header.h"
#include "report/races_report.h"
#include "report/races_words.h"
#include "support/printable.h"

namespace isoscope {
namespace {

using races::Dependency;
using races::Race;
using races::Run;
using races::RunTxn;
using races::Statement;

// "shop/buy.py:41 in buy"; without a number the file as a whole.
FindingPlace code_place_of(const RacesReport& report, const Statement& statement) {
  const std::string place = statement.place.substr(0, statement.place.find(" in "));
  const std::size_t colon = place.rfind(':');
  FindingPlace out{.file = colon == std::string::npos ? report.source : place.substr(0, colon)};
  if (colon == std::string::npos) return out;
  const char* end = place.data() + place.size();
  const auto read = std::from_chars(place.data() + colon + 1, end, out.line);
  if (read.ec != std::errc() || read.ptr != end) return {.file = report.source};
  return out;
}

FindingPlace end_of(const RacesReport& report, RunTxn t, std::size_t statement,
                    const Dependency& edge) {
  const Statement& said = report.run.txns[t].statements[statement];
  FindingPlace place = code_place_of(report, said);
  place.message = printable(fmt::format("{}.{}: {} ({})", report.run.txns[t].name, statement + 1,
                                        said.shape, why_of_race_edge(report.run, edge)));
  return place;
}

Finding race_finding(const RacesReport& report, const Race& race) {
  const Run& run = report.run;
  const std::string_view name = common_name(race.unserializable.verdict.violation->anomaly);
  Finding finding{
      .rule = rule_of(name),
      .message = printable(fmt::format("{} on {} when {} ({}) and {} ({}) overlap at {}", name,
                                       race_objects(run, race), run.txns[race.first].name,
                                       race_shapes(run, race.first), run.txns[race.second].name,
                                       race_shapes(run, race.second), report.level)),
      .identity = report.level};
  for (const Dependency* edge : {&race.interleaving.forth, &race.interleaving.back}) {
    finding.related.push_back(end_of(report, edge->from, edge->from_statement, *edge));
    finding.related.push_back(end_of(report, edge->to, edge->to_statement, *edge));
  }
  finding.place = finding.related.front();
  finding.place.message.clear();
  // Which of the two came first in the recording is chance.
  std::vector<std::string> parts = {std::string(name)};
  for (const RunTxn t : {race.first, race.second}) {
    std::string shapes;
    for (const Statement& statement : run.txns[t].statements) shapes += statement.shape + ";";
    parts.push_back(std::move(shapes));
  }
  std::sort(parts.begin() + 1, parts.end());
  for (const std::string& part : parts) finding.identity += "\n" + part;
  return finding;
}

}  // namespace

Findings races_findings(const RacesReport& report) {
  const races::RaceAnswer& answer = report.answer;
  Findings out{.command = "predict", .source = report.source, .complete = answer.limit.empty()};
  FindingCase one{.name = printable(report.level),
                  .outcome = report.answer.outcome,
                  .message = answer.limit,
                  .seconds = report.seconds};
  for (const Race& race : answer.races) {
    out.findings.push_back(race_finding(report, race));
    one.message = out.findings.front().message;
    one.details += out.findings.back().message + "\n";
  }
  out.cases.push_back(std::move(one));
  return out;
}

}  // namespace isoscope
