#include "cli/history_input.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/files.h"
#include "formats/text_kind.h"
#include "support/input.h"

namespace isoscope {

void HistoryInput::add_to(CLI::App& app) {
  add_input_file(app, "HISTORY", path, "the history; - is standard input")->required();
  add_format_to(app);
}

void HistoryInput::add_format_to(CLI::App& app) {
  app.add_option("--format", format, "the input's format; without it, the content decides")
      ->type_name("FORMAT");
}

Result<History> HistoryInput::read(const Progress& progress, Budget budget, Ambiguity ambiguity,
                                   RunNotes* notes) const {
  std::optional<Format> named;
  if (!format.empty()) {
    auto found = find_format(format);
    if (!found) return found.error();
    named = *found;
  }
  return read_history(path, named, progress, budget, ambiguity, notes);
}

Result<const Level*> find_timeless(const LevelSet& levels, std::string_view name,
                                   Framework preferred) {
  auto level = levels.find(name, preferred);
  if (!level || !(*level)->uses_real_time) return level;
  return Error{.what = fmt::format("'{}' is about real time, which only check supports", name),
               .hint = "take the level without it: ser instead of strict-ser"};
}

void LevelInput::add_to(CLI::App& app) {
  add_input_files(app, "--spec", specs, "a file with levels of your own; may be repeated")
      ->allow_extra_args(false);
}

Result<LevelSet> LevelInput::load(Budget budget) const {
  LevelSet levels = LevelSet::built_in();
  for (const std::string& path : specs) {
    auto text = read_whole(path, budget);
    if (!text) return text.error();
    if (auto added = levels.add(*text, path); !added)
      return explain_kind(added.error(), TextKind::Levels, *text);
  }
  return levels;
}

}  // namespace isoscope
