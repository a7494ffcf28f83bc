#pragma once
// The text of Plume, PolySI and AWDIT: a line an operation.
//
//     w(1,5,0,0)      session 0, transaction 0 writes 5 to key 1
//     r(1,5,1,1)      session 1, transaction 1 reads it
//     w(1,6,1,-1)     session 1 wrote 6 in a transaction that aborted
//
// Every key starts with 0. Each line with transaction -1 is an aborted transaction of its own.
// Lines of a transaction may interleave with others; session order is the order of first lines.
// A transaction is known by its session and its number; it is called t7, or t3_7 (session 3,
// transaction 7) where several sessions use that number.
#include "formats/plain_txn.h"
#include "history/builder.h"
#include "history/history.h"
#include "support/budget.h"
#include "support/input.h"
#include "support/output.h"

namespace isoscope {

Result<History> read_plume(LineReader& in);
// The first half of it: what the lines say, before it is known who wrote what was read.
Result<HistoryBuilder> gather_plume(LineReader& in);
Result<void> write_plume(const History& h, const Sink& out, const Budget& budget = {});
// One transaction. Of an aborted one only the writes: each line with transaction -1 is a
// transaction of its own, so that its reads of its own writes cannot be expressed.
void append_plume(const PlainTxn& txn, std::string& out);

}  // namespace isoscope
