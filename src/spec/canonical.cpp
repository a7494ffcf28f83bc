#include "spec/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
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

// What a part says with all its variables alike.
template <class Tree>
std::string shape_of(const Tree& tree) {
  return print(*Renaming([](Variable& v) { v.name = "v"; })(tree));
}

// Sorts what `whole`'s operator joins; `joined` are its operands, each arranged already.
template <class Tree>
std::shared_ptr<const Tree> join_sorted(const Tree& whole,
                                        std::vector<std::shared_ptr<const Tree>> joined) {
  std::vector<std::pair<std::string, std::shared_ptr<const Tree>>> parts;
  for (auto& part : joined) parts.emplace_back(shape_of(*part), std::move(part));
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

bool is_joined(const RelationExpr& r) {
  return r.op == RelationOp::Union || r.op == RelationOp::Intersection;
}
bool is_joined(const Formula& f) { return f.op == FormulaOp::And || f.op == FormulaOp::Or; }

template <class Tree>
std::shared_ptr<const Tree> arranged(const Tree& tree);

// The operands of a chain of one operator, which may be long but not deep otherwise.
template <class Tree>
std::shared_ptr<const Tree> arranged_chain(const Tree& tree) {
  std::vector<std::shared_ptr<const Tree>> parts;
  std::vector<const Tree*> open = {&tree};
  while (!open.empty()) {
    const Tree* next = open.back();
    open.pop_back();
    if (next->op == tree.op) {
      open.push_back(next->right.get());
      open.push_back(next->left.get());
    } else {
      parts.push_back(arranged(*next));
    }
  }
  return join_sorted(tree, std::move(parts));
}

template <class Tree>
std::shared_ptr<const Tree> arranged(const Tree& tree) {
  if (is_joined(tree)) return arranged_chain(tree);
  Tree copy = tree;
  if constexpr (std::is_same_v<Tree, Formula>) {
    if (tree.relation != nullptr) copy.relation = arranged(*tree.relation);
    if (tree.other != nullptr) copy.other = arranged(*tree.other);
  }
  if (tree.left != nullptr) copy.left = arranged(*tree.left);
  if (tree.right != nullptr) copy.right = arranged(*tree.right);
  return std::make_shared<const Tree>(std::move(copy));
}

}  // namespace

std::string canonical_text(const Formula& formula) {
  std::map<int, int> numbers;  // by slot, as they first occur
  return print(*Renaming([&](Variable& v) {
    const int number = numbers.try_emplace(v.slot, static_cast<int>(numbers.size())).first->second;
    v.name = fmt::format("v{}", number);
  })(*arranged(formula)));
}

}  // namespace isoscope
