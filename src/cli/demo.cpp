// isoscope demo
//
// The steps are lines of demo.walk: `# …` is said, `show FILE` prints one of the examples that are
// built in, `$ …` is a command as a reader would type it. Commands run as processes of this very
// program, in a temporary folder, so that a walk shows what a user gets and leaves nothing behind.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "cli/command.h"
#include "cli/demo_texts.h"
#include "record/command_process.h"
#include "report/header.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;

struct Example {
  std::string_view name;
  std::string_view text;
};

std::vector<Example> demo_examples() {
  return {{"bank.txn", demo_bank()}, {"on_call.sql", demo_on_call()}};
}

// A folder that is the current one while this object exists, and is removed afterwards.
class DemoFolder {
 public:
  static Result<std::unique_ptr<DemoFolder>> make() {
    std::error_code failed;
    const fs::path before = fs::current_path(failed);
    std::string name = (fs::temp_directory_path(failed) / "isoscope-demo-XXXXXX").string();
    if (failed || ::mkdtemp(name.data()) == nullptr)
      return Error{.what = "there is no place for the files of the demo",
                   .hint = "TMPDIR names a folder that can be written to"};
    auto folder = std::unique_ptr<DemoFolder>(new DemoFolder(name, before));
    for (const Example& example : demo_examples())
      std::ofstream(folder->path_ / example.name, std::ios::binary) << example.text;
    fs::current_path(folder->path_, failed);
    if (failed) return Error{.what = fmt::format("cannot work in {}", name)};
    return folder;
  }
  ~DemoFolder() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
    fs::remove_all(path_, ignored);
  }
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;

 private:
  DemoFolder(fs::path path, fs::path before) : path_(std::move(path)), before_(std::move(before)) {}
  fs::path path_;
  fs::path before_;
};

struct ShownCommand {
  std::string says;     // what was said before it
  std::string command;  // as typed, without the program
  int exit_code = 0;
  std::string output;
};

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Of our own program. Violations (exit code 1) are what a demo is for; others end it.
Result<ShownCommand> run_step(const std::string& line, const Paint& paint, Budget& budget) {
  std::vector<std::string> words = {"/proc/self/exe"};
  std::istringstream typed(line);
  for (std::string word; typed >> word;) words.push_back(word);
  words.insert(words.end(), {"--color", paint.has_colours() ? "always" : "never"});
  const int output = ::open("output", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
  if (output < 0)
    return Error{.what = fmt::format("cannot write the demo's files: {}", std::strerror(errno))};
  auto process =
      record::CommandProcess::start(words, {}, {.has_own_group = true, .output = output});
  ::close(output);
  if (!process) return process.error();
  while (!process->exit_code()) {
    if (budget.expired_now()) {
      process->send(SIGKILL);
      while (!process->exit_code()) ::usleep(1000);
      return limit_error("showing " + line);
    }
    ::usleep(5000);
  }
  ShownCommand shown{{}, line, *process->exit_code(), text_of("output")};
  if (shown.exit_code >= kBadInput)
    return Error{
        .what = fmt::format("'isoscope {}' ended with exit code {}", line, shown.exit_code),
        .hint = shown.output};
  return shown;
}

struct Walk {
  std::string text;
  std::vector<ShownCommand> commands;
};

Result<Walk> walk(const Paint& paint, Budget& budget, const Progress& progress) {
  const auto folder = DemoFolder::make();
  if (!folder) return folder.error();
  Walk walk;
  std::string says;
  std::istringstream lines{std::string(demo_walk())};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# ")) {
      says = line.substr(2);
      walk.text += fmt::format("{}{}\n", walk.text.empty() ? "" : "\n", paint.strong(line));
    } else if (line.starts_with("show ")) {
      walk.text += text_of(line.substr(5));
    } else if (line.starts_with("$ ")) {
      if (progress) progress("showing " + line.substr(2), -1);
      auto shown = run_step(line.substr(2), paint, budget);
      if (!shown) return shown.error();
      shown->says = std::exchange(says, "");
      walk.text += fmt::format("$ isoscope {}\n{}", shown->command, shown->output);
      walk.commands.push_back(*std::move(shown));
    }
  }
  return walk;
}

int run_demo(const CommonOptions& common) {
  Budget budget = common.start();
  const Paint paint = common.json ? Paint() : common.paint();
  const auto shown = walk(paint, budget, progress_line(common));
  clear_progress_line();
  if (!shown) return fail(shown.error());
  if (!common.json) return deliver(common, shown->text, kGood);
  Json json = json_header(header_of("demo", {.outcome = Outcome::Ok}, seconds_running()));
  json["stats"] = {{"commands", shown->commands.size()}};
  json["steps"] = Json::array();
  for (const ShownCommand& step : shown->commands)
    json["steps"].push_back({{"says", step.says},
                             {"command", "isoscope " + step.command},
                             {"exit_code", step.exit_code},
                             {"output", step.output}});
  return deliver(common, dump(json), kGood);
}

}  // namespace

Run add_demo(CLI::App& app) {
  auto common = std::make_shared<CommonOptions>();
  add_common(app, *common);
  app.footer(
      "Needs no server and no file, and leaves none behind.\n"
      "Examples:\n"
      "  isoscope demo\n"
      "  isoscope demo -o walk.txt");
  return [common] { return run_demo(*common); };
}

}  // namespace isoscope
