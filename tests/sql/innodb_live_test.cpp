// The semantics of InnoDB's levels, held against MariaDB: random programs end on the server as
// explore says, and in no other way.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "force/server.h"
#include "random_innodb.h"
#include "server_play.h"
#include "sql/server/innodb_fragment.h"
#include "support/mariadb_server.h"

namespace isoscope::sql::server {
namespace {

class InnodbLive : public ::testing::TestWithParam<PgLevel> {
 protected:
  static void SetUpTestSuite() {
    process_ = MariaDbServer::start(why_not_).release();
    if (process_ == nullptr) return;
    auto opened = force::open_server(process_->dsn());
    ASSERT_TRUE(opened.ok()) << opened.error().what;
    server_ = opened->release();
  }
  static void TearDownTestSuite() {
    delete std::exchange(server_, nullptr);
    delete std::exchange(process_, nullptr);
  }
  void SetUp() override {
    if (server_ == nullptr) GTEST_SKIP() << why_not_;
  }

  static void run(const std::string& sql) {
    const force::Answer answer = server_->run(sql);
    ASSERT_FALSE(answer.has_failed()) << sql << ": " << answer.message;
  }

  static void reset() {
    run("DROP DATABASE IF EXISTS live");
    run("CREATE DATABASE live");
    run("USE live");
    run("CREATE TABLE t (id int PRIMARY KEY, v int NOT NULL CHECK (v < 40), u int)");
    run("CREATE TABLE c (id int PRIMARY KEY, w int NOT NULL)");
    run("INSERT INTO t VALUES (1, 10, 1), (3, 20, 2)");
    run("INSERT INTO c VALUES (1, 5)");
    // As long as somebody may look at them, deleted rows are not purged.
    run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
  }

  static ServerPlay play(const Machine& machine, PgLevel level, std::vector<std::size_t> turns) {
    reset();
    const ServerAccess access{
        .open =
            [&](std::vector<force::ActorScript> actors) {
              for (force::ActorScript& actor : actors)
                actor.setup = {"USE live", "SET autocommit = 0",
                               "SET sql_mode = 'IGNORE_SPACE,STRICT_ALL_TABLES'",
                               fmt::format("SET SESSION TRANSACTION ISOLATION LEVEL {}",
                                           level == PgLevel::ReadCommitted ? "READ COMMITTED"
                                                                           : "REPEATABLE READ")};
              return server_->open(std::move(actors));
            },
        .query = [&](const std::string& sql) -> Result<std::vector<force::Row>> {
          server_->run("COMMIT");
          const force::Answer answer = server_->run(sql);
          if (answer.has_failed()) return Error{.what = answer.message};
          return answer.tables.at(0).rows;
        }};
    return play_on_server(machine, access, std::move(turns));
  }

  // Every way in which explore says that the program can end happens on the server, by the schedule
  // that explore names; and what happens there by other schedules is one of them.
  void compare(std::uint64_t seed, PgLevel level) {
    const std::string text = RandomInnodb(seed).text();
    SCOPED_TRACE(fmt::format("seed {} at {}\n{}", seed, name_of(ServerKind::MariaDb, level), text));
    auto app = parse_application(text);
    ASSERT_TRUE(app.ok()) << app.error().what;
    ASSERT_TRUE(app->problems.empty()) << app->problems.front().what;
    const auto program = SqlProgram::create(*std::move(app));
    ASSERT_TRUE(program.ok()) << program.error().what;
    const std::vector<PgLevel> levels((*program)->outline().calls.size(), level);
    const auto gaps = check_innodb(**program);
    ASSERT_TRUE(gaps.ok()) << gaps.error().what;
    const Machine machine(**program, levels, {}, false, ServerKind::MariaDb);
    std::map<std::string, std::vector<Choice>> ends;
    ScheduleOptions options;
    options.on_history = [&](const State& state, const std::vector<Choice>& schedule, bool) {
      ends.try_emplace(end_text(end_of(machine, state)), schedule);
      return true;
    };
    const Schedules all = explore(machine, {}, options);
    ASSERT_FALSE(all.fault);
    Rng rng(seed * 7 + 1);
    const std::size_t num_sessions = (*program)->outline().sessions.size();
    for (const auto& [end, schedule] : ends) {
      if (is_apart(end)) continue;
      const ServerPlay played = play(machine, level, turns_of(machine, schedule));
      ASSERT_EQ(played.trouble, "") << played.story;
      ++num_ends_;
      ASSERT_EQ(end_text(played.end), end) << "explore says otherwise\n" << played.story;
    }
    for (int i = 0; i < 2; ++i) {
      std::vector<std::size_t> turns;
      for (int t = 0; t < 12; ++t) turns.push_back(rng.below(num_sessions));
      const ServerPlay played = play(machine, level, turns);
      ASSERT_EQ(played.trouble, "") << played.story;
      const std::string there = end_text(played.end);
      if (is_apart(there)) continue;
      ++num_ends_;
      ASSERT_TRUE(ends.contains(there)) << "explore does not know\n" << there << played.story;
    }
  }

  // Whom a deadlock ends is the server's choice.
  static bool is_apart(const std::string& end) {
    return end.find("abort 1213") != std::string::npos;
  }

  static inline MariaDbServer* process_ = nullptr;
  static inline force::Server* server_ = nullptr;
  static inline std::string why_not_;
  int num_ends_ = 0;
};

TEST_P(InnodbLive, RandomProgramsEndAsOnTheServer) {
  for (int i = 0; i < num_programs(); ++i) {
    compare(first_seed() + static_cast<std::uint64_t>(i), GetParam());
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(num_ends_, num_programs());
}

INSTANTIATE_TEST_SUITE_P(Levels, InnodbLive,
                         ::testing::Values(PgLevel::ReadCommitted, PgLevel::RepeatableRead),
                         [](const auto& level) {
                           return std::string(name_of(level.param)).substr(3);
                         });

}  // namespace
}  // namespace isoscope::sql::server
