// Procedures that end their transactions, held against PostgreSQL: every way in which explore says
// that a pair of calls can end happens on the server, by the schedule that explore names, and what
// happens there by any other order of turns is one of them.
//
// The procedures run on the server themselves, with gates (force/gates.h) before their statements.
// A gate takes a snapshot, so the one before the first statement of a transaction is followed by a
// COMMIT of its own: "@" stands for a gate, "^" for such a one. The first gate of a call is open.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "force/gates.h"
#include "live_server.h"

namespace isoscope::sql::server {
namespace {

constexpr std::string_view kProcedureSchema =
    "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL CHECK (v < 100));\n"
    "CREATE TABLE l (who int, part int, v int, PRIMARY KEY (who, part));\n"
    "INSERT INTO t VALUES (1, 10), (2, 20);\n";

// Each is a body of a procedure of a number p, which is another one in each call.
constexpr std::array kProcedureBodies = {
    // A read that the next transaction writes by.
    "@SELECT v INTO x FROM t WHERE id = 1; @COMMIT; ^UPDATE t SET v = x + p WHERE id = 1; @",
    // Two snapshots at REPEATABLE READ.
    "@SELECT v INTO x FROM t WHERE id = 1; @COMMIT; ^SELECT v INTO y FROM t WHERE id = 1; "
    "@INSERT INTO l VALUES (p, 1, x), (p, 2, y); @",
    // One part is taken back, with its locks; what it has read stays.
    "@UPDATE t SET v = v + p WHERE id = 1 RETURNING v INTO x; @ROLLBACK; "
    "^INSERT INTO l VALUES (p, 1, x); @",
    // An error behind a COMMIT.
    "@UPDATE t SET v = v + p WHERE id = 1; @COMMIT; ^UPDATE t SET v = v + 75 WHERE id = 2; "
    "@COMMIT; ^INSERT INTO l VALUES (p, 1, 0); @",
    "@UPDATE t SET v = v + p WHERE id = 2; @COMMIT; ^RAISE EXCEPTION 'no'; @",
    // In a branch.
    "@UPDATE t SET v = v + 5 WHERE id = 1 RETURNING v INTO x; IF x > 15 THEN @COMMIT; "
    "^INSERT INTO l VALUES (p, 1, x); ELSE @INSERT INTO l VALUES (p, 2, x); END IF; @",
    // In loops: each round, and over the rows of a query, which stay those of its snapshot.
    "FOR i IN 1..2 LOOP ^UPDATE t SET v = v * 2 WHERE id = i; @COMMIT; END LOOP;",
    "@FOR r IN SELECT id, v FROM t ORDER BY id LOOP @INSERT INTO l VALUES (p, r.id, r.v); @COMMIT; "
    "END LOOP;",
    "WHILE x IS NULL OR x < 30 LOOP ^UPDATE t SET v = v + 9 WHERE id = 2 RETURNING v INTO x; "
    "@IF x % 2 = 0 THEN COMMIT; ELSE ROLLBACK; x := x + 9; END IF; END LOOP;",
    // The end of a transaction under a handler fails, and inside of the handler it does not.
    "@UPDATE t SET v = v + p WHERE id = 1; BEGIN @UPDATE t SET v = v + 1 WHERE id = 2; COMMIT; "
    "EXCEPTION WHEN invalid_transaction_termination THEN @INSERT INTO l VALUES (p, 1, 1); END; @",
    "BEGIN @UPDATE t SET v = v + 85 WHERE id = 2; EXCEPTION WHEN check_violation THEN @COMMIT; "
    "^UPDATE t SET v = 0 WHERE id = 2; END; @",
    // Another procedure.
    "@UPDATE t SET v = v + p WHERE id = 1; CALL inner_part(p); ^UPDATE t SET v = v + 1 WHERE id = "
    "1; @",
    // Locks, and a key that another call has inserted.
    "@SELECT v INTO x FROM t WHERE id = 1 FOR UPDATE; @COMMIT; ^INSERT INTO l VALUES (0, 1, x) ON "
    "CONFLICT (who, part) DO UPDATE SET v = l.v + 1; @",
    "@FOR r IN SELECT id FROM t ORDER BY id LOOP IF y IS NULL THEN @y := 1; END IF; SELECT v INTO "
    "x "
    "FROM t WHERE id = r.id FOR UPDATE; @UPDATE t SET v = x + p WHERE id = r.id; @COMMIT; ^END "
    "LOOP;",
};

// What plain functions do beside them.
constexpr std::array kPlainBodies = {
    "@SELECT sum(v) INTO x FROM t; @INSERT INTO l VALUES (p, 1, x); @",
    "@SELECT v INTO x FROM t WHERE id = 1; @UPDATE t SET v = x + p WHERE id = 1; @",
    "@UPDATE t SET v = v + 1 WHERE id = 2; @UPDATE t SET v = v + 1 WHERE id = 1; @",
};

std::string with_each(std::string text, char what, std::string_view by) {
  for (std::size_t i = 0; (i = text.find(what, i)) != std::string::npos; i += by.size())
    text.replace(i, 1, by);
  return text;
}

std::string gated_text(const std::string& text, bool has_gates) {
  constexpr std::string_view kGate = "IF public.isoscope_gate(0, '{}') THEN NULL; END IF; ";
  std::string made = with_each(text, '^', has_gates ? "@COMMIT; " : "");
  return with_each(std::move(made), '@', has_gates ? kGate : "");
}

// A call of each, the first of a procedure.
struct CallPair {
  std::string first;
  std::string second;
  bool second_is_function = false;

  std::string text(bool has_gates) const {
    std::string made(kProcedureSchema);
    made += gated_text(
        "CREATE PROCEDURE inner_part(p int) LANGUAGE plpgsql AS $$ BEGIN @COMMIT; ^UPDATE t SET v "
        "= "
        "v + p WHERE id = 2; @COMMIT; END $$;\n",
        has_gates);
    int number = 0;
    for (const std::string& body : {first, second}) {
      const bool is_function = ++number == 2 && second_is_function;
      made += fmt::format(
          "CREATE {} f{}(p int) {} LANGUAGE plpgsql AS $$ DECLARE x int; y int; r record; BEGIN {} "
          "END $$;\n",
          is_function ? "FUNCTION" : "PROCEDURE", number, is_function ? "RETURNS void" : "",
          gated_text(body, has_gates));
    }
    return made + "-- session a: f1(1)\n-- session b: f2(2)\n";
  }
  std::string call(int number) const {
    return fmt::format("{} f{}({})", number == 2 && second_is_function ? "SELECT" : "CALL", number,
                       number);
  }
};

// What clients and tables show: how each call has ended, whatever its transactions were.
std::string shown_end(const RunEnd& end) {
  RunEnd bare{.calls = {}, .rows = end.rows};
  for (const CallEnd& call : end.calls) {
    if (call.is_passed) continue;
    bare.calls.push_back({.is_committed = call.failure.sqlstate.empty(), .failure = call.failure});
  }
  return end_text(bare);
}

class ProceduresLive : public LiveServer {
 protected:
  std::string play(const Machine& machine, const CallPair& pair,
                   const std::vector<std::size_t>& turns, std::string& trouble) {
    if (auto made = make_anew(force::gate_functions("public") + pair.text(true)); !made) {
      trouble = made.error().what;
      return {};
    }
    const std::string level =
        fmt::format("SET default_transaction_isolation = '{}'", isolation_name(GetParam()));
    std::vector<force::ActorScript> actors;
    for (int number = 1; number <= 2; ++number)
      actors.push_back({.name = std::to_string(number),
                        .script = force::say({pair.call(number)}),
                        .setup = {level}});
    ServerPlay result;
    const ServerAccess server = access_to({.dsn = server_->dsn(), .has_gates = true}, *monitor_);
    for (const auto& answers : play_scripts(server, std::move(actors), turns, result))
      result.end.calls.push_back(end_of_answers(answers));
    read_rows(machine, server, result);
    trouble = result.trouble;
    return shown_end(result.end);
  }

  void compare(const CallPair& pair) {
    SCOPED_TRACE(pair.first + "\n" + pair.second);
    const auto program = program_of(pair.text(false));
    ASSERT_TRUE(program.ok()) << render(program.error());
    const Machine machine = machine_of(**program);
    std::map<std::string, std::vector<Choice>> ends;
    std::size_t longest = 0;
    ScheduleOptions options;
    options.on_history = [&](const State& state, const std::vector<Choice>& schedule, bool) {
      ends.try_emplace(shown_end(end_of(machine, state)), schedule);
      longest = std::max(longest, schedule.size());
      return true;
    };
    const Schedules all = explore(machine, {}, options);
    ASSERT_FALSE(all.fault) << all.fault->what;
    std::string known;
    for (const auto& [end, schedule] : ends) known += end + "--\n";
    std::string trouble;
    for (const auto& [end, schedule] : ends) {
      if (is_apart(end)) continue;
      const std::string there = play(machine, pair, turns_of(machine, schedule), trouble);
      ASSERT_EQ(trouble, "");
      if (GetParam() == PgLevel::Serializable && is_apart(there)) continue;
      ++num_ends_;
      ASSERT_EQ(there, end) << "explore says otherwise; it knows\n" << known;
    }
    Rng rng(longest);
    for (int i = 0; i < 4; ++i) {
      std::vector<std::size_t> turns;
      for (std::size_t k = 0; k < longest; ++k) turns.push_back(rng.below(2));
      const std::string there = play(machine, pair, turns, trouble);
      ASSERT_EQ(trouble, "");
      if (is_apart(there)) continue;
      ++num_ends_;
      ASSERT_TRUE(ends.contains(there)) << "on the server:\n"
                                        << there << "explore knows\n"
                                        << known;
    }
  }
};

TEST_P(ProceduresLive, EndAsOnTheServerBesideEachOther) {
  for (std::size_t i = 0; i < kProcedureBodies.size(); ++i) {
    compare({.first = kProcedureBodies[i], .second = kProcedureBodies[i]});
    if (HasFatalFailure()) return;
    compare({.first = kProcedureBodies[i],
             .second = kProcedureBodies[(i * 5 + 3) % kProcedureBodies.size()]});
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(num_ends_, 2 * kProcedureBodies.size());
}

TEST_P(ProceduresLive, EndAsOnTheServerBesideFunctions) {
  for (std::size_t i = 0; i < kProcedureBodies.size(); ++i) {
    compare({.first = kProcedureBodies[i],
             .second = kPlainBodies[i % kPlainBodies.size()],
             .second_is_function = true});
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(num_ends_, kProcedureBodies.size());
}

INSTANTIATE_TEST_SUITE_P(Levels, ProceduresLive, kAllLevels, level_name);

}  // namespace
}  // namespace isoscope::sql::server
