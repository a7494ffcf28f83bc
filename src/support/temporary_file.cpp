#include "support/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "support/output.h"

namespace isoscope {

struct TemporaryFile::Entry {
  std::string path;
  pid_t owner = 0;
  std::atomic<bool> is_live = false;
  Entry* next = nullptr;
};

namespace {

using Entry = TemporaryFile::Entry;

std::atomic<Entry*> entries = nullptr;
static_assert(std::atomic<Entry*>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "signal handlers may not wait for locks");

// An entry for this path, which counts from now on.
Entry* enter(std::string path) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static const bool at_exit = std::atexit([] { remove_temporaries(); }) == 0;
  (void)at_exit;
  Entry* entry = entries.load();
  while (entry != nullptr && entry->is_live.load()) entry = entry->next;
  if (entry == nullptr) {
    entry = new Entry;  // never freed: a signal may come at any time
    entry->next = entries.load();
    entries.store(entry);
  }
  entry->path = std::move(path);
  entry->owner = ::getpid();
  entry->is_live.store(true);
  return entry;
}

std::string random_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) std::abort();
  return fmt::format(".isoscope-{:016x}", number);
}

// The owner first: changing it takes away some bits of the mode.
bool imitate(int descriptor, const struct stat& like) {
  mode_t mode = like.st_mode & 07777U;
  struct stat own = {};
  if (::fstat(descriptor, &own) != 0) return false;
  const bool is_own = own.st_uid == like.st_uid && own.st_gid == like.st_gid;
  if (!is_own && ::fchown(descriptor, like.st_uid, like.st_gid) != 0) mode &= 0777U;
  return ::fchmod(descriptor, mode) == 0;
}

}  // namespace

void remove_temporaries() noexcept {
  const int saved = errno;
  for (Entry* entry = entries.load(); entry != nullptr; entry = entry->next) {
    if (entry->is_live.load() && entry->owner == ::getpid()) ::unlink(entry->path.c_str());
  }
  errno = saved;
}

TemporaryFile TemporaryFile::create(const std::string& folder, const struct stat* like) {
  constexpr int kTries = 100;
  // A private file stays private also before its mode is set.
  const mode_t mode = like == nullptr ? 0666 : 0600;
  for (int i = 0; i < kTries; ++i) {
    std::string path =
        fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", random_name());
    TemporaryFile file;
    file.entry_ = enter(std::move(path));  // first, so that a signal finds it
    file.descriptor_ = ::open(file.entry_->path.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (file.descriptor_ >= 0) {
      if (like == nullptr || imitate(file.descriptor_, *like)) return file;
      const int error = errno;
      file.remove();
      errno = error;
      return {};
    }
    const int error = errno;
    file.entry_->is_live.store(false);  // what has the name is not ours
    file.entry_ = nullptr;
    errno = error;
    if (error != EEXIST) break;
  }
  return {};
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : entry_(std::exchange(other.entry_, nullptr)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
  std::swap(entry_, other.entry_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

int TemporaryFile::take_descriptor() { return std::exchange(descriptor_, -1); }

bool TemporaryFile::rename_to(const std::string& path) {
  if (std::rename(entry_->path.c_str(), path.c_str()) != 0) return false;
  entry_->is_live.store(false);
  entry_ = nullptr;
  return true;
}

void TemporaryFile::remove() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (entry_ == nullptr) return;
  ::unlink(entry_->path.c_str());
  entry_->is_live.store(false);
  entry_ = nullptr;
}

}  // namespace isoscope
