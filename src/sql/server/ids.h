#pragma once
// What the parts of a server's state are known by. Sessions and calls have the ids of their program
// (program/executable.h), whose calls are the transactions.
#include "program/executable.h"
#include "support/by_id.h"

namespace isoscope::sql::server {

using TxnNo = Id<struct TxnNoTag>;  // the first made the rows at the start; calls follow in order
using CommandNo = Id<struct CommandTag>;  // of one transaction; the first is before all statements

inline constexpr TxnNo kInitialTxn = {};

// The transaction of a call, and back.
inline TxnNo txn_of(CallId call) { return {call.index + 1}; }
inline CallId call_of(TxnNo txn) { return {txn.index - 1}; }

}  // namespace isoscope::sql::server
