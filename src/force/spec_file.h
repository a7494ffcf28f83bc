#pragma once
// The test specifications of PostgreSQL's isolationtester: sessions, their steps, and the orders in
// which the steps are sent.
//
//     setup    { CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 100); }
//     teardown { DROP TABLE t; }
//     session s1
//     setup    { BEGIN ISOLATION LEVEL READ COMMITTED; }
//     step r1  { SELECT v FROM t WHERE id = 1; }
//     step c1  { COMMIT; }
//     permutation r1 c1
//
// A permutation takes the steps of each session in their order, from the first on; isolationtester
// itself would take them in any. '#' starts a comment, names may stand in double quotes, a block
// ends at its first '}'. Without a permutation, every order is meant. A step of a permutation may
// name steps in parentheses, `c1(r1)` or `c1(*)`: hints when isolationtester reports it. They are
// kept, and the scheduler of scheduler.h needs none.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "force/ids.h"
#include "sql/read/session_blocks.h"
#include "support/result.h"

namespace isoscope::force {

struct SpecStep {
  std::string name;
  std::string sql;
  Place place = {};
};

struct SpecSession {
  std::string name;
  std::string setup = {};
  ById<StepId, SpecStep> steps = {};
  std::string teardown = {};
};

struct PermutationStep {
  ActorId session = {};
  StepId step = {};          // of that session
  std::string markers = {};  // what stands in parentheses, as written
  friend bool operator==(const PermutationStep&, const PermutationStep&) = default;
};
using Permutation = std::vector<PermutationStep>;

struct Spec {
  std::vector<std::string> setups = {};
  std::string teardown = {};
  ById<ActorId, SpecSession> sessions = {};
  std::vector<Permutation> permutations = {};  // empty: all of them
  sql::BlockFile places = {};                  // of the SQL in the text that was read
};

// Statement 0 of a session is its setup, the others are its steps.
inline constexpr StatementId kSetup{0};
// The step that a statement of its session is; null if it is the setup, or comes after all steps.
const SpecStep* step_of(const SpecSession& session, StatementId statement);

// Errors bear the place in `text`.
Result<Spec> read_spec(std::string_view text);
std::string write_spec(const Spec& spec);
// Does the text look like such a file, rather than JSON or a history?
bool looks_like_spec(std::string_view text);

// Each step once, every session's in its order: the interleavings, at most `most` of them, in the
// order of isolationtester. `is_complete` says whether these are all.
std::vector<Permutation> all_permutations(const Spec& spec, std::size_t most, bool& is_complete);

}  // namespace isoscope::force
