#include "report/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/json.h"
#include "report/markup.h"
#include "support/input.h"
#include "support/version.h"

namespace isoscope {

namespace {

struct RuleHelp {
  std::string_view rule;
  std::string_view help;
};
constexpr RuleHelp kRuleHelp[] = {
    {"broken-claim", "Calls side by side break a claim about rows that they keep in every order."},
    {"thin-air-read", "A read shows a value that no transaction wrote."},
    {"aborted-read", "A read shows what a transaction wrote that aborted."},
    {"intermediate-read", "A read shows a value that its writer overwrote before it committed."},
    {"future-read", "A read shows what its own transaction writes only later."},
    {"own-write-violation", "A transaction does not see what it wrote itself."},
    {"incompatible-order", "Two reads of a list show its elements in contradicting orders."},
    {"dirty-write", "Two transactions overwrite each other in contradicting orders."},
    {"circular-information-flow", "Transactions depend on their own future."},
    {"non-monotonic-read", "After a transaction was seen, a read shows what it had overwritten."},
    {"non-repeatable-read", "One transaction reads one key from two transactions."},
    {"stale-session-read", "A session does not see what it wrote or saw before."},
    {"fractured-read", "A part of a transaction is seen and another part is not."},
    {"causality-violation", "An effect is seen without its cause."},
    {"long-fork", "Two readers see two writes in opposite orders."},
    {"lost-update",
     "Two transactions overwrite the same version, and one update is lost. SELECT … FOR UPDATE, an "
     "UPDATE that computes the new value itself, or a stronger level prevents it."},
    {"read-skew", "A transaction sees a state that never existed at one moment."},
    {"write-skew",
     "Two transactions each overwrite what the other read. Lock what the decision rests on, or use "
     "serializable isolation."},
    {"read-only-anomaly", "Only a transaction that writes nothing shows that no order fits."},
    {"serialization-cycle", "No serial order explains the transactions."},
};

constexpr std::string_view kOtherHelp = "No order of the transactions explains what they saw.";

// FNV-1a: the same on every machine and in every version.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

// The name of a file as a reference of RFC 3986; an absolute one is of the scheme file.
std::string uri_of(std::string_view file) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/!$&'()*+,;=@";
  std::string out = file.starts_with('/') ? "file://" : "";
  for (const char c : file) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

Json location_json(const FindingPlace& place) {
  Json physical = {{"artifactLocation", {{"uri", uri_of(place.file)}}}};
  if (place.line > 0) {
    physical["region"] = {{"startLine", place.line}};
    if (place.column > 0) physical["region"]["startColumn"] = place.column;
  }
  Json json = {{"physicalLocation", std::move(physical)}};
  if (!place.message.empty()) json["message"] = {{"text", place.message}};
  return json;
}

// GitHub's own escapes; a property may hold neither a colon nor a comma.
std::string annotation_escape(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : printable(text)) {
    const bool is_special = c == '%' || (is_property && (c == ':' || c == ','));
    if (is_special) {
      out += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string Finding::fingerprint() const {
  return fmt::format("{:016x}", hash_of(rule + "\n" + place.file + "\n" + identity));
}

std::string_view rule_help(std::string_view rule) {
  const auto* found = std::ranges::find(kRuleHelp, rule, &RuleHelp::rule);
  return found == std::end(kRuleHelp) ? kOtherHelp : found->help;
}

std::string rule_of(std::string_view anomaly) {
  std::string rule(anomaly.empty() ? "violation" : anomaly);
  std::ranges::replace(rule, ' ', '-');
  return rule;
}

std::string junit_text(const Findings& findings) {
  const auto count = [&](Outcome outcome) {
    return std::ranges::count(findings.cases, outcome, &FindingCase::outcome);
  };
  double seconds = 0;
  for (const FindingCase& one : findings.cases) seconds += one.seconds;
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"isoscope {}\" "
      "tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\">\n",
      findings.command, findings.cases.size(), count(Outcome::Violated), count(Outcome::Unknown),
      seconds);
  for (const FindingCase& one : findings.cases) {
    out += fmt::format("<testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">",
                       markup(findings.source), markup(one.name), one.seconds);
    if (one.outcome != Outcome::Consistent) {
      const char* tag = one.outcome == Outcome::Violated ? "failure" : "error";
      out += fmt::format("<{0} message=\"{1}\">{2}</{0}>", tag, markup(one.message),
                         markup(one.details));
    }
    out += "</testcase>\n";
  }
  return out + "</testsuite>\n</testsuites>\n";
}

std::string sarif_text(const Findings& findings) {
  Json rules = Json::array();
  Json results = Json::array();
  std::map<std::string, std::size_t> rule_indexes;
  for (const Finding& finding : findings.findings) {
    const auto [at, is_new] = rule_indexes.emplace(finding.rule, rules.size());
    if (is_new)
      rules.push_back({{"id", finding.rule},
                       {"shortDescription", {{"text", finding.rule}}},
                       {"fullDescription", {{"text", rule_help(finding.rule)}}},
                       {"help", {{"text", rule_help(finding.rule)}}}});
    Json related = Json::array();
    for (const FindingPlace& place : finding.related) {
      Json location = location_json(place);
      location["id"] = related.size() + 1;
      related.push_back(std::move(location));
    }
    Json result = {{"ruleId", finding.rule},
                   {"ruleIndex", at->second},
                   {"level", "error"},
                   {"message", {{"text", finding.message}}},
                   {"locations", Json::array({location_json(finding.place)})},
                   {"partialFingerprints", {{"isoscope/v1", finding.fingerprint()}}}};
    if (findings.has_baseline) result["baselineState"] = finding.is_known ? "unchanged" : "new";
    if (!related.empty()) result["relatedLocations"] = std::move(related);
    results.push_back(std::move(result));
  }
  Json driver = {{"name", "isoscope"}, {"version", kVersion}, {"rules", std::move(rules)}};
  Json run = {{"tool", {{"driver", std::move(driver)}}},
              {"columnKind", "utf16CodeUnits"},
              {"results", std::move(results)}};
  return dump({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
               {"version", "2.1.0"},
               {"runs", Json::array({std::move(run)})}});
}

std::string annotation_text(const Findings& findings) {
  std::string out;
  for (const Finding& finding : findings.findings) {
    out += fmt::format("::{} file={}", finding.is_known ? "notice" : "error",
                       annotation_escape(finding.place.file, true));
    if (finding.place.line > 0) out += fmt::format(",line={}", finding.place.line);
    if (finding.place.column > 0) out += fmt::format(",col={}", finding.place.column);
    out += fmt::format(",title={}::{}\n", annotation_escape(finding.rule, true),
                       annotation_escape(finding.message, false));
  }
  return out;
}

std::string baseline_text(const Findings& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings.findings)
    list.push_back({{"fingerprint", finding.fingerprint()},
                    {"rule", finding.rule},
                    {"message", finding.message}});
  return dump({{"format", "isoscope-baseline/1"}, {"findings", std::move(list)}});
}

Result<std::set<std::string>> read_baseline(const std::string& path) {
  auto text = read_whole(path);
  if (!text) {
    Error missing = text.error();
    missing.hint = "--update-baseline writes one";
    return missing;
  }
  const Error wrong{
      .what = "this is no baseline", .hint = "--update-baseline writes one", .file = path};
  const Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded() || !json.is_object() ||
      json.value("format", "") != "isoscope-baseline/1" || !json.contains("findings") ||
      !json["findings"].is_array())
    return wrong;
  std::set<std::string> known;
  for (const Json& finding : json["findings"]) {
    if (!finding.is_object() || !finding.contains("fingerprint") ||
        !finding["fingerprint"].is_string())
      return wrong;
    known.insert(finding["fingerprint"].get<std::string>());
  }
  return known;
}

std::size_t apply_baseline(Findings& findings, const std::set<std::string>& known) {
  findings.has_baseline = true;
  std::size_t fresh = 0;
  for (Finding& finding : findings.findings) {
    finding.is_known = known.contains(finding.fingerprint());
    fresh += finding.is_known ? 0 : 1;
  }
  if (fresh > 0) return fresh;
  for (FindingCase& one : findings.cases) {
    if (one.outcome != Outcome::Violated) continue;
    one.outcome = findings.complete ? Outcome::Consistent : Outcome::Unknown;
    // What is known is not what keeps it from passing.
    if (!findings.complete)
      one.message = findings.limit.empty() ? "there may be further findings"
                                           : "there may be further findings: " + findings.limit;
  }
  return 0;
}

}  // namespace isoscope
