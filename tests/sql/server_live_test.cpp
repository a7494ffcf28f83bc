// The semantics of PostgreSQL's levels, held against PostgreSQL: random programs end on the server
// as explore says, and in no other way.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "live_server.h"
#include "random_locks.h"
#include "support/rng.h"

namespace isoscope::sql::server {
namespace {

// Two sessions of one or two calls, each of a function of one to three statements on the rows of a
// table t (with a unique column u, a CHECK on v), of a table c that refers to it, and of a table e
// whose ranges must not overlap; with advisory locks.
class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : rng_(seed) {}

  std::string text() {
    std::string out =
        "CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL CHECK (v < 40), u int UNIQUE);\n"
        "CREATE TABLE c (id int PRIMARY KEY, t int NOT NULL REFERENCES t (id), w int NOT NULL);\n"
        "CREATE TABLE e (id int PRIMARY KEY, lo int NOT NULL, hi int NOT NULL, "
        "EXCLUDE USING gist (int4range(lo, hi) WITH &&));\n";
    std::string sessions;
    int number = 0;
    for (const std::string name : {"a", "b"}) {
      sessions += "-- session " + name + ":";
      const int calls = rng_.chance(0.3) ? 2 : 1;
      for (int i = 0; i < calls; ++i) {
        out += function(++number);
        sessions += (i == 0 ? " f" : "; f") + std::to_string(number) + "()";
      }
      sessions += "\n";
    }
    out +=
        "INSERT INTO t VALUES (1, 10, 1), (2, 20, 2);\nINSERT INTO c VALUES (1, 2, 5);\n"
        "INSERT INTO e VALUES (1, 1, 3);\n";
    return out + sessions;
  }

 private:
  std::string number(int below) { return std::to_string(1 + rng_.below(below)); }
  std::string key() { return number(3); }

  std::string function(int n) {
    std::string body;
    const int statements = 1 + static_cast<int>(rng_.below(3));
    for (int i = 0; i < statements; ++i) body += "  " + statement() + "\n";
    return "CREATE FUNCTION f" + std::to_string(n) +
           "() RETURNS void LANGUAGE plpgsql AS $$ DECLARE x int; y int; l boolean; BEGIN\n" +
           body + "END $$;\n";
  }

  std::string statement() {
    const std::string k = key();
    switch (rng_.below(31)) {
      case 0: return "SELECT v INTO x FROM t WHERE id = " + k + ";";
      case 1: return "SELECT sum(v) INTO y FROM t;";
      case 2: return "SELECT count(*) INTO y FROM c WHERE t = " + k + ";";
      case 3: return "UPDATE t SET v = " + number(30) + " WHERE id = " + k + ";";
      case 4: return "UPDATE t SET v = v + " + number(12) + " WHERE id = " + k + ";";
      case 5: return "UPDATE t SET v = v - 10 WHERE id = " + k + " AND v >= 10;";
      case 6:
        return "UPDATE t SET v = (SELECT max(w) FROM c) + " + number(9) + " WHERE id = " + k + ";";
      case 7: return "UPDATE t SET v = v + 1 WHERE v < 15;";
      case 8: return "DELETE FROM t WHERE id = " + k + ";";
      case 9: return "DELETE FROM c WHERE t = " + k + ";";
      case 10: return "INSERT INTO t VALUES (" + k + ", " + number(30) + ", " + number(4) + ");";
      case 11: return "INSERT INTO t VALUES (" + k + ", 7, NULL) ON CONFLICT DO NOTHING;";
      case 12:
        return "INSERT INTO t VALUES (" + k +
               ", 8, NULL) ON CONFLICT (id) DO UPDATE SET v = t.v + 3;";
      case 13: return "INSERT INTO c VALUES (" + number(4) + ", " + k + ", " + number(9) + ");";
      case 14: return "SELECT v INTO x FROM t WHERE id = " + k + " FOR UPDATE;";
      case 15: return "SELECT v INTO x FROM t WHERE id = " + k + " FOR SHARE;";
      case 16: return "SELECT v INTO x FROM t WHERE id = " + k + " AND v > 9 FOR NO KEY UPDATE;";
      case 17: return "SELECT v INTO x FROM t WHERE id = " + k + " FOR KEY SHARE;";
      case 18: return "UPDATE t SET u = " + number(4) + " WHERE id = " + k + ";";
      case 19: return "UPDATE c SET t = " + k + ", w = w + 1 WHERE id = " + number(2) + ";";
      case 21: return "PERFORM pg_advisory_xact_lock(" + number(2) + ");";
      case 22: return "PERFORM pg_advisory_xact_lock_shared(" + number(2) + ");";
      case 23: return "SELECT pg_try_advisory_xact_lock(" + number(2) + ") INTO l;";
      case 24: return "PERFORM pg_advisory_xact_lock(1, " + number(2) + ");";
      case 25: return "INSERT INTO e VALUES (" + k + ", " + number(4) + ", 5);";
      case 26: return "INSERT INTO e VALUES (" + k + ", 3, 4) ON CONFLICT DO NOTHING;";
      case 27: return "UPDATE e SET hi = hi + 2 WHERE id = " + k + ";";
      case 28: return "DELETE FROM e WHERE id = " + k + ";";
      case 29: return "UPDATE e SET id = " + number(4) + " WHERE id = " + k + ";";
      case 20: return "UPDATE t SET id = " + number(4) + " WHERE id = " + k + ";";
      default: return "IF x > 9 THEN UPDATE t SET v = x + 1 WHERE id = " + k + "; END IF;";
    }
  }

  Rng rng_;
};

class ServerLive : public LiveServer {
 protected:
  ServerPlay play(const Machine& machine, const std::string& text, std::vector<std::size_t> turns) {
    const auto made = make_anew(text.substr(0, text.find("CREATE FUNCTION")) +
                                text.substr(text.rfind("INSERT INTO t VALUES (1, 10, 1)")));
    if (!made) return {.end = {}, .story = {}, .trouble = made.error().what};
    return play_on_server(machine, access_to({.dsn = server_->dsn()}, *monitor_), std::move(turns));
  }

  // Every way in which explore says that the program can end happens on the server, by the schedule
  // that explore names; and what happens there by other schedules is one of them, or at
  // SERIALIZABLE one with further aborts.
  void compare(const std::string& text, std::uint64_t seed) {
    SCOPED_TRACE(fmt::format("seed {} at {}\n{}", seed, name_of(GetParam()), text));
    const auto program = program_of(text);
    ASSERT_TRUE(program.ok()) << render(program.error());
    const Machine machine = machine_of(**program);
    std::map<std::string, std::vector<Choice>> ends;
    ScheduleOptions options;
    options.on_history = [&](const State& state, const std::vector<Choice>& schedule, bool) {
      ends.try_emplace(end_text(end_of(machine, state)), schedule);
      return true;
    };
    const Schedules all = explore(machine, {}, options);
    ASSERT_FALSE(all.fault);
    std::set<std::string> refused;
    if (GetParam() == PgLevel::Serializable) {
      ScheduleOptions with_refusals{.refuses = true};
      with_refusals.on_history = [&](const State& state, const std::vector<Choice>&, bool) {
        refused.insert(end_text(end_of(machine, state)));
        return true;
      };
      explore(machine, {}, with_refusals);
    }
    Rng rng(seed * 7 + 1);
    for (const auto& [end, schedule] : ends) {
      if (is_apart(end)) continue;
      const ServerPlay played = play(machine, text, turns_of(machine, schedule));
      ASSERT_EQ(played.trouble, "");
      const std::string there = end_text(played.end);
      if (GetParam() == PgLevel::Serializable && is_apart(there)) continue;
      ++num_ends_;
      ASSERT_EQ(there, end) << "explore says otherwise\n" << played.story;
    }
    for (int i = 0; i < 2; ++i) {
      std::vector<std::size_t> turns;
      for (int t = 0; t < 12; ++t)
        turns.push_back(rng.below((*program)->outline().sessions.size()));
      const ServerPlay played = play(machine, text, turns);
      ASSERT_EQ(played.trouble, "");
      const std::string there = end_text(played.end);
      if (there.find("abort 40P01") != std::string::npos) continue;
      ++num_ends_;
      ASSERT_TRUE(ends.contains(there) || refused.contains(there)) << "explore does not know\n"
                                                                   << there << played.story;
    }
  }
};

TEST_P(ServerLive, RandomProgramsEndAsOnTheServer) {
  for (int i = 0; i < num_programs(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    compare(RandomProgram(seed).text(), seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(num_ends_, static_cast<std::size_t>(num_programs()));
}

TEST_P(ServerLive, AdvisoryLocksQueueAsOnTheServer) {
  for (int i = 0; i < num_programs(); ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    compare(random_locks(seed), seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(num_ends_, static_cast<std::size_t>(num_programs()));
}

INSTANTIATE_TEST_SUITE_P(Levels, ServerLive, kAllLevels, level_name);

}  // namespace
}  // namespace isoscope::sql::server
