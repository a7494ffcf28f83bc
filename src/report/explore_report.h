#pragma once
// The answer of `explore`, for people, for programs and as a page.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explore/explore.h"
#include "explore/outcomes.h"
#include "explore/weakest.h"
#include "report/header.h"
#include "report/page.h"
#include "report/paint.h"
#include "sql/application.h"

namespace isoscope {

struct ExploreReport {
  const Executable& program;
  std::string source;  // the file, for people
  std::string level;   // as the user named it; empty with --weakest
  std::string method;  // of Plan::description
  explore::Exploration all = {};
  std::optional<std::vector<explore::ProgramOutcome>> outcomes = {};  // with --outcomes
  std::optional<explore::Weakest> weakest = {};                       // with --weakest
  bool stopped_early = false;                                         // with --assert-only
  // What an SQL program does and the model does not: nothing is claimed to be complete then.
  std::vector<sql::Note> gaps = {};
  double seconds = 0;
};

Header header_of(const ExploreReport& report);

// Counts, then a few violations: each with the transactions as they ran, one a line, and which
// reads differ from a serial run.
std::string explore_text(const ExploreReport& report, const Paint& paint);

// One violation of it: the assertions that fail, the transactions as they ran, the reason. `source`
// names the file of the assertions, where they have a place.
std::string violation_text(const Executable& program, std::string_view source,
                           const store::Recording& run, const Paint& paint);

// One JSON object, as docs/design.md fixes it.
std::string explore_json(const ExploreReport& report);

// For pictures and pages: the violations that are kept, each with what makes it unserializable, and
// the table of outcomes.
Page explore_page(const ExploreReport& report);

// One line of `--histories`: {"history":1,"violates":false,"init":{…},"transactions":[…]}, where a
// transaction looks as in a jsonl history.
std::string history_line(const Executable& program, const store::Recording& run,
                         std::uint64_t number);

}  // namespace isoscope
