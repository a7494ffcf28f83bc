#pragma once
// What continuous integration wants to know: findings with places, and cases that pass or fail.
//
// An engine's answer becomes Findings once (check_findings() and its siblings), and the writers
// below make JUnit, SARIF 2.1.0 and GitHub annotations of any of them. A new command joins by
// filling one.
//
// A fingerprint says whether two findings are the same one. It is made of names (functions, tables,
// columns, keys, kinds of edges), never of line numbers, values or times, so that it survives edits
// elsewhere in a file; a baseline is a list of them.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.h"
#include "verdict/answer.h"

namespace isoscope {

struct FindingPlace {
  std::string file = {};
  std::uint32_t line = 0;  // 0: the file as a whole
  std::uint32_t column = 0;
  std::string message = {};  // what happens there
};

struct Finding {
  std::string rule = {};     // "lost-update"
  std::string message = {};  // a sentence
  FindingPlace place = {};
  std::vector<FindingPlace> related = {};  // both ends of each edge
  std::string identity = {};               // what the fingerprint is made of
  bool is_known = false;                   // in the baseline

  std::string fingerprint() const;  // 16 hexadecimal digits
};

// A question that was asked, such as a level of a history.
struct FindingCase {
  std::string name = {};
  Outcome outcome = Outcome::Consistent;  // passed, failed, or not decided
  std::string message = {};               // why it failed, or what was not decided
  std::string details = {};
  double seconds = 0;
};

struct Findings {
  std::string command = {};
  std::string source = {};
  std::vector<Finding> findings = {};
  std::vector<FindingCase> cases = {};
  bool complete = true;       // false: there may be more of them than were looked for
  std::string limit = {};     // then: why, if it is known
  bool has_baseline = false;  // `is_known` was looked up
};

std::string junit_text(const Findings& findings);
std::string sarif_text(const Findings& findings);
// "::error file=bank.sql,line=12,title=lost update::…", one line for each finding.
std::string annotation_text(const Findings& findings);

// A baseline is JSON:
// {"format":"isoscope-baseline/1","findings":[{"fingerprint","rule","message"}]}.
std::string baseline_text(const Findings& findings);
Result<std::set<std::string>> read_baseline(const std::string& path);
// Marks what the baseline knows, and lets cases pass that fail by nothing else. Returns how many
// findings are new.
std::size_t apply_baseline(Findings& findings, const std::set<std::string>& known);

// What a rule is about, for SARIF's help: "lost-update", "Two transactions overwrite …".
std::string_view rule_help(std::string_view rule);
// "lost update" as the name of a rule: "lost-update".
std::string rule_of(std::string_view anomaly);

}  // namespace isoscope
