#pragma once
// Version columns: UPDATE … WHERE id = 7 AND version = 5, after the application has read version 5.
#include <functional>
#include <string>
#include <vector>

#include "races/run.h"

namespace isoscope::races {

// Does the statement look for a row by a value that its transaction would have read otherwise, and
// that the row does not have now? `seen`: whom the reads of the statements before it see.
bool looks_for_stale(const Run& run, const Txn& txn, const std::vector<std::vector<RunTxn>>& seen,
                     const Statement& statement, const std::function<std::string(KeyId)>& current);

// The same, whatever the row has now: the recorded text is not what the application would send.
bool has_stale_value(const Run& run, const Txn& txn, const std::vector<std::vector<RunTxn>>& seen,
                     const Statement& statement);

}  // namespace isoscope::races
