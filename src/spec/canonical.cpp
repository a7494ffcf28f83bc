#include "spec/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "spec/print.h"

namespace isoscope {

namespace {

// The same tree with other names for its variables, as `rename` says; it sees them in the order of
// the text, those of a quantifier after its body.
template <class Rename>
class Renaming {
 public:
  explicit Renaming(Rename rename) : rename_(std::move(rename)) {}

  FormulaPtr operator()(const Formula& f) {
    Formula copy = f;
    if (copy.a) rename_(*copy.a);
    if (copy.b) rename_(*copy.b);
    if (f.relation != nullptr) copy.relation = (*this)(*f.relation);
    if (f.other != nullptr) copy.other = (*this)(*f.other);
    if (f.left != nullptr) copy.left = (*this)(*f.left);
    if (f.right != nullptr) copy.right = (*this)(*f.right);
    for (Variable& v : copy.variables) rename_(v);
    std::sort(copy.variables.begin(), copy.variables.end(),
              [](const Variable& v, const Variable& w) {
                return std::pair(v.name.size(), v.name) < std::pair(w.name.size(), w.name);
              });
    return std::make_shared<const Formula>(std::move(copy));
  }

  RelationPtr operator()(const RelationExpr& r) {
    RelationExpr copy = r;
    if (copy.key) rename_(*copy.key);
    if (r.left != nullptr) copy.left = (*this)(*r.left);
    if (r.right != nullptr) copy.right = (*this)(*r.right);
    return std::make_shared<const RelationExpr>(std::move(copy));
  }

 private:
  Rename rename_;
};

// What is known so far of the place that each variable has in the formula, by slot: variables of
// different colours have different places, whatever they are called.
using Colours = std::map<int, int>;

template <class Tree>
std::set<int> slots_in(const Tree& tree) {
  std::set<int> slots;
  Renaming([&](Variable& v) { slots.insert(v.slot); })(tree);
  return slots;
}

// What a part says with its variables named by their colours.
template <class Tree>
std::string shape_of(const Tree& tree, const Colours& colours) {
  return print(
      *Renaming([&](Variable& v) { v.name = fmt::format("c{}", colours.at(v.slot)); })(tree));
}

bool is_joined(const RelationExpr& r) {
  return r.op == RelationOp::Union || r.op == RelationOp::Intersection;
}
bool is_joined(const Formula& f) { return f.op == FormulaOp::And || f.op == FormulaOp::Or; }

// Puts the operands of what commutes into an order that the colours decide, as far as they do; the
// others stay as written.
class Arranger {
 public:
  explicit Arranger(const Colours& colours) : colours_(colours) {}

  template <class Tree>
  std::shared_ptr<const Tree> operator()(const Tree& tree) const {
    if (is_joined(tree)) return arranged_chain(tree);
    Tree copy = tree;
    if constexpr (std::is_same_v<Tree, Formula>) {
      if (tree.relation != nullptr) copy.relation = (*this)(*tree.relation);
      if (tree.other != nullptr) copy.other = (*this)(*tree.other);
      if (tree.op == FormulaOp::Equal && colours_.at(tree.b->slot) < colours_.at(tree.a->slot))
        std::swap(copy.a, copy.b);
    }
    if (tree.left != nullptr) copy.left = (*this)(*tree.left);
    if (tree.right != nullptr) copy.right = (*this)(*tree.right);
    return std::make_shared<const Tree>(std::move(copy));
  }

 private:
  // The operands of a chain of one operator, which may be long but not deep otherwise.
  template <class Tree>
  std::shared_ptr<const Tree> arranged_chain(const Tree& tree) const {
    std::vector<std::shared_ptr<const Tree>> parts;
    std::vector<const Tree*> open = {&tree};
    while (!open.empty()) {
      const Tree* next = open.back();
      open.pop_back();
      if (next->op == tree.op) {
        open.push_back(next->right.get());
        open.push_back(next->left.get());
      } else {
        parts.push_back((*this)(*next));
      }
    }
    return join_sorted(tree, std::move(parts));
  }

  // `joined` are the operands, each arranged already.
  template <class Tree>
  std::shared_ptr<const Tree> join_sorted(const Tree& whole,
                                          std::vector<std::shared_ptr<const Tree>> joined) const {
    std::vector<std::pair<std::string, std::shared_ptr<const Tree>>> parts;
    for (auto& part : joined) parts.emplace_back(shape_of(*part, colours_), std::move(part));
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::shared_ptr<const Tree> all = parts.front().second;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      Tree next = whole;
      next.left = std::move(all);
      next.right = parts[i].second;
      all = std::make_shared<const Tree>(std::move(next));
    }
    return all;
  }

  const Colours& colours_;
};

// Where each variable occurs: the atoms, as the colours tell them, and the way from the root to
// them, on which operands of what commutes have no side.
using Sights = std::map<int, std::multiset<std::string>>;

void look(const Formula& f, const std::string& way, const Colours& colours, Sights& sights) {
  const std::string here = way + static_cast<char>('a' + static_cast<int>(f.op));
  for (const Variable& v : f.variables)
    sights[v.slot].insert(fmt::format("{} {}", here, static_cast<int>(v.sort)));
  if (f.left == nullptr) {
    for (const int slot : slots_in(f)) {
      Colours with_own = colours;
      with_own[slot] = -1;
      sights[slot].insert(here + " " + shape_of(*Arranger(with_own)(f), with_own));
    }
    return;
  }
  const auto go_on = [&](const FormulaPtr& part, const char* side) {
    if (part == nullptr) return;
    const bool is_same_chain = is_joined(f) && part->op == f.op;
    look(*part, is_same_chain ? way : here + (is_joined(f) ? "" : side), colours, sights);
  };
  go_on(f.left, "<");
  go_on(f.right, ">");
}

std::size_t num_atoms(const Formula& f) {
  if (f.left == nullptr) return 1;
  return num_atoms(*f.left) + (f.right == nullptr ? 0 : num_atoms(*f.right));
}

// Tells variables apart by where they occur, and again by the colours of those that occur with
// them, until that tells no more apart. Nothing here depends on names or on the order as written.
Colours colours_of(const Formula& formula) {
  constexpr int kMaxRounds = 8;            // an axiom has few variables
  constexpr std::size_t kMaxAtoms = 1000;  // no engine is made for an axiom that is longer
  Colours colours;
  for (const int slot : slots_in(formula)) colours[slot] = 0;
  if (num_atoms(formula) > kMaxAtoms) return colours;
  std::size_t num_colours = 1;
  for (int round = 0; round < kMaxRounds; ++round) {
    Sights sights;
    look(formula, "", colours, sights);
    std::map<std::pair<int, std::multiset<std::string>>, std::vector<int>> alike;
    for (const auto& [slot, colour] : colours) alike[{colour, sights[slot]}].push_back(slot);
    int next = 0;
    for (const auto& [seen, slots] : alike) {
      for (const int slot : slots) colours[slot] = next;
      ++next;
    }
    if (alike.size() <= num_colours) break;
    num_colours = alike.size();
  }
  return colours;
}

}  // namespace

std::string canonical_text(const Formula& formula) {
  const Colours colours = colours_of(formula);
  std::map<int, int> numbers;  // by slot, as they first occur
  return print(*Renaming([&](Variable& v) {
    const int number = numbers.try_emplace(v.slot, static_cast<int>(numbers.size())).first->second;
    v.name = fmt::format("v{}", number);
  })(*Arranger(colours)(formula)));
}

}  // namespace isoscope
