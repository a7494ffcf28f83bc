#include "cli/command_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "cli/files.h"
#include "cli/values.h"
#include "record/server_address.h"
#include "support/output.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostRuns = 1'000'000;

// 'it'\''s'
std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// "lost update" is lost_update.
std::string identifier_of(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return std::isalnum(c) != 0 ? static_cast<char>(std::tolower(c)) : '_';
  });
  return text.empty() ? "race" : text;
}

Result<void> write_file(const std::string& path, const std::string& text, bool is_executable) {
  if (auto free = check_further_output(path); !free) return free;
  auto output = Output::open(path);
  if (!output) return output.error();
  output->write(text);
  if (auto closed = output->close(); !closed) return closed;
  if (is_executable && ::chmod(path.c_str(), 0755) != 0)
    return Error{.what = path + " cannot be made executable"};
  return {};
}

}  // namespace

void CommandInput::add_to(CLI::App& app) {
  app.add_option("--run", runs,
                 "the command of a session, for /bin/sh; PGHOST, PGPORT and DATABASE_URL point "
                 "to the proxy that holds its statements. Once for each session")
      ->type_name("SESSION=COMMAND")
      ->allow_extra_args(false);
  app.add_option("--setup", setup,
                 "a command that makes the database ready, before each run: with it, the commands "
                 "also run one after the other, for comparison")
      ->type_name("COMMAND");
  app.add_option("--teardown", teardown, "a command that cleans up, after each run")
      ->type_name("COMMAND");
  app.add_option("--script", script,
                 "write a regression test into this folder: the plan, a shell script, and a test "
                 "for pytest or unittest that asserts 'prevented'")
      ->type_name("DIR");
}

void CommandInput::add_counts_to(CLI::App& app) {
  app.add_option("--times", times, "play each order of steps N times")
      ->type_name("N")
      ->check(whole_number(1, kMostRuns))
      ->capture_default_str();
  app.add_option("--schedules", schedules,
                 "where every order of the statements is played: try at most N")
      ->type_name("N")
      ->check(whole_number(1, kMostRuns))
      ->capture_default_str();
}

Result<ById<force::ActorId, force::ShellCommand>> CommandInput::commands(
    const force::CommandPlan* plan) const {
  ById<force::ActorId, force::ShellCommand> given;
  for (const std::string& run : runs) {
    // A name may have an equals sign in it, if the plan has such a name.
    std::size_t equals = run.find('=');
    if (plan != nullptr)
      for (const std::string& name : plan->sessions)
        if (run.starts_with(name + "=")) equals = name.size();
    if (equals == std::string::npos || equals == 0 || equals + 1 == run.size())
      return Error{.what = fmt::format("'{}' is no session and command", run),
                   .hint = "write --run s1='python buy.py'"};
    given.push_back({run.substr(0, equals), run.substr(equals + 1)});
  }
  for (const force::ShellCommand& one : given)
    if (std::ranges::count(given, one.session, &force::ShellCommand::session) > 1)
      return Error{.what = fmt::format("session {} has two commands", one.session)};
  if (plan == nullptr) return given;
  ById<force::ActorId, force::ShellCommand> ordered;
  for (const std::string& name : plan->sessions) {
    const auto found = std::ranges::find(given, name, &force::ShellCommand::session);
    if (found == given.end())
      return Error{.what = fmt::format("session {} of the plan has no command", name),
                   .hint = fmt::format("write --run {}='…'; the plan's sessions are {}",
                                       shell_quoted(name), fmt::join(plan->sessions, ", "))};
    ordered.push_back(*found);
  }
  for (const force::ShellCommand& command : given)
    if (std::ranges::find(plan->sessions, command.session) == plan->sessions.end())
      return Error{.what = fmt::format("the plan has no session {}", command.session),
                   .hint = fmt::format("its sessions are {}", fmt::join(plan->sessions, ", "))};
  return ordered;
}

Result<force::CommandForceAnswer> CommandInput::force(const std::string& dsn,
                                                      const force::CommandPlan* plan,
                                                      const Budget& budget,
                                                      const Progress& progress) const {
  auto address = record::read_connection_string(dsn);
  if (!address) return address.error();
  auto given = commands(plan);
  if (!given) return given.error();
  if (setup.empty() && (plan == nullptr || times > 1))
    return Error{.what = "a run can only be repeated from the same start",
                 .hint = "say how to make the database ready: --setup COMMAND"};
  return force::force_commands(plan, {.dsn = *address,
                                      .commands = std::move(*given),
                                      .setup = setup,
                                      .teardown = teardown,
                                      .times = static_cast<std::size_t>(times),
                                      .most_orders = static_cast<std::size_t>(schedules),
                                      .budget = budget,
                                      .progress = progress});
}

Result<void> CommandInput::write_script(const std::string& dsn,
                                        const force::CommandPlan* plan) const {
  if (script.empty()) return {};
  std::error_code failure;
  fs::create_directories(script, failure);
  if (failure) return Error{.what = fmt::format("{}: {}", script, failure.message())};
  const fs::path folder(script);
  // A password is nothing for a file.
  const bool is_secret =
      dsn.find("password") != std::string::npos ||
      (dsn.find("://") != std::string::npos && dsn.find('@') != std::string::npos);
  const std::string back =
      fs::relative(fs::current_path(), fs::canonical(folder), failure).string();
  std::string words = " --dsn \"$dsn\"";
  if (plan != nullptr) words = " \"$here/plan.json\"" + words;
  if (!setup.empty()) words += " \\\n  --setup " + shell_quoted(setup);
  if (!teardown.empty()) words += " \\\n  --teardown " + shell_quoted(teardown);
  for (const std::string& run : runs) words += " \\\n  --run " + shell_quoted(run);
  const std::string anomaly = plan == nullptr ? "race" : plan->anomaly;
  const std::string shell = fmt::format(
      "#!/bin/sh\n"
      "# {} of the application's own commands. 0: prevented, 1: it happens, 3: unknown.\n"
      "#     ISOSCOPE_DSN=\"host=… dbname=…\" {} [further options of isoscope force]\n"
      "set -eu\n"
      "here=$(cd \"$(dirname \"$0\")\" && pwd)\n"
      "dsn=${{ISOSCOPE_DSN:{}}}\n"
      "cd \"$here/{}\"\n"
      "exec \"${{ISOSCOPE:-isoscope}}\" force \"$@\"{}\n",
      anomaly.empty() ? "A race" : "The " + anomaly, "run.sh",
      is_secret ? "?names the server" : "-" + shell_quoted(dsn), back.empty() ? "." : back, words);
  const std::string name = identifier_of(anomaly);
  const std::string test = fmt::format(
      "\"\"\"Fails as long as the race can happen: run.sh plays it on a PostgreSQL server.\"\"\"\n"
      "import os\n"
      "import subprocess\n"
      "import unittest\n"
      "\n"
      "\n"
      "class IsoscopeTest(unittest.TestCase):\n"
      "    def test_{0}_is_prevented(self):\n"
      "        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), \"run.sh\")\n"
      "        done = subprocess.run([script], capture_output=True, text=True)\n"
      "        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)\n"
      "\n"
      "\n"
      "if __name__ == \"__main__\":\n"
      "    unittest.main()\n",
      name);
  if (plan != nullptr)
    if (auto written = write_file(folder / "plan.json", plan->text, false); !written)
      return written;
  if (auto written = write_file(folder / "run.sh", shell, true); !written) return written;
  return write_file(folder / fmt::format("isoscope_test_{}.py", name), test, false);
}

}  // namespace isoscope
