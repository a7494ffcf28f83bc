#pragma once
// From what was seen on the wire and what the server's log says to a history: who read what from
// whom.
//
// Each execution of a gated statement left a message in the log, which bears the number of the
// gate, the snapshot and the id of the transaction. So statements find their snapshots, and
// transactions their changes. A transaction that wrote and left no such message (an INSERT of
// several rows) is found by elimination if there is only one that it can be. Changes that belong to
// no transaction of the recording were made by other clients, and become transactions of their own,
// with a gap.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "record/gatekeeper.h"
#include "record/run.h"
#include "record/run_file.h"
#include "record/run_source.h"
#include "record/server_log.h"

namespace isoscope::record {

struct ResolvedTxn {
  std::string session;
  std::string id;
  RecordedTxn txn;
  std::vector<std::vector<RunEvent>> events;  // by statement
  std::size_t commit = 0;                     // place in the order of commits; 0: it wrote nothing
};

struct ResolvedRun {
  std::vector<ResolvedTxn> txns;
  std::map<std::string, std::string> initial;  // what T0 wrote, by key
};

// Where the run goes: first what T0 wrote, by key, then the transactions, one after the other.
struct ResolvedSink {
  std::function<void(const InitialValues& initial)> start;
  std::function<void(ResolvedTxn)> txn;
};

// `home`: the schema in which clients look for tables first, if that is known. `is_cut`: the log
// ends while transactions were under way. An Error may come when something was handed on already.
Result<void> resolve(RunSource& source, ServerLog& log, Gatekeeper& gates, const ResolvedSink& sink,
                     const std::string& home, bool is_cut);
// A run in memory: sessions and transactions in the order of their ends, which are moved from.
// After an Error nothing was handed on.
Result<void> resolve(std::vector<std::pair<std::string, RecordedTxn>>& txns, ServerLog& log,
                     Gatekeeper& gates, const ResolvedSink& sink, const std::string& home = {});
// The same, all at once.
Result<ResolvedRun> resolve(std::vector<std::pair<std::string, RecordedTxn>>& txns, ServerLog& log,
                            Gatekeeper& gates, const std::string& home = {});
// Every statement that may read or write becomes a gap.
void doubt(RecordedTxn& txn, const std::string& why);

// Does the statement touch no table, so that there is nothing to know about it?
bool is_harmless(StatementKind kind);

}  // namespace isoscope::record
