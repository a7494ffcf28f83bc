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
    Block block{.body = {}, .handler = {}, .is_separate = true};
    reset_variables(frame, inlined, block.body, place);
    replace_returns(inlined.body, [](Body&, const Statement&, const std::optional<Expr>&) {});
    std::ranges::move(inlined.body, std::back_inserter(block.body));
    Body body;
    body.push_back({.place = place, .text = trigger->name, .kind = std::move(block)});
    keep_found(frame, body, place);
    std::ranges::move(body, std::back_inserter(to_));
  }
}

}  // namespace isoscope::sql
