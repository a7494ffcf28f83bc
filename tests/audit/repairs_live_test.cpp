// Repairs, applied to the text as they are printed, audited again, and tried on PostgreSQL: random
// concurrent runs must have a serial order.
#include "audit/advise.h"
#include "audit/small_instances.h"
#include "audit_of.h"
#include "live_functions.h"
#include "repaired_text.h"

namespace isoscope::audit {
namespace {

struct RepairCase {
  std::string name;
  std::string text;
  std::string level;  // pg-rc, pg-rr
  std::set<std::string> kinds;
  friend void PrintTo(const RepairCase& test, std::ostream* out) { *out << test.name; }
};

std::string example_text(const std::string& name) {
  const auto text = read_whole(source_dir() + "/examples/audit/" + name + ".sql");
  return text.ok() ? *text : "";
}

class RepairsLive : public LiveFunctions, public testing::WithParamInterface<RepairCase> {
 protected:
  void try_on_server(const std::string& text, const Level& level, const std::string& story) {
    const sql::Application app = app_of(text);
    const Problem problem{app, {&level, {}}};
    Budget budget = Budget::seconds(60);
    const AuditReport report = audit(problem, {.max_length = 2, .prove = true}, budget);
    ASSERT_EQ(name_of(report.outcome), "serializable") << story << text << report.limit;
    create(text, app);
    SmallInstances instances(app, {}, 7);
    Rng rng(3);
    for (std::size_t run = 0; run < num_runs(); ++run) {
      const auto rows = instances.rows();
      const auto prepare = [&] { reset(app, rows); };
      std::vector<Call> calls;
      for (int c = 0; c < 3; ++c) {
        const sql::FunctionId f{static_cast<std::uint32_t>(rng.below(app.functions.size()))};
        calls.push_back({print(app, instances.call(f)), level_name(problem, f)});
      }
      prepare();
      run_randomly(calls, rng);
      const std::string end = state(app);
      ASSERT_TRUE(has_serial_order(prepare, app, calls, end)) << story << end;
    }
  }
};

TEST_P(RepairsLive, HoldOnTheServer) {
  const RepairCase& test = GetParam();
  const sql::Application app = app_of(test.text);
  const Level& level = *find_server_level(test.level);
  const Problem problem{app, {&level, {}}};
  Budget budget = Budget::seconds(60);
  const AuditReport report = audit(problem, {.max_length = 3}, budget);
  ASSERT_EQ(name_of(report.outcome), "anomaly");
  const Advice advice = advise(problem, {&level}, true, {.max_length = 3}, budget,
                               report.search.anomalies.front().functions);
  std::set<std::string> kinds;
  for (const Repair& repair : advice.repairs) {
    kinds.emplace(name_of(repair.kind));
    if (!repair.is_proved) continue;
    try_on_server(repaired(test.text, repair), level, repair.what + "\n");
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(kinds, test.kinds);
}

std::string in_function(const std::string& body) {
  return "CREATE TABLE item (id integer PRIMARY KEY, stock integer NOT NULL);\n"
         "CREATE FUNCTION f(p integer) RETURNS void LANGUAGE plpgsql AS $$\n"
         "DECLARE n integer;\nBEGIN\n" +
         body + "END; $$;\n";
}

std::vector<RepairCase> repair_cases() {
  const std::string doctors =
      "CREATE TABLE doctor (id integer PRIMARY KEY, ward integer NOT NULL, here integer NOT "
      "NULL);\n"
      "CREATE FUNCTION leave(p integer) RETURNS void LANGUAGE plpgsql AS $$\n"
      "DECLARE n integer;\nBEGIN\nSELECT count(*) INTO n FROM doctor WHERE ward = 1 AND here = 1;\n"
      "IF n > 1 THEN UPDATE doctor SET here = 0 WHERE id = p; END IF;\nEND; $$;\n";
  // Rows without a key that the server makes up: serial orders number otherwise.
  const std::string booking =
      "CREATE TABLE booking (id integer PRIMARY KEY, room integer NOT NULL);\n"
      "CREATE FUNCTION book(p integer, q integer) RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n"
      "IF NOT EXISTS (SELECT 1 FROM booking WHERE room = p) THEN\n"
      "INSERT INTO booking VALUES (q, p); END IF;\nEND; $$;\n";
  return {
      // Queries inside of expressions, and one UPDATE that needs no test.
      {"Exists",
       in_function("IF EXISTS (SELECT 1 FROM item WHERE id = p AND stock > 0) THEN\n"
                   "UPDATE item SET stock = stock - 1 WHERE id = p; END IF;\n"),
       "pg-rc",
       {"lock"}},
      {"Declared",
       in_function("n := (SELECT stock FROM item WHERE id = p);\n"
                   "UPDATE item SET stock = n * 2 WHERE id = p;\n"),
       "pg-rc",
       {"lock"}},
      {"Atomic",
       in_function("SELECT stock INTO n FROM item WHERE id = p;\n"
                   "UPDATE item SET stock = n + 1 WHERE id = p;\n"),
       "pg-rc",
       {"atomic", "lock"}},
      {"Late", example_text("shop_late"), "pg-rc", {"guarded", "lock"}},
      {"Bank", example_text("bank"), "pg-rc", {"guarded", "lock"}},
      {"OnCall", example_text("on_call"), "pg-rc", {"lock"}},
      {"OnCallAtRepeatableRead", example_text("on_call"), "pg-rr", {"lock"}},
      {"Booking", booking, "pg-rc", {"unique"}},
      {"BookingAtRepeatableRead", booking, "pg-rr", {"unique"}},
      {"Doctors", doctors, "pg-rc", {"materialize"}},
      {"DoctorsAtRepeatableRead", doctors, "pg-rr", {"materialize"}},
  };
}

INSTANTIATE_TEST_SUITE_P(, RepairsLive, testing::ValuesIn(repair_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace isoscope::audit
