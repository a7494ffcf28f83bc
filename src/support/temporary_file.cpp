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

// A private file stays private also before its mode is set.
mode_t first_mode(const struct stat* like) { return like == nullptr ? 0666 : 0600; }

std::string own_path(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

// Calls `attempt` with a new entry until it succeeds: true. The entry stays live then.
template <class Attempt>
Entry* with_new_name(const std::string& folder, Attempt attempt) {
  constexpr int kTries = 100;
  int error = EEXIST;
  for (int i = 0; i < kTries && error == EEXIST; ++i) {
    // Entered first, so that a signal finds it.
    Entry* entry =
        enter(fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/", random_name()));
    if (attempt(entry->path.c_str())) return entry;
    error = errno;
    entry->is_live.store(false);  // what has the name is not ours
  }
  errno = error;
  return nullptr;
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
  TemporaryFile file;
  file.folder_ = folder;
  file.descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, first_mode(like));
  const bool can_be_named =
      file.exists() && ::access(own_path(file.descriptor_).c_str(), F_OK) == 0;
  if (can_be_named && (like == nullptr || imitate(file.descriptor_, *like))) return file;
  return create_named(folder, like);
}

TemporaryFile TemporaryFile::create_named(const std::string& folder, const struct stat* like) {
  TemporaryFile file;
  file.folder_ = folder;
  file.entry_ = with_new_name(folder, [&](const char* path) {
    constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    file.descriptor_ = ::open(path, kFlags, first_mode(like));
    return file.exists();
  });
  if (!file.exists() || like == nullptr || imitate(file.descriptor_, *like)) return file;
  const int error = errno;
  file = {};
  errno = error;
  return file;
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : folder_(std::move(other.folder_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      entry_(std::exchange(other.entry_, nullptr)) {}

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
  TemporaryFile old(std::move(*this));
  folder_ = std::move(other.folder_);
  descriptor_ = std::exchange(other.descriptor_, -1);
  entry_ = std::exchange(other.entry_, nullptr);
  return *this;
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (entry_ == nullptr) return;
  ::unlink(entry_->path.c_str());
  entry_->is_live.store(false);
}

bool TemporaryFile::take_name() {
  if (entry_ != nullptr) return true;
  entry_ = with_new_name(folder_, [&](const char* path) {
    return ::linkat(AT_FDCWD, own_path(descriptor_).c_str(), AT_FDCWD, path, AT_SYMLINK_FOLLOW) ==
           0;
  });
  return entry_ != nullptr;
}

bool TemporaryFile::rename_to(const std::string& path) {
  // A file can be linked only to a name that is free: to replace another, it needs one meanwhile.
  if (!take_name()) return false;
  if (std::rename(entry_->path.c_str(), path.c_str()) != 0) return false;
  entry_->is_live.store(false);
  entry_ = nullptr;
  return true;
}

}  // namespace isoscope
