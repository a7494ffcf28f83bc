// Hard inputs of the commands that read or make histories.
#include <fmt/format.h>

#include "limits/hard_inputs.h"

namespace isoscope {
namespace {

// Sessions that take turns: each transaction reads `reads` keys and then writes `writes` of them,
// all keys in a row from its own number on. Serial, and as plume's text.
std::string serial_history(int sessions, int txns, int keys, int reads, int writes) {
  std::string out;
  std::vector<int> last(static_cast<std::size_t>(keys), 0);
  int value = 0;
  for (int t = 0; t < txns; ++t) {
    const auto line = [&](char kind, int key, int what) {
      out += fmt::format("{}({},{},{},{})\n", kind, key, what, t % sessions, t + 1);
    };
    for (int i = 0; i < reads; ++i) {
      const int key = (t * 7 + i) % keys;
      line('r', key, last[static_cast<std::size_t>(key)]);
    }
    for (int i = 0; i < writes; ++i) {
      const int key = (t * 7 + i) % keys;
      line('w', key, last[static_cast<std::size_t>(key)] = ++value);
    }
  }
  return out;
}

constexpr std::string_view kPathLevel =
    "level path over co\n"
    "axiom A: forall a, b, c, d, e: txn.\n"
    "    co(a, b) and co(b, c) and co(c, d) and co(d, e) implies co(a, e)\n";

}  // namespace

std::vector<HardInput> history_inputs() {
  const HardInput::File path_level{".level", [] { return std::string(kPathLevel); }};
  return {
      {.name = "CheckGroundsALevel",
       .files = {{".txt", [] { return serial_history(20, 1000, 10, 3, 2); }}, path_level},
       .arguments = "check {0} --spec {1} --level path"},
  };
}

}  // namespace isoscope
