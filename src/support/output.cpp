#include "support/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "support/line_guard.h"
#include "support/named_file.h"
#include "support/temporary_file.h"

namespace isoscope {

namespace {

constexpr std::size_t kOutputBuffer = std::size_t{1} << 16U;

// Writes all of it; returns how much was written before an error, which is in errno then.
std::size_t write_all(int descriptor, std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
    if (count > 0) done += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) break;
  }
  return done;
}

Error cannot_write(const std::string& path, int error_number) {
  return file_error(path, FileUse::Write, error_number);
}

// What the name means, if a file of this name can be written.
Result<NamedFile> find_target(const std::string& path) {
  auto file = NamedFile::resolve(path, FileUse::Write);
  if (!file) return file.error();
  if (file->descriptor() >= 0) {
    const int flags = ::fcntl(file->descriptor(), F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) return cannot_write(path, EBADF);
    return file;
  }
  if (file->is_folder()) return cannot_write(path, EISDIR);
  if (file->exists() && ::access(file->path().c_str(), W_OK) != 0) return cannot_write(path, errno);
  return file;
}

bool is_replaced(const NamedFile& file) {
  return file.descriptor() < 0 && (!file.exists() || file.is_regular());
}

}  // namespace

struct Output::File {
  std::string name;  // as the user wrote it
  std::string path;
  TemporaryFile temporary;  // or none, if it is written in place
  int in_place = -1;
  bool lines = false;
  LineGuard guard;  // of lines
  std::string buffer;
  int error = 0;  // the first, from errno

  ~File() {
    if (in_place >= 0) ::close(in_place);
  }
  int descriptor() const { return temporary.exists() ? temporary.descriptor() : in_place; }
  void fail(int number) {
    if (error == 0) error = number;
  }
  // Hands a text to the system, unless that has failed before.
  void put(std::string_view text) {
    if (error != 0 || text.empty()) return;
    const std::size_t done = write_all(descriptor(), text);
    if (done == text.size()) return;
    fail(errno);
    if (lines && temporary.exists()) take_back(text.substr(0, done));
  }
  // The system took only this much: leaves whole lines of it.
  void take_back(std::string_view taken) const {
    const std::size_t done = taken.size();
    const std::size_t newline = taken.rfind('\n');
    const std::size_t kept = newline == std::string_view::npos ? 0 : newline + 1;
    const off_t end = ::lseek(descriptor(), 0, SEEK_CUR);
    if (end >= 0) (void)!::ftruncate(descriptor(), end - static_cast<off_t>(done - kept));
  }
};

Output::Output(std::unique_ptr<File> file) : file_(std::move(file)) {}
Output::Output(Output&&) noexcept = default;
Output& Output::operator=(Output&&) noexcept = default;

Output::~Output() {
  if (file_ && file_->lines) (void)close();
}

Result<Output> Output::open(const std::string& path) { return open_as(path, false); }

Result<Output> Output::open_lines(const std::string& path) { return open_as(path, true); }

Result<Output> Output::open_as(const std::string& path, bool lines) {
  auto target = find_target(path);
  if (!target) return target.error();
  auto file = std::make_unique<File>();
  file->name = path;
  file->path = target->path();
  file->lines = lines;
  if (target->descriptor() >= 0) {
    file->in_place = ::fcntl(target->descriptor(), F_DUPFD_CLOEXEC, 3);
  } else if (!is_replaced(*target)) {
    file->in_place = ::open(file->path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  } else {
    file->temporary =
        TemporaryFile::create(target->folder(), target->exists() ? &target->info() : nullptr);
    if (!file->temporary.exists()) return cannot_write(path, errno);
    if (lines && !file->temporary.rename_to(file->path)) return cannot_write(path, errno);
    if (lines) file->guard = LineGuard::over(file->temporary.descriptor());
  }
  if (file->descriptor() < 0) return cannot_write(path, errno);
  return Output(std::move(file));
}

Result<void> Output::check(const std::string& path) {
  const auto target = find_target(path);
  if (!target) return target.error();
  if (is_replaced(*target) && ::access(target->folder().c_str(), W_OK | X_OK) != 0) {
    Error error = cannot_write(path, errno);
    error.hint = "the folder may not be written";
    return error;
  }
  return {};
}

void Output::write(std::string_view text) {
  std::string& buffer = file_->buffer;
  // How much of the text must go out now, with what waits before it.
  const std::size_t size = file_->lines                                   ? text.rfind('\n') + 1
                           : buffer.size() + text.size() >= kOutputBuffer ? text.size()
                                                                          : 0;
  if (size > 0 && buffer.empty()) {
    file_->put(text.substr(0, size));
  } else if (size > 0) {
    buffer += text.substr(0, size);
    file_->put(buffer);
    buffer.clear();
  }
  buffer += text.substr(size);
}

bool Output::has_failed() const { return file_->error != 0; }

Result<void> Output::close() {
  File& file = *file_;
  file.put(file.buffer);
  // Some file systems tell of a full disk only when a descriptor is closed; the file needs its own
  // until it has its name.
  const int copy = ::fcntl(file.descriptor(), F_DUPFD_CLOEXEC, 3);
  if (copy < 0 || (::close(copy) != 0 && errno != EINTR)) file.fail(errno);
  const bool must_be_named = file.temporary.exists() && !file.lines;
  if (file.error == 0 && must_be_named && !file.temporary.rename_to(file.path)) file.fail(errno);
  Result<void> result;
  if (file.error != 0) result = cannot_write(file.name, file.error);
  file_.reset();  // with what is still temporary
  return result;
}

Result<void> write_whole(const std::string& path, std::string_view text) {
  auto output = Output::open(path);
  if (!output) return output.error();
  output->write(text);
  return output->close();
}

}  // namespace isoscope
