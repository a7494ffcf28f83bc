#pragma once
// A run of statements as a server executed it, as a scene: each statement where it was answered,
// waiting shown, rows before and after each step for the player.
#include <string>
#include <vector>

#include "report/page.h"

namespace isoscope {

struct PlayedStep {
  enum class Kind : std::uint8_t {
    Statement,  // was answered
    Waits,      // was sent, and waits for a lock
    GoesOn,     // had waited, and was answered
    Commit,
    Abort,
  };
  Kind kind = Kind::Statement;
  std::size_t lane = 0;
  std::string txn = {};     // "alice[1]"
  std::string call = {};    // "transfer(1, 2, 60)"; may be empty
  std::string sql = {};     // of an end that is no statement: empty
  std::string where = {};   // "line 12"
  std::string result = {};  // "(100)", "1 row", "for bob[1]", "40001 could not serialize access"
  std::vector<KeyState> changed = {};  // rows, with their values from now on
};

std::string_view name_of(PlayedStep::Kind kind);  // answered, waits, goes on, commits, aborts

struct PlayedRun {
  std::string title = {};
  std::string sentence = {};
  std::vector<std::string> lanes = {};
  std::vector<KeyState> start = {};  // rows before the first step
  std::vector<PlayedStep> steps = {};
};

// Step i becomes box i + 1. Of too many steps nothing is drawn, and the scene says so.
Scene schedule_scene(PlayedRun run);

// The box of a transaction's statement that stands at this place, or kNoIndex.
std::size_t box_at(const Scene& scene, std::string_view txn, std::string_view where);
// The name under which the boxes of a transaction are known: "3. alice[1]" for its third step.
std::string step_name(std::size_t number, std::string_view txn);

// Rows that are other ones than before, or have another value or writer.
std::vector<KeyState> changed_rows(const std::vector<KeyState>& before,
                                   const std::vector<KeyState>& after);

}  // namespace isoscope
