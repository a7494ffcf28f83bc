#pragma once
// What a file name stands for, however it is spelled: a place in a folder, or a descriptor that is
// open already.
//
// Relative paths and symbolic links are resolved, also links whose target does not exist yet. "-",
// /dev/stdin, /dev/stdout, /dev/fd/N and what leads to them mean a descriptor: opening them again
// would start at the beginning of a redirected file, and replacing them would not reach it.
//
//     auto a = NamedFile::resolve("run.hist", FileUse::Read);
//     auto b = NamedFile::resolve("./link-to-run.hist", FileUse::Write);
//     if (a && b && a->is_same_as(*b)) …
#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "support/result.h"

namespace isoscope {

enum class FileUse : std::uint8_t { Read, Write };

class NamedFile {
 public:
  // "-" is standard input or output, by its use. An error if the folder of the file cannot be
  // reached; a file that does not exist in it is none.
  static Result<NamedFile> resolve(const std::string& path, FileUse use);

  // An absolute path without symbolic links; empty for descriptors.
  const std::string& path() const { return path_; }
  std::string folder() const;
  // The descriptor, or -1 for a path.
  int descriptor() const { return descriptor_; }
  bool exists() const { return exists_; }
  const struct stat& info() const { return info_; }  // Requires: exists()

  bool is_regular() const { return exists_ && S_ISREG(info_.st_mode); }
  bool is_folder() const { return exists_ && S_ISDIR(info_.st_mode); }

  // Whether both are one descriptor, one file or pipe (also by hard links), or one name of a file
  // that does not exist yet. Terminals and devices such as /dev/null may be used several times.
  bool is_same_as(const NamedFile& other) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  bool exists_ = false;
  struct stat info_ = {};
};

// What the system says about a file that cannot be used: "cannot write: Permission denied".
Error file_error(const std::string& path, FileUse use, int error_number);

}  // namespace isoscope
