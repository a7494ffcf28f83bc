#include "support/input.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace isoscope {

namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;

Error system_error(const std::string& path, const char* doing) {
  return Error{.what = fmt::format("cannot {}: {}", doing, std::strerror(errno)), .file = path};
}

// Directories open like files and fail only when read; say so at once.
Result<std::FILE*> open_file(const std::string& path) {
  if (path == "-") return stdin;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return system_error(path, "open");
  struct stat info = {};
  if (::fstat(::fileno(file), &info) == 0 && S_ISDIR(info.st_mode)) {
    std::fclose(file);
    return Error{.what = "is a directory, not a file", .file = path};
  }
  return file;
}

}  // namespace

void LineReader::CloseFile::operator()(std::FILE* file) const {
  if (file != stdin) std::fclose(file);
}

Result<std::string> read_whole(const std::string& path) {
  auto file = open_file(path);
  if (!file) return file.error();
  std::string text;
  std::size_t size = 0;
  for (;;) {
    text.resize(size + kBufferSize);
    const std::size_t got = std::fread(text.data() + size, 1, kBufferSize, *file);
    size += got;
    if (got < kBufferSize) break;
  }
  text.resize(size);
  const bool failed = std::ferror(*file) != 0;
  if (*file != stdin) std::fclose(*file);
  if (failed) return system_error(path, "read");
  return text;
}

Result<LineReader> LineReader::open(const std::string& path) {
  auto file = open_file(path);
  if (!file) return file.error();
  LineReader reader;
  reader.file_.reset(*file);
  reader.buffer_.resize(kBufferSize);
  return reader;
}

void LineReader::report_to(Progress progress) {
  progress_ = std::move(progress);
  struct stat info = {};
  if (file_ && ::fstat(::fileno(file_.get()), &info) == 0 && S_ISREG(info.st_mode))
    bytes_in_all_ = static_cast<double>(info.st_size);
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
  const std::size_t got = std::fread(buffer_.data() + kept, 1, buffer_.size() - kept, file_.get());
  if (got == 0) {
    at_end_ = true;
    if (std::ferror(file_.get()) != 0) failure_ = std::strerror(errno);
  }
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
    if (rest_.empty() || !failure_.empty()) return false;
    line = rest_;  // the last line may lack its newline
    rest_ = {};
  } else {
    line = rest_.substr(0, newline);
    rest_.remove_prefix(newline + 1);
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  ++line_number_;
  return true;
}

}  // namespace isoscope
