// Histories that synth finds, as pictures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "report/dot.h"
#include "report/explain.h"
#include "report/synth_report.h"

namespace isoscope {

namespace {

using Arrow = std::tuple<TxnId, TxnId, EdgeKind, KeyId>;

class HistoryPicture {
 public:
  HistoryPicture(const SynthReport& report, std::size_t number)
      : report_(report),
        number_(number),
        one_(report.histories[number]),
        h_(one_.found.history),
        violation_(one_.refutations.empty() ? nullptr : violation_of(one_.refutations.front())) {}

  std::string draw() const {
    std::string out =
        fmt::format("  subgraph cluster_{} {{\n    label={};\n", number_ + 1, dot_string(title()));
    for (TxnId t : h_.txns()) {
      if (t != kInitialTxn || is_initial_drawn()) out += node(t);
    }
    std::map<Arrow, bool> arrows;  // is it in the cycle?
    for (const Arrow& arrow : facts()) arrows[arrow] = false;
    if (violation_ != nullptr) {
      for (const Edge& e : violation_->cycle) arrows[{e.from, e.to, e.kind, e.key}] = true;
    }
    for (const auto& [arrow, in_cycle] : arrows) out += edge(arrow, in_cycle);
    return out + "  }\n";
  }

 private:
  static const Violation* violation_of(const CheckAnswer& answer) {
    return answer.verdict.violation ? &*answer.verdict.violation : nullptr;
  }

  std::string title() const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < report_.allow.size(); ++i)
      lines.push_back(fmt::format("allowed by {}: {}", report_.allow[i],
                                  witness_text(h_, one_.found.witnesses[i])));
    for (std::size_t i = 0; i < one_.refutations.size(); ++i) {
      const Violation* v = violation_of(one_.refutations[i]);
      lines.push_back(fmt::format("forbidden by {}{}{}", report_.forbid[i], v ? ": " : "",
                                  v ? common_name(v->anomaly) : ""));
    }
    return fmt::format("{}", fmt::join(lines, "\n"));
  }

  // T0 is in the picture where somebody reads from it, or the cycle goes through it.
  bool is_initial_drawn() const {
    for (TxnId t : h_.txns()) {
      for (EventId e : h_.events(t)) {
        if (h_.is_external_read(e) && h_.writer(e) == kInitialTxn) return true;
      }
    }
    if (violation_ == nullptr) return false;
    return std::any_of(violation_->cycle.begin(), violation_->cycle.end(),
                       [](const Edge& e) { return e.from == kInitialTxn; });
  }

  std::string name(TxnId t) const { return fmt::format("h{}t{}", number_ + 1, t.index); }

  std::string node(TxnId t) const {
    std::string label = h_.name(t);
    if (t == kInitialTxn) {
      label += "\ninitial state";
    } else {
      label += fmt::format(" ({})", h_.name(h_.session(t)));
      for (EventId e : h_.events(t)) label += "\n" + show_event(h_, e);
    }
    return fmt::format("    {} [label={}];\n", name(t), dot_string(label));
  }

  std::string edge(const Arrow& arrow, bool in_cycle) const {
    const auto& [from, to, kind, key] = arrow;
    const std::string on = key.is_none() ? "" : " " + h_.name(key);
    return fmt::format("    {} -> {} [label={}, color={}, fontcolor={}{}];\n", name(from), name(to),
                       dot_string(fmt::format("{}{}", name_of(kind), on)), dot_colour(kind),
                       dot_colour(kind), in_cycle ? ", penwidth=2.5" : "");
  }

  // The steps of so, and wr.
  std::vector<Arrow> facts() const {
    std::vector<Arrow> arrows;
    std::vector<TxnId> last(h_.num_sessions(), TxnId::none());
    for (TxnId t : h_.txns()) {
      if (t == kInitialTxn) continue;
      TxnId& previous = last[h_.session(t).index];
      if (!previous.is_none()) arrows.emplace_back(previous, t, EdgeKind::So, KeyId::none());
      previous = t;
      for (EventId e : h_.events(t)) {
        if (h_.is_external_read(e)) arrows.emplace_back(h_.writer(e), t, EdgeKind::Wr, h_.key(e));
      }
    }
    for (const auto& [a, b] : one_.found.further_so)
      arrows.emplace_back(a, b, EdgeKind::So, KeyId::none());
    return arrows;
  }

  const SynthReport& report_;
  std::size_t number_;
  const SeparatingHistory& one_;
  const History& h_;
  const Violation* violation_;
};

}  // namespace

std::string synth_dot(const SynthReport& report) {
  std::string out =
      "digraph isoscope {\n"
      "  rankdir=LR;\n  fontname=\"Helvetica\";\n  color=gray70;\n"
      "  node [shape=box, style=rounded, fontname=\"Helvetica\"];\n"
      "  edge [fontname=\"Helvetica\", fontsize=11];\n";
  for (std::size_t i = 0; i < report.histories.size(); ++i) out += HistoryPicture(report, i).draw();
  return out + "}\n";
}

}  // namespace isoscope
