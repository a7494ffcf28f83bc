#include "synth/proof_canonical.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/assert.h"

namespace isoscope {

namespace {

// Names relations. Equal texts mean equal relations: co and ar are both the order, keys count from
// 0 in the order of `keys`, and witnesses are named by what they stand for.
class Canonical {
 public:
  Canonical(const RelationTable& table, const std::vector<std::uint32_t>& keys,
            const Visibility& vis)
      : table_(table), keys_(keys), vis_(vis) {}

  std::string text(RelationId id) const {
    const GroundRelation& r = table_[id];
    switch (r.op) {
      case RelationOp::Union:
      case RelationOp::Intersection: {
        // Associative, commutative and idempotent.
        std::vector<std::string> parts;
        add_parts(id, r.op, false, parts);
        return sorted(r.op, std::move(parts));
      }
      case RelationOp::Compose: {
        std::vector<std::string> parts;  // associative
        add_parts(id, r.op, false, parts);
        return joined(r.op, parts);
      }
      case RelationOp::Inverse: return fmt::format("inverse({})", text(r.left));
      case RelationOp::Plus: return fmt::format("plus({})", closed_text(r.left));
      case RelationOp::Star: return fmt::format("star({})", closed_text(r.left));
      case RelationOp::Difference: return fmt::format("minus({},{})", text(r.left), text(r.right));
      case RelationOp::So:
      case RelationOp::Wr:
      case RelationOp::Co:
      case RelationOp::Vis:
      case RelationOp::Ar:
      case RelationOp::Po:
      case RelationOp::Snap:
      case RelationOp::Of:
      case RelationOp::Same:
      case RelationOp::Waited:
      case RelationOp::Rt:
      case RelationOp::Ww:
      case RelationOp::Rw:
      case RelationOp::IdentityOn: return leaf(r);
      case RelationOp::Maybe:  // a union, since sorts were chosen
        break;
    }
    ISO_ASSERT(false);
  }

  // Of a relation of which the closure is taken: (r | s+)+ is (r | s)+.
  std::string closed_text(RelationId id) const {
    std::vector<std::string> parts;
    add_parts(id, RelationOp::Union, true, parts);
    return sorted(RelationOp::Union, std::move(parts));
  }

 private:
  void add_parts(RelationId id, RelationOp op, bool closed, std::vector<std::string>& parts) const {
    const GroundRelation& r = table_[id];
    if (r.op == op) {
      add_parts(r.left, op, closed, parts);
      add_parts(r.right, op, closed, parts);
    } else if (closed && (r.op == RelationOp::Plus || is_one_relation(r))) {
      add_parts(r.left, op, closed, parts);
    } else {
      parts.push_back(text(id));
    }
  }
  // Is it r & s, where s is r in other words?
  bool is_one_relation(const GroundRelation& r) const {
    return r.op == RelationOp::Intersection && text(r.left) == text(r.right);
  }
  static std::string joined(RelationOp op, const std::vector<std::string>& parts) {
    if (parts.size() == 1) return parts.front();
    return fmt::format("op{}({})", static_cast<int>(op), fmt::join(parts, ","));
  }
  static std::string sorted(RelationOp op, std::vector<std::string> parts) {
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    return joined(op, parts);
  }
  std::string leaf(const GroundRelation& r) const {
    std::string text = fmt::format("{}>{}:", static_cast<int>(r.from), static_cast<int>(r.to));
    switch (r.op) {
      case RelationOp::Co:
      case RelationOp::Ar: text += vis_.order_name; break;
      case RelationOp::Ww:
      case RelationOp::Rw:
        text += fmt::format("op{} by {}", static_cast<int>(r.op), vis_.order_name);
        break;
      case RelationOp::Vis: text += vis_.name; break;
      case RelationOp::Snap: text += vis_.snap_name; break;
      case RelationOp::So:
      case RelationOp::Wr:
      case RelationOp::Po:
      case RelationOp::Of:
      case RelationOp::Same:
      case RelationOp::Waited:
      case RelationOp::Rt:
      case RelationOp::IdentityOn: text += fmt::format("op{}", static_cast<int>(r.op)); break;
      case RelationOp::Union:
      case RelationOp::Intersection:
      case RelationOp::Difference:
      case RelationOp::Compose:
      case RelationOp::Inverse:
      case RelationOp::Plus:
      case RelationOp::Star:
      case RelationOp::Maybe: ISO_ASSERT(false);  // has operands
    }
    const bool has_reads = r.from == Sort::Read || r.to == Sort::Read;
    if (has_reads && vis_.has_own_reads) text += "all";
    if (r.op == RelationOp::IdentityOn) text += fmt::format("set{}", static_cast<int>(r.set));
    if (r.key != GroundRelation::kNone) {
      const auto position = std::find(keys_.begin(), keys_.end(), r.key) - keys_.begin();
      text += fmt::format("[{}]", position);
    }
    return text;
  }

  const RelationTable& table_;
  const std::vector<std::uint32_t>& keys_;
  const Visibility& vis_;
};

}  // namespace

std::string canonical_name(const RelationTable& table, RelationId r,
                           const std::vector<std::uint32_t>& keys, const Visibility& vis) {
  return Canonical(table, keys, vis).closed_text(r);
}

}  // namespace isoscope
