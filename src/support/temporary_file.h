#pragma once
// A file that has no name of its own yet: it is renamed to its place, or goes away.
//
// Where the file system can (O_TMPFILE: ext4, xfs, btrfs, tmpfs), it has no name at all until it is
// renamed, so that even a process that is killed leaves nothing. Elsewhere it stands in the folder
// under a name that cannot be foreseen.
//
// Files with such a name stand in a list that remove_temporaries() of output.h walks through, also
// from a signal handler. Therefore entries of the list are never freed, only used again, and an
// entry counts only while its flag is set.
#include <sys/stat.h>

#include <string>

namespace isoscope {

class TemporaryFile {
 public:
  // Creates a file in the folder, with the mode that new files have for this user, or with the
  // mode and owner of `like`. None, and errno, if that is impossible.
  static TemporaryFile create(const std::string& folder, const struct stat* like);
  // The same with a name from the beginning, as on file systems that need it.
  static TemporaryFile create_named(const std::string& folder, const struct stat* like);

  TemporaryFile() = default;  // none
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  ~TemporaryFile();  // closes the descriptor, and deletes the file unless it was renamed

  bool exists() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  // Gives the file its name, replacing what has it; false and errno if that is impossible.
  // Requires: it was not renamed before.
  bool rename_to(const std::string& path);

  struct Entry;

 private:
  bool take_name();

  std::string folder_;
  int descriptor_ = -1;
  Entry* entry_ = nullptr;  // while it has a name that is not its own
};

}  // namespace isoscope
