#pragma once
// Levels as constraints on a cast: the relational core over the axioms of the level's text, with
// the cast and T0 for the transactions.
//
// In an open world other transactions exist besides. What they decide is left free: whether some
// transaction outside meets an `exists`, what a closure reaches through outside, who is read from.
// A closed world has no outside, and everything is exact.
//
// Keys are locations. An axiom asks about them by writes(t, x), mostly of two transactions at
// once; then it is the conflict of the two. Any other use of a key ranges over the locations that
// the cast names.
//
// A level of a single transaction holds for the axiom instances that it is the subject of
// (docs/levels.md): those that extend its view.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audit/world.h"
#include "relational/translator.h"
#include "spec/level.h"
#include "support/result.h"

namespace isoscope::audit {

// The level of each function: `base`, or its own.
using Levels = AssignmentOf<sql::FunctionId>;

// Nothing if the levels can be audited, else why not: over co, about single reads or sessions, or
// not assignable to single transactions.
Result<void> check_levels(const Levels& levels);

class Axioms : private OwnRelations, public Translator<Axioms, Terms> {
 public:
  // Requires: check_levels(levels).
  Axioms(World& world, const Levels& levels);
  // What the levels demand of the cast.
  std::vector<SmtTerm> constraints(Cast cast);

 private:
  friend class Translator<Axioms, Terms>;
  struct Location {
    sql::TableId table;
    Attribute attribute;
    Row row;
  };
  struct NormalAxiom {
    const Axiom* axiom = nullptr;
    NormalForm form;
  };
  using Matrix = std::vector<SmtTerm>;  // row by row

  // The structure of the core. Elements are members of the cast, or T0 (= its size), or locations.
  static std::optional<bool> decided(RelationId, Element, Element) { return std::nullopt; }
  SmtTerm leaf(const GroundRelation& r, Element a, Element b);
  SmtTerm atom(const NormalNode& node, Element a, Element b);
  SmtTerm identity(Sort, Element a, Element b) { return algebra_.constant(a == b); }
  SmtTerm compose(const GroundRelation& r, Element a, Element b);
  // With what may be reached through transactions outside.
  SmtTerm closure(RelationId plus, Element a, Element b);
  SmtTerm exists(const NormalNode& node);
  // A cycle through transactions outside is not looked for.
  SmtTerm acyclic(RelationId r);
  static bool keeps(RelationId) { return true; }

  // The instances of an axiom's part, from a variable on: transactions are chosen here.
  void ground(const Axiom& axiom, const NormalNode& part, std::size_t variable,
              std::vector<SmtTerm>& out);
  // That not all conjuncts of the part hold, for transactions that are chosen.
  SmtTerm instance(const NormalNode& part);
  // Calls f with each choice of values for the variables from one on.
  template <class F>
  void for_each_value(std::span<const isoscope::Variable> variables, const F& f);
  Matrix closed(RelationId r);
  SmtTerm vis(std::size_t a, std::size_t b);
  SmtTerm ar(std::size_t a, std::size_t b);
  SmtTerm depends(std::size_t a, std::size_t b, EdgeKind kind,
                  const std::optional<std::size_t>& key);
  SmtTerm writes(std::size_t a, std::size_t key);
  SmtTerm reads(std::size_t a, std::size_t key);
  SmtTerm is_in_set(const GroundRelation& r, std::size_t a);
  // Some key is written by both; with a = b, by it.
  SmtTerm conflict(std::size_t a, std::size_t b);
  const std::vector<Location>& locations();
  bool applies(const Axiom& axiom) const;
  bool has_outside() const { return world_.scope() == Scope::Open; }

  World& world_;
  Symbols& symbols_;
  Levels levels_;
  std::vector<NormalAxiom> axioms_;  // of all levels, each once
  std::vector<Member> cast_;
  bool has_locations_ = false;
  std::vector<Location> locations_;
  std::map<RelationId, Matrix> closures_;
  std::size_t txn_count() const { return cast_.size() + 1; }
  bool is_initial(std::size_t a) const { return a == cast_.size(); }
};

}  // namespace isoscope::audit
