#include <fmt/format.h>

#include "force/server.h"
#include "sql/server/level.h"
#include "sql/sqlstates.h"

namespace isoscope::force {
namespace {

class PgServer final : public Server {
 public:
  PgServer(std::string dsn, std::unique_ptr<PgMonitor> monitor, std::string product)
      : dsn_(std::move(dsn)), monitor_(std::move(monitor)), product_(std::move(product)) {}

  Result<std::unique_ptr<Sessions>> open(std::vector<ActorScript> actors) override {
    auto sessions = PgSessions::open({.dsn = dsn_}, std::move(actors));
    if (!sessions) return sessions.error();
    return std::unique_ptr<Sessions>(std::move(*sessions));
  }
  Answer run(const std::string& sql) override {
    Answer answer = monitor_->answer(sql);
    if (!sql::is_connection_loss(answer.error)) return answer;
    auto monitor = PgMonitor::open(dsn_);
    if (!monitor) return answer;
    monitor_ = std::move(*monitor);
    monitor_->answer("SET client_min_messages = warning");
    return monitor_->answer(sql);
  }
  bool is_connected() override { return !monitor_->answer("SELECT 1").has_failed(); }
  const std::string& dsn() const override { return dsn_; }
  std::string product() const override { return product_; }
  std::vector<DeclaredLevel> levels() const override {
    std::vector<DeclaredLevel> levels;
    for (const auto& level : sql::server::levels_of(sql::server::ServerKind::Postgres))
      levels.push_back({std::string(level.words),
                        {"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL " +
                         std::string(level.words)}});
    return levels;
  }
  std::string begin() const override { return "BEGIN"; }
  std::string share_clause() const override { return "FOR SHARE"; }
  bool has_returning() const override { return true; }
  std::string kill_statement(std::uint64_t process) const override {
    return fmt::format("SELECT pg_terminate_backend({})", process);
  }
  std::string create_space(const std::string& name) const override {
    return "CREATE SCHEMA " + name;
  }
  std::string drop_space(const std::string& name) const override {
    return "DROP SCHEMA IF EXISTS " + name + " CASCADE";
  }

 private:
  std::string dsn_;
  std::unique_ptr<PgMonitor> monitor_;
  std::string product_;
};

}  // namespace

bool is_postgresql(std::string_view version) {
  if (!version.starts_with("PostgreSQL ")) return false;
  const std::string_view number = version.substr(version.find(' ') + 1);
  const std::string_view word = number.substr(0, number.find(' '));
  return word.find("-YB-") == std::string_view::npos;
}

Result<std::unique_ptr<Server>> open_postgres(const std::string& dsn) {
  auto monitor = PgMonitor::open(dsn);
  if (!monitor) return monitor.error();
  auto version = (*monitor)->query("SHOW server_version_num");
  if (!version) return version.error();
  const std::string number = version->at(0).at(0).value_or("0");
  std::string product = fmt::format("PostgreSQL {}", std::atoi(number.c_str()) / 10'000);
  // Others speak its protocol; what PostgreSQL documents is not said of them.
  auto name = (*monitor)->query("SELECT version()");
  if (!name) return name.error();
  const std::string full = name->at(0).at(0).value_or("");
  if (!is_postgresql(full)) product = full.substr(0, full.find('('));
  while (product.ends_with(' ')) product.pop_back();
  (*monitor)->answer("SET client_min_messages = warning");
  return std::unique_ptr<Server>(std::make_unique<PgServer>(dsn, std::move(*monitor), product));
}

Result<std::unique_ptr<Server>> open_server(const std::string& dsn) {
  if (dsn.starts_with("mariadb://") || dsn.starts_with("mysql://")) return open_mariadb(dsn);
  return open_postgres(dsn);
}

}  // namespace isoscope::force
