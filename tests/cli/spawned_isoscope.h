#pragma once
// The built program as a process that a test can send signals to.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/paths.h"
#include "support/temp_folder.h"

namespace isoscope {

class SpawnedIsoscope {
 public:
  // Runs in the folder; standard output and error go to `stdout` and `stderr` there. Standard
  // input is the file `stdin` of the folder, or a pipe without an end that stays silent.
  SpawnedIsoscope(const TempFolder& folder, const std::vector<std::string>& arguments) {
    int silent[2] = {-1, -1};
    if (::pipe2(silent, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    silent_ = silent[1];
    pid_ = ::fork();
    if (pid_ == 0) {
      const auto redirect = [&](const std::string& name, int flags, int descriptor) {
        const int file = ::open(folder.at(name).c_str(), flags, 0644);
        if (file >= 0) ::dup2(file, descriptor);
        return file >= 0;
      };
      if (!redirect("stdin", O_RDONLY, STDIN_FILENO)) ::dup2(silent[0], STDIN_FILENO);
      redirect("stdout", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO);
      redirect("stderr", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO);
      std::vector<char*> argv;
      std::string program = isoscope_binary();
      std::vector<std::string> words = arguments;
      argv.push_back(program.data());
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      if (::chdir(folder.path().c_str()) == 0) ::execv(program.c_str(), argv.data());
      ::_exit(127);
    }
    ::close(silent[0]);
  }
  ~SpawnedIsoscope() {
    if (!status_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(silent_);
  }
  SpawnedIsoscope(const SpawnedIsoscope&) = delete;
  SpawnedIsoscope& operator=(const SpawnedIsoscope&) = delete;

  void send(int signal) const { ::kill(pid_, signal); }

  // The status as waitpid() has it, or nothing if it still runs after so many seconds.
  std::optional<int> wait(double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (!status_ && Clock::now() < end) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) == pid_) {
        status_ = status;
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
    return status_;
  }

 private:
  pid_t pid_ = -1;
  int silent_ = -1;
  std::optional<int> status_;
};

}  // namespace isoscope
