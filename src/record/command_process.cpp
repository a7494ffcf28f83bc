#include "record/command_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace isoscope::record {

Result<CommandProcess> CommandProcess::start(
    const std::vector<std::string>& words,
    const std::vector<std::pair<std::string, std::string>>& environment, Options options) {
  // The child reports through this pipe why it could not become the command.
  int failure[2] = {-1, -1};
  if (::pipe2(failure, O_CLOEXEC) != 0)
    return Error{.what = fmt::format("no pipe: {}", std::strerror(errno))};
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (options.has_own_group) {
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);
    }
    if (options.output >= 0) {
      ::dup2(options.output, STDOUT_FILENO);
      ::dup2(options.output, STDERR_FILENO);
    }
    for (const auto& [name, value] : environment) {
      if (value.empty()) {
        ::unsetenv(name.c_str());
      } else {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
    }
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ})
      std::signal(number, SIG_DFL);
    std::vector<std::string> copies = words;
    std::vector<char*> argv;
    for (std::string& word : copies) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    const int why = errno;
    [[maybe_unused]] const ssize_t told = ::write(failure[1], &why, sizeof why);
    ::_exit(127);
  }
  ::close(failure[1]);
  int why = 0;
  const ssize_t size = pid < 0 ? 0 : ::read(failure[0], &why, sizeof why);
  ::close(failure[0]);
  if (pid < 0) return Error{.what = "no process for the command"};
  if (size == sizeof why) {
    ::waitpid(pid, nullptr, 0);
    return Error{.what = fmt::format("cannot run '{}': {}", words[0], std::strerror(why))};
  }
  if (options.has_own_group) ::setpgid(pid, pid);  // whoever comes first
  return CommandProcess(pid, options.has_own_group);
}

std::optional<int> CommandProcess::exit_code() {
  int status = 0;
  if (!exit_code_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

void CommandProcess::send(int signal) const {
  if (has_own_group_) {
    ::kill(-pid_, signal);
  } else if (!exit_code_) {
    ::kill(pid_, signal);
  }
}

}  // namespace isoscope::record
