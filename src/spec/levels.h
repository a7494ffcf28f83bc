#pragma once
// Levels by name: the built-in ones, and those that users add.
//
//     LevelSet levels = LevelSet::built_in();               // a copy that can grow
//     if (auto added = levels.add(text, "my.level"); !added) return added.error();
//     auto level = levels.find("cc@vis");
//
// The same name may stand for levels over different orders: pc@co, pc@vis and pc@snap. A bare name
// means @co where that is defined, then @vis. Names compare without regard to case.
//
// A Level exists as long as some LevelSet that has it, so pointers into the built-in set are valid
// for good, and pointers into a copy as long as the copy.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spec/level.h"
#include "support/result.h"

namespace isoscope {

inline constexpr std::size_t kMaxLevels = 500;  // of a set

class LevelSet {
 public:
  // The levels of levels/*.level, which are part of the program.
  static const LevelSet& built_in();

  // Adds the levels that `text` declares, all or none. They may extend levels declared before
  // them, here or in earlier texts; a name that is taken (in its framework) is an error. The
  // errors name `file` and show the line.
  Result<void> add(std::string_view text, std::string_view file);

  // By name, with or without @co, @vis or @snap; a bare name means the preferred framework where it
  // is defined, else the first other. An unknown name is an error that suggests the closest.
  Result<const Level*> find(std::string_view name, Framework preferred = Framework::Co) const;
  // By name in one framework, or null; the name in lower case.
  const Level* lookup(std::string_view name, Framework framework) const;

  // In the order of their declarations, the built-in ones first.
  const std::vector<std::shared_ptr<const Level>>& all() const { return levels_; }

 private:
  static LevelSet load_built_in();

  std::vector<std::shared_ptr<const Level>> levels_;
};

// Is the level over co, snap, or does an axiom mention of, same, waited, locks, writesrow or
// current, so that it can distinguish statements and locks?
bool speaks_of_statements(const Level& level);

// An error if the level is over co, snap, frees co of so or wr, or speaks of statements: of which
// `who` ("synth") knows nothing.
Result<void> require_plain(const Level& level, std::string_view who);

// What `isoscope levels NAME` shows: what the framework demands, the level's text, the axioms it
// inherits, and whether single transactions can have it.
std::string describe(const Level& level);

}  // namespace isoscope
