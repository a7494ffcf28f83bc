// AFTER triggers FOR EACH STATEMENT: once behind the statement and the triggers of its rows, even
// if it has changed no row.
#include <fmt/format.h>

#include <algorithm>

#include "sql/read/inliner.h"
#include "sql/read/trigger_parts.h"
#include "sql/read/write_builder.h"

namespace isoscope::sql {

void WriteBuilder::run_statement_triggers() {
  const Place place = model_.place;
  Frame& frame = *scope_.frame;
  std::vector<const Trigger*> triggers;
  for (const Trigger& trigger : scope_.catalog.triggers) {
    if (trigger.is_statement && fires(trigger, op_)) triggers.push_back(&trigger);
  }
  std::ranges::sort(triggers, {}, [](const Trigger* trigger) { return trigger->name; });
  for (const Trigger* trigger : triggers) {
    // Of a part of WITH it runs behind the whole statement.
    if (wanted_rows_) {
      scope_.findings.fail(
          place, fmt::format("the trigger {} FOR EACH STATEMENT is not modelled where RETURNING of "
                             "the statement goes on",
                             trigger->name));
      return;
    }
    const auto function = function_of(*trigger, op_, scope_, place);
    if (function == nullptr) return;
    if (std::ranges::any_of(used_columns(*function), [](bool is_used) { return is_used; })) {
      scope_.findings.fail(place, fmt::format("the trigger {} FOR EACH STATEMENT uses NEW or OLD, "
                                              "which it has not",
                                              trigger->name));
      return;
    }
    InlinedBody inlined = copy_body(frame, *function);
    Body given;
    reset_variables(frame, inlined, given, place);
    replace_returns(inlined.body, [](Body&, const Statement&, const std::optional<Expr>&) {});
    Body body = trigger_block(frame, trigger->name, std::move(given), std::move(inlined), place);
    std::ranges::move(body, std::back_inserter(to_));
  }
}

}  // namespace isoscope::sql
