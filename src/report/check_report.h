#pragma once
// The answer of `check`, for people, for programs and as a page.
#include <optional>
#include <string>
#include <vector>

#include "check/all_violations.h"
#include "check/check.h"
#include "check/choices.h"
#include "check/points/points.h"
#include "history/history.h"
#include "report/certificate.h"
#include "report/findings.h"
#include "report/header.h"
#include "report/json.h"
#include "report/page.h"
#include "report/paint.h"

namespace isoscope {

struct LevelAnswer {
  std::string level;  // as the user named it
  CheckAnswer answer;
  double seconds = 0;
  std::optional<AllViolations> all = {};  // with --explain all, of a violated level
  // Where reads have several possible writers: the history with the writers that the answer is
  // about, and how far the choice matters.
  std::optional<ChoiceAnswer> choice = {};
  std::optional<CertificateNote> certificate = {};  // with --certificate
  // Of a violation at a level over co, snap that is no single cycle: which orders were tried.
  std::optional<TriedOrders> orders = {};

  // Of a recorded run that is violated without its coarse reads: what is left of it.
  std::optional<History> certain = {};

  // The history that the answer speaks of.
  const History& history(const History& whole) const {
    return choice ? *choice->chosen : certain ? *certain : whole;
  }
};

struct CheckReport {
  const History& h;
  std::string source;  // the file, for people
  std::vector<LevelAnswer> levels;
  double seconds = 0;         // reading included
  bool session_order = true;  // false with --no-session-order
  // With --strongest: the names of the strongest levels that hold.
  std::optional<std::vector<std::string>> strongest = {};
  // With --minimize, of a violated level: is the part that was written as small as can be, or did
  // the time limit come first?
  std::optional<bool> is_minimal = {};
};

// Violated if any level is, else unknown if any is. With --strongest consistent or unknown: what
// was asked is which levels hold.
Outcome overall(const CheckReport& report);

// A line a level; below a violation its cycle, an edge a line, and the transactions involved.
std::string check_text(const CheckReport& report, const Paint& paint);

// The n-th of many violations, on a line: "3. T2 overwrites x …: lost update (G-single)".
std::string violation_line(const History& h, const Violation& v, std::size_t number);

// One JSON object of the same shape for one history and level as for several: "files" has the sizes
// of each, "levels" an answer for each file and level.
class CheckJson {
 public:
  CheckJson();
  void add(const CheckReport& report);
  std::string text(double seconds) const;
  // The same object where it is the answer of another command.
  Json object(const Header& header) const;

 private:
  Outcome overall_ = Outcome::Consistent;
  std::size_t transactions_ = 0;
  std::size_t events_ = 0;
  Json files_;
  Json levels_;
};

// For pictures and pages: each violated level with its cycle, each consistent one with its order,
// and with --explain all the anomalies by kind.
Page check_page(const CheckReport& report);

// For continuous integration: a case for each level, a finding for each violation.
Findings check_findings(const CheckReport& report);

}  // namespace isoscope
