#include "support/output.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace isoscope {

namespace {

Error cannot_write(const std::string& path) {
  return Error{.what = fmt::format("cannot write: {}", std::strerror(errno)), .file = path};
}

}  // namespace

void Output::CloseFile::operator()(std::FILE* file) const {
  if (file != stdout) std::fclose(file);
}

Result<Output> Output::open(const std::string& path) {
  Output output;
  output.path_ = path;
  if (path == "-") {
    output.file_.reset(stdout);
    return output;
  }
  struct stat info = {};
  // A pipe or a device cannot be replaced by renaming.
  const bool special = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  if (!special) output.temporary_ = path + ".part";
  output.file_.reset(std::fopen(special ? path.c_str() : output.temporary_.c_str(), "wb"));
  if (!output.file_) {
    output.temporary_.clear();
    return cannot_write(path);
  }
  return output;
}

Output::~Output() {
  if (!file_) return;
  file_.reset();
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void Output::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) failed_ = true;
}

Result<void> Output::close() {
  std::FILE* file = file_.release();
  failed_ |= file == stdout ? std::fflush(file) != 0 : std::fclose(file) != 0;
  if (!failed_ && !temporary_.empty())
    failed_ = std::rename(temporary_.c_str(), path_.c_str()) != 0;
  if (!failed_) return {};
  Error error = cannot_write(path_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
  return error;
}

Result<void> write_whole(const std::string& path, std::string_view text) {
  auto output = Output::open(path);
  if (!output) return output.error();
  output->write(text);
  return output->close();
}

}  // namespace isoscope
