#pragma once
// How do two isolation levels relate, and why?
//
//     Budget budget;
//     auto answer = compare(si, ser, {}, budget);      // weaker: ser implies si, not conversely
//     answer->backward.outcome                         // Proved: for every history
//     answer->forward.separation->history              // write skew: si allows it, ser forbids it
//
// Each direction is a question of its own, "does a imply b?", with four possible answers:
//
//   Proved    for every history of any size (synth/proof.h)
//   Refuted   by a smallest history that a allows and b forbids (synth/synth.h), checked anew
//   Bounded   neither: no such history has up to so many transactions, and no proof was found
//   Unknown   the budget ended first
//
// A first, small search comes before the proof, because most separating histories have two or three
// transactions and a failing proof takes longer than finding one; a larger search comes after it,
// and last, where that finds nothing, proofs of two halves through a third level.
//
// Paper  [Isolde-2026], section 3.1: its comparisons are Refuted or Bounded.
// Cost   Hundredths of a second for a refutation between built-in levels, below a second for a
//        proof; Bounded costs as much as the largest scope.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/level.h"
#include "support/budget.h"
#include "support/result.h"
#include "synth/proof.h"
#include "synth/synth.h"
#include "verdict/anomaly.h"

namespace isoscope {

struct CompareOptions {
  // Sizes that are not 0 are upper bounds, the number of transactions too; the switches (blind
  // writes, empty transactions, shape of sessions) say which histories count as separating. A
  // proof speaks about all histories, whatever the switches.
  Scope scope = {};
  int max_txns = 5;   // if the scope states none; the lattice of the built-in levels needs four
  bool prove = true;  // off: bounded answers only, as in the paper
  // Levels m by which a implies b may be proved as a ⇒ m ⇒ b. Empty: the built-in ones.
  std::vector<const Level*> between = {};
  Progress progress = {};
};

enum class ImplicationOutcome : std::uint8_t { Proved, Refuted, Bounded, Unknown };
std::string_view name_of(ImplicationOutcome outcome);  // proved, refuted, bounded, unknown

// The answer to "does a imply b?".
struct Implication {
  ImplicationOutcome outcome = ImplicationOutcome::Unknown;
  std::optional<ProofAnswer> proof = {};  // if one was tried; of a chain, that of its first half
  const Level* via = nullptr;             // of Proved: the level in the middle of a chain
  std::shared_ptr<const SynthFound> separation = {};  // of Refuted; matrices share them
  // Of Refuted: what is wrong with the history, see name_separation().
  Anomaly anomaly = Anomaly::None;
  // Of Refuted: the scope of the history; of Bounded and Unknown: up to which there is none
  // (txns 0: not even one transaction was searched).
  Scope scope = {};
  std::string limit = {};  // of Unknown: what was hit

  // For every history, or in the scope that was searched.
  bool holds() const {
    return outcome == ImplicationOutcome::Proved || outcome == ImplicationOutcome::Bounded;
  }
  // Proved, but only because level a lets no transaction read from another (ProofAnswer).
  bool is_vacuous() const { return proof && proof->vacuous; }
};

enum class LevelRelation : std::uint8_t { Equivalent, Stronger, Weaker, Incomparable, Unknown };
std::string_view name_of(LevelRelation relation);  // equivalent, stronger, weaker, …
// Of a to b, from the answers to "a implies b" and "b implies a". Unknown unless each of them is
// proved or refuted: a search that found nothing decides nothing.
LevelRelation relation_of(const Implication& forward, const Implication& backward);
// The relation among the histories of the scope, where relation_of() is Unknown because an answer
// is only Bounded. Nothing if the relation is known, or if the budget ended first.
std::optional<LevelRelation> bounded_relation(const Implication& forward,
                                              const Implication& backward);

struct CompareAnswer {
  LevelRelation relation = LevelRelation::Unknown;  // of a to b
  std::optional<LevelRelation> bounded = {};        // see bounded_relation()
  Implication forward = {};                         // does a imply b?
  Implication backward = {};                        // does b imply a?
  Scope scope = {};                                 // the largest that is searched, and switches
  double seconds = 0;
};

// The scope that a comparison of these levels searches at most: that of the options, with the sizes
// that they leave open, and with what the search adds where an axiom can tell the difference. An
// Error if there cannot be so many transactions.
Result<Scope> largest_scope(const std::vector<const Level*>& levels, const CompareOptions& options);

// One direction. An Error for a scope that makes no sense, or if a proof and a history contradict
// each other, which is a bug of ours.
Result<Implication> decide_implication(const Level& a, const Level& b,
                                       const CompareOptions& options, Budget& budget);
Result<CompareAnswer> compare(const Level& a, const Level& b, const CompareOptions& options,
                              Budget& budget);

// The name of what is wrong with a history that `level` forbids: what check() says, or else, where
// the level's text gives no cycle to name, what the weakest of the built-in levels says that
// forbids the history too. None if it has no name.
Anomaly name_separation(const SynthFound& found, const Level& level, Budget& budget);

// The relations between all levels of a list, as a table and as a lattice.
struct CompareMatrix {
  // Levels that are equivalent, for every history or within the scope; positions in `levels`,
  // ascending. Whether proved: relation() of the first one and each of the others.
  using Class = std::vector<std::size_t>;
  // From a class to one that it implies, with none between: an edge of the Hasse diagram.
  struct Edge {
    std::size_t stronger = 0;  // positions in `classes`
    std::size_t weaker = 0;
    // A smallest history that the weaker one allows and the stronger one forbids, and its name.
    // None: the budget ended before it was known whether the levels differ at all.
    std::shared_ptr<const SynthFound> separation = {};
    Anomaly anomaly = Anomaly::None;
    bool is_proved = false;   // that stronger implies weaker, for every history
    bool is_vacuous = false;  // because `stronger` lets no transaction read from another
  };

  std::vector<const Level*> levels;
  std::vector<std::vector<Implication>> implies;  // [i][j]: does levels[i] imply levels[j]?
  std::vector<Class> classes;                     // in the order of their first levels
  std::vector<Edge> edges;                        // sorted
  Scope scope;                                    // as in CompareAnswer
  double seconds = 0;

  LevelRelation relation(std::size_t i, std::size_t j) const {
    return relation_of(implies[i][j], implies[j][i]);
  }
  std::optional<LevelRelation> bounded(std::size_t i, std::size_t j) const {
    return bounded_relation(implies[i][j], implies[j][i]);
  }
};

// Asks far fewer questions than there are pairs: implications that follow from two others are not
// proved again, and a history found for one pair is shown to all levels.
Result<CompareMatrix> compare_all(const std::vector<const Level*>& levels,
                                  const CompareOptions& options, Budget& budget);

}  // namespace isoscope
