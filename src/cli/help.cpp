#include "cli/help.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "formats/formats.h"
#include "spec/levels.h"

namespace isoscope {

namespace {

constexpr std::string_view kGroups[] = {"Input", "Question", "Output", "Common"};

// What stands in no list is part of the question.
constexpr std::string_view kInputs[] = {"format", "spec", "app", "dsn", "listen", "baseline"};
constexpr std::string_view kOutputs[] = {"annotate",  "certificate", "color",           "dot",
                                         "histories", "html",        "isolationtester", "json",
                                         "junit",     "minimize",    "ordered",         "output",
                                         "predicted", "quiet",       "sarif",           "svg",
                                         "to",        "trace",       "update-baseline"};
constexpr std::string_view kCommon[] = {"help", "memory", "timeout"};

std::string_view group_of(const CLI::App& app, const CLI::Option& option) {
  const std::vector<std::string>& names = option.get_lnames();
  const auto is_in = [&](const auto& list) {
    return std::ranges::any_of(names, [&](const std::string& name) {
      return std::ranges::find(list, name) != std::end(list);
    });
  };
  // `run` follows a history, `audit` writes one.
  if (std::ranges::count(names, "history") > 0)
    return app.get_name() == "audit" ? "Output" : "Input";
  if (is_in(kInputs)) return "Input";
  if (is_in(kOutputs)) return "Output";
  return is_in(kCommon) ? "Common" : "Question";
}

bool has_option(const CLI::App& app, std::initializer_list<const char*> names) {
  return std::ranges::any_of(
      names, [&](const char* name) { return app.get_option_no_throw(name) != nullptr; });
}

// "Levels: rc, ra, …", on lines of at most so many letters.
std::string list_text(std::string line, const std::vector<std::string>& names,
                      const std::string& end) {
  constexpr std::size_t kLetters = 100;
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string word = " " + names[i] + (i + 1 < names.size() ? "," : end);
    if (line.size() + word.size() > kLetters) {
      out += line + "\n";
      line.clear();
    }
    line += line.empty() ? word.substr(1) : word;
  }
  return out + line + "\n";
}

// What may stand for LEVEL and FORMAT, for commands that take them.
std::string names_text(const CLI::App& app) {
  std::string out;
  if (has_option(app, {"--level", "--allow", "--matrix"})) {
    std::vector<std::string> names;
    for (const auto& level : LevelSet::built_in().all()) {
      if (std::ranges::find(names, level->name) == names.end()) names.push_back(level->name);
    }
    out += list_text("Levels:", names, "; `isoscope levels` describes them.");
  }
  if (has_option(app, {"--format", "--to"})) {
    std::vector<std::string> names;
    for (const Format format : all_formats()) names.emplace_back(name_of(format));
    out += list_text("Formats:", names, ".");
  }
  return out;
}

class GroupedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    std::string sorted;
    std::size_t first = std::string::npos;
    for (const std::string_view group : kGroups) {
      const std::string title = "\n" + std::string(group) + ":\n";
      const std::size_t at = text.find(title);
      if (at == std::string::npos) continue;
      const std::size_t end = std::min(text.find("\n\n", at + 1), text.size() - 1) + 1;
      sorted += text.substr(at, end - at);
      text.erase(at, end - at);
      first = std::min(first, at);
    }
    if (first != std::string::npos) text.insert(first, sorted);
    for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;)
      text.erase(at, 1);
    if (const std::size_t at = text.find("\nExamples:\n"); at != std::string::npos)
      text.insert(at + 1, names_text(*app));
    return text;
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> make_help_formatter() {
  auto formatter = std::make_shared<GroupedHelp>();
  formatter->column_width(34);
  return formatter;
}

void group_options(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) option->group(std::string(group_of(app, *option)));
  }
  for (CLI::App* below : app.get_subcommands([](CLI::App*) { return true; })) group_options(*below);
}

}  // namespace isoscope
