#pragma once
// The calls of an SQL application's sessions as statements for the server, and what a run of them
// is to the recorder.
#include <string>
#include <string_view>
#include <vector>

#include "force/answer.h"
#include "force/gates.h"
#include "record/run.h"
#include "sql/application.h"

namespace isoscope::force {

struct AppCall {
  std::string name;  // "alice[1]"
  AppSessionId session = {};
  std::string session_name = {};
  std::string function = {};
  std::string isolation = {};  // "READ COMMITTED"
  std::string call = {};       // "SELECT withdraw(1, 60)"

  std::string begin() const { return "BEGIN ISOLATION LEVEL " + isolation; }
};

// The calls of all sessions, or those that `only` names. `isolation`: of calls without a level of
// their own.
using AppCalls = ById<AppCallId, AppCall>;
Result<AppCalls> calls_of_app(const sql::Application& app, const std::string& isolation,
                              const std::vector<std::string>& only);

// The level of SQL that a name of a level means: "si", "pg-rr", "repeatable-read" are REPEATABLE
// READ; empty if it means none.
std::string sql_isolation(std::string_view level);

// What a transaction of one call said: the answers to BEGIN and the call, and to COMMIT.
struct CalledTxn {
  std::uint32_t connection = 0;  // as the recorder counts them, from 1
  std::string function = {};
  std::string isolation = {};
  TxnStatus status = TxnStatus::Unknown;
  std::string error = {};  // that ended it
  std::vector<GateNotice> notices = {};
};

// The same with the statements inside of its function.
record::RecordedTxn recorded_txn(const GatedApplication& app, const CalledTxn& called);
// A statement as it was executed.
std::string executed(const InnerStatement& statement, const GateNotice& notice);

}  // namespace isoscope::force
