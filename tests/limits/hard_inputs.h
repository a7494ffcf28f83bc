#pragma once
// Inputs that keep a command busy for far longer than a second, each in one phase of its work:
// reading, building formulas, searching, confirming, minimizing, printing.
//
// hard_inputs_test.cpp runs every row with `--timeout 1`, once for people and once with --json: the
// command must answer `unknown`, name the time limit and exit with 3 soon after that second,
// whatever it is doing, and without the watch having to end it. A new engine, or a new phase of
// one, gets a row.
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace isoscope {

struct HardInput {
  // A file that the row needs: the ending of its name, and who makes its content.
  struct File {
    std::string ending;
    std::function<std::string()> content;
  };

  std::string name;  // CamelCase: the command, then the phase
  std::vector<File> files;
  std::string arguments;  // {0}, {1}, …: the paths of the files
  // What was found before the limit stays found: a violation that could only be told shorter.
  int exit_code = 3;
  std::string says = "unknown";
};

// What a failing test shows of a row.
inline void PrintTo(const HardInput& row, std::ostream* out) { *out << row.name; }

// History in, answer out: check, convert, stats, predict, generate.
std::vector<HardInput> history_inputs();
// Explorations and runs of programs.
std::vector<HardInput> program_inputs();
// Audits, and explorations and runs of SQL programs.
std::vector<HardInput> sql_inputs();
// Searches for histories: synth, compare.
std::vector<HardInput> level_inputs();

}  // namespace isoscope
