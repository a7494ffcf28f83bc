#pragma once
// Text to a file or to standard output ("-").
//
// What a file name means is decided by NamedFile (support/named_file.h): symbolic links are
// followed, so that an output which is a link stays one and its target is written; "-",
// /dev/stdout and /dev/fd/N are descriptors, and they, pipes and devices are written in place.
// Everything else is a regular file in some folder, and there are two ways to write it.
//
// Output::open: whole or not at all. The text goes to a temporary file in the same folder, which
// takes the name when it is closed. Until then the old file is untouched, and an error on the way
// (disk full, file too large, cancelled) leaves it as it was.
//
// Output::open_lines: for outputs that grow over minutes or hours. An empty file takes the name at
// once (a program that reads the old one keeps reading that), and each write hands whole lines to
// the system in one call. A process that is killed at any moment leaves the lines so far, whole: a
// guard (support/line_guard.h) cuts off what the kernel may have left of the last. Only if that is
// killed as well, as when a container ends, half a line may be left, which can be seen: the file
// does not end in a newline. An error of the system (disk full) also leaves whole lines.
//
// In both ways
//   - the temporary file has no name where the file system allows that (O_TMPFILE), and else one
//     that cannot be foreseen (.isoscope- and 16 digits), created exclusively. Two processes that
//     write one file do not meet: the later one wins, whole. Child processes inherit nothing;
//   - an existing file keeps its mode, and its owner where the system allows that; a new one gets
//     0666 & ~umask. A file without permission to write is not replaced;
//   - nothing is left behind. A file without a name goes away with the process, however that ends;
//     a file with a temporary name goes away with the Output, with exit(), with a failed assertion,
//     and by remove_temporaries() in a signal handler: only SIGKILL and a crash can leave it.
// Not promised: what is on the disk after a power failure (no fsync); hard links to the old file
// keep the old text.
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "support/result.h"

namespace isoscope {

// Where a printer puts its text, piece by piece.
using Sink = std::function<void(std::string_view)>;

class Output {
 public:
  static Result<Output> open(const std::string& path);
  static Result<Output> open_lines(const std::string& path);
  // What open() would complain about as far as that can be known beforehand: a folder that does
  // not exist or may not be written, a file that is a folder or may not be written.
  static Result<void> check(const std::string& path);

  Output(Output&&) noexcept;
  Output& operator=(Output&&) noexcept;
  ~Output();  // without close(), what open() wrote vanishes; lines stay

  void write(std::string_view text);
  Sink sink() {
    return [this](std::string_view text) { write(text); };
  }
  // Whether a write has failed: long work may stop then. close() says why.
  bool has_failed() const;
  // Makes the output definite. Errors of earlier writes appear here.
  Result<void> close();

 private:
  struct File;
  explicit Output(std::unique_ptr<File> file);
  static Result<Output> open_as(const std::string& path, bool lines);

  std::unique_ptr<File> file_;
};

// Opens, writes and closes in one step.
Result<void> write_whole(const std::string& path, std::string_view text);

// Deletes the temporary files of all outputs that are open, for a process that is about to end
// without unwinding. Safe in signal handlers; child processes delete nothing of their parent.
void remove_temporaries() noexcept;

}  // namespace isoscope
