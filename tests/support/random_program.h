#pragma once
// Random small programs for differential tests: branches, loops, aborts, computed keys, levels.
//
// Every program parses, ends and never overflows: values are kept below 8 by `% 8`, so that
// different transactions often write the same value and reads have to say whom they read from.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/rng.h"

namespace isoscope {

struct ProgramShape {
  int sessions = 3;   // 1 … sessions
  int max_calls = 4;  // 1 … max_calls in all
  int max_statements = 4;
  double writes = 0.45;
  double aborts = 0.1;                   // share of blocks that may abort
  double claims = 0.5;                   // share of programs with an assertion about the end
  double retries = 0;                    // share of calls that are run again after an abort
  std::vector<std::string> levels = {};  // if any: a transaction may get one of its own
};

template <class Random>
class SmallProgram {
 public:
  SmallProgram(Random& rng, const ProgramShape& shape) : rng_(rng), shape_(shape) {}

  std::string text() {
    std::string text;
    if (rng_.chance(0.5)) text += fmt::format("init x = {}\n", rng_.below(4));
    if (rng_.chance(0.3)) text += fmt::format("init t[1] = {}\n", rng_.below(4));
    text += fmt::format("txn f(p){} {}\n", level(), body());
    const int calls = up_to(shape_.max_calls);
    const int sessions = std::min(calls, up_to(shape_.sessions));
    std::vector<std::string> of_session(static_cast<std::size_t>(sessions));
    for (int i = 0; i < calls; ++i) {
      std::string& session =
          of_session[i < sessions ? static_cast<std::size_t>(i)
                                  : rng_.below(static_cast<std::uint64_t>(sessions))];
      session += rng_.chance(0.4)
                     ? fmt::format("  f({}){}{}\n", rng_.below(4), level(), retry())
                     : fmt::format("  {}{{ p := {}\n{}\n", level(), rng_.below(4), rest());
    }
    for (int s = 0; s < sessions; ++s)
      text += fmt::format("session s{} {{\n{}}}\n", s + 1, of_session[static_cast<std::size_t>(s)]);
    if (rng_.chance(shape_.claims))
      text += fmt::format("assert s1[1].a < {} || !committed(s1[1])\n", rng_.below(5));
    return text;
  }

 private:
  int up_to(int n) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(n))) + 1; }
  std::string level() {
    if (shape_.levels.empty() || rng_.chance(0.5)) return " ";
    return fmt::format(" @{} ", shape_.levels[rng_.below(shape_.levels.size())]);
  }
  std::string retry() {
    if (shape_.retries == 0 || !rng_.chance(shape_.retries)) return "";
    return fmt::format(" retry {}", up_to(2));
  }
  std::string local() {
    constexpr const char* kLocals[] = {"a", "b", "p"};
    return kLocals[rng_.below(3)];
  }
  std::string key() {
    switch (rng_.below(5)) {
      case 0:
      case 1: return "x";
      case 2: return "y";
      case 3: return "t[1]";
      default: return fmt::format("t[{} % 2]", local());
    }
  }
  std::string condition() {
    return fmt::format("{} {} {}", local(), rng_.chance(0.5) ? "<" : "==", rng_.below(4));
  }
  std::string access() {
    if (!rng_.chance(shape_.writes))
      return fmt::format("{} := read({})", rng_.chance(0.7) ? "a" : "b", key());
    return fmt::format("write({}, ({} + {}) % 8)", key(), local(), rng_.below(4));
  }
  std::string statement() {
    switch (rng_.below(8)) {
      case 0: return fmt::format("if ({}) {{ {} }}", condition(), access());
      case 1: return fmt::format("if ({}) {{ {} }} else {{ {} }}", condition(), access(), access());
      case 2: return fmt::format("for i in 0..{} % 2 {{ b := read(t[i]) }}", local());
      case 3: return rng_.chance(0.3) ? fmt::format("assert({})", condition()) : access();
      default: return access();
    }
  }
  // Statements and the closing brace. Locals are known before anybody uses them.
  std::string rest() {
    std::string text = "    a := 0; b := 0\n";
    const int size = up_to(shape_.max_statements);
    for (int i = 0; i < size; ++i) text += "    " + statement() + "\n";
    if (rng_.chance(shape_.aborts)) text += fmt::format("    if ({}) {{ abort }}\n", condition());
    return text + "  }";
  }
  std::string body() { return "{\n" + rest(); }

  Random& rng_;
  const ProgramShape& shape_;
};

// `Random` is Rng or Choices.
template <class Random>
std::string random_program(Random& rng, const ProgramShape& shape) {
  return SmallProgram(rng, shape).text();
}

}  // namespace isoscope
