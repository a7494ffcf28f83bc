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
#include <vector>

#include "support/decoding.h"

namespace isoscope {

namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;

Error system_error(const std::string& path, const char* doing) {
  return Error{.what = fmt::format("cannot {}: {}", doing, std::strerror(errno)), .file = path};
}

// How long a look at a pipe waits before the budget is asked again.
constexpr int kPollMilliseconds = 50;

constexpr std::size_t kRawBytes = std::size_t{1} << 18;

}  // namespace

struct InputFile::Source {
  int descriptor = -1;
  std::size_t taken = 0;
  std::vector<char> raw = {};  // bytes of the file that are still to be decoded or handed out
  std::size_t begin = 0;       // in raw: the next byte
  std::size_t end = 0;         // in raw: behind the last one
  bool at_end = false;         // of the file
  bool is_begun = false;
  std::unique_ptr<Decoder> decoder = {};  // none: the file is its text

  ~Source() {
    if (descriptor > STDIN_FILENO) ::close(descriptor);
  }

  Result<std::size_t> read_raw(char* buffer, std::size_t room, Budget& budget) {
    for (;;) {
      if (budget.expired_now()) return limit_error("reading the input");
      pollfd wanted{descriptor, POLLIN, 0};
      const int ready = ::poll(&wanted, 1, kPollMilliseconds);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      const ssize_t got = ::read(descriptor, buffer, room);
      if (got >= 0) {
        taken += static_cast<std::size_t>(got);
        at_end = got == 0;
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR && errno != EAGAIN)
        return Error{.what = fmt::format("cannot read: {}", std::strerror(errno))};
    }
  }

  // Appends to raw.
  Result<void> fetch(Budget& budget) {
    if (begin == end) begin = end = 0;
    auto got = read_raw(raw.data() + end, raw.size() - end, budget);
    if (!got) return got.error();
    end += *got;
    return {};
  }

  // Looks at the first bytes.
  Result<void> begin_reading(Budget& budget) {
    raw.resize(kRawBytes);
    while (end < kBytesThatTell && !at_end) {
      if (auto done = fetch(budget); !done) return done;
    }
    auto found = decoder_for({raw.data(), std::min(end, kBytesThatTell)});
    if (!found) return found.error();
    decoder = std::move(*found);
    return {};
  }

  Result<std::size_t> decode(char* buffer, std::size_t room, Budget& budget) {
    for (;;) {
      auto step = decoder->decode({raw.data() + begin, end - begin}, {buffer, room});
      if (!step) return step.error();
      begin += step->taken;
      if (step->made > 0) return step->made;
      if (step->taken > 0) continue;
      if (at_end && begin == end) {
        if (decoder->is_complete()) return std::size_t{0};
        return Error{.what = fmt::format("the {} data ends too early", decoder->name()),
                     .hint = "the file was not written to its end"};
      }
      if (auto done = fetch(budget); !done) return done.error();
    }
  }

  Result<std::size_t> read(char* buffer, std::size_t room, Budget& budget) {
    if (decoder) return decode(buffer, room, budget);
    if (begin == end) return at_end ? std::size_t{0} : read_raw(buffer, room, budget);
    const std::size_t count = std::min(room, end - begin);
    std::copy_n(raw.data() + begin, count, buffer);
    begin += count;
    return count;
  }
};

InputFile::InputFile() = default;
InputFile::InputFile(InputFile&& other) noexcept = default;
InputFile& InputFile::operator=(InputFile&& other) noexcept = default;
InputFile::~InputFile() = default;

// A pipe is opened without waiting for its other end: read() waits, and asks the budget.
Result<InputFile> InputFile::open(const std::string& path) {
  const int descriptor =
      path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return system_error(path, "open");
  InputFile file;
  file.source_ = std::make_unique<Source>();
  file.source_->descriptor = descriptor;
  // Directories open like files and fail only when read; say so at once.
  struct stat info = {};
  if (::fstat(descriptor, &info) == 0 && S_ISDIR(info.st_mode))
    return Error{.what = "is a directory, not a file", .file = path};
  return file;
}

std::size_t InputFile::size() const {
  struct stat info = {};
  const bool known = ::fstat(source_->descriptor, &info) == 0 && S_ISREG(info.st_mode);
  return known ? static_cast<std::size_t>(info.st_size) : 0;
}

std::size_t InputFile::taken() const { return source_->taken; }

Result<std::size_t> InputFile::read(char* buffer, std::size_t room, Budget& budget) {
  if (source_->is_begun) return source_->read(buffer, room, budget);
  if (auto done = source_->begin_reading(budget); !done) return done.error();
  source_->is_begun = true;
  // A byte order mark may come in pieces.
  std::size_t size = 0;
  while (size < kBytesThatTell) {
    auto got = source_->read(buffer + size, room - size, budget);
    if (!got) return got;
    if (*got == 0) break;
    size += *got;
  }
  const std::size_t mark = byte_order_mark({buffer, size});
  std::copy(buffer + mark, buffer + size, buffer);
  return size - mark;
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
  if (progress_)
    progress_("reading the input",
              bytes_in_all_ > 0 ? static_cast<double>(file_.taken()) / bytes_in_all_ : -1);
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
