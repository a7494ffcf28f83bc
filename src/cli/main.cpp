// isoscope: what weak transaction isolation can do to your data, before production does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/files.h"
#include "support/printable.h"
#include "support/spelling.h"
#include "support/version.h"
#include "support/watch.h"

namespace isoscope {
namespace {

struct CommandEntry {
  const char* name;
  const char* summary;
  Run (*add)(CLI::App&);
};

constexpr CommandEntry kCommands[] = {
    {"check", "does a history satisfy an isolation level, and why not?", add_check},
    {"synth", "find a history that some levels allow and others forbid", add_synth},
    {"compare", "how do two levels relate? with proofs or separating histories", add_compare},
    {"predict", "from one observed run to one that no serial order explains", add_predict},
    {"audit", "what can a level do to SQL transactions? anomalies, or a proof", add_audit},
    {"explore", "every history of a transactional program, and its assertions", add_explore},
    {"run", "run a transactional program on a serial, a weak or a replaying store", add_run},
    {"convert", "rewrite a history in another format", add_convert},
    {"generate", "make a synthetic history, or a benchmark as a program", add_generate},
    {"levels", "list the isolation levels, or show one as text", add_levels},
    {"stats", "what is a history made of? sizes and distributions", add_stats},
};

// CLI11 would call an unknown command an "argument not expected".
bool is_unknown_command(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return false;
  std::vector<std::string_view> names;
  for (const CommandEntry& command : kCommands) {
    if (std::string_view(argv[1]) == command.name) return false;
    names.emplace_back(command.name);
  }
  fail({.what = fmt::format("unknown command '{}'", argv[1]),
        .hint = suggest(argv[1], names),
        .file = "isoscope"});
  return true;
}

int run(int argc, char** argv) {
  const std::span words(argv, static_cast<std::size_t>(argc));
  speak_as(argc > 1 ? argv[1] : "",
           std::ranges::any_of(words, [](std::string_view word) { return word == "--json"; }));
  if (is_unknown_command(argc, argv)) return kBadInput;
  CLI::App app("isoscope shows what weak transaction isolation can do to your data.", "isoscope");
  app.set_version_flag("--version", fmt::format("isoscope {}", kVersion));
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
  app.footer("isoscope COMMAND --help shows a command's options and examples.");
  std::vector<std::pair<CLI::App*, Run>> runs;
  for (const CommandEntry& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    runs.emplace_back(sub, command.add(*sub));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail({.what = error.what(),
                 .hint = "run with --help for usage and examples",
                 .file = "isoscope"});
  }
  for (const auto& [sub, command_run] : runs) {
    if (!sub->parsed()) continue;
    if (auto fits = check_files(*sub); !fits) return fail(fits.error());
    return command_run();
  }
  return kBadInput;
}

}  // namespace
}  // namespace isoscope

int main(int argc, char** argv) {
  isoscope::prepare_for_files();
  try {
    return isoscope::run(argc, argv);
  } catch (const std::bad_alloc&) {
    isoscope::request_stop(isoscope::StopReason::Memory);
    return isoscope::fail(isoscope::limit_error(isoscope::current_phase()));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "isoscope: internal error: %s\n",
                 isoscope::printable(error.what()).c_str());
    return isoscope::kUnknown;
  }
}
