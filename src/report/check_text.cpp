#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/check_report.h"
#include "report/explain.h"
#include "report/shown.h"
#include "verdict/involved.h"

namespace isoscope {

namespace {

constexpr std::size_t kMostEventsShown = 12;  // of a transaction on the keys involved
constexpr std::size_t kMostTxnsShown = 12;

// "s2  T3  [r(x,1) w(y,2) …]  line 7": only events on keys of the violation.
std::string txn_line(const History& h, TxnId t, const std::vector<KeyId>& keys) {
  std::string events;
  std::size_t told = 0;
  bool left_out = false;
  for (EventId e : h.events(t)) {
    const bool relevant = std::find(keys.begin(), keys.end(), h.key(e)) != keys.end();
    if (relevant && told < kMostEventsShown) {
      events += (events.empty() ? "" : " ") + show_event(h, e);
      ++told;
    } else {
      left_out = true;
    }
  }
  if (left_out) events += events.empty() ? "…" : " …";
  const char* mark = h.status(t) == TxnStatus::Aborted   ? "!"
                     : h.status(t) == TxnStatus::Unknown ? "?"
                                                         : "";
  const Place place = h.place(t);
  std::string where;
  if (place.line > 0) {
    where = fmt::format("  ({})",
                        h.counts_records() ? h.show(place) : fmt::format("line {}", place.line));
  }
  return fmt::format("{}: {}=[{}]{}{}", shown(h, h.session(t)), shown(h, t), events, mark, where);
}

std::string violation_text(const History& h, const Violation& v, const Paint& paint) {
  std::string out;
  std::size_t width = 0;
  std::vector<std::string> heads;
  for (const Edge& e : v.cycle) {
    const std::string key = e.key.is_none() ? "" : fmt::format(" {}", shown(h, e.key));
    heads.push_back(
        fmt::format("{} -{}{}-> {}", shown(h, e.from), name_of(e.kind), key, shown(h, e.to)));
    width = std::max(width, heads.back().size());
  }
  for (std::size_t i = 0; i < v.cycle.size(); ++i)
    out += fmt::format("    {}  {}\n", paint.strong(fmt::format("{:<{}}", heads[i], width)),
                       why(h, v.cycle[i]));
  const auto keys = involved_keys(h, v);
  auto txns = involved_txns(h, v);
  std::sort(txns.begin(), txns.end());
  std::size_t told = 0;
  for (TxnId t : txns) {
    if (t == kInitialTxn) continue;
    if (++told > kMostTxnsShown) {
      out += paint.faint("    …\n");
      break;
    }
    out += paint.faint(fmt::format("    {}", txn_line(h, t, keys))) + "\n";
  }
  return out;
}

// "T1 comes before T2 on x", in which both write or lock x.
std::string chosen_text(const History& part, const ChosenOrder& order) {
  std::string rows;
  for (const std::string& row : order.rows) rows += (rows.empty() ? "" : ", ") + printable(row);
  return fmt::format("{} commits before {}{}", shown(part, order.first), shown(part, order.second),
                     rows.empty() ? "" : fmt::format(" (both write or lock {})", rows));
}

// Each way to order those who write or lock a common row, with the cycle that it closes.
std::string orders_text(const TriedOrders& orders, const Paint& paint) {
  std::string out;
  for (const TriedOrder& tried : orders.tried) {
    std::string chosen;
    for (const ChosenOrder& one : tried.chosen)
      chosen += (chosen.empty() ? "" : ", and ") + chosen_text(orders.part, one);
    out += fmt::format("    {} {}:\n", paint.strong("if"), chosen);
    for (const Edge& e : tried.cycle)
      out += fmt::format("      {} -{}{}-> {}  {}\n", shown(orders.part, e.from), name_of(e.kind),
                         e.key.is_none() ? "" : " " + shown(orders.part, e.key),
                         shown(orders.part, e.to), why(orders.part, e));
  }
  return out;
}

std::string named(const Violation& v) {
  const auto name = common_name(v.anomaly);
  const auto adya = adya_name(v.anomaly);
  return adya.empty() ? std::string(name) : fmt::format("{} ({})", name, adya);
}

// "12 violations: 9 lost update, 3 write skew", then one example of each.
std::string all_text(const History& h, const AllViolations& all, const Paint& paint) {
  std::string counts;
  std::string examples;
  for (const AnomalyGroup& group : all.groups) {
    counts +=
        fmt::format("{}{} {}", counts.empty() ? "" : ", ", group.count, common_name(group.anomaly));
    examples +=
        fmt::format("  {}, {}\n    {}\n{}", paint.strong(named(group.example)),
                    group.count == 1 ? "once:" : fmt::format("{} times; the first:", group.count),
                    explanation(h, group.example), violation_text(h, group.example, paint));
  }
  return fmt::format("{}{} violation{}: {}\n{}", all.complete ? "" : "at least ", all.total(),
                     all.total() == 1 ? "" : "s", counts, examples);
}

constexpr std::size_t kMostWritersShown = 8;

// What the answer says about reads with several possible writers.
std::string choice_text(const ChoiceAnswer& choice, Outcome outcome, const Paint& paint) {
  const History& h = *choice.chosen;
  const std::size_t reads = h.choices().size();
  const std::string of_reads =
      fmt::format("{} read{} more than one possible writer", reads, reads == 1 ? " has" : "s have");
  if (outcome == Outcome::Unknown) return {};
  if (outcome == Outcome::Violated)
    return paint.faint(
        choice.for_all_choices
            ? fmt::format("    {}, but the violation rests on none of them\n", of_reads)
            : fmt::format("    {}; every choice is violated, this is the last of {} "
                          "that were tried\n",
                          of_reads, choice.proposals));
  std::string out = paint.faint(fmt::format("    {}; consistent if\n", of_reads));
  for (std::size_t i = 0; i < std::min(reads, kMostWritersShown); ++i) {
    const EventId read = h.choices()[i].read;
    out += paint.faint(fmt::format("      {} reads {} = {} from {} ({})\n", shown(h, h.txn(read)),
                                   shown(h, h.key(read)), shown(h, h.value(read)),
                                   shown(h, h.writer(read)), where(h, read)));
  }
  if (reads > kMostWritersShown) out += paint.faint("      …\n");
  return out;
}

}  // namespace

std::string violation_line(const History& h, const Violation& v, std::size_t number) {
  return fmt::format("{}. {}: {}", number, explanation(h, v), named(v));
}

std::string check_text(const CheckReport& report, const Paint& paint) {
  std::size_t width = 4;
  for (const LevelAnswer& level : report.levels) width = std::max(width, level.level.size());
  std::string out;
  // One violation often explains several levels: tell its edges once.
  std::string last_told;
  for (const LevelAnswer& level : report.levels) {
    const History& h = level.history(report.h);
    const Verdict& verdict = level.answer.verdict;
    const std::string choice =
        level.choice ? choice_text(*level.choice, verdict.outcome, paint) : std::string();
    out += fmt::format(
        "{:<{}}  {}", level.level, width,
        painted(fmt::format("{:<10}", name_of(verdict.outcome)), verdict.outcome, paint));
    if (verdict.outcome == Outcome::Unknown) out += "  " + verdict.limit;
    const std::string certificate =
        level.certificate ? paint.faint("    " + certificate_line(*level.certificate)) + "\n" : "";
    if (!verdict.violation) {
      out += '\n' + choice + certificate;
      continue;
    }
    if (report.strongest) {  // which levels hold was asked, not why the others do not
      out += fmt::format("  {}\n{}", named(*verdict.violation), certificate);
      continue;
    }
    if (level.all) {
      out += "  " + all_text(h, *level.all, paint) + choice + certificate;
      continue;
    }
    std::string text = fmt::format("  {}: {}\n{}", explanation(h, *verdict.violation),
                                   paint.strong(named(*verdict.violation)),
                                   (level.orders ? orders_text(*level.orders, paint) : "") +
                                       violation_text(h, *verdict.violation, paint) + choice);
    out += text == last_told
               ? fmt::format("  the same {}\n", common_name(verdict.violation->anomaly))
               : text;
    last_told = std::move(text);
    out += certificate;
  }
  if (report.strongest)
    out += report.strongest->empty()
               ? "none of these levels holds\n"
               : fmt::format("strongest that hold: {}\n",
                             paint.strong(fmt::format("{}", fmt::join(*report.strongest, ", "))));
  if (report.is_minimal && !*report.is_minimal)
    out += paint.unsure(
        fmt::format("the part that was written is not minimal: {} was reached\n", limit_reached()));
  return out;
}

}  // namespace isoscope
