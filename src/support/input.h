#pragma once
// Bytes from a file or from standard input ("-"), either whole or a line at a time.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/budget.h"
#include "support/result.h"

namespace isoscope {

// The whole input. Errors name the file and the system's reason.
Result<std::string> read_whole(const std::string& path);

// Hands out the lines of an input through one buffer, so that a file larger than memory can be
// read. A line excludes its newline (and a carriage return before it) and stays valid until the
// next call.
class LineReader {
 public:
  // Reads the file at `path`, or standard input for "-".
  static Result<LineReader> open(const std::string& path);
  // Reads a text that the caller keeps alive.
  static LineReader over(std::string_view text);

  // Tells from now on how much of the file was read, each time that it reads on.
  void report_to(Progress progress);

  // The next line, or false at the end of the input or after an error of the system.
  bool next(std::string_view& line);
  // The number of the line that next() returned last, from 1.
  std::uint32_t line_number() const { return line_number_; }
  // What the system said, if reading failed half way.
  const std::string& failure() const { return failure_; }
  // Up to `count` bytes from the beginning, before any call of next(); for recognising formats.
  std::string_view peek(std::size_t count);
  // All that is still to come, for formats that are no lines.
  std::string take_rest();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const;
  };

  bool refill();

  std::unique_ptr<std::FILE, CloseFile> file_;  // null when reading a text
  std::vector<char> buffer_;
  std::string_view rest_;  // what of the buffer, or of the text, is still to come
  bool at_end_ = false;
  std::uint32_t line_number_ = 0;
  std::string failure_;
  Progress progress_;
  double bytes_read_ = 0;
  double bytes_in_all_ = 0;  // 0 if nobody knows, as of a pipe
};

}  // namespace isoscope
