// Keys that are freed, taken and found, held against PostgreSQL: a run that needs another order of
// statements than its locks and keys allow is none. Every anomaly that audit shows of these
// programs happens on the server, with the same results and rows.
#include "audit_of.h"
#include "live_functions.h"

namespace isoscope::audit {
namespace {

struct KeyCase {
  std::string name;
  std::string text;
  friend void PrintTo(const KeyCase& test, std::ostream* out) { *out << test.name; }
};

std::string transaction(const std::string& name, const std::string& body) {
  return "CREATE FUNCTION " + name +
         "() RETURNS integer LANGUAGE plpgsql AS $$\nDECLARE n integer;\nBEGIN\n" + body +
         "\nRETURN n;\nEND; $$;\n";
}

// In each, one call has a snapshot from before bump(), another from after it, and a key decides who
// comes first.
std::vector<KeyCase> key_cases() {
  const std::string s = "CREATE TABLE s (id integer PRIMARY KEY, v integer NOT NULL);\n";
  const std::string t = s + "CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL);\n";
  const std::string u =
      s + "CREATE TABLE t (id integer PRIMARY KEY, e integer UNIQUE, v integer);\n";
  const std::string c =
      s +
      "CREATE TABLE p (id integer PRIMARY KEY, v integer);\n"
      "CREATE TABLE c (id integer PRIMARY KEY, p integer REFERENCES p, v integer);\n";
  const std::string bump = transaction("bump", "UPDATE s SET v = v + 1 WHERE id = 1;");
  const std::string look = "SELECT v INTO n FROM s WHERE id = 1;\n";
  const std::string old = "(SELECT v FROM s WHERE id = 1)";
  const std::string keep =
      transaction("keep", look +
                              "INSERT INTO t VALUES (1, 5) ON CONFLICT DO NOTHING;\n"
                              "IF FOUND THEN n := 100; END IF;");
  return {
      {"FoundBeforeItIsDeleted",
       t + bump + keep + transaction("clear", "DELETE FROM t WHERE id = 1 AND v = " + old + ";")},
      {"FoundAndDeleted",
       t + bump + keep + transaction("clear", look + "DELETE FROM t WHERE id = 1;")},
      {"FoundAfterItIsInserted",
       t + bump + transaction("late", look + "INSERT INTO t VALUES (1, n);") +
           transaction("early", "INSERT INTO t VALUES (1, " + old + ") ON CONFLICT DO NOTHING;")},
      {"UniqueValueFreed",
       u + bump + transaction("clear", look + "UPDATE t SET e = NULL, v = n WHERE id = 1;") +
           transaction("take", "INSERT INTO t VALUES (2, 7, " + old + ");")},
      {"UniqueValueFound",
       u + bump + transaction("clear", "UPDATE t SET e = NULL WHERE id = 1 AND v = " + old + ";") +
           transaction("keep", look + "INSERT INTO t VALUES (2, 7, 0) ON CONFLICT DO NOTHING;\n"
                                      "IF FOUND THEN n := 100; END IF;")},
      {"ParentInserted", c + bump + transaction("parent", look + "INSERT INTO p VALUES (1, n);") +
                             transaction("child", "INSERT INTO c VALUES (2, 1, " + old + ");")},
  };
}

class KeysLive : public LiveFunctions, public testing::WithParamInterface<KeyCase> {};

TEST_P(KeysLive, EveryAnomalyHappensOnTheServer) {
  const sql::Application app = app_of(GetParam().text);
  Problem problem{app, {&pg_read_committed(), {}}};
  problem.rows_at_start = true;
  Budget budget = Budget::seconds(60);
  const AuditReport report = audit(problem, {.max_length = 3, .all = true}, budget);
  for (const FoundAnomaly& anomaly : report.search.anomalies) {
    create(GetParam().text, app);
    expect_to_happen(problem, anomaly);
    if (HasFailure()) {
      for (const ScheduleStep& step : anomaly.replay.schedule)
        std::cerr << "T" << step.call.index << " "
                  << (step.moment ? anomaly.replay.traces[step.call].moments[*step.moment].text
                                  : std::string("commits"))
                  << "\n";
      return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, KeysLive, testing::ValuesIn(key_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace isoscope::audit
