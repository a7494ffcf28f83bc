#include "cli/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "support/output.h"

namespace isoscope {

namespace {
bool progress_shown = false;
}

Paint CommonOptions::paint() const {
  if (color == "always") return Paint(true);
  const bool terminal = output == "-" && ::isatty(STDOUT_FILENO) != 0;
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  return Paint(color == "auto" && terminal && !refused);
}

void add_common(CLI::App& app, CommonOptions& options) {
  app.add_flag("--json", options.json, "print one JSON object instead of text");
  app.add_flag("-q,--quiet", options.quiet, "say nothing: the exit code answers");
  app.add_option("--timeout", options.timeout, "give up after so many seconds (exit code 3)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  app.add_option("--color", options.color, "colour the text: auto, always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  app.add_option("-o,--output", options.output, "write the report to this file")
      ->type_name("FILE")
      ->capture_default_str();
}

int fail(const Error& error) {
  clear_progress_line();
  std::fprintf(stderr, "%s\n", render(error).c_str());
  return kBadInput;
}

int deliver(const CommonOptions& options, std::string_view report, int exit_code) {
  clear_progress_line();
  if (options.quiet && !options.json) return exit_code;
  if (auto written = write_whole(options.output, report); !written) return fail(written.error());
  return exit_code;
}

Progress progress_line(const CommonOptions& options) {
  if (options.json || options.quiet || ::isatty(STDERR_FILENO) == 0) return {};
  using Clock = std::chrono::steady_clock;
  return [last = Clock::time_point{}, shown = std::string()](std::string_view phase,
                                                             double fraction) mutable {
    const auto now = Clock::now();
    // A new phase is shown at once: nobody knows whether it tells anything again.
    if (phase == shown && now - last < std::chrono::milliseconds(100)) return;
    last = now;
    shown = phase;
    progress_shown = true;
    const std::string share = fraction < 0 ? "" : fmt::format(" {:3.0f} %", fraction * 100);
    std::fprintf(stderr, "\r\x1b[K%.*s%s", static_cast<int>(phase.size()), phase.data(),
                 share.c_str());
    std::fflush(stderr);
  };
}

void clear_progress_line() {
  if (progress_shown) std::fputs("\r\x1b[K", stderr);
  progress_shown = false;
}

}  // namespace isoscope
