#pragma once
// A PostgreSQL for the tests that hold the machine of its levels against it: one server for all
// tests of a suite, and a program at the level of the test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "server_play.h"
#include "support/postgres_server.h"

namespace isoscope::sql::server {

class LiveServer : public ::testing::TestWithParam<PgLevel> {
 protected:
  static void SetUpTestSuite() {
    server_ = PostgresServer::start(why_not_, {.settings = {"deadlock_timeout=20ms"}});
  }
  static void TearDownTestSuite() { server_.reset(); }
  void SetUp() override {
    if (server_ == nullptr) GTEST_SKIP() << why_not_;
    monitor_ = std::move(*force::PgMonitor::open(server_->dsn()));
  }

  // The program, or what keeps it from being one.
  static Result<std::unique_ptr<SqlProgram>> program_of(const std::string& text) {
    auto app = parse_application(text);
    if (!app) return app.error();
    if (!app->problems.empty()) return app->problems.front();
    return SqlProgram::create(*std::move(app));
  }
  // Every call at the level of the test.
  static Machine machine_of(const SqlProgram& program) {
    return Machine(program, std::vector<PgLevel>(program.outline().calls.size(), GetParam()));
  }

  // A database with nothing but what the text makes.
  Result<std::vector<force::Row>> make_anew(const std::string& text) {
    return monitor_->query("DROP SCHEMA public CASCADE; CREATE SCHEMA public; " + text);
  }

  // Whom a deadlock ends is the server's choice, and at SERIALIZABLE its search for dangerous
  // structures aborts more than those on cycles. A row changed outside of a snapshot is 40001 here
  // as there.
  static bool is_apart(const std::string& end) {
    return end.find("abort 40P01") != std::string::npos ||
           (GetParam() == PgLevel::Serializable && end.find("abort 40001") != std::string::npos);
  }

  static inline std::unique_ptr<PostgresServer> server_;
  static inline std::string why_not_;
  std::unique_ptr<force::PgMonitor> monitor_;
  std::size_t num_ends_ = 0;  // that were compared
};

inline std::string level_name(const ::testing::TestParamInfo<PgLevel>& level) {
  return std::string(name_of(level.param)).substr(3);
}
inline const auto kBothLevels = ::testing::Values(PgLevel::ReadCommitted, PgLevel::RepeatableRead);
inline const auto kAllLevels =
    ::testing::Values(PgLevel::ReadCommitted, PgLevel::RepeatableRead, PgLevel::Serializable);

}  // namespace isoscope::sql::server
