#include "force/stress_plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "force/plan_file.h"
#include "support/spelling.h"

namespace isoscope::force {
namespace {

// t[7] is the row 7.
std::string row_of(const History& h, KeyId x) {
  const std::string name = h.name(x);
  return name.substr(2, name.size() - 3);
}

// The statement that did what these events of one statement say.
std::string statement_of(const History& h, EventId last, StressWorkload workload) {
  const std::string row = row_of(h, h.key(last));
  if (h.is_read(last)) return fmt::format("SELECT v FROM isoscope_plan.t WHERE k = {}", row);
  const std::string value = h.show(h.value(last));
  if (workload == StressWorkload::List)
    return fmt::format("UPDATE isoscope_plan.t SET v = v || ' {}' WHERE k = {}", value, row);
  return fmt::format("UPDATE isoscope_plan.t SET prev = v, v = {} WHERE k = {} RETURNING prev",
                     value, row);
}

// What the transaction says to the server, statement by statement.
std::vector<std::string> statements_of(const History& h, TxnId t, StressWorkload workload) {
  std::vector<std::string> statements;
  std::optional<EventId> last;
  for (const EventId e : h.events(t)) {
    // What an aborted transaction read can be all that tells; its writes are not to be seen.
    if (!h.is_committed(t) && !h.is_read(e)) continue;
    if (last && h.statement(*last) != h.statement(e))
      statements.push_back(statement_of(h, *last, workload));
    last = e;
  }
  if (last) statements.push_back(statement_of(h, *last, workload));
  return statements;
}

}  // namespace

std::string stress_plan(const History& minimal, const StressOptions& options) {
  using OrderedJson = nlohmann::ordered_json;
  const bool is_list = options.workload == StressWorkload::List;
  std::set<std::string> rows;
  for (const EventId e : minimal.all_events()) rows.insert(row_of(minimal, minimal.key(e)));
  OrderedJson sessions = OrderedJson::array();
  for (const SessionId s : minimal.sessions()) {
    OrderedJson transactions = OrderedJson::array();
    std::string name;  // of the one transaction; of the session if there are several
    for (const TxnId t : minimal.session_txns(s)) {
      OrderedJson statements = statements_of(minimal, t, options.workload);
      if (statements.empty()) continue;
      name = transactions.empty() ? minimal.name(t) : minimal.name(s);
      transactions.push_back(std::move(statements));
    }
    if (!transactions.empty())
      sessions.push_back({{"name", name}, {"transactions", std::move(transactions)}});
  }
  const std::string type = is_list ? "text" : "bigint";
  OrderedJson setup = {
      "CREATE SCHEMA isoscope_plan", "SET search_path = isoscope_plan",
      fmt::format("CREATE TABLE t (k int PRIMARY KEY, v {0} NOT NULL, prev {0})", type)};
  for (const std::string& row : rows)
    setup.push_back(fmt::format("INSERT INTO t VALUES ({}, {}, NULL)", row, is_list ? "''" : "0"));
  const std::string level = lower_case(options.isolation);
  const OrderedJson plan = {{"format", kPlanFormat},
                            {"level", level},
                            {"setup", std::move(setup)},
                            {"teardown", {"DROP SCHEMA isoscope_plan CASCADE"}},
                            {"sessions", std::move(sessions)}};
  return plan.dump(1) + "\n";
}

}  // namespace isoscope::force
