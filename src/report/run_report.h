#pragma once
// The answer of `run`: how often a program went wrong, and one run to look at.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/header.h"
#include "report/page.h"
#include "report/paint.h"
#include "store/replay.h"
#include "store/runs.h"

namespace isoscope {

// serial: one transaction after the other; weak: reads see anything legal; replay: reads see what a
// history says.
enum class RunStore : std::uint8_t { Serial, Weak, Replay };
inline constexpr std::array kRunStores = {RunStore::Serial, RunStore::Weak, RunStore::Replay};
std::string_view name_of(RunStore store);  // serial, weak, replay

struct RunReport {
  const Executable& program;
  std::string source;  // the file, for people
  RunStore store = RunStore::Serial;
  std::string level;  // as the user named it; may be empty
  std::uint64_t seed = 0;
  std::uint64_t wanted_runs = 1;
  store::Runs runs = {};                                           // of a replay: the one run
  std::optional<std::vector<store::Divergence>> divergences = {};  // of a replay
  std::string trace_file = {};                                     // empty: none was asked for
  double seconds = 0;
};

// ok, violated, diverged; or unknown, if the time ran out before anything was found.
Header header_of(const RunReport& report);

// Counts, divergences, failed assertions with what their transactions saw, then the run itself, one
// transaction a line.
std::string run_text(const RunReport& report, const Paint& paint);

// One JSON object, as docs/design.md fixes it.
std::string run_json(const RunReport& report);

// For pictures and pages: the run worth showing, as in the text.
Page run_page(const RunReport& report);

}  // namespace isoscope
