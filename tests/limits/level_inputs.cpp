// Hard inputs of the commands that search for histories: synth and compare.
#include "limits/hard_inputs.h"

namespace isoscope {
namespace {

// Levels whose axioms take long to ground, to solve and to prove something about.
constexpr std::string_view kHardLevels =
    "level paths over co\n"
    "axiom A: forall x, y: key, a, b, c, d, e: txn.\n"
    "    wr[x](a, b) and wr[y](c, d) and writes(e, x) and writes(e, y) and a != e and c != e and\n"
    "    ((so | wr | co)+ ; (so | co)* ; wr+)(e, b) implies co(e, a) or co(e, c)\n"
    "level walks over vis, ar\n"
    "axiom A: forall a, b, c, d, e, f, g, h, i: txn. vis(a, b) and ar(b, c) and vis(c, d) and\n"
    "    ar(d, e) and vis(e, f) and ar(f, g) and vis(g, h) and ar(h, i)\n"
    "    implies vis(a, i) or vis(b, f) or vis(c, h)\n"
    "axiom B: acyclic((vis \\ so) | (ar ; vis^-1 ; ar))\n";

}  // namespace

std::vector<HardInput> level_inputs() {
  const HardInput::File hard{".level", [] { return std::string(kHardLevels); }};
  return {
      {"SynthSearches", {}, "synth --allow ser --forbid si --most-txns 40"},
      {"SynthGrows", {hard}, "synth --spec {0} --allow si --forbid paths,walks --most-txns 20"},
      {"SynthCounts", {}, "synth --allow si --forbid ser --count --txns 4 --keys 4"},
      {"CompareSeparates", {hard}, "compare --spec {0} paths walks --txns 12"},
      {"CompareAll",
       {hard},
       "compare --spec {0} --matrix rc ra cc pc psi si ser update-ser paths walks --txns 8"},
  };
}

}  // namespace isoscope
