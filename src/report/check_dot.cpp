#include <fmt/format.h>

#include <algorithm>

#include "report/check_report.h"
#include "report/dot.h"
#include "report/explain.h"
#include "report/shown.h"
#include "verdict/involved.h"

namespace isoscope {

namespace {

constexpr std::size_t kMostEventsDrawn = 10;
constexpr std::size_t kMostTxnsDrawn = 60;  // of a consistent order

std::string node(const History& h, TxnId t, const std::vector<KeyId>& keys) {
  std::string label = shown(h, t);
  if (t == kInitialTxn) {
    label += "\ninitial state";
  } else {
    label += fmt::format(" ({})", shown(h, h.session(t)));
    std::size_t drawn = 0;
    bool left_out = false;
    for (EventId e : h.events(t)) {
      const bool relevant = std::find(keys.begin(), keys.end(), h.key(e)) != keys.end();
      if (relevant && drawn < kMostEventsDrawn) {
        label += "\n" + show_event(h, e);
        ++drawn;
      } else {
        left_out = true;
      }
    }
    if (left_out) label += "\n…";
  }
  const char* style = h.status(t) == TxnStatus::Aborted ? ", style=\"rounded,dashed\"" : "";
  return fmt::format("  t{} [label={}{}];\n", t.index, dot_string(label), style);
}

// Forced edges stand on others; those are drawn thin behind them.
void draw(const History& h, const std::vector<Edge>& edges, bool in_cycle,
          std::vector<std::string>& lines) {
  for (const Edge& e : edges) {
    const std::string key = e.key.is_none() ? "" : " " + shown(h, e.key);
    lines.push_back(fmt::format(
        "  t{} -> t{} [label={}, color={}, fontcolor={}{}];\n", e.from.index, e.to.index,
        dot_string(fmt::format("{}{}", name_of(e.kind), key)), dot_colour(e.kind),
        dot_colour(e.kind), in_cycle ? ", penwidth=2" : ", style=dotted, constraint=false"));
    draw(h, e.path, false, lines);
    if (!e.read.is_none() && (e.kind == EdgeKind::Co || e.kind == EdgeKind::Ww))
      lines.push_back(
          fmt::format("  t{} -> t{} [label={}, color=forestgreen, fontcolor=forestgreen, "
                      "style=dotted, constraint=false];\n",
                      e.to.index, h.txn(e.read).index, dot_string("wr " + shown(h, e.key))));
  }
}

std::string head(std::string_view title) {
  return fmt::format(
      "digraph isoscope {{\n"
      "  label={};\n  labelloc=t;\n  rankdir=LR;\n  fontname=\"Helvetica\";\n"
      "  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=11];\n",
      dot_string(title));
}

}  // namespace

std::string check_dot(const History& h, const LevelAnswer& level) {
  const Verdict& verdict = level.answer.verdict;
  std::string out;
  if (verdict.violation) {
    const Violation& v = *verdict.violation;
    out = head(
        fmt::format("{} violated: {}\n{}", level.level, common_name(v.anomaly), explanation(h, v)));
    const auto keys = involved_keys(h, v);
    for (TxnId t : involved_txns(h, v)) out += node(h, t, keys);
    std::vector<std::string> lines;
    draw(h, v.cycle, true, lines);
    std::vector<std::string> drawn;
    for (const std::string& line : lines) {
      if (std::find(drawn.begin(), drawn.end(), line) == drawn.end()) drawn.push_back(line);
    }
    for (const std::string& line : drawn) out += line;
  } else {
    out = head(fmt::format("{} {}", level.level, name_of(verdict.outcome)));
    TxnId previous = TxnId::none();
    std::size_t count = 0;
    std::vector<KeyId> keys;
    for (KeyId x : h.keys()) keys.push_back(x);
    if (verdict.witness) {
      for (TxnId t : verdict.witness->order) {
        if (++count > kMostTxnsDrawn) break;
        out += node(h, t, keys);
        if (!previous.is_none())
          out += fmt::format("  t{} -> t{} [label={}];\n", previous.index, t.index,
                             verdict.witness->framework == Framework::VisAr ? "ar" : "co");
        previous = t;
      }
    }
  }
  return out + "}\n";
}

}  // namespace isoscope
