#pragma once
// Races of a recorded run: pairs of transactions that, had they come at once, could have ended as
// no serial order explains, at a level of PostgreSQL's.
//
// A test suite runs one request after the other and is green. Here every two transactions that meet
// are run side by side (pair.h), and what comes of it is told once per pair of statement shapes,
// however many rows and transactions show it:
//
//     SELECT qty FROM product WHERE id = ?            T7 reads what T6 is about to overwrite
//     UPDATE product SET qty = ? WHERE id = ?         T7 overwrites what T6 has written
//
// Pairs without a race are reported too, with the reason, and whether they were decided.
//
// Trust     The history of each race is checked: ser does not hold, and the level does where its
//           text is known (check/check.h).
// Complete  for two transactions. Of a run in which three could close a cycle (triangles.h) the
//           answer is never "none"; nor of one with gaps, or in which pairs were left out.
// Cost      Pairs of shapes, not of transactions: of each, pairs are tried until one races, nearest
//           first, and at most kMostPairs.
#include <optional>
#include <string>
#include <vector>

#include "check/check.h"
#include "history/history.h"
#include "races/pair.h"
#include "spec/level.h"
#include "support/budget.h"

namespace isoscope::races {

struct RaceOptions {
  PgLevel level = PgLevel::ReadCommitted;
  bool sessions_are_connections = true;  // else every transaction is a client of its own
  std::size_t most = 1'000;              // groups
  std::size_t most_pairs = 64;           // of one pair of shapes, while none of them races
};

struct Race {
  RunTxn first = kT0;
  RunTxn second = kT0;
  Interleaving interleaving;
  std::size_t pairs = 1;         // of transactions that show it, as far as they were tried
  History history;               // the predicted one
  std::vector<RunTxn> observed;  // by transaction of `history`
  CheckAnswer unserializable;
  std::optional<CheckAnswer> allowed;  // by the level's text, where it is known
  std::vector<std::string> assumes;    // what only the application knows
};

// A pair of shapes that meets, and of which no pair of transactions races.
struct SafePair {
  RunTxn first = kT0;
  RunTxn second = kT0;
  std::size_t pairs = 0;
  bool is_decided = true;  // false: some interleavings have no known end, so it may race
  std::vector<std::string> why;
};

// Predicted if there is a race; its limit says why "none" cannot be said.
struct RaceAnswer : Answer {
  std::vector<Race> races;
  std::vector<SafePair> safe;
  std::size_t transactions = 0;
  std::size_t shapes = 0;
  std::size_t pairs = 0;  // that were tried
  std::size_t interleavings = 0;
  std::size_t pairs_with_gaps = 0;  // that may race for all we know
};

// `level`: its text, or null if there is none.
RaceAnswer find_races(const Run& run, const RaceOptions& options, const Level* level,
                      Budget& budget);

// Of pg-rc, pg-rr and pg-ser alone: `serializable` is a level of the language too.
std::optional<PgLevel> server_level(std::string_view name);

}  // namespace isoscope::races
