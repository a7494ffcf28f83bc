#pragma once
// Random .txn programs with locks and statements: branches inside of them, computed keys, several
// keys in one statement, aborts and retries.
#include <fmt/format.h>

#include <string>

#include "support/rng.h"

namespace isoscope {

class RandomStmts {
 public:
  explicit RandomStmts(Rng& rng) : rng_(rng) {}

  std::string text() {
    std::string text = rng_.chance(0.5) ? "init x = 1\n" : "";
    const std::uint64_t sessions = 2 + rng_.below(2);
    for (std::uint64_t s = 0; s < sessions; ++s) {
      const std::uint64_t calls = sessions == 2 && rng_.chance(0.3) ? 2 : 1;
      std::string entries;
      for (std::uint64_t c = 0; c < calls; ++c) {
        text += fmt::format("txn f{}{}() {{\n  a := 0; b := 0\n", s, c);
        const std::uint64_t statements = 1 + rng_.below(3);
        for (std::uint64_t i = 0; i < statements; ++i) text += "  " + statement() + "\n";
        text += "}\n";
        entries += fmt::format(" f{}{}(){}\n", s, c, rng_.chance(0.15) ? " retry 1" : "");
      }
      text += fmt::format("session s{} {{\n{}}}\n", s, entries);
    }
    return text;
  }

 private:
  std::string key() {
    switch (rng_.below(4)) {
      case 0: return "x";
      case 1: return "y";
      case 2: return fmt::format("t[{}]", rng_.below(2));
      default: return "t[a % 2]";
    }
  }
  std::string local() { return rng_.chance(0.5) ? "a" : "b"; }
  std::string expression() {
    switch (rng_.below(3)) {
      case 0: return fmt::format("{}", ++next_);
      case 1: return local() + " + 1";
      default: return fmt::format("a % 10 * 10 + {}", ++next_ % 10);
    }
  }
  std::string access() {
    switch (rng_.below(6)) {
      case 0:
      case 1: return fmt::format("{} := read({})", local(), key());
      case 2:
      case 3: return fmt::format("write({}, {})", key(), expression());
      case 4: return fmt::format("lock({})", key());
      default: return fmt::format("lock_shared({})", key());
    }
  }
  std::string block() {
    std::string text = "stmt { " + access();
    const std::uint64_t size = rng_.below(3);
    for (std::uint64_t i = 0; i < size; ++i) {
      if (rng_.chance(0.3)) {
        text += fmt::format("; if ({} % 2 == {}) {{ {} }} else {{ {} }}", local(), rng_.below(2),
                            access(), access());
      } else {
        text += "; " + access();
      }
    }
    return text + " }";
  }
  std::string statement() {
    switch (rng_.below(8)) {
      case 0:
      case 1:
      case 2: return access();
      case 3: return fmt::format("if ({} % 3 == 1) {{ abort }}", local());
      default: return block();
    }
  }

  Rng& rng_;
  int next_ = 0;
};

inline std::string random_stmts(Rng& rng) { return RandomStmts(rng).text(); }

}  // namespace isoscope
