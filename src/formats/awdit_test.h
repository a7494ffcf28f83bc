#pragma once
// The text of AWDIT's own tests.
//
//     w 0 1           write 1 to key 0
//     -----           the transaction ends
//     r 0 1
//     =====           the transaction and its session end
//     r 0 1
//
// There are no implicit initial values: a read of 0 that no transaction wrote is a thin-air read. A
// transaction or session without operations does not exist.
#include "history/history.h"
#include "support/budget.h"
#include "support/input.h"
#include "support/output.h"

namespace isoscope {

Result<History> read_awdit_test(LineReader& in);
Result<void> write_awdit_test(const History& h, const Sink& out, const Budget& budget = {});

}  // namespace isoscope
