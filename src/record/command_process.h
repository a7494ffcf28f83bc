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
  struct Options {
    // It and what it starts are a group of their own, which signals reach as a whole, and it ends
    // when we are killed. Otherwise it shares our terminal.
    bool has_own_group = false;
    // The file, open, that takes what it prints and complains about; -1: as ours.
    int output = -1;
  };
  // Found by PATH. The environment is ours with these changes; an empty value unsets a variable.
  static Result<CommandProcess> start(
      const std::vector<std::string>& words,
      const std::vector<std::pair<std::string, std::string>>& environment, Options options);
  static Result<CommandProcess> start(
      const std::vector<std::string>& words,
      const std::vector<std::pair<std::string, std::string>>& environment) {
    return start(words, environment, Options{.has_own_group = false, .output = -1});
  }
  // Its exit code, or 128 + the signal that ended it; nothing while it runs.
  std::optional<int> exit_code();
  // To the process; to its group if it has one of its own, also when the process itself has ended.
  void send(int signal) const;

 private:
  CommandProcess(pid_t pid, bool has_own_group) : pid_(pid), has_own_group_(has_own_group) {}
  pid_t pid_;
  bool has_own_group_;
  std::optional<int> exit_code_;
};

}  // namespace isoscope::record
