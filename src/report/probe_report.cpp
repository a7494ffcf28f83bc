#include "report/probe_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/json.h"

namespace isoscope {
namespace {

using force::ProbeCell;
using force::ProbedLevel;

std::string in_width(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

}  // namespace

std::string cell_text(const ProbeCell& cell) {
  if (cell.schedules == 0) return "not played";
  if (cell.anomalous > 0) return "possible";
  if (!cell.is_complete) return "not all played";
  std::vector<std::string> means;
  if (cell.with_waits > 0) means.emplace_back("blocks");
  for (const std::string& error : cell.errors) means.push_back(error);
  if (means.empty()) return "another value";
  return fmt::format("{}", fmt::join(means, ", "));
}

std::string_view level_verdict(const force::ProbedLevel& level) {
  if (!level.is_kept) return "broken";
  return level.is_complete ? "kept" : "unknown";
}

std::string probe_text(const force::ProbeAnswer& answer, const Paint& paint) {
  std::size_t schedules = 0;
  for (const ProbedLevel& level : answer.levels)
    for (const ProbeCell& cell : level.cells) schedules += cell.schedules;
  std::string out = fmt::format("{}: {} probes, {} schedules\n\n", answer.product,
                                answer.probes.size(), schedules);
  std::size_t first = 0;
  for (const force::Probe* probe : answer.probes)
    first = std::max(first, probe->name.size() + probe->title.size() + 2);
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < answer.levels.size(); ++i) {
    // Long names of levels are referred to by number, and listed below.
    std::size_t width = 3;
    for (const ProbeCell& cell : answer.levels[i].cells)
      width = std::max(width, cell_text(cell).size());
    widths.push_back(width);
  }
  std::string heading = in_width("", first);
  for (std::size_t i = 0; i < widths.size(); ++i)
    heading += "  " + in_width(fmt::format("[{}]", i + 1), widths[i]);
  while (heading.ends_with(' ')) heading.pop_back();
  out += heading + '\n';
  for (std::size_t p = 0; p < answer.probes.size(); ++p) {
    std::string line = in_width(answer.probes[p]->name + "  " + answer.probes[p]->title, first);
    for (std::size_t i = 0; i < answer.levels.size(); ++i) {
      if (p >= answer.levels[i].cells.size()) continue;
      const ProbeCell& cell = answer.levels[i].cells[p];
      const std::string text = cell_text(cell);
      const bool is_last = i + 1 == answer.levels.size();
      const std::string blanks(is_last ? 0 : widths[i] - text.size(), ' ');
      line += "  " + (cell.anomalous > 0 ? paint.bad(text) : text) + blanks;
    }
    out += line + '\n';
  }
  out += '\n';
  for (std::size_t i = 0; i < answer.levels.size(); ++i) {
    const ProbedLevel& level = answer.levels[i];
    out +=
        fmt::format("[{}] {}: what was seen{} satisfies {}", i + 1, level.name,
                    level.is_complete ? "" : " so far",
                    level.strongest.empty() ? "no level of ours"
                                            : fmt::format("{}", fmt::join(level.strongest, ", ")));
    if (!level.expected.empty())
      out += fmt::format("; expected {}: {}", level.expected,
                         !level.is_kept      ? paint.bad("broken")
                         : level.is_complete ? paint.good("kept")
                                             : paint.unsure("unknown"));
    out += '\n';
    if (!level.is_kept) out += fmt::format("      by {}\n", level.broken_by);
  }
  if (!answer.limit.empty()) out += fmt::format("unknown: {}\n", answer.limit);
  return out;
}

std::string probe_json(const force::ProbeAnswer& answer, double seconds) {
  Json json = json_header(header_of("probe", answer, seconds));
  json["server"] = answer.product;
  json["levels"] = Json::array();
  for (const ProbedLevel& level : answer.levels) {
    Json one = {{"level", level.name},
                {"strongest", level.strongest},
                {"satisfied", level.satisfied},
                {"histories", level.histories}};
    one["expected"] = level.expected.empty() ? Json() : Json(level.expected);
    one["kept"] = level.is_kept && !level.is_complete ? Json() : Json(level.is_kept);
    if (!level.is_kept) one["broken_by"] = level.broken_by;
    one["anomalies"] = Json::array();
    for (std::size_t p = 0; p < level.cells.size(); ++p) {
      const ProbeCell& cell = level.cells[p];
      Json row = {{"probe", answer.probes[p]->name},
                  {"title", answer.probes[p]->title},
                  {"possible", cell.anomalous > 0},
                  {"schedules", cell.schedules},
                  {"anomalous", cell.anomalous},
                  {"with_waits", cell.with_waits},
                  {"errors", cell.errors}};
      if (cell.anomalous > 0) row["run"] = cell.run;
      one["anomalies"].push_back(std::move(row));
    }
    json["levels"].push_back(std::move(one));
  }
  return dump(json);
}

}  // namespace isoscope
