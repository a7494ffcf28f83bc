#pragma once
// Random texts of programs: branches, loops, aborts, computed keys, assertions, levels.
#include <fmt/format.h>

#include <string>

#include "support/choices.h"

namespace isoscope {

class RandomProgram {
 public:
  explicit RandomProgram(Choices choices) : rng_(choices) {}

  std::string text() {
    std::string text;
    for (int i = 0; i < 3; ++i) {
      if (rng_.chance(0.5))
        text += fmt::format("init {} = {}\n", i < 2 ? pick_key(i) : "t[1]", number());
    }
    for (int i = 0; i < 2; ++i) text += fmt::format("txn f{}(p, q){} {}\n", i, level(), block(3));
    const std::uint64_t num_sessions = 1 + rng_.below(3);
    std::string claims;
    for (std::uint64_t s = 0; s < num_sessions; ++s) {
      text += fmt::format("session s{} {{\n", s);
      const std::uint64_t num_calls = rng_.below(4);
      for (std::uint64_t i = 1; i <= num_calls; ++i) {
        if (rng_.chance(0.3)) {
          // All locals of a block are assigned, so that every expression knows them.
          text += fmt::format("  {}{{ p := 1; q := 2; {}\n", level(), block(2).substr(1));
        } else {
          text += fmt::format("  f{}({}, {} - 1){}\n", rng_.below(2), number(), number(), level());
        }
        claims += fmt::format("assert s{}[{}].a {} {} || committed(s{}[{}])\n", s, i,
                              rng_.chance(0.5) ? "<" : "!=", number(), s, i);
      }
      text += "}\n";
    }
    if (text.starts_with("init x"))
      claims += fmt::format("assert final(x) {} {}\n", rng_.chance(0.5) ? "<" : "!=", number());
    return text + claims;
  }

 private:
  static std::string pick_key(int i) { return i == 0 ? "x" : "y"; }
  std::string level() {
    if (rng_.chance(0.7)) return " ";
    return rng_.chance(0.5) ? " @ser " : " @rc@co ";
  }
  std::string number() {
    switch (rng_.below(12)) {
      case 0: return "9223372036854775807";
      case 1: return "-9223372036854775808";
      case 2: return "-1";
      default: return fmt::format("{}", static_cast<std::int64_t>(rng_.below(8)) - 2);
    }
  }
  std::string local() {
    constexpr const char* kLocals[] = {"a", "b", "c", "p", "q"};
    return kLocals[rng_.below(5)];
  }
  std::string key() {
    switch (rng_.below(4)) {
      case 0: return "x";
      case 1: return "y";
      case 2: return fmt::format("t[{}]", expression(1));
      default: return fmt::format("t[{}, {} % 2]", local(), expression(1));
    }
  }
  std::string expression(int depth) {
    if (depth == 0 || rng_.chance(0.2)) return rng_.chance(0.6) ? local() : number();
    constexpr const char* kOperators[] = {"*",  "/",  "%", "+",  "-", "&",  "^",  "|",
                                          "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
    switch (rng_.below(8)) {
      case 0: return fmt::format("-({})", expression(depth - 1));
      case 1: return fmt::format("!{}", expression(0));
      case 2:
        return fmt::format("{}({}, {})", rng_.chance(0.5) ? "min" : "max", expression(depth - 1),
                           expression(depth - 1));
      case 3: return fmt::format("({})", expression(depth - 1));
      default:
        return fmt::format("{} {} {}", expression(depth - 1), kOperators[rng_.below(16)],
                           expression(depth - 1));
    }
  }
  std::string statement(int depth) {
    if (rng_.chance(0.08))
      return fmt::format("lock{}({})", rng_.chance(0.5) ? "" : "_shared", key());
    if (!in_statement_ && depth > 0 && rng_.chance(0.06)) {
      in_statement_ = true;
      const std::string body = block(depth - 1);
      in_statement_ = false;
      return "stmt " + body;
    }
    switch (rng_.below(depth > 0 ? 10 : 6)) {
      case 0:
      case 1: return fmt::format("{} := read({})", local(), key());
      case 2: return fmt::format("write({}, {})", key(), expression(2));
      case 3: return fmt::format("{} := {}", local(), expression(3));
      case 4: return fmt::format("assert({})", expression(2));
      case 5:
        return !in_statement_ && rng_.chance(0.2) ? "abort"
                                                  : fmt::format("write({}, {})", key(), local());
      case 6: return fmt::format("if ({}) {}", expression(2), block(depth - 1));
      case 7:
        return fmt::format("if ({}) {} else {}", expression(2), block(depth - 1), block(depth - 1));
      case 8:
        return fmt::format("if ({}) {}\nelse if ({}) {} else {}", expression(1), block(depth - 1),
                           expression(2), block(depth - 1), block(depth - 1));
      default:
        if (rng_.chance(0.4))
          return fmt::format(fmt::runtime(rng_.chance(0.01) ? "while ({}) at most {} {}"
                                                            : "while ({}) at most ({}) % 4 {}"),
                             expression(2), expression(1), block(depth - 1));
        // Seldom as far as it goes: a loop that does not end takes its time.
        return fmt::format(fmt::runtime(rng_.chance(0.01) ? "for {} in {}..{} {}"
                                                          : "for {} in ({}) % 3..({}) % 5 {}"),
                           local(), expression(1), expression(1), block(depth - 1));
    }
  }
  std::string block(int depth) {
    // Once a transaction, every local is assigned in a branch that is never taken.
    std::string text = depth >= 2 ? "{ if (0) { a := 0; b := 0; c := 0 }\n" : "{\n";
    const std::uint64_t size = rng_.below(5);
    for (std::uint64_t i = 0; i < size; ++i)
      text += statement(depth) + (rng_.chance(0.5) ? "\n" : "; ");
    return text + "}";
  }

  Choices rng_;
  bool in_statement_ = false;
};

}  // namespace isoscope
