#pragma once
// The files that a command reads and writes.
//
// Commands declare them with these functions instead of CLI::App::add_option. main() then calls
// check_files() once for the command that was chosen, before it reads anything: no output may be an
// input or another output, by whatever name, and every output must be one that can be written. An
// option of type FILE that was not declared here is a bug, which check_files() stops at.
#include <functional>
#include <string>
#include <vector>

#include "support/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace isoscope {

CLI::Option* add_input_file(CLI::App& app, const std::string& name, std::string& path,
                            const std::string& help);
CLI::Option* add_input_files(CLI::App& app, const std::string& name,
                             std::vector<std::string>& paths, const std::string& help);
// `is_written` may say that nothing is written after all, by the options that were given.
CLI::Option* add_output_file(CLI::App& app, const std::string& name, std::string& path,
                             const std::string& help, std::function<bool()> is_written = {});

Result<void> check_files(const CLI::App& app);
// The same for an output whose name was made up on the way: is it an input?
Result<void> check_further_output(const std::string& path);

// Before anything else: a descriptor that was closed when the program started must not become that
// of a file, which would then receive what goes to standard output; and a file that grows beyond
// the limit of the system is an error like a full disk, not the end of the program.
void prepare_for_files();

}  // namespace isoscope
