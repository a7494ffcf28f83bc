#pragma once
// The histories of dbcop: its JSON, and the binary form of its first version.
//
//     [[{"events":[{"Write":{"variable":0,"version":1}}],"committed":true}],
//      [{"events":[{"Read":{"variable":0,"version":null}}],"committed":true}]]
//
// An array of sessions, each an array of transactions; the array stands alone or as the member
// `data` of an object whose other members are remarks. Every variable starts with version 0; a
// read of null, too, sees the initial state. An event may also be ["r",0,1] or ["w",0,1].
//
// The binary form (bincode 1.x, little endian) marks success for each event and each transaction:
//
//     u64 id, sessions, variables, transactions, events        as the test was configured
//     three strings (u64 length, bytes): info, start, end
//     u64 sessions { u64 transactions { u64 events { u8 write, u64 variable, u64 value,
//                                                    u8 success }, u8 success } }
//
// A failed transaction is aborted. A failed write in a successful transaction is an aborted
// transaction of its own; failed reads saw nothing and are left out.
//
// Paper  [BiswasEnea-OOPSLA'19], the tool of its section 6.
#include "history/history.h"
#include "support/budget.h"
#include "support/output.h"
#include "support/result.h"

namespace isoscope {

Result<History> read_dbcop(std::string_view text, const Budget& budget = {});
Result<void> write_dbcop(const History& h, const Sink& out, const Budget& budget = {});

Result<History> read_dbcop_bincode(std::string_view bytes, const Budget& budget = {});

}  // namespace isoscope
