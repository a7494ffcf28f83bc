#pragma once
// Finds histories that some levels allow and others forbid.
//
//     SynthQuery q{.allow = {&si}, .forbid = {&ser}, .scope = {.txns = 2, .keys = 2, .values = 2}};
//     Result<SynthAnswer> answer = synthesize(q, budget);      // write skew
//
// Counterexample-guided: a SAT solver proposes a history that the allowed levels accept; a second
// one looks for an execution with which a forbidden level accepts it too; from that execution the
// first one learns "with this order the forbidden level must fail", and so on until no execution
// is found (the history is an answer) or no history is left (there is none in the scope).
//
// What makes it fast is read off the axioms, not off the levels' names (synth/shape.h):
//
//   no values      a history is who writes, who reads from whom, and so; `values` bounds writers
//   fixed order    transactions are numbered along the order of the first allowed level
//   least vis      an axiom that only concludes vis has a least vis for each ar, so that a
//                  counterexample is an ar and nothing else
//   forced edges   a level whose order stands only in conclusions is forbidden iff what it forces
//                  has a cycle: no counterexamples at all
//
// Trust     Every history found is checked anew by check/check.h, for every level, and its
//           witnesses by the evaluator of the level's text. A disagreement is an Error.
// Complete  within the scope, for any mixture of frameworks and any level. A forbidden level puts
//           no obligation on the history: it need not be read atomic to be forbidden over vis, ar.
// Paper     [Isolde-2026]; where the encoding departs from it: src/synth/README.md.
// Stable    Everything in this header; what is behind it is namespace synthesis.
// Cost      5 keys, 5 values, 10 transactions: at most 0.1 s and 10 MB for the paper's problems; 40
//           transactions: seconds and 200 MB.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "history/execution.h"
#include "history/history.h"
#include "sat/clause_log.h"
#include "spec/level.h"
#include "support/budget.h"
#include "support/result.h"
#include "synth/statement_shape.h"
#include "verdict/verdict.h"

namespace isoscope {

enum class SessionShape : std::uint8_t { Chains, PartialOrder };

struct Scope {
  int txns = 0;    // exactly so many besides T0
  int keys = 0;    // at most; 0: by the transactions and the axioms
  int values = 0;  // at most so many of a key, the initial one included; 0: no limit
  int ops = 0;     // at most so many operations of a transaction; 0: no limit
  // External reads of a transaction where a level asks for their order (rc); 0: as many as `ops`,
  // else one more than there are keys. Other levels read each key at most once. Where a level can
  // tell statements apart: operations of a transaction; 0: `ops`, else two more than transactions.
  int reads = 0;
  bool blind_writes = true;  // may a transaction write a key that it does not read?
  bool empty_txns = false;   // may a transaction do nothing?
  SessionShape sessions = SessionShape::Chains;
  StatementShape statements = StatementShape::Any;

  // Said in answers, ignored in questions: what a search adds to its histories because an axiom of
  // its levels can tell the difference (synth/shape.h).
  bool aborted_txns = false;    // a transaction may abort
  bool repeated_reads = false;  // a transaction may read a key from several writers
  bool has_statements = false;  // `reads` counts operations of all kinds, grouped to statements
  bool has_inserts = false;     // writes may be inserts
  bool has_times = false;       // transactions begin and end at some times
  // Of an answer whose scope grew: fewer transactions had one key more than there were of them, but
  // at least so many; 0: all sizes had `keys`.
  int least_keys = 0;
};

// Larger scopes are an Error: they would not fit into memory, or not end.
inline constexpr int kMaxSynthTxns = 40;
inline constexpr int kMaxSynthKeys = 40;

struct SynthQuery {
  std::vector<const Level*> allow = {};   // all of them allow the history; none: any history
  std::vector<const Level*> forbid = {};  // each of them forbids it; none: no demand
  Scope scope = {};
  Progress progress = {};  // called when the scope grows
  // Also histories in which a transaction reads a key from several writers, though no axiom speaks
  // of two reads of a key. Questions may leave it off: it is tried where nothing else is found.
  bool repeated_reads = false;
  bool certify = false;  // write down why there is none: SynthAnswer::refutations
  // Switches for benchmarks; the answer does not depend on them.
  bool generic = false;      // no analysis of axioms: pin whole witnesses, learn from each
  bool learning = true;      // off: a refuted candidate rules out only itself
  bool fixed_order = true;   // off: the order of the first allowed level is searched for
  bool smart_search = true;  // off: the first candidate need not fail with the allowed witness
};

using SynthOutcome = Outcome;  // Found, None, Unknown

struct SynthFound {
  History history;
  // One for each allowed level, in the order of the query; over vis, ar with its vis, over co, snap
  // with its snapshots.
  std::vector<Witness> witnesses = {};
  // Session edges that no session of `history` shows; only where sessions are partial orders.
  std::vector<std::pair<TxnId, TxnId>> further_so = {};
  // Checked anew, by check/check.h; or, where further_so is not empty and a History cannot say it,
  // by trying all orders of up to 6 transactions.
  bool is_rechecked = false;
  int operations = 0;
  int session_edges = 0;  // pairs of so, those of T0 left out
};

// Why a scope has no history: the clauses of its search with their reasons, and a DRAT proof that
// they contradict each other.
struct ScopeRefutation {
  Scope scope;
  ClauseLog log = {};
  std::string proof = {};
};

// Numbers: candidates, counterexamples, clauses, variables.
struct SynthAnswer : Answer {
  // Of Unknown: it separates the levels, but may not be a smallest one.
  std::optional<SynthFound> found = {};
  // In which it was found, or is not to be found; of Unknown, which was searched at the end.
  Scope scope = {};
  int excluded_txns = 0;  // so many transactions or fewer: certainly none, if the scope grew
  // Of None, if the query wants to certify it: one for each scope that was searched; else why not.
  std::vector<ScopeRefutation> refutations = {};
  std::string uncertified = {};
};

// Searches the scope of the query. An Error for a scope that makes no sense or is too large, and
// for a disagreement between the search and check().
Result<SynthAnswer> synthesize(const SynthQuery& query, Budget& budget);

// Grows the scope from one transaction on, up to `max_txns`, and returns a smallest history: fewest
// transactions, then keys, then values, then operations, then session edges. Sizes that the scope
// of the query states (not 0) are upper bounds; keys it does not state are at most as many as
// transactions plus one, or as the axioms name. With txns stated, exactly so many.
Result<SynthAnswer> synthesize_minimal(const SynthQuery& query, int max_txns, Budget& budget);

enum class Minimality : std::uint8_t {
  Fewest,       // no smaller number of operations, then of session edges
  Irreducible,  // no operation and no session edge can be left out
};

// Unknown: there may be more.
struct SynthList : Answer {
  std::vector<SynthFound> found = {};
  Scope scope = {};
  int excluded_txns = 0;  // as in SynthAnswer
};

// All minimal histories up to renaming of transactions and keys, in the smallest scope that has
// any (found as by synthesize_minimal).
Result<SynthList> synthesize_all_minimal(const SynthQuery& query, Minimality minimality,
                                         int max_txns, Budget& budget);

// Unknown: `count` is a lower bound.
struct SynthCount : Answer {
  std::uint64_t count = 0;
};

// How many histories the scope of the query has, up to renaming of transactions and keys.
Result<SynthCount> count_histories(const SynthQuery& query, Budget& budget);

}  // namespace isoscope
