#pragma once
// Levels as constraints on a cast: the axioms of the level's text, with the cast and T0 for the
// transactions.
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
#include <set>
#include <string>
#include <vector>

#include "audit/world.h"
#include "spec/level.h"
#include "spec/rule.h"
#include "support/result.h"

namespace isoscope::audit {

// The level of each function: `base`, or its own.
struct Levels {
  const Level* base = nullptr;
  std::vector<const Level*> own = {};  // by function; null where base applies; empty: none

  const Level& of(std::uint32_t function) const {
    return function < own.size() && own[function] != nullptr ? *own[function] : *base;
  }
  bool is_mixed() const;
};

// Nothing if the levels can be audited, else why not: over co, about single reads or sessions, or
// not assignable to single transactions.
Result<void> check_levels(const Levels& levels);

class Axioms {
 public:
  // Requires: check_levels(levels).
  Axioms(World& world, const Levels& levels);
  // What the levels demand of the cast.
  std::vector<SmtTerm> constraints(Cast cast);

 private:
  struct Location {
    sql::TableId table;
    std::uint32_t column;
    Row row;
  };
  // What the variables of an axiom stand for, by slot: a member of the cast, or T0 (= size), or
  // a location.
  struct Binding {
    std::vector<std::size_t> txns;
    std::vector<std::size_t> keys;
  };
  using Matrix = std::vector<std::vector<SmtTerm>>;

  void ground(const Axiom& axiom, std::vector<SmtTerm>& out);
  void ground(const Axiom& axiom, const Rule& rule, std::size_t variable, Binding& binding,
              std::vector<SmtTerm>& out);
  // The premises and the conclusion, for transactions that are chosen.
  SmtTerm instance(const Rule& rule, Binding& binding);
  SmtTerm formula(const Formula& f, Binding& binding);
  SmtTerm quantified(const Formula& f, std::size_t variable, Binding& binding);
  Matrix relation(const RelationExpr& r, Binding& binding);
  // With what may be reached through transactions outside.
  void close(Matrix& matrix);
  SmtTerm vis(std::size_t a, std::size_t b);
  SmtTerm ar(std::size_t a, std::size_t b);
  SmtTerm depends(std::size_t a, std::size_t b, EdgeKind kind,
                  const std::optional<std::size_t>& key);
  SmtTerm writes(std::size_t a, std::size_t key);
  SmtTerm reads(std::size_t a, std::size_t key);
  // Some key is written by both; with a = b, by it.
  SmtTerm conflict(std::size_t a, std::size_t b);
  const std::vector<Location>& locations();
  bool applies(const Axiom& axiom, const Binding& binding) const;

  World& world_;
  Symbols& symbols_;
  Levels levels_;
  std::vector<const Axiom*> axioms_;  // of all levels, each once
  std::vector<Member> cast_;
  bool has_locations_ = false;
  std::vector<Location> locations_;
  std::size_t txn_count() const { return cast_.size() + 1; }
  bool is_initial(std::size_t a) const { return a == cast_.size(); }
};

}  // namespace isoscope::audit
