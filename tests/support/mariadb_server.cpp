#include "support/mariadb_server.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "support/postgres_server.h"
#include "support/server_process.h"

namespace isoscope {

namespace fs = std::filesystem;

bool MariaDbServer::launch(const std::string& program, std::string& why_not) {
  std::string name = (fs::temp_directory_path() / "isoscope-mariadb-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    why_not = "no temporary folder: " + std::string(std::strerror(errno));
    return false;
  }
  folder_ = name;
  fs::create_directory(folder_ + "/data");
  if (const passwd* account = server_account(); account != nullptr) {
    for (const std::string& path : {folder_, folder_ + "/data"}) {
      if (::chown(path.c_str(), account->pw_uid, account->pw_gid) == 0) continue;
      why_not = "cannot give " + path + " to " + account->pw_name;
      return false;
    }
  }
  port_ = free_port();
  const std::string log = folder_ + "/log";
  pid_ = spawn_server(
      {program, "--no-defaults", "--skip-grant-tables", "--datadir=" + folder_ + "/data",
       "--port=" + std::to_string(port_), "--bind-address=127.0.0.1", "--socket=" + folder_ + "/s",
       "--pid-file=" + folder_ + "/pid", "--innodb-flush-log-at-trx-commit=0",
       "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M", "--skip-log-bin",
       "--skip-name-resolve"},
      folder_, log);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(90);
  while (pid_ > 0 && std::chrono::steady_clock::now() < end) {
    if (text_of_file(log).find("ready for connections") != std::string::npos) return true;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) pid_ = -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  why_not = "MariaDB did not start: " + text_of_file(log);
  return false;
}

std::unique_ptr<MariaDbServer> MariaDbServer::start(std::string& why_not) {
  std::unique_ptr<MariaDbServer> server(new MariaDbServer);
  const std::string program = "/usr/sbin/mariadbd";
  if (!fs::exists(program)) {
    why_not = "MariaDB is not installed (scripts/install-deps.sh live)";
  } else if (server->launch(program, why_not)) {
    return server;
  }
  if (std::getenv("ISOSCOPE_REQUIRE_SERVERS") != nullptr)
    throw std::runtime_error("a server is required: " + why_not);
  return nullptr;
}

MariaDbServer::~MariaDbServer() {
  int status = 0;
  for (const int signal : {SIGTERM, SIGKILL}) {
    if (pid_ <= 0) break;
    ::kill(pid_, signal);
    if (ended_within(pid_, 20, status)) pid_ = -1;
  }
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace isoscope
