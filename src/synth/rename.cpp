#include "synth/rename.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace isoscope::synthesis {

namespace {

constexpr std::uint64_t kMaxRenamings = 50'000;

using Name = std::tuple<FactKind, int, int, int>;

Name name_of(const Facts::Meaning& m) { return {m.kind, m.s, m.x, m.t}; }

bool is_claim(FactKind kind) {
  return kind == FactKind::Update || kind == FactKind::Insert || kind == FactKind::Lock ||
         kind == FactKind::Share;
}
bool is_keyless(FactKind kind) {
  return kind == FactKind::So || kind == FactKind::Aborted || kind == FactKind::RealTime ||
         kind == FactKind::Joined;
}

// Renamed keys may have left the order that synth/facts.h demands of the claims, and of the reads
// of own writes, of a statement. Puts them in order: of the slots of one statement, those of a kind
// exchange what they hold.
void sort_statements(const Facts& facts, std::vector<Name>& names) {
  std::vector<bool> joined(static_cast<std::size_t>(facts.carrier()), false);
  for (const Name& name : names) {
    if (std::get<0>(name) == FactKind::Joined)
      joined[static_cast<std::size_t>(std::get<1>(name))] = true;
  }
  for (const bool claims : {true, false}) {
    std::vector<Name*> in_order;  // of one kind, by slot
    for (Name& name : names) {
      const FactKind kind = std::get<0>(name);
      if (claims ? is_claim(kind) : kind == FactKind::OwnRead) in_order.push_back(&name);
    }
    std::sort(in_order.begin(), in_order.end(),
              [](const Name* a, const Name* b) { return std::get<1>(*a) < std::get<1>(*b); });
    for (auto first = in_order.begin(); first != in_order.end();) {
      // Neighbours of one kind are in one statement if each slot but the first is joined.
      auto end = first + 1;
      while (end != in_order.end() && std::get<1>(**end) == std::get<1>(**(end - 1)) + 1 &&
             joined[static_cast<std::size_t>(std::get<1>(**end))])
        ++end;
      std::vector<std::pair<int, FactKind>> held;
      for (auto it = first; it != end; ++it)
        held.emplace_back(std::get<2>(**it), std::get<0>(**it));
      std::sort(held.begin(), held.end());
      for (auto it = first; it != end; ++it) {
        const auto& [x, kind] = held[static_cast<std::size_t>(it - first)];
        std::get<0>(**it) = kind;
        std::get<2>(**it) = x;
      }
      first = end;
    }
  }
}

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
  std::vector<Name> names;
  do {
    std::vector<int> key(static_cast<std::size_t>(facts.keys()));
    std::iota(key.begin(), key.end(), 0);
    do {
      Candidate renamed(candidate.size(), false);
      bool expressible = true;
      names.clear();
      for (const std::size_t i : facts_of_it) {
        const Facts::Meaning& m = facts.meanings()[i];
        const int x = is_keyless(m.kind) ? 0 : key[static_cast<std::size_t>(m.x)];
        names.emplace_back(m.kind, rename_element(m.s), x, rename_element(m.t));
      }
      if (facts.frame().statements) sort_statements(facts, names);
      for (const Name& name : names) {
        const auto found = index.find(name);
        expressible = found != index.end();
        if (!expressible) break;
        renamed[found->second] = true;
      }
      if (expressible) f(renamed);
    } while (std::next_permutation(key.begin(), key.end()));
  } while (std::next_permutation(txn.begin() + 1, txn.end()));
}

}  // namespace isoscope::synthesis
