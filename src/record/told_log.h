#pragma once
// The log that a server does not let us read, put together from what statements reported.
//
// Statements that wrote reported their rows, so each transaction's changes are known, and its id;
// commit_order.h orders the transactions. Statements that showed rows told their snapshots. Of the
// others (no row was found, DISTINCT, UNION, cursors) the snapshot follows from the times at which
// the statement and the commits of others were sent and answered, unless a commit was under way
// while it ran: then it is a gap.
//
// Nothing of this is worth anything if rows were written that no statement told. So the server's
// own counters must agree (appender.h); where they do not, the table is in trouble, and every
// statement on it is a gap. A statement that failed may have counted rows or not, and then the
// counters must agree with the fewest that it can be.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "record/appender.h"
#include "record/decoded_log.h"
#include "record/run.h"
#include "record/tables.h"

namespace isoscope::record {

struct ToldContext {
  const Catalog& catalog;
  const TableStates& before;
  const TableStates& after;
  bool is_counted = true;  // false: the counters may lack something
  // As the server knows it.
  std::function<TxnStatus(std::uint64_t xid)> status_of;
};

// Numbers the statements' gates, so that they find their snapshots; adds gaps for those whose
// snapshot, or place among the commits of others, is not known.
DecodedLog told_log(std::vector<std::pair<std::string, RecordedTxn>>& txns,
                    const ToldContext& context);

}  // namespace isoscope::record
