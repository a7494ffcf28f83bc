#pragma once
// Relation expressions with their key variables replaced by keys, each stored once.
//
//     (so | wr[x])+   under x = 3    becomes    Plus(Union(So, Wr[3]))
//
// Equal expressions get the same id whichever axiom they come from, so that bounds and circuits
// of a relation are made once. Closures that change nothing are left out: co and ar are
// transitive, so `co+` is co. co and ar themselves are one thing here, the order.
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "spec/ast.h"

namespace isoscope {

using RelationId = std::uint32_t;

// Values of an axiom's variables by slot: positions in the universe.
using Binding = std::vector<std::uint32_t>;
inline constexpr std::uint32_t kUnbound = 0xffffffffU;

struct GroundRelation {
  static constexpr std::uint32_t kNone = 0xffffffffU;

  RelationOp op = RelationOp::So;  // never Ar: the order is Co
  SetName set = SetName::Writers;
  Sort from = Sort::Txn;
  Sort to = Sort::Txn;
  std::uint32_t key = kNone;
  RelationId left = kNone;
  RelationId right = kNone;
  // Does it not depend on the witness? A consequence of the above.
  bool is_fact = false;

  friend bool operator==(const GroundRelation&, const GroundRelation&) = default;
};

class RelationTable {
 public:
  // The expression under `binding`. Requires: its key variables are bound.
  RelationId instantiate(const RelationExpr& r, const Binding& binding);
  // A relation that contains r whatever its unbound key variables stand for: r itself if there
  // are none.
  RelationId upper_bound(const RelationExpr& r, const Binding& binding);
  static bool is_bound(const RelationExpr& r, const Binding& binding);

  const GroundRelation& operator[](RelationId id) const { return relations_[id]; }
  std::size_t size() const { return relations_.size(); }
  // Is it the order, or the order with identity?
  bool is_order(RelationId id) const;
  // Does a circuit for it need a closure, or all pairs of two relations that depend on the witness?
  bool is_costly(RelationId id) const;
  // Its keys, each once, from left to right.
  std::vector<std::uint32_t> keys(RelationId id) const;
  // The same relation with other keys: each of `from` becomes the one at its place in `to`.
  RelationId with_keys(RelationId id, std::span<const std::uint32_t> from,
                       std::span<const std::uint32_t> to);
  // Is the name part of it?
  bool mentions(RelationId id, RelationOp name) const;
  // The id of r+, simplified.
  RelationId plus(RelationId id);

 private:
  struct Hash {
    std::size_t operator()(const GroundRelation& r) const;
  };

  RelationId intern(GroundRelation r);
  RelationId star(RelationId id);
  RelationId combine(RelationOp op, Sort from, Sort to, RelationId left, RelationId right);

  std::vector<GroundRelation> relations_;
  std::unordered_map<GroundRelation, RelationId, Hash> ids_;
};

// A base for translators with a table of their own, which comes before the translator.
struct OwnRelations {
  RelationTable relations;
};

}  // namespace isoscope
