#include "cli/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <utility>

#include "support/assert.h"
#include "support/named_file.h"
#include "support/output.h"

namespace isoscope {

namespace {

// A file that some option of some command names.
struct DeclaredFile {
  const CLI::App* app = nullptr;
  const CLI::Option* option = nullptr;
  FileUse use = FileUse::Read;
  std::function<std::vector<std::string>()> paths = {};
};

// A file that the chosen command reads or writes.
struct ClaimedFile {
  std::string option;
  std::string path;
  NamedFile file;
};

std::vector<DeclaredFile>& declared_files() {
  static std::vector<DeclaredFile> files;
  return files;
}

std::vector<ClaimedFile>& claimed_inputs() {
  static std::vector<ClaimedFile> inputs;
  return inputs;
}

CLI::Option* declare(CLI::App& app, CLI::Option* option, FileUse use,
                     std::function<std::vector<std::string>()> paths) {
  declared_files().push_back({&app, option, use, std::move(paths)});
  return option->type_name("FILE");
}

// The options of the command and of what was chosen below it (`generate history`).
std::vector<const CLI::App*> chosen_apps(const CLI::App& app) {
  std::vector<const CLI::App*> apps = {&app};
  for (const CLI::App* below : app.get_subcommands()) {
    for (const CLI::App* further : chosen_apps(*below)) apps.push_back(further);
  }
  return apps;
}

void expect_all_declared(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_type_name() != "FILE") continue;
    ISO_ASSERT(std::ranges::find(declared_files(), option, &DeclaredFile::option) !=
               declared_files().end());
  }
}

Error same_file(const ClaimedFile& output, const ClaimedFile& other, std::string what) {
  return {.what = std::move(what),
          .hint = output.path == other.path
                      ? "name another file"
                      : fmt::format("'{}' is the same file: name another", other.path),
          .file = output.path};
}

Result<void> check_against_inputs(const ClaimedFile& output) {
  for (const ClaimedFile& input : claimed_inputs()) {
    if (output.file.is_same_as(input.file))
      return same_file(output, input,
                       fmt::format("{} would overwrite the input {}", output.option, input.option));
    if (input.file.is_folder() && output.file.descriptor() < 0 &&
        output.file.folder() == input.file.path())
      return Error{.what = fmt::format("{} would write into the folder that is the input {}",
                                       output.option, input.option),
                   .hint = "name a file in another folder",
                   .file = output.path};
  }
  return {};
}

Result<void> check_against_outputs(const ClaimedFile& output,
                                   const std::vector<ClaimedFile>& others) {
  for (const ClaimedFile& other : others) {
    if (!output.file.is_same_as(other.file)) continue;
    if (output.file.descriptor() == STDOUT_FILENO && other.file.descriptor() == STDOUT_FILENO)
      return Error{.what = fmt::format("{} and {} would be mixed on standard output", other.option,
                                       output.option),
                   .hint = "name a file for one of them, or leave out the report by --quiet"};
    return same_file(output, other,
                     fmt::format("{} and {} would write one file", other.option, output.option));
  }
  return {};
}

Result<void> claim_input(ClaimedFile input) {
  const bool is_standard = input.file.descriptor() == STDIN_FILENO;
  for (const ClaimedFile& other : claimed_inputs()) {
    if (is_standard && other.file.descriptor() == STDIN_FILENO)
      return Error{.what = fmt::format("{} and {} cannot both be standard input", other.option,
                                       input.option),
                   .hint = "name a file for one of them"};
  }
  claimed_inputs().push_back(std::move(input));
  return {};
}

}  // namespace

CLI::Option* add_input_file(CLI::App& app, const std::string& name, std::string& path,
                            const std::string& help) {
  return declare(app, app.add_option(name, path, help), FileUse::Read,
                 [&path] { return std::vector<std::string>{path}; });
}

CLI::Option* add_input_files(CLI::App& app, const std::string& name,
                             std::vector<std::string>& paths, const std::string& help) {
  return declare(app, app.add_option(name, paths, help), FileUse::Read, [&paths] { return paths; });
}

CLI::Option* add_output_file(CLI::App& app, const std::string& name, std::string& path,
                             const std::string& help, std::function<bool()> is_written) {
  return declare(app, app.add_option(name, path, help), FileUse::Write,
                 [&path, is_written = std::move(is_written)] {
                   if (is_written && !is_written()) return std::vector<std::string>();
                   return std::vector<std::string>{path};
                 });
}

Result<void> check_files(const CLI::App& app) {
  const auto apps = chosen_apps(app);
  for (const CLI::App* chosen : apps) expect_all_declared(*chosen);
  std::vector<ClaimedFile> outputs;
  for (const DeclaredFile& declared : declared_files()) {
    if (std::ranges::find(apps, declared.app) == apps.end()) continue;
    for (const std::string& path : declared.paths()) {
      const std::string option = declared.option->get_name();
      if (path.empty() && declared.option->count() > 0)
        return Error{.what = fmt::format("{} needs the name of a file", option)};
      if (path.empty()) continue;
      auto file = NamedFile::resolve(path, declared.use);
      if (declared.use == FileUse::Read) {
        if (!file) continue;  // who reads it says what is wrong with it
        auto claimed = claim_input({option, path, *std::move(file)});
        if (!claimed) return claimed;
        continue;
      }
      if (auto fits = Output::check(path); !fits) return fits;
      if (file) outputs.push_back({option, path, *std::move(file)});
    }
  }
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (auto fits = check_against_inputs(*output); !fits) return fits;
    if (auto fits = check_against_outputs(*output, {outputs.begin(), output}); !fits) return fits;
  }
  return {};
}

Result<void> check_further_output(const std::string& path) {
  if (auto fits = Output::check(path); !fits) return fits;
  auto file = NamedFile::resolve(path, FileUse::Write);
  if (!file) return file.error();
  return check_against_inputs({"this", path, *std::move(file)});
}

void prepare_for_files() {
  // Opened the wrong way round, so that using one of them is still an error.
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace isoscope
