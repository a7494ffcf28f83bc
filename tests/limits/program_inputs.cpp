// Hard inputs of the commands that execute programs.
#include <fmt/format.h>

#include "limits/hard_inputs.h"

namespace isoscope {
namespace {

// Sessions of one transaction each, all of which add to one key.
std::string counter(int sessions) {
  std::string out = "init x = 0\n";
  for (int i = 0; i < sessions; ++i)
    out += fmt::format("session s{} {{ {{ v := read(x); write(x, v + 1) }} }}\n", i);
  return out + "assert committed(s0[1])\n";
}

// Sessions of one long transaction each.
std::string long_transactions(int sessions, int accesses) {
  std::string out = fmt::format(
      "txn t(a) {{ for i in 1..{} {{ v := read(x[i]); write(x[i], v + a) }} }}\n", accesses);
  for (int i = 0; i < sessions; ++i) out += fmt::format("session s{} {{ t({}) }}\n", i, i);
  return out;
}

constexpr std::string_view kStrangeLevel =
    "level strange over co\n"
    "axiom A: forall a, b, c, d: txn. co(a, b) and wr(b, c) and co(c, d) implies co(a, d)\n";

HardInput::File program(std::string (*make)(int), int size) {
  return {".txn", [=] { return make(size); }};
}

}  // namespace

std::vector<HardInput> program_inputs() {
  const HardInput::File small = program(counter, 20);
  const HardInput::File large = program(counter, 128);
  const HardInput::File pair{".txn", [] { return long_transactions(2, 99'999); }};
  const HardInput::File crowd{".txn", [] { return long_transactions(60, 50'000); }};
  const HardInput::File level{".level", [] { return std::string(kStrangeLevel); }};
  return {
      {"ExploreWalks", {small}, "explore {0} --level cc"},
      {"ExploreWalksThroughLongTransactions", {crowd}, "explore {0} --level cc"},
      {"ExploreWalksOnTwoThreads", {small}, "explore {0} --level ra --threads 2"},
      {"ExploreLinearizes", {large}, "explore {0} --level ser"},
      {"ExploreLinearizesSnapshots", {large}, "explore {0} --level si"},
      {"ExploreChecksHistories", {program(counter, 60)}, "explore {0} --level psi"},
      {"ExploreFilters", {program(counter, 60)}, "explore {0} --level ser --algorithm ce"},
      {"ExploreEveryOrder", {small}, "explore {0} --level cc --algorithm dfs"},
      {"ExploreUsersLevel", {small, level}, "explore {0} --spec {1} --level strange"},
      {"ExploreOutcomes", {small}, "explore {0} --level cc --outcomes"},
      {"ExploreOutcomesOfLongTransactions",
       {{{".txn", [] { return long_transactions(4, 5'000); }}}},
       "explore {0} --level cc --outcomes"},
      {"ExploreWeakest", {small}, "explore {0} --weakest"},
      {"ExploreWritesHistories", {small}, "explore {0} --level cc --histories /dev/null"},
      {"RunWeakly", {crowd}, "run {0} --store weak --level cc"},
      {"RunWeaklyAtSerializability",
       {program(counter, 60)},
       "run {0} --store weak --level ser --runs 1000000"},
      {"RunWeaklyByChecking",
       {program(counter, 60)},
       "run {0} --store weak --level psi --runs 1000000"},
      {"RunSerially", {crowd}, "run {0} --store serial --runs 1000"},
  };
}

}  // namespace isoscope
