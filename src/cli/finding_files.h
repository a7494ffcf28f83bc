#pragma once
// --junit, --sarif, --annotate and --baseline: the answer for continuous integration.
//
//     args->findings.add_to(app);
//     …
//     const auto judged = args.findings.write([&] { return check_findings(report); }, outcome);
#include <functional>
#include <string>

#include "report/findings.h"
#include "support/result.h"
#include "verdict/answer.h"

namespace CLI {
class App;
}

namespace isoscope {

// --junit alone, for commands whose findings have no place in a file.
class JunitFile {
 public:
  void add_to(CLI::App& app);
  bool is_wanted() const { return !junit_.empty(); }
  Result<void> write(const std::function<Findings()>& make) const;

 private:
  std::string junit_;
};

class FindingFiles {
 public:
  void add_to(CLI::App& app);
  // Was one of them asked for?
  bool is_wanted() const {
    return annotate_ || junit_.is_wanted() || !sarif_.empty() || !baseline_.empty();
  }
  // Are known findings left aside? Then one that is known must not hide another.
  bool has_baseline() const { return !baseline_.empty(); }
  // Writes what was asked for, and returns the outcome that the exit code tells: the given one, or,
  // where something was found and the baseline knows all of it, None, or Unknown where there may be
  // more.
  Result<Outcome> write(const std::function<Findings()>& make, Outcome outcome) const;

 private:
  JunitFile junit_;
  std::string sarif_;
  std::string baseline_;
  bool update_ = false;
  bool annotate_ = false;
};

}  // namespace isoscope
