// SQL applications made from choices: no run contradicts what the audit says of them, and what it
// finds is unserializable for the checker too.
#include "audit/oracle.h"
#include "audit/random_app.h"
#include "audit/random_wide_app.h"
#include "target.h"

namespace isoscope {

bool fuzz(FuzzInput input) {
  using namespace audit;
  const char* names[] = {"ec", "cc", "pc", "ua", "psi", "si", "si", "ser"};
  Choices choices(input);
  const bool is_wide = choices.chance(0.4);
  const std::string name = names[choices.below(8)];
  const std::uint64_t seed = choices.below(256);
  const bool by_rows = is_wide && choices.chance(0.25);
  const bool rows_at_start = is_wide && choices.chance(0.25);
  const std::string text = is_wide ? RandomWideApp(choices).text() : RandomApp(choices).text();
  SCOPED_TRACE(name + "\n" + text);
  const sql::Application app = app_of(text);
  Problem problem{app, {level_of(name), {}}};
  if (by_rows) problem.conflicts = Conflicts::Rows;
  problem.rows_at_start = rows_at_start;
  Tally tally;
  // Programs with loops over rows may need more rounds than a search looks at: of wide ones, only
  // proofs are held against runs.
  compare(
      problem, seed,
      {.bound = 2, .num_runs = 60, .seconds = 2, .only_proofs = is_wide, .with_histories = true},
      tally);
  return tally.unknown == 0;
}

}  // namespace isoscope
