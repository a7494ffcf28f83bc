#include "audit/row_checks.h"

#include "audit/access_evaluator.h"

namespace isoscope::audit {

SmtTerm meets_checks(Symbols& symbols, sql::TableId table, const Row& row,
                     const std::vector<SymValue>& values) {
  // A CHECK is an expression like any other, in a transaction that does nothing.
  Instance nobody(symbols, sql::FunctionId{}, "start", {});
  AccessEvaluator terms(symbols, nobody);
  const Frame frame{.sources = {Source{table, row, values}}};
  std::vector<SmtTerm> parts;
  for (const sql::Expr& check : symbols.app().table(table).checks)
    parts.push_back(!terms.truth(check, frame).no);
  return symbols.all(parts);
}

}  // namespace isoscope::audit
