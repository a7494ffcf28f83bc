#pragma once
// Text to a file or to standard output ("-"): whole or not at all.
//
// A file is written beside its name and takes the name when it is closed, so that an error half
// way neither leaves half a file nor destroys what was there.
#include <cstdio>
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
  Output(Output&&) noexcept = default;
  Output& operator=(Output&&) noexcept = default;
  ~Output();  // without close(), what was written vanishes

  void write(std::string_view text);
  Sink sink() {
    return [this](std::string_view text) { write(text); };
  }
  // Makes the output definite. Errors of earlier writes appear here.
  Result<void> close();

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const;
  };
  Output() = default;

  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string path_;
  std::string temporary_;  // empty when written in place: standard output, pipes and devices
  bool failed_ = false;
};

// Opens, writes and closes in one step.
Result<void> write_whole(const std::string& path, std::string_view text);

}  // namespace isoscope
