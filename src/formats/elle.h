#pragma once
// The histories of Jepsen and Elle, rw-register and list-append, in EDN; elle-cli's JSON too.
//
//     {:type :invoke, :f :txn, :process 0, :value [[:append :x 1] [:r :y nil]]}
//     {:type :ok,     :f :txn, :process 0, :value [[:append :x 1] [:r :y [4 7]]]}
//
// A transaction is an invocation and its completion by the same process:
//
//     :ok     committed, with what the completion says
//     :fail   aborted: the invocation's writes, no reads
//     :info   of unknown outcome: the invocation's writes, no reads
//     (none)  the same as :info
//
// A process is a session. Where no :process is given every transaction is its own session, and an
// invocation belongs to the first completion that does the same. Operations of something else
// than transactions (:f is neither missing nor :txn) by a process that is no number, such as
// :nemesis, are no part of the history. Registers start at nil, lists empty; nil read from a list
// is the empty list. A keyword and a string of the same letters are the same key or value.
// Maps stand one by one, or all in one vector or JSON array; a map may span lines.
//
// Paper  [Elle-VLDB'20], section 3.
#include "history/history.h"
#include "support/budget.h"
#include "support/input.h"
#include "support/output.h"

namespace isoscope {

Result<History> read_elle(LineReader& in);
Result<void> write_elle(const History& h, const Sink& out, const Budget& budget = {});

}  // namespace isoscope
