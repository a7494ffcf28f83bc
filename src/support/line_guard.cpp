#include "support/line_guard.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace isoscope {

namespace {

// In the child only what is safe between fork() and exec() may be called: other threads of the
// parent may have held locks.
constexpr int kFile = 0;
constexpr int kPipe = 1;

// The end of the last whole line.
off_t end_of_lines(int file, off_t size) {
  std::array<char, 4096> block = {};
  while (size > 0) {
    const off_t start = std::max<off_t>(0, size - static_cast<off_t>(block.size()));
    const auto length = static_cast<std::size_t>(size - start);
    if (::pread(file, block.data(), length, start) != static_cast<ssize_t>(length)) return -1;
    for (std::size_t i = length; i > 0; --i) {
      if (block[i - 1] == '\n') return start + static_cast<off_t>(i);
    }
    size = start;
  }
  return 0;
}

[[noreturn]] void guard(int descriptor, int pipe) {
  ::setsid();
  ::prctl(PR_SET_NAME, "line-guard");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal, SIG_IGN);
  // Neither of the two is below 3, where the standard descriptors are.
  ::dup2(descriptor, kFile);
  ::dup2(pipe, kPipe);
  if (::close_range(kPipe + 1, ~0U, 0) != 0) ::_exit(1);
  char byte = 0;
  while (::read(kPipe, &byte, 1) < 0 && errno == EINTR) {
  }
  struct stat info = {};
  if (::fstat(kFile, &info) != 0) ::_exit(1);
  const off_t end = end_of_lines(kFile, info.st_size);
  if (end >= 0 && end < info.st_size && ::ftruncate(kFile, end) != 0) ::_exit(1);
  ::_exit(0);
}

}  // namespace

LineGuard LineGuard::over(int descriptor) {
  LineGuard result;
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return result;
  const pid_t child = ::fork();
  if (child == 0) guard(descriptor, ends[0]);
  ::close(ends[0]);
  result.pipe_ = ends[1];
  result.child_ = child;
  return result;
}

LineGuard::LineGuard(LineGuard&& other) noexcept
    : pipe_(std::exchange(other.pipe_, -1)), child_(std::exchange(other.child_, -1)) {}

LineGuard& LineGuard::operator=(LineGuard&& other) noexcept {
  std::swap(pipe_, other.pipe_);
  std::swap(child_, other.child_);
  return *this;
}

LineGuard::~LineGuard() {
  if (pipe_ >= 0) ::close(pipe_);
  while (child_ > 0 && ::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace isoscope
