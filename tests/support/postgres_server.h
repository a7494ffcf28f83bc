#pragma once
// A PostgreSQL server of a test's own: on loopback, on a free port, in a temporary folder, run by a
// user without rights, and gone with the object. Nothing of an installed cluster is touched.
//
//     std::string why_not;
//     auto server = PostgresServer::start(why_not);
//     if (!server) GTEST_SKIP() << why_not;
//
// The server writes a log that logical decoding can read (wal_level = logical) and does not wait
// for the disk. Its superuser is `postgres`, its database `postgres`; every login from loopback is
// trusted unless further lines of pg_hba.conf come before.
#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace isoscope {

struct PostgresOptions {
  std::vector<std::string> settings = {};  // "name=value", as after `postgres -c`
  std::string hba = {};                    // lines of pg_hba.conf before ours
  // Further files of its data folder, by name, which only the server may read.
  std::vector<std::pair<std::string, std::string>> files = {};
};

class PostgresServer {
 public:
  // Null where it cannot be started (PostgreSQL is not installed, …); then `why_not` says why. With
  // ISOSCOPE_REQUIRE_SERVERS in the environment, as in CI, it throws instead: nothing is skipped.
  static std::unique_ptr<PostgresServer> start(std::string& why_not,
                                               const PostgresOptions& options = {});
  ~PostgresServer();  // stops it by its process id and removes its folder
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  int port() const { return port_; }
  // "host=127.0.0.1 port=… user=postgres dbname=postgres"
  std::string dsn() const;
  // The same with another port: that of a proxy.
  static std::string dsn(int port);
  // What the server has logged so far.
  std::string log() const;
  pid_t pid() const { return pid_; }

 private:
  PostgresServer() = default;
  static std::unique_ptr<PostgresServer> try_to_start(std::string& why_not,
                                                      const PostgresOptions& options);
  bool prepare(const std::string& bin, const PostgresOptions& options, std::string& why_not);
  bool launch(const std::string& bin, const PostgresOptions& options, std::string& why_not);
  void stop();

  std::string folder_;
  int port_ = 0;
  pid_t pid_ = -1;
};

// A port of loopback that nobody listens on at this moment.
int free_port();

}  // namespace isoscope
