#pragma once
// Random levels of one axiom, over co or over vis, ar, as text.
#include <string>
#include <vector>

#include "spec/levels.h"

namespace isoscope {

// Formulas that nobody would write: any operator anywhere.
template <class Random>  // Rng or Choices
class RandomLevel {
 public:
  RandomLevel(Random& rng, Framework framework) : rng_(rng), framework_(framework) {}

  std::string text() {
    return "level random over " + std::string(framework_ == Framework::Co ? "co" : "vis, ar") +
           "\naxiom Random: " + (rng_.chance(0.5) ? formula(3) : rule()) + "\n";
  }

 private:
  std::size_t pick(std::size_t n) { return rng_.below(n); }

  // Of the shape that most axioms have: many instances, premises that rule out most of them.
  std::string rule() {
    if (rng_.chance(0.2)) return "acyclic(" + relation(3) + " | " + relation(2) + ")";
    txns_ = {"a", "b", "c"};
    keys_ = {"x"};
    std::string text = "forall a, b, c: txn, x: key. ";
    for (std::size_t i = 0; i < 1 + pick(3); ++i)
      text += (i == 0 ? "" : " and ") + std::string(rng_.chance(0.25) ? "not " : "") + "(" +
              (rng_.chance(0.7) ? member(2) : atom()) + ")";
    return text + " implies " + (rng_.chance(0.7) ? member(1) : formula(1));
  }

  std::string member(int depth) {
    return relation(depth) + "(" + txns_[pick(txns_.size())] + ", " + txns_[pick(txns_.size())] +
           ")";
  }

  std::string relation(int depth) {
    if (depth == 0 || rng_.chance(0.3)) {
      const char* co[] = {"so", "wr",        "co",        "co",       "ww",
                          "rw", "[writers]", "[readers]", "[aborted]"};
      const char* vis[] = {"so", "wr", "vis", "vis", "ar", "ww", "rw", "[writers]", "[aborted]"};
      if (!keys_.empty() && rng_.chance(0.4)) {
        const std::string x = keys_[pick(keys_.size())];
        const std::string keyed[] = {"wr[" + x + "]", "ww[" + x + "]", "rw[" + x + "]",
                                     "[writers(" + x + ")]"};
        return keyed[pick(4)];
      }
      return framework_ == Framework::Co ? co[pick(9)] : vis[pick(9)];
    }
    const std::string left = relation(depth - 1);
    switch (pick(7)) {
      case 0: return "(" + left + " | " + relation(depth - 1) + ")";
      case 1: return "(" + left + " & " + relation(depth - 1) + ")";
      case 2: return "(" + left + " \\ " + relation(depth - 1) + ")";
      case 3: return "(" + left + " ; " + relation(depth - 1) + ")";
      case 4: return "(" + left + ")^-1";
      case 5: return "(" + left + ")+";
      default: return "(" + left + ")*";
    }
  }

  std::string formula(int depth) {
    if (depth == 0 || rng_.chance(0.15)) return atom();
    switch (pick(8)) {
      case 0: return "(not " + formula(depth - 1) + ")";
      case 1: return "(" + formula(depth - 1) + " and " + formula(depth - 1) + ")";
      case 2: return "(" + formula(depth - 1) + " or " + formula(depth - 1) + ")";
      case 3: return "(" + formula(depth - 1) + " implies " + formula(depth - 1) + ")";
      case 4: return "(" + formula(depth - 1) + " iff " + formula(depth - 1) + ")";
      default: return quantified(depth);
    }
  }

  std::string quantified(int depth) {
    const std::size_t txns = txns_.size();
    const std::size_t keys = keys_.size();
    const bool key = rng_.chance(0.3);
    const std::string name = (key ? "x" : "t") + std::to_string(++names_);
    (key ? keys_ : txns_).push_back(name);
    std::string text =
        std::string(rng_.chance(0.6) ? "(forall " : "(exists ") + name + (key ? ": key" : ": txn");
    if (!key && rng_.chance(0.5)) {
      const std::string other = "u" + std::to_string(++names_);
      txns_.push_back(other);
      text += ", " + other + ": txn";
    }
    text += ". " + formula(depth - 1) + ")";
    txns_.resize(txns);
    keys_.resize(keys);
    return text;
  }

  std::string atom() {
    if (txns_.empty() || rng_.chance(0.25)) {
      const char* statements[] = {"acyclic", "irreflexive", "transitive", "total", "empty"};
      if (rng_.chance(0.2)) return "(" + relation(2) + " subset " + relation(2) + ")";
      return std::string(statements[pick(5)]) + "(" + relation(2) + ")";
    }
    const std::string t = txns_[pick(txns_.size())];
    const std::string u = txns_[pick(txns_.size())];
    if (!keys_.empty() && rng_.chance(0.3))
      return (rng_.chance(0.5) ? "writes(" : "reads(") + t + ", " + keys_[pick(keys_.size())] + ")";
    if (rng_.chance(0.15)) return t + (rng_.chance(0.5) ? " = " : " != ") + u;
    return relation(2) + "(" + t + ", " + u + ")";
  }

  Random& rng_;
  Framework framework_;
  std::vector<std::string> txns_;
  std::vector<std::string> keys_;
  int names_ = 0;
};

}  // namespace isoscope
