// isoscope levels [NAME]
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/history_input.h"
#include "report/header.h"

namespace isoscope {

namespace {

struct LevelsArguments {
  CommonOptions common;
  LevelInput specs;
  std::string name;
};

Json level_json(const Level& level) {
  Json axioms = Json::array();
  for (const Axiom& axiom : level.axioms)
    axioms.push_back({{"name", axiom.name}, {"declared_by", axiom.level}, {"text", axiom.text}});
  return {{"level", level.full_name()},
          {"summary", level.summary},
          {"built_in", level.built_in},
          {"axioms", std::move(axioms)}};
}

std::string list_text(const std::vector<const Level*>& levels, const Paint& paint) {
  std::size_t width = 0;
  for (const Level* level : levels) width = std::max(width, level->full_name().size());
  std::string out;
  for (const Level* level : levels)
    out += fmt::format("{}  {}\n", paint.strong(fmt::format("{:<{}}", level->full_name(), width)),
                       level->summary);
  return out;
}

// All levels, or those of one name in every framework that has it.
Result<std::vector<const Level*>> chosen(const LevelSet& levels, const std::string& name) {
  std::vector<const Level*> result;
  if (name.empty()) {
    for (const auto& level : levels.all()) result.push_back(level.get());
    return result;
  }
  auto found = levels.find(name);
  if (!found) return found.error();
  if (name.find('@') != std::string::npos) return std::vector<const Level*>{*found};
  for (const auto& level : levels.all()) {
    if (level->name == (*found)->name) result.push_back(level.get());
  }
  return result;
}

int run_levels(const LevelsArguments& args) {
  const Budget budget = args.common.start();
  auto levels = args.specs.load(budget);
  if (!levels) return fail(levels.error());
  auto shown = chosen(*levels, args.name);
  if (!shown) return fail(shown.error());
  if (args.common.json) {
    Json json = json_header(header_of("levels", {.outcome = Outcome::Ok}, seconds_running()));
    json["levels"] = Json::array();
    for (const Level* level : *shown) json["levels"].push_back(level_json(*level));
    return deliver(args.common, dump(json), kGood);
  }
  if (args.name.empty()) return deliver(args.common, list_text(*shown, args.common.paint()), kGood);
  std::string text;
  for (const Level* level : *shown) {
    if (!text.empty()) text += '\n';
    text += describe(*level);
  }
  return deliver(args.common, text, kGood);
}

}  // namespace

Run add_levels(CLI::App& app) {
  auto args = std::make_shared<LevelsArguments>();
  app.add_option("NAME", args->name, "show this level's text, in every framework that has it");
  args->specs.add_to(app);
  add_common(app, args->common);
  app.footer(
      "Examples:\n"
      "  isoscope levels\n"
      "  isoscope levels cc\n"
      "  isoscope levels --spec examples/no-long-fork.level no-long-fork");
  return [args] { return run_levels(*args); };
}

}  // namespace isoscope
