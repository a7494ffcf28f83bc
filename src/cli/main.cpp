// isoscope: what weak transaction isolation can do to your data, before production does.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/help.h"
#include "cli/pictures.h"
#include "support/output.h"
#include "support/printable.h"
#include "support/spelling.h"
#include "support/version.h"
#include "support/watch.h"

namespace isoscope {
namespace {

using Words = std::vector<std::string>;  // of the command line, without the program

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
    {"record", "record what an application does on PostgreSQL, as a history", add_record},
    {"force", "make an order of statements happen on PostgreSQL, and judge the outcome", add_force},
    {"probe", "ask a server which anomalies its levels really allow", add_probe},
    {"stress", "run random clients on a server, and check what they saw", add_stress},
    {"demo", "a walk through some commands, on examples that are built in", add_demo},
    {"convert", "rewrite a history in another format", add_convert},
    {"generate", "make a synthetic history, or a benchmark as a program", add_generate},
    {"levels", "list the isolation levels, or show one as text", add_levels},
    {"stats", "what is a history made of? sizes and distributions", add_stats},
};

int unknown_command(std::string_view name) {
  std::vector<std::string_view> names = {"help", "version"};
  for (const CommandEntry& command : kCommands) names.emplace_back(command.name);
  return fail({.what = fmt::format("unknown command '{}'", name),
               .hint = suggest(name, names),
               .file = "isoscope"});
}

// "isoscope generate history"
std::string path_of(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : path_of(*parent) + " " + app.get_name();
}

bool is_command(std::string_view name) {
  return std::ranges::any_of(kCommands,
                             [&](const CommandEntry& command) { return name == command.name; });
}

// `help`, `help check` and `version`, as the options that say the same.
Words without_shorthands(Words words) {
  if (words.size() == 1 && words[0] == "version") return {"--version"};
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  // The overview lists the shorthands themselves.
  if (!words.empty() && (words[0] == "help" || words[0] == "version")) words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

// The command that the words choose, or `app` itself.
const CLI::App& chosen_app(const CLI::App& app, const Words& words) {
  const CLI::App* chosen = &app;
  for (const std::string& word : words) {
    const auto below = chosen->get_subcommands(
        [&](const CLI::App* app_below) { return app_below->get_name() == word; });
    if (below.empty()) break;
    chosen = below.front();
  }
  return *chosen;
}

// The first word that looks like an option and is none. CLI11 would rather complain of the option
// that is missing, since it was mistyped.
enum class Slips : std::uint8_t { All, OneDash };

std::optional<Error> find_unknown_option(const CLI::App& app, const Words& words,
                                         Slips slips = Slips::All) {
  const CLI::App& chosen = chosen_app(app, words);
  std::vector<std::string> known;
  std::string letters;
  for (const CLI::Option* option : chosen.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) letters += name;
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word.size() < 2 || word[0] != '-') continue;
    const std::string name = word.substr(0, word.find('='));
    const bool is_long = word[1] == '-';
    // -level would be the option -l with the value "evel".
    const bool lacks_dash = !is_long && name.size() > 2 && std::ranges::count(known, "-" + name);
    const bool is_number = std::string_view("0123456789.").find(word[1]) != std::string_view::npos;
    const bool is_known = is_long ? std::ranges::count(known, name) > 0
                                  : is_number || letters.find(word[1]) != std::string::npos;
    if (is_known && !lacks_dash) continue;
    if (slips == Slips::OneDash && !lacks_dash) continue;
    const auto match = closest(lacks_dash ? "-" + name : name, names);
    return Error{.what = fmt::format("unknown option '{}'", name),
                 .hint = match ? fmt::format("did you mean '{}'?", *match)
                               : fmt::format("{} --help lists the options", path_of(chosen)),
                 .file = "isoscope"};
  }
  return std::nullopt;
}

// What CLI11 found wrong, in our words.
Error usage_error(const CLI::App& app, const Words& words, const CLI::ParseError& error) {
  if (auto unknown = find_unknown_option(app, words)) return *std::move(unknown);
  std::string what = error.what();
  std::string hint =
      fmt::format("{} --help shows usage and examples", path_of(chosen_app(app, words)));
  // Checks of values put a hint behind a newline.
  if (const std::size_t newline = what.find('\n'); newline != std::string::npos) {
    hint = what.substr(newline + 1);
    what.resize(newline);
  }
  if (what.starts_with("--level is required"))
    hint = "for instance --level si; isoscope levels lists the levels";
  if (what.starts_with("A subcommand is required")) {
    what = "there is no command";
    hint = fmt::format("{} --help lists the commands", path_of(chosen_app(app, words)));
  }
  return {.what = std::move(what), .hint = std::move(hint), .file = "isoscope"};
}

// --help and --version, which CLI11 has as errors.
int print_help(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream text;
  const int code = app.exit(error, text, text);
  if (auto written = write_whole("-", text.str()); !written) return fail(written.error());
  return code;
}

int run(int argc, char** argv) {
  const Words given(argv + std::min(1, argc), argv + argc);
  speak_as(given.empty() ? "" : given[0], std::ranges::count(given, "--json") > 0);
  remember_command_line(given);
  Words words = without_shorthands(given);
  if (!words.empty() && words[0][0] != '-' && !is_command(words[0]))
    return unknown_command(words[0]);
  CLI::App app("isoscope shows what weak transaction isolation can do to your data.", "isoscope");
  app.set_version_flag("--version", fmt::format("isoscope {}", kVersion));
  app.require_subcommand(1);
  app.formatter(make_help_formatter());
  app.footer(
      "isoscope help COMMAND, or COMMAND --help, shows a command's options and examples;\n"
      "isoscope version shows the version.");
  std::vector<std::pair<CLI::App*, Run>> runs;
  for (const CommandEntry& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    runs.emplace_back(sub, command.add(*sub));
    group_options(*sub);
  }
  try {
    app.parse(Words(words.rbegin(), words.rend()));  // CLI11 takes them from the back
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return print_help(app, error);
    return fail(usage_error(app, words, error));
  }
  for (const auto& [sub, command_run] : runs) {
    if (!sub->parsed()) continue;
    // Several files and a short option make sense of what was not meant.
    if (auto slip = find_unknown_option(app, words, Slips::OneDash)) return fail(*slip);
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
