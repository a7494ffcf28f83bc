#pragma once
// Bodies of functions held against PostgreSQL: calls end on the server as explore says, alone and
// with another call in between. A test has a schema and bodies, each of a number p, which is
// another one in each call, an integer x and a record r.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <span>

#include "server_play.h"
#include "support/postgres_server.h"
#include "support/rng.h"

namespace isoscope::sql::server {

struct Constructs {
  std::string_view schema;
  std::span<const char* const> bodies;
};

inline std::string program_of(const Constructs& constructs,
                              const std::vector<std::size_t>& bodies) {
  std::string text(constructs.schema);
  std::string sessions;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    text += fmt::format(
        "CREATE FUNCTION f{0}(p int) RETURNS void LANGUAGE plpgsql AS $$ DECLARE x int; r record; "
        "BEGIN {1} END $$;\n",
        i + 1, constructs.bodies[bodies[i]]);
    sessions += fmt::format("-- session s{0}: f{0}({0})\n", i + 1);
  }
  return text + sessions;
}

// What has happened, without values of variables.
inline std::string shape(const RunEnd& end) {
  RunEnd bare = end;
  for (CallEnd& call : bare.calls) call.locals.clear();
  return end_text(bare);
}

class BodiesLive : public ::testing::TestWithParam<PgLevel> {
 protected:
  explicit BodiesLive(Constructs constructs) : constructs_(constructs) {}

  static void SetUpTestSuite() {
    server_ = PostgresServer::start(why_not_, {.settings = {"deadlock_timeout=20ms"}}).release();
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }
  void SetUp() override {
    if (server_ == nullptr) GTEST_SKIP() << why_not_;
    monitor_ = std::move(*force::PgMonitor::open(server_->dsn()));
  }

  // Each session sends BEGIN, its call and COMMIT, in the order of the turns.
  ServerPlay play(const Machine& machine, const std::string& text,
                  const std::vector<std::size_t>& turns) {
    ServerPlay result;
    auto made = monitor_->query("DROP SCHEMA public CASCADE; CREATE SCHEMA public; " + text);
    if (!made) {
      result.trouble = made.error().what;
      return result;
    }
    static constexpr std::string_view kLevels[] = {"READ COMMITTED", "REPEATABLE READ",
                                                   "SERIALIZABLE"};
    const auto& sessions = machine.program().outline().sessions.entries();
    std::vector<force::ActorScript> actors;
    std::vector<std::shared_ptr<std::vector<force::Answer>>> answers;
    for (std::size_t s = 0; s < sessions.size(); ++s) {
      auto seen = std::make_shared<std::vector<force::Answer>>();
      const std::string begin = fmt::format("BEGIN ISOLATION LEVEL {}; SELECT 1 WHERE false",
                                            kLevels[static_cast<std::size_t>(GetParam())]);
      const std::string call = fmt::format("SELECT f{0}({0})", s + 1);
      actors.push_back(
          {.name = sessions[s].name,
           .script = [seen, begin, call](const force::Answer* last) -> std::optional<std::string> {
             if (last != nullptr) seen->push_back(*last);
             switch (seen->size()) {
               case 0:
                 return begin;
               case 1:
                 return call;
               case 2:
                 return (*seen)[1].has_failed() ? "ROLLBACK" : "COMMIT";
               default:
                 return std::nullopt;
             }
           }});
      answers.push_back(std::move(seen));
    }
    {
      auto stage = force::PgSessions::open({.dsn = server_->dsn()}, std::move(actors));
      if (!stage) {
        result.trouble = stage.error().what;
        return result;
      }
      Budget budget = Budget::seconds(60);
      const auto played =
          force::play(**stage, {.turns = as_actors(turns), .plays_rest = true}, budget);
      if (!played || played->end != force::Played::End::Complete)
        result.trouble = played ? "the schedule was not played to its end" : played.error().what;
    }
    for (const auto& seen : answers) {
      CallEnd end{.is_committed = true, .failure = {}, .locals = {}};
      for (const force::Answer& answer : *seen) {
        if (!answer.has_failed() || !end.is_committed) continue;
        end.is_committed = false;
        end.failure = {answer.error, answer.message};
      }
      result.end.calls.push_back(std::move(end));
    }
    for (const Table& table : machine.program().app().tables) {
      const auto rows = monitor_->query("SELECT * FROM " + table.name + " ORDER BY 1, 2");
      auto& list = result.end.rows.emplace_back();
      if (!rows) {
        result.trouble = rows.error().what;
        continue;
      }
      for (const force::Row& row : *rows) {
        auto& values = list.emplace_back();
        for (const force::Cell& cell : row) add_cell(values, cell);
      }
    }
    return result;
  }

  void compare(const std::vector<std::size_t>& bodies, int num_plays, Rng& rng) {
    const std::string text = program_of(constructs_, bodies);
    std::string shown;
    for (const std::size_t body : bodies) shown += std::string(constructs_.bodies[body]) + "\n";
    SCOPED_TRACE(shown);
    auto app = parse_application(text);
    ASSERT_TRUE(app.ok()) << render(app.error());
    for (const Error& problem : app->problems) FAIL() << render(problem);
    const auto program = SqlProgram::create(*std::move(app));
    ASSERT_TRUE(program.ok()) << program.error().what;
    const std::vector<PgLevel> levels((*program)->outline().calls.size(), GetParam());
    const Machine machine(**program, levels);
    std::set<std::string> ends;
    ScheduleOptions options;
    options.on_history = [&](const State& state, const std::vector<Choice>&, bool) {
      ends.insert(shape(end_of(machine, state)));
      return true;
    };
    const Schedules all = explore(machine, {}, options);
    ASSERT_FALSE(all.fault);
    for (int i = 0; i < num_plays; ++i) {
      std::vector<std::size_t> turns;
      for (int k = 0; k < 8; ++k) turns.push_back(rng.below(bodies.size()));
      const ServerPlay played = play(machine, text, turns);
      ASSERT_EQ(played.trouble, "");
      const std::string there = shape(played.end);
      if (there.find("40P01") != std::string::npos) continue;
      // BEGIN has taken the snapshot, explore takes it with the first statement. A lock that does
      // not wait can tell: the row has changed in between.
      if (there.find("40001") != std::string::npos && GetParam() != PgLevel::ReadCommitted &&
          (shown.find("NOWAIT") != std::string::npos ||
           shown.find("SKIP LOCKED") != std::string::npos))
        continue;
      ++num_ends_;
      std::string known;
      for (const std::string& end : ends) known += end + "--\n";
      ASSERT_TRUE(ends.contains(there)) << "on the server:\n"
                                        << there << "explore knows:\n"
                                        << known;
    }
  }

  void compare_each() {
    Rng rng(7);
    for (std::size_t body = 0; body < constructs_.bodies.size(); ++body) {
      compare({body}, 1, rng);
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(num_ends_, static_cast<int>(constructs_.bodies.size()));
  }

  // Random pairs of the bodies first … first + count - 1; as many as the environment asks for.
  void compare_pairs(std::size_t first, std::size_t count, std::uint64_t seed, int pairs) {
    Rng rng(seed);
    if (const char* asked = std::getenv("ISOSCOPE_SQL_PROGRAMS")) pairs = std::atoi(asked);
    for (int i = 0; i < pairs; ++i) {
      compare({first + rng.below(count), first + rng.below(count)}, 3, rng);
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(num_ends_, pairs);
  }

  Constructs constructs_;
  static inline PostgresServer* server_ = nullptr;
  static inline std::string why_not_;
  std::unique_ptr<force::PgMonitor> monitor_;
  int num_ends_ = 0;
};

inline std::string level_name(const ::testing::TestParamInfo<PgLevel>& level) {
  return std::string(name_of(level.param)).substr(3);
}
inline const auto kBothLevels = ::testing::Values(PgLevel::ReadCommitted, PgLevel::RepeatableRead);

}  // namespace isoscope::sql::server
