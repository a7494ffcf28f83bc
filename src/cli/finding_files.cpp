#include "cli/finding_files.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "cli/command.h"
#include "cli/files.h"
#include "support/output.h"

namespace isoscope {

void JunitFile::add_to(CLI::App& app) {
  add_output_file(app, "--junit", junit_, "write the result as a JUnit test report");
}

Result<void> JunitFile::write(const std::function<Findings()>& make) const {
  return junit_.empty() ? Result<void>() : write_whole(junit_, junit_text(make()));
}

void FindingFiles::add_to(CLI::App& app) {
  junit_.add_to(app);
  add_output_file(app, "--sarif", sarif_, "write the findings as SARIF 2.1.0, with their places");
  app.add_flag("--annotate", annotate_,
               "print GitHub annotations of the findings on standard error");
  add_input_file(app, "--baseline", baseline_,
                 "findings of this file do not count: only new ones fail");
  app.add_flag("--update-baseline", update_, "write the present findings into the baseline file");
}

Result<Outcome> FindingFiles::write(const std::function<Findings()>& make, Outcome outcome) const {
  if (update_ && baseline_.empty())
    return Error{.what = "--update-baseline needs a file",
                 .hint = "use --baseline FILE --update-baseline",
                 .file = "isoscope"};
  if (!is_wanted()) return outcome;
  Findings findings = make();
  if (!baseline_.empty() && update_) {
    if (auto written = write_whole(baseline_, baseline_text(findings)); !written)
      return written.error();
  }
  if (!baseline_.empty()) {
    auto known = read_baseline(baseline_);
    if (!known) return known.error();
    const std::size_t fresh = apply_baseline(findings, *known);
    const bool is_open = std::ranges::any_of(
        findings.cases, [](const FindingCase& one) { return one.outcome == Outcome::Unknown; });
    if (fresh == 0 && outcome == Outcome::Found)
      outcome = is_open ? Outcome::Unknown : Outcome::None;
    if (!findings.findings.empty()) {
      clear_progress_line();
      std::fprintf(stderr,
                   "isoscope: %zu of %zu findings are new; the others are in the baseline\n", fresh,
                   findings.findings.size());
    }
  }
  if (auto written = junit_.write([&] { return findings; }); !written) return written.error();
  if (!sarif_.empty()) {
    if (auto written = write_whole(sarif_, sarif_text(findings)); !written) return written.error();
  }
  if (annotate_) std::fputs(annotation_text(findings).c_str(), stderr);
  return outcome;
}

}  // namespace isoscope
