#include "support/postgres_server.h"

#include <libpq-fe.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "support/server_process.h"

namespace isoscope {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The folder of the newest PostgreSQL programs, as Debian lays them out.
std::string postgres_programs() {
  std::string found;
  int newest = 0;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", none)) {
    const int version = std::atoi(entry.path().filename().c_str());
    const fs::path bin = entry.path() / "bin";
    if (version <= newest || !fs::exists(bin / "initdb", none)) continue;
    newest = version;
    found = bin.string();
  }
  return found;
}

// Whether the server with this id says that it takes connections. A ping alone does not tell: the
// server of another test may have taken the port first, and would answer in its place.
bool is_ready(const std::string& postmaster_file, pid_t pid) {
  std::ifstream file(postmaster_file);
  std::string line;
  if (!std::getline(file, line) || line != std::to_string(pid)) return false;
  while (std::getline(file, line)) {
    if (line.starts_with("ready")) return true;
  }
  return false;
}

}  // namespace

std::string PostgresServer::dsn(int port) {
  return "host=127.0.0.1 port=" + std::to_string(port) + " user=postgres dbname=postgres";
}
std::string PostgresServer::dsn() const { return dsn(port_); }

std::string PostgresServer::log() const { return text_of_file(folder_ + "/log"); }

bool PostgresServer::prepare(const std::string& bin, const PostgresOptions& options,
                             std::string& why_not) {
  std::string name = (fs::temp_directory_path() / "isoscope-postgres-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    why_not = "no temporary folder: " + std::string(std::strerror(errno));
    return false;
  }
  folder_ = name;
  const passwd* account = server_account();
  if (account != nullptr && ::chown(folder_.c_str(), account->pw_uid, account->pw_gid) != 0) {
    why_not = "cannot give " + folder_ + " to " + account->pw_name;
    return false;
  }
  const pid_t initdb = spawn_server({bin + "/initdb", "-D", folder_ + "/data", "-U", "postgres",
                                     "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"},
                                    folder_, folder_ + "/log");
  int status = 0;
  if (initdb < 0 || !ended_within(initdb, 120, status) || status != 0) {
    if (initdb > 0) ::kill(initdb, SIGKILL);
    why_not = "initdb failed: " + log();
    return false;
  }
  if (!options.hba.empty()) {
    const std::string path = folder_ + "/data/pg_hba.conf";
    const std::string rest = text_of_file(path);
    std::ofstream(path, std::ios::binary) << options.hba << rest;
  }
  for (const auto& [file, text] : options.files) {
    const std::string path = folder_ + "/data/" + file;
    std::ofstream(path, std::ios::binary) << text;
    const bool is_given = ::getuid() != 0 || ::chown(path.c_str(), server_account()->pw_uid,
                                                     server_account()->pw_gid) == 0;
    if (::chmod(path.c_str(), 0600) != 0 || !is_given) {
      why_not = "cannot give " + path + " to the server";
      return false;
    }
  }
  return true;
}

bool PostgresServer::launch(const std::string& bin, const PostgresOptions& options,
                            std::string& why_not) {
  port_ = free_port();
  std::vector<std::string> words = {bin + "/postgres", "-D", folder_ + "/data", "-p",
                                    std::to_string(port_)};
  std::vector<std::string> settings = {
      "listen_addresses=127.0.0.1", "unix_socket_directories=" + folder_,
      "wal_level=logical",          "fsync=off",
      "synchronous_commit=off",     "full_page_writes=off",
      "shared_buffers=16MB",        "max_connections=40",
      "temp_file_limit=200MB"};
  settings.insert(settings.end(), options.settings.begin(), options.settings.end());
  for (const std::string& setting : settings) {
    words.emplace_back("-c");
    words.push_back(setting);
  }
  pid_ = spawn_server(words, folder_, folder_ + "/log");
  const auto end = Clock::now() + std::chrono::seconds(60);
  while (pid_ > 0 && Clock::now() < end) {
    if (is_ready(folder_ + "/data/postmaster.pid", pid_) && PQping(dsn().c_str()) == PQPING_OK)
      return true;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) == pid_) pid_ = -1;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  why_not = "the server did not start: " + log();
  return false;
}

void PostgresServer::stop() {
  if (pid_ <= 0) return;
  int status = 0;
  for (const int signal : {SIGINT, SIGQUIT, SIGKILL}) {  // fast, immediate, at once
    ::kill(pid_, signal);
    if (ended_within(pid_, 15, status)) break;
  }
  pid_ = -1;
}

std::unique_ptr<PostgresServer> PostgresServer::start(std::string& why_not,
                                                      const PostgresOptions& options) {
  auto server = try_to_start(why_not, options);
  if (!server && std::getenv("ISOSCOPE_REQUIRE_SERVERS") != nullptr)
    throw std::runtime_error("a server is required: " + why_not);
  return server;
}

std::unique_ptr<PostgresServer> PostgresServer::try_to_start(std::string& why_not,
                                                             const PostgresOptions& options) {
  const std::string bin = postgres_programs();
  if (bin.empty()) {
    why_not = "PostgreSQL is not installed (scripts/install-deps.sh test)";
    return nullptr;
  }
  if (::getuid() == 0 && server_account() == nullptr) {
    why_not = "no account without rights to run PostgreSQL";
    return nullptr;
  }
  std::unique_ptr<PostgresServer> server(new PostgresServer);
  if (!server->prepare(bin, options, why_not)) return nullptr;
  for (int attempt = 0; attempt < 3; ++attempt) {  // somebody may take the port before us
    if (server->launch(bin, options, why_not)) return server;
    server->stop();
  }
  return nullptr;
}

PostgresServer::~PostgresServer() {
  stop();
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

}  // namespace isoscope
