#pragma once
// A MariaDB server of a test's own, as postgres_server.h has one of PostgreSQL: on loopback, on a
// free port, in a temporary folder, run by a user without rights, and gone with the object. Nobody
// is asked for a password.
#include <sys/types.h>

#include <memory>
#include <string>

namespace isoscope {

class MariaDbServer {
 public:
  // Null where it cannot be started; then `why_not` says why. With ISOSCOPE_REQUIRE_SERVERS in the
  // environment it throws instead.
  static std::unique_ptr<MariaDbServer> start(std::string& why_not);
  ~MariaDbServer();
  MariaDbServer(const MariaDbServer&) = delete;
  MariaDbServer& operator=(const MariaDbServer&) = delete;

  std::string dsn() const { return "mariadb://root@127.0.0.1:" + std::to_string(port_); }

 private:
  MariaDbServer() = default;
  bool launch(const std::string& program, std::string& why_not);

  std::string folder_;
  int port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace isoscope
