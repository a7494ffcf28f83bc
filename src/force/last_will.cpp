#include "force/last_will.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "force/server.h"
#include "record/command_process.h"
#include "record/sockets.h"
#include "record/wire.h"

namespace isoscope::force {
namespace {

namespace fs = std::filesystem;

constexpr int kMostRoundsOfKilling = 100;
constexpr auto kLongestCommand = std::chrono::seconds(10);

// A record is a list of fields, each with its length before it.
using WillFields = std::vector<std::string>;

std::string packed(const WillFields& fields) {
  std::string out;
  for (const std::string& field : fields) out += fmt::format("{}:{}", field.size(), field);
  return fmt::format("{}:{}", out.size(), out);
}

// Takes the first of what packed() has written; false while it is not whole.
bool take_packed(std::string& text, std::string& field) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  const auto size = static_cast<std::size_t>(std::atoll(text.c_str()));
  if (text.size() - colon - 1 < size) return false;
  field = text.substr(colon + 1, size);
  text.erase(0, colon + 1 + size);
  return true;
}

void keep_promise(const WillFields& will) {
  const std::string& kind = will.at(1);
  if (kind == "processes") kill_processes(will.at(2));
  if (kind == "statement")
    cancel_statement({.host = will.at(2), .port = std::atoi(will.at(3).c_str())},
                     std::atoi(will.at(4).c_str()),
                     static_cast<std::uint32_t>(std::strtoul(will.at(5).c_str(), nullptr, 10)));
  if (kind == "sql")
    if (auto server = open_server(will.at(2))) (*server)->run(will.at(3));
  if (kind != "command") return;
  std::vector<std::pair<std::string, std::string>> environment;
  for (std::size_t i = 3; i + 1 < will.size(); i += 2)
    environment.emplace_back(will[i], will[i + 1]);
  auto process = record::CommandProcess::start({"/bin/sh", "-c", will.at(2)}, environment,
                                               {.has_own_group = true});
  const auto end = std::chrono::steady_clock::now() + kLongestCommand;
  while (process && !process->exit_code() && std::chrono::steady_clock::now() < end)
    ::poll(nullptr, 0, 5);
  if (process) process->send(SIGKILL);
}

// Waits for the end of the other process. Has nothing of it but the pipe.
[[noreturn]] void execute_will(int pipe) {
  ::setsid();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(number, SIG_IGN);
  const int none = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(none, standard);
  ::dup2(pipe, STDERR_FILENO + 1);
  ::close_range(STDERR_FILENO + 2, ~0U, 0);
  pipe = STDERR_FILENO + 1;
  std::map<std::size_t, WillFields> wills;
  std::string unread;
  for (char buffer[4096];;) {
    const ssize_t size = ::read(pipe, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    unread.append(buffer, static_cast<std::size_t>(size));
    for (std::string record; take_packed(unread, record);) {
      WillFields fields;
      for (std::string field; take_packed(record, field);) fields.push_back(field);
      if (fields.empty()) ::_exit(0);  // the first process ends in order
      const auto number = static_cast<std::size_t>(std::atoll(fields[0].c_str()));
      if (fields.size() == 1) {
        wills.erase(number);
      } else {
        wills[number] = std::move(fields);
      }
    }
  }
  // First all of them stop; then what they have left is put away, the latest first.
  for (const char* kind : {"processes", "statement"})
    for (const auto& [number, will] : wills)
      if (will[1] == kind) keep_promise(will);
  for (const auto& [number, will] :
       std::map<std::size_t, WillFields, std::greater<>>(wills.begin(), wills.end()))
    if (will[1] == "sql" || will[1] == "command") keep_promise(will);
  ::_exit(0);
}

// The other process. It is started when something is to be promised for the first time.
class Executor {
 public:
  static Executor& of_program() {
    static Executor executor;
    return executor;
  }
  ~Executor() {
    if (pipe_ < 0 || owner_ != ::getpid()) return;
    write(packed({}));
    ::close(pipe_);
    ::waitpid(process_, nullptr, 0);
  }
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  std::size_t promise(WillFields will) {
    const std::scoped_lock lock(mutex_);
    will.insert(will.begin(), std::to_string(++last_));
    write(packed(will));
    return last_;
  }
  void revoke(std::size_t number) {
    const std::scoped_lock lock(mutex_);
    write(packed({std::to_string(number)}));
  }

 private:
  Executor() : owner_(::getpid()) {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    process_ = ::fork();
    if (process_ == 0) execute_will(ends[0]);  // which closes the other end
    ::close(ends[0]);
    pipe_ = ends[1];
  }
  // Without such a process everything works but this.
  void write(std::string_view text) const {
    while (pipe_ >= 0 && !text.empty()) {
      const ssize_t size = ::send(pipe_, text.data(), text.size(), MSG_NOSIGNAL);
      if (size < 0 && errno != EINTR) return;
      if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  pid_t owner_;
  pid_t process_ = -1;
  int pipe_ = -1;
  std::mutex mutex_;
  std::size_t last_ = 0;
};

bool is_marked(const fs::path& process, const std::string& variable) {
  std::ifstream file(process / "environ", std::ios::binary);
  const std::string environment((std::istreambuf_iterator<char>(file)), {});
  const std::string all = std::string(1, '\0') + environment;
  return all.find(std::string(1, '\0') + variable + '\0') != std::string::npos;
}

}  // namespace

CleanupIfKilled::~CleanupIfKilled() {
  if (number_ != 0) Executor::of_program().revoke(number_);
}

CleanupIfKilled CleanupIfKilled::of_processes(const std::string& variable) {
  return CleanupIfKilled(Executor::of_program().promise({"processes", variable}));
}

CleanupIfKilled CleanupIfKilled::of_statement(const record::ServerAddress& server, int process,
                                              std::uint32_t secret) {
  return CleanupIfKilled(
      Executor::of_program().promise({"statement", server.host, std::to_string(server.port),
                                      std::to_string(process), std::to_string(secret)}));
}

CleanupIfKilled CleanupIfKilled::of_sql(const std::string& dsn, const std::string& sql) {
  return CleanupIfKilled(Executor::of_program().promise({"sql", dsn, sql}));
}

CleanupIfKilled CleanupIfKilled::of_command(
    const std::string& text, const std::vector<std::pair<std::string, std::string>>& environment) {
  WillFields will = {"command", text};
  for (const auto& [name, value] : environment) {
    will.push_back(name);
    will.push_back(value);
  }
  return CleanupIfKilled(Executor::of_program().promise(std::move(will)));
}

std::pair<std::string, std::string> mark_of_commands() {
  return {"ISOSCOPE_FORCE", std::to_string(::getpid())};
}

std::string marked_environment() {
  const auto [name, value] = mark_of_commands();
  return name + "=" + value;
}

void cancel_statement(const record::ServerAddress& server, int process, std::uint32_t secret) {
  auto socket = record::connect_to(server);
  if (!socket) return;
  std::string packet;
  record::append_int32(packet, 16);
  record::append_int32(packet, record::kCancelRequest);
  record::append_int32(packet, static_cast<std::uint32_t>(process));
  record::append_int32(packet, secret);
  socket->send(packet);
  pollfd watched{.fd = socket->descriptor(), .events = POLLOUT, .revents = 0};
  ::poll(&watched, 1, 1000);
  socket->flush();
  watched.events = POLLIN;  // the server closes it when it has done so
  ::poll(&watched, 1, 1000);
}

void kill_processes(const std::string& variable) {
  for (int round = 0; round < kMostRoundsOfKilling; ++round) {
    bool has_found = false;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      if (pid <= 0 || pid == ::getpid() || !is_marked(entry.path(), variable)) continue;
      has_found |= ::kill(pid, SIGKILL) == 0;
    }
    if (!has_found) return;
    ::poll(nullptr, 0, 2);
  }
}

}  // namespace isoscope::force
