#include "support/postgres_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

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

// PostgreSQL refuses to run as root: then an account without rights runs it.
const passwd* server_account() {
  if (::getuid() != 0) return nullptr;
  const passwd* account = ::getpwnam("postgres");
  return account != nullptr ? account : ::getpwnam("nobody");
}

// Runs a program in a folder with its outputs appended to a file; returns the process. It ends with
// the process that started it, however that ends.
pid_t spawn(const std::vector<std::string>& words, const std::string& folder,
            const std::string& log) {
  const passwd* account = server_account();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  const int in = ::open("/dev/null", O_RDONLY);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  for (int descriptor = 3; descriptor < 256; ++descriptor) ::close(descriptor);
  if (account != nullptr && (::setgid(account->pw_gid) != 0 || ::setuid(account->pw_uid) != 0))
    ::_exit(126);
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (::getppid() != parent || ::chdir(folder.c_str()) != 0) ::_exit(126);
  ::setsid();
  ::setenv("LC_ALL", "C", 1);
  std::vector<char*> argv;
  std::vector<std::string> copies = words;
  for (std::string& word : copies) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

bool ended_within(pid_t pid, double seconds, int& status) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    if (::waitpid(pid, &status, WNOHANG) == pid) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string text_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

int free_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  int port = 0;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    port = ntohs(address.sin_port);
  ::close(listener);
  return port;
}

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
  const pid_t initdb = spawn({bin + "/initdb", "-D", folder_ + "/data", "-U", "postgres", "-A",
                              "trust", "-E", "UTF8", "--no-locale", "--no-sync"},
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
  pid_ = spawn(words, folder_, folder_ + "/log");
  const auto end = Clock::now() + std::chrono::seconds(60);
  while (pid_ > 0 && Clock::now() < end) {
    if (PQping(dsn().c_str()) == PQPING_OK) return true;
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
