#pragma once
// Random axioms over co, as text; with more parentheses than needed.
#include <fmt/format.h>

#include <string>

#include "support/choices.h"

namespace isoscope {

class RandomAxiom {
 public:
  explicit RandomAxiom(Choices choices, int depth = 5) : rng_(choices), depth_(depth) {}

  std::string text() {
    return fmt::format("{} x: key, t, u: txn, r, s: read. {}",
                       rng_.chance(0.7) ? "forall" : "exists", formula(depth_));
  }

 private:
  std::string formula(int depth) {
    if (depth == 0 || rng_.chance(0.2)) return atom(depth);
    const char* connectives[] = {"and", "or", "implies", "iff"};
    switch (rng_.below(4)) {
      case 0: return fmt::format("not ({})", formula(depth - 1));
      case 1: {
        const std::string name = fmt::format("v{}", names_++);
        return fmt::format("({} {}: txn. so(t, {}) {} ({}))",
                           rng_.chance(0.5) ? "forall" : "exists", name, name,
                           connectives[rng_.below(4)], formula(depth - 1));
      }
      default:
        return fmt::format("({}) {} ({})", formula(depth - 1), connectives[rng_.below(4)],
                           formula(depth - 1));
    }
  }

  std::string atom(int depth) {
    switch (rng_.below(10)) {
      case 0: return "t = u";
      case 1: return "r != s";
      case 2: return "writes(t, x)";
      case 3: return "reads(u, x)";
      case 4: return "(po | wr^-1 ; co ; wr)(r, s)";
      case 5: return fmt::format("({})(t, u)", relation(depth));
      case 6: return fmt::format("(wr[x] | so ; wr)(t, {})", rng_.chance(0.5) ? "u" : "r");
      case 7: return fmt::format("({}) subset ({})", relation(depth), relation(depth));
      default: {
        const char* statements[] = {"acyclic", "irreflexive", "transitive", "total", "empty"};
        return fmt::format("{}({})", statements[rng_.below(5)], relation(depth));
      }
    }
  }

  std::string relation(int depth) {
    const char* leaves[] = {"so", "wr",    "co",           "wr[x]",     "ww[x]",    "rw",
                            "ww", "rw[x]", "[writers(x)]", "[readers]", "[aborted]"};
    if (depth <= 0 || rng_.chance(0.2)) return leaves[rng_.below(11)];
    const char* signs[] = {"|", "&", "\\", ";"};
    const char* postfix[] = {"+", "*", "^-1"};
    if (rng_.chance(0.3)) return fmt::format("({}){}", relation(depth - 1), postfix[rng_.below(3)]);
    return fmt::format("({}) {} ({})", relation(depth - 1), signs[rng_.below(4)],
                       relation(depth - 1));
  }

  Choices rng_;
  int depth_;
  int names_ = 0;
};

}  // namespace isoscope
