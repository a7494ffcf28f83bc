#include "audit/row_checks.h"

#include "audit/symbolic_run.h"

namespace isoscope::audit {

SmtTerm meets_checks(Symbols& symbols, sql::TableId table, const Row& row,
                     const std::vector<SymValue>& values) {
  // A CHECK is an expression like any other, in a transaction that does nothing.
  Instance nobody(symbols, sql::FunctionId{}, "start");
  SymbolicRun run(symbols, nobody, InstanceRules{});
  std::vector<SmtTerm> parts;
  for (const sql::Expr& check : symbols.app().table(table).checks)
    parts.push_back(!run.is_false(check, table, row, values));
  const auto& columns = symbols.app().table(table).columns;
  for (std::size_t c = 0; c < columns.size(); ++c)
    parts.push_back(symbols.is_label(columns[c].width, values[c]));
  return symbols.all(parts);
}

}  // namespace isoscope::audit
