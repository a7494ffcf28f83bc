#pragma once
// What all commands share: their common options, their exit codes, and how they speak.
//
// A command is a function `add_<name>` that declares its arguments (and so its --help) on a CLI11
// app and returns what to run when it is chosen.
#include <functional>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "report/paint.h"
#include "support/budget.h"
#include "support/result.h"

namespace CLI {
class App;
}

namespace isoscope {

using Run = std::function<int()>;

// Options that every command takes.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  double timeout = 0;       // seconds; 0 is no limit
  std::string memory = {};  // bytes, perhaps with K, M or G; empty: three quarters of the machine
  std::string color = "auto";
  std::string output = "-";

  // Starts the clock and the watch over memory and interrupts; the first thing a command does.
  Budget start() const;
  Paint paint() const;  // coloured if wanted, or if the report goes to a terminal
};
void add_common(CLI::App& app, CommonOptions& options);

// Set by main() before any command runs: which command it is, and whether errors are JSON.
void speak_as(std::string_view command, bool json);
// Prints the error, returns kBadInput: on standard error, or with --json as an object on standard
// output. An error that is a limit is the answer "unknown", and returns kUnknown.
int fail(const Error& error);
// Writes the report where --output says; with --quiet it goes into files only.
int deliver(const CommonOptions& options, std::string_view report, int exit_code);
// A progress line on a terminal, after a second of work; nothing in a pipe, with --quiet or --json.
Progress progress_line(const CommonOptions& options);
void clear_progress_line();
// Colours and the progress line need escape sequences; a terminal with TERM=dumb has none.
bool understands_escapes();
// Since the program started.
double seconds_running();

Run add_audit(CLI::App& app);
Run add_check(CLI::App& app);
Run add_compare(CLI::App& app);
Run add_convert(CLI::App& app);
Run add_demo(CLI::App& app);
Run add_explore(CLI::App& app);
Run add_force(CLI::App& app);
Run add_generate(CLI::App& app);
Run add_levels(CLI::App& app);
Run add_predict(CLI::App& app);
Run add_probe(CLI::App& app);
Run add_record(CLI::App& app);
Run add_run(CLI::App& app);
Run add_stats(CLI::App& app);
Run add_stress(CLI::App& app);
Run add_synth(CLI::App& app);

}  // namespace isoscope
