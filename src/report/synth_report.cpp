#include "report/synth_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/formats.h"
#include "history/builder.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/snapshots.h"
#include "report/witness_json.h"
#include "support/assert.h"

namespace isoscope {

namespace {

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

std::string refutation_text(const History& h, const CheckAnswer& answer) {
  if (!answer.verdict.violation) return "not rechecked";
  const Violation& v = *answer.verdict.violation;
  return fmt::format("{}: {}", explanation(h, v), common_name(v.anomaly));
}

// Of each statement that reads: T2/1 up to T1.
std::string snapshots_text(const History& h, const Witness& w) {
  std::string out;
  for_each_snapshot(h, w, [&](TxnId t, std::uint32_t statement, TxnId last) {
    out += fmt::format("{}{}/{} up to {}", out.empty() ? "snap " : ", ", h.name(t), statement,
                       h.name(last));
  });
  return out.empty() ? "no snapshots" : out;
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
  std::string out;
  if (one.found.further_so.empty()) {  // else the text does not say all that the levels see
    out += "# expect";
    for (const std::string& level : report.allow) out += fmt::format("  {}: consistent", level);
    for (const std::string& level : report.forbid) out += fmt::format("  {}: violated", level);
    out += '\n';
  }
  for (std::size_t i = 0; i < report.allow.size(); ++i)
    out += fmt::format("# allowed by {}: {}\n", report.allow[i],
                       witness_text(h, one.found.witnesses[i]));
  for (std::size_t i = 0; i < one.refutations.size(); ++i)
    out += fmt::format("# forbidden by {}: {}\n", report.forbid[i],
                       refutation_text(h, one.refutations[i]));
  if (!one.found.further_so.empty())
    out += fmt::format("# session order besides the sessions, which no format can say: {}\n",
                       session_edges_text(one.found));
  auto text = text_in(h, Format::Hist);
  if (!text) return text.error();
  return out + *text;
}

std::string counted(int number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

// What was found: "found", "found 3 irreducible histories".
std::string headline(const SynthReport& report) {
  if (!report.minimality) return "found";
  const auto number = report.histories.size();
  return fmt::format("found {} {} histor{}", number,
                     *report.minimality == Minimality::Fewest ? "minimal" : "irreducible",
                     number == 1 ? "y" : "ies");
}

// Of a search that found nothing in time.
std::string unknown_text(const SynthReport& report, const Paint& paint) {
  std::string out = fmt::format("{}  {}", paint.unsure("unknown"), report.limit);
  if (report.excluded_txns > 0)
    out += fmt::format("; there is none up to {}", counted(report.excluded_txns, "transaction"));
  return out + fmt::format("\n  searched last: {}\n", describe_searched(report.scope, false));
}

// Formats whose keys are numbers.
bool has_number_keys(Format format) {
  return format == Format::Plume || format == Format::AwditTest || format == Format::Dbcop;
}

// The same history with keys 0, 1, …: the names x, y, … are ours, so they may as well be numbers.
// Requires: no key is a list, as in all that synth finds.
History with_number_keys(const History& h) {
  HistoryBuilder builder(InitialValues::Zero);
  std::vector<KeyId> keys;
  for (KeyId x : h.keys()) keys.push_back(builder.key(static_cast<std::int64_t>(x.index)));
  for (SessionId s : h.sessions()) {
    const SessionId session = builder.session(h.name(s));
    for (TxnId t : h.session_txns(s)) {
      const TxnId txn = builder.begin(session, h.status(t), {});
      for (EventId e : h.events(t)) {
        const KeyId key = keys[h.key(e).index];
        if (h.is_read(e)) {
          builder.read(txn, key, h.value(e), {});
        } else {
          builder.write(txn, key, h.value(e), {});
        }
      }
    }
  }
  auto renamed = std::move(builder).build();
  ISO_ASSERT(renamed.ok());
  return *std::move(renamed);
}

Result<Json> history_json(const SynthReport& report, const SeparatingHistory& one) {
  const History& h = one.found.history;
  auto hist = text_in(h, Format::Hist);
  if (!hist) return hist.error();
  Json json = {
      {"hist", *hist}, {"rechecked", one.found.is_rechecked}, {"operations", one.found.operations}};
  if (report.format) {
    auto text = history_file(report, one, *report.format);
    if (!text) return text.error();
    json["format"] = name_of(*report.format);
    json["text"] = *text;
  }
  if (!one.found.further_so.empty()) {
    json["so"] = Json::array();  // besides the sessions
    for (const auto& [a, b] : one.found.further_so) json["so"].push_back({h.name(a), h.name(b)});
  }
  json["refutations"] = Json::array();
  for (std::size_t i = 0; i < one.refutations.size(); ++i)
    json["refutations"].push_back(
        {{"level", report.forbid[i]}, {"explanation", refutation_text(h, one.refutations[i])}});
  return json;
}

}  // namespace

Result<std::string> text_in(const History& h, Format format) {
  std::string text;
  auto written = write_history(h, format, [&](std::string_view piece) { text += piece; });
  if (!written) return written.error();
  return text;
}

std::string witness_text(const History& h, const Witness& w) {
  if (w.framework == Framework::Co) return "co " + order_text(h, w.order);
  if (w.framework == Framework::CoSnap)
    return fmt::format("co {}; {}", order_text(h, w.order), snapshots_text(h, w));
  return fmt::format("ar {}; vis {}", order_text(h, w.order),
                     w.vis ? pairs_text(h, *w.vis) : "least");
}

Result<std::string> history_file(const SynthReport& report, const SeparatingHistory& one,
                                 Format format) {
  if (format == Format::Hist) {
    auto text = history_text(report, one);
    if (!text) return text.error();
    return fmt::format("# found: {}\n{}", describe(report.scope), *text);
  }
  if (!one.found.further_so.empty())
    return Error{
        .what = fmt::format("{} cannot hold a session order that is no chain", name_of(format)),
        .hint = "--to hist states it in a comment; --sessions chains does without"};
  // Numbers for keys are our choice; statements, locks and times the format refuses by itself.
  if (has_number_keys(format) && !report.scope.has_statements && !report.scope.has_times)
    return text_in(with_number_keys(one.found.history), format);
  return text_in(one.found.history, format);
}

std::string_view name_of(StatementShape shape) {
  switch (shape) {
    case StatementShape::Any: return "any";
    case StatementShape::NoInserts: return "no-inserts";
    case StatementShape::NoLocks: return "no-locks";
    case StatementShape::Single: return "single";
  }
  return "";
}

std::string describe_switches(const Scope& scope) {
  return fmt::format("{}, {}, {}", scope.blind_writes ? "blind writes allowed" : "no blind writes",
                     scope.empty_txns ? "empty transactions allowed" : "no empty transactions",
                     scope.sessions == SessionShape::Chains ? "sessions are chains"
                                                            : "sessions are partial orders");
}

namespace {

std::string keys_text(const Scope& scope) {
  std::string out = "at most " + counted(scope.keys, "key");
  if (scope.least_keys > 0)
    out += fmt::format(" (one more than transactions, and at least {})", scope.least_keys);
  return out;
}

// What the searched histories say of statements and locks.
std::string statements_text(const Scope& scope) {
  std::string out = fmt::format("at most {} of a transaction, ", counted(scope.reads, "operation"));
  switch (scope.statements) {
    case StatementShape::Any:
      out += scope.has_inserts ? "in statements, with FOR UPDATE, FOR SHARE and inserts"
                               : "in statements, with FOR UPDATE and FOR SHARE";
      break;
    case StatementShape::NoInserts:
      out += "in statements, with FOR UPDATE and FOR SHARE, without inserts";
      break;
    case StatementShape::NoLocks: out += "in statements, without locks and inserts"; break;
    case StatementShape::Single:
      out += "each a statement of its own, without locks and inserts";
      break;
  }
  return out + ", each key a row of its own, without KEY SHARE and deletes";
}

std::string reads_text(const Scope& scope) {
  if (scope.has_statements) return statements_text(scope);
  if (scope.reads > 0)
    return fmt::format("at most {} of a transaction, in any order", counted(scope.reads, "read"));
  return scope.repeated_reads ? "a key may be read from several writers by one transaction"
                              : "each key read at most once by a transaction";
}

}  // namespace

std::string describe_searched(const Scope& scope, bool grew) {
  std::string out = (grew && scope.txns > 1 ? "1 to " : "") + counted(scope.txns, "transaction");
  if (scope.keys > 0) out += ", " + keys_text(scope);
  // More values than transactions and the initial one cannot be written.
  out += scope.values > 0 && scope.values <= scope.txns
             ? ", at most " + counted(scope.values, "value") + " of a key"
             : ", any values";
  out +=
      scope.ops > 0 ? ", at most " + counted(scope.ops, "operation") + " each" : ", any operations";
  return fmt::format("{}, {}, {}{}, {}", out, reads_text(scope),
                     scope.has_times ? "any times that agree with the sessions, " : "",
                     scope.aborted_txns ? "transactions may abort unless they only write"
                                        : "all transactions commit",
                     describe_switches(scope));
}

std::string describe(const Scope& scope) {
  std::string out = counted(scope.txns, "transaction");
  if (scope.keys > 0) out += ", at most " + counted(scope.keys, "key");
  if (scope.values > 0)
    out += fmt::format(" {}{}", scope.keys > 0 ? "and " : ", at most ",
                       counted(scope.values, "value"));
  if (scope.ops > 0) out += fmt::format(", at most {} each", counted(scope.ops, "operation"));
  return out + ", " + describe_switches(scope);
}

Json scope_json(const Scope& scope) {
  return {{"txns", scope.txns},
          {"keys", scope.keys},
          {"values", scope.values},
          {"ops", scope.ops},
          {"reads", scope.reads},
          {"least_keys", scope.least_keys},
          {"repeated_reads", scope.repeated_reads},
          {"aborted_txns", scope.aborted_txns},
          {"blind_writes", scope.blind_writes},
          {"empty_txns", scope.empty_txns},
          {"statements", name_of(scope.statements)},
          {"has_statements", scope.has_statements},
          {"has_inserts", scope.has_inserts},
          {"has_times", scope.has_times},
          {"sessions", scope.sessions == SessionShape::Chains ? "chains" : "partial-order"}};
}

namespace {

std::string certificate_text(const SynthReport& report, std::string_view before) {
  if (!report.certificate) return {};
  return fmt::format("{}{}\n", before, certificate_line(*report.certificate));
}

}  // namespace

Result<std::string> synth_text(const SynthReport& report, const Paint& paint) {
  std::string out;
  if (report.count && report.outcome == SynthOutcome::Unknown)
    return fmt::format("{}  {}: at least {} histories up to renaming: {}\n",
                       paint.unsure("unknown"), report.limit, *report.count,
                       describe(report.scope));
  if (report.count)
    return fmt::format("{} histories up to renaming: {}\n", *report.count, describe(report.scope));
  if (report.outcome == SynthOutcome::None)
    return fmt::format("{}  no such history: {}\n", paint.good("none"),
                       describe_searched(report.scope, report.excluded_txns > 0)) +
           certificate_text(report, "      ");
  if (report.histories.empty())
    return unknown_text(report, paint) + certificate_text(report, "         ");
  out += fmt::format("# {}: {}\n", headline(report), describe(report.scope));
  for (const SeparatingHistory& one : report.histories) {
    auto text = history_text(report, one);
    if (!text) return text.error();
    out += (report.histories.size() > 1 ? "\n" : "") + *text;
  }
  if (report.outcome == SynthOutcome::Unknown) out += fmt::format("# {}\n", report.limit);
  return out + certificate_text(report, "# ");
}

Header header_of(const SynthReport& report) {
  Header header = header_of(
      "synth", {.outcome = report.verdict(), .limit = report.limit, .stats = report.stats},
      report.seconds);
  // A count is what was asked for, whatever it is.
  if (report.count && header.outcome == Outcome::Found) header.outcome = Outcome::Ok;
  return header;
}

Result<std::string> synth_json(const SynthReport& report) {
  Json json = json_header(header_of(report));
  json["allow"] = report.allow;
  json["forbid"] = report.forbid;
  json["scope"] = scope_json(report.scope);
  json["candidates"] = report.stats.get("candidates").value_or(0);
  json["clauses"] = report.stats.get("clauses").value_or(0);
  if (report.count) json["count"] = *report.count;
  if (report.minimality)
    json["minimality"] = *report.minimality == Minimality::Fewest ? "fewest" : "irreducible";
  if (report.excluded_txns > 0) json["excluded_txns"] = report.excluded_txns;
  if (report.certificate) json["certificate"] = certificate_json(*report.certificate);
  json["histories"] = Json::array();
  json["witnesses"] = Json::array();
  for (const SeparatingHistory& one : report.histories) {
    auto entry = history_json(report, one);
    if (!entry) return entry.error();
    json["histories"].push_back(*std::move(entry));
    Json witnesses = Json::array();
    for (std::size_t i = 0; i < report.allow.size(); ++i)
      witnesses.push_back({{"level", report.allow[i]},
                           {"witness", witness_json(one.found.history, one.found.witnesses[i])}});
    json["witnesses"].push_back(std::move(witnesses));
  }
  return dump(json);
}

}  // namespace isoscope
