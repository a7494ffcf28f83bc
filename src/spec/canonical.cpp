#include "spec/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "spec/print.h"

namespace isoscope {

namespace {

class Renaming {
 public:
  FormulaPtr renamed(const Formula& f) {
    Formula copy = f;
    if (copy.a) rename(*copy.a);
    if (copy.b) rename(*copy.b);
    if (f.relation != nullptr) copy.relation = renamed(*f.relation);
    if (f.other != nullptr) copy.other = renamed(*f.other);
    if (f.left != nullptr) copy.left = renamed(*f.left);
    if (f.right != nullptr) copy.right = renamed(*f.right);
    for (Variable& v : copy.variables) rename(v);
    std::sort(
        copy.variables.begin(), copy.variables.end(),
        [&](const Variable& v, const Variable& w) { return numbers_[v.slot] < numbers_[w.slot]; });
    return std::make_shared<const Formula>(std::move(copy));
  }

 private:
  RelationPtr renamed(const RelationExpr& r) {
    RelationExpr copy = r;
    if (copy.key) rename(*copy.key);
    if (r.left != nullptr) copy.left = renamed(*r.left);
    if (r.right != nullptr) copy.right = renamed(*r.right);
    return std::make_shared<const RelationExpr>(std::move(copy));
  }

  void rename(Variable& v) {
    const int number =
        numbers_.try_emplace(v.slot, static_cast<int>(numbers_.size())).first->second;
    v.name = fmt::format("v{}", number);
  }

  std::map<int, int> numbers_;  // by slot, as they first occur
};

}  // namespace

std::string canonical_text(const Formula& formula) { return print(*Renaming().renamed(formula)); }

}  // namespace isoscope
