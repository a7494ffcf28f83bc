#include "support/input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace isoscope {

namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;

Error system_error(const std::string& path, const char* doing) {
  return Error{.what = fmt::format("cannot {}: {}", doing, std::strerror(errno)), .file = path};
}

// How long a look at a pipe waits before the budget is asked again.
constexpr int kPollMilliseconds = 50;

}  // namespace

// A pipe is opened without waiting for its other end: read() waits, and asks the budget.
Result<InputFile> InputFile::open(const std::string& path) {
  InputFile file;
  file.descriptor_ =
      path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!file.is_open()) return system_error(path, "open");
  // Directories open like files and fail only when read; say so at once.
  struct stat info = {};
  if (::fstat(file.descriptor_, &info) == 0 && S_ISDIR(info.st_mode))
    return Error{.what = "is a directory, not a file", .file = path};
  return file;
}

InputFile::~InputFile() {
  if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
}

std::size_t InputFile::size() const {
  struct stat info = {};
  const bool known = ::fstat(descriptor_, &info) == 0 && S_ISREG(info.st_mode);
  return known ? static_cast<std::size_t>(info.st_size) : 0;
}

Result<std::size_t> InputFile::read(char* buffer, std::size_t room, Budget& budget) const {
  for (;;) {
    if (budget.expired_now()) return limit_error("reading the input");
    pollfd wanted{descriptor_, POLLIN, 0};
    const int ready = ::poll(&wanted, 1, kPollMilliseconds);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t got = ::read(descriptor_, buffer, room);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR && errno != EAGAIN)
      return Error{.what = fmt::format("cannot read: {}", std::strerror(errno))};
  }
}

Result<std::string> read_whole(const std::string& path, Budget budget) {
  auto file = InputFile::open(path);
  if (!file) return file.error();
  std::string text;
  std::size_t size = 0;
  for (;;) {
    if (text.size() - size < kBufferSize)
      text.resize(std::max(2 * text.size(), size + kBufferSize));
    auto got = file->read(text.data() + size, kBufferSize, budget);
    if (!got) return got.error().in(path);
    if (*got == 0) break;
    size += *got;
  }
  text.resize(size);
  return text;
}

Result<LineReader> LineReader::open(const std::string& path, Budget budget) {
  auto file = InputFile::open(path);
  if (!file) return file.error();
  LineReader reader;
  reader.file_ = std::move(*file);
  reader.budget_ = budget;
  reader.buffer_.resize(kBufferSize);
  return reader;
}

void LineReader::report_to(Progress progress) {
  progress_ = std::move(progress);
  if (file_.is_open()) bytes_in_all_ = static_cast<double>(file_.size());
}

LineReader LineReader::over(std::string_view text) {
  LineReader reader;
  reader.rest_ = text;
  reader.at_end_ = true;
  return reader;
}

// Moves what is left to the front of the buffer and reads more behind it.
bool LineReader::refill() {
  if (at_end_) return false;
  if (!rest_.empty()) std::memmove(buffer_.data(), rest_.data(), rest_.size());
  const std::size_t kept = rest_.size();
  if (kept == buffer_.size()) buffer_.resize(buffer_.size() * 2);  // one very long line
  auto read = file_.read(buffer_.data() + kept, buffer_.size() - kept, budget_);
  if (!read) failure_ = read.error();
  const std::size_t got = read ? *read : 0;
  if (got == 0) at_end_ = true;
  rest_ = std::string_view(buffer_.data(), kept + got);
  bytes_read_ += static_cast<double>(got);
  if (progress_) progress_("reading", bytes_in_all_ > 0 ? bytes_read_ / bytes_in_all_ : -1);
  return got > 0;
}

std::string_view LineReader::peek(std::size_t count) {
  while (rest_.size() < count && refill()) {
  }
  return rest_.substr(0, count);
}

std::string LineReader::take_rest() {
  std::string rest;
  do {
    rest += rest_;
    rest_ = {};
  } while (refill());
  return rest;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = 0;
  std::size_t newline = std::string_view::npos;
  for (;;) {
    const void* hit = rest_.empty()
                          ? nullptr
                          : std::memchr(rest_.data() + searched, '\n', rest_.size() - searched);
    if (hit != nullptr) {
      newline = static_cast<std::size_t>(static_cast<const char*>(hit) - rest_.data());
      break;
    }
    searched = rest_.size();
    if (!refill()) break;
  }
  if (newline == std::string_view::npos) {
    if (rest_.empty() || failure_) return false;
    line = rest_;  // the last line may lack its newline
    rest_ = {};
    is_cut_ = true;
  } else {
    line = rest_.substr(0, newline);
    rest_.remove_prefix(newline + 1);
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  ++line_number_;
  return true;
}

}  // namespace isoscope
