#pragma once
// The arguments of commands that read a history or use levels.
#include <string>
#include <vector>

#include "formats/formats.h"
#include "spec/levels.h"

namespace CLI {
class App;
}

namespace isoscope {

struct HistoryInput {
  std::string path;
  std::string format;  // empty: recognise it by its content

  void add_to(CLI::App& app);
  void add_format_to(CLI::App& app);
  // `ambiguity`, `notes`: see read_history().
  Result<History> read(const Progress& progress, Budget budget,
                       Ambiguity ambiguity = Ambiguity::Refuse, RunNotes* notes = nullptr) const;
};

// By name, for commands whose histories have no times: a level that speaks of real time is an
// error.
Result<const Level*> find_timeless(const LevelSet& levels, std::string_view name,
                                   Framework preferred = Framework::Co);

struct LevelInput {
  std::vector<std::string> specs;  // files with levels of the user's

  void add_to(CLI::App& app);
  // The built-in levels and those of the files.
  Result<LevelSet> load(Budget budget) const;
};

}  // namespace isoscope
