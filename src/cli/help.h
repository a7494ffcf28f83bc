#pragma once
// --help in four groups: what is read, what is asked, what is written, what all commands share.
#include <memory>

namespace CLI {
class App;
class FormatterBase;
}  // namespace CLI

namespace isoscope {

// Prints the groups in that order, whatever the order in which options were declared.
std::shared_ptr<CLI::FormatterBase> make_help_formatter();
// Puts the options of a command, and of those below it, into their groups.
void group_options(CLI::App& app);

}  // namespace isoscope
