#include "support/named_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

namespace isoscope {

namespace {

constexpr int kMostLinks = 40;  // as many as Linux follows

// The path without symbolic links, or nothing and errno.
std::optional<std::string> real_path(const std::string& path) {
  struct Free {
    void operator()(char* text) const { std::free(text); }
  };
  const std::unique_ptr<char, Free> real(::realpath(path.c_str(), nullptr));
  if (!real) return std::nullopt;
  return std::string(real.get());
}

// N where `folder` lists the descriptors of this process and `name` is the number N.
std::optional<int> descriptor_at(const std::string& folder, std::string_view name) {
  if (folder != fmt::format("/proc/{}/fd", ::getpid()) &&
      folder != fmt::format("/proc/{0}/task/{0}/fd", ::getpid()))
    return std::nullopt;
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::string link_target(const std::string& path) {
  std::string target(256, '\0');
  for (;;) {
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size < 0) return {};
    if (static_cast<std::size_t>(size) < target.size()) {
      target.resize(static_cast<std::size_t>(size));
      return target;
    }
    target.resize(target.size() * 2);
  }
}

std::string joined(const std::string& folder, std::string_view name) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", name);
}

}  // namespace

Error file_error(const std::string& path, FileUse use, int error_number) {
  return Error{.what = fmt::format("cannot {}: {}", use == FileUse::Read ? "open" : "write",
                                   std::strerror(error_number)),
               .file = path};
}

Result<NamedFile> NamedFile::resolve(const std::string& path, FileUse use) {
  NamedFile file;
  if (path == "-") {
    file.descriptor_ = use == FileUse::Read ? STDIN_FILENO : STDOUT_FILENO;
    file.exists_ = ::fstat(file.descriptor_, &file.info_) == 0;
    return file;
  }
  std::string rest = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    const std::size_t slash = rest.rfind('/');
    const std::string name = slash == std::string::npos ? rest : rest.substr(slash + 1);
    if (name.empty() || name == "." || name == "..") {  // only a folder ends like this
      const auto real = real_path(rest);
      if (!real || ::stat(real->c_str(), &file.info_) != 0) return file_error(path, use, errno);
      file.path_ = *real;
      file.exists_ = true;
      return file;
    }
    const auto folder = real_path(slash == std::string::npos ? "." : rest.substr(0, slash + 1));
    if (!folder) return file_error(path, use, errno);
    if (const auto number = descriptor_at(*folder, name)) {
      file.descriptor_ = *number;
      file.exists_ = ::fstat(*number, &file.info_) == 0;
      return file;
    }
    file.path_ = joined(*folder, name);
    file.exists_ = ::lstat(file.path_.c_str(), &file.info_) == 0;
    if (!file.exists_ && errno != ENOENT) return file_error(path, use, errno);
    if (!file.exists_ || !S_ISLNK(file.info_.st_mode)) return file;
    const std::string target = link_target(file.path_);
    if (target.empty()) return file_error(path, use, errno);
    rest = target.starts_with('/') ? target : joined(*folder, target);
  }
  return file_error(path, use, ELOOP);
}

std::string NamedFile::folder() const {
  const std::size_t slash = path_.rfind('/');
  return slash == 0 ? "/" : path_.substr(0, slash);
}

bool NamedFile::is_same_as(const NamedFile& other) const {
  if (descriptor_ >= 0 && descriptor_ == other.descriptor_) return true;
  if (exists_ != other.exists_) return false;
  if (!exists_) return descriptor_ < 0 && other.descriptor_ < 0 && path_ == other.path_;
  if (S_ISCHR(info_.st_mode)) return false;
  return info_.st_dev == other.info_.st_dev && info_.st_ino == other.info_.st_ino;
}

}  // namespace isoscope
