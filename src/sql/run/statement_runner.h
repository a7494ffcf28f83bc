#pragma once
// Who runs the SQL statements of a call while the interpreter goes through its control flow.
//
// Without a runner the interpreter runs them itself on its Database. One of a server's semantics
// answers those that it has run already and leaves the call at the first one that it has not.
#include <vector>

#include "sql/run/modify.h"
#include "sql/run/query.h"

namespace isoscope::sql {

class StatementRunner {
 public:
  virtual ~StatementRunner() = default;
  // The rows of a Select or a ForQuery.
  virtual Result<std::vector<std::vector<Value>>> query(CallState& call, const Statement& statement,
                                                        const QueryNeeds& needs) = 0;
  virtual Result<Modified> modify(CallState& call, const Statement& statement) = 0;
  // An EXCEPTION block begins; what it gives back names this moment. undo_block() takes back what
  // was done since.
  virtual std::size_t begin_block() { return 0; }
  virtual void undo_block(std::size_t /*mark*/) {}
  // COMMIT or ROLLBACK of a procedure: what follows is another transaction. False: not modelled
  // here.
  virtual bool end_transaction(CallState& /*call*/, const Statement& /*statement*/) {
    return false;
  }
};

}  // namespace isoscope::sql
