#pragma once
// Runs the built program as a user would, for tests of the command line.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "support/paths.h"

namespace isoscope {

struct Ran {
  int exit_code = -1;
  std::string out;
  std::string err;
};

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// `command` is a command of the shell; `input` goes to standard input.
inline Ran run_shell(const std::string& command, const std::string& input = {}) {
  static int runs = 0;
  const std::string base =
      (std::filesystem::temp_directory_path() /
       ("isoscope-cli-" + std::to_string(::getpid()) + "-" + std::to_string(++runs)))
          .string();
  std::ofstream(base + ".in", std::ios::binary) << input;
  const std::string redirected = command + " <" + base + ".in >" + base + ".out 2>" + base + ".err";
  const int status = std::system(redirected.c_str());
  Ran ran{WIFEXITED(status) ? WEXITSTATUS(status) : -1, slurp(base + ".out"), slurp(base + ".err")};
  for (const char* ending : {".in", ".out", ".err"}) std::filesystem::remove(base + ending);
  return ran;
}

// `arguments` is a piece of shell; `input` goes to standard input.
inline Ran run_isoscope(const std::string& arguments, const std::string& input = {}) {
  return run_shell(isoscope_binary() + " " + arguments, input);
}

// The same in a folder, after `setup` (more shell, such as "ulimit -f 1;").
inline Ran run_isoscope_in(const std::string& folder, const std::string& arguments,
                           const std::string& input = {}, const std::string& setup = {}) {
  return run_shell(
      "{ cd " + folder + "; " + setup + " " + isoscope_binary() + " " + arguments + "; }", input);
}

// A file that goes away with the test.
class TempFile {
 public:
  explicit TempFile(const std::string& ending)
      : path_((std::filesystem::temp_directory_path() /
               ("isoscope-file-" + std::to_string(::getpid()) + "-" + std::to_string(++count_) +
                ending))
                  .string()) {}
  ~TempFile() { std::filesystem::remove(path_); }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  static inline int count_ = 0;
  std::string path_;
};

}  // namespace isoscope
