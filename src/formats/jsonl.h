#pragma once
// Our format for machines: a header line, then a transaction a line.
//
//     {"format":"isoscope-history/1","init":{"x":5}}
//     {"session":"s1","id":"T1","status":"committed","ops":[["r","x",5],["w","x",1],["d","z"]]}
//     {"session":"s2","id":"T2","status":"aborted","ops":[["r","x",{"from":"T1"}],["r","z",null]]}
//     {"session":"s2","id":"T3","status":"committed","ops":[["a","l",1],["r","l",[1]]],"level":"si"}
//
// status is committed, aborted or unknown; r reads a value, null (absence), a list, or from a
// named transaction; w writes, d deletes, a appends to a list. A list of operations is a statement.
// Optional members: level, sql, at; of recorded runs also stmts, gaps, start, end, commit, error
// and isolation (formats/run_notes.h). Other members are errors, so that a slip of the pen cannot
// change what a history says. Initial values are those of `init`; for other keys nil if some read
// asks for null, else 0.
#include "formats/plain_txn.h"
#include "formats/run_notes.h"
#include "history/builder.h"
#include "history/history.h"
#include "support/budget.h"
#include "support/input.h"
#include "support/output.h"

namespace isoscope {

inline constexpr std::string_view kJsonlFormat = "isoscope-history/1";
// Of a history that has no more to say than its transactions.
inline constexpr std::string_view kJsonlHeader = "{\"format\":\"isoscope-history/1\"}\n";

// Without `notes`, a recorded run that has gaps is a limit_error: see run_notes.h.
Result<History> read_jsonl(LineReader& in, RunNotes* notes = nullptr);
// The first half of it: what the lines say, before it is known who wrote what was read.
Result<HistoryBuilder> gather_jsonl(LineReader& in, RunNotes* notes = nullptr);
Result<void> write_jsonl(const History& h, const Sink& out, const Budget& budget = {});
// One transaction, to be read after the header.
void append_jsonl(const PlainTxn& txn, std::string& out);

}  // namespace isoscope
