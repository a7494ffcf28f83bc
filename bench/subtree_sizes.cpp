// The tree of an exploration at a weak level, with the number of histories below each choice: what
// bench/scale_table.py simulates many workers on.
//
//     subtree_sizes PROGRAM.txn cc 50 > tree.txt
//
// A line is a choice whose subtree is closed: its depth, the histories below it that are in no
// line of a deeper choice, and all below it. Subtrees with fewer histories than the last argument
// have no line of their own. One thread comes to histories in the order of their paths, so a stack
// is enough.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "explore/explore_ce.h"
#include "program/program.h"
#include "store/txn_set.h"

namespace isoscope::explore {
namespace {

using Set = TxnSet<1>;

class Sizes final : public EndStates<Set> {
 public:
  explicit Sizes(std::uint64_t smallest) : smallest_(smallest), open_(1) {}

  void on_end_state(const EndState<Set>& end) override {
    std::size_t common = 0;
    while (common < path_.size() && common < end.path.size() && path_[common] == end.path[common])
      ++common;
    close(common);
    path_ = end.path;
    open_.resize(path_.size() + 1);
    ++open_.back().own;
    ++open_.back().all;
  }
  // Closes all choices deeper than `depth`.
  void close(std::size_t depth) {
    while (open_.size() > depth + 1) {
      const Open closed = open_.back();
      open_.pop_back();
      open_.back().all += closed.all;
      if (closed.all < smallest_) {
        open_.back().own += closed.all;
      } else {
        std::printf("%zu %llu %llu\n", open_.size(), static_cast<unsigned long long>(closed.own),
                    static_cast<unsigned long long>(closed.all));
      }
    }
  }
  void finish() {
    close(0);
    std::printf("0 %llu %llu\n", static_cast<unsigned long long>(open_[0].own),
                static_cast<unsigned long long>(open_[0].all));
  }

 private:
  struct Open {
    std::uint64_t own = 0;
    std::uint64_t all = 0;
  };
  std::uint64_t smallest_;
  Path path_;
  std::vector<Open> open_;
};

int print_sizes(const char* path, const std::string& level, std::uint64_t smallest) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  const auto program = parse_program(text.str());
  if (!program || program->outline().calls.size() > Set::kCapacity) return 2;
  const WeakLevel weak = level == "rc"   ? WeakLevel::Rc
                         : level == "ra" ? WeakLevel::Ra
                                         : WeakLevel::Cc;
  Rules rules{.weak = ById<CallId, WeakLevel>(program->outline().calls.size(), weak)};
  Control control{Budget{}};
  Sizes sizes(smallest);
  ExploreCe<Set>(*program, rules, sizes, control).run(ExploreCe<Set>::root());
  sizes.finish();
  return 0;
}

}  // namespace
}  // namespace isoscope::explore

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: subtree_sizes PROGRAM.txn rc|ra|cc SMALLEST\n", stderr);
    return 2;
  }
  return isoscope::explore::print_sizes(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10));
}
