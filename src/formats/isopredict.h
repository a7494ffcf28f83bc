#pragma once
// IsoPredict's traces: a line an event, in the order in which transactions committed.
//
//     WRITE KEY[x] Txn(1, 0)
//     READ KEY[x] Txn(2, 0) From(1, 0)           session 2, transaction 0 reads x from (1, 0)
//     INSERT[7] to Set[cart] Txn(1, 1)           a write of the key Set(cart:7)
//     CONTAINS[7] in Set[cart] From(1, 1) Txn(2, 0)
//     DELETE[7] from Set[cart] Txn(2, 1)
//
// (0, 0) is the initial transaction; its writes need not be there. All transactions committed.
// A trace has writers where other formats have values, so reading invents values: each write its
// own number from 1, a DELETE nil, the initial state 0. A read after an own write of the key is
// local, whatever its From says.
//
// Paper    [GengBlanasBondWang-PLDI'24], the traces of its artifact.
// Differs  The original skips lines that it does not know and misreads a reader that stands
//          before its writer; both are errors here, with their places.
#include <span>
#include <string_view>
#include <vector>

#include "history/history.h"
#include "support/budget.h"
#include "support/input.h"
#include "support/output.h"

namespace isoscope {

Result<History> read_isopredict(LineReader& in);
Result<void> write_isopredict(const History& h, const Sink& out, const Budget& budget = {});

// An order of the committed transactions that contains so and wr, as near to the file's as may
// be, in which those of `last` come as late as so and wr allow. An error if there is none: such a
// run cannot have been observed.
Result<std::vector<TxnId>> commit_order(const History& h, std::span<const TxnId> last = {});
// Can the text stand in the brackets of a trace?
bool is_trace_key(std::string_view text);
// Is it the key of an element of a set, Set(t:e)?
bool is_trace_set(std::string_view text);

}  // namespace isoscope
