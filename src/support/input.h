#pragma once
// Bytes from a file or from standard input ("-"), either whole or a line at a time.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/budget.h"
#include "support/result.h"

namespace isoscope {

// The whole input. Errors name the file and the system's reason. A pipe that does not deliver is
// awaited only within the budget; the error then is a limit_error.
Result<std::string> read_whole(const std::string& path, Budget budget = {});

// An open file or standard input. Compressed files and byte order marks are decoded on the way
// (support/decoding.h).
class InputFile {
 public:
  InputFile();
  static Result<InputFile> open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  bool is_open() const { return source_ != nullptr; }
  // Bytes on disk in all, or 0 if not known, as of a pipe; and how many of them were read.
  std::size_t size() const;
  std::size_t taken() const;
  // Reads up to `room` bytes of the text; 0 at the end. Waits for a pipe no longer than the budget.
  // Requires: room is at least kBytesThatTell in the first call.
  Result<std::size_t> read(char* buffer, std::size_t room, Budget& budget);

 private:
  struct Source;
  std::unique_ptr<Source> source_;
};

// Hands out the lines of an input through one buffer, so that a file larger than memory can be
// read. A line excludes its newline (and a carriage return before it) and stays valid until the
// next call.
class LineReader {
 public:
  // Reads the file at `path`, or standard input for "-".
  static Result<LineReader> open(const std::string& path, Budget budget = {});
  // Reads a text that the caller keeps alive.
  static LineReader over(std::string_view text);

  // Reports from now on how much of the file was read, each time that it reads on.
  void report_to(Progress progress);

  // The next line, or false at the end of the input or after an error of the system.
  bool next(std::string_view& line);
  // The number of the line that next() returned last, from 1.
  std::uint32_t line_number() const { return line_number_; }
  // What it was opened with: for readers that have more to do than to read.
  Budget& budget() { return budget_; }
  // Whether that line ended with the input, without a newline.
  bool is_cut() const { return is_cut_; }
  // What ended the reading half way, if something did: the system, or the budget.
  const std::optional<Error>& failure() const { return failure_; }
  // Up to `count` bytes from the beginning, before any call of next(); for recognising formats.
  std::string_view peek(std::size_t count);
  // All that is still to come, for formats that are no lines.
  std::string take_rest();

 private:
  bool refill();

  InputFile file_;  // closed when reading a text
  Budget budget_;
  std::vector<char> buffer_;
  std::string_view rest_;  // what of the buffer, or of the text, is still to come
  bool at_end_ = false;
  std::uint32_t line_number_ = 0;
  bool is_cut_ = false;
  std::optional<Error> failure_;
  Progress progress_;
  double bytes_in_all_ = 0;  // 0 if not known, as of a pipe
};

}  // namespace isoscope
