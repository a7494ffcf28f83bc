#pragma once
// The command whose run is recorded.
#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"

namespace isoscope::record {

class CommandProcess {
 public:
  // Found by PATH. The environment is ours with these changes; an empty value unsets a variable.
  static Result<CommandProcess> start(
      const std::vector<std::string>& words,
      const std::vector<std::pair<std::string, std::string>>& environment);
  // Its exit code, or 128 + the signal that ended it; nothing while it runs.
  std::optional<int> exit_code();
  void send(int signal) const;

 private:
  explicit CommandProcess(pid_t pid) : pid_(pid) {}
  pid_t pid_;
  std::optional<int> exit_code_;
};

}  // namespace isoscope::record
