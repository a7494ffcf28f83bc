#include "cli/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cli/files.h"
#include "cli/values.h"
#include "report/header.h"
#include "support/output.h"
#include "support/printable.h"
#include "support/stopwatch.h"
#include "support/watch.h"

namespace isoscope {

namespace {

std::string running_command;
bool errors_are_json = false;
const Stopwatch since_start;

// What is still to be said when an answer is cut off: the report's place, and its shape.
void say_unknown(const std::string& reason, const std::string& output) {
  std::string report = fmt::format("unknown: {}\n", reason);
  if (errors_are_json) {
    const Answer answer{.limit = reason};
    report = dump(json_header(header_of(running_command, answer, since_start.seconds())));
  }
  if (auto written = write_whole(output, report); !written)
    std::fprintf(stderr, "%s\n", render(written.error()).c_str());
}

// The engines did not stop although they were asked to: the answer comes from here.
[[noreturn]] void give_up(std::string_view limit, const std::string& output) {
  clear_progress_line();
  // "exploring: 65 histories so far": the numbers are of some moment before this one.
  const std::string phase = current_phase();
  say_unknown(fmt::format("{} was reached while {}, which did not stop by itself", limit,
                          phase.substr(0, phase.find(':'))),
              output);
  remove_temporaries();
  std::fflush(nullptr);
  std::_Exit(kUnknown);
}

// The second signal ends the program at once: whoever sends two does not want to wait.
extern "C" void on_signal(int number) {
  if (stop_reason() == StopReason::Interrupt) {
    remove_temporaries();
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  request_stop(StopReason::Interrupt);
}

void handle_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction old = {};
    // A signal that the caller ignores (nohup) stays ignored.
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler != SIG_IGN)
      ::sigaction(number, &action, nullptr);
  }
}

// "1500", "300K", "2.5G": bytes.
std::optional<std::size_t> parse_bytes(std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || !(number > 0)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr std::string_view kUnits = "KMGT";
  if (!unit.empty()) {
    const std::size_t power =
        kUnits.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0]))));
    if (power == std::string_view::npos) return std::nullopt;
    for (std::size_t i = 0; i <= power; ++i) number *= 1024;
    unit.remove_prefix(1);
  }
  if (!(unit.empty() || unit == "B" || unit == "iB" || unit == "b") || !(number < 1e18))
    return std::nullopt;
  return static_cast<std::size_t>(number);
}

std::string check_bytes(const std::string& text) {
  if (parse_bytes(text)) return {};
  return fmt::format("'{}' is no amount of memory; write bytes, or 500M, or 4G", text);
}

std::string check_seconds(const std::string& text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc() && end == text.data() + text.size() && number > 0 &&
      number <= std::numeric_limits<double>::max())
    return {};
  return fmt::format("'{}' is no number of seconds above 0", text);
}

}  // namespace

Budget CommonOptions::start() const {
  handle_signals();
  const Budget budget = timeout > 0 ? Budget::seconds(timeout) : Budget();
  const std::size_t bytes = memory.empty() ? machine_bytes() / 4 * 3 : *parse_bytes(memory);
  // Less than the program takes before it does anything: the answer does not depend on who is
  // first, the work or the watch.
  if (resident_bytes() > bytes && bytes > 0) request_stop(StopReason::Memory);
  const std::string to = quiet && !json && output == "-" ? "/dev/null" : output;
  // Lives as long as the process: nothing may outlive its watch.
  static Watch watch({.memory_bytes = bytes,
                      .budget = budget,
                      .last_resort = [to](std::string_view limit) { give_up(limit, to); }});
  return budget;
}

Paint CommonOptions::paint() const {
  if (color == "always") return Paint(true);
  const bool terminal = output == "-" && ::isatty(STDOUT_FILENO) != 0;
  const char* no_color = std::getenv("NO_COLOR");
  const bool refused = no_color != nullptr && *no_color != '\0';
  return Paint(color == "auto" && terminal && !refused && understands_escapes());
}

void add_common(CLI::App& app, CommonOptions& options) {
  app.add_flag("--json", options.json, "print one JSON object instead of text");
  app.add_flag("-q,--quiet", options.quiet, "print no report: the exit code answers");
  app.add_option("--timeout", options.timeout, "give up after this time (exit code 3)")
      ->type_name("SECONDS")
      ->check(check_seconds);
  app.add_option(
         "--memory", options.memory,
         "give up beyond this much memory, such as 500M or 4G (exit code 3); without it, three "
         "quarters of the machine's")
      ->type_name("BYTES")
      ->check(check_bytes);
  app.add_option("--color", options.color, "colour the text: auto, always or never")
      ->type_name("WHEN")
      ->check(one_of({"auto", "always", "never"}))
      ->capture_default_str();
  add_output_file(app, "-o,--output", options.output, "write the report to this file", [&options] {
    return options.output != "-" || options.json || !options.quiet;
  })->capture_default_str();
}

void speak_as(std::string_view command, bool json) {
  running_command = command;
  errors_are_json = json;
}

int fail(const Error& error) {
  clear_progress_line();
  if (error.is_limit) {
    say_unknown(error.what, "-");
    return kUnknown;
  }
  if (errors_are_json) std::fputs(dump(error_json(error)).c_str(), stdout);
  std::fprintf(stderr, "%s\n", render(error).c_str());
  return kBadInput;
}

int deliver(const CommonOptions& options, std::string_view report, int exit_code) {
  clear_progress_line();
  if (options.quiet && !options.json && options.output == "-") return exit_code;
  // Names were made printable one by one; this is for whatever was forgotten.
  const auto written = write_whole(
      options.output,
      options.json ? std::string(report) : printable_lines(report, options.paint().has_colours()));
  if (!written) return fail(written.error());
  return exit_code;
}

double seconds_running() { return since_start.seconds(); }

}  // namespace isoscope
