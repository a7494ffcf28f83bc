#include "report/synth_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/formats.h"
#include "report/explain.h"
#include "report/json.h"

namespace isoscope {

namespace {

Result<std::string> hist_of(const History& h) {
  std::string text;
  auto written = write_history(h, Format::Hist, [&](std::string_view piece) { text += piece; });
  if (!written) return written.error();
  return text;
}

std::string order_text(const History& h, const std::vector<TxnId>& order) {
  std::string out;
  for (TxnId t : order) out += (out.empty() ? "" : " ") + h.name(t);
  return out;
}

std::string pairs_text(const History& h, const Relation& relation) {
  std::string out;
  for (TxnId a : h.txns()) {
    relation.for_each_successor(a.index, [&](std::size_t b) {
      out += fmt::format("{}{}-{}", out.empty() ? "" : " ", h.name(a),
                         h.name(TxnId{static_cast<std::uint32_t>(b)}));
    });
  }
  return out;
}

std::string witness_text(const History& h, const Witness& w) {
  if (w.framework == Framework::Co) return "co " + order_text(h, w.order);
  return fmt::format("ar {}; vis {}", order_text(h, w.order),
                     w.vis ? pairs_text(h, *w.vis) : "least");
}

std::string refutation_text(const History& h, const CheckAnswer& answer) {
  if (!answer.verdict.violation) return "not rechecked";
  const Violation& v = *answer.verdict.violation;
  return fmt::format("{}: {}", explanation(h, v), common_name(v.anomaly));
}

std::string session_edges_text(const SynthFound& found) {
  std::string out;
  for (const auto& [a, b] : found.further_so)
    out += fmt::format("{}{}-{}", out.empty() ? "" : " ", found.history.name(a),
                       found.history.name(b));
  return out;
}

Result<std::string> history_text(const SynthReport& report, const SeparatingHistory& one) {
  const History& h = one.found.history;
  std::string out = "# expect";
  for (const std::string& level : report.allow) out += fmt::format("  {}: consistent", level);
  for (const std::string& level : report.forbid) out += fmt::format("  {}: violated", level);
  out += '\n';
  for (std::size_t i = 0; i < report.allow.size(); ++i)
    out += fmt::format("# allowed by {}: {}\n", report.allow[i],
                       witness_text(h, one.found.witnesses[i]));
  for (std::size_t i = 0; i < one.refutations.size(); ++i)
    out += fmt::format("# forbidden by {}: {}\n", report.forbid[i],
                       refutation_text(h, one.refutations[i]));
  if (!one.found.further_so.empty())
    out += fmt::format("# session order besides the sessions: {}\n", session_edges_text(one.found));
  auto text = hist_of(h);
  if (!text) return text.error();
  return out + *text;
}

Json scope_json(const Scope& scope) {
  return {{"txns", scope.txns},
          {"keys", scope.keys},
          {"values", scope.values},
          {"ops", scope.ops},
          {"blind_writes", scope.blind_writes},
          {"empty_txns", scope.empty_txns},
          {"sessions", scope.sessions == SessionShape::Chains ? "chains" : "partial-order"}};
}

}  // namespace

std::string describe(const Scope& scope) {
  std::string out = fmt::format("{} transaction{}, at most {} key{}", scope.txns,
                                scope.txns == 1 ? "" : "s", scope.keys, scope.keys == 1 ? "" : "s");
  if (scope.values > 0) out += fmt::format(" and {} values", scope.values);
  if (scope.ops > 0) out += fmt::format(", at most {} operations each", scope.ops);
  out += scope.blind_writes ? ", blind writes allowed" : ", no blind writes";
  if (scope.empty_txns) out += ", empty transactions allowed";
  out += scope.sessions == SessionShape::Chains ? ", sessions are chains"
                                                : ", sessions are partial orders";
  return out;
}

Result<std::string> synth_text(const SynthReport& report, const Paint& paint) {
  std::string out;
  if (report.count)
    return fmt::format("{}{} histories up to renaming: {}\n",
                       report.outcome == SynthOutcome::Unknown ? "at least " : "", *report.count,
                       describe(report.scope));
  if (report.outcome == SynthOutcome::None)
    return fmt::format("{}  no such history: {}\n", paint.good("none"), describe(report.scope));
  if (report.histories.empty())
    return fmt::format("{}  {}\n", paint.unsure("unknown"), report.limit);
  out += fmt::format(
      "# {}: {}\n",
      report.histories.size() == 1 ? "found" : fmt::format("found {}", report.histories.size()),
      describe(report.scope));
  for (const SeparatingHistory& one : report.histories) {
    auto text = history_text(report, one);
    if (!text) return text.error();
    out += (report.histories.size() > 1 ? "\n" : "") + *text;
  }
  if (report.outcome == SynthOutcome::Unknown)
    out += fmt::format("# there may be more: {}\n", report.limit);
  return out;
}

Result<std::string> synth_json(const SynthReport& report) {
  Json json = json_header("synth", name_of(report.outcome), report.seconds);
  for (const auto& [name, value] : report.stats.all()) json["stats"][name] = value;
  json["allow"] = report.allow;
  json["forbid"] = report.forbid;
  json["scope"] = scope_json(report.scope);
  json["candidates"] = report.stats.get("candidates").value_or(0);
  json["clauses"] = report.stats.get("clauses").value_or(0);
  if (report.count) json["count"] = *report.count;
  if (!report.limit.empty()) json["limit"] = report.limit;
  json["histories"] = Json::array();
  json["witnesses"] = Json::array();
  for (const SeparatingHistory& one : report.histories) {
    const History& h = one.found.history;
    auto text = hist_of(h);
    if (!text) return text.error();
    Json entry = {{"hist", *text},
                  {"rechecked", one.found.is_rechecked},
                  {"operations", one.found.operations}};
    entry["refutations"] = Json::array();
    for (std::size_t i = 0; i < one.refutations.size(); ++i)
      entry["refutations"].push_back(
          {{"level", report.forbid[i]}, {"explanation", refutation_text(h, one.refutations[i])}});
    json["histories"].push_back(std::move(entry));
    Json witnesses = Json::array();
    for (std::size_t i = 0; i < report.allow.size(); ++i)
      witnesses.push_back(
          {{"level", report.allow[i]}, {"witness", witness_text(h, one.found.witnesses[i])}});
    json["witnesses"].push_back(std::move(witnesses));
  }
  return dump(json);
}

}  // namespace isoscope
