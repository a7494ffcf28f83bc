#pragma once
// A file that has no name of its own yet: it is renamed to its place, or goes away.
//
// The files that are still temporary stand in a list that remove_temporaries() of output.h walks
// through, also from a signal handler. Therefore entries are never freed, only used again, and an
// entry counts only while its flag is set.
#include <sys/stat.h>

#include <string>

namespace isoscope {

class TemporaryFile {
 public:
  // Creates a file that did not exist, with the mode that new files have for this user, or with
  // the mode and owner of `like`. None, and errno, if that is impossible.
  static TemporaryFile create(const std::string& folder, const struct stat* like);

  TemporaryFile() = default;  // none
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  ~TemporaryFile() { remove(); }

  bool exists() const { return entry_ != nullptr; }
  // The descriptor, once: the caller closes it.
  int take_descriptor();
  // Gives the file its name, replacing what has it; false and errno if that is impossible.
  bool rename_to(const std::string& path);
  void remove();

  struct Entry;

 private:
  Entry* entry_ = nullptr;
  int descriptor_ = -1;
};

}  // namespace isoscope
