#include "synth/rename.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace isoscope::synthesis {

namespace {

constexpr std::uint64_t kMaxRenamings = 50'000;

using Name = std::tuple<char, int, int, int>;

Name name_of(const Facts::Meaning& m) { return {m.relation, m.s, m.x, m.t}; }

}  // namespace

std::optional<std::uint64_t> num_renamings(const Scope& scope) {
  std::uint64_t product = 1;
  for (const int size : {scope.txns, scope.keys}) {
    for (int i = 2; i <= size; ++i) {
      product *= static_cast<std::uint64_t>(i);
      if (product > kMaxRenamings) return std::nullopt;
    }
  }
  return product;
}

void for_each_renaming(const Facts& facts, const Candidate& candidate,
                       const std::function<void(const Candidate&)>& f) {
  std::map<Name, std::size_t> index;
  std::vector<std::size_t> facts_of_it;
  for (std::size_t i = 0; i < candidate.size(); ++i) {
    index.emplace(name_of(facts.meanings()[i]), i);
    if (candidate[i]) facts_of_it.push_back(i);
  }
  std::vector<int> txn(static_cast<std::size_t>(facts.txns()));
  std::iota(txn.begin(), txn.end(), 0);
  const auto rename_element = [&](int element) {
    if (element < facts.txns()) return txn[static_cast<std::size_t>(element)];
    const int slots = facts.frame().slots;
    const int place = (element - facts.txns()) % slots;
    return facts.txns() + (txn[static_cast<std::size_t>(facts.txn_of(element))] - 1) * slots +
           place;
  };
  do {
    std::vector<int> key(static_cast<std::size_t>(facts.keys()));
    std::iota(key.begin(), key.end(), 0);
    do {
      Candidate renamed(candidate.size(), false);
      bool expressible = true;
      for (const std::size_t i : facts_of_it) {
        const Facts::Meaning& m = facts.meanings()[i];
        const bool has_key = m.relation == 'w' || m.relation == 'r';
        const int x = !has_key ? 0 : key[static_cast<std::size_t>(m.x)];
        const auto found =
            index.find(Name{m.relation, rename_element(m.s), x, rename_element(m.t)});
        expressible = found != index.end();
        if (!expressible) break;
        renamed[found->second] = true;
      }
      if (expressible) f(renamed);
    } while (std::next_permutation(key.begin(), key.end()));
  } while (std::next_permutation(txn.begin() + 1, txn.end()));
}

}  // namespace isoscope::synthesis
